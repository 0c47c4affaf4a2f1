"""The chain of carries of one sample: what is handed from place to place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CarryChain:
    """What stands at every place before carries, and the carry that arrives there; least significant first.

    With a_p what stands at place p (a sum, a difference, a product of digits), the place hands on

        c_{p+1} = floor((a_p + c_p) / 10),   c_0 = 0,

    a borrow being a carry of -1. A place *propagates* where it hands on something else than it would without the carry
    that arrives. A *cascade* is a place that hands something on by itself, and the places right behind it that
    propagate.

    >>> chain = CarryChain.of([10, 9, 9, 3])
    >>> chain.into, chain.digits, chain.cascades
    ((0, 1, 1, 1), (0, 0, 0, 4), ((0, 2),))
    """

    amounts: tuple[int, ...]
    into: tuple[int, ...]

    @classmethod
    def of(cls, amounts: Sequence[int]) -> "CarryChain":
        """Work out the carries."""
        into = [0]
        for amount in amounts[:-1]:
            into.append((amount + into[-1]) // 10)
        return cls(tuple(amounts), tuple(into[: len(amounts)]))

    @property
    def out(self) -> tuple[int, ...]:
        """The carry that every place hands on."""
        return tuple((amount + carry) // 10 for amount, carry in zip(self.amounts, self.into, strict=True))

    @property
    def digits(self) -> tuple[int, ...]:
        """What is left at every place."""
        return tuple((amount + carry) % 10 for amount, carry in zip(self.amounts, self.into, strict=True))

    @property
    def propagates(self) -> tuple[bool, ...]:
        """Where the carry that arrives decides what is handed on."""
        return tuple(out != amount // 10 for amount, out in zip(self.amounts, self.out, strict=True))

    @property
    def cascades(self) -> tuple[tuple[int, int], ...]:
        """First and last place of every cascade, least significant first."""
        found: list[tuple[int, int]] = []
        for place, (out, propagates) in enumerate(zip(self.out, self.propagates, strict=True)):
            if propagates and found and found[-1][1] == place - 1:
                found[-1] = (found[-1][0], place)
            elif out:
                found.append((place, place))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        rows = zip(self.amounts, self.into, self.out, self.digits, self.propagates, strict=True)
        places = [
            {
                "place": place,
                "amount": amount,
                "carry_in": into,
                "carry_out": out,
                "digit": digit,
                "propagates": propagates,
            }
            for place, (amount, into, out, digit, propagates) in enumerate(rows)
        ]
        return {"places": places, "cascades": [list(cascade) for cascade in self.cascades]}
