"""Strings of symbols, each token answered with a symbol: counters, copies."""

import string
from functools import lru_cache
from typing import ClassVar

import torch
from jaxtyping import Bool, Int
from pydantic import Field
from torch import Generator, Tensor
from torch.nn.functional import pad
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Batch, Symbols, fields_of
from ordinate.lab.tasks.presentation import rows
from ordinate.lab.tasks.sampling import LONGEST, another, check_count, check_length, integers

MOST_STATES = 64
BLANK, FIRST_LETTER = 0, 1
LETTERS = string.ascii_lowercase


def read_symbols(text: str, alphabet: str, instead: str) -> list[int]:
    """The places of characters in an alphabet; a text with others, or without any, is refused.

    >>> read_symbols("abba", "ab", "letters from a to b")
    [0, 1, 1, 0]
    """
    if not text or not set(text) <= set(alphabet):
        raise OrdinateError(f"{text!r} is not understood: write {instead}")
    return [alphabet.index(character) for character in text]


class Strings(Task, family="matching", axes=("length",)):
    """Symbols, one a token, each answered with a symbol. Harder along `length`."""

    length: int = Field(16, ge=1, le=LONGEST, description=f"tokens in training, 1 to {LONGEST}")

    @property
    @override
    def outputs(self) -> int:
        """The number of symbols, which answers share unless a task says otherwise."""
        return self.features

    def draw(self, count: int, length: int, generator: Generator) -> Symbols:
        """Draw the inputs, uniform and independent unless a task says otherwise."""
        return integers(0, self.features, (count, length), generator)

    def write(self, symbols: list[int]) -> str:
        """The string as a person reads it: in the vocabulary, or as numbers separated by spaces where there is none."""
        names = self.vocabulary
        return "".join(names[symbol] for symbol in symbols) if names else " ".join(map(str, symbols))

    def read(self, text: str) -> list[int]:
        """The symbols of a string that a person wrote."""
        words = text.split()
        if not words or not all(w.isdecimal() and len(w) < 9 and int(w) < self.features for w in words):
            raise OrdinateError(f"{text!r} is not understood: write whole numbers below {self.features}")
        return [int(word) for word in words]

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        check_length(length)
        return fields_of(token=length)

    @override
    def sample(self, count: int, *, generator: Generator, length: int | None = None) -> Batch:
        check_count(count)
        length = self.length if length is None else length
        coordinates = self.coordinates(length)
        inputs = self.draw(count, length, generator)
        return Batch(inputs, self.reference(inputs), coordinates)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Symbols:
        return batch.replaced(token, another(batch.input[:, token], self.features, generator))

    @override
    def token_texts(self, inputs: Symbols) -> list[str]:
        return [self.write([symbol]) for symbol in inputs[0].tolist()]

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        return rows(
            map(self.write, batch.input.tolist()), (" ".join(map(str, y)) for y in batch.target.tolist())
        )

    @override
    def parse(self, text: str) -> Batch:
        symbols = self.read(text)
        coordinates = self.coordinates(len(symbols))
        inputs = torch.tensor([symbols], dtype=torch.long)
        return Batch(inputs, self.reference(inputs), coordinates)


class VariableStrings(Strings):
    """Strings of one length, or of every length up to it."""

    length: int = Field(16, ge=1, le=LONGEST, description=f"most tokens in training, 1 to {LONGEST}")
    variable: bool = Field(
        False, description="true to train on every length up to `length`, false on it alone"
    )

    @override
    def lengths(self) -> tuple[int, ...]:
        return tuple(range(1, self.length + 1)) if self.variable else (self.length,)


class Counter(VariableStrings, family="strings"):
    """Zeros and ones, each answered with the ones so far modulo a number: y_t = (x_1 + ... + x_t) mod m.

    Parity is m = 2. Every state of the counter is asked for, as where automata are simulated (arXiv 2210.10749); the
    answer at the last token alone is the parity of the string, the question of most other studies (arXiv 2207.02098).
    A string counts as right where all its tokens are, which guessing hardly ever reaches. Harder along `length`.
    """

    features: ClassVar[int] = 2

    @override
    def reference(self, inputs: Symbols, coordinates: Coordinates | None = None) -> Symbols:
        return inputs.cumsum(1) % self.outputs

    @override
    def write(self, symbols: list[int]) -> str:
        return "".join(map(str, symbols))

    @override
    def read(self, text: str) -> list[int]:
        symbols = read_symbols(text, "01", "zeros and ones, such as 1101")
        check_length(len(text))
        return symbols


