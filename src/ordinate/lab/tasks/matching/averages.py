"""q-sparse averaging (Sanford, Hsu and Telgarsky 2023, arXiv 2306.02896)."""

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.memories.base import token_coordinates
from ordinate.lab.tasks.numbers.base import read_numbers, write_numbers, write_short
from ordinate.lab.tasks.numbers.sampling import check_count, check_length, check_scale
from ordinate.lab.tasks.task import Batch, Task

MOST = 512
Rows = Float[Tensor, "batch token feature"]


class SparseAverage(
    Task,
    name="sparse-average",
    summary="mean of the numbers of the q tokens that a token names",
    family="matching",
    axes=("scale",),
):
    """The mean of the numbers of q named tokens: each token holds a number and the places of q tokens.

        y_i = (1 / q) sum_{j in Y_i} z_j,     |Y_i| = q

    Harder along `scale`: numbers that many times as large.

    A token is z_i and then its set Y_i, 1 at the places that it names: with q = 1, 3 0 1 / 5 1 0 gives 5 3. One
    attention unit of width d + q log n is enough, and less than q is not; feed-forward networks need a width that
    grows with n.
    """

    length: int = Field(8, ge=1, le=MOST, description=f"tokens, 1 to {MOST}")
    named: int = Field(2, ge=1, le=MOST, description="q: tokens that each names, at most the length")

    @model_validator(mode="after")
    def _fits(self) -> "SparseAverage":
        if self.named > self.length:
            raise ValueError(f"must name at most {self.length} tokens, got {self.named}")
        return self

    @property
    @override
    def features(self) -> int:
        return 1 + self.length

    @property
    @override
    def outputs(self) -> int:
        return 1

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        if length != self.length:
            check_length(length, longest=MOST)
            raise OrdinateError(
                f"sets name {self.length} places, not {length}: write length={length} as an option"
            )
        return token_coordinates(length)

    @override
    def sample(
        self, count: int, *, generator: Generator, length: int | None = None, scale: float = 1.0
    ) -> Batch:
        """Draw numbers from N(0, scale^2), and sets uniformly."""
        check_count(count)
        check_scale(scale, -2.0, 2.0)
        coordinates = self.coordinates(self.length if length is None else length)
        tokens, device = len(coordinates), generator.device
        numbers = scale * torch.randn(count, tokens, 1, generator=generator, device=device)
        sets = self._sets(torch.rand(count, tokens, tokens, generator=generator, device=device))
        inputs = torch.cat([numbers, sets.to(numbers)], dim=-1)
        return Batch(inputs, self.reference(inputs), coordinates)

    def _sets(self, chance: Float[Tensor, "*batch place"]) -> Int[Tensor, "*batch place"]:
        """1 at the q places with the highest chance."""
        best = chance.topk(self.named, dim=-1).indices
        return torch.zeros_like(chance, dtype=torch.long).scatter(-1, best, 1)

    @override
    def reference(
        self, inputs: Rows, coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        """Means over what is named; 0 where nothing is."""
        sets = inputs[..., 1:]
        return sets @ inputs[..., :1] / sets.sum(-1, keepdim=True).clamp(min=1)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Rows:
        inputs = batch.input.clone()
        drawn = torch.randn(len(inputs), 1, generator=generator, device=generator.device)
        chance = torch.rand(len(inputs), self.length, generator=generator, device=generator.device)
        inputs[:, token] = torch.cat([drawn, self._sets(chance).float()], dim=1).to(inputs)
        return inputs

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        return [
            {
                "input": " / ".join(f"{write_numbers(row[:1])} {write_short(row[1:])}" for row in x),
                "target": write_numbers(y),
            }
            for x, y in zip(batch.input, batch.target[..., 0], strict=True)
        ]

    @override
    def parse(self, text: str) -> Batch:
        """Read tokens separated by strokes: a number, and 0 or 1 for every place."""
        rows = [read_numbers(part) for part in text.split("/")]
        self.coordinates(len(rows))
        if {len(row) for row in rows} != {self.features} or not {v for r in rows for v in r[1:]} <= {
            0.0,
            1.0,
        }:
            raise OrdinateError(
                f"a token is a number and {self.length} places: write {self.length} tokens such as "
                f"0.5 {' '.join('1' if k < self.named else '0' for k in range(self.length))}"
            )
        inputs = torch.tensor([rows])
        return Batch(inputs, self.reference(inputs), self.coordinates(len(rows)))
