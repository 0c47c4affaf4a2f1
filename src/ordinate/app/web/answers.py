"""What a model answers, symbol by symbol beside the exact answer."""

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from ordinate.lab.evaluation.metrics import symbols_right, within_tolerance
from ordinate.lab.evaluation.sweep import Model, outputs, run_model, test_set
from ordinate.lab.tasks import Task
from ordinate.lab.tasks.arithmetic.base import DigitTask
from ordinate.lab.tasks.arithmetic.digits import BLANK, PAD, SYMBOLS
from ordinate.lab.tasks.arithmetic.lines import OPERANDS, answer_field, slots
from ordinate.lab.tasks.batch import Batch

TOLERANCE = 0.1
"""Of numbers, relative and absolute: as accuracy is measured."""

EMPTY = ""
"""A place without a digit."""


@dataclass(frozen=True)
class Written:
    """An answer symbol by symbol in reading order, and the places, counted from the left, that are wrong."""

    symbols: list[str]
    wrong: list[int]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def question(task: Task, batch: Batch) -> list[dict[str, Any]]:
    """The rows above an answer: operands, place under place, where a task has them."""
    if not isinstance(task, DigitTask):
        return []
    places = len(slots(batch.coordinates, answer_field(batch.coordinates)))
    rows = []
    for name in batch.coordinates.fields:
        if name in OPERANDS:
            digits = batch.input[0, slots(batch.coordinates, name)].tolist()
            symbols = [SYMBOLS[d] if d < PAD else EMPTY for d in reversed(digits)]
            rows.append({"name": name, "symbols": ([EMPTY] * places + symbols)[-places:]})
    return rows


def exact(task: Task, batch: Batch) -> Written:
    """The exact answer."""
    return Written(_symbols(task, batch, batch.target), [])


def answered(model: Model, task: Task, batch: Batch) -> Written:
    """The model's answer to the first sample."""
    with torch.no_grad():
        output = run_model(model, batch.input, batch.coordinates)
    right = _symbols(task, batch, batch.target)
    if batch.target.is_floating_point():
        answer = output.to(batch.target.dtype)
        close = torch.isclose(answer, batch.target, rtol=TOLERANCE, atol=TOLERANCE)[0]
        missed = (~close[task.scored(batch.coordinates)]).tolist()
        return Written(_symbols(task, batch, answer), [i for i, wrong in enumerate(missed) if wrong])
    given = _symbols(task, batch, output.argmax(-1))
    pairs = zip(given, right, strict=True)
    return Written(given, [place for place, (one, other) in enumerate(pairs) if one != other])


def measured(model: Model, task: Task, length: int, count: int, seed: int) -> dict[str, Any]:
    """The share of right answers, and of right symbols, among some samples of a length."""
    tests = test_set(task, "length", float(length), count=count, seed=seed)
    whole, single = [], []
    with torch.no_grad():
        for output, batch, scored in outputs(model, task, tests):
            if batch.target.is_floating_point():
                target = batch.target.to(output.dtype)
                right = within_tolerance(output, target, scored, relative=TOLERANCE, absolute=TOLERANCE)
                whole.append(right.double())
                single.append(right.double())
            else:
                symbols = symbols_right(output, batch.target, scored)
                whole.append(symbols.all(-1).double())
                single.append(symbols.double().mean(-1))
    shares = torch.cat(whole)
    return {"count": len(shares), "exact": float(shares.mean()), "symbols": float(torch.cat(single).mean())}


def _symbols(task: Task, batch: Batch, answer: Tensor) -> list[str]:
    """The symbols of an answer to the first sample, as a person reads them."""
    if isinstance(task, DigitTask):
        place = slots(batch.coordinates, answer_field(batch.coordinates)).flip(0)
        return [SYMBOLS[s] if s < PAD or s > BLANK else EMPTY for s in answer[0, place].tolist()]
    if answer.is_floating_point():
        return [f"{value:z.2f}" for value in answer[0][task.scored(batch.coordinates)].tolist()]
    names = task.answer_texts
    return [names[s].strip() for s in answer[0, task.scored(batch.coordinates)[:, 0]].tolist()]
