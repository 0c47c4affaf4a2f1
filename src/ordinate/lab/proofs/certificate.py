"""Certificates: what was found, as a file that is checked anew without searching.

A certificate holds tables (the state of every letter and of the beginning, the step on pairs of states) and an
invariant: for every level, pairs of a state and a transition function of the exact machine. The checker computes every
entry of the tables again from the weights, with bounds of the error in float32, and then sees that the invariant

- holds at the beginning: level 0 has the letters,
- is kept: what a level's pairs make is in the next level; behind the last one comes the level `repeats`,
- is enough: at every prefix, the answer to every next letter is that of the exact machine,

which is a proof by induction over the loops. Sets may be larger than need be: that makes a proof harder, not wrong.
The exact machine is that of the task which the weights' own file names; nothing of it is taken from the certificate.
"""

import hashlib
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from jaxtyping import Int
from pydantic import BaseModel, ConfigDict, ValidationError
from torch import Tensor

from ordinate.errors import OrdinateError, explain
from ordinate.lab.architectures import Scan
from ordinate.lab.proofs.finite import Certain, Finite, pack, unpack
from ordinate.lab.proofs.search import Found, Search, first_and_later
from ordinate.lab.runs import read_json
from ordinate.lab.runs.files import parse_tensors, write_json
from ordinate.lab.training import Recipe
from ordinate.lab.training.weights import restore
from ordinate.lab.zoo.verify import read_model

CLAIM = "every token of every word of every length is answered as by the exact machine of the task"
ASSUMED = (
    "relation: leap, back 1, 2, 4, ... places; a token without a partner stays as it is",
    "states: signs, +1 where the number is at least 0",
    "arithmetic: float32 or more precise, sums in any order, with or without fused multiply-add; no TF32, no bfloat16",
    "answer: the output with the largest score",
)


