"""Figures of papers as commands: data -> claims and verdicts -> plots and a report.

A `Figure` is data and at most three functions. Its numbers are computed on the spot (`compute`), or measured on the
trained runs of a `plan`: of models along the axes of their task (`papers.curves`), on panels of lines over whatever
recipes differ in (`papers.sheets`), or as a figure likes (`Runs`). Either way they become one plain document, and
`draw`, `caption` and `notes` need that document alone.
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from jaxtyping import Float
from matplotlib.figure import Figure as Drawing
from numpy import ndarray
from torch import Tensor

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.evaluation.claims import Claim
from ordinate.lab.evaluation.predicates import Predicate
from ordinate.lab.report.numbers import show_number
from ordinate.lab.report.report import (
    Command,
    FigureSection,
    KeyValues,
    Report,
    Section,
    Table,
    Text,
    VerdictTable,
    write_report,
)
from ordinate.lab.runs import Engine, Event, Job, OnEvent, Run, environment, read_json, write_json
from ordinate.lab.studies import Study
from ordinate.lab.threads import threads
from ordinate.lab.training import Recipe

Document = dict[str, Any]
"""What `result.json` holds: plain data with keys `settings`, `claims`, `table`, and what the figure draws."""

Progress = Callable[[int, int], None]
"""Called with the steps done and the steps in all, as often as one likes."""

SMOKE = "proves the path in seconds; no verdict"
"""What most figures say of their scale `smoke`."""

PATIENCE = 2.0
"""Seconds after which the progress of a computation is shown."""


class Plan(Protocol):
    """What a scale trains, and how its runs are measured."""

    def study(self, store: Path) -> Study:
        """Recipes and seeds, with runs in a store."""

    def measure(self, study: Study, scale: str) -> Document:
        """Statistics and claims from the runs."""


@dataclass(frozen=True)
class Runs:
    """A plan whose runs are measured by a function of the study and the scale."""

    recipes: tuple[Recipe, ...]
    seeds: int
    measure: Callable[[Study, str], Document]

    def study(self, store: Path) -> Study:
        """Every recipe with every seed."""
        return Study(self.recipes, tuple(range(self.seeds)), store)


@dataclass(frozen=True)
class Result:
    """What a figure's reproduction gave: a plain document, and the files drawn from it."""

    document: Document
    files: dict[str, Path]

    @property
    def claims(self) -> list[Claim]:
        """The claims with their verdicts."""
        return [Claim.from_dict(claim) for claim in self.document["claims"]]

    @property
    def table(self) -> tuple[list[str], list[list[str]]]:
        """Headers and rows for a terminal."""
        return self.document["table"]["headers"], self.document["table"]["rows"]

    @property
    def failed(self) -> bool:
        """Whether a claim was contradicted."""
        return any(claim.verdict == "contradicted" for claim in self.claims)

    def to_dict(self) -> Document:
        """The document, and where the files are."""
        return {**self.document, "files": {kind: str(path) for kind, path in self.files.items()}}


