"""What the tasks on memories have in common: causal sequences of numbers, and an answer from what is behind.

    y_t = f(memories of t),     what is before the first token is 0

Classes of arXiv 2402.00522. Axes change the target itself: `at` gives the task with another lag, another number of
memories or another nesting, and samples along an axis are those of that task.
"""

from abc import abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

import torch
from jaxtyping import Bool, Float
from pydantic import BeforeValidator, Field, SerializeAsAny, ValidationError
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError, explain
from ordinate.kinds import choose
from ordinate.lab.tasks.memories.readouts import AnyReadout, Sum
from ordinate.lab.tasks.memories.tokens import TOKENS, Signs, Tokens
from ordinate.lab.tasks.numbers.base import read_numbers, write_short
from ordinate.lab.tasks.numbers.sampling import check_count, check_length, whole
from ordinate.lab.tasks.task import Batch, Scalars

LONGEST = 2**20

AnyTokens = Annotated[SerializeAsAny[Tokens], BeforeValidator(lambda v: choose(v, TOKENS, "task.tokens"))]


class MemoryTask(Scalars, family="memories"):
    """A sequence of numbers, one a token, and one number out for each that has all its memories."""

    length: int = Field(32, ge=1, le=LONGEST, description=f"tokens of a sequence in training, 1 to {LONGEST}")
    tokens: AnyTokens = Signs()
    readout: AnyReadout = Sum()
    last: bool = Field(False, description="true to score the last token only, as published")

    @property
    @abstractmethod
    def reach(self) -> int:
        """How many tokens back an answer may look; nothing is scored that would look further than the first."""

    @abstractmethod
    def memories_of(self, numbers: Float[Tensor, "batch token"]) -> Float[Tensor, "batch token memory"]:
        """What f is given at every token."""

    @abstractmethod
    def changed(self, axes: Mapping[str, int]) -> dict[str, Any]:
        """The options that differ at these values of the axes."""

    @abstractmethod
    def value(self, axis: str) -> int:
        """Where training stands on an axis."""

    @override
    def at(self, **axes: int | float) -> "MemoryTask":
        values = {axis: whole(axis, value, 0, LONGEST) for axis, value in axes.items()}
        if not values:
            return self
        try:
            return type(self)(**{**dict(self), **self.changed(values)})
        except ValidationError as error:
            raise explain(error, "task", type(self)) from None

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        check_length(length, longest=LONGEST)
        check_reach(self.reach, length)
        return token_coordinates(length)

    @override
    def seen(self, axis: str, value: float) -> bool:
        return value == (self.length if axis == "length" else self.value(axis))

    @override
    def sample(
        self, count: int, *, generator: Generator, length: int | None = None, **axes: int | float
    ) -> Batch:
        """Draw `count` sequences of one length, answered by the task at these values of its axes."""
        check_count(count)
        length = self.length if length is None else length
        check_length(length, longest=LONGEST)
        task = self.at(**axes)
        coordinates = task.coordinates(length)
        inputs = self.tokens.draw(count, length, generator).unsqueeze(-1)
        return Batch(inputs, task.reference(inputs), coordinates)

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        memories = self.memories_of(inputs[..., 0])
        return self.readout.answer(memories, self.readout_tokens).unsqueeze(-1)

    @property
    def readout_tokens(self) -> Tokens | None:
        """What a memory can be; None where it is a sum of many tokens."""
        return self.tokens

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        place = torch.arange(len(coordinates))[:, None]
        return place >= (len(coordinates) - 1 if self.last else self.reach)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token 1"]:
        inputs = batch.input.clone()
        inputs[:, token] = self.tokens.draw(len(inputs), 1, generator).to(inputs)
        return inputs

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        """Return one row a sample: the numbers, and the answers; those that are not scored are dots."""
        scored = self.scored(batch.coordinates)[:, 0].tolist()
        return [
            {
                "input": write_short(x),
                "target": " ".join(
                    written if counts else "."
                    for written, counts in zip(write_short(y).split(), scored, strict=True)
                ),
            }
            for x, y in zip(batch.input[..., 0], batch.target[..., 0], strict=True)
        ]

    @override
    def parse(self, text: str) -> Batch:
        inputs = torch.tensor([[number] for number in read_numbers(text)]).reshape(1, -1, 1)
        coordinates = self.coordinates(inputs.shape[1])
        self.tokens.check(inputs)
        return Batch(inputs, self.reference(inputs), coordinates)


def check_reach(reach: int, length: int) -> None:
    """Refuse lags that no token of a sequence has.

    >>> check_reach(12, 8)
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: lag 12 is beyond a sequence of 8 tokens: write lags of at most 7, or length=13
    """
    if reach >= length:
        raise OrdinateError(
            f"lag {reach} is beyond a sequence of {length} tokens: "
            f"write lags of at most {length - 1}, or length={reach + 1}"
        )


@lru_cache(maxsize=64)
def token_coordinates(length: int) -> Coordinates:
    """Return the coordinates of one field, `token`, with ordinates 0 to length - 1."""
    return Coordinates.of(token=range(length))
