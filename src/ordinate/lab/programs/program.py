"""A program: a function on values, and what is known about it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from ordinate.errors import OrdinateError
from ordinate.lab.programs.language.ranges import Range
from ordinate.lab.programs.machine import Function
from ordinate.lab.tasks.sampling import LONGEST

Words = Float[np.ndarray, "batch n word"]
Outputs = Float[np.ndarray, "batch n out"]
Reference = Callable[[Words], Outputs]
Hard = Callable[[int], Iterator[Words] | list[Words]]
"""Inputs of n processors that are hard on purpose."""


def everywhere(answers: Float[np.ndarray, "batch 1 out"], n: int) -> Outputs:
    """The same answers in all processors."""
    return np.repeat(answers, n, axis=1)


@dataclass(frozen=True)
class Program:
    """A parallel algorithm: its body, the ranges of a processor's input words, and the answer by other means.

    >>> double = Program("double", "twice the number", lambda x: 2 * x, (Range(0, 9, whole=True),), lambda x: 2 * x)
    >>> double.sample(3, 2, np.random.default_rng(0))[..., 0]
    array([[8., 6., 5.],
           [2., 3., 0.]])
    """

    name: str
    summary: str
    function: Function
    inputs: tuple[Range, ...] | Callable[[int], tuple[Range, ...]]
    """Ranges of the words of a processor, or a function of n that gives them."""
    reference: Reference
    words: int = 1
    """Words that a processor may send, and receive, in a round: s."""
    hard: Hard = lambda n: []
    """Inputs beyond random and boundary ones."""
    shortest: int = 1
    """The fewest processors that it makes sense for."""
    longest: int = LONGEST
    """The most processors that it is compiled for."""
    only_powers: bool = False
    """Whether the number of processors must be a power of two."""
    task: str | None = None
    """The task of the library that it answers, where there is one."""

    def on_reals(self) -> "Program":
        """The same program on real numbers of the same ranges, answered within the proven error bound.

        What needs whole numbers (comparisons, tables) is refused when it is compiled.

        >>> double = Program("double", "", lambda x: 2 * x, (Range(0, 9, whole=True),), lambda x: 2 * x)
        >>> double.on_reals().ranges(3)
        (Range(low=0, high=9, whole=False),)
        """
        return replace(self, inputs=lambda n: tuple(replace(r, whole=False) for r in self.ranges(n)))

    def ranges(self, n: int) -> tuple[Range, ...]:
        """Ranges of the words of one of n processors."""
        return self.inputs(n) if callable(self.inputs) else self.inputs

    def check_length(self, n: int) -> None:
        """Refuse a number of processors that the program has no meaning for."""
        if not 1 <= n <= self.longest:
            raise OrdinateError(
                f"{self.name!r} runs on 1 to {self.longest} processors, got {n}: write --n {min(8, self.longest)}"
            )
        if self.only_powers and n & (n - 1):
            power = 1 << n.bit_length() - 1
            raise OrdinateError(
                f"{self.name!r} needs a power of two processors: write --n {power} or {2 * power}"
            )
        if n < self.shortest:
            raise OrdinateError(
                f"{self.name!r} needs at least {self.shortest} processors: write --n {self.shortest}"
            )

    def check_inputs(self, inputs: Words) -> None:
        """Refuse inputs outside the stated ranges: they would be answered wrongly."""
        check_ranges(self.name, self.ranges(inputs.shape[1]), inputs)

    def sample(self, n: int, count: int, generator: np.random.Generator) -> Words:
        """Random inputs, uniform over the ranges."""
        drawn = [
            generator.integers(int(r.low), int(r.high), (count, n), endpoint=True).astype(np.float64)
            if r.whole
            else generator.uniform(r.low, r.high, (count, n))
            for r in self.ranges(n)
        ]
        return np.stack(drawn, axis=-1)

    def boundary(self, n: int, count: int, generator: np.random.Generator) -> Words:
        """All lowest, all highest, all zero (or what is nearest to it), and random mixtures of lowest and highest."""
        low, high = (
            np.array([getattr(r, end) for r in self.ranges(n)], dtype=np.float64) for end in ("low", "high")
        )
        fixed = np.stack(
            [np.broadcast_to(row, (n, len(low))) for row in (low, high, np.clip(0.0, low, high))]
        )
        mixed = np.where(generator.random((count, n, len(low))) < 0.5, low, high)
        return np.concatenate([fixed, mixed])


def check_ranges(name: str, ranges: Sequence[Range], inputs: Words) -> None:
    """Refuse inputs of the program `name` outside the ranges of their words.

    >>> check_ranges("digits", [Range(0, 9, whole=True)], np.full((1, 2, 1), 10.0))
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: word 0 of 'digits' is 10, outside its range: give whole numbers in [0, 9]
    """
    if inputs.shape[2] != len(ranges):
        raise OrdinateError(f"{name!r} takes {len(ranges)} words a processor, got {inputs.shape[2]}")
    for word, known in enumerate(ranges):
        given = inputs[..., word]
        wrong = ~((given >= known.low) & (given <= known.high))
        if known.whole:
            wrong |= given != np.round(given)
        if wrong.any():
            raise OrdinateError(
                f"word {word} of {name!r} is {given[wrong][0]:g}, outside its range: give {known}"
            )
