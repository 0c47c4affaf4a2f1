"""What the arithmetic tasks have in common: options, symbols, reading and writing lines."""

from abc import abstractmethod
from functools import lru_cache
from typing import ClassVar

import torch
from jaxtyping import Bool, Int
from pydantic import Field
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.arithmetic.carries import CarryChain
from ordinate.lab.tasks.arithmetic.digits import ANSWERS, FIRST_LETTER, LETTERS, PAD, SYMBOLS, read, resize
from ordinate.lab.tasks.arithmetic.formats import FormatOption, Operands, Padded
from ordinate.lab.tasks.arithmetic.lines import (
    NO_WORDS,
    TEXT,
    Words,
    answer_field,
    blank_line,
    free_tokens,
    read_line,
    room,
    scored_tokens,
    slots,
    write_line,
    write_number,
)
from ordinate.lab.tasks.arithmetic.samplers import SamplerOption, Uniform
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Batch, Changes
from ordinate.lab.tasks.presentation import rows
from ordinate.lab.tasks.sampling import LONGEST, another, check_count, check_length, integers, whole

MOST_WORDS = 1024
LAYOUTS = 16
"""Batches of a test set in tasks whose batches each draw a layout."""


class DigitTask(Task, family="arithmetic"):
    """Lines of symbols whose answer is read at some tokens; what depends on coordinates only.

    Numbers are exact at any length. Pads read as zeros, and zeros may stand where pads would.
    """

    features: ClassVar[int] = len(SYMBOLS)
    outputs: ClassVar[int] = ANSWERS

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        return scored_tokens(coordinates).clone()

    @override
    def free(self, coordinates: Coordinates, length: int) -> tuple[int, ...]:
        """The tokens of digits with ordinates below the length, and all of a multiplier."""
        return free_tokens(coordinates, length)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Int[Tensor, "batch token"]:
        """Put another digit at one token, where a pad counts as 0."""
        return batch.replaced(token, another(read(batch.input[:, token]), 10, generator))

    @override
    def changes(self, batch: Batch, generator: Generator) -> Changes:
        """Every other digit at every place of a number that keeps the answer within its room."""
        tokens = torch.tensor(free_tokens(batch.coordinates, room(batch.coordinates)))
        token, other = tokens.repeat_interleave(9), torch.arange(1, 10).repeat(len(tokens))
        inputs = batch.input[:1].cpu().repeat(len(token), 1)
        inputs[torch.arange(len(token)), token] = (read(inputs[0, token]) + other) % 10
        return Changes.of(batch, inputs.to(batch.input.device), token)

    def carries(self, batch: Batch) -> CarryChain | None:
        """The carries of the first sample; None for operations without carries."""
        return None

    @property
    @override
    def vocabulary(self) -> tuple[str, ...]:
        return SYMBOLS

    @override
    def differs(
        self, one: Int[Tensor, "batch token"], other: Int[Tensor, "batch token"]
    ) -> Bool[Tensor, "batch token"]:
        """Where two answers are not the same digit; a pad counts as 0."""
        return read(one) != read(other)

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        answer = slots(batch.coordinates, answer_field(batch.coordinates)).flip(0)
        lines = (write_line(line, batch.coordinates) for line in batch.input.tolist())
        return rows(lines, map(write_number, batch.target[:, answer].tolist()))


