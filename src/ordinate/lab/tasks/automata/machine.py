"""Deterministic Mealy machines: run over a million tokens, minimised, compared, composed."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Int
from torch import Tensor

from ordinate.coordinates import ordinary_tensors
from ordinate.errors import OrdinateError

BEGIN = "^"
"""The first symbol of acceptors: it changes no state, and its output says whether the string so far is accepted."""
REFUSED, ACCEPTED = 0, 1
LARGEST_TABLE = 2**16
"""Pairs of a state and a word whose paths `run` looks up."""
LONGEST_WORD = 8
FEW = 2048
"""Sequences times states up to which `run` follows all states of a part of a sequence at once, rather than wait for
the part before it."""


@dataclass(frozen=True)
class Machine:
    """A deterministic Mealy machine: a state, moved by every symbol that is read, each answered with an output.

    >>> parity = Machine(("0", "1"), ("even", "odd"), step=((0, 1), (1, 0)), emit=((0, 1), (1, 0)), start=0)
    >>> parity.run(torch.tensor([[1, 1, 0, 1]])).tolist()
    [[1, 0, 0, 1]]

    An *acceptor* answers whether the string so far is in a language. It reads strings behind the symbol `^`, so that
    the empty string has an answer too; `Machine.acceptor` adds it. Two machines are the same value if their states
    have the same numbers; whether they answer alike is asked with `equals`.
    """

    symbols: tuple[str, ...]
    """What is read, by index."""
    outputs: tuple[str, ...]
    """What is answered, by index."""
    step: tuple[tuple[int, ...], ...]
    """step[state][symbol]: the next state."""
    emit: tuple[tuple[int, ...], ...]
    """emit[state][symbol]: the output, given at the token that is read."""
    start: int

    def __post_init__(self) -> None:
        for name in ("symbols", "outputs"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
        if not self.step or len(self.step) != len(self.emit):
            raise OrdinateError(
                f"a machine has a row of step and a row of emit for every state, got {len(self.step)} and "
                f"{len(self.emit)}: write as many of both, at least one"
            )
        for name, what, below in (("step", "state", self.states), ("emit", "output", len(self.outputs))):
            rows = tuple(
                _row(name, state, row, self.symbols, what, below)
                for state, row in enumerate(getattr(self, name))
            )
            object.__setattr__(self, name, rows)
        if self.start not in range(self.states):
            raise OrdinateError(f"start = {self.start!r} is no state: write 0 to {self.states - 1}")

    @classmethod
    def acceptor(
        cls,
        symbols: Sequence[str],
        step: Sequence[Sequence[int]],
        start: int = 0,
        accepting: Iterable[int] = (),
    ) -> "Machine":
        """The acceptor of a language from an automaton over `symbols`, which are given without `^`.

        Its outputs are 0 and 1: whether the prefix up to and including a token is accepted.

        >>> ends_in_1 = Machine.acceptor("01", step=[[0, 1], [0, 1]], accepting=[1])
        >>> ends_in_1.symbols, ends_in_1.accepts("001")
        (('^', '0', '1'), True)
        """
        accepted = set(accepting)
        if unknown := sorted(accepted - set(range(len(step)))):
            raise OrdinateError(f"accepting state {unknown[0]} is unknown: write 0 to {len(step) - 1}")
        if BEGIN in symbols:
            raise OrdinateError(f"{BEGIN!r} is added to the symbols of an acceptor: leave it out")
        names = _names("symbols", symbols)
        rows = [_row("step", state, row, names, "state", len(step)) for state, row in enumerate(step)]
        moves = tuple((state, *row) for state, row in enumerate(rows))
        answers = tuple(tuple(int(target in accepted) for target in row) for row in moves)
        return cls((BEGIN, *names), ("0", "1"), moves, answers, start)

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.step)

    @cached_property
    def recognises(self) -> bool:
        """Whether it is an acceptor: outputs 0 and 1 that depend on the state reached, which `^` leaves as it is."""
        return (
            self.symbols[0] == BEGIN
            and self.outputs == ("0", "1")
            and all(row[0] == state for state, row in enumerate(self.step))
            and all(
                answers == tuple(self.emit[target][0] for target in row)
                for row, answers in zip(self.step, self.emit, strict=True)
            )
        )

    @property
    def accepting(self) -> tuple[int, ...]:
        """The accepting states of an acceptor."""
        if not self.recognises:
            raise OrdinateError("this machine is no acceptor: make one with Machine.acceptor(...)")
        return tuple(state for state, row in enumerate(self.emit) if row[0] == ACCEPTED)

    def indices(self, word: Iterable[str]) -> list[int]:
        """The symbols of a word by index.

        >>> Machine.acceptor("ab", [[0, 0]]).indices("^ba")
        [0, 2, 1]
        """
        known = {name: index for index, name in enumerate(self.symbols)}
        try:
            return [known[name] for name in word]
        except KeyError as error:
            shown = " ".join(self.symbols[:10]) + (" ..." if len(self.symbols) > 10 else "")
            raise OrdinateError(f"symbol {error.args[0]!r} is unknown: this machine reads {shown}") from None

    def answers(self, word: Iterable[str]) -> tuple[str, ...]:
        """The outputs to one word, by name."""
        symbols = torch.tensor([self.indices(word)], dtype=torch.long)
        return tuple(self.outputs[output] for output in self.run(symbols)[0].tolist())

    def accepts(self, word: Iterable[str]) -> bool:
        """Whether a word, without `^`, is in the language of an acceptor."""
        state = int(self.function(self.indices(word))[self.start])
        return state in self.accepting

    def run(self, symbols: Int[Tensor, "batch token"]) -> Int[Tensor, "batch token"]:
        """The outputs to strings of symbols, on their device; a million tokens take a fraction of a second."""
        before = self._before(symbols)
        return self._emit.to(symbols.device)[before, symbols]

    def trace(self, symbols: Int[Tensor, "batch token"]) -> Int[Tensor, "batch token"]:
        """The states that the tokens lead to."""
        before = self._before(symbols)
        return self._step.to(symbols.device)[before, symbols]

    def functions(self) -> Int[Tensor, "symbol state"]:
        """The transition function of every symbol: where it leads from every state."""
        return self._step.T.clone()

    def function(self, word: Iterable[int]) -> Int[Tensor, " state"]:
        """The transition function of a word, given by index: the functions of its symbols, one after another."""
        functions, reached = self._step.T, torch.arange(self.states)
        for symbol in word:
            reached = functions[symbol][reached]
        return reached

    def monoid(self, limit: int = 10_000) -> int:
        """How many transition functions words have, the empty word included; refused where there are more than `limit`.

        >>> Machine.acceptor("01", [[0, 1], [1, 0]], accepting=[0]).monoid()
        2
        """
        functions = self._step.T.contiguous()
        layer = torch.arange(self.states)[None]
        seen = {layer.numpy().tobytes()}
        while len(layer):
            further = functions[:, layer].flatten(0, 1).unique(dim=0)
            new = [row for row in further if row.numpy().tobytes() not in seen]
            seen.update(row.numpy().tobytes() for row in new)
            if len(seen) > limit:
                raise OrdinateError(
                    f"the words of this machine have more than {limit} transition functions: write a larger limit"
                )
            layer = torch.stack(new) if new else layer[:0]
        return len(seen)

    def minimised(self) -> "Machine":
        """The smallest machine with the same answers; its states are numbered in the order in which they are met."""
        return self._merged(_blocks(self))

    def equals(self, other: "Machine") -> tuple[str, ...] | None:
        """None if two machines answer all words alike, else a shortest word after which their answers differ.

        Symbols and outputs are compared by name.

        >>> even, odd = (Machine.acceptor("a", [[1], [0]], accepting=[state]) for state in (0, 1))
        >>> even.equals(odd), even.equals(odd.complement())
        (('^',), None)
        """
        order = self._order(other)
        first = (self.start, other.start)
        came: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = {first: None}
        queue = deque([first])
        while queue:
            pair = queue.popleft()
            one, two = pair
            for symbol, theirs in enumerate(order):
                if self.outputs[self.emit[one][symbol]] != other.outputs[other.emit[two][theirs]]:
                    word, step = [symbol], came[pair]
                    while step is not None:
                        word.append(step[1])
                        step = came[step[0]]
                    return tuple(self.symbols[index] for index in reversed(word))
                further = self.step[one][symbol], other.step[two][theirs]
                if further not in came:
                    came[further] = pair, symbol
                    queue.append(further)
        return None

    def product(
        self, other: "Machine", combine: Callable[[str, str], str] = "{},{}".format, limit: int = 10**6
    ) -> "Machine":
        """Both machines side by side; `combine` makes one output of the two.

        Of acceptors, `min` gives what both accept, `max` what one of them does:

        >>> even = Machine.acceptor("a", [[1], [0]], accepting=[0])
        >>> even.product(even.complement(), max).minimised().states
        1
        """
        order = self._order(other)
        numbers = {(self.start, other.start): 0}
        pairs = deque(numbers)
        step: list[list[int]] = []
        said: list[list[str]] = []
        while pairs:
            one, two = pairs.popleft()
            reached = [(self.step[one][s], other.step[two][t]) for s, t in enumerate(order)]
            for pair in reached:
                if pair not in numbers:
                    numbers[pair] = len(numbers)
                    pairs.append(pair)
            if len(numbers) > limit:
                raise OrdinateError(f"the product has more than {limit} states: write smaller machines")
            step.append([numbers[pair] for pair in reached])
            said.append(
                [
                    combine(self.outputs[self.emit[one][s]], other.outputs[other.emit[two][t]])
                    for s, t in enumerate(order)
                ]
            )
        both = self.recognises and other.recognises and {name for row in said for name in row} <= {"0", "1"}
        outputs = ("0", "1") if both else tuple(sorted({name for row in said for name in row}))
        index = {name: number for number, name in enumerate(outputs)}
        return Machine(
            self.symbols,
            outputs,
            tuple(map(tuple, step)),
            tuple(tuple(index[name] for name in row) for row in said),
            0,
        )

    def complement(self) -> "Machine":
        """The acceptor of all strings that this one refuses."""
        accepting = set(self.accepting)
        inner = [row[1:] for row in self.step]
        others = [state for state in range(self.states) if state not in accepting]
        return Machine.acceptor(self.symbols[1:], inner, self.start, others)

    def _order(self, other: "Machine") -> list[int]:
        """The index in another machine of every symbol of this one."""
        if set(self.symbols) != set(other.symbols):
            differ = sorted(set(self.symbols) ^ set(other.symbols))
            raise OrdinateError(
                f"machines that read the same symbols can be compared and joined, {differ[0]!r} is read by one of "
                "them: give both the same symbols"
            )
        return other.indices(self.symbols)

    def _merged(self, block: list[int]) -> "Machine":
        """States of one block become one state; only what the start reaches is kept."""
        numbers, members = {block[self.start]: 0}, [self.start]
        for state in members:  # grows while it is read
            for target in self.step[state]:
                if block[target] not in numbers:
                    numbers[block[target]] = len(members)
                    members.append(target)
        step = tuple(tuple(numbers[block[target]] for target in self.step[state]) for state in members)
        return Machine(self.symbols, self.outputs, step, tuple(self.emit[state] for state in members), 0)

    @cached_property
    @ordinary_tensors()
    def _step(self) -> Int[Tensor, "state symbol"]:
        return torch.tensor(self.step)

    @cached_property
    @ordinary_tensors()
    def _emit(self) -> Int[Tensor, "state symbol"]:
        return torch.tensor(self.emit)

    @cached_property
    @ordinary_tensors()
    def _paths(self) -> tuple[Int[Tensor, "state word letter"], Int[Tensor, "state word"]]:
        """The states in which each letter of a word is read, and the state behind the word, from every state."""
        many, length = len(self.symbols), 1
        while length < LONGEST_WORD and self.states * many ** (length + 1) <= LARGEST_TABLE:
            length += 1
        reached, read = torch.arange(self.states)[:, None], []
        for letter in range(length):
            read.append(reached.repeat_interleave(many ** (length - letter), dim=1))
            reached = self._step[reached].flatten(1)
        return torch.stack(read, dim=-1), reached

    def _before(self, symbols: Int[Tensor, "batch token"]) -> Int[Tensor, "batch token"]:
        """The states in which the tokens are read: words are looked up, and joined by `scan`."""
        if symbols.numel() == 0:
            return torch.zeros_like(symbols)
        low, high = symbols.aminmax()
        if not 0 <= low <= high < len(self.symbols):
            raise OrdinateError(
                f"symbols are indices 0 to {len(self.symbols) - 1} of this machine, got {int(low)} to {int(high)}"
            )
        read, reached = (table.to(symbols.device) for table in self._paths)
        length, tokens = read.shape[-1], symbols.shape[1]
        letters = torch.nn.functional.pad(symbols, (0, -tokens % length)).unflatten(1, (-1, length))
        place = len(self.symbols) ** torch.arange(length - 1, -1, -1, device=symbols.device)
        words = (letters * place).sum(-1)
        before = scan(reached, self.start, words)
        return read[before, words].flatten(1)[:, :tokens]


def scan(
    reached: Int[Tensor, "state word"], start: int, words: Int[Tensor, "batch place"]
) -> Int[Tensor, "batch place"]:
    """The states before each of the words, one word after another.

    With few sequences, these are cut into about sqrt(places) parts. Where each part leads from every state is worked
    out for all parts at once, then where each part begins, then the states inside all parts at once.

    >>> scan(torch.tensor([[0, 1], [1, 0]]), 0, torch.tensor([[1, 1, 0, 1, 0]])).tolist()
    [[0, 1, 0, 0, 1]]
    """
    (batch, places), (states, many) = words.shape, reached.shape
    flat = reached.flatten() * many  # a state is kept as the place where its row begins
    length = places if batch * states > FEW or places < 64 else round(places**0.5)
    parts = -(-places // length)
    cut = torch.nn.functional.pad(words, (0, parts * length - places)).unflatten(1, (parts, length))
    cut = cut.movedim(2, 0).contiguous()

    state = words.new_full((batch, 1), start * many)
    if parts > 1:
        ends = (torch.arange(states, device=words.device) * many).expand(batch, parts, states)
        for word in cut:
            ends = flat[ends + word[..., None]]
        begins = [state]
        for part in range(parts - 1):
            begins.append(ends[:, part].gather(1, begins[-1] // many))
        state = torch.cat(begins, dim=1)

    before = torch.empty_like(cut)
    for place, word in enumerate(cut):
        before[place] = state
        state = flat[state + word]
    return before.movedim(0, 2).flatten(1)[:, :places] // many


def _blocks(machine: Machine) -> list[int]:
    """The block of every state in the coarsest partition that keeps answers (Hopcroft 1971).

    Blocks wait to split others by where their predecessors are; of the two parts of a block that no longer waits, the
    smaller one does.
    """
    symbols = range(len(machine.symbols))
    sources: list[list[list[int]]] = [[[] for _ in symbols] for _ in machine.step]
    for state, row in enumerate(machine.step):
        for symbol, target in enumerate(row):
            sources[target][symbol].append(state)
    kinds: dict[tuple[int, ...], int] = {}
    block = [kinds.setdefault(row, len(kinds)) for row in machine.emit]
    members: list[set[int]] = [set() for _ in kinds]
    for state, number in enumerate(block):
        members[number].add(state)
    waiting = {(number, symbol) for number in range(len(members)) for symbol in symbols}
    while waiting:
        number, symbol = waiting.pop()
        inside: dict[int, set[int]] = {}
        for target in members[number]:
            for state in sources[target][symbol]:
                inside.setdefault(block[state], set()).add(state)
        for split, part in inside.items():
            if len(part) == len(members[split]):
                continue
            new = len(members)
            members[split] -= part
            members.append(part)
            for state in part:
                block[state] = new
            smaller = new if len(part) <= len(members[split]) else split
            for other in symbols:
                waiting.add((new if (split, other) in waiting else smaller, other))
    return block


def _names(what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Names of symbols or outputs: at least one, none twice, without spaces."""
    names = tuple(names)
    if not names:
        raise OrdinateError(f'a machine has no {what}: write at least one, {what}=("a", "b")')
    for name in names:
        if not isinstance(name, str) or not name or any(map(str.isspace, name)):
            raise OrdinateError(f"{what} are texts without spaces, got {name!r}: write one such as 'a'")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OrdinateError(f"{twice!r} is there twice in {what}: write every one once")
    return names


def _row(
    name: str, state: int, row: Sequence[int], symbols: tuple[str, ...], what: str, below: int
) -> tuple[int, ...]:
    """A row of a table, checked: one number for every symbol."""
    row = tuple(row)
    if len(row) > len(symbols):
        raise OrdinateError(
            f"state {state} has {len(row)} entries in {name} for {len(symbols)} symbols: write one for each symbol"
        )
    if lacking := symbols[len(row) :]:
        raise OrdinateError(
            f"state {state} has no {what} on {lacking[0]!r} in {name}: write one, 0 to {below - 1}"
        )
    for symbol, target in zip(symbols, row, strict=True):
        if not isinstance(target, int) or not 0 <= target < below:
            raise OrdinateError(
                f"{name} of state {state} on {symbol!r} is {target!r}, an unknown {what}: write 0 to {below - 1}"
            )
    return row
