"""Kernelized attention with a relative bias, and hard retrieval: against plain loops, and gradients."""

import doctest
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.attention import hard, kernelized
from ordinate.attention.hard import hard_weights
from ordinate.attention.kernelized import kernelized_attention, kernelized_toeplitz, positive_features

ABSENT = float("-inf")


@pytest.mark.parametrize("module", [hard, kernelized])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def drawn(seed, tokens, heads=2, batch=2, features=3, dim=2):
    generator = torch.Generator().manual_seed(seed)

    def numbers(*shape):
        return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()

    query, key = (numbers(batch, heads, tokens, features) for _ in range(2))
    return query, key, numbers(batch, heads, tokens, dim), numbers(heads, tokens)


def loops(query, key, value, lags):
    out = torch.zeros_like(value)
    for b, h, t, _ in torch.cartesian_prod(*(torch.arange(n) for n in (*value.shape[:3], 1))).tolist():
        weights = [math.exp(lags[h, t - s]) * float(query[b, h, t] @ key[b, h, s]) for s in range(t + 1)]
        if sum(weights):
            out[b, h, t] = sum(w * value[b, h, s] for s, w in enumerate(weights)) / sum(weights)
    return out


@settings(max_examples=20)
@given(seed=st.integers(0, 999), tokens=st.integers(1, 9), blind=st.integers(0, 3))
def test_both_forms_are_the_formula(seed, tokens, blind):
    query, key, value, lags = (x.detach() for x in drawn(seed, tokens))
    lags[:, :blind] = ABSENT
    query, key = query.exp(), key.exp()
    expected = loops(query, key, value, lags)
    torch.testing.assert_close(kernelized_attention(query, key, value, lags), expected)
    torch.testing.assert_close(kernelized_toeplitz(query, key, value, lags), expected)


@pytest.mark.parametrize("tokens", [1, 6, 33])
def test_both_forms_have_the_same_gradients(tokens):
    given_tensors = drawn(tokens, tokens)
    found = []
    for form in (kernelized_attention, kernelized_toeplitz):
        query, key, value, lags = given_tensors
        out = form(query.exp(), key.exp(), value, lags)
        found.append(torch.autograd.grad((out * out.detach().cos()).sum(), given_tensors))
    for dense, transformed in zip(*found, strict=True):
        torch.testing.assert_close(transformed, dense)


def test_positive_features_estimate_the_softmax_kernel():
    generator = torch.Generator().manual_seed(0)
    x = 0.3 * torch.randn(5, 3, dtype=torch.float64, generator=generator)
    directions = torch.randn(200_000, 3, dtype=torch.float64, generator=generator)
    phi = positive_features(x, directions)
    torch.testing.assert_close(phi @ phi.T / len(directions), (x @ x.T).exp(), rtol=0.05, atol=0.0)


def test_hard_weights_take_the_largest_score_and_descend_like_a_softmax():
    scores = torch.randn(2, 3, 4, 5, dtype=torch.float64, requires_grad=True)
    with torch.no_grad():
        scores[0, 0, 0] = ABSENT
    weights = hard_weights(scores)
    assert torch.equal(weights[0, 0, 0], torch.zeros(5, dtype=torch.float64))
    rest = weights.detach().flatten(0, 2)[1:]
    torch.testing.assert_close(rest.amax(-1), torch.ones(len(rest), dtype=torch.float64))
    assert torch.equal(rest.argmax(-1), scores.detach().flatten(0, 2)[1:].argmax(-1))
    torch.testing.assert_close(rest.sum(-1), torch.ones(len(rest), dtype=torch.float64))
    slope = torch.randn_like(weights)
    (found,) = torch.autograd.grad((weights[1] * slope[1]).sum(), scores)
    (soft,) = torch.autograd.grad((scores[1].softmax(-1) * slope[1]).sum(), scores)
    torch.testing.assert_close(found[1], soft[1])
