"""The flow of inner products: against autograd, the published formula, descent and closed forms."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.seeds import generator
from ordinate.lab.tasks.ring import Ring
from ordinate.papers.theory.descent import Descent, descend, expected_losses
from ordinate.papers.theory.flow import (
    flow_slope,
    integrate_flow,
    invariant_products,
    positions_of,
    relative_weights,
    solvable_loss,
    solvable_products,
)
from ordinate.papers.theory.ring import SHIFTED, Parameters, all_windows, circulant, pairs_seen, wanted
from tests.papers.theory.test_ring import rings


def products_of(places, dimension, seed=0):
    return invariant_products(places, dimension, generator(seed, "flow"))


@given(rings(), st.floats(0, 1))
def test_the_slope_is_that_of_the_expected_loss(ring, decay):
    """dP/dt = -dL/dP - e P by autograd; dM/dt from it is circulant, with the flow's slope in its first column."""
    start = products_of(ring.places, 4 * ring.places)
    positions = positions_of(torch.from_numpy(start)).requires_grad_()
    theta = ring.direction()[None]
    seen = pairs_seen(all_windows(ring), ring.places)
    (seen * expected_losses((positions @ positions.T)[None], theta, ring)).sum().backward()
    moved = -positions.grad - decay * positions.detach()
    change = moved @ positions.detach().T
    change = change + change.T
    slope = torch.from_numpy(flow_slope(start, ring, decay=decay))
    assert torch.allclose(circulant(slope), change, atol=1e-9)


