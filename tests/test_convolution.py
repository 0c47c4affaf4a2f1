"""Causal convolution against the sum of its definition, gradients included."""

import doctest

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate import convolution
from ordinate.convolution import causal_convolution, fast_size


def slow(kernel, x):
    tokens = x.shape[-1]
    return torch.stack([sum(kernel[..., s] * x[..., t - s] for s in range(t + 1)) for t in range(tokens)], -1)


@pytest.mark.parametrize("tokens", [1, 2, 3, 8, 17, 31])
def test_it_is_the_sum_of_its_definition(tokens):
    kernel = torch.randn(3, 1, tokens, dtype=torch.float64, requires_grad=True)
    x = torch.randn(2, 1, 4, tokens, dtype=torch.float64, requires_grad=True)
    results = []
    for function in (causal_convolution, slow):
        out = function(kernel, x)
        assert out.shape == (2, 3, 4, tokens)
        results.append((out, torch.autograd.grad(out.sin().sum(), (kernel, x))))
    torch.testing.assert_close(results[0], results[1])


def test_nothing_comes_round_the_circle():
    """A huge last token does not reach the first one."""
    x = torch.zeros(100, dtype=torch.float64)
    x[-1] = 1e9
    out = causal_convolution(torch.ones(100, dtype=torch.float64), x)
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


def test_examples():
    assert doctest.testmod(convolution).failed == 0
