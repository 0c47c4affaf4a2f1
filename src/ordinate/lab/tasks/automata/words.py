"""How strings are drawn for a machine: members of its language, others, near misses, long memories.

The strings of one length that lead from a state to an accepting one are counted backwards from the end,

    b_0(s) = log [s accepts],    b_{l+1}(s) = log sum_a exp b_l(step[s][a]),

and a member is drawn forwards: with l symbols to go, symbol a has probability exp(b_{l-1}(step[s][a]) - b_l(s)). That
is uniform among all members. In logarithms it holds at any length.

Long strings are cut into parts, so that no loop has more than about sqrt(length) rounds: where the parts lead from
every state comes first, as in `machine.scan`.
"""

from collections.abc import Iterable
from functools import lru_cache

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from ordinate.lab.tasks.automata.machine import FEW, Machine
from ordinate.lab.tasks.sampling import LONGEST, another, chances, integers

Words = Int[Tensor, "batch place"]
"""Strings of an acceptor by index, without `^`: the first symbol behind it is 0."""

SHORT = 256
"""Symbols up to which a string is drawn in one part."""
MOST_STATES_AT_ONCE = 256
"""States up to which the members of long strings are counted in parts."""


def weights(machine: Machine, length: int, member: bool) -> Float[Tensor, "to_go state"]:
    """Logarithms of how many strings of 0 to `length` symbols are members, or are not, from every state.

    >>> from ordinate.lab.tasks.automata import regular
    >>> weights(regular("(01)*|0*"), 4, True).exp()[4, 0].round()
    tensor(2., dtype=torch.float64)
    """
    if length > LONGEST:
        return _long_weights(machine, length, member)
    # Those of fewer symbols are a part of those of more: one table serves all lengths up to a power of 2.
    return _short_weights(machine, 1 << length.bit_length(), member)[: length + 1]


