"""Machines with names: regular languages, counters, brackets, groups; and any machine that is written down."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import ClassVar, Literal, TypeVar

from pydantic import Field
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind
from ordinate.lab.tasks.automata.machine import Machine
from ordinate.lab.tasks.automata.regular import regular

MOST_STATES = 4096
S = TypeVar("S")
BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))


class Ready(Kind):
    """A machine that has a name, with its options."""

    @abstractmethod
    def build(self) -> Machine:
        """The machine."""

    def columns(self) -> tuple[int, ...]:
        """Below what each digit of a column stays; empty where symbols are no columns."""
        return ()

    def reading(self, word: Sequence[str], answers: Sequence[str]) -> str | None:
        """A string and its answers as a line that people write; None where the string is one already."""
        return None


@lru_cache(maxsize=256)
def built(ready: Ready) -> Machine:
    """The machine of a name, built once."""
    return ready.build()


def explored(
    symbols: Iterable[str], start: S, move: Callable[[S, str], S]
) -> tuple[list[list[int]], list[S]]:
    """The transitions of all states that a start leads to, and what the states are.

    >>> explored("ab", 0, lambda state, symbol: (state + (symbol == "a")) % 3)
    ([[1, 0], [2, 1], [0, 2]], [0, 1, 2])
    """
    numbers, found, step = {start: 0}, [start], []
    for state in found:  # grows while it is read
        row = []
        for symbol in symbols:
            target = move(state, symbol)
            if target not in numbers:
                numbers[target] = len(found)
                found.append(target)
            row.append(numbers[target])
        step.append(row)
        if len(found) > MOST_STATES:
            raise OrdinateError(f"this machine has more than {MOST_STATES} states: write smaller options")
    return step, found


class Expression(Ready):
    """The language of a regular expression over zeros and ones."""

    expression: ClassVar[str]

    @override
    def build(self) -> Machine:
        return regular(self.expression, "01")


class Parity(Expression, name="parity", summary="an odd number of ones", expression="(0*10*1)*0*10*"):
    """Strings with an odd number of ones."""


class EvenPairs(
    Expression, name="even-pairs", summary="the first symbol is the last", expression="()|0(.*0)?|1(.*1)?"
):
    """Strings whose first symbol is their last: those with an even number of pairs 01 and 10."""


class First(Expression, name="first", summary="the first symbol is 1", expression="1.*"):
    """Strings that begin with 1."""


class Repeat01(Expression, name="repeat-01", summary="01 again and again", expression="(01)*"):
    """01 again and again, the empty string included."""


class ModularCounting(Ready, name="modular-counting", summary="the number of ones so far, modulo a number"):
    """Each token is answered with the ones so far, modulo a number."""

    modulus: int = Field(5, ge=2, le=MOST_STATES, description="where the count starts again at 0")

    @override
    def build(self) -> Machine:
        step = tuple((k, (k + 1) % self.modulus) for k in range(self.modulus))
        return Machine(("0", "1"), tuple(map(str, range(self.modulus))), step, step, 0)


class CycleNavigation(
    Ready, name="cycle-navigation", summary="steps round a cycle, and the place they end at"
):
    """Steps on a cycle (`>` one on, `<` one back, `=` none) and then the number of the place that they lead to from 0.

    The language of arXiv 2411.07107: `>>=<1` is in it, `>>=<2` is not, nor is a string without one number at its end.
    """

    positions: int = Field(5, ge=2, le=10, description="places of the cycle")

    @override
    def build(self) -> Machine:
        digits = "0123456789"[: self.positions]
        steps = {"<": -1, "=": 0, ">": 1}

        there, nowhere = self.positions, self.positions + 1

        def move(place: int, symbol: str) -> int:
            if place >= self.positions:
                return nowhere
            if symbol in steps:
                return (place + steps[symbol]) % self.positions
            return there if int(symbol) == place else nowhere

        symbols = (*steps, *digits)
        step, found = explored(symbols, 0, move)
        return Machine.acceptor(symbols, step, 0, [found.index(there)])


class ModularArithmetic(
    Ready, name="modular-arithmetic", summary="sums and products without brackets, and their result modulo 5"
):
    """Digits joined by + - * and their result modulo a number behind `=`: `3-4+4*2=1` is in the language.

    In arXiv 2411.07107 a line is worked out from left to right: 3 - 4 + 4 * 2 is ((3 - 4) + 4) * 2. With `precedence`,
    products come first, as they do elsewhere.
    """

    modulus: int = Field(5, ge=2, le=10, description="digits stay below it, results are modulo it")
    precedence: bool = Field(False, description="true for products first, false for left to right")

    @override
    def build(self) -> Machine:
        modulus = self.modulus
        digits = "0123456789"[:modulus]

        def move(state: tuple[str, int, int], symbol: str) -> tuple[str, int, int]:
            """States: what was read last, the sum of finished terms, the term that goes on."""
            last, total, term = state
            if last in "+-*" and symbol in digits:
                digit = int(symbol)
                if last == "*":
                    term *= digit
                elif self.precedence:
                    total, term = total + term, digit if last == "+" else -digit
                else:
                    term += digit if last == "+" else -digit
                return "digit", total % modulus, term % modulus
            if last == "digit" and symbol in "+-*":
                return symbol, total, term
            if last == "digit" and symbol == "=":
                return "=", (total + term) % modulus, 0
            if last == "=" and symbol in digits and int(symbol) == total:
                return "right", 0, 0
            return "wrong", 0, 0

        symbols = (*digits, "+", "-", "*", "=")
        step, found = explored(symbols, ("+", 0, 0), move)
        accepting = [found.index(("right", 0, 0))]
        return Machine.acceptor(symbols, step, 0, accepting).minimised()


class Dyck(Ready, name="dyck", summary="brackets that fit, nested up to a depth"):
    """Brackets of several kinds that fit, at most `depth` of them open at a time: `([])` of depth 2."""

    brackets: int = Field(2, ge=1, le=64, description="kinds of brackets")
    depth: int = Field(3, ge=1, le=MOST_STATES, description="most brackets that are open at a time")

    @override
    def build(self) -> Machine:
        more = ((f"({k}", f"){k}") for k in range(len(BRACKETS), self.brackets))
        kinds = [*BRACKETS[: self.brackets], *more]
        opens = {kind[0]: number for number, kind in enumerate(kinds)}
        closes = {kind[1]: number for number, kind in enumerate(kinds)}
        # Open brackets are the digits of one number, so that stacks of any depth are compared at once.
        base = self.brackets + 1

        wrong = (0, self.depth + 1)

        def move(state: tuple[int, int], symbol: str) -> tuple[int, int]:
            stack, depth = state
            if symbol in opens:
                return (stack * base + opens[symbol] + 1, depth + 1) if depth < self.depth else wrong
            return (stack // base, depth - 1) if stack % base == closes[symbol] + 1 else wrong

        symbols = tuple(side for kind in kinds for side in kind)
        step = explored(symbols, (0, 0), move)[0]
        return Machine.acceptor(symbols, step, 0, [0])


class WordProblem(Ready, name="word-problem", summary="the product of elements of a group: Z60, A5 or S5"):
    """The product so far of generators of a group, or whether it is the identity.

    The groups of arXiv 2404.08819: Z60 is commutative, A5 and S5 are not solvable, so that their word problems are
    complete for NC1. Z60 has the generators +1 and -1; those of A5 and S5 are two permutations, written as cycles, and
    a product is written as the images of 1 to 5 under its first factor, then its second, and so on.
    """

    group: Literal["Z60", "A5", "S5"] = Field("A5", description="which group: Z60, A5 or S5")
    identity: bool = Field(False, description="true for the language of products that are the identity")

    @override
    def build(self) -> Machine:
        symbols, elements, step = _group(self.group)
        if self.identity:
            return Machine.acceptor(symbols, step, 0, [0])
        table = tuple(map(tuple, step))
        return Machine(symbols, elements, table, table, 0)


def _group(name: str) -> tuple[tuple[str, ...], tuple[str, ...], list[list[int]]]:
    """Generators, elements from the identity on, and products of elements with generators."""
    if name == "Z60":
        generators = {"+1": 1, "-1": -1}
        step, numbers = explored(generators, 0, lambda state, symbol: (state + generators[symbol]) % 60)
        return tuple(generators), tuple(map(str, numbers)), step
    images = {"(12)": "21345", "(123)": "23145", "(12345)": "23451"}
    symbols = ("(123)", "(12345)") if name == "A5" else ("(12)", "(12345)")

    def move(state: str, symbol: str) -> str:
        return "".join(images[symbol][int(image) - 1] for image in state)

    step, permutations = explored(symbols, "12345", move)
    return symbols, tuple(permutations), step


class Written(
    Ready, name="table", summary="a machine that is written down: symbols, step, and emit or accepting"
):
    """Any machine: `step` has a row a state and an entry a symbol, the next state, counted from 0.

    With `outputs`, `emit` says in the same way which of them is given. Without, `accepting` names the states in which a
    string is accepted. The default accepts strings that end in 1.
    """

    symbols: tuple[str, ...] = Field(("0", "1"), description="what is read")
    outputs: tuple[str, ...] = Field((), description="what is answered; none for an acceptor")
    step: tuple[tuple[int, ...], ...] = Field(((0, 1), (0, 1)), description="the next state")
    emit: tuple[tuple[int, ...], ...] = Field((), description="the output, by its number")
    accepting: tuple[int, ...] = Field((1,), description="accepting states, of an acceptor")
    start: int = Field(0, ge=0, description="the first state")

    @override
    def build(self) -> Machine:
        if self.outputs:
            return Machine(self.symbols, self.outputs, self.step, self.emit, self.start)
        return Machine.acceptor(self.symbols, self.step, self.start, self.accepting)


LANGUAGES = (
    *(Parity, ModularCounting, CycleNavigation, EvenPairs, First, Repeat01, ModularArithmetic),
    *(Dyck, WordProblem, Written),
)
