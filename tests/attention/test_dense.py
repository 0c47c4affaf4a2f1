"""Dense attention over classes of pairs against the formula, in one piece and in chunks."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ordinate.attention import attend, dense, dense_attention
from ordinate.attention.classes import is_sparse
from ordinate.attention.tables import dense_tables
from ordinate.errors import OrdinateError
from tests.attention.pairs import (
    FORMS,
    arguments,
    assert_same,
    pattern_of,
    pieces,
    relative,
    slow,
    window,
)

CPU = torch.device("cpu")
forms, heads_apart = st.sampled_from(FORMS), st.sampled_from([1, 2])


@pytest.fixture
def chunks(monkeypatch):
    """Chunks of a few queries, and weights made again."""
    monkeypatch.setattr(dense, "CHUNK", 8)
    monkeypatch.setattr(dense, "QUERIES", 3)
    monkeypatch.setattr(dense, "KEEP", (0, 0))


@given(pieces(), forms, heads_apart, st.booleans())
def test_it_is_the_formula(parts, form, tables, bias):
    pattern = pattern_of(*parts)
    assert_same(dense_attention, slow, pattern, arguments(pattern, form, tables=tables, bias=bias), scale=0.7)


@given(
    pieces(),
    forms,
    heads_apart,
    st.booleans(),
    st.sampled_from([1, 20, 60]),
    st.sampled_from([(0, 0), (2, 0), (0, 9)]),
)
def test_chunks_are_the_formula(parts, form, tables, bias, size, keep):
    pattern = pattern_of(*parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "CHUNK", size)
        patch.setattr(dense, "KEEP", keep)
        assert_same(
            dense_attention, slow, pattern, arguments(pattern, form, tables=tables, bias=bias), scale=0.7
        )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tables", [1, 2])
@pytest.mark.parametrize("clip", [1, 5, 6])
def test_offsets_are_the_formula(form, tables, clip, chunks):
    pattern = relative(7, clip)
    assert (dense_tables(pattern, CPU).diagonals is None) == (clip == 1)  # three classes are looked up
    assert_same(dense_attention, slow, pattern, arguments(pattern, form, tables=tables), scale=0.7)


def test_offsets_without_all_pairs_are_the_formula(chunks):
    place = torch.arange(6)
    offset = place - place[:, None]
    causal = pattern_of(torch.where(offset <= 0, 5 - offset, -1), count=11)
    assert dense_tables(causal, CPU).diagonals is not None
    assert_same(dense_attention, slow, causal, arguments(causal, "content + class"))


@pytest.mark.parametrize("size", [8, 1 << 18])
@pytest.mark.parametrize("tables", [1, 2])
@pytest.mark.parametrize("form", ["content", "class", "class only"])
def test_a_bias_on_every_pair(size, tables, form, monkeypatch):
    monkeypatch.setattr(dense, "CHUNK", size)
    pattern = window(5, 3)
    extra = torch.randn(tables, 5, 5, dtype=torch.float64, requires_grad=True)
    assert_same(dense_attention, slow, pattern, arguments(pattern, form, tables=1), scores_bias=extra)
    assert_same(attend, slow, pattern, arguments(pattern, form, tables=1), scores_bias=extra)


def test_a_bias_on_every_pair_is_enough():
    pattern, extra = window(4, 2), torch.zeros(1, 4, 4)
    out = dense_attention(None, None, torch.eye(4)[None, None], pattern, scores_bias=extra)
    torch.testing.assert_close(out[0, 0, 3], torch.tensor([0.0, 0.0, 0.5, 0.5]))


@pytest.mark.parametrize("pattern", [relative(4, 3), window(4, 2)], ids=["offsets", "lookup"])
def test_gradients(pattern, chunks):
    given = arguments(pattern, "content + class", batch=1)
    leaves = list(given.values())
    assert torch.autograd.gradcheck(
        lambda q, k, v, a, b: dense_attention(q, k, v, pattern, vectors=a, bias=b), leaves
    )


@pytest.mark.parametrize("keep", [(0, 0), (2, 0), (9, 0)], ids=["none", "some", "all"])
def test_a_second_backward_pass_is_the_first(keep, chunks, monkeypatch):
    monkeypatch.setattr(dense, "KEEP", keep)
    pattern = relative(7, 6)
    given = arguments(pattern, "content + class")
    out = dense_attention(given["query"], given["key"], given["value"], pattern, vectors=given["vectors"])
    leaves = [given[name] for name in ("query", "key", "value", "vectors")]
    first, second = (torch.autograd.grad(out.square().sum(), leaves, retain_graph=True) for _ in range(2))
    torch.testing.assert_close(first, second)


def test_members_of_an_ensemble(chunks):
    pattern = window(5, 3)
    members = [arguments(pattern, "content + class", seed=seed) for seed in range(3)]
    stacked = [torch.stack([m[name] for m in members]) for name in members[0]]

    def run(query, key, value, vectors, bias):
        return dense_attention(query, key, value, pattern, vectors=vectors, bias=bias)

    mapped = torch.vmap(run)(*stacked)
    torch.testing.assert_close(mapped, torch.stack([run(*m.values()) for m in members]))
    leaves = [x for m in members for x in m.values()]
    again = torch.stack([run(*m.values()) for m in members])
    torch.testing.assert_close(
        torch.autograd.grad(mapped.square().sum(), leaves), torch.autograd.grad(again.square().sum(), leaves)
    )


class Largest(TorchDispatchMode):
    """Keeps the size of the largest tensor that any operation returned."""

    size = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        sizes = [t.untyped_storage().nbytes() // t.itemsize for t in tree_leaves(out) if torch.is_tensor(t)]
        self.size = max([self.size, *sizes])
        return out


@pytest.mark.parametrize("clip", [3, 255])
def test_nothing_large_is_made(clip):
    tokens, heads, dim = 256, 8, 16
    pattern = relative(tokens, clip)
    dense_tables(pattern, CPU)
    make = lambda *shape: torch.randn(*shape, requires_grad=True)  # noqa: E731
    query, key, value = (make(2, heads, tokens, dim) for _ in range(3))
    vectors = make(1, pattern.classes, dim)
    with Largest() as largest:
        dense_attention(query, key, value, pattern, vectors=vectors).sum().backward()
    all_scores, gathered = 2 * heads * tokens**2, tokens**2 * dim
    assert largest.size <= 2 * dense.CHUNK < min(all_scores, gathered)


@pytest.mark.parametrize("function", [dense_attention, attend])
def test_a_query_without_a_key_is_refused(function):
    pattern = pattern_of([[0, -1, -1], [-1, -1, -1], [0, 0, 0]], count=1)
    with pytest.raises(OrdinateError, match="query 1 has no key"):
        function(None, None, torch.zeros(1, 1, 3, 1), pattern, bias=torch.zeros(1, 1))


def test_arguments_that_do_not_fit_are_refused():
    pattern, x = window(3, 2), torch.zeros(1, 1, 3, 2)
    with pytest.raises(OrdinateError, match="a query needs keys or class vectors"):
        dense_attention(x, None, x, pattern)
    with pytest.raises(OrdinateError, match="attention without scores"):
        dense_attention(None, None, x, pattern)
    with pytest.raises(OrdinateError, match="the pattern has 2 classes, the table has 5"):
        dense_attention(x, x, x, pattern, vectors=torch.zeros(1, 5, 2))
    with pytest.raises(OrdinateError, match="the pattern has 3 tokens, the values have 4"):
        dense_attention(None, None, torch.zeros(1, 1, 4, 2), pattern, bias=torch.zeros(1, 2))


def test_few_keys_of_many_are_sparse():
    assert not is_sparse(window(17, 10))
    assert not is_sparse(relative(200, 3))
    assert is_sparse(window(2001, 10))
    scattered = torch.full((300, 300), -1).scatter_(1, torch.randperm(300)[:, None], 0)
    assert is_sparse(window(300, 1))
    assert not is_sparse(pattern_of(torch.cat([scattered[:299], torch.zeros(1, 300, dtype=torch.long)]), 1))