class Part(BaseModel):
    """A table of a certificate: unknown keys refused, numbers as they are."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LevelPairs(Part):
    """The invariant of one level: pairs of the number of a state and the number of a function."""

    windows: list[list[int]]
    prefixes: list[list[int]]


class Certificate(Part):
    """All that the checker reads."""

    format: Literal["ordinate-proof"] = "ordinate-proof"
    version: Literal[1] = 1
    claim: str
    assumed: list[str]
    weights: str
    """The file with the weights, from the folder of the certificate."""
    sha256: str
    distance: float
    error: float
    states: list[str]
    """Signs, such as +-+."""
    functions: list[list[int]]
    """Where the exact machine goes, by state."""
    letters: list[int]
    """The state of every symbol by itself."""
    begin: int
    step: list[list[int]]
    """Rows [state a leap back, own state, state after]."""
    levels: list[LevelPairs]
    repeats: int

    def write(self, path: Path) -> None:
        """Write it, with the place of the weights as seen from there."""
        from_here = os.path.relpath(self.weights, path.resolve().parent)
        write_json(path, self.model_copy(update={"weights": Path(from_here).as_posix()}).model_dump())


def certificate(search: Search, found: Found, weights: Path) -> Certificate:
    """The certificate of a search that ended well."""
    assert found.repeats is not None
    table = search.states.products
    known = (table >= 0).nonzero()
    return Certificate(
        claim=CLAIM,
        assumed=list(ASSUMED),
        weights=str(weights.resolve()),
        sha256=hashlib.sha256(read_model(weights)).hexdigest(),
        distance=search.margins.distance,
        error=search.margins.error,
        states=[_written(row) for row in unpack(torch.tensor(search.codes), search.finite.width)],
        functions=[list(function) for function in search.functions.number],  # type: ignore[call-overload]
        letters=search.alone.tolist(),
        begin=int(search.begin),
        step=torch.cat([known, table[known[:, 0], known[:, 1]][:, None]], 1).tolist(),
        levels=[LevelPairs(windows=x.windows.tolist(), prefixes=x.prefixes.tolist()) for x in found.levels],
        repeats=found.repeats,
    )


def _written(signs: Tensor) -> str:
    return "".join("+" if sign > 0 else "-" for sign in signs.tolist())


def is_certificate(path: Path) -> bool:
    """Whether a path is to be read as a certificate: a JSON document."""
    return path.suffix == ".json" and path.is_file()


def read_certificate(path: Path) -> Certificate:
    """Read a certificate; what is wrong with it is said in one line."""
    try:
        return Certificate.model_validate(read_json(path))
    except ValidationError as error:
        raise explain(error, str(path), Certificate) from None


class _Broken(Exception):  # noqa: N818, an answer rather than an error
    """What does not hold."""


def check_certificate(path: Path) -> dict[str, Any]:
    """Check a certificate against the weights that it names: `holds`, and where it does not, what is `broken`."""
    held = read_certificate(path)
    file = path.resolve().parent / held.weights
    if not file.is_file():
        raise OrdinateError(
            f"{path} is about the weights in {held.weights}, which are not there: put them back"
        )
    data = read_model(file)
    facts = {
        "kind": "proof",
        "file": str(path),
        "weights": str(file),
        "sha256": held.sha256,
        "claim": held.claim,
    }
    try:
        if hashlib.sha256(data).hexdigest() != held.sha256:
            raise _Broken("the weights are not those that were proven: their SHA-256 is another")
        tensors, meta = parse_tensors(data, file)
        model = restore(tensors, meta, str(file))
        task = Recipe.parse(meta["recipe"]).task
        if not isinstance(model, Scan):
            raise _Broken(f"the weights are those of a {type(model).__name__}, not of a scan")
        checked = _Checker(held, Finite(model), task).check()
        return {**facts, "task": task.name, "model": "scan", **checked, "broken": None, "holds": True}
    except _Broken as broken:
        return {**facts, "broken": str(broken), "holds": False}


class _Checker:
    def __init__(self, held: Certificate, finite: Finite, task: Any) -> None:
        self.held, self.finite, self.machine = held, finite, task.machine
        self.letters: Tensor = task.letters
        self.distance, self.error = float("inf"), 0.0

    def check(self) -> dict[str, Any]:
        """Check tables, beginning, steps and answers, in this order."""
        self.codes = self._codes()
        self.step = self._step()
        self.functions = self._functions()
        self.known = {row.tobytes(): number for number, row in enumerate(self.functions.numpy())}
        below = (len(self.codes), len(self.functions))
        self.levels = [
            tuple(self._pairs(*self._rows(pairs, below).T) for pairs in (level.windows, level.prefixes))
            for level in self.held.levels
        ]
        if not 0 <= self.held.repeats < len(self.levels):
            raise _Broken(f"there is no level {self.held.repeats} that could come behind the last one")
        self._check_beginning()
        for number in range(len(self.levels)):
            self._check_kept(number, number + 1 if number + 1 < len(self.levels) else self.held.repeats)
        self._check_answers()
        if (self.held.claim, self.held.assumed) != (CLAIM, list(ASSUMED)):
            raise _Broken("what is claimed or assumed is not what is checked")
        for name in ("distance", "error"):
            if not math.isclose(getattr(self.held, name), getattr(self, name), rel_tol=1e-6):
                raise _Broken(f"the {name} is another one")
        return {
            "states": len(self.codes),
            "levels": len(self.levels),
            "distance": self.distance,
            "error": self.error,
        }

    def _sure(self, certain: Certain, what: str) -> Tensor:
        """What was computed, if no computation in float32 can come to something else."""
        if not bool(certain.sure.all()):
            raise _Broken(
                f"{what} is not certain: a number is nearer to a border than the bound of its error"
            )
        if len(certain.found):
            self.distance = min(self.distance, float(certain.distance.min()))
            self.error = max(self.error, float(certain.error.max()))
        return certain.found

    def _codes(self) -> Int[Tensor, " state"]:
        states, width = self.held.states, self.finite.width
        if any(len(signs) != width or set(signs) - set("+-") for signs in states) or not states:
            raise _Broken(f"a state is not written as {width} signs")
        codes = pack(torch.tensor([[1.0 if sign == "+" else -1.0 for sign in signs] for signs in states]))
        for numbers, certain, what in (
            (self.held.letters, self.finite.alone(self.letters), "the state of a letter"),
            ([self.held.begin], self.finite.begin(), "the state at the beginning"),
        ):
            if len(numbers) != len(certain.found) or not all(0 <= number < len(codes) for number in numbers):
                raise _Broken(f"{what} is missing, or no number of a state")
            if not torch.equal(codes[torch.tensor(numbers)], self._sure(certain, what)):
                raise _Broken(f"{what} is not what the weights make it")
        return codes

    def _step(self) -> Int[Tensor, "state state"]:
        rows = self._rows(self.held.step, (len(self.codes),) * 3)
        back, own, after = rows.T
        if not torch.equal(
            self._sure(self.finite.step(self.codes[back], self.codes[own]), "a step"), self.codes[after]
        ):
            raise _Broken("a step of two states is not what the weights make of them")
        table = torch.full((len(self.codes),) * 2, -1, dtype=torch.long)
        table[back, own] = after
        return table

    def _functions(self) -> Int[Tensor, "function state"]:
        states = self.machine.states
        found = self._rows(self.held.functions, (states,) * states)
        if len(found.unique(dim=0)) < len(found):
            raise _Broken("a function is listed twice")
        return found

    def _rows(self, rows: list[list[int]], below: Sequence[int]) -> Int[Tensor, "row column"]:
        """Rows of whole numbers, each below a bound of its column."""
        if any(len(row) != len(below) for row in rows):
            raise _Broken(f"a row has not {len(below)} numbers")
        found = torch.tensor(rows, dtype=torch.long).reshape(len(rows), len(below))
        if bool(((found < 0) | (found >= torch.tensor(below))).any()):
            raise _Broken("a number in a row stands for nothing")
        return found

    def _number(self, functions: Int[Tensor, "function state"], broken: str) -> Int[Tensor, " function"]:
        """The numbers of functions that are written out."""
        found = torch.tensor(
            [self.known.get(row.tobytes(), -1) for row in functions.numpy()], dtype=torch.long
        )
        if bool((found < 0).any()):
            raise _Broken(broken)
        return found

    def _pairs(self, states: Tensor, functions: Tensor) -> Tensor:
        """Pairs as one number each."""
        return states * len(self.functions) + functions

    def _check_beginning(self) -> None:
        first, later = first_and_later(self.machine)
        letters, over = torch.tensor(self.held.letters), torch.tensor(self.machine.step).T
        for chosen, pairs, what in (
            (later, self.levels[0][0], "window"),
            (first, self.levels[0][1], "prefix"),
        ):
            broken = f"a {what} of one letter is not in level 0"
            inside = torch.isin(
                self._pairs(letters[chosen], self._number(over[chosen].contiguous(), broken)), pairs
            )
            if not bool(inside.all()):
                raise _Broken(broken)

    def _check_kept(self, number: int, following: int) -> None:
        windows, prefixes = self.levels[number]
        where = f"of level {number} is not in level {following}"
        if not bool(torch.isin(prefixes, self.levels[following][1]).all()):
            raise _Broken(f"a prefix {where}")
        for left, target, what in ((windows, 0, "window"), (prefixes, 1, "prefix")):
            made = self._products(left, windows, f"a {what} made {where}")
            if not bool(torch.isin(made, self.levels[following][target]).all()):
                raise _Broken(f"a {what} made {where}")

    def _products(self, left: Tensor, right: Tensor, broken: str) -> Tensor:
        """What all pairs of one make with all pairs of another."""
        size = len(self.functions)
        state = self.step[(left // size)[:, None], right // size]
        if bool((state < 0).any()):
            raise _Broken("a step of two states that occur is missing")
        (ones, one), (others, other) = ((x % size).unique(return_inverse=True) for x in (left, right))
        composed = self.functions[others][:, self.functions[ones]].transpose(0, 1)
        numbers = self._number(composed.reshape(-1, composed.shape[-1]).contiguous(), broken)
        made: Tensor = self._pairs(state, numbers.view(len(ones), len(others))[one[:, None], other]).unique()
        return made

    def _check_answers(self) -> None:
        first, later = first_and_later(self.machine)
        emit, start = torch.tensor(self.machine.emit), self.machine.start
        begin = self.codes[self.held.begin].expand(len(first))
        answers = self._sure(self.finite.answer(begin, self.letters[first]), "the answer to a first letter")
        if not torch.equal(answers, emit[start, first]):
            raise _Broken("a first letter is answered wrongly")
        pairs, size = torch.cat([prefixes for _, prefixes in self.levels]).unique(), len(self.functions)
        reached = torch.stack([pairs // size, self.functions[pairs % size, start]], 1).unique(dim=0)
        states = reached[:, 0].unique()
        before = self.codes[states].repeat_interleave(len(later))
        certain = self.finite.answer(before, self.letters[later].repeat(len(states), 1))
        answers = self._sure(certain, "an answer").view(len(states), -1)
        place = torch.searchsorted(states, reached[:, 0].contiguous())
        if not torch.equal(answers[place], emit[reached[:, 1]][:, later]):
            raise _Broken("a letter behind a prefix is answered wrongly")
