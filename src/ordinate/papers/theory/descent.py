"""Gradient descent on the ring: on the expected loss, and on finite batches.

**The expected loss, without samples.** Filled places hold x_r ~ N(0, I), so that for the window W

    sum_{i in W} E (sum_{r in W} M_ir <v, x_r> - T_ir <th, x_r>)^2 = sum_{i, r in W} |M_ir v - T_ir th|^2.

With C_ir the number of windows that hold i and r, the loss summed over windows is

    L = sum_ir C_ir (M_ir^2 |v|^2 - 2 M_ir T_ir <v, th> + T_ir^2),
    dL/dM = 2 C (M |v|^2 - T <v, th>),    dL/dv = 2 (sum C M^2) v - 2 (sum C M T) th,    products by element.

Positions descend L; v descends its mean over windows, so that v does not move faster where windows are many.

**Finite batches**: fresh Gaussian vectors in every step, positions and v trained together. For a window W of a sample,
e_i = sum_{r in W} M_ir <v, x_r> - T_ir <th, x_r>, and with the sum over i in W and the mean over the batch

    loss = sum_i e_i^2,    dloss/dM_ir = 2 e_i <v, x_r>,    dloss/dv = 2 sum_ir e_i M_ir x_r.

Where a model is trained on many windows, every sample draws one. As above, positions descend the loss
times the number of windows, v the loss itself.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ordinate.lab.seeds import generator
from ordinate.lab.tasks.ring import Ring, ring_answers
from ordinate.papers.theory.ring import (
    Directions,
    LinearModel,
    Pairs,
    Parameters,
    circulant,
    pairs_seen,
    wanted,
)


@dataclass(frozen=True)
class Descent:
    """Gradient descent with weight decay: p <- p - rate (gradient + decay p), and the same for v at its own rate."""

    steps: int
    rate: float
    direction_rate: float
    decay: float = 0.0
    logs: int = 60

    def logged(self) -> list[int]:
        """The steps whose losses are kept: the first, the last, and about `logs` between, denser early.

        >>> Descent(steps=1000, rate=0.1, direction_rate=0.1, logs=7).logged()
        [0, 1, 3, 10, 32, 100, 316, 1000]
        """
        spread = torch.logspace(0, math.log10(max(self.steps, 1)), self.logs, dtype=torch.float64)
        return sorted({0, *spread.round().long().clamp(max=self.steps).tolist()})


@dataclass(frozen=True)
class Path:
    """What a training went through: losses at some steps, and where it ended."""

    steps: list[int]
    losses: Float[Tensor, "seed log"]
    """Mean over the window's places, and over windows if there are several."""
    parameters: Parameters


def expected_losses(matrix: Pairs, direction: Directions, ring: Ring) -> Pairs:
    """|M_ir v - T_ir th|^2 of every pair: summed over r, the expected loss of place i when all places are filled.

    >>> ring = Ring(places=5, filled=2, dimension=3, own=2.0, neighbours=(0.5,))
    >>> nothing = torch.zeros(1, 5, 5, dtype=torch.float64)
    >>> expected_losses(nothing, ring.direction()[None], ring).sum(-1)[0, 0].item()  # a^2 + 2 b^2
    4.5
    """
    target = circulant(wanted(ring)).to(matrix)
    norm, along = _sizes(direction, ring)
    return matrix**2 * norm - 2 * matrix * target * along + target**2


def slopes(
    matrix: Pairs, direction: Directions, ring: Ring, seen: Float[Tensor, "place place"]
) -> tuple[Pairs, Directions]:
    """dL/dM and dL/dv of the loss summed over windows; `seen` is C."""
    target, theta = circulant(wanted(ring)).to(matrix), ring.direction().to(matrix)
    norm, along = _sizes(direction, ring)
    weighted = seen * matrix
    by_matrix = 2 * (weighted * norm - seen * target * along)
    own = (weighted * matrix).sum((-2, -1))[:, None]
    cross = (weighted * target).sum((-2, -1))[:, None]
    return by_matrix, 2 * (own * direction - cross * theta)


def descend(
    model: LinearModel,
    ring: Ring,
    start: Parameters,
    descent: Descent,
    report: Callable[[int], None] = lambda step: None,
) -> Path:
    """Gradient descent on the expected loss, all seeds at once."""
    windows = model.windows(ring)
    seen = pairs_seen(windows, ring.places).to(start.positions)
    positions, direction = start
    places = len(windows) * ring.filled
    logged = descent.logged()
    losses: list[Tensor] = []
    for step in range(descent.steps + 1):
        matrix = model.matrix(positions)
        report(step)
        if step == logged[len(losses)]:
            losses.append((seen * expected_losses(matrix, direction, ring)).sum((-2, -1)) / places)
        if step == descent.steps:
            break
        by_matrix, by_direction = slopes(matrix, direction, ring, seen)
        gradient = model.pull(positions, by_matrix)
        positions = positions - descent.rate * (gradient + descent.decay * positions)
        direction = direction - descent.direction_rate * (
            by_direction / len(windows) + descent.decay * direction
        )
    return Path(logged, torch.stack(losses, dim=1), Parameters(positions, direction))


