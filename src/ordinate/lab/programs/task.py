"""What a compiled program is tested on: the task of the library that it answers, or its own inputs and reference."""

from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float
from pydantic import Field
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.programs.collection import find_program
from ordinate.lab.programs.program import Program
from ordinate.lab.tasks import Task, make_task
from ordinate.lab.tasks.batch import Batch
from ordinate.lab.tasks.numbers import number_coordinates
from ordinate.lab.tasks.presentation import read_numbers, write_short
from ordinate.lab.tasks.sampling import LONGEST, check_count


class ProgramTask(Task):
    """Random inputs of a program, one processor a token, answered by its reference.

    >>> task = ProgramTask(program="parity", length=4)
    >>> task.reference(torch.tensor([[[1.0], [0.0], [1.0], [1.0]]])).flatten().tolist()
    [1.0, 1.0, 0.0, 1.0]
    """

    name: ClassVar[str] = "program"
    summary: ClassVar[str] = "inputs and answers of a program"
    family: ClassVar[str] = "programs"
    axes: ClassVar[tuple[str, ...]] = ("length",)

    program: str
    length: int = Field(8, ge=1, le=LONGEST)

    @property
    def what(self) -> Program:
        """The program."""
        return find_program(self.program)

    @property
    @override
    def features(self) -> int:
        return len(self.what.ranges(self.length))

    @property
    @override
    def outputs(self) -> int:
        return int(self.reference(self._draw(1, self.length, 0)).shape[-1])

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        return number_coordinates(length)

    @override
    def sample(self, count: int, *, generator: Generator, length: int | None = None) -> Batch:
        check_count(count)
        length = self.length if length is None else length
        self.what.check_length(length)
        seed = int(torch.randint(2**62, (), generator=generator))
        inputs = self._draw(count, length, seed)
        return Batch(inputs, self.reference(inputs), self.coordinates(length))

    def _draw(self, count: int, length: int, seed: int) -> Float[Tensor, "batch token word"]:
        drawn = self.what.sample(length, count, np.random.default_rng(seed))
        return torch.from_numpy(drawn).float()

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token word"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token out"]:
        return torch.from_numpy(self.what.reference(inputs.double().numpy())).to(inputs.dtype)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token word"]:
        inputs = batch.input.clone()
        other = self.sample(len(inputs), generator=generator, length=inputs.shape[1]).input
        inputs[:, token] = other[:, token]
        return inputs

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        """One row a sample: words of processors, those of one joined by commas."""
        return [
            {"input": _write(x), "target": _write(y)} for x, y in zip(batch.input, batch.target, strict=True)
        ]

    @override
    def parse(self, text: str) -> Batch:
        """Read words of processors, those of one joined by commas: 1,0 2,5 for two words of two processors."""
        rows = [read_numbers(part) for part in text.split()]
        if not rows or {len(row) for row in rows} != {self.features}:
            words = "one number" if self.features == 1 else f"{self.features} numbers joined by commas"
            raise OrdinateError(f"{text!r} is no input of {self.program}: write {words} for every processor")
        inputs = torch.tensor([rows])
        self.what.check_length(len(rows))
        self.what.check_inputs(inputs.double().numpy())
        return Batch(inputs, self.reference(inputs), self.coordinates(len(rows)))


def _write(words: Float[Tensor, "token word"]) -> str:
    return " ".join(write_short(row).replace(" ", ",") for row in words)


def task_of(name: str, n: int, *, whole: bool) -> Task:
    """The task that a program compiled for n processors is tested on; whole numbers where it takes no others.

    >>> task_of("prefix-sum", 8, whole=True)
    Sum(length=8, variable=False, low=-2.0, high=2.0, integers=True, integer_tests=None)
    >>> task_of("parity", 8, whole=True).features
    1
    """
    program = find_program(name)
    if program.task is not None:
        return make_task(program.task, length=n, integers=whole)
    if not whole and any(known.whole for known in program.ranges(n)):
        raise OrdinateError(
            f"{name!r} has no task on real numbers: compile it on whole ones, without --reals"
        )
    return ProgramTask(program=name, length=n)
