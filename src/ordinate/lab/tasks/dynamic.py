"""Dynamic programming: edit distance, longest common subsequence, knapsack, answered for every prefix."""

from abc import abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Generator, Tensor
from torch.nn.functional import pad
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.base import Scalars
from ordinate.lab.tasks.batch import Batch, fields_of
from ordinate.lab.tasks.numbers import pair_coordinates
from ordinate.lab.tasks.presentation import read_numbers, rows, write_short
from ordinate.lab.tasks.sampling import LONGEST, another, chances, check_count, check_length, integers

WIDEST = 4096
"""Largest whole number of an input."""


class Dynamic(Scalars, family="dynamic", axes=("length", "scale")):
    """Small whole numbers, one a token, and an answer for every prefix, in the field `answered`.

    Harder along `length` and along `scale`: whole numbers from a range that many times as wide.
    """

    answered: ClassVar[str]

    length: int = Field(8, ge=1, le=LONGEST, description=f"length of a sequence in training, 1 to {LONGEST}")

    @property
    @abstractmethod
    def largest(self) -> int:
        """How many whole numbers training draws from: what a scale multiplies."""

    @abstractmethod
    def draw(self, count: int, length: int, widest: int, generator: Generator) -> Int[Tensor, "batch token"]:
        """Draw the inputs, from `widest` whole numbers."""

    @abstractmethod
    def solve(self, fields: dict[str, Float[Tensor, "batch _"]]) -> Float[Tensor, "batch length"]:
        """The answers of every prefix, from the numbers of each field."""

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def sample(
        self, count: int, *, generator: Generator, length: int | None = None, scale: float = 1.0
    ) -> Batch:
        check_count(count)
        length = self.length if length is None else length
        coordinates = self.coordinates(length)
        if not 1 <= scale <= WIDEST / self.largest:
            raise OrdinateError(
                f"scale must be 1 to {WIDEST // self.largest}, got {scale:g}: "
                "write a number such as scale=2 (1 is the training range)"
            )
        inputs = self.draw(count, length, int(scale * self.largest), generator).float().unsqueeze(-1)
        return Batch(inputs, self.reference(inputs, coordinates), coordinates)

    @abstractmethod
    def layout(self, tokens: int) -> Coordinates:
        """The coordinates of inputs with this many tokens."""

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        """Return the answer of every prefix where it is read, and zeros elsewhere."""
        coordinates = coordinates or self.layout(inputs.shape[1])
        numbers = inputs[..., 0]
        fields = {name: numbers[:, _inside(coordinates, name)] for name in coordinates.fields}
        answers = torch.zeros_like(inputs)
        answers[:, _inside(coordinates, self.answered), 0] = self.solve(fields)
        return answers

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        return _inside(coordinates, self.answered)[:, None].clone()

    @override
    def parse(self, text: str) -> Batch:
        parts = [read_numbers(part) for part in text.split("/")]
        coordinates = self.coordinates(len(parts[0]))
        sizes = [coordinates.field.count(field) for field in range(len(coordinates.fields))]
        inputs = torch.tensor([[number] for part in parts for number in part])
        if [len(part) for part in parts] != sizes:
            raise OrdinateError(
                f"{self.name} reads {', '.join(coordinates.fields)}, got {' / '.join(str(len(p)) for p in parts)} "
                f"numbers: write {' / '.join(map(str, sizes))}"
            )
        if (inputs != inputs.round()).any() or inputs.min() < 0 or inputs.max() > WIDEST:
            raise OrdinateError(f"{self.name} reads whole numbers: write 0 to {WIDEST}")
        return Batch(inputs[None], self.reference(inputs[None], coordinates), coordinates)

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        masks = [_inside(batch.coordinates, name) for name in batch.coordinates.fields]
        answered = _inside(batch.coordinates, self.answered)
        inputs = (" / ".join(write_short(x[mask]) for mask in masks) for x in batch.input[..., 0])
        return rows(inputs, map(write_short, batch.target[:, answered, 0]))


