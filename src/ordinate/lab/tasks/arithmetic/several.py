"""Addition of several numbers."""

from typing import ClassVar

from jaxtyping import Int
from pydantic import Field
from torch import Tensor

from ordinate.lab.tasks.arithmetic.digits import add, strip
from ordinate.lab.tasks.arithmetic.formats import Operands
from ordinate.lab.tasks.arithmetic.layout import ADDENDS
from ordinate.lab.tasks.arithmetic.sums import Sums


class Several(Sums):
    """The sum of 2 to 9 numbers: 12 + 907 + 85 gives 1004. Carries are up to 8 large."""

    name: ClassVar[str] = "several"
    summary: ClassVar[str] = "sum of several numbers"

    addends: int = Field(3, ge=2, le=9, description="how many numbers are added, 2 to 9")

    @property
    def operands(self) -> tuple[str, ...]:
        """As many as are added."""
        return ADDENDS[: self.addends]

    def solve(self, operands: Operands, places: int) -> Int[Tensor, "batch place"]:
        """Add, and turn leading zeros into pads."""
        return strip(add(operands, places))
