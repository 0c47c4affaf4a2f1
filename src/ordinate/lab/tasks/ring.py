"""Regression on a ring: the task of the theory of length generalization."""

from functools import lru_cache
from typing import ClassVar

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Batch, fields_of
from ordinate.lab.tasks.presentation import rows, write_numbers
from ordinate.lab.tasks.sampling import LONGEST, check_count


def ring_answers(
    inputs: Float[Tensor, "batch token feature"],
    direction: Float[Tensor, " feature"],
    own: float,
    neighbours: tuple[float, ...],
) -> Float[Tensor, "batch token 1"]:
    """y_i = a <th, x_i> + sum_k b_k (<th, x_{i-k}> + <th, x_{i+k}>), indices on the ring.

    >>> x = torch.tensor([[[1.0], [0.0], [0.0], [0.0]]])
    >>> ring_answers(x, torch.ones(1), 2.0, (0.5,)).flatten().tolist()
    [2.0, 0.5, 0.0, 0.5]
    """
    along = inputs @ direction
    answers = own * along
    for k, weight in enumerate(neighbours, start=1):
        answers = answers + weight * (along.roll(k, 1) + along.roll(-k, 1))
    return answers.unsqueeze(-1)


class Ring(
    Task,
    name="ring",
    summary="weighted sum over neighbours on a ring, along a hidden direction",
    family="theory",
    axes=("filled",),
):
    """Every place of a ring takes its own number and those of its neighbours, along a hidden direction.

    Training fills only the first `filled` places with Gaussian vectors, the rest are zero; the axis `filled`
    fills more of them, up to all `places`. The hidden direction th is a unit vector fixed by `seed`.
    """

    places: int = Field(51, ge=3, le=LONGEST, description="places of the ring")
    filled: int = Field(10, ge=1, le=LONGEST, description="places that are not zero in training")
    dimension: int = Field(200, ge=1, le=LONGEST, description="features of a token")
    own: float = Field(1.0, allow_inf_nan=False, description="weight of a place's own number")
    neighbours: tuple[float, ...] = Field(
        (0.5,), description="weights of the neighbours at distance 1, 2, ... on both sides"
    )
    seed: int = Field(0, ge=0, le=2**31 - 1, description="decides the hidden direction")

    outputs: ClassVar[int] = 1

    @model_validator(mode="after")
    def _fits(self) -> "Ring":
        if self.filled > self.places:
            raise ValueError(f"filled must be at most places, got {self.filled} and {self.places}")
        if 2 * len(self.neighbours) >= self.places:
            raise ValueError(
                f"neighbours must be fewer than half of places, got {len(self.neighbours)} and {self.places}"
            )
        return self

    @property
    @override
    def features(self) -> int:
        return self.dimension

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.places,)

    @override
    def seen(self, axis: str, value: float) -> bool:
        return axis == "filled" and value == self.filled

    @override
    def coordinates(self, length: int) -> Coordinates:
        if length != self.places:
            raise OrdinateError(f"this ring has {self.places} places, not {length}: write places={length}")
        return fields_of(place=length)

    @override
    def sample(
        self,
        count: int,
        *,
        generator: Generator,
        length: int | None = None,
        filled: int | float | None = None,
    ) -> Batch:
        check_count(count)
        coordinates = self.coordinates(self.places if length is None else length)
        some = self.filled if filled is None else filled
        if not (1 <= some <= self.places and some == int(some)):
            raise OrdinateError(
                f"filled must be a whole number from 1 to {self.places}, got {some:g}: "
                f"write filled={self.places}"
            )
        inputs = torch.zeros(count, self.places, self.dimension, device=generator.device)
        inputs[:, : int(some)].normal_(generator=generator)
        return Batch(inputs, self.reference(inputs), coordinates)

    def direction(self) -> Float[Tensor, " feature"]:
        """The hidden unit vector th, in float64."""
        return _direction(self.dimension, self.seed)

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token feature"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        return ring_answers(inputs, self.direction().to(inputs), self.own, self.neighbours)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token feature"]:
        return batch.replaced(token, torch.empty_like(batch.input[:, token]).normal_(generator=generator))

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        along = batch.input @ self.direction().to(batch.input)
        return rows(map(write_numbers, along), map(write_numbers, batch.target[..., 0]))


@lru_cache(maxsize=64)
def _direction(dimension: int, seed: int) -> Float[Tensor, " feature"]:
    drawn = torch.randn(dimension, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.nn.functional.normalize(drawn, dim=0)
