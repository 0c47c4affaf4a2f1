"""Lines that a person types: numbers with signs between them, and perhaps text around them."""

import re
from typing import NamedTuple

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.arithmetic.vocabulary import MINUS, PLUS, TIMES

SPELLINGS = {PLUS: "+", MINUS: "-\N{MINUS SIGN}", TIMES: "x*\N{MULTIPLICATION SIGN}"}
"""How each sign may be typed."""


class Line(NamedTuple):
    """The numbers without leading zeros, and the letters before, between and after them."""

    numbers: tuple[str, ...]
    texts: tuple[str, ...]


def read_line(text: str, sign: int, count: int, example: str) -> Line:
    """Read `count` numbers with a sign in front of all but the first; letters may stand where `show` writes them.

    >>> read_line("123+4095", PLUS, 2, "4095+123").numbers
    ('123', '4095')
    >>> read_line("ab 12 c x 007 =", TIMES, 2, "4x4095")
    Line(numbers=('12', '7'), texts=('ab', 'c', ''))
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
    return Line(numbers, tuple("".join(part.split()) for part in parts[::2]))


def has_sign(text: str, sign: int) -> bool:
    """Whether a line has this sign in front of a number.

    >>> has_sign("5 x 12", TIMES), has_sign("5x + 12", TIMES)
    (True, False)
    """
    return re.search(rf"[{re.escape(SPELLINGS[sign])}]\s*[0-9]", text) is not None
