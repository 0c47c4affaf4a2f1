"""Constructed models in the sup norm, measured in their own arithmetic.

Short sequences are all listed. In longer ones, once the tokens that are found are chosen, all indices are known, every
memory is a linear function of the other tokens, and its worst input has their signs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.architectures.memory import MemoryTransformer
from ordinate.lab.tasks.memories import AdaptiveMemory
from ordinate.papers.theory.adaptive import Plan
from ordinate.papers.theory.construct import Readout
from ordinate.papers.theory.fetch import Indexed
from ordinate.papers.theory.fits import Fit

LISTED = 16
"""Tokens up to which all inputs of +-1 are listed."""
CHUNK = 4096
"""Inputs that go through a model at once."""
MOST_LISTED = 2**LISTED
"""Sequences that are listed: those of 16 tokens +-1."""
MOST_FOUND = 4096
"""Combinations of tokens that are found, in longer sequences."""
AT_ONCE = 2**20
"""Scores of one head that are computed at once."""


@dataclass(frozen=True)
class Evaluated:
    """A model in the sup norm over inputs of +-1, at the last token of a sequence."""

    memories: tuple[float, ...]
    """The largest error at each memory."""
    output: float
    """The largest error of the output, or a bound of it."""
    exact: bool
    """Whether an input reaches the output's error, beyond 16 tokens the worst but for rounding; else it is a bound."""
    inputs: int
    """Inputs that went through the model."""


@torch.no_grad()
def evaluate_model(model: MemoryTransformer, lags: Sequence[int], readout: Readout, length: int) -> Evaluated:
    """The sup norm of a model minus its target, measured in the model's own arithmetic.

    Up to 16 tokens all 2^n inputs go through the model. Beyond, since attention is linear, the input that is worst for
    a memory has the signs of the memory's response to single tokens, up to rounding; and both readouts change by at
    most the change of the memories' sum, whose worst input is found in the same way.
    """
    last = torch.eye(length, dtype=torch.float64)
    targets = torch.stack([last[length - 1 - lag] for lag in lags], dim=1)
    if length <= LISTED:
        bits = torch.arange(2**length)[:, None] >> torch.arange(length)
        inputs = (bits % 2 * 2 - 1).double()
        memories, outputs = run_model(model, inputs)
        wanted = inputs @ targets
        found = (memories - wanted).abs().amax(0)
        largest = float((outputs - readout.target(wanted)).abs().max())
        return Evaluated(tuple(found.tolist()), largest, True, len(inputs))
    response = run_model(model, last)[0] - targets
    signs = torch.sign(torch.cat([response, response.sum(1, keepdim=True)], dim=1)).T
    worst = torch.where(signs == 0, 1.0, signs)
    errors = run_model(model, worst)[0] - worst @ targets
    found = errors[: len(lags)].diagonal().abs()
    return Evaluated(
        tuple(found.tolist()), float(errors[-1].sum().abs()), readout.linear, len(last) + len(worst)
    )


def run_model(
    model: MemoryTransformer, inputs: Float[Tensor, "input token"], at_once: int = CHUNK
) -> tuple[Float[Tensor, "input column"], Float[Tensor, " input"]]:
    """The columns behind x_t in front of the readout, the memories first, and the output, both at the last token."""
    coordinates = Coordinates.of(sequence=range(inputs.shape[1]))
    columns: list[Tensor] = []
    handle = model.readout.register_forward_pre_hook(lambda _, given: columns.append(given[0][:, -1, 1:]))
    try:
        outputs = [model(chunk[..., None], coordinates)[:, -1, 0] for chunk in inputs.split(at_once)]
    finally:
        handle.remove()
    return torch.cat(columns), torch.cat(outputs)


