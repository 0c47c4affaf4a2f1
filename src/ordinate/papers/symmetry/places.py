"""Table 1: where a model with absolute positions and shift augmentation errs, digit by digit."""

import math

import numpy as np
from matplotlib.ticker import MaxNLocator, PercentFormatter
from torch.nn.functional import pad

from ordinate.lab.evaluation.claims import AtLeast, Claim, Predicate
from ordinate.lab.evaluation.slices import PLACE, sliced
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.evaluation.sweep import TestSet, measure, test_set
from ordinate.lab.report.drawing import Drawing, Panel, Series
from ordinate.lab.report.style import BLACK, ORANGE, look_of, paper_style, size
from ordinate.lab.runs import Run
from ordinate.lab.seeds import derive, generator
from ordinate.lab.studies import Study
from ordinate.lab.tasks import Task
from ordinate.lab.tasks.arithmetic.samplers import Uniform
from ordinate.lab.tasks.arithmetic.sums import Addition
from ordinate.lab.training import load_model
from ordinate.papers.figure import Document, Figure, Runs, number, plain, published
from ordinate.papers.symmetry.addition import shifted_sums
from ordinate.papers.symmetry.models import SCALES, described, differences

DIGITS = 10
"""Of the sums; one less than the padded places where those are fewer."""


def shifted_set(task: Addition, length: int, *, count: int, seed: int) -> TestSet:
    """Sums of the numbers of training, with as many zeros on the right of both as make them `length` digits long."""
    draw = generator(seed, "shifted")
    numbers = Uniform().draw(count, task.digits, draw)
    zeros = length - task.digits
    operands = task.format.write(pad(numbers, (zeros, 0)), task.span(length), True, draw)
    return TestSet("shift", float(zeros), True, (length,), (task.compose(operands, None, draw),))


def plan(scale: str) -> Runs:
    """The runs of Fig 2c."""
    sizes = SCALES[scale]
    return Runs((shifted_sums(sizes).recipe,), sizes.seeds, measured)


def measured(study: Study, scale: str) -> Document:
    """Exact match on shifted and on uniform sums, and the share of right digits at every place, for every seed."""
    sizes = SCALES[scale]
    length = min(DIGITS, sizes.places - 1)
    columns = [
        _column(run, study.recipes[0].task, length, sizes.count) for run in study.runs(study.recipes[0])
    ]
    names = ["shifted", "uniform", *(f"digit {place + 1}" for place in range(length + 1))]
    values = {name: [math.nan if c is None else c[name] for c in columns] for name in names}
    return {
        "settings": {
            "digits": length,
            "samples": sizes.count,
            "seeds": sizes.seeds,
            **differences(study.recipes, [shifted_sums(SCALES["paper"]).recipe]),
        },
        "values": {name: [plain(v) for v in row] for name, row in values.items()},
        "claims": [claim.to_dict() for claim in _claims(values, length, scale)],
        "table": _table(values, length),
    }


def draw(document: Document) -> Drawing:
    """Digits across, share of right ones up, published values beside."""
    known = published("symmetry")["table-1"]["percent"]
    values = {name: [number(v) for v in row] for name, row in document["values"].items()}
    places = [name for name in values if name.startswith("digit")]
    look, paper = look_of(ORANGE), look_of(BLACK)
    with paper_style():
        figure = Drawing(figsize=size(5.6, 3.4), layout="constrained")
        axes = figure.add_subplot()
        x = np.arange(1, len(places) + 1)
        rows = np.array([values[name] for name in places])
        axes.plot(x, rows, ls="none", marker=".", color=look.colour, alpha=0.5)
        axes.plot(x, np.nanmedian(rows, 1), look.line, marker=look.marker, color=look.colour, label="here")
        there = [(i, known[name] / 100) for i, name in zip(x, places, strict=True) if name in known]
        axes.plot(
            *zip(*there, strict=True),
            ls="none",
            marker=paper.marker,
            mfc="none",
            color=paper.colour,
            label="published",
        )
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("digit of the sum, least significant first")
        axes.set_ylabel("right")
        axes.legend()
        here = Series("here", ORANGE, x.tolist(), rows.T, {int(i): float(share) for i, share in there})
        figure.keep(axes, Panel("digits", axes.get_xlabel(), "right", [here], None, percent=True))
    return figure


def _column(run: Run, task: Task, length: int, count: int) -> dict[str, float] | None:
    """Exact match on both sets and the share of right digits at every place; None for a seed that failed."""
    if run.status != "done":
        return None
    assert isinstance(task, Addition)
    model = load_model(run, (run.record().get("picked") or {}).get("step"))
    seed = derive(run.seed, "table-1")
    uniform = test_set(task, "length", float(length), count=count, seed=seed)
    shifted = shifted_set(task, length, count=count, seed=seed)
    found = {
        "shifted": measure(model, task, shifted)[0].accuracy,
        "uniform": measure(model, task, uniform)[0].accuracy,
    }
    places = [place for place in sliced(model, task, uniform, PLACE) if place.value <= length]
    return found | {f"digit {place.value + 1}": place.score for place in places}


def _claims(values: dict[str, list[float]], length: int, scale: str) -> list[Claim]:
    known = published("symmetry")["table-1"]["percent"]
    upper = np.mean([values[f"digit {place}"] for place in range(3, length + 2)], axis=0)
    lowest = np.array(values["digit 1"])
    gap = [a - b for a, b in zip(values["shifted"], values["uniform"], strict=True)]
    kinds: tuple[tuple[str, list[float], Predicate, float | None], ...] = (
        (
            "Shifted sums are right on at least 95 %.",
            values["shifted"],
            AtLeast(0.95),
            known["shifted"] / 100,
        ),
        (
            "Uniform sums are at least 10 points worse.",
            gap,
            AtLeast(0.1),
            (known["shifted"] - known["uniform"]) / 100,
        ),
        (
            "The least significant digit is worse than digits 3 and up.",
            (upper - lowest).tolist(),
            AtLeast(0.01),
            None,
        ),
    )
    return [
        Claim.over_seeds(sentence, numbers, predicate, scale, value)
        for sentence, numbers, predicate, value in kinds
    ]


def _table(values: dict[str, list[float]], length: int) -> Document:
    known = published("symmetry")["table-1"]["percent"]
    rows = []
    for name, row in values.items():
        summary = summarise(row)
        spread = (
            f"{summary.interval.low:.1%} to {summary.interval.high:.1%}"
            if summary.count > summary.failed
            else ""
        )
        rows.append([name, f"{summary.median:.1%}", spread, f"{known[name]:g} %" if name in known else ""])
    return {
        "headers": ["", "right", "interval", "published"],
        "rows": rows,
        "caption": f"Sums of {length} digits: exact match, and the share of right digits at every place.",
    }


FIGURES = (
    Figure(
        "symmetry/table-1",
        "Absolute positions with shifted samples, digit by digit",
        "The models of Fig 2c on sums of ten digits: on shifted copies of short sums, on uniform ones, and how often "
        "each digit of those is right, digit 1 the least significant.",
        described(4),
        draw=draw,
        caption="Right digits in uniform sums of {settings[digits]} digits; the line joins medians over seeds, dots "
        "are seeds.",
        plan=plan,
        notes=lambda document: [
            "Shifted sums are sums of training with zeros on the right of both numbers.",
            "Measured with the picked checkpoint, as the paper does.",
        ],
    ),
)
