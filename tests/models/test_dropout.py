"""Dropout from few random bits: its law, its gradient, and that it is off where nothing is trained."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.models import encoder as module
from ordinate.models.encoder import Dropout, dropout

COUNT = 1 << 18


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 0.9])
def test_every_number_is_dropped_alike_and_the_mean_stays(rate):
    torch.manual_seed(1)
    found = dropout(torch.ones(COUNT), rate)
    kept = found != 0
    deviation = (rate * (1 - rate) / COUNT) ** 0.5
    assert abs(1 - kept.double().mean() - rate) < 5 * deviation + 1 / module.DROPOUT_LEVELS
    assert found[kept].unique().numel() == 1
    assert abs(found.double().mean() - 1) < 5 * deviation / (1 - rate)
    lanes = kept.view(-1, 4).double()
    assert (lanes.mean(0) - (1 - rate)).abs().max() < 10 * deviation + 1 / module.DROPOUT_LEVELS
    assert (torch.corrcoef(lanes.T) - torch.eye(4)).abs().max() < 0.02


@given(shape=st.lists(st.integers(1, 5), min_size=1, max_size=3), rate=st.floats(0, 0.99999))
def test_gradients_are_those_of_the_numbers_kept(shape, rate):
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    out = dropout(x, rate)
    out.sum().backward()
    assert out.shape == x.shape
    assert out.isfinite().all()
    torch.testing.assert_close(x.grad, out.detach() / x.detach())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_it_keeps_the_precision_and_repeats_with_the_seed(dtype):
    x = torch.randn(3, 7, dtype=dtype)
    first, second = (torch.manual_seed(5) and dropout(x, 0.3) for _ in range(2))
    assert first.dtype == dtype
    assert first.equal(second)


def test_it_is_off_in_evaluation_and_at_rate_zero():
    x = torch.randn(4, 5)
    assert Dropout(0.5).eval()(x).equal(x)
    assert Dropout(0.0)(x).equal(x)
    assert not Dropout(0.5)(x).equal(x)
    assert dropout(x, 0).equal(x)


def test_a_tensor_in_other_order_is_dropped_in_place_of_its_numbers():
    x = torch.randn(6, 5).T
    out = dropout(x, 0.5)
    assert ((out == 0) | (out == 2 * x)).all()
