"""Gradient descent on the expected loss, without samples.

Filled places hold x_r ~ N(0, I), so that for the window W

    sum_{i in W} E (sum_{r in W} M_ir <v, x_r> - T_ir <th, x_r>)^2 = sum_{i, r in W} |M_ir v - T_ir th|^2.

With C_ir the number of windows that hold i and r, the loss summed over windows is

    L = sum_ir C_ir (M_ir^2 |v|^2 - 2 M_ir T_ir <v, th> + T_ir^2),
    dL/dM = 2 C (M |v|^2 - T <v, th>),    dL/dv = 2 (sum C M^2) v - 2 (sum C M T) th,    products by element.

Positions descend L; v descends its mean over windows, so that v does not move faster where windows are many.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.lab.tasks.ring import Ring
from ordinate.papers.theory.models import LinearModel, Parameters
from ordinate.papers.theory.supervision import circulant, pairs_seen, wanted


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
    """Mean over the window's places, and over windows where there are several."""
    parameters: Parameters


def expected_losses(
    matrix: Float[Tensor, "seed place place"],
    direction: Float[Tensor, "seed feature"],
    ring: Ring,
) -> Float[Tensor, "seed place place"]:
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
    matrix: Float[Tensor, "seed place place"],
    direction: Float[Tensor, "seed feature"],
    ring: Ring,
    seen: Float[Tensor, "place place"],
) -> tuple[Float[Tensor, "seed place place"], Float[Tensor, "seed feature"]]:
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


def _sizes(
    direction: Float[Tensor, "seed feature"], ring: Ring
) -> tuple[Float[Tensor, "seed 1 1"], Float[Tensor, "seed 1 1"]]:
    """|v|^2 and <v, th>."""
    norm = (direction**2).sum(-1)
    along = direction @ ring.direction().to(direction)
    return norm[:, None, None], along[:, None, None]
