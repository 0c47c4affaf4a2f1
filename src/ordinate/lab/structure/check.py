"""Does a task have the structure that a relation declares? Asked of the task's own answers, on samples."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.seeds import generator
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Batch
from ordinate.relations.bound import BoundRelation
from ordinate.relations.pattern import Pattern
from ordinate.relations.relation import Relation

UNLIKE = 3.0
"""Two pairs of a class act unlike when one changes the answer this many times as often as the other."""

NUMBERS_AT_ONCE = 2**22
"""Inputs that are changed in one go."""

SIGMAS = 6.0
"""How clear that has to be, in standard errors."""


@dataclass(frozen=True)
class Finding:
    """One way in which a task breaks a relation, with a sample that shows it."""

    rule: str
    message: str
    example: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.message}\n  {self.example}"


def reach(pattern: Pattern, layers: int) -> Bool[Tensor, "query key"]:
    """Whether information gets from a key to a query in that many layers; a token always keeps its own."""
    step = torch.eye(pattern.tokens)
    step[pattern.query, pattern.key] = 1.0
    reached = torch.eye(pattern.tokens)
    for _ in range(layers):
        reached = ((reached @ step) > 0).float()
    return reached > 0


def influence(
    task: Task, *, length: int, count: int, seed: int, report: Callable[[int, int], None] | None = None
) -> tuple[Coordinates, Float[Tensor, "output input"]]:
    """How often the answer at a token changes when an input token is drawn again.

    The rate is 0 for input tokens that are not free, and for outputs that do not count. `report` is called with the
    steps done and all steps as the work proceeds.
    """
    draw = generator(seed, "influence", length)
    coordinates = task.sample(1, generator=draw, length=length).coordinates
    at_once = max(1, NUMBERS_AT_ONCE // (len(coordinates) * max(1, task.features)))
    sizes = [min(count - start, at_once) for start in range(0, count, at_once)]
    changes = torch.zeros(len(coordinates), len(coordinates))
    tokens, done = task.free(coordinates, length), 0
    for size in sizes:
        batch = task.sample(size, generator=draw, length=length)
        if batch.coordinates != coordinates:
            raise OrdinateError(
                f"{task.name!r} draws a new layout for every batch: check it without words and in the padded format"
            )
        scored = task.scored(coordinates).any(-1)
        for token in tokens:
            other = task.reference(task.redraw(batch, token, draw), coordinates)
            changes[:, token] += (task.differs(batch.target, other) & scored).float().sum(0)
            done += 1
            if report is not None:
                report(done, len(sizes) * len(tokens))
    return coordinates, changes / count


def check(
    relation: Relation,
    task: Task,
    layers: int,
    *,
    count: int = 2000,
    seed: int = 0,
    length: int | None = None,
) -> list[Finding]:
    """What speaks against the relation, found on `count` samples; an empty list if nothing does.

    *Reach*: changing an input beyond the relation's reach in `layers` layers never changes an output.
    *Alike*: pairs of one class change the answer about equally often (outputs above the longest operand left out,
    since their own place is empty).
    """
    length = max(task.lengths()) if length is None else length
    task = task.tested()
    coordinates, rates = influence(task, length=length, count=count, seed=seed)
    bound, label = BoundRelation(relation, [coordinates]), coordinates.label
    pattern = bound.pattern(coordinates)
    findings = []
    outside = (rates > 0) & ~reach(pattern, layers)
    if outside.any():
        output, token = divmod(int((rates * outside).argmax()), len(rates))
        message = (
            f"the answer at {label(output)!r} depends on {label(token)!r}, which {layers} layers do not reach "
            f"(it changed in {rates[output, token]:.2%} of the samples; {int(outside.sum())} such pairs)"
        )
        findings.append(Finding("reach", message, _counterexample(task, output, token, length, seed)))
    free = torch.zeros(len(coordinates), dtype=torch.bool)
    free[list(task.free(coordinates, length))] = True
    answers = (rates > 0).any(1) & (coordinates.ordinate_tensor < length)
    asked = answers[pattern.query] & free[pattern.key]
    for number in range(bound.classes):
        chosen = asked & (pattern.label == number)
        query, key = pattern.query[chosen], pattern.key[chosen]
        found = rates[query, key]
        if _unlike(found, count):
            often, rarely = (
                f"{label(int(query[i]))!r} from {label(int(key[i]))!r}"
                for i in (found.argmax(), found.argmin())
            )
            message = f"pairs of the class {bound.names[number]!r} do not act alike"
            example = f"{often} changes in {found.max():.2%} of the samples, {rarely} in {found.min():.2%}"
            findings.append(Finding("alike", message, example))
    return findings


def _unlike(rates: Float[Tensor, " pair"], count: int) -> bool:
    """Whether some pairs clearly change the answer more often than others, as measured on `count` samples."""
    if len(rates) < 2:
        return False
    low, high = rates.aminmax()
    error = ((high * (1 - high) + low * (1 - low)) / count).sqrt()
    return bool(high > UNLIKE * low and high - low > SIGMAS * max(float(error), 1 / count))


def _counterexample(task: Task, output: int, token: int, length: int, seed: int) -> str:
    """Two inputs that differ at one token, and their answers, which differ at the output."""
    draw = generator(seed, "counterexample", length)
    while True:
        batch = task.sample(1000, generator=draw, length=length)
        inputs = task.redraw(batch, token, draw)
        after = Batch(inputs, task.reference(inputs, batch.coordinates), batch.coordinates)
        found = task.differs(batch.target, after.target)[:, output].nonzero()
        if len(found):
            sample = int(found[0, 0])
            rows = [
                task.show(Batch(b.input[sample, None], b.target[sample, None], b.coordinates))[0]
                for b in (batch, after)
            ]
            return "; ".join(f"{row['input']} gives {row['target']}" for row in rows)
