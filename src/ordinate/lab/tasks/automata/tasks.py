"""Tasks over machines: strings and the machine's answers, one a token or one at the end."""

from abc import abstractmethod
from functools import lru_cache
from typing import Annotated, Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError, nearest
from ordinate.kinds import Table, choose
from ordinate.lab.tasks.automata.columns import COLUMNS
from ordinate.lab.tasks.automata.languages import LANGUAGES, CycleNavigation, Ready, built
from ordinate.lab.tasks.automata.machine import BEGIN, Machine
from ordinate.lab.tasks.automata.regular import regular
from ordinate.lab.tasks.automata.words import (
    draw_balanced,
    draw_remembering,
    longest_run,
    weights,
    written,
)
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Batch, Symbols, fields_of
from ordinate.lab.tasks.sampling import LONGEST, another, check_count, check_length
from ordinate.models.inputs import Inputs

LONGEST_DRAWN = 2**20

MACHINES: Table[Ready] = Table(Ready, (*LANGUAGES, *COLUMNS))  # type: ignore[type-abstract]
"""The one table of machines that have names."""


class Automaton(Task, family="automata", axes=("length",), slices=("carries",)):
    """Strings, answered by a machine: `machine.run` is the exact reference at any length.

    An acceptor reads `^` and then the string, so that the empty string of length 0 has an answer too. Its samples are
    members with probability 1/2, uniform among those of their length; of the others a share `near` are near misses.
    Where a length has members only, or none, so have the samples. Samples of other machines are uniform, but for a
    share `chains` with stretches of symbols that remember the state, such as columns that pass a carry on.

    Answers are scored at every token, or at the last one alone (`labels`). Inputs are symbols, or, where these are
    columns of digits, the digits one-hot, one after another; `letters` has the features of every symbol.

    Harder along `length`. The slice `carries` sorts samples by the longest stretch in which the machine is away from
    its first state.
    """

    length: int = Field(16, ge=1, le=LONGEST, description=f"most symbols in training, 1 to {LONGEST}")
    shortest: int | None = Field(
        None, ge=0, le=LONGEST, description="train on every length from this one on; default `length` alone"
    )
    labels: Literal["last", "every"] | None = Field(
        None, description="score the last token or every one; default last for acceptors, else every"
    )
    near: float = Field(0.5, ge=0, le=1, description="share of near misses among strings that are no members")
    edits: int = Field(3, ge=1, le=64, description="most edits between a near miss and a member")
    chains: float = Field(0.25, ge=0, le=1, description="share of samples with a stretch that remembers")

    @property
    @abstractmethod
    def machine(self) -> Machine:
        """The machine that answers."""

    @property
    def columns(self) -> tuple[int, ...]:
        """Below what each digit of a column stays; empty where symbols are no columns."""
        return ()

    @property
    def letters(self) -> Float[Tensor, "symbol feature"]:
        """The features of every symbol: its digits one-hot where it is a column, else itself."""
        return letters(len(self.machine.symbols), self.columns)

    @property
    @override
    def features(self) -> int:
        return sum(self.columns) or len(self.machine.symbols)

    @property
    @override
    def outputs(self) -> int:
        return len(self.machine.outputs)

    @model_validator(mode="after")
    def _fits(self) -> "Automaton":
        shortest = self.length if self.shortest is None else self.shortest
        if not self._least <= shortest <= self.length:
            raise OrdinateError(
                f"shortest must be {self._least} to length = {self.length}, got {shortest}: "
                f"write shortest={self._least}"
            )
        return self

    @property
    def _least(self) -> int:
        """The symbols of the shortest string: none behind `^`."""
        return 0 if self.machine.recognises else 1

    @property
    def _begin(self) -> int:
        """The tokens before the string."""
        return 1 if self.machine.recognises else 0

    @override
    def lengths(self) -> tuple[int, ...]:
        """Of a range of lengths, those with members and others, where a language has any."""
        if self.shortest is None:
            return (self.length,)
        every = tuple(range(self.shortest, self.length + 1))
        if not self.machine.recognises:
            return every
        both = [(weights(self.machine, self.length, member) > -torch.inf) for member in (True, False)]
        mixed = (both[0] & both[1])[:, self.machine.start]
        return tuple(length for length in every if mixed[length]) or every

    @override
    def coordinates(self, length: int) -> Coordinates:
        check_length(length, self._least, LONGEST_DRAWN)
        return fields_of(token=length + self._begin)

    @override
    def length_of(self, coordinates: Coordinates) -> int:
        return len(coordinates) - self._begin

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        place = torch.arange(len(coordinates))[:, None]
        every = self.labels == "every" or (self.labels is None and not self.machine.recognises)
        return (place >= 0) if every else (place == len(coordinates) - 1)

    @override
    def sample(self, count: int, *, generator: Generator, length: int | None = None) -> Batch:
        check_count(count)
        length = self.length if length is None else length
        coordinates = self.coordinates(length)
        if self.machine.recognises:
            words = draw_balanced(count, length, self.machine, self.near, self.edits, generator)
            symbols = torch.nn.functional.pad(words + 1, (1, 0))
        else:
            symbols = draw_remembering(count, length, self.machine, self.chains, generator)
        return self.batch(symbols, coordinates)

    def batch(self, symbols: Symbols, coordinates: Coordinates) -> Batch:
        """Strings by index with their answers."""
        return Batch(self.write(symbols), self.machine.run(symbols), coordinates)

    def write(self, symbols: Symbols) -> Inputs:
        """What a model is given of symbols."""
        return self.letters.to(symbols.device)[symbols] if self.columns else symbols

    def read(self, inputs: Inputs) -> Symbols:
        """The symbols of what a model is given."""
        if not self.columns:
            return inputs
        symbols = inputs.new_zeros(inputs.shape[:2], dtype=torch.long)
        for size, digit in zip(self.columns, torch.split(inputs, list(self.columns), dim=-1), strict=True):
            symbols = symbols * size + digit.argmax(-1)
        return symbols

    @override
    def reference(self, inputs: Inputs, coordinates: Coordinates | None = None) -> Symbols:
        return self.machine.run(self.read(inputs))

    @override
    def slice(self, name: str, batch: Batch) -> Int[Tensor, " batch"]:
        if name not in self.slices:
            return super().slice(name, batch)
        return longest_run(self.machine.trace(self.read(batch.input)) != self.machine.start)

    @override
    def free(self, coordinates: Coordinates, length: int) -> tuple[int, ...]:
        return tuple(range(self._begin, len(coordinates)))

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Inputs:
        symbols = self.read(batch.input).clone()
        several = len(self.machine.symbols) - self._begin
        if several > 1:
            inner = symbols[:, token] - self._begin
            symbols[:, token] = another(inner, several, generator) + self._begin
        return self.write(symbols)

    @property
    @override
    def vocabulary(self) -> tuple[str, ...]:
        return self.machine.symbols

    @property
    @override
    def answer_texts(self) -> tuple[str, ...]:
        return self.machine.outputs

    @override
    def token_texts(self, inputs: Inputs) -> list[str]:
        return [self.machine.symbols[symbol] for symbol in self.read(inputs)[0].tolist()]

    def reading(self, word: list[str], answers: list[str]) -> str | None:
        """A string and its answers as a line that people write; None where the string is one already."""
        return None

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        scored = self.scored(batch.coordinates)[:, 0].tolist()
        rows = []
        for x, y in zip(self.read(batch.input).tolist(), batch.target.tolist(), strict=True):
            word = [self.machine.symbols[symbol] for symbol in x[self._begin :]]
            answers = [self.machine.outputs[output] for output in y]
            shown = [answer for answer, counts in zip(answers, scored, strict=True) if counts]
            row = {"input": written(word) or BEGIN, "target": written(shown)}
            reading = self.reading(word, answers)
            rows.append(row if reading is None else {**row, "reading": reading})
        return rows

    @override
    def parse(self, text: str) -> Batch:
        """Read symbols, with spaces between them where one has several characters; `^` may stand in front."""
        short = all(len(name) == 1 for name in self.machine.symbols)
        names = list("".join(text.split())) if short else text.split()
        begin = [BEGIN] * self._begin
        if names[: self._begin] == begin:
            names = names[self._begin :]
        coordinates = self.coordinates(len(names))
        known = self.machine.symbols[self._begin :]
        if unknown := [name for name in names if name not in known]:
            more = " ..." if len(known) > 10 else ""
            raise OrdinateError(
                f"{text!r} is not understood, {unknown[0]!r} is no symbol: write {' '.join(known[:10])}{more}"
            )
        return self.batch(torch.tensor([self.machine.indices([*begin, *names])]), coordinates)