@given(st.integers(5, 12), st.integers(1, 4), st.integers(0, 5))
def test_with_one_neighbour_it_is_the_published_formula(n, n1, seed):
    ring = Ring(places=n, filled=min(n1, n // 2), own=2.0, neighbours=(0.7,))
    A, n1, a, b = products_of(n, 20, seed), ring.filled, 2.0, 0.7

    def at(j):
        return A[j % n]

    slow = [
        8 * n1 * (a - at(0)) * at(j)
        - 8 * sum((n1 - r) * at(r) * (at(j - r) + at(j + r)) for r in range(1, n1))
        + 8 * (n1 - 1) * b * (at(j + 1) + at(j - 1))
        for j in range(n)
    ]
    assert np.allclose(flow_slope(A, ring), slow)


def test_the_flow_is_descent_with_small_steps():
    """Products by difference agree to 0.002 with gradient descent on the expected loss at rate 1e-4."""
    ring = Ring(places=15, filled=4, dimension=60, own=2.0, neighbours=(0.5, 0.2))
    start = products_of(15, 60)
    parameters = Parameters(positions_of(torch.from_numpy(start))[None], ring.direction()[None])
    for steps in (200, 1500):
        path = descend(SHIFTED, ring, parameters, Descent(steps, 1e-4, 0.0, 0.1))
        matrix = SHIFTED.matrix(path.parameters.positions)[0]
        flow = integrate_flow(start, ring, [steps * 1e-4], decay=0.1)[-1]
        assert torch.allclose(matrix, circulant(matrix[:, 0]), atol=1e-9)
        assert np.allclose(matrix[:, 0].numpy(), flow, atol=2e-3)


def test_the_flow_ends_at_the_target_where_it_is_seen_and_nowhere_near_zero_where_not():
    ring = Ring(places=51, filled=10, dimension=200, own=2.0, neighbours=(0.5,))
    start = products_of(51, 200)
    end = integrate_flow(start, ring, [5.0])[-1]
    distance = np.minimum(np.arange(51), 51 - np.arange(51))
    assert np.allclose(end[distance < 10], wanted(ring).numpy()[distance < 10], atol=1e-6)
    unseen = np.sqrt(np.mean(end[distance >= 10] ** 2))
    assert unseen > 0.5 * 2 / np.sqrt(200)  # a / sqrt(d) is the size that a random start leads to


def test_weight_decay_does_not_take_unseen_differences_away():
    ring = Ring(places=21, filled=5, dimension=50, own=2.0, neighbours=(0.5,))
    start = products_of(21, 50)
    soon, late = integrate_flow(start, ring, [20.0, 2000.0], decay=0.01, tolerance=1e-7)
    assert np.allclose(soon, late, atol=1e-3)
    assert np.abs(late[5:17]).max() > 0.1


def test_a_target_that_is_no_gram_matrix_keeps_a_loss():
    ring = Ring(places=21, filled=15, own=1.0, neighbours=(0.9,))
    end = integrate_flow(products_of(21, 50), ring, [50.0])[-1]
    assert np.abs(end - wanted(ring).numpy()).max() > 0.05
    assert np.fft.fft(end).real.min() > -1e-6


@pytest.mark.parametrize(("n", "d"), [(11, 30), (51, 200)])
def test_the_solvable_case_is_solved(n, d):
    """The integrated flow and the closed form agree to 1e-6, at all times and differences."""
    ring = Ring(places=n, filled=1, dimension=d, own=2.0, neighbours=(0.0,))
    start, times = products_of(n, d), np.linspace(0, 1, 21)
    flow, exact = integrate_flow(start, ring, times), solvable_products(start, 2.0, times)
    assert np.allclose(flow, exact, atol=1e-6)
    assert (np.diff(np.abs(exact), axis=0) >= -1e-12).all()  # off-diagonals never shrink
    assert np.allclose(exact[-1] / exact[0], exact[-1, 0] / exact[0, 0])


def test_the_test_loss_of_the_solvable_case_grows_like_n_over_d():
    sizes = [(21, 40), (51, 40), (101, 40), (51, 80), (51, 160), (51, 320)]
    found = []
    for n, d in sizes:
        ring = Ring(places=n, filled=1, dimension=d, own=2.0, neighbours=(0.0,))
        start = SHIFTED.start(ring, range(8))
        aligned = Parameters(start.positions, ring.direction().expand(8, -1))
        end = descend(SHIFTED, ring, aligned, Descent(150, 0.03, 0.0)).parameters
        loss = expected_losses(SHIFTED.matrix(end.positions), end.direction, ring).sum(-1).mean().item()
        assert loss == pytest.approx(solvable_loss(n, d, 2.0), rel=0.1)
        found.append(loss)
    slope = np.polyfit(np.log([n / d for n, d in sizes]), np.log(found), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.1)


@given(rings(), st.floats(0, 0.5))
def test_relative_weights_are_solved(ring, decay):
    """The closed form against many small steps of the expected gradient; differences never seen only decay."""
    start = np.random.default_rng(0).normal(size=ring.places)
    time, steps = 0.3, 1000
    seen = pairs_seen(torch.arange(ring.filled)[None], ring.places)
    count = torch.stack(
        [seen.diagonal(j).sum() + seen.diagonal(j - ring.places).sum() for j in range(ring.places)]
    )
    weights, asked = start.copy(), wanted(ring).numpy()
    for _ in range(steps):
        weights = weights - time / steps * (2 * count.numpy() * (weights - asked) + decay * weights)
    assert np.allclose(relative_weights(start, ring, time, decay=decay), weights, atol=5e-3)


def test_random_products_are_those_of_positions_of_the_given_dimension():
    drawn = np.stack([products_of(31, 100, seed) for seed in range(200)])
    assert drawn[:, 0].mean() == pytest.approx(1, abs=0.02)
    assert drawn[:, 1:].std() == pytest.approx(0.1, rel=0.1)
    assert np.fft.fft(drawn).real.min() > -1e-9


def test_products_of_no_positions_are_refused():
    with pytest.raises(OrdinateError, match="no inner products"):
        positions_of(torch.tensor([0.1, 1.0, 1.0]).double())


def test_without_scipy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(OrdinateError, match=r"pip install 'ordinate\[theory\]'"):
        integrate_flow(np.array([1.0, 0.1, 0.1]), Ring(places=3, filled=1), [1.0])
