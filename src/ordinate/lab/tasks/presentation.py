"""How samples are written for people, and read from what a person types."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.batch import Batch
from ordinate.lab.tasks.sampling import LARGEST
from ordinate.models.inputs import Inputs

LONGEST_TOKEN = 3
"""Numbers of a token that are written out."""


class Presentation(ABC):
    """What showing a task's samples needs, and training does not."""

    name: ClassVar[str]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The symbols by index; empty where inputs and answers are numbers."""
        return ()

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Width of an output token; the number of symbols where answers are symbols."""

    @property
    def answer_texts(self) -> tuple[str, ...]:
        """What every symbol of an answer is called, by its index: a symbol of the vocabulary, or else its number."""
        return self.vocabulary or tuple(map(str, range(self.outputs)))

    def token_texts(self, inputs: Inputs) -> list[str]:
        """The tokens of the first sample, written short; empty where a token is a long vector."""
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


def rows(inputs: Iterable[str], targets: Iterable[str]) -> list[dict[str, str]]:
    """What `show` returns, of inputs and answers that are written already."""
    return [{"input": x, "target": y} for x, y in zip(inputs, targets, strict=True)]


def write_numbers(numbers: Float[Tensor, " length"]) -> str:
    """Write numbers with two decimals and without a negative zero.

    >>> write_numbers(torch.tensor([-1.25, 0.5, -0.001]))
    '-1.25 0.50 0.00'
    """
    return " ".join(f"{x:z.2f}" for x in numbers.tolist())


def write_short(numbers: Float[Tensor, " length"]) -> str:
    """Write whole numbers as such, others with two decimals.

    >>> write_short(torch.tensor([-0.0, 12.0, 1.25]))
    '0 12 1.25'
    """
    return " ".join(f"{x:z.0f}" if x.is_integer() else f"{x:z.2f}" for x in numbers.tolist())


def read_numbers(text: str) -> list[float]:
    """Read numbers separated by spaces or commas.

    >>> read_numbers("1, -2.5")
    [1.0, -2.5]
    >>> read_numbers("1 two")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: 'two' is not a number: write numbers separated by spaces, such as 1 -2.5 3
    """
    numbers = []
    for word in text.replace(",", " ").split():
        try:
            number = float(word)
        except ValueError:
            number = math.nan
        if not abs(number) <= LARGEST:
            raise OrdinateError(
                f"{word!r} is not a number: write numbers separated by spaces, such as 1 -2.5 3"
            )
        numbers.append(number)
    return numbers


def read_matrix(text: str) -> Float[Tensor, "vertex vertex"]:
    """Read an adjacency matrix, rows separated by strokes: square, symmetric, zero on the diagonal, not negative.

    Semicolons and ends of lines separate rows as well.

    >>> read_matrix("0 2 / 2 0").tolist() == read_matrix("0 2; 2 0").tolist()
    True
    >>> read_matrix("0 1 1 / 1 0 1")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: an adjacency matrix is square, got 2 rows, one of 3 numbers: write 0 1 / 1 0
    """
    rows = [read_numbers(row) for row in re.split(r"[/;\n]", text.strip())]
    for row in rows:
        if len(row) != len(rows):
            raise OrdinateError(
                f"an adjacency matrix is square, got {len(rows)} rows, one of {len(row)} numbers: write 0 1 / 1 0"
            )
    matrix = torch.tensor(rows)
    if not torch.equal(matrix, matrix.T) or matrix.diagonal().any() or (matrix < 0).any():
        raise OrdinateError(
            "an undirected graph has a symmetric matrix with zeros on the diagonal and no negative weight: "
            "write row j of column i as row i of column j"
        )
    return matrix
