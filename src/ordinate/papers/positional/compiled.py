"""Compiled meets trained: the value-scale axis with models that were never trained, and descent from beside them.

A compiled model runs a parallel algorithm exactly, so that its error is that of rounding at every scale. Noise is then
added to its weights, and gradient descent shows whether it comes back, and from how far.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure as Drawing

from ordinate.lab.evaluation.claims import AtLeast, AtMost, Claim
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.evaluation.sweep import TestSet, measure, test_set
from ordinate.lab.programs.compiler.bounds import error_bound
from ordinate.lab.programs.files import save
from ordinate.lab.report.curves import Panel, Series, value_curves
from ordinate.lab.report.numbers import show_number
from ordinate.lab.report.style import BLACK, BLUE, GREEN, LAST, ORANGE, PURPLE, SKY, VERMILION
from ordinate.lab.runs import Run, Store
from ordinate.lab.seeds import derive
from ordinate.lab.studies import Study, scores_at
from ordinate.lab.tasks import make_task
from ordinate.papers.figure import SMOKE, Document, Figure, number, plain
from ordinate.papers.positional.descent import (
    BACK,
    DESCENTS,
    LENGTH,
    compiled_for,
    disturbed,
    how_far,
    measured,
)
from ordinate.papers.positional.value_scale import MODELS, SCALES, SETTINGS, recipe_for

POINTS = tuple(f"scale={c:g}" for c in SCALES)
LOOKS = {"compiled": BLACK, "positional": BLUE, "standard": VERMILION}
TASK_LOOKS = {
    "sum": SKY,
    "min": ORANGE,
    "median": GREEN,
    "sort": PURPLE,
    "max-subarray": f"{BLUE}{LAST}",
}


@dataclass(frozen=True)
class Compared:
    """Compiled, trained positional and trained standard models on five tasks; descent from disturbed solutions."""

    scale: str

    def study(self, store: Path) -> Study:
        """The runs of the value-scale figure, and a descent for every task and noise; compiled weights are kept."""
        setting, descent, kept = SETTINGS[self.scale], DESCENTS[self.scale], Store(store)
        for task in setting.tasks:
            save(compiled_for(task), store.parent / "compiled" / task, dense=True)
        trained = [recipe_for(task, model, self.scale) for task in setting.tasks for model in MODELS]
        descents = [
            disturbed(task, noise, self.scale, kept) for task in setting.tasks for noise in descent.noises
        ]
        fewer = {recipe.name: descent.seeds or setting.seeds for recipe in descents}
        return Study((*trained, *descents), tuple(range(setting.seeds)), store, fewer)

    def measure(self, study: Study, scale: str) -> Document:
        """Curves of the three models, and errors before and after descent."""
        setting, store = SETTINGS[scale], Store(study.store)
        curves, descents, claims = {}, {}, []
        for task in setting.tasks:
            exact = _exact(task, setting.seeds, setting.count)
            trained = {model: _trained(study.runs(recipe_for(task, model, scale))) for model in MODELS}
            curves[task] = {"compiled": exact["values"], **trained}
            descents[task] = [
                measured(disturbed(task, noise, scale, store), store, study)
                for noise in DESCENTS[scale].noises
            ]
            claims += _claims(task, exact, trained["positional"], scale)
        return {
            "settings": _settings(scale),
            "bounds": {task: _exact_facts(task) for task in setting.tasks},
            "curves": curves,
            "descents": descents,
            "claims": [claim.to_dict() for claim in claims],
            "table": _table(curves, descents),
        }


def _trained(runs: list[Run]) -> list[list[float | None]]:
    """Errors of every seed at every scale."""
    by_point = [scores_at(runs, point) for point in POINTS]
    return [[plain(value) for value in row] for row in zip(*by_point, strict=True)]


def _tests(task: str, seed: int, count: int) -> list[TestSet]:
    """The test sets that trained seeds of the value-scale figure meet: the first is the validation set."""
    what = make_task(task, length=LENGTH)
    return [
        test_set(what, "scale", c, count=count, seed=derive(seed, place))
        for place, c in enumerate(SCALES, start=1)
    ]


def _exact(task: str, seeds: int, count: int) -> dict[str, Any]:
    """Errors of the compiled model on every seed's test sets, and the largest of any answer."""
    compiled, what = compiled_for(task), make_task(task, length=LENGTH)
    values, largest = [], 0.0
    for seed in range(seeds):
        row = []
        for tests in _tests(task, seed, count):
            row.append(measure(compiled.model, what, tests)[0].score)
            for batch in tests.batches:
                given = batch.input.double().numpy()
                wanted = compiled.program.reference(given)
                largest = max(largest, float(np.abs(compiled(given) - wanted).max()))
        values.append(row)
    return {"values": values, "largest": largest, "bound": error_bound(compiled.allocation, torch.float32)}


def _exact_facts(task: str) -> dict[str, Any]:
    compiled = compiled_for(task)
    parameters = sum(p.numel() for p in compiled.model.parameters())
    return {"bound": error_bound(compiled.allocation, torch.float32), "parameters": parameters}


