"""Causal convolution against the sum of its definition, gradients included."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.architectures import convolution
from ordinate.lab.architectures.convolution import causal_convolutions, fast_size


def slow(kernels, x):
    tokens, x = x.shape[-1], x[..., None, :]
    return torch.stack([sum(kernels[:, s] * x[..., t - s] for s in range(t + 1)) for t in range(tokens)], -1)


@pytest.mark.parametrize("tokens", [1, 2, 3, 8, 17, 31])
@pytest.mark.parametrize("at_once", [1, 700, 2**18])
def test_it_is_the_sum_of_its_definition(tokens, at_once, monkeypatch):
    kernels = torch.randn(3, tokens, dtype=torch.float64, requires_grad=True)
    x = torch.randn(2, 4, tokens, dtype=torch.float64, requires_grad=True)
    results = []
    monkeypatch.setattr(convolution, "AT_ONCE", at_once)
    for function in (causal_convolutions, slow):
        out = function(kernels, x)
        assert out.shape == (2, 4, 3, tokens)
        results.append((out, torch.autograd.grad(out.sin().sum(), (kernels, x))))
    torch.testing.assert_close(results[0], results[1])


@pytest.mark.parametrize("of", ["kernels", "x"])
def test_one_gradient_alone(of):
    sources = {"kernels": torch.randn(3, 9).double(), "x": torch.randn(2, 9).double()}
    sources[of].requires_grad_()
    found = [
        torch.autograd.grad(f(**sources).sin().sum(), sources[of])[0] for f in (causal_convolutions, slow)
    ]
    torch.testing.assert_close(*found)


def test_members_of_an_ensemble_are_computed_as_alone():
    kernels, x = (torch.randn(2, 3, 7, dtype=torch.float64, requires_grad=True) for _ in range(2))
    together = torch.vmap(causal_convolutions)(kernels, x)
    alone = torch.stack([causal_convolutions(k, one) for k, one in zip(kernels, x, strict=True)])
    torch.testing.assert_close(together, alone)
    gradients = [torch.autograd.grad(out.sin().sum(), (kernels, x)) for out in (together, alone)]
    torch.testing.assert_close(*gradients)
    shared = torch.vmap(causal_convolutions, in_dims=(None, 0))(kernels[0], x)
    torch.testing.assert_close(shared, torch.stack([causal_convolutions(kernels[0], one) for one in x]))


def test_nothing_comes_round_the_circle():
    """A huge last token does not reach the first one."""
    x = torch.zeros(100, dtype=torch.float64)
    x[-1] = 1e9
    (out,) = causal_convolutions(torch.ones(1, 100, dtype=torch.float64), x)
    assert float(out[:-1].abs().max()) < 1e-4
    assert float(out[-1]) == pytest.approx(1e9)


@given(st.integers(1, 10_000))
def test_fast_sizes_are_the_next_smooth_numbers(least):
    def smooth(number):
        for prime in (2, 3, 5):
            while number % prime == 0:
                number //= prime
        return number == 1

    assert fast_size(least) == next(n for n in range(least, 2 * least + 1) if smooth(n))