@dataclass(frozen=True)
class Figure:
    """One figure of a paper: what it is, where its numbers come from, and how they are shown."""

    name: str
    title: str
    summary: str
    scales: Mapping[str, str]
    """Name of every scale, with a description."""
    draw: Callable[[Document], Drawing]
    caption: str | Callable[[Document], str]
    """A sentence or two; `{settings[seeds]}` and the like are filled from the document."""
    plan: Callable[[str], Plan] | None = None
    """What a scale trains; a figure without a plan is computed."""
    compute: Callable[[str, Progress], Document] | None = None
    """Everything at a scale, computed in this process on one thread, anew in every call."""
    notes: Callable[[Document], list[str]] = lambda document: []
    """What a reader must know besides the scale, and what did not end."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """Packages that are not always installed, each with the extra that brings it."""

    def check(self, scale: str) -> None:
        """Refuse a scale that this figure does not have, and an environment that lacks what it needs."""
        if scale not in self.scales:
            raise OrdinateError(f"{self.name} has no scale {scale!r}: {nearest(scale, self.scales)}")
        for package, extra in self.needs.items():
            if find_spec(package) is None:
                raise OrdinateError(f"{self.name} needs {package}: write pip install 'ordinate[{extra}]'")

    def study(self, scale: str, store: Path) -> Study:
        """What is trained at a scale, by a figure that has a plan."""
        self.check(scale)
        assert self.plan is not None
        return self.plan(scale).study(store)

    def jobs(self, scale: str, out: Path) -> list[Job]:
        """What is still to be done at a scale, with results below `out`; a computation is one job."""
        self.check(scale)
        if self.compute is not None:
            return [Job(self.name, self.compute, {"scale": scale})]
        return self.study(scale, out / "runs").jobs()

    def reproduce(self, scale: str, out: Path, *, engine: Engine, on_event: OnEvent | None = None) -> Result:
        """Collect the data, judge, draw, and write everything below `out`.

        A second call with the same settings trains nothing and only draws.
        """
        self.check(scale)
        document = {
            "figure": self.name,
            "scale": scale,
            "command": f"ordinate reproduce {self.name} --scale {scale}",
            "environment": environment(),
            **self.collect(scale, out, engine=engine, on_event=on_event),
        }
        folder = self.folder(scale, out)
        write_json(folder / "result.json", document)
        return self.write(document, folder)

    def collect(self, scale: str, out: Path, *, engine: Engine, on_event: OnEvent | None) -> Document:
        """Train what is missing and measure, or compute: `wall_seconds`, `workers`, `not_ended`, and the data."""
        if self.compute is not None:
            return _computed(Job(self.name, self.compute, {"scale": scale}), on_event)
        assert self.plan is not None
        plan = self.plan(scale)
        study = plan.study(out / "runs")
        trained = _trained(self.name, study, self.folder(scale, out) / "result.json", engine, on_event)
        return {**trained, **plan.measure(study, scale)}

    def folder(self, scale: str, out: Path) -> Path:
        """Where the result of a scale goes."""
        return out / f"{self.name}-{scale}"

    def write(self, document: Document, folder: Path) -> Result:
        """Draw the figure and the report of a document into a folder."""
        report = self.report(document)
        [drawn] = report.figures()
        stem = folder / self.name.rpartition("/")[2]
        images = {path.suffix[1:]: path for path in drawn.save(stem)}
        result = Result(document, {"json": folder / "result.json", **images, "html": folder / "report.html"})
        write_report(report, result.files["html"])
        return result

    def report(self, document: Document) -> Report:
        """The page of a document: verdicts first, where something is claimed."""
        claims = Result(document, {}).claims
        verdicts = [VerdictTable(claims, figure=self.name)] if claims else []
        return Report(self.title, self.summary, [*verdicts, *self.sections(document)])

    def sections(self, document: Document, name: str = "") -> list[Section]:
        """The figure, its table, notes, settings, environment, and how to rerun it; `name` is that of its files."""
        table, name = document["table"], name or self.name
        caption = self.caption.format(**document) if isinstance(self.caption, str) else self.caption(document)
        return [
            FigureSection(self.draw(document), caption, name=name),
            Table(table["headers"], table["rows"], caption=table["caption"], name=f"{name}-table"),
            Text(self.all_notes(document), title="Notes"),
            KeyValues(document["settings"], title="Settings"),
            KeyValues(_environment(document), title="Environment"),
            Command(document["command"]),
        ]

    def all_notes(self, document: Document) -> list[str]:
        """The scale, where published numbers are from, the figure's own notes, and what did not end."""
        scale = document["scale"]
        source = f" Published: {document['published_source']}." if "published_source" in document else ""
        notes = [f"Scale {scale}: {self.scales[scale]}.{source}", *self.notes(document)]
        if said := document.get("note"):
            notes.append(f"This scale: {said}.")
        elif scale not in ("laptop", "paper"):
            notes.append("This scale gives no verdict.")
        return notes + [f"Did not end: {line.strip().splitlines()[-1]}" for line in document["not_ended"]]


