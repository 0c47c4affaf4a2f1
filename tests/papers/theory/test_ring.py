"""Windows, pairs and differences, against loops anyone can check."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.tasks.ring import Ring, ring_answers
from ordinate.papers.theory.ring import (
    all_windows,
    circulant,
    differences_seen,
    expressible,
    first_window,
    least_response,
    pairs_seen,
    sum_by_difference,
    wanted,
)


@st.composite
def rings(draw):
    places = draw(st.integers(3, 14))
    neighbours = draw(st.lists(st.floats(-1, 1), max_size=(places - 1) // 2))
    return Ring(
        places=places,
        filled=draw(st.integers(1, places)),
        dimension=draw(st.integers(1, 5)),
        own=draw(st.floats(-2, 2)),
        neighbours=tuple(neighbours),
    )


@given(rings())
def test_the_target_is_what_the_task_answers(ring):
    inputs = torch.randn(3, ring.places, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    answers = ring_answers(inputs, torch.ones(1, dtype=torch.float64), ring.own, ring.neighbours)[..., 0]
    assert torch.allclose(inputs[..., 0] @ circulant(wanted(ring)).T, answers)


@given(rings())
def test_pairs_are_counted_window_by_window(ring):
    for windows in (first_window(ring), all_windows(ring)):
        slow = torch.zeros(ring.places, ring.places, dtype=torch.float64)
        for window in windows.tolist():
            for i in window:
                for r in window:
                    slow[i, r] += 1
        assert torch.equal(pairs_seen(windows, ring.places), slow)


@given(rings())
def test_differences_are_seen_n1_minus_j_times_on_either_side(ring):
    n, n1 = ring.places, ring.filled
    slow = [n1] + [max(n1 - j, 0) + max(n1 - (n - j), 0) for j in range(1, n)]
    assert differences_seen(ring).tolist() == slow
    assert torch.equal(pairs_seen(all_windows(ring), n), circulant(differences_seen(ring)))


@given(st.integers(1, 9), st.integers(0, 3))
def test_summing_by_difference_is_the_adjoint_of_the_circulant(n, seed):
    random = torch.Generator().manual_seed(seed)
    c = torch.randn(2, n, generator=random, dtype=torch.float64)
    matrix = torch.randn(2, n, n, generator=random, dtype=torch.float64)
    one, other = (circulant(c) * matrix).sum(), (c * sum_by_difference(matrix)).sum()
    assert one.item() == pytest.approx(other.item())


@given(rings())
def test_the_least_response_is_the_least_eigenvalue_of_the_target(ring):
    least = torch.linalg.eigvalsh(circulant(wanted(ring))).min().item()
    assert least_response(ring) == pytest.approx(least, abs=1e-9)
    slow = min(
        ring.own
        + 2 * sum(b * math.cos(2 * math.pi * k * f / ring.places) for k, b in enumerate(ring.neighbours, 1))
        for f in range(ring.places)
    )
    assert least == pytest.approx(slow, abs=1e-9)


@pytest.mark.parametrize(("b", "can"), [(0.4, True), (0.5, True), (0.6, False), (-0.49, True), (-0.6, False)])
def test_one_neighbour_needs_a_of_twice_b(b, can):
    assert expressible(Ring(places=50, filled=10, own=1.0, neighbours=(b,))) is can
