"""How a list of categories and a question are written: as symbols, letter by letter or only what matters, and as text.

    entries:  (before, [sign], letter, between) for every entry, `end` instead of `between` behind the last
    question: ask, query, of, (before, letter) for every name with `between` or `last` between them, stop

Entries with a sign are one symbol longer than those without; every sample has as many of them, so all are equally long.
"""

import re
import string
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind
from ordinate.lab.tasks.sampling import LARGEST

QUERIES = ("sum", "min", "max")
"""What can be asked, in the order of their symbols."""

LETTERS = string.ascii_letters
SIGNS, UNSEEN_SIGNS = "+-", "*_"
"""Between Cat and a letter they mark an entry without a price: in training, and among unseen names."""

SYMBOLS: tuple[str, ...] = ("price", *LETTERS, *SIGNS, *UNSEEN_SIGNS, *" ,.", *QUERIES)
PRICE = 0
FIRST_LETTER = 1
FIRST_SIGN = FIRST_LETTER + len(LETTERS)
FIRST_QUERY = len(SYMBOLS) - len(QUERIES)


def spell(text: str) -> tuple[int, ...]:
    """The symbols of a text, one a character.

    >>> spell("ab, "), [SYMBOLS[i] for i in spell("Cat+a")]
    ((1, 2, 58, 57), ['C', 'a', 't', '+', 'a'])
    """
    return tuple(SYMBOLS.index(character) for character in text)


ABSENT = -1
"""In a row of symbols that is being written: nothing here."""


class Text(NamedTuple):
    """What a text says, as numbers: letters from 0, signs from 0 or `ABSENT`, queries from 0."""

    letter: Int[Tensor, "batch entry"]
    sign: Int[Tensor, "batch entry"]
    query: Int[Tensor, " batch"]
    asked: Int[Tensor, "batch asked"]

    @property
    def named(self) -> Int[Tensor, "batch category"]:
        """The letters of the categories: entries without a sign."""
        return self.letter[self.sign == ABSENT].view(len(self.letter), -1)


class Style(Kind):
    """Writes a `Text` as symbols, and reads it."""

    before: ClassVar[str] = ""
    between: ClassVar[str] = ""
    end: ClassVar[str] = ""
    ask: ClassVar[str] = ""
    of: ClassVar[str] = ""
    last: ClassVar[str] = ""
    stop: ClassVar[str] = ""
    queries: ClassVar[tuple[tuple[int, ...], ...]]
    """The symbols of every query, equally many."""

    def size(self, entries: int, signs: int, asked: int) -> int:
        """Number of symbols of a text with this many entries, entries with a sign, and names asked for."""
        return self._listed(entries, signs) + len(self._question(asked)[0])

    def write(self, text: Text) -> Int[Tensor, "batch token"]:
        """The symbols of every text."""
        count, entries = text.letter.shape
        device = text.letter.device
        row = [*spell(self.before), ABSENT, ABSENT, *spell(self.between)]
        listed = torch.tensor(row, device=device).repeat(count, entries, 1)
        listed[:, -1, len(row) - len(self.end) :] = torch.tensor(spell(self.end), device=device)
        place = len(self.before)
        listed[..., place] = torch.where(text.sign == ABSENT, ABSENT, text.sign + FIRST_SIGN)
        listed[..., place + 1] = text.letter + FIRST_LETTER
        written = listed.flatten(1)
        written = written[written != ABSENT].view(count, -1)
        symbols, query, asked = self._question(text.asked.shape[1])
        question = torch.tensor(symbols, device=device).repeat(count, 1)
        question[:, query] = torch.tensor(self.queries, device=device)[text.query]
        question[:, asked] = text.asked + FIRST_LETTER
        return torch.cat([written, question], dim=1)

    def read(self, symbols: Int[Tensor, "batch token"], entries: int, signs: int, asked: int) -> Text:
        """What the symbols say; the inverse of `write`."""
        count = len(symbols)
        listed, question = symbols.tensor_split([self._listed(entries, signs)], dim=1)
        ends = self._ends(listed)
        behind = torch.nn.functional.pad(listed, (1, 0))[:, :-1][ends].view(count, -1)
        signed = (behind >= FIRST_SIGN) & (behind < FIRST_SIGN + 4)
        _, query, place = self._question(asked)
        spelled = torch.tensor(self.queries, device=symbols.device)
        return Text(
            listed[ends].view(count, -1) - FIRST_LETTER,
            torch.where(signed, behind - FIRST_SIGN, ABSENT),
            (question[:, query][:, None] == spelled).all(-1).int().argmax(-1),
            question[:, place] - FIRST_LETTER,
        )

    def _ends(self, listed: Int[Tensor, "batch token"]) -> Bool[Tensor, "batch token"]:
        """Where the last letter of an entry is: before the comma or full stop, in styles that have them."""
        ends = (listed >= FIRST_LETTER) & (listed < FIRST_LETTER + len(LETTERS))
        if self.between:
            follows = torch.nn.functional.pad(listed, (0, 1))[:, 1:]
            ends &= (follows == spell(self.between)[0]) | (follows == spell(self.end)[0])
        return ends

    def _listed(self, entries: int, signs: int) -> int:
        return entries * (len(self.before) + 1 + len(self.between)) + signs

    def _question(self, asked: int) -> tuple[list[int], list[int], list[int]]:
        """The symbols of a question, the places of the query in it, and the places of the letters asked for."""
        symbols, places = [*spell(self.ask)], []
        query = [len(symbols) + i for i in range(len(self.queries[0]))]
        symbols += [ABSENT] * len(query) + list(spell(self.of))
        for name in range(asked):
            if name:
                symbols += spell(self.last if name == asked - 1 else self.between)
            symbols += spell(self.before)
            places.append(len(symbols))
            symbols.append(ABSENT)
        return symbols + list(spell(self.stop)), query, places


