"""Fixed memories as weights: the model does what the fit says, input by input."""

import itertools

import numpy as np
import pytest
import torch

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import LIN, LOG
from ordinate.papers.theory.construct import (
    PRODUCT,
    READOUTS,
    SUM,
    build_model,
    find_readout,
    weights_of,
)
from ordinate.papers.theory.evaluate import evaluate_model
from ordinate.papers.theory.fits import fit
from ordinate.papers.theory.slopes import lag_kernels

SLOPES = {"lin": (2.0, 3.0, 4.0, 5.0), "log": (3.0, 5.0, 7.0, 9.0)}
BIASES = pytest.mark.parametrize("bias", [LIN, LOG], ids=lambda bias: bias.name)
NORMALISED = pytest.mark.parametrize("normalised", [True, False], ids=["softmax", "free"])


def built(bias, lags, readout, *, length=10, normalised=True):
    found = fit(bias, SLOPES[bias.name], lag_kernels(lags, length))
    weights = weights_of(found, readout, normalised=normalised)
    return found, build_model(bias, weights, normalised=normalised)


@BIASES
@NORMALISED
def test_memories_are_the_kernels_of_the_fit(bias, normalised):
    """One token at a time, at the last position: column k receives sum_h a_h w_h(lag)."""
    found, model = built(bias, [1, 2], SUM, normalised=normalised)
    coordinates = Coordinates.of(sequence=range(10))
    outputs = model(torch.eye(10, dtype=torch.float64)[..., None], coordinates)[:, -1, 0].flip(0)
    wanted = [
        sum(
            float(sum(a * bias.weight(p, lag) for a, p in zip(row, found.slopes, strict=True)))
            for row in found.coefficients
        )
        if lag >= bias.first_lag
        else 0.0
        for lag in range(10)
    ]
    np.testing.assert_allclose(outputs.detach(), wanted, atol=1e-9)


@BIASES
def test_without_a_softmax_every_token_is_right(bias):
    found, model = built(bias, [1, 2], SUM, normalised=False)
    x = torch.from_numpy(np.random.default_rng(0).choice([-1.0, 1.0], (20, 10)))
    y = model(x[..., None], Coordinates.of(sequence=range(10)))[..., 0]
    wanted = torch.zeros_like(x)
    for lag in (1, 2):
        wanted[:, lag:] += x[:, :-lag]
    assert (y - wanted).abs().max() <= sum(found.errors) + 1e-9


@BIASES
@NORMALISED
@pytest.mark.parametrize("readout", READOUTS.values(), ids=lambda readout: readout.name)
@torch.no_grad()
def test_all_inputs_of_short_sequences(bias, normalised, readout):
    """The measured sup norm against a loop over inputs, and against the error of the fit."""
    found, model = built(bias, [1, 2], readout, length=7, normalised=normalised)
    measured = evaluate_model(model, [1, 2], readout, 7)
    worst = 0.0
    for tokens in itertools.product([-1.0, 1.0], repeat=7):
        y = model(torch.tensor(tokens).double()[None, :, None], Coordinates.of(sequence=range(7)))[0, -1, 0]
        near, far = tokens[-2], tokens[-3]
        worst = max(worst, abs(float(y) - (near + far if readout is SUM else near * far)))
    assert measured.output == pytest.approx(worst, abs=1e-12)
    assert measured.exact
    assert measured.inputs == 2**7
    assert measured.memories == pytest.approx(found.errors, abs=1e-8)


@pytest.mark.parametrize("readout", READOUTS.values(), ids=lambda readout: readout.name)
def test_longer_sequences_are_measured_on_their_worst_input(readout):
    found, model = built(LIN, [1, 3], readout, length=24)
    measured = evaluate_model(model, [1, 3], readout, 24)
    assert measured.memories == pytest.approx(found.errors, abs=1e-7)
    assert measured.exact == readout.linear
    assert measured.output <= sum(measured.memories) + 1e-9
    short = evaluate_model(built(LIN, [1, 3], readout, length=12)[1], [1, 3], readout, 12)
    assert short.output <= measured.output + 1e-6


@pytest.mark.parametrize("memories", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("readout", READOUTS.values(), ids=lambda readout: readout.name)
def test_readouts_are_exact_on_tokens_and_never_steeper_than_1(memories, readout):
    slopes, offsets, heights = (np.array(part) for part in readout.hinges(memories))

    def read(z):
        return np.maximum(slopes * np.asarray(z)[..., None] + offsets, 0) @ heights

    for tokens in itertools.product([-1.0, 1.0], repeat=memories):
        assert read(sum(tokens)) == pytest.approx(float(readout.target(torch.tensor(tokens))))
    grid = np.linspace(-memories - 4, memories + 4, 2001)
    assert np.abs(np.diff(read(grid)) / np.diff(grid)).max() <= 1 + 1e-9


def test_coefficients_that_float64_cannot_hold_are_refused():
    found = fit(LIN, LIN.paper_slopes(12), lag_kernels([6], 12), digits=120.0)
    words = (
        r"float64 cannot hold .* of 12 lin heads with slopes 0\.01 to 0\.12: .* digits, float64 has 15\.95"
    )
    with pytest.raises(OrdinateError, match=words):
        weights_of(found, SUM, normalised=True)


def test_unknown_readouts_are_refused():
    with pytest.raises(OrdinateError, match="did you mean 'product'"):
        find_readout("produkt")
    assert find_readout("product") is PRODUCT
