"""Addition of several numbers."""

from jaxtyping import Int
from pydantic import Field
from torch import Tensor
from typing_extensions import override

from ordinate.lab.tasks.arithmetic.digits import add, strip
from ordinate.lab.tasks.arithmetic.formats import Operands
from ordinate.lab.tasks.arithmetic.layout import ADDENDS
from ordinate.lab.tasks.arithmetic.sums import Sums


class Several(Sums, name="several", summary="sum of several numbers"):
    """The sum of 2 to 9 numbers: 12 + 907 + 85 gives 1004. Carries are up to 8 large."""

    addends: int = Field(3, ge=2, le=9, description="how many numbers are added, 2 to 9")

    @property
    @override
    def operands(self) -> tuple[str, ...]:
        return ADDENDS[: self.addends]

    @override
    def solve(self, operands: Operands, places: int) -> Int[Tensor, "batch place"]:
        return strip(add(operands, places))
