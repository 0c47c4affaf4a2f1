"""Sparse attention over classes of pairs: the same numbers as dense attention, from slices."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.attention import attend, dense, dense_attention, sparse_attention
from ordinate.errors import OrdinateError
from tests.attention.pairs import FORMS, arguments, assert_same, pattern_of, pieces, slow, window


@given(pieces(), st.sampled_from(FORMS), st.sampled_from([1, 2]), st.booleans())
def test_it_is_the_formula(parts, form, tables, bias):
    pattern = pattern_of(*parts)
    assert_same(
        sparse_attention, slow, pattern, arguments(pattern, form, tables=tables, bias=bias), scale=0.7
    )


@pytest.mark.parametrize("form", FORMS)
def test_dense_and_sparse_agree(form):
    pattern = window(150, 4)
    given = arguments(pattern, form, dim=8, dim_v=5)
    assert_same(sparse_attention, dense_attention, pattern, given, scale=0.3)
    assert_same(attend, dense_attention, pattern, given, scale=0.3)


@pytest.mark.parametrize("form", FORMS)
def test_gradients(form):
    pattern = pattern_of([[0, -1, 2], [2, 1, 1], [-1, 0, -1]], count=2, bounds=(0, 1, 3))
    given = {name: x for name, x in arguments(pattern, form, batch=1).items() if x is not None}

    def run(*leaves):
        named = dict(zip(given, leaves, strict=True))
        query, key, value = (named.pop(name, None) for name in ("query", "key", "value"))
        return sparse_attention(query, key, value, pattern, **named)

    assert torch.autograd.gradcheck(run, list(given.values()))


def test_values_alone_need_no_other_gradient():
    pattern = window(4, 2)
    value = torch.randn(1, 1, 4, 2, requires_grad=True)
    sparse_attention(None, None, value, pattern, bias=torch.zeros(1, 2)).sum().backward()
    torch.testing.assert_close(value.grad[0, 0, :, 0], torch.tensor([1.5, 1.0, 1.0, 0.5]))


def test_members_of_an_ensemble():
    pattern = window(5, 3)
    members = [arguments(pattern, "content + class", seed=seed) for seed in range(3)]

    def run(query, key, value, vectors, bias):
        return sparse_attention(query, key, value, pattern, vectors=vectors, bias=bias)

    mapped = torch.vmap(run)(*(torch.stack([m[name] for m in members]) for name in members[0]))
    apart = torch.stack([run(*m.values()) for m in members])
    torch.testing.assert_close(mapped, apart)
    leaves = [x for m in members for x in m.values()]
    torch.testing.assert_close(
        torch.autograd.grad(mapped.square().sum(), leaves), torch.autograd.grad(apart.square().sum(), leaves)
    )


@pytest.mark.parametrize("function", [sparse_attention, dense_attention])
@pytest.mark.parametrize("size", [8, 1 << 18])
def test_bfloat16_products(function, size, monkeypatch):
    monkeypatch.setattr(dense, "CHUNK", size)
    pattern = window(12, 3)
    given = {name: x.detach().float() for name, x in arguments(pattern, "content + class").items()}
    exact = function(given["query"], given["key"], given["value"], pattern, vectors=given["vectors"])
    vectors = given["vectors"].requires_grad_()
    low = [given[name].bfloat16().requires_grad_() for name in ("query", "key", "value")]
    with torch.autocast("cpu", torch.bfloat16):
        out = function(*low, pattern, vectors=vectors)
    out.float().sum().backward()
    torch.testing.assert_close(out.float(), exact, atol=0.1, rtol=0.05)
    assert out.dtype == torch.bfloat16
    assert vectors.grad.dtype == torch.float32


def test_a_query_without_a_key_is_refused():
    pattern = pattern_of([[0, -1], [-1, -1]], count=1)
    with pytest.raises(OrdinateError, match="query 1 has no key"):
        sparse_attention(None, None, torch.zeros(1, 1, 2, 1), pattern, bias=torch.zeros(1, 1))
