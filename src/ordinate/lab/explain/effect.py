"""What changing one input symbol does to every output: of the model, and of the right answer beside it.

For token t and the ways w in which it can be changed, the effect on output o is the mean over w of

    symbols:  1/2 sum_s |p_o(s) - p_o^w(s)|       how much of the probability moves, 0 to 1
    numbers:  |y_o - y_o^w|

and what is needed is the same of the right answers: for symbols, the share of changes that change the answer.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, nn

from ordinate.lab.evaluation.sweep import TOKENS_AT_ONCE, run_model
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Batch

Report = Callable[[int, int], None]


class Effects(NamedTuple):
    """Of changing every token on its own; tokens that cannot be changed on their own have zeros."""

    effect: Float[Tensor, "output token"]
    needed: Float[Tensor, "output token"]
    changed: Bool[Tensor, " token"]


def distance(
    one: Float[Tensor, "*#batch output symbol"], other: Float[Tensor, "*#batch output symbol"]
) -> Float[Tensor, "*batch output"]:
    """Half the sum of the differences: 0 for equal distributions, 1 for those that share no symbol.

    >>> distance(torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.0, 0.5, 0.5]]))
    tensor([0.5000])
    """
    return (one - other).abs().sum(-1) / 2


def by_token(
    values: Float[Tensor, "change output"], token: Int[Tensor, " change"], tokens: int
) -> Float[Tensor, "output token"]:
    """The mean over the changes of every token, 0 where there are none.

    >>> by_token(torch.tensor([[1.0], [0.0], [4.0]]), torch.tensor([0, 0, 2]), 3)
    tensor([[0.5000, 0.0000, 4.0000]])
    """
    sums = values.new_zeros(tokens, values.shape[1]).index_add_(0, token, values)
    counts = torch.bincount(token, minlength=tokens)
    return (sums / counts.clamp(min=1)[:, None]).T


def effects(
    model: nn.Module, task: Task, batch: Batch, generator: Generator, report: Report | None = None
) -> Effects:
    """Change every token of the first sample in turn, all changes in one batch, and see what follows."""
    inputs, token = task.changes(batch, generator)
    scored, tokens = task.scored(batch.coordinates), len(batch.coordinates)
    before, right = batch.input[:1], batch.target[:1]
    chunk, found = max(1, TOKENS_AT_ONCE // tokens), []
    with torch.no_grad():
        first = readout(run_model(model, before, batch.coordinates), right, scored)
        for done in range(0, len(inputs), chunk):
            part = run_model(model, inputs[done : done + chunk], batch.coordinates)
            found.append(moved(first, readout(part, right, scored)))
            if report is not None:
                report(min(done + chunk, len(inputs)), len(inputs))
    values = torch.cat(found) if found else first.new_zeros(0, first.shape[1])
    answers = task.reference(inputs, batch.coordinates)
    needed = (
        (answers - right)[:, scored].abs().to(values)
        if right.is_floating_point()
        else (answers != right)[:, scored[:, 0]].to(values)
    )
    return Effects(
        by_token(values, token, tokens),
        by_token(needed.nan_to_num(posinf=0.0), token, tokens),
        torch.bincount(token, minlength=tokens) > 0,
    )


def readout(
    output: Float[Tensor, "batch token out"], target: Tensor, scored: Bool[Tensor, "token _"]
) -> Float[Tensor, "batch output *symbol"]:
    """What is read of the outputs: the probability of every symbol, or numbers."""
    if target.is_floating_point():
        return output[:, scored].float()
    return output[:, scored[:, 0]].float().softmax(-1)


def moved(one: Tensor, other: Tensor) -> Float[Tensor, "batch output"]:
    """How far outputs are from those of the unchanged sample."""
    return distance(one, other) if one.ndim == 3 else (one - other).abs()
