"""Addition without carries."""

from jaxtyping import Int
from torch import Tensor
from typing_extensions import override

from ordinate.lab.tasks.arithmetic.digits import add_places
from ordinate.lab.tasks.arithmetic.formats import Operands
from ordinate.lab.tasks.arithmetic.sums import Sums, widen


class NoCarry(Sums, name="no-carry", summary="sum of two numbers without carries: each place on its own"):
    """The sum of two numbers with every carry forgotten: 128 + 4095 gives 4113.

    The answer is as wide as the longer number and keeps its leading zeros (51 + 50 gives 01), so that each
    place depends on its own place only.
    """

    @override
    def solve(self, operands: Operands, places: int) -> Int[Tensor, "batch place"]:
        return widen(add_places(operands, places) % 10, operands)

    @override
    def amounts(self, operands: Operands) -> None:
        return