@torch.no_grad()
def evaluate_adaptive(model: MemoryTransformer, plan: Plan, fits: Sequence[Fit], length: int) -> Evaluated:
    """The largest error at each memory and of the output, at the last token of a sequence.

    Beyond the sequences that can be listed, the output's error is exact for a sum, and for a product the change of the
    number it is a function of, which bounds it.
    """
    task = plan.task
    listed = len(task.tokens.values) ** length <= MOST_LISTED
    inputs = all_sequences(task, length) if listed else worst_sequences(plan, fits, length)
    columns, outputs = run_model(model, inputs, max(1, AT_ONCE // length**2))
    errors = columns[:, : task.memories] - task.memories_of(inputs)[:, -1, -task.memories :]
    found = tuple(errors.abs().amax(0).tolist())
    if not listed and not plan.readout.linear:
        return Evaluated(found, float((errors @ _weights(plan)).abs().max()), False, len(inputs))
    wanted = task.reference(inputs[..., None])[:, -1, 0]
    return Evaluated(found, float((outputs - wanted).abs().max()), True, len(inputs))


def all_sequences(task: AdaptiveMemory, length: int) -> Float[Tensor, "input token"]:
    """All sequences of the task's tokens.

    >>> from ordinate.lab.tasks.memories import WORKED_EXAMPLE
    >>> all_sequences(WORKED_EXAMPLE, 2).tolist()
    [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
    """
    values = torch.tensor(task.tokens.values, dtype=torch.float64)
    return torch.cartesian_prod(*[values] * length).reshape(-1, length)


def worst_sequences(plan: Plan, fits: Sequence[Fit], length: int) -> Float[Tensor, "input token"]:
    """For all tokens that can be found, the other tokens that are worst for a memory, or for the output, both ways."""
    task, tokens = plan.task, plan.task.tokens
    if len(tokens.values) ** (task.memories + 1) > MOST_FOUND:
        raise OrdinateError(
            f"{task.memories} memories have too many ways to be found in {length} tokens: take a --length of at most "
            f"{int(np.log(MOST_LISTED) / np.log(len(tokens.values)))}, where all sequences are listed"
        )
    found = torch.tensor(list(product(tokens.values, repeat=task.memories + 1)), dtype=torch.float64)
    lags = torch.stack(
        [
            task.index_of(number).lag(
                found[:, None, : task.arguments_of(number)], tokens, task.within, number
            )[:, 0]
            for number in range(1, task.memories + 1)
        ],
        dim=1,
    )
    # Column s of these is the token s places back; a token that is found has its value, the others are open.
    given = torch.full((len(found), length), torch.nan, dtype=torch.float64)
    given[:, 0] = found[:, 0]
    given.scatter_(1, lags, found[:, 1:])
    consistent = (given.gather(1, lags) == found[:, 1:]).all(1) & (given[:, 0] == found[:, 0])
    given, lags = given[consistent], lags[consistent]
    responses = torch.stack(
        [_responses(one, length)[lags[:, i]] for i, one in enumerate(fits)], dim=1
    )  # way, memory, lag
    targets = torch.nn.functional.one_hot(lags, length)
    errors = responses - targets
    output = torch.einsum("wml,m->wl", errors, _weights(plan))
    directions = torch.cat([errors, output[:, None]], dim=1)
    signs = torch.where(directions < 0, -1.0, 1.0).double()
    both = torch.cat([signs, -signs], dim=1)
    inputs = torch.where(given.isnan()[:, None], both, given.nan_to_num()[:, None])
    worst: Tensor = inputs.flatten(0, 1).flip(1).unique(dim=0)
    return worst


def _weights(plan: Plan) -> Float[Tensor, " memory"]:
    """Of the memories in what the readout is a function of."""
    return torch.tensor(plan.reads[1:], dtype=torch.float64)


def _responses(found: Fit, length: int) -> Float[Tensor, "index lag"]:
    """What a memory receives from the token s places back, for every index up to the furthest."""
    seen = found.bias
    assert isinstance(seen, Indexed)
    values, slopes, base = seen.values(found), np.array(found.slopes), seen.base
    lags = np.arange(length, dtype=np.float64)
    table = np.zeros((seen.furthest + 1, length))
    for index in range(base.first_lag, seen.furthest + 1):
        gaps = base.distances(lags[base.first_lag :]) - base.distances(np.array([float(index)]))
        table[index, base.first_lag :] = np.exp(-gaps[:, None] * slopes) @ values
    return torch.from_numpy(table)