def _claims(
    task: str, exact: dict[str, Any], positional: list[list[float | None]], scale: str
) -> list[Claim]:
    far = [number(row[-1]) for row in positional]
    least = max(row[-1] for row in exact["values"])
    return [
        Claim.of_exact(
            f"{task}: compiled, every answer at every c is right within the proven bound (largest error / bound).",
            exact["largest"] / exact["bound"],
            AtMost(1),
            None,
            scale,  # type: ignore[arg-type]
        ),
        Claim.over_seeds(
            f"{task}: at c = 10 the trained positional model errs more than the compiled one (ratio of errors).",
            [value / max(least, np.finfo(np.float32).tiny) for value in far],
            AtLeast(100),
            scale,
        ),
    ]


def _settings(scale: str) -> dict[str, Any]:
    descent, setting = DESCENTS[scale], SETTINGS[scale]
    return {
        "tasks": ", ".join(setting.tasks),
        "length": LENGTH,
        "seeds": setting.seeds,
        "trained models": "those of positional/value-scale",
        "noises": ", ".join(f"{noise:g}" for noise in descent.noises),
        "steps of descent": descent.steps,
        "batch": descent.batch,
        "optimizer": "adam, rate 0.001, cosine",
        "test samples at each c": setting.count,
    }


def _table(curves: dict[str, Any], descents: dict[str, Any]) -> dict[str, Any]:
    """Errors at c = 10, then what descent makes of noise."""
    rows = []
    for task, by_model in curves.items():
        for model, values in by_model.items():
            first, last = (_middle([row[place] for row in values]) for place in (0, -1))
            rows.append([task, model, "", show_number(first), show_number(last), "", ""])
        rows += [
            [
                task,
                "disturbed",
                f"{row['noise']:g}",
                show_number(_middle(row["before"])),
                show_number(_middle(row["after"])),
                f"{sum(row['back'])} of {len(row['back'])}",
                f"{_middle(row['distance_before']):.3g} -> {_middle(row['distance_after']):.3g}",
            ]
            for row in descents[task]
        ]
    return {
        "headers": [
            "task",
            "model",
            "noise",
            "c = 1, or before descent",
            "c = 10, or after it",
            "seeds back",
            "distance of weights",
        ],
        "rows": rows,
        "caption": "Mean squared error, median over seeds; disturbed models before and after descent, both at c = 10.",
    }


def _middle(values: list[float | None]) -> float:
    return float(summarise([number(value) for value in values]).median)


def _numbers(values: list[list[float | None]]) -> list[list[float]]:
    return [[number(value) for value in row] for row in values]


def draw(document: Document) -> Drawing:
    """One panel a task, and two for the descents."""
    panels = [
        Panel(
            task,
            "scale c of the values",
            "mean squared error",
            [
                Series(model, LOOKS[model], list(SCALES), _numbers(values))
                for model, values in by_model.items()
            ],
        )
        for task, by_model in document["curves"].items()
    ]
    for key, title in (("before", "noise on compiled weights"), ("after", "the same after descent")):
        series = []
        for task, rows in document["descents"].items():
            noisy = [row for row in rows if row["noise"] > 0]
            values = np.array([_numbers([row[key]])[0] for row in noisy]).T.tolist()
            series.append(Series(task, TASK_LOOKS[task], [row["noise"] for row in noisy], values))
        panels.append(Panel(title, "noise", "mean squared error, c = 10", series, None, log_x=True))
    return value_curves(panels, columns=4)


def notes(document: Document) -> list[str]:
    """From how far descent returns, and what the compiled models are."""
    return [
        "Compiled weights are dense queries and keys, in the parameters that training has (M1); attention is "
        "one-hot to the last bit, so that its own gradient is 0 until noise softens it. Noise 0 shows how far "
        "descent walks away from an exact solution.",
        f"A seed counts as back if its error at c = 10 is below {BACK:g} of the variance of the answers.",
        *(f"{task}: {how_far(rows)}." for task, rows in document["descents"].items()),
        *(
            f"{task}: proven error bound {facts['bound']:.3g} on [-100, 100], {facts['parameters']} parameters."
            for task, facts in document["bounds"].items()
        ),
    ]


FIGURES = (
    Figure(
        "positional/compiled",
        "Compiled meets trained",
        "Mean squared error on sequences of 8 numbers from [-2c, 2c]: algorithms compiled into weights beside models "
        "trained on [-2, 2]; and what gradient descent makes of compiled weights with noise on them.",
        {
            "smoke": SMOKE,
            "demo": "two tasks, three seeds, some minutes; no verdict",
            "laptop": "the runs of positional/value-scale, and at most 20 minutes more on 2 cores",
            "paper": "the published training, and longer descents; for GPUs",
        },
        draw=draw,
        caption="Five panels: median over seeds with the 10-90 % band on the same test samples; the compiled model has "
        "no seeds of its own. Last two: error at c = 10 of compiled weights with noise, before and after gradient "
        "descent on c = 1; noise 0.1 is a tenth of the mean size of a unit's weights.",
        plan=Compared,
        notes=notes,
    ),
)
