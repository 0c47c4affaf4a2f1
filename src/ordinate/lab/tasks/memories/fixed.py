"""What all tasks on memories have in common, and memories at fixed lags: class I of arXiv 2402.00522.

    y_t = f(memories of t),     what is before the first token is 0

Axes change the target itself: `at` gives the task with another lag, another number of memories or another nesting, and
samples along an axis are those of that task.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import torch
from jaxtyping import Bool, Float
from pydantic import BeforeValidator, Field, SerializeAsAny, ValidationError, model_validator
from torch import Generator, Tensor
from torch.nn.functional import pad
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError, explain
from ordinate.kinds import choose
from ordinate.lab.tasks.base import Scalars
from ordinate.lab.tasks.batch import Batch, fields_of
from ordinate.lab.tasks.memories.readouts import TOKENS, AnyReadout, Signs, Sum, Tokens
from ordinate.lab.tasks.presentation import read_numbers, rows, write_short
from ordinate.lab.tasks.sampling import check_count, check_length, whole

LONGEST = 2**20

AnyTokens = Annotated[SerializeAsAny[Tokens], BeforeValidator(lambda v: choose(v, TOKENS, "task.tokens"))]


class MemoryTask(Scalars, family="memories"):
    """A sequence of numbers, one a token, and one number out for each that has all its memories."""

    length: int = Field(32, ge=1, le=LONGEST, description=f"tokens of a sequence in training, 1 to {LONGEST}")
    tokens: AnyTokens = Signs()
    readout: AnyReadout = Sum()
    last: bool = Field(False, description="true to score the last token only, as published")

    sums: ClassVar[bool] = False
    """Whether a memory is a sum of many tokens, and not one of them."""

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
        """The value of an axis in training."""

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
        return fields_of(token=length)

    @override
    def seen(self, axis: str, value: float) -> bool:
        return value == (self.length if axis == "length" else self.value(axis))

    @override
    def sample(
        self, count: int, *, generator: Generator, length: int | None = None, **axes: int | float
    ) -> Batch:
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
        values = None if self.sums else self.tokens
        return self.readout.answer(self.memories_of(inputs[..., 0]), values).unsqueeze(-1)

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        place = torch.arange(len(coordinates))[:, None]
        return place >= (len(coordinates) - 1 if self.last else self.reach)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token 1"]:
        return batch.replaced(token, self.tokens.draw(len(batch.input), 1, generator))

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        """Answers that are not scored are dots."""
        scored = self.scored(batch.coordinates)[:, 0].tolist()

        def dotted(answers: Float[Tensor, " token"]) -> str:
            written = zip(write_short(answers).split(), scored, strict=True)
            return " ".join(answer if counts else "." for answer, counts in written)

        return rows(map(write_short, batch.input[..., 0]), map(dotted, batch.target[..., 0]))

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


def recall(numbers: Float[Tensor, "batch token"], lags: Sequence[int]) -> Float[Tensor, "batch token memory"]:
    """The numbers at these lags, 0 before the first.

    >>> recall(torch.tensor([[1.0, 2.0, 3.0]]), (0, 2)).tolist()
    [[[1.0, 0.0], [2.0, 0.0], [3.0, 1.0]]]
    """
    tokens = numbers.shape[1]
    return torch.stack([pad(numbers, (lag, 0))[:, :tokens] for lag in lags], dim=-1)


class FixedMemory(
    MemoryTask,
    name="fixed-memory",
    summary="function of the tokens at fixed lags",
    axes=("length", "lag", "memories"),
):
    """A function of the tokens at fixed lags: with the lags 1 and 3 and their parity, 1 -1 1 1 1 gives . . . 1 -1.

        y_t = f(x_{t-T_1}, ..., x_{t-T_M})

    Lag 0 is the token itself. f is a sparse Boolean function (`parity`, `and`, `majority`, any `boolean` table), a
    random `n-gram` table, a `sum`, or a sum of `relus`.

    Harder along `length`, `lag` (the furthest memory moves there, the others stay) and `memories` (only that many
    of the lags count, nearest first).
    """

    lags: tuple[int, ...] = Field((2, 5), min_length=1, max_length=1024, description="T_1 < T_2 < ...")

    @model_validator(mode="after")
    def _fits(self) -> "FixedMemory":
        if self.lags[0] < 0 or any(a >= b for a, b in zip(self.lags, self.lags[1:], strict=False)):
            raise ValueError(
                f"must have lags from 0 up, each larger than the one before, got {list(self.lags)}"
            )
        check_reach(self.reach, self.length)
        self.readout.check(len(self.lags), self.tokens)
        return self

    @property
    @override
    def reach(self) -> int:
        return self.lags[-1]

    @override
    def value(self, axis: str) -> int:
        return self.lags[-1] if axis == "lag" else len(self.lags)

    @override
    def changed(self, axes: Mapping[str, int]) -> dict[str, Any]:
        lags = self.lags[: whole("memories", axes.get("memories", len(self.lags)), 1, len(self.lags))]
        if "lag" in axes:
            lag = axes["lag"]
            if len(lags) > 1 and lag <= lags[-2]:
                raise OrdinateError(
                    f"lag {lag} is not beyond the other lags {list(lags[:-1])}: write lag={lags[-2] + 1} or more"
                )
            lags = (*lags[:-1], lag)
        return {"lags": lags}

    @override
    def memories_of(self, numbers: Float[Tensor, "batch token"]) -> Float[Tensor, "batch token memory"]:
        return recall(numbers, self.lags)
