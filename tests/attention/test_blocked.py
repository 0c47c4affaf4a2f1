"""Blocked attention over classes of pairs: the formula, from blocks of queries and the stretches of keys they read."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.attention import attend, blocked_attention, dense, dense_attention, tables
from ordinate.attention.tables import CPU, blocked_tables
from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.relations import BoundRelation, aligned, between, causal, everywhere, relative, uniform
from ordinate.relations import window as near
from tests.attention.pairs import (
    FORMS,
    arguments,
    assert_same,
    output_and_gradients,
    pattern_of,
    slow,
    window,
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of three queries, chunks of a few scores, weights of which only the first are kept."""
    monkeypatch.setattr(tables, "QUERIES", 3)
    monkeypatch.setattr(dense, "CHUNK", 40)
    monkeypatch.setattr(dense, "KEEP", (2, 0))


@st.composite
def shapes(draw):
    """A window of any shape over one field or two, some keys without a class, classes in any order."""
    lengths = draw(st.lists(st.integers(1, 7), min_size=1, max_size=2))
    back, ahead = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    missing = draw(st.sets(st.integers(-9, 9), max_size=3)) - {0}
    tokens, bounds = sum(lengths), (0, *(sum(lengths[: n + 1]) for n in range(len(lengths))))
    labels = torch.tensor(draw(st.permutations(range(4 * tokens**2 + 8 * tokens))))
    field = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
    place = torch.arange(tokens)
    far = place[:, None] - place
    there = (far <= back) & (far >= -ahead) & ~torch.isin(far, torch.tensor([*missing, tokens]))
    code = (field[:, None] * len(lengths) + field) * 2 * tokens + far + tokens
    _, code = torch.where(there, labels[code], -1).unique(return_inverse=True)
    classes = torch.where(there, code - (0 if bool(there.all()) else 1), -1)
    most = int(classes.max())
    return classes, draw(st.sampled_from([most, most + 1])), bounds  # the largest id is plain, or a class


@given(shapes(), st.sampled_from(FORMS), st.sampled_from([1, 2]), st.booleans())
def test_it_is_the_formula(parts, form, heads, bias):
    pattern = pattern_of(*parts)
    if form == "class" and not pattern.classes:
        form = "class only"
    assert_same(
        blocked_attention, slow, pattern, arguments(pattern, form, tables=heads, bias=bias), scale=0.7
    )


HERE = Coordinates.of(first=range(7), second=range(7), answer=range(8))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "relation",
    [
        relative() * near(back=4, ahead=1),
        aligned() * near(back=2, ahead=2),
        aligned("first", "second") * near(back=4) | everywhere(),
        relative() * causal(),
        relative(clip=3),
        between("answer", "first") * relative() | near(back=0),
    ],
    ids=str,
)
def test_relations_in_several_fields(relation, form):
    pattern = BoundRelation(relation, [HERE]).pattern(HERE)
    given = arguments(pattern, form, dim=4, dim_v=3)
    assert_same(blocked_attention, dense_attention, pattern, given, scale=0.3)


