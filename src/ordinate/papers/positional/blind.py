"""What prices tell without the question: the least error of an answer that was never asked anything."""

from functools import lru_cache
from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.lab.seeds import generator
from ordinate.lab.tasks.mixed_types import MixedTypes

SAMPLES = 20_000
"""Lists of prices that the mean goes over."""


def answers(prices: Float[Tensor, "batch category"], task: MixedTypes) -> Float[Tensor, "batch question"]:
    """The answers to all questions that a task may ask about the same prices, each as likely as the others.

    >>> prices = torch.tensor([[4.0, 1.0, 3.0]])
    >>> answers(prices, MixedTypes(categories=3, asked=2, queries="min")).tolist()
    [[1.0, 3.0, 1.0]]
    """
    subsets = torch.tensor(list(combinations(range(task.categories), task.asked)))
    chosen = prices[:, subsets]
    of = {"sum": chosen.sum(-1), "min": chosen.amin(-1), "max": chosen.amax(-1)}
    return torch.cat([of[query] for query in task.queries], dim=1)


@lru_cache(maxsize=256)
def blind_error(task: MixedTypes, scale: float) -> float:
    """The mean squared error of the best answer that knows the prices alone, at a scale of theirs.

    That answer is the mean over questions, so its error is the mean over prices of the variance over questions.
    """
    batch = task.sample(SAMPLES, generator=generator(0, "blind"), scale=scale)
    _, prices = task.read(batch.input)
    return float(answers(prices.double(), task).var(-1, correction=0).mean())