class Parity(Counter, name="parity", summary="whether the number of ones so far is odd"):
    """Whether the ones so far are odd in number: 1101 gives 1 0 0 1."""

    outputs: ClassVar[int] = 2


class ModularCounting(Counter, name="modular-counting", summary="the number of ones so far modulo 5"):
    """The ones so far modulo 5: 1111110 gives 1 2 3 4 0 1 1."""

    modulus: int = Field(5, ge=2, le=MOST_STATES, description="where the count starts again at 0")

    @property
    @override
    def outputs(self) -> int:
        return self.modulus


class Echo(VariableStrings, family="strings"):
    """Letters, and as many blanks at which they are to be written again (arXiv 2207.02098 and 2305.16843).

    An encoder reads both at once and answers at the blanks. Letter k has ordinate k, and so has the blank at which it
    is answered: a string that is reversed has blanks whose ordinates count down. Harder along `length`, the number of
    letters.
    """

    length: int = Field(10, ge=1, le=LONGEST, description=f"most letters in training, 1 to {LONGEST}")
    alphabet: int = Field(8, ge=2, le=len(LETTERS), description="letters that strings are made of")

    backwards: ClassVar[bool] = False
    """Whether the letters are to be written from the last one on."""

    @property
    @override
    def features(self) -> int:
        return FIRST_LETTER + self.alphabet

    @property
    @override
    def vocabulary(self) -> tuple[str, ...]:
        return ("_", *LETTERS[: self.alphabet])

    @override
    def coordinates(self, length: int) -> Coordinates:
        """The letters, then the blanks, each with the ordinate of the letter that is written there."""
        check_length(length)
        return echo_coordinates(length, self.backwards)

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Symbols:
        return _with_blanks(FIRST_LETTER + integers(0, self.alphabet, (count, length), generator))

    @override
    def reference(self, inputs: Symbols, coordinates: Coordinates | None = None) -> Symbols:
        length = inputs.shape[1] // 2
        order = self.coordinates(length).ordinate_tensor[length:].to(inputs.device)
        return pad(inputs[:, :length][:, order], (length, 0), value=BLANK)

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        return torch.arange(len(coordinates))[:, None] >= len(coordinates) // 2

    @override
    def free(self, coordinates: Coordinates, length: int) -> tuple[int, ...]:
        return tuple(range(len(coordinates) // 2))

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Symbols:
        letter = batch.input[:, token] - FIRST_LETTER
        return batch.replaced(token, FIRST_LETTER + another(letter, self.alphabet, generator))

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        half = len(batch.coordinates) // 2
        letters, answers = batch.input[:, :half].tolist(), batch.target[:, half:].tolist()
        return rows(map(self.write, letters), map(self.write, answers))

    @override
    def read(self, text: str) -> list[int]:
        known = LETTERS[: self.alphabet]
        letters = read_symbols(text, known, f"letters from a to {known[-1]}, such as abba")
        return [FIRST_LETTER + letter for letter in letters]

    @override
    def parse(self, text: str) -> Batch:
        letters = self.read(text)
        coordinates = self.coordinates(len(letters))
        inputs = _with_blanks(torch.tensor([letters]))
        return Batch(inputs, self.reference(inputs), coordinates)


def _with_blanks(letters: Int[Tensor, "batch letter"]) -> Symbols:
    return pad(letters, (0, letters.shape[1]), value=BLANK)


class Copy(Echo, name="copy", summary="the string again, written at the blanks behind it"):
    """The string again: abca gives abca."""


class Reverse(
    Echo, name="reverse", summary="the string from its end, written at the blanks behind it", backwards=True
):
    """The string from its end: abca gives acba."""


@lru_cache(maxsize=256)
def echo_coordinates(length: int, backwards: bool) -> Coordinates:
    """Return the coordinates of the fields `letter` and `answer`.

    >>> echo_coordinates(3, backwards=True).ordinate
    (0, 1, 2, 2, 1, 0)
    """
    order = range(length)
    return Coordinates.of(letter=order, answer=order[::-1] if backwards else order)
