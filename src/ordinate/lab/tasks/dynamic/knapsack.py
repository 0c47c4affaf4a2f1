"""The 0/1 knapsack."""

from functools import lru_cache

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.dynamic.base import WIDEST, Dynamic
from ordinate.lab.tasks.numbers.sampling import check_length
from ordinate.lab.tasks.task import Batch


def best_values(
    weights: Float[Tensor, "batch item"],
    values: Float[Tensor, "batch item"],
    capacity: Float[Tensor, "batch 1"],
) -> Float[Tensor, "batch item"]:
    """V_i = the largest total value of some of the first i items whose total weight is at most the capacity.

    Item by item, for every room c at once: best_c <- max(best_c, best_{c - w_i} + v_i). Weights and capacities are
    whole numbers.

    >>> weights, values = torch.tensor([[2.0, 3.0, 2.0]]), torch.tensor([[3.0, 5.0, 4.0]])
    >>> best_values(weights, values, torch.tensor([[4.0]])).tolist()
    [[3.0, 5.0, 7.0]]
    """
    room = torch.arange(int(capacity.max()) + 1, device=weights.device)
    best = values.new_zeros(len(values), len(room))
    answers = []
    for i in range(values.shape[1]):
        left = room - weights[:, i : i + 1].long()
        taken = best.gather(1, left.clamp(min=0)) + values[:, i : i + 1]
        best = torch.where(left >= 0, best.maximum(taken), best)
        answers.append(best.gather(1, capacity.long()))
    return torch.cat(answers, dim=1)


class Knapsack(
    Dynamic,
    name="knapsack",
    summary="largest value of some of the items so far that fit together",
    answered="value",
):
    """The best value that fits, for the first items up to each: 2 3 2 / 3 5 4 / 4 gives 3 5 7.

    Weights first, then values, then the capacity, drawn between the largest weight and half of the largest total. The
    answer for the first i items is read at value i. At scale c values are up to c times as large; weights are not.
    """

    weights: int = Field(4, ge=1, le=WIDEST, description="largest weight of an item")
    values: int = Field(10, ge=1, le=WIDEST, description="largest value of an item in training")

    @property
    @override
    def largest(self) -> int:
        return self.values

    @override
    def coordinates(self, length: int) -> Coordinates:
        check_length(length)
        return item_coordinates(length)

    @override
    def layout(self, tokens: int) -> Coordinates:
        if tokens % 2 == 0:
            raise OrdinateError(
                f"a knapsack has two tokens an item and one for the capacity: give an odd number, not {tokens}"
            )
        return self.coordinates(tokens // 2)

    @override
    def draw(self, count: int, length: int, widest: int, generator: Generator) -> Int[Tensor, "batch token"]:
        weights = self._upto(self.weights, (count, length), generator)
        values = self._upto(widest, (count, length), generator)
        return torch.cat([weights, values, self._capacity(count, length, generator)], dim=1)

    @override
    def solve(self, fields: dict[str, Float[Tensor, "batch _"]]) -> Float[Tensor, "batch item"]:
        return best_values(fields["weight"], fields["value"], fields["capacity"])

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token 1"]:
        inputs, count, length = batch.input.clone(), len(batch.input), batch.input.shape[1] // 2
        drawn = (
            self._capacity(count, length, generator)
            if token == 2 * length
            else self._upto(self.weights if token < length else self.values, (count, 1), generator)
        )
        inputs[:, token] = drawn.to(inputs)
        return inputs

    def _capacity(self, count: int, length: int, generator: Generator) -> Int[Tensor, "batch 1"]:
        most = max(self.weights, self.weights * length // 2)
        return self._upto(most - self.weights + 1, (count, 1), generator) + self.weights - 1

    @staticmethod
    def _upto(most: int, shape: tuple[int, int], generator: Generator) -> Int[Tensor, "_ _"]:
        return torch.randint(1, most + 1, shape, generator=generator, device=generator.device)


@lru_cache(maxsize=256)
def item_coordinates(length: int) -> Coordinates:
    """Return the coordinates of the fields `weight`, `value` and `capacity`, the last of one token."""
    return Coordinates.of(weight=range(length), value=range(length), capacity=range(1))