def counted(machine: Machine, length: int, member: bool) -> Float[Tensor, "to_go state"]:
    """The recursion for b, worked out."""
    step = machine.functions()[1:].T
    accepts = torch.zeros(machine.states, dtype=torch.bool)
    accepts[list(machine.accepting)] = True
    first = torch.where(accepts == member, 0.0, -torch.inf).double()[:, None]
    parts = _parts(length, machine.states <= MOST_STATES_AT_ONCE)
    if parts == 1:
        return grow(step, first, length)[..., 0]
    inside = -(-length // parts)
    # One part from every state: paths[s, t] counts the strings of a part that lead from s to t.
    paths = grow(step, torch.eye(machine.states).double().log(), inside)[-1]
    ends = [first[:, 0]]
    for _ in range(parts - 1):
        ends.append((paths + ends[-1]).logsumexp(1))
    grown = grow(step, torch.stack(ends, dim=1), inside)[:-1]  # [place in a part, state, part]
    last = grow(step, ends[-1][:, None], inside)[-1, None, :, 0]
    return torch.cat([grown.permute(2, 0, 1).flatten(0, 1), last])[: length + 1]


_short_weights = lru_cache(maxsize=32)(counted)
_long_weights = lru_cache(maxsize=2)(counted)
"""Those of members and others of one language, which may take much memory."""


def grow(
    step: Int[Tensor, "state symbol"], first: Float[Tensor, "state part"], rounds: int
) -> Float[Tensor, "round state part"]:
    """The recursion for b, for several beginnings at once; the beginnings are round 0."""
    grown = first.new_empty(rounds + 1, *first.shape)
    grown[0] = first
    for place in range(rounds):
        grown[place + 1] = grown[place][step].logsumexp(1)
    return grown


def _parts(length: int, few: bool) -> int:
    """Into how many parts strings are cut: those that are long, if there are few states to follow."""
    return round(length**0.5) if few and length > SHORT else 1


def draw_words(count: int, length: int, machine: Machine, member: bool, generator: Generator) -> Words:
    """Draw strings of one length, uniform among the members of a language or among the others.

    There must be such strings: see `has_words`.
    """
    device = generator.device
    table = weights(machine, length, member).to(device)
    step = machine.functions()[1:].T.to(device)
    u = torch.rand(count, length, generator=generator, device=device, dtype=torch.float64)
    if length == 0:
        return u.long()

    parts = _parts(length, count * machine.states <= FEW)
    inside = -(-length // parts)
    padded = torch.nn.functional.pad(u, (0, parts * inside - length)).unflatten(1, (parts, inside))
    # Symbols left behind each place; places past the end repeat the last one, and are cut off.
    left = (length - 1 - torch.arange(parts * inside, device=device)).clamp(min=0).view(parts, inside)

    def choose(states: Int[Tensor, "batch part state"], place: int) -> Int[Tensor, "batch part state"]:
        further = table[left[:, place]]  # [part, state]
        part = torch.arange(parts, device=device)[:, None, None]
        shares = further[part, step[states]]  # [batch, part, state, symbol]
        top = shares.amax(-1, keepdim=True)
        summed = (shares - top.nan_to_num(neginf=0.0)).exp().cumsum(-1)
        bar = padded[:, :, place, None, None] * summed[..., -1:]
        chosen: Tensor = (summed <= bar).sum(-1)
        return chosen.clamp(max=step.shape[1] - 1)  # a state that leads nowhere chooses the last symbol

    state = torch.full((count, 1), machine.start, device=device)
    if parts > 1:
        ends = torch.arange(machine.states, device=device).expand(count, parts, machine.states)
        for place in range(inside):
            ends = step[ends, choose(ends, place)]
        begins = [state]
        for number in range(parts - 1):
            begins.append(ends[:, number].gather(1, begins[-1]))
        state = torch.cat(begins, dim=1)
    words = torch.empty(inside, count, parts, dtype=torch.long, device=device)
    for place in range(inside):
        words[place] = choose(state[..., None], place)[..., 0]
        state = step[state, words[place]]
    return words.permute(1, 2, 0).flatten(1)[:, :length]


def has_words(machine: Machine, length: int, member: bool) -> bool:
    """Whether a language has members of this length, or strings of this length that are none."""
    return bool(weights(machine, length, member)[-1, machine.start] > -torch.inf)


def edited(words: Words, symbols: int, most: int, generator: Generator) -> Words:
    """Strings after 1 to `most` random edits that keep their length.

    Half of the edits put another symbol in the place of one; the others take a symbol out and put one in anywhere.
    """
    count, length = words.shape
    place = torch.arange(length, device=words.device)
    rounds = integers(1, most + 1, (count, 1), generator)
    for done in range(most):
        out, into = integers(0, length, (2, count, 1), generator)
        into = torch.where(chances((count, 1), generator) < 0.5, out, into)
        new = integers(0, symbols, (count, 1), generator)
        if symbols > 1:
            new = torch.where(out == into, another(words.gather(1, out), symbols, generator), new)
        source = place + ((place >= out) & (place < into)).long() - ((place <= out) & (place > into)).long()
        moved = words.gather(1, source).scatter(1, into, new)
        words = torch.where(done < rounds, moved, words)
    return words


def draw_balanced(
    count: int, length: int, machine: Machine, near: float, most: int, generator: Generator
) -> Words:
    """Draw strings of which each is a member with probability 1/2; all of one kind where there are no others.

    Members are uniform among those of the length. Of the others a share `near` are members after some edits, and the
    rest, with those that edits have left members, are uniform among the others.
    """
    if not has_words(machine, length, True):
        return draw_words(count, length, machine, False, generator)
    members = draw_words(count, length, machine, True, generator)
    if not has_words(machine, length, False):
        return members
    others = draw_words(count, length, machine, False, generator)
    symbols = len(machine.symbols) - 1
    misses = edited(members, symbols, most, generator)
    missed = machine.run(misses + 1)[:, -1:] == 0
    others = torch.where(missed & (chances((count, 1), generator) < near), misses, others)
    return torch.where(chances((count, 1), generator) < 0.5, members, others)


def remembering(machine: Machine) -> Int[Tensor, " symbol"]:
    """The symbols after which the state still depends on the state before.

    >>> from ordinate.lab.tasks.automata.columns import Addition
    >>> addition = Addition().build()
    >>> [addition.symbols[index] for index in remembering(addition)][:4]
    ['09', '18', '27', '36']
    """
    functions = machine.functions()
    return (functions != functions[:, :1]).any(1).nonzero()[:, 0]


def draw_remembering(
    count: int, length: int, machine: Machine, share: float, generator: Generator
) -> Int[Tensor, "batch place"]:
    """Draw uniform strings, a share of them with a stretch, of any length and anywhere, of symbols that remember.

    In an addition these are the columns with the sum 9, which pass a carry on: chains of carries are long then.
    """
    words = integers(0, len(machine.symbols), (count, length), generator)
    kept = remembering(machine).to(words.device)
    if not share or len(kept) in (0, len(machine.symbols)):
        return words
    first, last = integers(0, length, (2, count, 1), generator).sort(0).values
    place = torch.arange(length, device=words.device)
    inside = (place >= first) & (place <= last) & (chances((count, 1), generator) < share)
    return torch.where(inside, kept[integers(0, len(kept), (count, length), generator)], words)


def longest_run(away: Bool[Tensor, "batch place"]) -> Int[Tensor, " batch"]:
    """The length of the longest run of places that are marked.

    >>> longest_run(torch.tensor([[True, True, False, True], [False] * 4])).tolist()
    [2, 0]
    """
    if not away.shape[1]:
        return away.sum(1)
    place = torch.arange(away.shape[1], device=away.device)
    return (place - torch.where(away, -1, place).cummax(1).values).amax(1)


def written(names: Iterable[str]) -> str:
    """Names one after another, with spaces between them where one has several characters.

    >>> written(["a", "b"]), written(["35", "20"])
    ('ab', '35 20')
    """
    names = list(names)
    return ("" if all(len(name) == 1 for name in names) else " ").join(names)