@pytest.mark.parametrize("relation", [causal(), near(back=3), between("answer") | near(back=0)], ids=str)
def test_plain_pairs(relation):
    pattern = BoundRelation(relation, [HERE]).pattern(HERE)
    given = arguments(pattern, "content", bias=False)
    assert_same(blocked_attention, dense_attention, pattern, given, scale=0.3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shared", [False, True])
def test_gradients(form, shared):
    pattern = window(5, 3)
    given = arguments(pattern, form, batch=1, tables=1 if shared else 2)
    given = {name: x for name, x in given.items() if x is not None}

    def run(*leaves):
        named = dict(zip(given, leaves, strict=True))
        query, key, value = (named.pop(name, None) for name in ("query", "key", "value"))
        return blocked_attention(query, key, value, pattern, **named)

    assert torch.autograd.gradcheck(run, list(given.values()))


@pytest.mark.parametrize("path", [attend, blocked_attention])
@pytest.mark.parametrize("tokens", [12, 400])
@pytest.mark.parametrize("keys", [True, False])
def test_a_look_of_its_own(path, tokens, keys, monkeypatch):
    """Inkling's logits: a short vector of the token looks for the classes, a longer one for the keys."""
    monkeypatch.undo()
    pattern = window(tokens, 9)
    given = arguments(pattern, "content + class", dim=5)
    look = torch.randn(2, 2, tokens, 3, dtype=torch.float64, requires_grad=True)
    vectors = torch.randn(2, 9, 3, dtype=torch.float64, requires_grad=True)
    operands = {"query": given["query"], "key": given["key"]} if keys else {"query": None, "key": None}
    out = path(**operands, value=given["value"], pattern=pattern, vectors=vectors, look=look, scale=0.3)
    far = torch.arange(tokens)[:, None] - torch.arange(tokens)
    scores = look @ vectors.mT
    scores = scores.gather(-1, far.clamp(0, 8).expand(2, 2, -1, -1))
    if keys:
        scores = scores + given["query"] @ given["key"].mT
    weights = (0.3 * scores).masked_fill((far < 0) | (far > 8), -float("inf")).softmax(-1)
    expected = weights @ given["value"]
    torch.testing.assert_close(out, expected)
    leaves = [look, vectors, given["value"], *(x for x in operands.values() if x is not None)]
    slope = torch.randn_like(out)
    torch.testing.assert_close(
        torch.autograd.grad(out, leaves, slope), torch.autograd.grad(expected, leaves, slope)
    )


@pytest.mark.parametrize("path", [attend, blocked_attention])
def test_a_look_that_cannot_be(path):
    x, pattern = torch.randn(1, 1, 4, 2), window(4, 2)
    with pytest.raises(OrdinateError, match="look is multiplied with class vectors"):
        path(x, x, x, pattern, look=x)
    with pytest.raises(OrdinateError, match="queries are there for keys alone"):
        path(x, None, x, pattern, vectors=torch.zeros(1, 2, 2), look=x)


@pytest.mark.parametrize("bad", ["query", "look"])
def test_a_look_that_is_not_finite(bad):
    pattern, x = window(8, 3), torch.randn(1, 1, 8, 2)
    given = {"query": x.clone(), "look": x.clone()}
    given[bad][0, 0, 3] = float("inf")
    vectors = torch.randn(1, 3, 2)
    for path in (attend, blocked_attention):
        out = path(given["query"], x, x, pattern, vectors=vectors, look=given["look"])
        assert (~out.isfinite()).any(-1).nonzero()[:, -1].tolist() == [3]


@pytest.mark.parametrize(
    "relation", [uniform("first") | relative(clip=2), near(back=1) | between("first", "second")], ids=str
)
def test_where_offsets_do_not_decide_there_is_no_table(relation):
    """The key's own place decides the class; or a block has keys of a field that only some of its queries attend to."""
    layout = Coordinates.of(first=range(7), second=range(7))
    pattern = BoundRelation(relation, [layout]).pattern(layout)
    if blocked_tables(pattern, CPU) is None:
        with pytest.raises(OrdinateError, match="offsets do not decide"):
            blocked_attention(
                None, None, torch.zeros(1, 1, 14, 1), pattern, bias=torch.zeros(1, pattern.classes)
            )
    else:
        given = arguments(pattern, "content", bias=False)
        assert_same(blocked_attention, slow, pattern, given)


def test_blocks_of_a_window_share_one_list_of_offsets():
    found = blocked_tables(window(30, 4), CPU)
    assert found.pairs == sum(3 * (3 + min(3, first)) for first in range(0, 30, 3))
    assert found.classes.tolist() == [4 + 1] * 2 + [3, 2, 1, 0] + [4 + 1] * 2


def test_a_second_backward_pass():
    pattern = window(9, 4)
    given = arguments(pattern, "content + class")
    out = blocked_attention(*list(given.values())[:3], pattern, vectors=given["vectors"])
    first = torch.autograd.grad(out.sum(), given["query"], retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(out.sum(), given["query"]), first, rtol=0, atol=0)


def test_values_alone_need_no_other_gradient():
    pattern = window(4, 2)
    value = torch.randn(1, 1, 4, 2, requires_grad=True)
    blocked_attention(None, None, value, pattern, bias=torch.zeros(1, 2)).sum().backward()
    torch.testing.assert_close(value.grad[0, 0, :, 0], torch.tensor([1.5, 1.0, 1.0, 0.5]))


def test_members_of_an_ensemble():
    pattern = window(7, 3)
    members = [arguments(pattern, "content + class", seed=seed) for seed in range(3)]

    def run(query, key, value, vectors, bias):
        return blocked_attention(query, key, value, pattern, vectors=vectors, bias=bias)

    mapped = torch.vmap(run)(*(torch.stack([m[name] for m in members]) for name in members[0]))
    apart = torch.stack([run(*m.values()) for m in members])
    torch.testing.assert_close(mapped, apart)
    leaves = [x for m in members for x in m.values()]
    torch.testing.assert_close(
        torch.autograd.grad(mapped.square().sum(), leaves), torch.autograd.grad(apart.square().sum(), leaves)
    )


@pytest.mark.parametrize("autocast", [False, True])
def test_bfloat16(autocast):
    pattern = window(40, 9)
    given = {name: x.detach().float() for name, x in arguments(pattern, "content + class", dim=8).items()}
    exact, exact_slopes = output_and_gradients(
        blocked_attention, pattern, {name: x.requires_grad_() for name, x in given.items()}
    )
    low = {
        name: x.detach() if name in ("vectors", "bias") else x.detach().bfloat16()
        for name, x in given.items()
    }
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        out, slopes = output_and_gradients(
            blocked_attention, pattern, {name: x.requires_grad_() for name, x in low.items()}
        )
    assert out.dtype == torch.bfloat16
    assert [slope.dtype for slope in slopes] == [x.dtype for x in low.values()]
    torch.testing.assert_close(out.float(), exact, atol=0.1, rtol=0.05)
    for slope, expected in zip(slopes, exact_slopes, strict=True):
        assert float((slope.float() - expected).norm() / expected.norm()) < 0.03


def test_memory_grows_with_the_window_alone(monkeypatch):
    from ordinate.lab.evaluation.cost import peak_bytes

    monkeypatch.undo()
    most = []
    for tokens in (1024, 4096):
        pattern = window(tokens, 128)
        leaves = [torch.randn(1, 2, tokens, 16, requires_grad=True) for _ in range(3)]
        vectors = torch.randn(1, 128, 16, requires_grad=True)

        def call(leaves=leaves, vectors=vectors, pattern=pattern):
            blocked_attention(*leaves, pattern, vectors=vectors).sum().backward()

        most.append(peak_bytes(call))
    assert most[1] < 5 * most[0]
    assert most[1] < 2 * 4096**2 * 4
