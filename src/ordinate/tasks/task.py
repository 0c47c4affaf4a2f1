"""The contract of a task: it samples inputs, knows their exact answers and where every token stands."""

from abc import abstractmethod
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor

from ordinate.coordinates import Coordinates
from ordinate.kinds import Kind


class Batch(NamedTuple):
    """Inputs and their exact answers, all of one length."""

    input: Float[Tensor, "batch token feature"]
    target: Float[Tensor, "batch token out"]


class Task(Kind):
    """What is computed.

    A task is an immutable, validated value: `Sum(length=8)`. Its `axes` are the keyword arguments of `sample`
    along which it can be made harder than in training; a task without an axis refuses it.
    """

    label: ClassVar[str] = "name"
    family: ClassVar[str]
    axes: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def features(self) -> int:
        """Width of an input token."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Width of an output token."""

    @abstractmethod
    def lengths(self) -> tuple[int, ...]:
        """Lengths seen in training, shortest first."""

    @abstractmethod
    def coordinates(self, length: int) -> Coordinates:
        """Where the tokens of a sequence of this length stand."""

    @abstractmethod
    def sample(
        self, count: int, *, generator: Generator, length: int | None = None, scale: float = 1.0
    ) -> Batch:
        """Draw `count` sequences of one length (the longest trained one by default) in float32."""

    @abstractmethod
    def reference(self, inputs: Float[Tensor, "batch token feature"]) -> Float[Tensor, "batch token out"]:
        """Return the exact answers, vectorised, in the dtype of the inputs."""

    def scored(self, length: int) -> Bool[Tensor, "token out"]:
        """Which outputs count. All of them unless a task says otherwise."""
        return torch.ones(len(self.coordinates(length)), self.outputs, dtype=torch.bool)

    @abstractmethod
    def show(self, batch: Batch) -> list[dict[str, str]]:
        """Return one row a sample, columns in reading order, as a person would write them."""