@lru_cache(maxsize=64)
def letters(symbols: int, columns: tuple[int, ...]) -> Float[Tensor, "symbol feature"]:
    """The features of every symbol.

    >>> letters(4, (2, 2)).tolist()
    [[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    """
    if not columns:
        return torch.eye(symbols)
    digits = torch.cartesian_prod(*map(torch.arange, columns)).reshape(symbols, len(columns))
    one_hot = torch.nn.functional.one_hot
    return torch.cat([one_hot(digits[:, n], size).float() for n, size in enumerate(columns)], dim=1)


def _text(value: object) -> object:
    """An expression of digits only, which TOML reads as a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Text = Annotated[str, BeforeValidator(_text)]


class Regular(Automaton, name="regular", summary="whether a string matches a regular expression"):
    """Whether a string matches a regular expression: 0101 matches (01)*, 011 does not.

    Expressions have | & ~ * + ? {2,3} . [ab] and brackets; symbols of several characters stand in quotes. `symbols` are
    further ones, of which strings may be made.
    """

    expression: Text = Field("(01)*", max_length=10_000, description="such as (01)*")
    symbols: Text = Field("", max_length=128, description="symbols that the expression does not name")

    @property
    @override
    def machine(self) -> Machine:
        return regular(self.expression, self.symbols)


def _ready(value: object) -> Ready:
    return choose(value, MACHINES, "task.of")


ReadyOption = Annotated[SerializeAsAny[Ready], BeforeValidator(_ready)]


class NamedMachine(
    Automaton, name="machine", summary="what a machine with a name answers: a language, a group, arithmetic"
):
    """What a machine answers: languages such as `dyck`, word problems of groups, arithmetic column by column.

    Options of the machine stand beside its name, `of = "dyck", depth = 3`, or in a table of their own,
    `of = {kind = "dyck", depth = 3}`.
    """

    of: ReadyOption = Field(CycleNavigation(), description=f"one of {', '.join(sorted(MACHINES))}")

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, given: Any) -> Any:
        """Options that are the machine's."""
        if not isinstance(given, dict) or not isinstance(given.get("of", ""), str):
            return given
        name = given.get("of", CycleNavigation.name)
        if name not in MACHINES:
            return given
        own = MACHINES[name].model_fields
        for key in given:
            if key not in {*cls.model_fields, *own}:
                known = nearest(key, [*cls.model_fields, *own])
                raise OrdinateError(f"unknown key 'task.{key}': {known}")
        options = {key: value for key, value in given.items() if key in own}
        rest = {key: value for key, value in given.items() if key not in own}
        return {**rest, "of": {"kind": name, **options}}

    @property
    @override
    def machine(self) -> Machine:
        return built(self.of)

    @property
    @override
    def columns(self) -> tuple[int, ...]:
        return self.of.columns()

    @override
    def reading(self, word: list[str], answers: list[str]) -> str | None:
        return self.of.reading(word, answers)
