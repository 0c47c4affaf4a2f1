"""A function from a person's own file, as a task that can be measured."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from pydantic import Field, ValidationError
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError, explain, nearest
from ordinate.lab.plugins import blame, run_file
from ordinate.lab.tasks.base import Scalars
from ordinate.lab.tasks.batch import Batch, fields_of
from ordinate.lab.tasks.memories.fixed import LONGEST, AnyTokens
from ordinate.lab.tasks.memories.readouts import Signs
from ordinate.lab.tasks.presentation import write_short
from ordinate.lab.tasks.sampling import check_count

Given = Callable[[Float[Tensor, "batch token"]], Any]


class FunctionTask(Scalars):
    """y = function(x), with x a tensor of shape (batch, token), and y a number for every token, or one a sample.

    One number a sample is the answer at the last token.
    """

    name: ClassVar[str] = "function"
    summary: ClassVar[str] = "a function from a file"
    family: ClassVar[str] = "function"
    axes: ClassVar[tuple[str, ...]] = ("length",)

    function: Given
    file: Path
    length: int = Field(
        16, ge=1, le=LONGEST, description="tokens, and twice as many: more than the furthest lag"
    )
    tokens: AnyTokens = Signs()

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        """Token t has ordinate t; a shorter sequence might not hold the furthest lag."""
        if length < self.length:
            raise OrdinateError(
                f"a sequence of {length} tokens is shorter than {self.length}: write length={length}"
            )
        return fields_of(token=length)

    @override
    def sample(self, count: int, *, generator: Generator, length: int | None = None) -> Batch:
        check_count(count)
        coordinates = self.coordinates(self.length if length is None else length)
        inputs = self.tokens.draw(count, len(coordinates), generator).unsqueeze(-1)
        return Batch(inputs, self.reference(inputs), coordinates)

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        """What the function returns; an error inside it is reported with its line."""
        x = inputs[..., 0]
        try:
            answer = torch.as_tensor(self.function(x.clone()))
        except Exception as error:
            raise OrdinateError(blame(error) or f"{self.file}: {error}") from None
        if answer.shape == x.shape[:1]:
            return torch.nn.functional.pad(answer.to(inputs)[:, None, None], (0, 0, x.shape[1] - 1, 0))
        if answer.shape != x.shape:
            raise OrdinateError(
                f"{self.file.name}: the function got a tensor of shape {tuple(x.shape)} (batch, token) and returned "
                f"{tuple(answer.shape)}: return {tuple(x.shape)}, or {tuple(x.shape[:1])} for the last token alone"
            )
        return answer.to(inputs)[..., None]

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token 1"]:
        inputs = batch.input.clone()
        inputs[:, token] = self.tokens.draw(len(inputs), 1, generator).to(inputs)
        return inputs

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        pairs = zip(batch.input[..., 0], batch.target[..., 0], strict=True)
        return [{"input": write_short(x), "target": write_short(y)} for x, y in pairs]


def load_function(text: str) -> tuple[Given, Path]:
    """The function that `file.py:name` names."""
    place, _, name = text.rpartition(":")
    if not place or not name.isidentifier():
        raise OrdinateError(f"{text!r} names no function of a file: write --function my.py:name")
    module = run_file(place)
    found = module.__dict__.get(name)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise OrdinateError(f"{place} has no function {name!r}: {nearest(name, known)}")
    return found, Path(place)


def function_task(text: str, **options: object) -> FunctionTask:
    """The function that `file.py:name` names as a task; options are its length and its tokens."""
    found, file = load_function(text)
    try:
        return FunctionTask.model_validate({**options, "function": found, "file": file})
    except ValidationError as error:
        raise explain(error, "function", FunctionTask) from None