class Spelled(
    Style,
    name="spelled",
    summary="letter by letter, as published",
    before="Cat",
    between=", ",
    end=". ",
    ask="Find ",
    of=" of categories ",
    last=" and ",
    stop=".",
    queries=tuple(map(spell, QUERIES)),
):
    """Letter by letter, as published: Cata, Cat+c, Catd. Find min of categories Cata and Catd."""


class Words(
    Style,
    name="words",
    summary="one symbol for a name, a sign and a query; nothing else",
    queries=tuple((FIRST_QUERY + i,) for i in range(len(QUERIES))),
):
    """Only what differs between samples, some seven times shorter: a, + c, d, min, a, d."""


STYLES: dict[str, type[Style]] = {style.name: style for style in (Spelled, Words)}


EXAMPLE = "Cata 1.50, Cat+c, Catd 0.25. Find min of categories Cata and Catd."
ALL_SIGNS = SIGNS + UNSEEN_SIGNS
QUESTION = re.compile(rf"(.*)\. Find ({'|'.join(QUERIES)}) of categories (.*)\.")
NAME = re.compile(rf"Cat([{re.escape(ALL_SIGNS)}]?)([A-Za-z])")


class PriceList(NamedTuple):
    """Letters from 0 and signs from 0 (or `ABSENT`) of all entries; query, letters asked for; prices in order."""

    letters: list[int]
    signs: list[int]
    query: int
    asked: list[int]
    prices: list[float]


def write_line(line: PriceList, price: str = " %.2f") -> str:
    """Write a line, with every price in this form behind its category.

    >>> write_line(PriceList([0, 2, 3], [-1, 0, -1], 1, [0, 3], [1.5, 0.25]))
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


def read_line(text: str) -> PriceList:
    """Read a line; what is not understood is refused with what to write instead.

    >>> read_line(EXAMPLE)
    PriceList(letters=[0, 2, 3], signs=[-1, 0, -1], query=1, asked=[0, 3], prices=[1.5, 0.25])
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
    return PriceList(letters, signs, QUERIES.index(found[2]), [letter for _, letter in asked], prices)


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
