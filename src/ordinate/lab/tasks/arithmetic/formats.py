"""Formats: how numbers become lines of symbols. An option of a task names one."""

from abc import abstractmethod
from typing import Annotated, ClassVar

import torch
from jaxtyping import Int
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.kinds import Kind, choose
from ordinate.lab.tasks.arithmetic.digits import resize, strip
from ordinate.lab.tasks.arithmetic.lines import ADDENDS, FACTORS, TEXT, Piece, Words, lay
from ordinate.lab.tasks.sampling import integers

Operands = tuple[Int[Tensor, "batch _"], ...]
"""Operands as symbols, least significant first, each as wide as its field."""


class Format(Kind):
    """How numbers are written. Ordinates are the significance of a digit in every format."""

    draws: ClassVar[bool] = False
    """Whether sizes are drawn for every batch."""

    reverse: bool = Field(False, description="true to write every number least significant digit first")

    @abstractmethod
    def longest(self, places: int, width: int) -> int:
        """The widest field of a number of this many places."""

    @abstractmethod
    def write(
        self, digits: Int[Tensor, "batch operand place"], width: int, joint: bool, generator: Generator
    ) -> Operands:
        """Write numbers into fields; all samples share one layout. Joint numbers keep all their places."""

    @abstractmethod
    def fit(self, digits: Int[Tensor, "*batch place"], width: int) -> Int[Tensor, "*batch size"]:
        """Write one given number into its field."""

    def addends(self, sizes: tuple[int, ...], words: Words) -> Coordinates:
        """The layout of numbers of these sizes with signs between them; an answer has one digit more."""
        before, between, after = words
        pieces: list[Piece] = [(TEXT, range(before)), (ADDENDS[0], self.number(sizes[0]))]
        for i, (name, size) in enumerate(zip(ADDENDS[1:], sizes[1:], strict=False)):
            pieces += [(TEXT, range(between)), *self.signed(i, name, size)]
        return lay(*pieces, *self.answer(max(sizes) + 1), (TEXT, range(after)))

    def factors(self, sizes: tuple[int, int], words: Words) -> Coordinates:
        """The layout of a multiplier and a multiplicand of these sizes, with a sign between them."""
        before, between, after = words
        multiplier, multiplicand = FACTORS
        return lay(
            (TEXT, range(before)),
            (multiplier, self.number(sizes[0])),
            (TEXT, range(between)),
            ("sign", (0,)),
            (multiplicand, self.number(sizes[1])),
            *self.answer(sum(sizes)),
            (TEXT, range(after)),
        )

    @abstractmethod
    def signed(self, i: int, name: str, size: int) -> list[Piece]:
        """Sign i, and the addend behind it."""

    def answer(self, size: int) -> list[Piece]:
        """What follows a line to be answered in so many places; nothing where it is answered inside."""
        return []

    def number(self, size: int) -> range:
        """The ordinates of a number in the order in which it is written."""
        return range(size) if self.reverse else range(size - 1, -1, -1)


class Padded(
    Format, name="padded", summary="numbers padded to one width, the answer in place of the last one"
):
    """Every number fills a field of one width; the answer is read in place of the last number.

    123 + 4095 at width 5: `pad pad 1 2 3 + pad 4 0 9 5`, answer `pad pad 4 2 1 8` at the sign and the second
    number. A multiplier is not padded, a multiplicand to its width and that of the multiplier: 56 x 4297 is
    `5 6 x pad pad 4 2 9 7`, answer `2 4 0 6 3 2` at the multiplicand.
    """

    @override
    def longest(self, places: int, width: int) -> int:
        return width

    @override
    def write(
        self, digits: Int[Tensor, "batch operand place"], width: int, joint: bool, generator: Generator
    ) -> Operands:
        return self.fit(digits, width).unbind(1)

    @override
    def fit(self, digits: Int[Tensor, "*batch place"], width: int) -> Int[Tensor, "*batch size"]:
        return strip(resize(digits, width))

    @override
    def signed(self, i: int, name: str, size: int) -> list[Piece]:
        """The sign is the top token of the number, with the ordinate of the answer's top digit."""
        return [(name, (size, *self.number(size)))]


class Variable(
    Format,
    name="variable",
    summary="numbers without pads, the answer at blanks after an equals sign",
    draws=True,
):
    """Operands have as many symbols as digits; the answer is read at blanks after an equals sign.

    123 + 4095: `1 2 3 + 4 0 9 5 = _ _ _ _ _`, answer `pad 4 2 1 8` at the blanks. How many digits the numbers
    of a batch have is drawn once for all of them, as often as uniform numbers have that many. Operands that
    belong together (see samplers) keep all their places, leading zeros included.
    """

    @override
    def longest(self, places: int, width: int) -> int:
        return places

    @override
    def write(
        self, digits: Int[Tensor, "batch operand place"], width: int, joint: bool, generator: Generator
    ) -> Operands:
        """Cut uniform numbers to sizes drawn for the batch; the top digit of a cut number is no zero."""
        count, operands, places = digits.shape
        if joint:
            return digits.unbind(1)
        # A uniform number has at least k leading zeros with probability 10^-k.
        rest = 1 - torch.rand(operands, generator=generator, device=generator.device, dtype=torch.float64)
        sizes = (places + rest.log10().ceil().long()).clamp(min=1).tolist()
        numbers = []
        for size, number in zip(sizes, digits.unbind(1), strict=True):
            number = number[:, :size].clone()
            if size > 1:
                number[:, -1] = integers(1, 10, (count,), generator)
            numbers.append(number)
        return tuple(numbers)

    @override
    def fit(self, digits: Int[Tensor, "*batch place"], width: int) -> Int[Tensor, "*batch size"]:
        return digits

    @override
    def signed(self, i: int, name: str, size: int) -> list[Piece]:
        return [("sign", (i,)), (name, self.number(size))]

    @override
    def answer(self, size: int) -> list[Piece]:
        return [("equals", (0,)), ("answer", self.number(size))]


FORMATS: dict[str, type[Format]] = {kind.name: kind for kind in (Padded, Variable)}

FormatOption = Annotated[SerializeAsAny[Format], BeforeValidator(lambda v: choose(v, FORMATS, "task.format"))]
"""A format by name, or a table with its options."""