class TwoSequences(Dynamic, answered="second"):
    """Two sequences of `symbols` different whole numbers, which matter only as equal or not.

    The answer at place j of the second sequence is that of the whole first one and the second one up to there. At
    scale c a sample draws its `symbols` numbers from c times as many; as often as in training two of them are equal.
    """

    symbols: int = Field(4, ge=2, le=256, description="different whole numbers in a sample")

    @property
    @override
    def largest(self) -> int:
        return self.symbols

    @override
    def coordinates(self, length: int) -> Coordinates:
        return pair_coordinates(length)

    @override
    def layout(self, tokens: int) -> Coordinates:
        if tokens % 2:
            raise OrdinateError(
                f"{self.name} has two sequences of one length: give an even number of tokens, not {tokens}"
            )
        return pair_coordinates(tokens // 2)

    @override
    def draw(self, count: int, length: int, widest: int, generator: Generator) -> Int[Tensor, "batch token"]:
        """Draw which numbers there are, and then both sequences from them."""
        there = chances((count, widest), generator).argsort(-1)[:, : self.symbols]
        return there.gather(1, integers(0, self.symbols, (count, 2 * length), generator))

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token 1"]:
        return batch.replaced(token, another(batch.input[:, token], self.symbols, generator))


def _inside(coordinates: Coordinates, field: str) -> Bool[Tensor, " token"]:
    """Which tokens are in a field."""
    return coordinates.field_tensor == coordinates.fields.index(field)


def edit_distances(
    first: Float[Tensor, "batch one"], second: Float[Tensor, "batch two"]
) -> Float[Tensor, "batch two"]:
    """D_j = the fewest numbers to insert, delete or replace that turn `first` into the first j of `second`.

    Row by row of the table D_ij = min(D_{i-1,j} + 1, D_{i,j-1} + 1, D_{i-1,j-1} + [a_i != b_j]) (Levenshtein). Inside
    a row D_ij = min over l <= j of t_l + (j - l), with t what the row above offers: a running minimum of t_l - l.

    >>> edit_distances(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[2.0, 3.0, 4.0]])).tolist()
    [[2.0, 1.0, 2.0]]
    """
    places = torch.arange(second.shape[1] + 1, dtype=second.dtype, device=second.device)
    row = places.expand(len(second), -1)
    for i in range(first.shape[1]):
        replaced = row[:, :-1] + (first[:, i : i + 1] != second)
        offered = torch.cat([row[:, :1] + 1, torch.minimum(row[:, 1:] + 1, replaced)], dim=1)
        row = (offered - places).cummin(1).values + places
    return row[:, 1:]


class EditDistance(
    TwoSequences, name="edit-distance", summary="fewest edits from a sequence to every prefix of another"
):
    """The edit distance from the first sequence to every prefix of the second: 1 2 3 / 2 3 4 gives 2 1 2."""

    @override
    def solve(self, fields: dict[str, Float[Tensor, "batch _"]]) -> Float[Tensor, "batch two"]:
        return edit_distances(fields["first"], fields["second"])


def common_lengths(
    first: Float[Tensor, "batch one"], second: Float[Tensor, "batch two"]
) -> Float[Tensor, "batch two"]:
    """L_j = the length of the longest subsequence that `first` and the first j of `second` have in common.

    Row by row of the table L_ij = max(L_{i-1,j}, L_{i,j-1}, L_{i-1,j-1} + [a_i = b_j]): inside a row, a running maximum
    of what the row above offers.

    >>> common_lengths(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[2.0, 1.0, 3.0]])).tolist()
    [[1.0, 1.0, 2.0]]
    """
    row = second.new_zeros(len(second), second.shape[1] + 1)
    for i in range(first.shape[1]):
        longer = pad(row[:, :-1] + (first[:, i : i + 1] == second), (1, 0))
        row = row.maximum(longer).cummax(1).values
    return row[:, 1:]


class Lcs(
    TwoSequences,
    name="lcs",
    summary="length of the longest common subsequence with every prefix of another sequence",
):
    """The longest common subsequence with every prefix of the second sequence: 1 2 3 / 2 1 3 gives 1 1 2."""

    @override
    def solve(self, fields: dict[str, Float[Tensor, "batch _"]]) -> Float[Tensor, "batch two"]:
        return common_lengths(fields["first"], fields["second"])


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
        return fields_of(weight=length, value=length, capacity=1)

    @override
    def layout(self, tokens: int) -> Coordinates:
        if tokens % 2 == 0:
            raise OrdinateError(
                f"a knapsack has two tokens an item and one for the capacity: give an odd number, not {tokens}"
            )
        return self.coordinates(tokens // 2)

    @override
    def draw(self, count: int, length: int, widest: int, generator: Generator) -> Int[Tensor, "batch token"]:
        weights = integers(1, self.weights + 1, (count, length), generator)
        values = integers(1, widest + 1, (count, length), generator)
        return torch.cat([weights, values, self._capacity(count, length, generator)], dim=1)

    @override
    def solve(self, fields: dict[str, Float[Tensor, "batch _"]]) -> Float[Tensor, "batch item"]:
        return best_values(fields["weight"], fields["value"], fields["capacity"])

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token 1"]:
        count, length = len(batch.input), batch.input.shape[1] // 2
        if token == 2 * length:
            return batch.replaced(token, self._capacity(count, length, generator))
        most = self.weights if token < length else self.values
        return batch.replaced(token, integers(1, most + 1, (count, 1), generator))

    def _capacity(self, count: int, length: int, generator: Generator) -> Int[Tensor, "batch 1"]:
        most = max(self.weights, self.weights * length // 2)
        return integers(self.weights, most + 1, (count, 1), generator)
