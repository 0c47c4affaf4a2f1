"""Lines of digits, signs and letters: where their symbols stand, and how a person writes and types them.

Whatever reads or writes a line goes through its coordinates, so reversed lines, lines without pads and lines with text
in between need no code of their own.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import count, groupby
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.arithmetic.digits import BLANK, EQUALS, MINUS, PAD, PLUS, SYMBOLS, TIMES

ADDENDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
FACTORS = ("multiplier", "multiplicand")
OPERANDS = frozenset(ADDENDS + FACTORS)
TEXT = "text"

Piece = tuple[str, Sequence[int]]
"""A field, and the ordinates of tokens in it that stand one after another."""

Words = tuple[int, int, int]
"""How many letters stand before, between and after the numbers."""

NO_WORDS: Words = (0, 0, 0)


@lru_cache(maxsize=16384)
def lay(*pieces: Piece) -> Coordinates:
    """Lay pieces one after another; pieces of one name are one field, text is counted through and named last.

    >>> lay(("text", range(1)), ("first", (1, 0)), ("text", range(2)))
    Coordinates(fields=('first', 'text'), field=(1, 0, 0, 1, 1), ordinate=(0, 1, 0, 1, 2))
    """
    letters = count()
    tokens = [
        (name, next(letters) if name == TEXT else ordinate)
        for name, ordinates in pieces
        for ordinate in ordinates
    ]
    names = dict.fromkeys(name for name, _ in tokens)
    fields = tuple(sorted(names, key=TEXT.__eq__))
    number = {name: i for i, name in enumerate(fields)}
    return Coordinates(fields, tuple(number[name] for name, _ in tokens), tuple(o for _, o in tokens))


@lru_cache(maxsize=65536)
def slots(coordinates: Coordinates, name: str) -> Int[Tensor, " place"]:
    """The tokens of a field by ordinate, least significant first; none where there is no such field."""
    if name not in coordinates.fields:
        return torch.empty(0, dtype=torch.long)
    field = coordinates.fields.index(name)
    tokens = [token for token, of in enumerate(coordinates.field) if of == field]
    return torch.tensor(sorted(tokens, key=coordinates.ordinate.__getitem__), dtype=torch.long)


@lru_cache(maxsize=65536)
def answer_field(coordinates: Coordinates) -> str:
    """The field at which the answer is read: one of its own, or else the last operand's."""
    if "answer" in coordinates.fields:
        return "answer"
    return [name for name in coordinates.fields if name in OPERANDS][-1]


@lru_cache(maxsize=16384)
def scored_tokens(coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
    """The tokens at which the answer is read, as a column."""
    scored = torch.zeros(len(coordinates), 1, dtype=torch.bool)
    scored[slots(coordinates, answer_field(coordinates))] = True
    return scored


@lru_cache(maxsize=16384)
def blank_line(coordinates: Coordinates, sign: int) -> Int[Tensor, " token"]:
    """A line with its signs, and pads where numbers and text go.

    A sign without a field of its own is the top token of the number that it stands before.
    """
    line = torch.full((len(coordinates),), PAD)
    line[slots(coordinates, "sign")] = sign
    line[slots(coordinates, "equals")] = EQUALS
    line[slots(coordinates, "answer")] = BLANK
    if "sign" not in coordinates.fields:
        for name in coordinates.fields:
            if name in ADDENDS[1:]:
                line[slots(coordinates, name)[-1]] = sign
    return line


@lru_cache(maxsize=16384)
def free_tokens(coordinates: Coordinates, length: int) -> tuple[int, ...]:
    """The tokens of digits that numbers of this length may have; of a multiplier all of them."""
    return tuple(
        token
        for token, (field, ordinate) in enumerate(zip(coordinates.field, coordinates.ordinate, strict=True))
        if (name := coordinates.fields[field]) == "multiplier" or (name in OPERANDS and ordinate < length)
    )


@lru_cache(maxsize=16384)
def room(coordinates: Coordinates) -> int:
    """Places that numbers may have so that every answer fits: those of the answer without the ones that it may add."""
    added = len(slots(coordinates, "multiplier")) or 1
    return len(slots(coordinates, answer_field(coordinates))) - added


def write_line(symbols: list[int], coordinates: Coordinates) -> str:
    """Write a line as a person does: numbers most significant digit first, no leading pads, no blanks.

    >>> c = lay(("first", (2, 1, 0)), ("text", (0,)), ("second", (3, 2, 1, 0)))
    >>> write_line([10, 1, 2, 16, 11, 10, 10, 7], c)
    '12 a + 7'
    """
    words = []
    for field, run in groupby(range(len(coordinates)), coordinates.field.__getitem__):
        tokens = list(run)
        if coordinates.fields[field] in OPERANDS | {"answer"}:
            tokens.sort(key=coordinates.ordinate.__getitem__, reverse=True)
        written = [symbols[token] for token in tokens]
        if coordinates.fields[field] in OPERANDS and PAD < written[0] < BLANK:
            words.append(SYMBOLS[written.pop(0)])
        words.append(write_number(written) if written else "")
    return " ".join(word for word in words if word)


def write_number(symbols: list[int]) -> str:
    """Write symbols in reading order, without leading pads; a pad further on is a zero."""
    while symbols and symbols[0] in (PAD, BLANK):
        symbols = symbols[1:]
    return "".join("0" if symbol == PAD else SYMBOLS[symbol] for symbol in symbols if symbol != BLANK)


SPELLINGS = {PLUS: "+", MINUS: "-\N{MINUS SIGN}", TIMES: "x*\N{MULTIPLICATION SIGN}"}
"""How each sign may be typed."""


class TypedLine(NamedTuple):
    """The numbers without leading zeros, and the letters before, between and after them."""

    numbers: tuple[str, ...]
    texts: tuple[str, ...]


def read_line(text: str, sign: int, count: int, example: str) -> TypedLine:
    """Read `count` numbers with a sign in front of all but the first; letters may stand where `show` writes them.

    >>> read_line("123+4095", PLUS, 2, "4095+123").numbers
    ('123', '4095')
    >>> read_line("ab 12 c x 007 =", TIMES, 2, "4x4095")
    TypedLine(numbers=('12', '7'), texts=('ab', 'c', ''))
    >>> read_line("12+", PLUS, 2, "4095+123")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: '12+' is not understood: write 2 whole numbers and a sign, such as 4095+123
    """
    signs = re.escape(SPELLINGS[sign])
    more = rf"([a-z\s]*?)\s*[{signs}]\s*([0-9]+)" * (count - 1)
    found = re.fullmatch(rf"\s*([a-z\s]*?)([0-9]+){more}\s*=?([a-z\s]*)", text)
    if found is None:
        what = "a sign" if count == 2 else f"{count - 1} signs"
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        raise OrdinateError(
            f"{shown!r} is not understood: write {count} whole numbers and {what}, such as {example}"
        )
    parts = found.groups()
    numbers = tuple(part.lstrip("0") or "0" for part in parts[1::2])
    return TypedLine(numbers, tuple("".join(part.split()) for part in parts[::2]))


def has_sign(text: str, sign: int) -> bool:
    """Whether a line has this sign in front of a number.

    >>> has_sign("5 x 12", TIMES), has_sign("5x + 12", TIMES)
    (True, False)
    """
    return re.search(rf"[{re.escape(SPELLINGS[sign])}]\s*[0-9]", text) is not None
