"""Rounded feed-forward layers: the formula, its bound, its gradient, and models that have them or not."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.architectures import MODELS, LogsOfWholeNumbers, Memory, WholeNumbers
from ordinate.lab.runs.store import recipe_key
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe
from ordinate.models import build_model

TASK = make_task("adaptive-memory", length=8)
SMALL = {"layers": 2, "heads": 2, "width": 4, "hidden": 6}
LIN, LOG = WholeNumbers(), LogsOfWholeNumbers()


def one(precision, z, dtype=torch.float64):
    return float(precision.apply(torch.tensor([z], dtype=dtype))[0])


@given(st.floats(-1e6, 1e6))
def test_lin_writes_the_nearest_whole_number(z):
    found = one(LIN, z)
    assert found == round(z)
    assert abs(found - z) <= 0.5


@given(st.floats(1, 30))
def test_log_keeps_to_the_bound_of_proposition_c1(z):
    """|log(round(e^z)) - z| <= 1 / (2 min(e^z, round(e^z))) for z >= 1, but for rounding in float64."""
    found = one(LOG, z)
    assert found == pytest.approx(math.log(round(math.exp(z))), abs=1e-12)
    assert abs(found - z) <= 1 / (2 * min(math.exp(z), round(math.exp(z)))) + 1e-12


@given(st.integers(1, 4096), st.floats(-0.49, 0.49))
def test_log_finds_back_to_a_lag_that_is_off_by_less_than_half(lag, off):
    assert one(LOG, math.log(lag + off if lag > 1 else lag + abs(off))) == math.log(lag)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("z", [-1e4, -0.7, 0.0])
def test_log_writes_1_where_there_is_no_smaller_lag(z, dtype):
    assert one(LOG, z, dtype) == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("z", [40.0, 120.0, 5e4])
def test_numbers_beyond_all_fractions_stay(z, dtype):
    assert one(LOG, z, dtype) == z


@given(st.sampled_from([LIN, LOG]), st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=20))
def test_gradients_go_straight_through_and_values_are_exact(precision, numbers):
    z = torch.tensor(numbers, requires_grad=True)
    out = precision.apply(z)
    assert torch.equal(out, precision.rounded(z.detach()))
    (gradient,) = torch.autograd.grad((out * torch.arange(1.0, len(z) + 1)).sum(), z)
    torch.testing.assert_close(gradient, torch.arange(1.0, len(z) + 1))


@pytest.mark.parametrize("precision", [LIN, LOG])
def test_all_ffns_but_the_readout_are_rounded(precision):
    rounded = build_model(Memory(**{**SMALL, "layers": 3}, precision=precision), TASK, seed=0)
    plain = build_model(Memory(**{**SMALL, "layers": 3}), TASK, seed=0)
    plain.load_state_dict(rounded.state_dict())
    x = 3 * torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(0))
    for layer, same in zip(rounded.layers[:-1], plain.layers[:-1], strict=True):
        assert torch.equal(layer.ffn(x), precision.rounded(same.ffn(x)))
    assert torch.equal(rounded.readout(x), plain.readout(x))
    rounded(x[..., :1], TASK.coordinates(8)).square().sum().backward()
    assert rounded.layers[0].ffn.up.weight.grad.any()


def recipe(**model):
    table = {"name": "r", "task": {"name": "adaptive-memory", "length": 8}}
    return Recipe.parse({**table, "model": {"kind": "memory", **SMALL, **model}})


def test_recipes_without_precision_are_the_ones_they_were():
    plain = recipe().to_dict()
    assert "precision" not in plain["model"]
    rounded = recipe(precision="lin")
    assert rounded.to_dict()["model"]["precision"] == {"kind": "lin"}
    assert recipe_key(rounded.to_dict()) != recipe_key(plain)
    assert Recipe.parse(rounded.to_dict()) == rounded


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"precision": "linear"}, "model.precision.kind = 'linear' is not known: did you mean 'lin'?"),
        ({"precision": "lin", "layers": 1}, "must have 2 layers or more, and FFNs, with precision"),
        ({"precision": "log", "layers": 3, "ffn": False}, "with precision: it rounds FFNs"),
    ],
)
def test_bad_settings_are_refused_in_one_line(value, line):
    with pytest.raises(OrdinateError) as error:
        choose({"kind": "memory", **value}, MODELS, "model")
    assert line in str(error.value)
