"""The search: which states occur, with what they stand for, level by level until the sets repeat.

After t loops a token's state stands for a window of 2^t tokens that ends at it, or for the whole prefix where this is
shorter. With f_w the transition function of the exact machine over a word w, let

    S_t = {(state of w, f_w): w a window of 2^t tokens, not at the beginning}
    A_t = {(state of w, f_w): w a prefix of 1 to 2^t tokens}

Windows are made of two windows and longer prefixes of a prefix and a window, so that

    S_{t+1} = {(F(p, q), g after f): (p, f), (q, g) in S_t}
    A_{t+1} = A_t and {(F(p, q), g after f): (p, f) in A_t, (q, g) in S_t}

There are finitely many pairs, so (S_t, A_t) repeats. If then at every pair of an A_t every next token is answered as
the exact machine answers it, the model is right at every length; if not, the pair's shortest prefix and that token are
the shortest word that it gets wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ordinate.lab.proofs.finite import Certain, Finite
from ordinate.lab.tasks.automata.machine import Machine

MOST_STATES = 4096
MOST_PAIRS = 2**22
"""Products of pairs in one level."""
SHIFT = 32
"""A pair as one whole number: the state, then the function."""


@dataclass(frozen=True)
class Level:
    """The pairs of one level, as rows [state, function]."""

    windows: Int[Tensor, "window 2"]
    prefixes: Int[Tensor, "prefix 2"]


@dataclass
class Found:
    """What a search came to."""

    levels: list[Level] = field(default_factory=list)
    repeats: int | None = None
    """The level that comes behind the last one, where the sets repeat."""
    wrong: tuple[int, ...] | None = None
    """The shortest word whose last token is answered wrongly."""
    stopped: str = ""
    """Why the search was not ended."""


@dataclass
class Margins:
    """How near to a border anything came, and the largest bound of an error."""

    distance: float = float("inf")
    error: float = 0.0
    unsure: int = 0

    def see(self, certain: Certain) -> Int[Tensor, " row"]:
        """Take note, and give back what was found."""
        if len(certain.found):
            self.distance = min(self.distance, float(certain.distance.min()))
            self.error = max(self.error, float(certain.error.max()))
            self.unsure += int((~certain.sure).sum())
        return certain.found


class _Numbered:
    """Things numbered in the order in which they come, and a table of products of their numbers."""

    def __init__(self) -> None:
        self.number: dict[object, int] = {}
        self.products = torch.full((16, 16), -1, dtype=torch.long)

    def of(self, things: Sequence[object]) -> Int[Tensor, " thing"]:
        found = torch.tensor(
            [self.number.setdefault(thing, len(self.number)) for thing in things], dtype=torch.long
        )
        while len(self.number) > len(self.products):
            grown = torch.full([2 * size for size in self.products.shape], -1, dtype=torch.long)
            grown[: len(self.products), : len(self.products)] = self.products
            self.products = grown
        return found

    def missing(self, left: Int[Tensor, " one"], right: Int[Tensor, " other"]) -> Int[Tensor, "product 2"]:
        """The products of some with some that are not in the table yet."""
        left, right = left.unique(), right.unique()
        places = (self.products[left[:, None], right] < 0).nonzero()
        return torch.stack([left[places[:, 0]], right[places[:, 1]]], 1)


@dataclass
class _Pairs:
    """Pairs in the order in which they came, each with its shortest word: a letter, or two shorter words."""

    code: Int[Tensor, " pair"]
    length: Int[Tensor, " pair"]
    left: Int[Tensor, " pair"]
    right: Int[Tensor, " pair"]
    """The letter where `left` is -1."""

    @property
    def state(self) -> Int[Tensor, " pair"]:
        return self.code >> SHIFT

    @property
    def function(self) -> Int[Tensor, " pair"]:
        return self.code & ((1 << SHIFT) - 1)


class Search:
    """One search, step by step: `Search(finite, letters, machine).go()`."""

    def __init__(self, finite: Finite, letters: Float[Tensor, "letter feature"], machine: Machine) -> None:
        self.finite, self.letters, self.machine = finite, letters, machine
        self.step, self.emit = torch.tensor(machine.step), torch.tensor(machine.emit)
        self.first, self.later = first_and_later(machine)
        self.states, self.functions, self.margins = _Numbered(), _Numbered(), Margins()
        self.codes: list[int] = []
        self.alone = self._states(self.margins.see(finite.alone(letters)))
        self.begin = self._states(self.margins.see(finite.begin()))
        self.over = self._functions(self.step.T)
        self.windows: list[_Pairs] = []
        self.level_of: list[int] = []
        self.answered: dict[int, Tensor] = {}

    def _states(self, codes: Int[Tensor, " row"]) -> Int[Tensor, " row"]:
        found = self.states.of(codes.tolist())
        self.codes = list(self.states.number)  # type: ignore[arg-type]
        return found

    def _functions(self, rows: Int[Tensor, "function state"]) -> Int[Tensor, " function"]:
        return self.functions.of([tuple(row) for row in rows.tolist()])

    def go(self) -> Found:
        """Search until the sets repeat, an answer is wrong, or there is too much."""
        found = Found()
        self.windows = [self._letters(self.later)]
        prefixes = self._letters(self.first)
        self.level_of = [0] * len(prefixes.code)
        if (wrong := self._wrong_at_once()) is not None:
            found.wrong = (wrong,)
            return found
        seen: dict[tuple[bytes, int], int] = {}
        checked = 0
        while True:
            windows = self.windows[-1]
            if (word := self._wrong(prefixes, checked)) is not None:
                found.wrong = word
                return found
            checked = len(prefixes.code)
            key = (windows.code.sort().values.numpy().tobytes(), checked)
            if key in seen:
                found.repeats = seen[key]
                return found
            seen[key] = len(found.levels)
            found.levels.append(Level(*(torch.stack([p.state, p.function], 1) for p in (windows, prefixes))))
            if reason := self._too_much(windows, prefixes):
                found.stopped = reason
                return found
            level = len(found.levels) - 1
            longer = self._products(prefixes, windows, level)
            fresh = ~torch.isin(longer.code, prefixes.code)
            prefixes = _Pairs(
                *(
                    torch.cat([getattr(prefixes, name), getattr(longer, name)[fresh]])
                    for name in ("code", "length", "left", "right")
                )
            )
            self.level_of += [level] * int(fresh.sum())
            self.windows.append(self._products(windows, windows, level))

    def _letters(self, chosen: Int[Tensor, " letter"]) -> _Pairs:
        code = (self.alone[chosen] << SHIFT) | self.over[chosen]
        return _first_of(code, torch.ones_like(code), torch.full_like(code, -1), chosen)

    def _too_much(self, windows: _Pairs, prefixes: _Pairs) -> str:
        if len(self.codes) > MOST_STATES:
            return f"more than {MOST_STATES} states occur"
        products = max(len(windows.code), len(prefixes.code)) * len(windows.code)
        return (
            f"a level has {products} products of pairs, more than {MOST_PAIRS}"
            if products > MOST_PAIRS
            else ""
        )

    def _products(self, left: _Pairs, right: _Pairs, level: int) -> _Pairs:
        """All pairs of one, followed by all of another."""
        missing = self.states.missing(left.state, right.state)
        if len(missing):
            codes = torch.tensor(self.codes)
            after = self._states(
                self.margins.see(self.finite.step(codes[missing[:, 0]], codes[missing[:, 1]]))
            )
            self.states.products[missing[:, 0], missing[:, 1]] = after
        missing = self.functions.missing(left.function, right.function)
        if len(missing):
            listed = torch.tensor(list(self.functions.number))
            composed = self._functions(listed[missing[:, 1]].gather(1, listed[missing[:, 0]]))
            self.functions.products[missing[:, 0], missing[:, 1]] = composed
        state = self.states.products[left.state[:, None], right.state]
        function = self.functions.products[left.function[:, None], right.function]
        ones, others = torch.meshgrid(
            torch.arange(len(left.code)), torch.arange(len(right.code)), indexing="ij"
        )
        length = left.length[ones] + 2**level
        return _first_of(*(x.flatten() for x in ((state << SHIFT) | function, length, ones, others)))

    def _wrong_at_once(self) -> int | None:
        """A word of one token that is answered wrongly."""
        before = torch.tensor(self.codes)[self.begin].expand(len(self.first))
        answers = self.margins.see(self.finite.answer(before, self.letters[self.first]))
        wrong = (answers != self.emit[self.machine.start, self.first]).nonzero()
        return int(self.first[wrong[0, 0]]) if len(wrong) else None

    def _wrong(self, prefixes: _Pairs, checked: int) -> tuple[int, ...] | None:
        """The shortest of the words behind new pairs that is answered wrongly."""
        states, functions = prefixes.state[checked:], prefixes.function[checked:]
        if not len(states):
            return None
        new = [state for state in states.unique().tolist() if state not in self.answered]
        if new:
            before = torch.tensor(self.codes)[new].repeat_interleave(len(self.later))
            letters = self.letters[self.later].repeat(len(new), 1)
            answers = self.margins.see(self.finite.answer(before, letters)).view(len(new), -1)
            self.answered.update(zip(new, answers, strict=True))
        reached = torch.tensor(list(self.functions.number))[functions, self.machine.start]
        answers = torch.stack([self.answered[state] for state in states.tolist()])
        wrong = (answers != self.emit[reached][:, self.later]).nonzero()
        if not len(wrong):
            return None
        shortest = wrong[prefixes.length[checked + wrong[:, 0]].argmin()]
        return (*self._prefix(prefixes, checked + int(shortest[0])), int(self.later[shortest[1]]))

    def _prefix(self, prefixes: _Pairs, place: int) -> list[int]:
        """The shortest prefix of a pair."""
        parts: list[list[int]] = []
        while prefixes.left[place] >= 0:
            parts.append(self._window(self.level_of[place], int(prefixes.right[place])))
            place = int(prefixes.left[place])
        return [int(prefixes.right[place]), *(letter for part in reversed(parts) for letter in part)]

    def _window(self, level: int, place: int) -> list[int]:
        """A window of a pair."""
        pairs = self.windows[level]
        if pairs.left[place] < 0:
            return [int(pairs.right[place])]
        return self._window(level - 1, int(pairs.left[place])) + self._window(
            level - 1, int(pairs.right[place])
        )


def first_and_later(machine: Machine) -> tuple[Int[Tensor, " first"], Int[Tensor, " later"]]:
    """The symbols that a word can begin with, and those that can follow: an acceptor reads ^ first and only there."""
    symbols = torch.arange(len(machine.symbols))
    return (symbols[:1], symbols[1:]) if machine.recognises else (symbols, symbols)


def _first_of(code: Tensor, length: Tensor, left: Tensor, right: Tensor) -> _Pairs:
    """Every pair once, with the shortest of its words."""
    order = length.argsort(stable=True)
    order = order[code[order].argsort(stable=True)]
    code = code[order]
    keep = torch.ones_like(code, dtype=torch.bool)
    keep[1:] = code[1:] != code[:-1]
    order = order[keep]
    return _Pairs(code[keep], length[order], left[order], right[order])
