"""Regular expressions, with `and` and `not`, as minimal acceptors.

    a "ab" .         a symbol: one character, or several in quotes; any symbol
    [ab] [0-9]       one of these symbols
    (...) ()         grouping; the empty string
    e* e+ e? e{3} e{2,5} e{2,}     repetition
    ~e               every string that e does not match; it holds for e and its repetition: ~(01)* is ~((01)*)
    e f              one after the other; spaces mean nothing
    e & f            strings that both match
    e | f            strings that one of them matches

The list goes from what binds most to what binds least. An expression becomes an automaton with several ways (Thompson
1968), whose sets of states are the states of the acceptor; `&` and `~` are worked out on acceptors.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from typing import NamedTuple, NoReturn

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.automata.machine import BEGIN, Machine

MOST_STATES = 1024
DEEPEST = 50
"""Brackets inside brackets."""
MOST_DIGITS = 4
"""Of a number of repetitions."""
SPECIAL = "()[]{}|&~*+?.^\\\"'"


@lru_cache(maxsize=256)
def regular(expression: str, symbols: str | tuple[str, ...] = (), limit: int = MOST_STATES) -> Machine:
    """The minimal acceptor of the strings that an expression matches.

    It reads the symbols of the expression, in the order of their characters, and those of `symbols`: what `.` and `~`
    mean depends on them. Refused where an acceptor on the way has more than `limit` states.

    >>> machine = regular("(01)*")
    >>> machine.symbols, machine.states
    (('^', '0', '1'), 3)
    >>> [word for word in ("", "01", "0110") if machine.accepts(word)]
    ['', '01']
    >>> regular("~(.*11.*) & .*1", symbols="01").equals(regular("(0|10)*1")) is None
    True
    >>> regular("(01")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: expression '(01' ends at place 4, where ) is expected
    """
    parser = Parser(expression)
    tree = parser.whole()
    names = tuple(sorted({*parser.found, *symbols}))
    if not names:
        raise OrdinateError(f"expression {expression!r} has no symbols: write some, or symbols='01'")
    return Builder(names, limit).acceptor(tree)


class Letters(NamedTuple):
    """One symbol of these; any where none is named."""

    names: tuple[str, ...]


class Joined(NamedTuple):
    """One part after another; the empty string where there is none."""

    parts: tuple["Tree", ...]


class Either(NamedTuple):
    """What one of the parts matches."""

    options: tuple["Tree", ...]


class Both(NamedTuple):
    """What all parts match."""

    all: tuple["Tree", ...]


class Other(NamedTuple):
    """What the inner part does not match."""

    inner: "Tree"


class Repeated(NamedTuple):
    """A part again and again: at least so often, at most so often where there is a bound."""

    inner: "Tree"
    least: int
    most: int | None


Tree = Letters | Joined | Either | Both | Other | Repeated


@dataclass
class Parser:
    """Reads an expression from left to right; what is wrong is said with its place, counted from 1."""

    text: str
    place: int = 0
    depth: int = 0
    found: set[str] = field(default_factory=set)
    """The symbols read so far."""

    def whole(self) -> Tree:
        """The whole expression."""
        tree = self.either()
        if self.next():
            self.refuse("a symbol, an operator or the end")
        return tree

    def either(self) -> Tree:
        """What `|` joins."""
        options = [self.both()]
        while self.takes("|"):
            options.append(self.both())
        return options[0] if len(options) == 1 else Either(tuple(options))

    def both(self) -> Tree:
        """What `&` joins."""
        parts = [self.joined()]
        while self.takes("&"):
            parts.append(self.joined())
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def joined(self) -> Tree:
        """What stands side by side."""
        parts = [self.factor()]
        while self.next() and self.next() not in ")|&":
            parts.append(self.factor())
        return parts[0] if len(parts) == 1 else Joined(tuple(parts))

    def factor(self) -> Tree:
        """A part with its repetitions, negated or not."""
        if self.takes("~"):
            return Other(self.inside(self.factor))
        tree = self.atom()
        while (sign := self.next()) and sign in "*+?{":
            self.place += 1
            least, most = (
                self.bounds() if sign == "{" else {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
            )
            tree = Repeated(tree, least, most)
        return tree

    def atom(self) -> Tree:
        """A symbol, one of several, any, or a group."""
        if self.takes("("):
            if self.takes(")"):
                return Joined(())
            tree = self.inside(self.either)
            self.expect(")")
            return tree
        if self.takes("["):
            return self.choice()
        if self.takes("."):
            return Letters(())
        return Letters((self.symbol("a symbol, ( or ~"),))

    def inside(self, read: Callable[[], Tree]) -> Tree:
        """What stands inside something else, which may not go on for ever."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise OrdinateError(f"an expression has at most {DEEPEST} brackets inside brackets: write fewer")
        tree = read()
        self.depth -= 1
        return tree

    def choice(self) -> Letters:
        """The inside of `[ab0-9]`."""
        names: list[str] = []
        while not (names and self.takes("]")):
            first = self.symbol("a symbol or ]" if names else "a symbol")
            last = self.symbol("a symbol") if self.next() == "-" and self.takes("-") else first
            if last != first and not (len(first) == len(last) == 1 and first < last):
                raise OrdinateError(
                    f"expression {self.text!r}: {first}-{last} is no range of symbols: write one such as 0-9"
                )
            between = range(ord(first) + 1, ord(last) + 1) if last != first else ()
            names += [first, *map(chr, between)]
        self.found.update(names)
        return Letters(tuple(names))

    def bounds(self) -> tuple[int, int | None]:
        """The inside of `{2,5}`."""
        least = self.number()
        most: int | None = least
        if self.takes(","):
            most = None if self.next() == "}" else self.number()
        place = self.place
        self.expect("}")
        if most is not None and most < least:
            self.place = place
            self.refuse(f"a number from {least} up")
        return least, most

    def number(self) -> int:
        """A number of repetitions."""
        self.next()
        digits = re.match("[0-9]*", self.text[self.place :])[0]  # type: ignore[index]
        if not 1 <= len(digits) <= MOST_DIGITS:
            self.refuse(f"a number of at most {MOST_DIGITS} digits")
        self.place += len(digits)
        return int(digits)

    def symbol(self, expected: str) -> str:
        """A character that means nothing else, or what stands between quotes."""
        sign = self.next()
        if sign and sign in "\"'":
            end = self.text.find(sign, self.place + 1)
            name = self.text[self.place + 1 : end]
            if end < 0 or not name or name == BEGIN or any(map(str.isspace, name)):
                self.place = len(self.text) if end < 0 else self.place
                self.refuse(
                    f"the quote {sign}" if end < 0 else f"a quoted symbol without spaces, other than {BEGIN}"
                )
            self.place = end + 1
        elif sign and sign not in SPECIAL:
            name = sign
            self.place += 1
        else:
            self.refuse(expected)
        self.found.add(name)
        return name

    def next(self) -> str:
        """The next character that is no space; empty at the end."""
        while self.text[self.place : self.place + 1].isspace():
            self.place += 1
        return self.text[self.place : self.place + 1]

    def takes(self, sign: str) -> bool:
        """Whether the next character is this one, which is then read."""
        if self.next() != sign:
            return False
        self.place += 1
        return True

    def expect(self, sign: str) -> None:
        """Read this character."""
        if not self.takes(sign):
            self.refuse(sign)

    def refuse(self, expected: str) -> NoReturn:
        """Say where reading stopped, and what would go on."""
        shown = self.text if len(self.text) <= 60 else f"{self.text[:57]}..."
        got = self.next()
        if not got:
            raise OrdinateError(
                f"expression {shown!r} ends at place {self.place + 1}, where {expected} is expected"
            )
        quoted = f" (a symbol {got} is written in quotes)" if got in SPECIAL else ""
        raise OrdinateError(
            f"expression {shown!r} has {got} at place {self.place + 1}, where {expected} is expected{quoted}"
        )


