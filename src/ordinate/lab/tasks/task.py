"""The contract of a task: it samples inputs, knows their exact answers and where every token stands."""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.kinds import Kind
from ordinate.lab.tasks.carries import CarryChain
from ordinate.models.inputs import Inputs

Answers = Float[Tensor, "batch token out"] | Int[Tensor, "batch token"]
"""Numbers, `outputs` of them a token; or symbols, one a token, as indices below `outputs`."""


class Batch(NamedTuple):
    """Inputs and their exact answers; all samples of a batch have their tokens at the same coordinates."""

    input: Inputs
    target: Answers
    coordinates: Coordinates

    def to(self, device: torch.device, dtype: torch.dtype) -> "Batch":
        """The batch on a device, its numbers in a precision; symbols stay whole numbers."""
        inputs, targets = (
            t.to(device, dtype if t.is_floating_point() else t.dtype) for t in (self.input, self.target)
        )
        return Batch(inputs, targets, self.coordinates)

    def first(self, copies: int = 1) -> "Batch":
        """The first sample alone, or so many copies of it."""
        return Batch(
            self.input[:1].repeat_interleave(copies, 0),
            self.target[:1].repeat_interleave(copies, 0),
            self.coordinates,
        )


class Changes(NamedTuple):
    """One sample changed at one token, in several ways and at several tokens; and which token that was."""

    input: Inputs
    token: Int[Tensor, " change"]


REDRAWN = 8
"""How often a token is drawn anew where a task does not list what may stand there."""

LONGEST_TOKEN = 3
"""Numbers of a token that are written out."""


class Task(Kind):
    """What is computed.

    A task is an immutable, validated value: `Sum(length=8)`. Its `axes` are the keyword arguments of `sample`
    along which it can be made harder than in training; a task without an axis refuses it. Its `slices` sort
    samples by a property that makes some of them harder, such as the longest cascade of carries.
    """

    label: ClassVar[str] = "name"
    family: ClassVar[str]
    axes: ClassVar[tuple[str, ...]]
    slices: ClassVar[tuple[str, ...]] = ()

    @property
    def layouts(self) -> int:
        """In how many batches a test set is drawn, where every batch draws where its tokens stand."""
        return 1

    @property
    @abstractmethod
    def features(self) -> int:
        """Width of an input token once its symbol, where it has one, is written one-hot."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Width of an output token; the number of symbols where answers are symbols."""

    @abstractmethod
    def lengths(self) -> tuple[int, ...]:
        """Lengths seen in training, shortest first."""

    @abstractmethod
    def coordinates(self, length: int) -> Coordinates:
        """Where the tokens of a sequence of this length stand; of the longest one where layouts differ."""

    def trained(self) -> tuple[Coordinates, ...]:
        """The coordinates that training shows, of every length and kind of layout."""
        return tuple(self.coordinates(length) for length in self.lengths())

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

    def seen(self, axis: str, value: float) -> bool:
        """Whether training draws samples at this value of an axis."""
        if axis == "length":
            return value in self.lengths()
        return axis == "scale" and value == 1

    def at(self, **axes: Any) -> "Task":
        """The task at these values of its axes, for tasks where they change what is computed, and so what is scored."""
        return self

    def tested(self) -> "Task":
        """The task with the samples it is tested on: natural ones, whatever training draws."""
        return self

    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token out"]:
        """Which outputs count; one column for symbols. All of them unless a task says otherwise."""
        return torch.ones(len(coordinates), self.outputs, dtype=torch.bool)

    def slice(self, name: str, batch: Batch) -> Int[Tensor, " batch"]:
        """The value of a slice for every sample."""
        raise OrdinateError(f"task {self.name!r} has no slice {name!r}: it has none")

    def free(self, coordinates: Coordinates, length: int) -> tuple[int, ...]:
        """The input tokens that can be changed on their own; all of them unless a task says otherwise."""
        return tuple(range(len(coordinates)))

    @abstractmethod
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Inputs:
        """Return the inputs with one free token drawn anew, the others as they were."""

    def differs(self, one: Answers, other: Answers) -> Bool[Tensor, "batch token"]:
        """Where two answers are not the same."""
        if not one.is_floating_point():
            return one != other
        return ~torch.isclose(one, other, rtol=1e-5, atol=1e-5).all(-1)

    def changes(self, batch: Batch, generator: Generator) -> Changes:
        """The first sample with every free token changed on its own, several times each; all else stays."""
        tokens = self.free(batch.coordinates, max(batch.coordinates.ordinate) + 1)
        copies = batch.first(REDRAWN)
        inputs = torch.cat([self.redraw(copies, token, generator) for token in tokens])
        return changed(batch, inputs, torch.tensor(tokens).repeat_interleave(REDRAWN))

    def carries(self, batch: Batch) -> CarryChain | None:
        """The carries of the first sample, for tasks that have some."""
        return None

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The symbols by index; empty where inputs and answers are numbers."""
        return ()

    @property
    def answer_texts(self) -> tuple[str, ...]:
        """What every symbol of an answer is called, by its index: a symbol of the vocabulary, or else its number."""
        return self.vocabulary or tuple(map(str, range(self.outputs)))

    def token_texts(self, inputs: Inputs) -> list[str]:
        """What stands at every token of the first sample, written short; nothing where a token is a long vector."""
        if not inputs.is_floating_point():
            return [self.vocabulary[symbol] for symbol in inputs[0].tolist()]
        if inputs.shape[-1] > LONGEST_TOKEN:
            return [""] * inputs.shape[1]
        return [",".join(f"{x:z.4g}" for x in token) for token in inputs[0].tolist()]

    @abstractmethod
    def show(self, batch: Batch) -> list[dict[str, str]]:
        """Return one row a sample, columns in reading order, as a person would write them."""

    def parse(self, text: str) -> Batch:
        """Read one input as `show` writes it, and answer it."""
        raise OrdinateError(
            f"task {self.name!r} cannot read an input: leave --input out, and samples are drawn"
        )


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


def changed(batch: Batch, inputs: Inputs, token: Int[Tensor, " change"]) -> Changes:
    """Those of the inputs that differ from the first sample."""
    differ = (inputs != batch.input[:1]).flatten(1).any(-1)
    return Changes(inputs[differ], token.to(inputs.device)[differ])
