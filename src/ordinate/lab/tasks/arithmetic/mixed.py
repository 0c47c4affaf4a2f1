"""One task of several operations."""

from typing import Annotated, Any

from jaxtyping import Int
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.tasks.arithmetic.base import LAYOUTS, Arithmetic, DigitTask
from ordinate.lab.tasks.arithmetic.carries import CarryChain
from ordinate.lab.tasks.arithmetic.digits import SYMBOLS
from ordinate.lab.tasks.arithmetic.lines import has_sign
from ordinate.lab.tasks.arithmetic.multiplication import Multiplication
from ordinate.lab.tasks.arithmetic.sums import Addition, NoCarry, Several, Subtraction
from ordinate.lab.tasks.batch import Batch, Changes
from ordinate.lab.tasks.sampling import integers

PARTS: dict[str, type[Arithmetic]] = {
    task.name: task for task in (Addition, NoCarry, Subtraction, Several, Multiplication)
}


def _parts(value: Any) -> tuple[Arithmetic, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(choose(part, PARTS, "task.parts", "name") for part in values)


class Mixed(
    DigitTask,
    name="arithmetic",
    summary="several operations in one task, distinguished by their sign",
    axes=("length",),
):
    """Several operations, one a batch: 123 + 4095 gives 4218, and 5 x 4297 gives 21485.

    The sign says which operation a line asks for, so parts have different signs.
    """

    parts: Annotated[tuple[SerializeAsAny[Arithmetic], ...], BeforeValidator(_parts)] = Field(
        (Addition(), Multiplication()), description="the tasks that are mixed, each a name or a table"
    )

    @model_validator(mode="after")
    def _parts_fit(self) -> "Mixed":
        signs = [SYMBOLS[part.sign] for part in self.parts]
        if len(set(signs)) != len(signs) or not signs:
            raise ValueError(f"parts must have different signs, got {' '.join(signs) or 'none'}")
        digits = sorted({part.digits for part in self.parts})
        if len(digits) > 1:
            raise ValueError(f"parts must have the same digits, got {', '.join(map(str, digits))}")
        return self

    @property
    @override
    def layouts(self) -> int:
        return LAYOUTS if len(self.parts) > 1 else self.parts[0].layouts

    @override
    def tested(self) -> "Mixed":
        return self.model_copy(update={"parts": tuple(part.tested() for part in self.parts)})

    @override
    def lengths(self) -> tuple[int, ...]:
        return self.parts[0].lengths()

    @override
    def coordinates(self, length: int) -> Coordinates:
        return max((part.coordinates(length) for part in self.parts), key=len)

    @override
    def trained(self) -> tuple[Coordinates, ...]:
        return tuple(coordinates for part in self.parts for coordinates in part.trained())

    @override
    def sample(self, count: int, *, generator: Generator, length: int | None = None) -> Batch:
        """Draw an operation, and `count` lines of it."""
        part = integers(0, len(self.parts), (), generator)
        return self.parts[int(part)].sample(count, generator=generator, length=length)

    def part(self, inputs: Int[Tensor, "batch token"]) -> Arithmetic:
        """The part whose sign the lines have."""
        found = [part for part in self.parts if bool((inputs == part.sign).any(-1).all())]
        if len(found) != 1:
            signs = " ".join(SYMBOLS[part.sign] for part in self.parts)
            raise OrdinateError(f"all lines of a batch need the same sign: write one of {signs}")
        return found[0]

    @override
    def reference(
        self, inputs: Int[Tensor, "batch token"], coordinates: Coordinates | None = None
    ) -> Int[Tensor, "batch token"]:
        return self.part(inputs).reference(inputs, coordinates)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Int[Tensor, "batch token"]:
        return self.part(batch.input).redraw(batch, token, generator)

    @override
    def changes(self, batch: Batch, generator: Generator) -> Changes:
        return self.part(batch.input).changes(batch, generator)

    @override
    def carries(self, batch: Batch) -> CarryChain | None:
        return self.part(batch.input).carries(batch)

    @override
    def parse(self, text: str) -> Batch:
        found = [part for part in self.parts if has_sign(text, part.sign)]
        if len(found) != 1:
            examples = " or ".join(part.example for part in self.parts)
            raise OrdinateError(f"{text!r} is not understood: write one operation, such as {examples}")
        return found[0].parse(text)