class Builder:
    """Automata with several ways: `ways[state][symbol]`, and `free[state]`, ways on which nothing is read."""

    def __init__(self, names: tuple[str, ...], limit: int) -> None:
        self.names, self.limit = names, limit
        self.ways: list[dict[int, int]] = []
        self.free: list[list[int]] = []

    def acceptor(self, tree: Tree) -> Machine:
        """The minimal acceptor of an expression."""
        if isinstance(tree, Both):
            return reduce(self.both, map(self.acceptor, tree.all))
        if isinstance(tree, Other):
            return self.acceptor(tree.inner).complement().minimised()
        builder = Builder(self.names, self.limit)
        begin, end = builder.part(tree)
        return builder.determined(begin, end)

    def both(self, one: Machine, other: Machine) -> Machine:
        """What both accept."""
        return self.small(one.product(other, min)).minimised()

    def small(self, machine: Machine) -> Machine:
        """The machine, refused where it is too large."""
        return machine if machine.states <= self.limit else self.refuse()

    def refuse(self) -> NoReturn:
        """Say that there are too many states."""
        raise OrdinateError(
            f"the expression needs more than {self.limit} states on the way: "
            "write a shorter one, or fewer repetitions"
        )

    def part(self, tree: Tree) -> tuple[int, int]:
        """Add the automaton of a part: its first and its last state."""
        begin, end = self.state(), self.state()
        match tree:
            case Letters(names):
                for name in names or self.names:
                    self.ways[begin][self.names.index(name)] = end
            case Joined(parts):
                self.chain(begin, end, parts)
            case Either(options):
                for option in options:
                    self.chain(begin, end, (option,))
            case Repeated(inner, least, most):
                here = begin
                for _ in range(least):
                    here = self.after(here, inner)
                if most is None:
                    self.free[self.after(turn := self.after(here, None), inner)].append(turn)
                    self.free[turn].append(end)
                else:
                    for _ in range(most - least):
                        self.free[here].append(end)
                        here = self.after(here, inner)
                    self.free[here].append(end)
            case Both() | Other():
                self.embed(self.acceptor(tree), begin, end)
        return begin, end

    def after(self, here: int, tree: Tree | None) -> int:
        """A new state behind a part that begins here; behind nothing where there is no part."""
        if tree is None:
            last = self.state()
            self.free[here].append(last)
            return last
        first, last = self.part(tree)
        self.free[here].append(first)
        return last

    def chain(self, begin: int, end: int, parts: Sequence[Tree]) -> None:
        """Lead from begin to end through the parts."""
        for tree in parts:
            begin = self.after(begin, tree)
        self.free[begin].append(end)

    def embed(self, machine: Machine, begin: int, end: int) -> None:
        """Lead from begin to end through an acceptor."""
        states = [self.state() for _ in machine.step]
        self.free[begin].append(states[machine.start])
        for state, row in zip(states, machine.step, strict=True):
            self.ways[state] = {symbol: states[target] for symbol, target in enumerate(row[1:])}
        for accepting in machine.accepting:
            self.free[states[accepting]].append(end)

    def state(self) -> int:
        """A new state."""
        if len(self.ways) > 8 * self.limit:
            self.refuse()
        self.ways.append({})
        self.free.append([])
        return len(self.ways) - 1

    def closed(self, states: frozenset[int]) -> frozenset[int]:
        """These states and those that are reached without reading."""
        seen, waiting = set(states), list(states)
        while waiting:
            for target in self.free[waiting.pop()]:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return frozenset(seen)

    def determined(self, begin: int, end: int) -> Machine:
        """The minimal acceptor: its states are sets of states, those that have ways on or are the last one."""
        kept = {state for state, ways in enumerate(self.ways) if ways} | {end}
        reached = [self.closed(frozenset([state])) & kept for state in range(len(self.ways))]
        sets = {reached[begin]: 0}
        waiting, step = [reached[begin]], []
        for states in waiting:  # grows while it is read
            targets: list[set[int]] = [set() for _ in self.names]
            for state in states:
                for symbol, target in self.ways[state].items():
                    targets[symbol] |= reached[target]
            row = []
            for target_set in map(frozenset, targets):
                if target_set not in sets:
                    sets[target_set] = len(sets)
                    waiting.append(target_set)
                row.append(sets[target_set])
            if len(sets) > self.limit:
                self.refuse()
            step.append(row)
        accepting = [number for states, number in sets.items() if end in states]
        return Machine.acceptor(self.names, step, 0, accepting).minimised()