def _trained(name: str, study: Study, earlier: Path, engine: Engine, on_event: OnEvent | None) -> Document:
    """Train what is missing: how long it took (as `earlier` says, if nothing was missing), and what did not end."""
    started = time.monotonic()
    outcomes = study.run(engine, on_event)
    runs = [run for recipe in study.recipes for run in study.runs(recipe)]
    whole = len(outcomes) == len(runs)  # a part of it says nothing of the time that all takes
    time_taken = {
        "wall_seconds": round(time.monotonic() - started, 1) if whole else None,
        "workers": engine.workers,
    }
    broken = [f"{outcome.job.name}: {outcome.error}" for outcome in outcomes if not outcome.ok]
    if not outcomes and earlier.is_file():
        known = read_json(earlier)
        time_taken = {key: known.get(key, default) for key, default in time_taken.items()}
    if broken and not any(run.status == "done" for run in runs):
        raise OrdinateError(f"no run of {name} ended: {broken[0].strip().splitlines()[-1]}")
    return {
        **time_taken,
        "training_seconds": round(sum(run.record().get("seconds") or 0.0 for run in runs), 1),
        "trained_at": trained_at(runs),
        "not_ended": broken,
    }


def trained_at(runs: Iterable[Run]) -> list[str]:
    """The revisions that trained runs, and on which processors: figures may be drawn elsewhere, and later."""
    found = set()
    for run in runs:
        made = run.record()["environment"]
        changed = " with changes" if made.get("dirty") else ""
        found.add(f"{(made.get('revision') or 'unknown')[:10]}{changed}, {made['cpu']}")
    return sorted(found)


def _computed(job: Job, on_event: OnEvent | None) -> Document:
    """Compute on one thread, and tell of it as an engine does: started, progress, done."""
    started = time.monotonic()
    shown = False

    def progress(step: int, steps: int) -> None:
        nonlocal shown
        seconds = time.monotonic() - started
        if on_event is None or seconds < PATIENCE:
            return
        if not shown:
            on_event(Event(job, "started", {}))
            shown = True
        on_event(Event(job, "progress", {"step": step, "steps": steps, "seconds": seconds}))

    with threads(1):
        measured = job.call(progress=progress, **job.kwargs)
    seconds = round(time.monotonic() - started, 1)
    if on_event is not None:
        on_event(Event(job, "done", {"seconds": seconds}))
    return {"wall_seconds": seconds, "workers": 1, "not_ended": [], **measured}


def _environment(document: Document) -> dict[str, Any]:
    """Of the drawing, and where it has any, of the models."""
    found = {k: v for k, v in document["environment"].items() if not isinstance(v, dict | list)}
    return found | ({"models": "; ".join(document["trained_at"])} if "trained_at" in document else {})


Numbers: TypeAlias = Sequence[float] | Float[ndarray, " seed"] | Float[Tensor, " seed"]


def claims_over_seeds(scale: str, claimed: Iterable[tuple[str, Numbers, Predicate]]) -> list[Document]:
    """Claims as documents hold them, from sentences, a number for each seed, and what is asked of it."""
    return [
        Claim.over_seeds(sentence, [float(value) for value in numbers], predicate, scale).to_dict()
        for sentence, numbers, predicate in claimed
    ]


@lru_cache
def published(paper: str) -> Document:
    """The numbers that a paper published, from its data file, each with its source.

    >>> published("positional")["value-scale"]["sum"]["standard"]["10"]
    87.6
    """
    file = resources.files("ordinate.papers") / paper / "published.json"
    document: Document = json.loads(file.read_text(encoding="utf-8"))
    return document


def plain(value: float | None) -> float | None:
    """A number as documents hold it: `None` if it is not finite."""
    return value if value is not None and math.isfinite(value) else None


def number(value: float | None) -> float:
    """A number of a document: NaN for `None`."""
    return math.nan if value is None else float(value)


def cell(value: float, *, percent: bool) -> str:
    """A number in a cell of a table."""
    if not math.isfinite(value):
        return "failed"
    return f"{value:.1%}" if percent else show_number(value)
