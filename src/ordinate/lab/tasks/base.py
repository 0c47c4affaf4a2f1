"""The contract of a task: it samples inputs, knows their exact answers and where every token stands."""

from abc import abstractmethod
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Int
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError, nearest
from ordinate.kinds import Kind
from ordinate.lab.tasks.batch import Answers, Batch, Changes
from ordinate.lab.tasks.presentation import Presentation
from ordinate.models.inputs import Inputs

REDRAWN = 8
"""Times that `changes` draws each token again, for tasks that do not list all changes themselves."""


class Task(Kind, Presentation):
    """What a model learns to compute: samples, their exact answers, their coordinates, and axes.

    A task is an immutable, validated value: `Sum(length=8)`. Its `axes` are the keyword arguments of `sample`
    along which it can be made harder than in training; a task without an axis refuses it. Its `slices` sort
    samples by a property that makes some of them harder, such as the longest cascade of carries.

    To a model it is a `Problem`: widths, trained lengths, trained coordinates.
    """

    label: ClassVar[str] = "name"
    family: ClassVar[str]
    axes: ClassVar[tuple[str, ...]]
    slices: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def features(self) -> int:
        """Width of an input token once its symbol, where it has one, is written one-hot."""

    @abstractmethod
    def lengths(self) -> tuple[int, ...]:
        """Lengths seen in training, shortest first."""

    @abstractmethod
    def coordinates(self, length: int) -> Coordinates:
        """Where the tokens of a sequence of this length stand; of the longest one where layouts differ."""

    def length_of(self, coordinates: Coordinates) -> int:
        """The length of a sequence with these coordinates."""
        return max(coordinates.ordinate) + 1

    def trained(self) -> tuple[Coordinates, ...]:
        """The coordinates that training shows, of every length and kind of layout."""
        return tuple(self.coordinates(length) for length in self.lengths())

    @property
    def layouts(self) -> int:
        """How many batches a test set is drawn in; above 1 where each batch draws its own layout."""
        return 1

    @abstractmethod
    def sample(self, count: int, *args: Any, **axes: Any) -> Batch:
        """Draw `count` sequences of one length (the longest trained one by default).

        Every task takes `generator: Generator` and `length: int | None = None` by name, and its axes.
        """

    @abstractmethod
    def reference(self, inputs: Inputs, coordinates: Coordinates | None = None) -> Answers:
        """Return the exact answers, vectorised, in the dtype of the inputs.

        Coordinates tell which layout the inputs have, where a task has several of the same length.
        """

    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token out"]:
        """Which outputs count; one column for symbols. All of them unless a task says otherwise."""
        return torch.ones(len(coordinates), self.outputs, dtype=torch.bool)

    def differs(self, one: Answers, other: Answers) -> Bool[Tensor, "batch token"]:
        """Where two answers are not the same."""
        if not one.is_floating_point():
            return one != other
        return ~torch.isclose(one, other, rtol=1e-5, atol=1e-5).all(-1)

    def seen(self, axis: str, value: float) -> bool:
        """Whether training draws samples at this value of an axis."""
        if axis == "length":
            return value in self.lengths()
        return axis == "scale" and value == 1

    def at(self, **axes: Any) -> "Task":
        """The task at these values of its axes, for tasks where they change what is computed, and so what is scored."""
        return self

    def tested(self) -> "Task":
        """The task with the samples it is tested on, where training draws others, such as more hard ones."""
        return self

    def slice(self, name: str, batch: Batch) -> Int[Tensor, " batch"]:
        """The value of a slice for every sample."""
        known = nearest(name, self.slices) if self.slices else "it has none"
        raise OrdinateError(f"task {self.name!r} has no slice {name!r}: {known}")

    def free(self, coordinates: Coordinates, length: int) -> tuple[int, ...]:
        """The input tokens that can be changed on their own; all of them unless a task says otherwise."""
        return tuple(range(len(coordinates)))

    @abstractmethod
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Inputs:
        """Return the inputs with one free token drawn again, the others as they were."""

    def changes(self, batch: Batch, generator: Generator) -> Changes:
        """The first sample with every free token changed on its own, several times each; all else stays."""
        tokens = self.free(batch.coordinates, self.length_of(batch.coordinates))
        copies = batch.first(REDRAWN)
        inputs = torch.cat([self.redraw(copies, token, generator) for token in tokens])
        return Changes.of(batch, inputs, torch.tensor(tokens).repeat_interleave(REDRAWN))


class Scalars(Task):
    """One number a token, in and out."""

    @property
    @override
    def features(self) -> int:
        return 1

    @property
    @override
    def outputs(self) -> int:
        return 1


def only_first(coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
    """Scored outputs of tasks with one answer, written at token 0."""
    return torch.arange(len(coordinates))[:, None] == 0
