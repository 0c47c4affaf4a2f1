"""Attention by the lag: dense against loops, FFT against dense, gradients too, and queries without any key."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.attention.dot_product import present_weights
from ordinate.lab.architectures.decay import (
    by_lag,
    by_transform,
    decay_attention,
    lag_attention,
    toeplitz_attention,
)

ABSENT = float("-inf")


def loops(x, scores, normalised):
    """sum_s w x_s, pair by pair, in plain numbers."""
    batch, tokens, width = x.shape
    out = torch.zeros(batch, len(scores), tokens, width, dtype=x.dtype)
    for b in range(batch):
        for h, rows in enumerate(scores.tolist()):
            for t, row in enumerate(rows):
                weights = [0.0 if score == ABSENT else math.exp(score) for score in row]
                total = sum(weights) if normalised else 1.0
                for s, weight in enumerate(weights):
                    if weight:
                        out[b, h, t] += weight / total * x[b, s]
    return out


def lags_of(tokens, kind, heads=3):
    lag = torch.arange(tokens, dtype=torch.float64)
    slopes = torch.rand(heads, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(tokens)) + 0.1
    slopes.requires_grad_()
    if kind == "lin":
        return slopes, -slopes * lag
    found = -slopes * torch.log(lag.clamp(min=1))
    return slopes, torch.where(lag > 0, found, ABSENT)


kinds = pytest.mark.parametrize("kind", ["lin", "log"])
both = pytest.mark.parametrize("normalised", [True, False])


@kinds
@both
@pytest.mark.parametrize("tokens", [1, 2, 7])
def test_dense_attention_against_loops(tokens, kind, normalised):
    x = torch.randn(2, tokens, 3, dtype=torch.float64)
    scores = by_lag(lags_of(tokens, kind)[1].detach())
    torch.testing.assert_close(
        decay_attention(x, scores[None], normalised=normalised), loops(x, scores, normalised)
    )


@both
def test_scores_of_every_sample_against_loops(normalised):
    x = torch.randn(4, 6, 2, dtype=torch.float64)
    scores = torch.randn(4, 3, 6, 6, dtype=torch.float64).masked_fill(torch.ones(6, 6).triu(0).bool(), ABSENT)
    found = decay_attention(x, scores, normalised=normalised)
    for b in range(4):
        torch.testing.assert_close(found[b : b + 1], loops(x[b : b + 1], scores[b], normalised))


@kinds
@both
@settings(max_examples=15)
@given(tokens=st.integers(1, 60), batch=st.integers(1, 3), width=st.integers(1, 3), heads=st.integers(1, 3))
def test_transforms_and_pairs_agree_with_gradients(kind, normalised, tokens, batch, width, heads):
    x = torch.randn(batch, tokens, width, dtype=torch.float64, requires_grad=True)
    results = []
    for dense in (True, False):
        slopes, lags = lags_of(tokens, kind, heads)
        if dense:
            out = decay_attention(x, by_lag(lags)[None], normalised=normalised)
        else:
            out = toeplitz_attention(x, lags, normalised=normalised)
        gradients = torch.autograd.grad(out.sin().sum(), (x, slopes), allow_unused=True)
        assert all(g is None or g.isfinite().all() for g in gradients)
        results.append((out, *(g for g in gradients if g is not None)))
    torch.testing.assert_close(results[0], results[1], rtol=1e-9, atol=1e-9)


@kinds
@both
def test_they_agree_at_a_length_where_transforms_are_chosen(kind, normalised):
    x = torch.randn(1, 700, 2, dtype=torch.float64)
    lags = lags_of(700, kind)[1].detach()
    assert by_transform(x)
    expected = decay_attention(x, by_lag(lags)[None], normalised=normalised)
    torch.testing.assert_close(lag_attention(x, lags, normalised=normalised), expected, rtol=1e-9, atol=1e-9)
    single = lag_attention(x.float(), lags.float(), normalised=normalised)
    assert float((single - expected).abs().max()) < 1e-5 * float(expected.abs().max())


def test_short_sequences_are_laid_out():
    assert not by_transform(torch.empty(1, 64, 4))
    assert by_transform(torch.empty(1, 128, 4))
    assert not by_transform(torch.empty(64, 120, 4))
    assert by_transform(torch.empty(1000, 1024, 64))


@pytest.mark.parametrize("tokens", [3, 200])
def test_a_query_without_any_key_gives_zero(tokens):
    """Under phi_log the first token has none; where lags are all absent no token has."""
    x = torch.randn(2, tokens, 2, requires_grad=True)
    first = torch.zeros(1, tokens)
    first[0, 0] = ABSENT
    nothing = torch.full((1, tokens), ABSENT)
    for function in (lag_attention, toeplitz_attention):
        for normalised in (True, False):
            out = function(x, first, normalised=normalised)
            assert out[:, :, 0].abs().max() < 1e-5
            assert out[:, :, 1:].any()
            assert not function(x, nothing, normalised=normalised).any()
            assert torch.autograd.grad(out.sum(), x)[0].isfinite().all()


def test_large_scores_do_not_overflow_a_softmax():
    scores = torch.tensor([[[1e4, ABSENT], [1e4, 1e4]]], requires_grad=True)
    weights = present_weights(scores, normalised=True)
    assert weights.tolist() == [[[1.0, 0.0], [0.5, 0.5]]]
    assert torch.autograd.grad(weights[0, 1, 0], scores)[0].tolist() == [[[0.0, 0.0], [0.25, -0.25]]]


def test_half_precision_is_computed_in_single():
    x, lags = torch.randn(1, 300, 2), -0.1 * torch.arange(300.0)[None]
    out = toeplitz_attention(x.bfloat16(), lags.bfloat16(), normalised=True)
    assert out.dtype == torch.bfloat16
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert toeplitz_attention(x, lags, normalised=True).dtype == torch.float32
