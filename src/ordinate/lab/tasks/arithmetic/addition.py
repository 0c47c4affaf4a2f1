"""Addition of two numbers."""

import torch
from jaxtyping import Int
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.tasks.arithmetic.cascades import longest_carries, longest_cascade
from ordinate.lab.tasks.arithmetic.digits import add, add_places, strip
from ordinate.lab.tasks.arithmetic.formats import Operands
from ordinate.lab.tasks.arithmetic.runs import CARRIES, CASCADE, draw_pairs, draw_types
from ordinate.lab.tasks.arithmetic.sums import Sums
from ordinate.lab.tasks.numbers.sampling import whole
from ordinate.lab.tasks.task import Batch


class Addition(
    Sums,
    name="addition",
    summary="sum of two numbers, digit by digit",
    axes=("length", "words", "cascade", "carries"),
    slices=("cascade", "carries"),
):
    """The sum of two numbers: 123 + 4095 gives 4218.

    Two more axes draw, at any length, pairs that natural numbers hardly ever show, uniformly among them:
    `cascade` those whose longest cascade of carries is exactly that long, `carries` those whose longest run of
    places with digit sums of 10 or more is. The slices of the same names sort samples by them.
    """

    @override
    def sample(
        self,
        count: int,
        *,
        generator: Generator,
        length: int | None = None,
        words: int | float | None = None,
        cascade: int | float | None = None,
        carries: int | float | None = None,
    ) -> Batch:
        """Draw `count` sums; with `cascade` or `carries`, of pairs whose longest run is exactly that long."""
        length = self.checked(count, length)
        if cascade is None and carries is None:
            return self.compose(self.draw(count, length, generator), words, generator)
        if cascade is not None and carries is not None:
            raise OrdinateError("cascade and carries cannot both be given: write one of them")
        rule, name, value = (
            (CASCADE, "cascade", cascade) if cascade is not None else (CARRIES, "carries", carries)
        )
        assert value is not None
        longest = torch.full((count,), whole(name, value, 0, length), device=generator.device)
        pairs = draw_pairs(draw_types(rule, length, longest, generator), generator)
        operands = self.format.write(pairs, self.span(length), True, generator)
        return self.compose(operands, words, generator)

    @override
    def solve(self, operands: Operands, places: int) -> Int[Tensor, "batch place"]:
        return strip(add(operands, places))

    @override
    def slice(self, name: str, batch: Batch) -> Int[Tensor, " batch"]:
        if name not in self.slices:
            raise OrdinateError(f"addition has no slice {name!r}: {nearest(name, self.slices)}")
        operands = self.read(batch.input, batch.coordinates)
        sums = add_places(operands, max(operand.shape[1] for operand in operands))
        return longest_cascade(sums) if name == "cascade" else longest_carries(sums)