class Arithmetic(DigitTask, axes=("length", "words")):
    """Operands joined by signs, in a format, from a sampler, perhaps with random text around them.

    Harder than in training along `length` (digits of the operands) and `words` (letters around them).
    """

    sign: ClassVar[int]

    digits: int = Field(5, ge=1, le=LONGEST, description="most digits of an operand in training")
    width: int = Field(8, ge=1, le=LONGEST, description="least width of a padded number, in digits")
    spare: int = Field(1, ge=0, le=LONGEST, description="longer numbers get a width of their length and this")
    format: FormatOption = Field(Padded(), description="how lines are written: padded or variable")
    sampler: SamplerOption = Field(
        Uniform(), description="which numbers: uniform, complexity, mixture, shifted"
    )
    words: int = Field(
        0, ge=0, le=MOST_WORDS, description="most random letters before, between and after the numbers"
    )

    @property
    @abstractmethod
    def operands(self) -> tuple[str, ...]:
        """The fields of the operands."""

    @abstractmethod
    def sizes(self, places: int, width: int) -> tuple[int, ...]:
        """The widest fields of operands of this many places."""

    @abstractmethod
    def layout(self, sizes: tuple[int, ...], words: Words = NO_WORDS) -> Coordinates:
        """Where the tokens of operands of these sizes stand."""

    @abstractmethod
    def draw(self, count: int, length: int, generator: Generator) -> Operands:
        """Draw the operands."""

    @abstractmethod
    def solve(self, operands: Operands, places: int) -> Int[Tensor, "batch place"]:
        """The symbols of the answer, least significant first, from digits that may be led by zeros."""

    @override
    def lengths(self) -> tuple[int, ...]:
        """The one number of digits seen in training; smaller numbers are among those drawn."""
        return (self.digits,)

    @property
    @override
    def layouts(self) -> int:
        return LAYOUTS if self.words or (self.format.draws and not self.sampler.joint) else 1

    @override
    def tested(self) -> "Arithmetic":
        return self.model_copy(update={"sampler": Uniform()})

    @override
    def seen(self, axis: str, value: float) -> bool:
        return value in self.lengths() if axis == "length" else axis != "words" or value <= self.words

    def span(self, length: int) -> int:
        """The width of a padded number of this length."""
        return max(self.width, length + self.spare)

    @override
    def coordinates(self, length: int) -> Coordinates:
        """The longest layout; those of samples are shorter where sizes or words are drawn."""
        check_length(length)
        places = self.sampler.places(length, self.span(length))
        return self.layout(self.sizes(places, self.span(length)), (self.words,) * 3)

    @override
    def sample(
        self,
        count: int,
        *,
        generator: Generator,
        length: int | None = None,
        words: int | float | None = None,
    ) -> Batch:
        """Draw `count` lines of one layout with numbers of up to `length` digits and up to `words` letters."""
        length = self.checked(count, length)
        return self.compose(self.draw(count, length, generator), words, generator)

    def checked(self, count: int, length: int | None) -> int:
        """The length to draw; counts and lengths that cannot be are refused."""
        check_count(count)
        length = self.digits if length is None else length
        check_length(length)
        return length

    def compose(self, operands: Operands, words: int | float | None, generator: Generator) -> Batch:
        """Write operands into a line with random text, and answer it."""
        most = self.words if words is None else whole("words", words, 0, MOST_WORDS)
        counts = NO_WORDS
        if most:
            before, between, after = integers(0, most + 1, (3,), generator).tolist()
            counts = (before, between, after)
        coordinates = self.layout(tuple(operand.shape[1] for operand in operands), counts)
        text = (len(operands[0]), len(slots(coordinates, TEXT)))
        return self.line(operands, integers(0, len(LETTERS), text, generator), coordinates)

    def line(
        self, operands: Operands, letters: Int[Tensor, "batch letter"], coordinates: Coordinates
    ) -> Batch:
        """Write operands, signs and random text into lines, and answer them."""
        device = operands[0].device
        inputs = blank_line(coordinates, self.sign).to(device).repeat(len(operands[0]), 1)
        for name, operand in zip(self.operands, operands, strict=True):
            inputs[:, slots(coordinates, name)[: operand.shape[1]].to(device)] = operand
        inputs[:, slots(coordinates, TEXT).to(device)] = letters + FIRST_LETTER
        return Batch(inputs, self.answer(inputs, tuple(map(read, operands)), coordinates), coordinates)

    @override
    def parse(self, text: str) -> Batch:
        """Read numbers and signs, such as 123+4095, and text around them as `show` writes it."""
        read_as = read_line(text, self.sign, len(self.operands), self.example)
        before, *between, after = read_as.texts
        if len({len(letters) for letters in between}) > 1:
            raise OrdinateError(
                f"{text!r} has texts of several lengths between its numbers: write one length"
            )
        check_length(max(map(len, read_as.numbers)))
        counts = (len(before), len(between[0]), len(after))
        if max(counts) > MOST_WORDS:
            raise OrdinateError(
                f"{max(counts)} letters are too many: write at most {MOST_WORDS} in one place"
            )
        operands = self.fit(read_as.numbers)
        coordinates = self.layout(tuple(operand.shape[1] for operand in operands), counts)
        letters = torch.tensor([[LETTERS.index(letter) for letter in "".join(read_as.texts)]])
        return self.line(operands, letters.long(), coordinates)

    @property
    @abstractmethod
    def example(self) -> str:
        """A line that can be read."""

    @abstractmethod
    def fit(self, numbers: tuple[str, ...]) -> Operands:
        """Given numbers as operands, each in its field; those that the task has no answer for are refused."""

    def amounts(self, operands: Operands) -> Int[Tensor, "batch place"] | None:
        """The amount at each place before carries, such as the sum of its digits; None without carries."""
        return None

    @override
    def changes(self, batch: Batch, generator: Generator) -> Changes:
        """Every other digit at every place where the line stays one that the task draws: no digit beyond pads."""
        inputs, token = super().changes(batch, generator)
        kept = self.natural(inputs, batch.coordinates)
        return Changes(inputs[kept], token[kept])

    def natural(self, inputs: Int[Tensor, "batch token"], coordinates: Coordinates) -> Bool[Tensor, " batch"]:
        """Whether all operands are written as the format writes them."""
        kept = torch.ones(len(inputs), dtype=torch.bool, device=inputs.device)
        for name in self.operands:
            symbols = inputs[:, slots(coordinates, name).to(inputs.device)]
            written = self.format.fit(read(symbols), symbols.shape[1])
            kept &= ((written == symbols) | (symbols > PAD)).all(-1)
        return kept

    @override
    def carries(self, batch: Batch) -> CarryChain | None:
        amounts = self.amounts(self.read(batch.input[:1], batch.coordinates))
        if amounts is None:
            return None
        places = len(slots(batch.coordinates, answer_field(batch.coordinates)))
        return CarryChain.of(resize(amounts[0], places).tolist())

    def answer(
        self, inputs: Int[Tensor, "batch token"], operands: Operands, coordinates: Coordinates
    ) -> Int[Tensor, "batch token"]:
        """Write the answer where it is read, and pads elsewhere."""
        place = slots(coordinates, answer_field(coordinates)).to(inputs.device)
        answers = torch.full_like(inputs, PAD)
        answers[:, place] = self.solve(operands, len(place)).to(inputs.dtype)
        return answers

    @override
    def reference(
        self, inputs: Int[Tensor, "batch token"], coordinates: Coordinates | None = None
    ) -> Int[Tensor, "batch token"]:
        """Read the operands, solve, and write the answer where it is read.

        Without coordinates the line has no text, and operands of one size in the variable format.
        """
        coordinates = coordinates or plain_layout(self, inputs.shape[1])
        return self.answer(inputs, self.read(inputs, coordinates), coordinates)

    def read(self, inputs: Int[Tensor, "batch token"], coordinates: Coordinates) -> Operands:
        """The digits of the operands, least significant first."""
        return tuple(
            read(inputs[:, slots(coordinates, name).to(inputs.device)]).long() for name in self.operands
        )


@lru_cache(maxsize=1024)
def plain_layout(task: Arithmetic, tokens: int) -> Coordinates:
    """The layout without text that has this many tokens, and operands of one size in the variable format."""
    one, two = (len(task.layout(task.sizes(size, size))) for size in (1, 2))
    size, rest = divmod(tokens - one, two - one)
    if rest or size < 0:
        raise OrdinateError(
            f"no line of {task.name} has {tokens} tokens without text: give the coordinates of the batch, "
            f"or lines of {one}, {two}, {2 * two - one}, ... tokens"
        )
    return task.layout(task.sizes(size + 1, size + 1))
