"""Samplers: which numbers are drawn. An option of a task names one."""

from abc import abstractmethod
from typing import Annotated, Any, ClassVar

import torch
from jaxtyping import Int
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.kinds import Kind, choose
from ordinate.lab.tasks.arithmetic.runs import CASCADE, NINES, draw_pairs, draw_types


class Sampler(Kind):
    """Draws the operands of a batch of sums or products."""

    pairs: ClassVar[bool] = False
    """Whether two numbers are drawn that belong together."""

    @property
    def joint(self) -> bool:
        """Whether the places that are drawn belong together, so that none may be cut."""
        return True

    def places(self, digits: int, width: int) -> int:
        """How many places the numbers have that are drawn."""
        return digits

    @abstractmethod
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        """Draw operands below 10^digits as digits, least significant first; `width` is what fits a field."""


class Uniform(Sampler, name="uniform", summary="uniform over numbers"):
    """Numbers uniform in [0, 10^digits)."""

    @property
    @override
    def joint(self) -> bool:
        return False

    @override
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        return torch.randint(10, (count, operands, digits), generator=generator, device=generator.device)


class Complexity(
    Sampler,
    name="complexity",
    summary="uniform over the longest cascade of carries, then over pairs that have it",
    pairs=True,
):
    """Pairs whose longest cascade of carries is uniform on 0 to digits; uniform over pairs with that cascade."""

    @override
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        longest = torch.randint(digits + 1, (count,), generator=generator, device=generator.device)
        return draw_pairs(draw_types(CASCADE, digits, longest, generator), generator)


class Chains(
    Sampler,
    name="chains",
    summary="uniform over the longest row of nines, with and without a carry into it",
    pairs=True,
):
    """Pairs whose longest row of places that sum to 9 is uniform on 0 to digits; uniform over pairs with that row.

    Such a row hands a carry on if one comes in, and stays still if none does: unlike `complexity`, this sampler shows
    both, so that a row of nines alone does not tell that there is a carry.
    """

    @override
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        longest = torch.randint(digits + 1, (count,), generator=generator, device=generator.device)
        return draw_pairs(draw_types(NINES, digits, longest, generator), generator)


def _hard(value: Any) -> Sampler:
    return choose(value, {kind.name: kind for kind in (Complexity, Chains)}, "task.sampler.of")


class Mixture(
    Sampler,
    name="mixture",
    summary="complexity (or chains) for a share of the pairs, uniform for the rest",
    pairs=True,
):
    """Each pair from a sampler of hard ones with probability `share`, else uniform."""

    share: float = Field(0.5, ge=0, le=1, description="how many pairs are hard, 0 to 1")
    of: Annotated[SerializeAsAny[Sampler], BeforeValidator(_hard)] = Complexity()

    @override
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        chosen = torch.rand(count, 1, 1, generator=generator, device=generator.device) < self.share
        hard = self.of.draw(count, digits, generator)
        return torch.where(chosen, hard, Uniform().draw(count, digits, generator))


def _inner(value: Any) -> Sampler:
    return choose(value, {k: v for k, v in SAMPLERS.items() if k != "shifted"}, "task.sampler.of")


class Shifted(
    Sampler,
    name="shifted",
    summary="another sampler's numbers times one power of ten that still fits the field",
):
    """Numbers of another sampler with the same number of zeros put on the right of all operands of a sample.

    The number of zeros is uniform on what still fits the field: 0 to width - digits.
    """

    of: Annotated[SerializeAsAny[Sampler], BeforeValidator(_inner)] = Uniform()

    @override
    def places(self, digits: int, width: int) -> int:
        return max(digits, width)

    @override
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        numbers = self.of.draw(count, digits, generator, operands=operands, width=width)
        places = self.places(digits, width)
        by = torch.randint(places - digits + 1, (count, 1, 1), generator=generator, device=generator.device)
        to = by + torch.arange(digits, device=by.device)
        shifted = numbers.new_zeros(*numbers.shape[:2], places)
        return shifted.scatter_(-1, to.expand(numbers.shape), numbers)


SAMPLERS: dict[str, type[Sampler]] = {
    kind.name: kind for kind in (Uniform, Complexity, Chains, Mixture, Shifted)
}


def _chosen(value: Any) -> Sampler:
    return choose(value, SAMPLERS, "task.sampler")


SamplerOption = Annotated[SerializeAsAny[Sampler], BeforeValidator(_chosen)]
"""A sampler by name, or a table with its options."""


def draws_pairs(sampler: Sampler) -> bool:
    """Whether a sampler, or the one that it shifts, draws pairs."""
    return sampler.of.pairs if isinstance(sampler, Shifted) else sampler.pairs
