"""Expected and sampled gradients: against autograd, against each other, and against what they converge to."""

import pytest
import torch

from ordinate.lab.tasks.ring import Ring, ring_answers
from ordinate.papers.theory.descent import (
    Descent,
    descend,
    expected_losses,
    sample_slopes,
    sampled_losses,
    slopes,
    train,
)
from ordinate.papers.theory.flow import loss_of_nothing
from ordinate.papers.theory.ring import APE, MODELS, RPE, SHIFTED, Parameters, pairs_seen, same_products

RING = Ring(places=9, filled=4, dimension=6, own=2.0, neighbours=(0.5, 0.3))
SEEDS = range(3)


def drawn(shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def predicted(matrix, direction, inputs):
    """Slow and obvious: one seed, one sample, one place at a time; empty places hold zeros."""
    rows = []
    for M, v in zip(matrix, direction, strict=True):
        rows.append(
            [[sum(M[i, r] * (v @ x[r]) for r in range(len(x))) for i in range(len(x))] for x in inputs]
        )
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_expected_gradients_are_those_of_autograd(model):
    start = model.start(RING, SEEDS)
    positions, direction = (part.clone().requires_grad_() for part in start)
    seen = pairs_seen(model.windows(RING), RING.places)
    loss = (seen * expected_losses(model.matrix(positions), direction, RING)).sum()
    loss.backward()
    by_matrix, by_direction = slopes(model.matrix(start.positions), start.direction, RING, seen)
    assert torch.allclose(model.pull(start.positions, by_matrix), positions.grad)
    assert torch.allclose(by_direction, direction.grad)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_sampled_gradients_are_those_of_autograd_over_the_whole_ring(model):
    """The window's gathered sums are those of a ring with zeros elsewhere, with the loss in the window only."""
    start = model.start(RING, SEEDS)
    windows = model.windows(RING)
    places = windows[torch.arange(5) % len(windows)].expand(len(SEEDS), 5, RING.filled)
    inputs = drawn((len(SEEDS), 5, RING.filled, RING.dimension))
    matrix, direction = (
        model.matrix(start.positions).requires_grad_(),
        start.direction.clone().requires_grad_(),
    )
    whole = torch.zeros(len(SEEDS), 5, RING.places, RING.dimension, dtype=torch.float64)
    index = places[..., None].expand(-1, -1, -1, RING.dimension)
    whole.scatter_(2, index, inputs)
    answers = torch.stack(
        [ring_answers(x, RING.direction(), RING.own, RING.neighbours)[..., 0] for x in whole]
    )
    guesses = torch.einsum("sir,sbrd,sd->sbi", matrix, whole, direction)
    loss = ((guesses - answers) ** 2).gather(2, places).sum(-1).mean(-1)
    loss.sum().backward()
    found, by_matrix, by_direction = sample_slopes(matrix.detach(), direction.detach(), inputs, places, RING)
    assert torch.allclose(found, loss.detach())
    assert torch.allclose(by_matrix, matrix.grad)
    assert torch.allclose(by_direction, direction.grad)


@pytest.mark.parametrize("model", [APE, SHIFTED], ids=lambda model: model.name)
def test_large_batches_tend_to_the_expected_loss_and_gradients(model):
    start, windows, batch = model.start(RING, [0]), model.windows(RING), 90_000
    matrix, seen = model.matrix(start.positions), pairs_seen(windows, RING.places)
    places = windows[torch.arange(batch) % len(windows)][None]
    inputs = drawn((1, batch, RING.filled, RING.dimension))
    loss, by_matrix, by_direction = sample_slopes(matrix, start.direction, inputs, places, RING)
    expected, expected_direction = slopes(matrix, start.direction, RING, seen)
    total = (seen * expected_losses(matrix, start.direction, RING)).sum() / len(windows)
    assert loss.item() == pytest.approx(total.item(), rel=0.02)
    assert torch.allclose(by_matrix, expected / len(windows), atol=0.06)
    assert torch.allclose(by_direction, expected_direction / len(windows), atol=0.06)


def test_test_losses_tend_to_the_expected_ones():
    start = SHIFTED.start(RING, SEEDS)
    matrix = SHIFTED.matrix(start.positions)
    sampled = sampled_losses(matrix, start.direction, RING, count=40_000)
    assert torch.allclose(sampled, expected_losses(matrix, start.direction, RING).sum(-1), rtol=0.05)


def test_predictions_are_sums_over_places():
    start = RPE.start(RING, [0])
    inputs = drawn((2, RING.places, RING.dimension))
    slow = predicted(RPE.matrix(start.positions), start.direction, inputs)
    answers = ring_answers(inputs, RING.direction(), RING.own, RING.neighbours)[..., 0]
    fast = torch.einsum("sir,brd,sd->sbi", RPE.matrix(start.positions), inputs, start.direction)
    assert torch.allclose(fast, slow)
    assert fast.shape[1:] == answers.shape


def test_fewer_dimensions_with_the_same_products_descend_alike():
    ring = Ring(places=6, filled=3, dimension=40, own=2.0, neighbours=(0.5,))
    start, descent = SHIFTED.start(ring, SEEDS), Descent(50, 0.01, 0.005, 0.1)
    small = Parameters(same_products(start.positions), start.direction)
    ends = [descend(SHIFTED, ring, s, descent).parameters.positions for s in (start, small)]
    assert ends[1].shape == (3, 6, 6)
    assert torch.allclose(*map(SHIFTED.matrix, ends), atol=1e-12)


PUBLISHED = Ring(places=51, filled=10, dimension=200, own=2.0, neighbours=(0.5,))


@pytest.fixture(scope="module")
def population():
    """All three models after descent on the expected loss, v trained too, strong weight decay."""
    descent, paths = Descent(900, 0.004, 0.002, 2.0), {}
    for model in MODELS:
        start = model.start(PUBLISHED, SEEDS)
        if start.positions.ndim == 3:
            start = Parameters(same_products(start.positions), start.direction)
        paths[model.name] = model, descend(model, PUBLISHED, start, descent)
    return paths


def test_absolute_positions_outside_the_window_vanish_and_the_loss_there_is_that_of_nothing(population):
    model, path = population["APE"]
    positions, direction = path.parameters
    assert positions[:, 10:].norm(dim=-1).max() < 2e-3  # (1 - 0.008)^900 = 7e-4
    losses = expected_losses(model.matrix(positions), direction, PUBLISHED).sum(-1)
    assert torch.allclose(losses[:, 10:], torch.tensor(loss_of_nothing(PUBLISHED)).double(), rtol=1e-3)
    assert loss_of_nothing(PUBLISHED) == 4.5


def test_shifts_leave_differences_that_are_never_seen(population):
    model, path = population["APE + shifts"]
    effective = (
        model.matrix(path.parameters.positions) * path.parameters.direction.norm(dim=-1)[:, None, None]
    )
    distance = torch.arange(51)[:, None] - torch.arange(51)
    unseen = torch.minimum(distance % 51, -distance % 51) >= 10
    near = torch.minimum(distance % 51, -distance % 51) == 1
    assert torch.allclose(effective[:, near], torch.tensor(0.5).double(), atol=0.02)
    # of size a / sqrt(d), as before training
    assert effective[:, unseen].square().mean().sqrt().item() == pytest.approx(2 / 200**0.5, rel=0.3)


def test_relative_weights_are_what_the_task_wants(population):
    model, path = population["RPE"]
    effective = path.parameters.positions * (path.parameters.direction @ PUBLISHED.direction())[:, None]
    asked = torch.zeros(51).double()
    asked[0], asked[1], asked[-1] = 2.0, 0.5, 0.5
    # weight decay shrinks them by about 5 %
    assert torch.allclose(effective, asked.expand_as(effective), atol=0.1)
    exact = descend(model, PUBLISHED, path.parameters, Descent(600, 0.01, 0.005)).parameters
    effective = exact.positions * (exact.direction @ PUBLISHED.direction())[:, None]
    assert torch.allclose(effective, asked.expand_as(effective), atol=1e-3)


@pytest.mark.parametrize("name", ["APE", "APE + shifts", "RPE"])
def test_v_aligns_with_the_hidden_direction(population, name):
    direction = population[name][1].parameters.direction
    cosine = torch.nn.functional.cosine_similarity(direction, PUBLISHED.direction()[None])
    assert (cosine.abs() > 0.9999).all()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_batches_end_where_the_expected_gradients_end(model):
    """From one start, without noise in the limit: the same losses in the window, and by place to 15 %."""
    ring = Ring(places=11, filled=4, dimension=20, own=2.0, neighbours=(0.5,))
    start = model.start(ring, SEEDS)
    descent = Descent(700, 0.01 if model is not SHIFTED else 0.004, 0.01, 0.3)
    sampled = train(model, ring, start, descent, seeds=SEEDS, batch=64)
    expected = descend(model, ring, start, descent)
    assert sampled.losses[:, -1].max() < 0.01
    assert torch.allclose(sampled.losses[:, -1].double(), expected.losses[:, -1], atol=5e-3)
    by_place = [
        expected_losses(
            model.matrix(p.parameters.positions.double()), p.parameters.direction.double(), ring
        ).sum(-1)
        for p in (sampled, expected)
    ]
    assert torch.allclose(*by_place, rtol=0.15, atol=0.01)


def test_descent_on_batches_is_the_same_whatever_other_seeds_run():
    ring = Ring(places=7, filled=3, dimension=4)
    descent = Descent(5, 0.01, 0.01)
    both, one = (
        train(SHIFTED, ring, SHIFTED.start(ring, seeds), descent, seeds=seeds, batch=4)
        for seeds in ([3, 4], [4])
    )
    assert torch.allclose(both.parameters.positions[1], one.parameters.positions[0])
