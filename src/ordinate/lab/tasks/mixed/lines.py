"""Lines: a list of prices and a question, as a person writes and reads them."""

import re
from typing import NamedTuple

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.mixed.styles import ABSENT
from ordinate.lab.tasks.mixed.vocabulary import LETTERS, QUERIES, SIGNS, UNSEEN_SIGNS
from ordinate.lab.tasks.numbers.sampling import LARGEST

EXAMPLE = "Cata 1.50, Cat+c, Catd 0.25. Find min of categories Cata and Catd."
ALL_SIGNS = SIGNS + UNSEEN_SIGNS
QUESTION = re.compile(rf"(.*)\. Find ({'|'.join(QUERIES)}) of categories (.*)\.")
NAME = re.compile(rf"Cat([{re.escape(ALL_SIGNS)}]?)([A-Za-z])")


class Line(NamedTuple):
    """Letters from 0 and signs from 0 (or `ABSENT`) of all entries; query, letters asked for; prices in order."""

    letters: list[int]
    signs: list[int]
    query: int
    asked: list[int]
    prices: list[float]


def write_line(line: Line, price: str = " %.2f") -> str:
    """Write a line, with every price in this form behind its category.

    >>> write_line(Line([0, 2, 3], [-1, 0, -1], 1, [0, 3], [1.5, 0.25]))
    'Cata 1.50, Cat+c, Catd 0.25. Find min of categories Cata and Catd.'
    """
    left = iter(line.prices)
    entries = (
        f"Cat{LETTERS[letter]}{price % next(left)}"
        if sign == ABSENT
        else f"Cat{ALL_SIGNS[sign]}{LETTERS[letter]}"
        for letter, sign in zip(line.letters, line.signs, strict=True)
    )
    *first, last = (f"Cat{LETTERS[letter]}" for letter in line.asked)
    asked = f"{', '.join(first)} and {last}" if first else last
    return f"{', '.join(entries)}. Find {QUERIES[line.query]} of categories {asked}."


def read_line(text: str) -> Line:
    """Read a line; what is not understood is refused with what to write instead.

    >>> read_line(EXAMPLE)
    Line(letters=[0, 2, 3], signs=[-1, 0, -1], query=1, asked=[0, 3], prices=[1.5, 0.25])
    """
    found = QUESTION.fullmatch(text.strip())
    if not found:
        raise OrdinateError(f"{text!r} is not understood: write {EXAMPLE!r}")
    letters, signs, prices = [], [], []
    for entry in found[1].split(", "):
        name, _, price = entry.partition(" ")
        sign, letter = _read_name(name)
        letters.append(letter)
        signs.append(sign)
        if sign == ABSENT:
            prices.append(_read_price(price, name))
        elif price:
            raise OrdinateError(f"{name} has a sign, and no price: write {name} alone")
    asked = [_read_name(name) for name in re.split(", | and ", found[3])]
    named = {letter for letter, sign in zip(letters, signs, strict=True) if sign == ABSENT}
    for sign, letter in asked:
        if sign != ABSENT or letter not in named:
            raise OrdinateError(
                f"Cat{LETTERS[letter]} is asked for and has no price: write Cat{LETTERS[letter]} 1.50"
            )
    if len(named) < len(prices):
        raise OrdinateError("a category is there twice: write every category once")
    return Line(letters, signs, QUERIES.index(found[2]), [letter for _, letter in asked], prices)


def _read_name(name: str) -> tuple[int, int]:
    """The sign and the letter."""
    found = NAME.fullmatch(name)
    if not found:
        raise OrdinateError(f"{name!r} is not a category: write Cat and one letter, such as Cata")
    return (ALL_SIGNS.index(found[1]) if found[1] else ABSENT), LETTERS.index(found[2])


def _read_price(price: str, name: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?", price) or float(price) > LARGEST:
        raise OrdinateError(f"price {price!r} of {name} is not a number: write {name} 1.50")
    return float(price)
