"""Constructed adaptive memories in the sup norm, measured in the arithmetic of the model.

Short sequences are all listed. In longer ones, once the tokens that are found are chosen, all indices are known, every
memory is a linear function of the other tokens, and its worst input has their signs.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.memories import AdaptiveMemory
from ordinate.models.memory import MemoryTransformer
from ordinate.papers.theory.adaptive import Plan
from ordinate.papers.theory.construct import LISTED, Evaluated, run_model
from ordinate.papers.theory.fits import Fit
from ordinate.papers.theory.indexed import Indexed

MOST_LISTED = 2**LISTED
"""Sequences that are listed: those of 16 tokens +-1."""
MOST_FOUND = 4096
"""Combinations of tokens that are found, in longer sequences."""
AT_ONCE = 2**20
"""Scores of one head that are computed at once."""


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
