"""What the two models cost, per task and length: operations, parameters, memory and time, in training and in use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from matplotlib.figure import Figure as Drawing

from ordinate.lab.architectures import ConcatTransformer
from ordinate.lab.evaluation.claims import AtLeast, AtMost, Claim, Predicate
from ordinate.lab.evaluation.cost import alternate, operations, peak_bytes, seconds_of
from ordinate.lab.report.curves import Panel, Series, value_curves
from ordinate.lab.report.numbers import show_number
from ordinate.lab.seeds import generator
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.batch import Batch
from ordinate.models import build_model
from ordinate.papers.figure import SMOKE, Document, Figure, Progress
from ordinate.papers.positional.value_scale import MODELS

MEASURES = {
    "operations": "operations a sample",
    "bytes": "peak bytes a sample",
    "seconds": "seconds a sample",
}
PHASES = ("training", "use")


@dataclass(frozen=True)
class CostScale:
    """Tasks, lengths and batch of a scale; a time is the median over `turns`."""

    tasks: tuple[str, ...]
    lengths: tuple[int, ...]
    batch: int
    turns: int
    description: str


SIZES = {
    "smoke": CostScale(("sum",), (2, 4), 4, 1, SMOKE),
    "laptop": CostScale(
        ("sum", "sort", "bfs"), (4, 8, 16, 32, 64), 64, 7, "three tasks, 4 to 64 tokens, a minute"
    ),
    "paper": CostScale(
        ("sum", "sort", "bfs"), (4, 8, 16, 32, 64, 128, 256), 64, 15, "three tasks, 4 to 256 tokens"
    ),
}


def compute(scale: str, progress: Progress) -> Document:
    """Measure both models side by side."""
    size = SIZES[scale]
    steps, rows = len(size.tasks) * len(size.lengths), []
    for task in size.tasks:
        for length in size.lengths:
            rows += measure(task, length, size)
            progress(len(rows) // (2 * len(PHASES)), steps)
    return {
        "settings": {"batch": size.batch, "turns of a timing": size.turns, "threads": 1},
        "rows": rows,
        "claims": [claim.to_dict() for claim in _claims(rows, size, scale)],
        "table": _table(rows),
    }


def measure(task: str, length: int, size: CostScale) -> list[dict[str, Any]]:
    """One row for each model and phase."""
    chosen = make_task(task, length=length)
    batch = chosen.sample(size.batch, generator=generator(0, "cost"))
    rows, sides = [], []
    for label, settings in MODELS.items():
        model = build_model(settings, chosen, seed=0)
        assert isinstance(model, ConcatTransformer)
        for phase, call in zip(PHASES, calls(model, batch), strict=True):
            rows.append(
                {
                    "task": task,
                    "length": length,
                    "model": label,
                    "phase": phase,
                    "parameters": sum(p.numel() for p in model.parameters()),
                    "operations": operations(call) / size.batch,
                    "bytes": peak_bytes(call) / size.batch,
                }
            )
            sides.append(call)
    times = alternate(size.turns, *(lambda call=call: seconds_of(call) for call in sides))
    return [row | {"seconds": seconds / size.batch} for row, seconds in zip(rows, times, strict=True)]


def calls(model: ConcatTransformer, batch: Batch) -> tuple[Callable[[], object], Callable[[], object]]:
    """A step without its optimizer, and a forward pass."""
    x, y = batch.input.float(), batch.target.float()

    def step() -> None:
        model.zero_grad(set_to_none=True)
        model.train()
        (model(x, batch.coordinates) - y).square().mean().backward()

    def use() -> None:
        model.eval()
        with torch.no_grad():
            model(x, batch.coordinates)

    return step, use


def _of(rows: list[dict[str, Any]], key: str, **facts: object) -> list[float]:
    return [float(row[key]) for row in rows if all(row[name] == value for name, value in facts.items())]


def _series(rows: list[dict[str, Any]], task: str, phase: str, model: str, key: str) -> Series:
    facts = {"task": task, "phase": phase, "model": model}
    return Series(model, model, _of(rows, "length", **facts), [_of(rows, key, **facts)])


def _claims(rows: list[dict[str, Any]], size: CostScale, scale: str) -> list[Claim]:
    """What is counted is exact: it needs no seeds."""

    def exact(sentence: str, value: float, asked: Predicate) -> Claim:
        return Claim.of_exact(sentence, value, asked, None, scale)  # type: ignore[arg-type]

    def ratios(key: str, one: str, other: str, **facts: str) -> list[float]:
        sides = (_of(rows, key, model=model, **facts) for model in (one, other))
        return [a / b for a, b in zip(*sides, strict=True)]

    claims = []
    for task in size.tasks:
        for phase in PHASES:
            saved = ratios("operations", "standard", "positional", task=task, phase=phase)
            what = f"{task}: positional needs fewer operations in {phase} at every length (least ratio)."
            claims.append(exact(what, min(saved), AtLeast(1)))
        share = ratios("parameters", "positional", "standard", task=task, phase="use")
        what = (
            f"{task}: positional has fewer parameters at every length (largest share of those of standard)."
        )
        claims.append(exact(what, max(share), AtMost(1)))
    return claims


def _table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    cells = [
        [
            row["task"],
            str(row["length"]),
            row["model"],
            row["phase"],
            str(row["parameters"]),
            *(show_number(float(row[key])) for key in MEASURES),
        ]
        for row in rows
    ]
    return {
        "headers": ["task", "tokens", "model", "phase", "parameters", *MEASURES.values()],
        "rows": cells,
        "caption": "Per sample, on one thread.",
    }


def draw(document: Document) -> Drawing:
    """A row for each phase, a column for each measure, on the first task."""
    rows = document["rows"]
    first = rows[0]["task"]
    return value_curves(
        [
            Panel(
                f"{first}, {phase}",
                "tokens",
                label,
                [_series(rows, first, phase, model, key) for model in MODELS],
                trained_to=None,
                log_x=True,
            )
            for phase in PHASES
            for key, label in MEASURES.items()
        ]
    )


FIGURES = (
    Figure(
        "positional/cost",
        "What the two models cost",
        "Operations of matrix products, peak memory and time a sample, and parameters, for positional and standard "
        "attention with log2(n) + 1 layers, in a step of training and in use.",
        {name: size.description for name, size in SIZES.items()},
        draw=draw,
        caption="Per sample of a batch, on one thread. Training is a forward and a backward pass, use a forward pass; "
        "the weights of positional attention are worked out once a batch, or once for all in use.",
        compute=compute,
        notes=lambda document: [
            "Operations and bytes are counted, the same on every machine of this kind; seconds are of this machine, "
            "both models in turns, and are no claim."
        ],
    ),
)
