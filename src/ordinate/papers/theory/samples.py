"""Gradient descent on finite batches: fresh Gaussian vectors in every step, positions and v trained together.

For a window W of a sample, e_i = sum_{r in W} M_ir <v, x_r> - T_ir <th, x_r>, and with the sum over i in W and the
mean over the batch

    loss = sum_i e_i^2,    dloss/dM_ir = 2 e_i <v, x_r>,    dloss/dv = 2 sum_ir e_i M_ir x_r.

Where a model is trained on many windows, every sample draws one. As in `population`, positions descend the loss
times the number of windows, v the loss itself.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ordinate.lab.seeds import generator
from ordinate.lab.tasks.ring import Ring, ring_answers
from ordinate.papers.theory.models import LinearModel, Parameters
from ordinate.papers.theory.population import Descent, Path
from ordinate.papers.theory.supervision import circulant, wanted

TESTS = 250
"""Rings that are tested at once."""


def sample_slopes(
    matrix: Float[Tensor, "seed place place"],
    direction: Float[Tensor, "seed feature"],
    inputs: Float[Tensor, "seed batch filled feature"],
    places: Int[Tensor, "seed batch filled"],
    ring: Ring,
) -> tuple[Float[Tensor, " seed"], Float[Tensor, "seed place place"], Float[Tensor, "seed feature"]]:
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
    matrix: Float[Tensor, "seed place place"],
    direction: Float[Tensor, "seed feature"],
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
