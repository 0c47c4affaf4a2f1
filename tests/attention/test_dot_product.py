"""Attention as pure functions, against loops that anyone can read."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.attention import attention_scores, attention_weights, mix
from ordinate.encodings import Pairs
from ordinate.errors import OrdinateError
from ordinate.relations import Pattern


def pattern_of(classes):
    query, key = (classes >= 0).nonzero().unbind(-1)
    return Pattern(len(classes), 3, query, key, classes[query, key], (0, len(classes)))


def slow_scores(q, k, vectors, classes, bias):
    out = torch.empty(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            for i in range(q.shape[2]):
                for j in range(k.shape[2]):
                    if classes[i, j] < 0:
                        out[b, h, i, j] = -math.inf
                        continue
                    key = k[b, h, j] + (vectors[classes[i, j]] if classes[i, j] < 3 else 0)
                    out[b, h, i, j] = (q[b, h, i] * key).sum() / math.sqrt(q.shape[-1]) + bias[h, i, j]
    return out


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**31))
def test_scores_with_classes_and_bias(tokens, heads, dim, seed):
    g = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, 2, heads, tokens, dim, generator=g, dtype=torch.float64)
    classes = torch.randint(-1, 4, (tokens, tokens), generator=g)
    vectors = torch.randn(3, dim, generator=g, dtype=torch.float64)
    bias = torch.randn(heads, tokens, tokens, generator=g, dtype=torch.float64)
    pairs = [Pairs(heads, pattern_of(classes), vectors[None])]
    fast = attention_scores(q, k, pairs=pairs, bias=bias)
    torch.testing.assert_close(fast, slow_scores(q, k, vectors, classes, bias))


def test_fewer_queries_than_tokens_are_the_last():
    g = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 2, 3, 5, 4, generator=g, dtype=torch.float64)
    vectors = torch.randn(1, 3, 4, generator=g, dtype=torch.float64)
    pairs = [Pairs(3, pattern_of(torch.randint(-1, 4, (5, 5), generator=g)), vectors)]
    for form in (k, None):
        whole = attention_scores(q, form, pairs=pairs)
        torch.testing.assert_close(attention_scores(q[:, :, 3:], form, pairs=pairs), whole[:, :, 3:])


def test_gradients_of_scores():
    q, k = (torch.randn(1, 2, 3, 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    vectors = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    pattern = pattern_of(torch.randint(0, 3, (3, 3)))
    assert torch.autograd.gradcheck(
        lambda q, k, v: attention_scores(q, k, pairs=[Pairs(2, pattern, v)]), (q, k, vectors)
    )


def test_absent_keys_get_no_weight_and_rows_sum_to_one():
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    weights = attention_weights(torch.randn(2, 3, 4, 4), mask)
    assert (weights[..., ~mask] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 4))


@pytest.mark.parametrize(
    ("scores", "mask"),
    [
        (torch.zeros(1, 1, 2, 2), torch.tensor([[True, False], [False, False]])),
        (torch.tensor([[[[0.0, -math.inf], [-math.inf, -math.inf]]]]), None),
        (torch.tensor([[[[0.0, 0.0], [-math.inf, 0.0]]]]), torch.tensor([[True, True], [True, False]])),
    ],
)
def test_a_query_without_keys_is_an_error_not_nan(scores, mask):
    with pytest.raises(OrdinateError, match="query 1 has no key to attend to"):
        attention_weights(scores, mask)


def test_queries_of_no_keys_at_all_are_an_error_and_no_queries_are_none():
    with pytest.raises(OrdinateError, match="3 queries and no key"):
        attention_weights(torch.zeros(1, 1, 3, 0))
    assert attention_weights(torch.zeros(1, 2, 0, 0)).shape == (1, 2, 0, 0)


def test_a_query_without_keys_has_weights_of_zero_where_nobody_can_look():
    """Inside of vmap as on a GPU: zeros, and zeros backward."""
    scores = torch.tensor([[[[0.0, 1.0], [-math.inf, -math.inf]]]], requires_grad=True)
    weights = torch.vmap(attention_weights)(scores[None])[0]
    torch.testing.assert_close(weights[0, 0], torch.stack([scores[0, 0, 0].softmax(0), torch.zeros(2)]))
    (slope,) = torch.autograd.grad((weights * torch.tensor([1.0, 3.0])).sum(), scores)
    assert slope.isfinite().all()
    assert (slope[0, 0, 1] == 0).all()


def test_weights_without_a_batch_are_shared_by_the_batch():
    weights, values = torch.rand(2, 3, 3), torch.randn(5, 2, 3, 4)
    torch.testing.assert_close(mix(weights, values), torch.einsum("hij,bhjd->bhid", weights, values))


@pytest.mark.parametrize("keys", [1, 3, 7, 8, 9, 15, 16, 17, 40])
def test_weights_are_a_softmax_over_keys_of_any_number(keys):
    scores = torch.randn(2, 3, 5, keys, dtype=torch.float64, requires_grad=True)
    slow = scores.exp() / scores.exp().sum(-1, keepdim=True)
    fast, seen = attention_weights(scores), torch.randn_like(slow)
    torch.testing.assert_close(fast, slow)
    torch.testing.assert_close(*(torch.autograd.grad(weights, scores, seen)[0] for weights in (fast, slow)))