def _sizes(direction: Directions, ring: Ring) -> tuple[Float[Tensor, "seed 1 1"], Float[Tensor, "seed 1 1"]]:
    """|v|^2 and <v, th>."""
    norm = (direction**2).sum(-1)
    along = direction @ ring.direction().to(direction)
    return norm[:, None, None], along[:, None, None]


TESTS = 250
"""Rings that are tested at once."""


def sample_slopes(
    matrix: Pairs,
    direction: Directions,
    inputs: Float[Tensor, "seed batch filled feature"],
    places: Int[Tensor, "seed batch filled"],
    ring: Ring,
) -> tuple[Float[Tensor, " seed"], Pairs, Directions]:
    """Loss of a batch, mean over samples and sum over the window, and its gradients by M and by v.

    `places` are the places of the ring that the window of each sample fills.
    """
    seeds, batch, filled = places.shape
    theta, target = ring.direction().to(inputs), circulant(wanted(ring)).to(inputs)
    along, truth = torch.einsum("sbrd,sd->sbr", inputs, direction), inputs @ theta
    flat = (places[..., :, None] * ring.places + places[..., None, :]).reshape(seeds, -1)
    local = matrix.reshape(seeds, -1).gather(1, flat).reshape(seeds, batch, filled, filled)
    asked = target.reshape(-1)[flat].reshape(local.shape)
    errors = torch.einsum("sbir,sbr->sbi", local, along) - torch.einsum("sbir,sbr->sbi", asked, truth)
    outer = 2 / batch * errors[..., :, None] * along[..., None, :]
    by_matrix = torch.zeros_like(matrix).reshape(seeds, -1)
    by_matrix.scatter_add_(1, flat, outer.reshape(seeds, -1))
    weights = 2 / batch * torch.einsum("sbir,sbi->sbr", local, errors)
    by_direction = torch.einsum("sbr,sbrd->sd", weights, inputs)
    return (errors**2).sum(-1).mean(-1), by_matrix.reshape(matrix.shape), by_direction


def train(
    model: LinearModel,
    ring: Ring,
    start: Parameters,
    descent: Descent,
    *,
    seeds: Sequence[int],
    batch: int,
    report: Callable[[int], None] = lambda step: None,
) -> Path:
    """Gradient descent on fresh batches, all seeds at once in float32; the loss kept is that of the batch."""
    streams = [generator(seed, "ring", model.name, "batches") for seed in seeds]
    windows = model.windows(ring)
    positions, direction = start.positions.float(), start.direction.float()
    inputs = torch.empty(len(streams), batch, ring.filled, ring.dimension)
    logged = descent.logged()
    losses: list[Tensor] = []
    for step in range(descent.steps + 1):
        for row, random in zip(inputs, streams, strict=True):
            row.normal_(generator=random)
        chosen = torch.stack([torch.randint(len(windows), (batch,), generator=random) for random in streams])
        matrix = model.matrix(positions)
        loss, by_matrix, by_direction = sample_slopes(matrix, direction, inputs, windows[chosen], ring)
        report(step)
        if step == logged[len(losses)]:
            losses.append(loss / ring.filled)
        if step == descent.steps:
            break
        gradient = len(windows) * model.pull(positions, by_matrix)
        positions = positions - descent.rate * (gradient + descent.decay * positions)
        direction = direction - descent.direction_rate * (by_direction + descent.decay * direction)
    return Path(logged, torch.stack(losses, dim=1), Parameters(positions, direction))


def sampled_losses(
    matrix: Pairs,
    direction: Directions,
    ring: Ring,
    *,
    count: int,
    seed: int = 0,
) -> Float[Tensor, "seed place"]:
    """Squared error of every place, mean over `count` rings with all places filled, the same for all seeds."""
    random = generator(seed, "ring", "test")
    total = torch.zeros(matrix.shape[:2], dtype=torch.float64)
    for first in range(0, count, TESTS):
        inputs = torch.randn(min(TESTS, count - first), ring.places, ring.dimension, generator=random)
        answers = ring_answers(inputs, ring.direction().to(inputs), ring.own, ring.neighbours)[..., 0]
        along = torch.einsum("brd,sd->sbr", inputs, direction.float())
        total += ((along @ matrix.float().mT - answers) ** 2).double().sum(1)
    return total / count
