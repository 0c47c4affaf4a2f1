"""The symbols of all arithmetic tasks, and numbers as tensors of digits, least significant first, of any length.

A digit's index among the symbols is its value. All arithmetic is one function: `settle` turns the amounts at the places
(sums, differences, products of digits) into digits. It packs 15 places into one integer, so carries are a loop over
packs only.
"""

import string
from collections.abc import Iterable, Sequence
from functools import lru_cache

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.functional import pad

DIGITS = "0123456789"
PAD = 10
PLUS, MINUS, TIMES, EQUALS, BLANK = range(11, 16)
LETTERS = string.ascii_lowercase
FIRST_LETTER = 16

SYMBOLS: tuple[str, ...] = (*DIGITS, "pad", "+", "-", "x", "=", "_", *LETTERS)
"""Every symbol by its index: digits, pad, signs, the blank that an answer is read at, letters of random text."""

ANSWERS = 11
"""Answers are written with digits and pad."""


PACK = 15
"""Places in one integer: 999 times a digit at each of them, and a carry, stay below 2^63."""


def to_digits(numbers: Iterable[int], places: int) -> Int[Tensor, "number place"]:
    """Write whole numbers below 10^places.

    >>> to_digits([123, 40], 4).tolist()
    [[3, 2, 1, 0], [0, 4, 0, 0]]
    """
    written = [[int(digit) for digit in reversed(f"{number:0{places}d}")] for number in numbers]
    if any(len(row) != places for row in written):
        raise ValueError(f"a number has more than {places} digits")
    return torch.tensor(written, dtype=torch.long).reshape(-1, places)


def to_numbers(digits: Int[Tensor, "number place"]) -> list[int]:
    """Read numbers, exactly; pads, signs and blanks read as zero.

    >>> to_numbers(torch.tensor([[3, 2, 1, 10], [0, 4, 0, 0]]))
    [123, 40]
    """
    return [int("".join(map(str, reversed(row))) or "0") for row in read(digits).tolist()]


def read(symbols: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """Pads, signs and blanks read as zero."""
    return symbols.masked_fill(symbols > 9, 0)


def resize(digits: Int[Tensor, "*batch place"], places: int) -> Int[Tensor, "*batch size"]:
    """Add zeros at the top, or cut there."""
    extra = places - digits.shape[-1]
    return pad(digits, (0, extra)) if extra else digits


@lru_cache(maxsize=256)
def _powers(places: int, device: torch.device) -> Int[Tensor, " place"]:
    return torch.tensor([10**place for place in range(places)], device=device)


def settle(amounts: Int[Tensor, "*batch place"], places: int) -> Int[Tensor, "*batch size"]:
    """The `places` digits of sum_p amount_p 10^p; what is above them is dropped.

    Negative totals come out as their ten's complement. Amounts are at most 9 x 999 in size.

    >>> settle(torch.tensor([10, 9, 0]), 3).tolist(), settle(torch.tensor([-1, 0]), 2).tolist()
    ([0, 0, 1], [9, 9])
    """
    if places <= PACK:
        powers = _powers(places, amounts.device)
        total = (resize(amounts, places) * powers).sum(-1, keepdim=True)
        return torch.div(total, powers, rounding_mode="floor").remainder(10)
    powers = _powers(PACK, amounts.device)
    packs = -(-places // PACK)
    totals = (resize(amounts, packs * PACK).unflatten(-1, (packs, PACK)) * powers).sum(-1)
    for pack in range(packs - 1):
        totals[..., pack + 1] += totals[..., pack].div(10**PACK, rounding_mode="floor")
    digits = torch.div(totals.unsqueeze(-1), powers, rounding_mode="floor").remainder(10)
    return digits.flatten(-2)[..., :places]


def add(numbers: Sequence[Int[Tensor, "batch _"]], places: int) -> Int[Tensor, "batch size"]:
    """The sum of up to 9 numbers of any sizes.

    >>> to_numbers(add([to_digits([123], 3), to_digits([4095], 4)], 5))
    [4218]
    """
    return settle(add_places(numbers, places), places)


def add_places(numbers: Sequence[Int[Tensor, "batch _"]], places: int) -> Int[Tensor, "batch size"]:
    """The sums of the digits, place by place, carries left undone."""
    total = resize(numbers[0], places)
    for number in numbers[1:]:
        total = total + resize(number, places)
    return total


def subtract(
    first: Int[Tensor, "batch a"], second: Int[Tensor, "batch b"], places: int
) -> Int[Tensor, "batch size"]:
    """The difference; the ten's complement where `second` is larger.

    >>> to_numbers(subtract(to_digits([1000], 4), to_digits([7], 1), 5))
    [993]
    """
    return settle(resize(first, places) - resize(second, places), places)


def multiply(
    multiplier: Int[Tensor, "batch short"], multiplicand: Int[Tensor, "batch long"], places: int
) -> Int[Tensor, "batch size"]:
    """The product with a multiplier of 1 to 3 digits.

    >>> to_numbers(multiply(to_digits([56], 2), to_digits([4297], 4), 6))
    [240632]
    """
    return settle(scale_places(multiplier, multiplicand), places)


def scale_places(
    multiplier: Int[Tensor, "batch short"], multiplicand: Int[Tensor, "batch long"]
) -> Int[Tensor, "batch long"]:
    """The whole multiplier times every digit, carries left undone."""
    powers = _powers(multiplier.shape[-1], multiplier.device)
    return (multiplier * powers).sum(-1, keepdim=True) * multiplicand


def significant(digits: Int[Tensor, "*batch place"]) -> Bool[Tensor, "*batch place"]:
    """Which digits a person would write: all but leading zeros, and always the units."""
    written = digits.flip(-1).cummax(-1).values.flip(-1) > 0
    written[..., 0] = True
    return written


def strip(digits: Int[Tensor, "*batch place"]) -> Int[Tensor, "*batch place"]:
    """Turn leading zeros into pads.

    >>> strip(torch.tensor([[0, 4, 0, 0], [0, 0, 0, 0]])).tolist()
    [[0, 4, 10, 10], [0, 10, 10, 10]]
    """
    return digits.masked_fill(~significant(digits), PAD)


def below(first: Int[Tensor, "batch place"], second: Int[Tensor, "batch place"]) -> Bool[Tensor, " batch"]:
    """Where the first number is less than the second.

    >>> below(to_digits([19, 21, 7], 2), to_digits([21, 19, 7], 2)).tolist()
    [True, False, False]
    """
    difference = first - second
    place = torch.arange(1, first.shape[-1] + 1, device=first.device)
    top = ((difference != 0) * place).argmax(-1, keepdim=True)
    return difference.gather(-1, top).squeeze(-1) < 0
