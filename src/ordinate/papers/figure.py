"""Figures of papers as commands: recipes x seeds -> statistics -> verdicts -> plots and a report."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from matplotlib.figure import Figure as Drawing

from ordinate.errors import OrdinateError, nearest
from ordinate.evaluation.claims import Claim
from ordinate.figures.report import (
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
from ordinate.figures.save import save_figure
from ordinate.runs import Event, Job, LocalEngine, environment, read_json, write_json
from ordinate.studies import Study


@dataclass(frozen=True)
class Scale:
    """How large a reproduction is, in words and in seeds."""

    description: str
    seeds: int


@dataclass(frozen=True)
class Result:
    """What a figure's reproduction gave: a plain document, and the files drawn from it."""

    document: dict[str, Any]
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

    def to_dict(self) -> dict[str, Any]:
        """The document, and where the files are."""
        return {**self.document, "files": {kind: str(path) for kind, path in self.files.items()}}


class Figure(ABC):
    """One figure of a paper. Kinds give the study, what is measured, and the drawing."""

    name: ClassVar[str]
    summary: ClassVar[str]
    title: ClassVar[str]

    scales: ClassVar[dict[str, str]]
    """Name of every scale, with a description."""

    @abstractmethod
    def study(self, scale: str, store: Path) -> Study:
        """What is trained at a scale."""

    @abstractmethod
    def measure(self, scale: str, study: Study) -> dict[str, Any]:
        """Statistics and claims from the study's runs, as plain data with keys `table`, `claims`, `settings`."""

    @abstractmethod
    def draw(self, document: dict[str, Any]) -> Drawing:
        """The figure, from the plain data alone."""

    @abstractmethod
    def notes(self, document: dict[str, Any]) -> list[str]:
        """What a reader of the report must know: scale, deviations, what failed."""

    def jobs(self, scale: str, out: Path) -> list[Job]:
        """What is still to be trained."""
        self._check(scale)
        return self.study(scale, out / "runs").jobs()

    def reproduce(
        self,
        scale: str,
        out: Path,
        *,
        engine: LocalEngine,
        on_event: Callable[[Event], None] | None = None,
    ) -> Result:
        """Train what is missing, measure, draw, and write everything below `out`.

        A second call with the same settings trains nothing and only draws.
        """
        self._check(scale)
        study = self.study(scale, out / "runs")
        started = time.monotonic()
        outcomes = study.run(engine, on_event)
        runs = [run for recipe in study.recipes for run in study.runs(recipe)]
        whole = len(outcomes) == len(runs)  # a part of it says nothing of the time that all takes
        wall = round(time.monotonic() - started, 1) if whole else None
        broken = [f"{outcome.job.name}: {outcome.error}" for outcome in outcomes if not outcome.ok]
        folder = out / f"{self.name}-{scale}"
        if not outcomes and (folder / "result.json").is_file():
            wall = read_json(folder / "result.json").get("wall_seconds")
        if broken and not any(run.status == "done" for run in runs):
            raise OrdinateError(f"no run of {self.name} ended: {broken[0].strip().splitlines()[-1]}")
        document = {
            "figure": self.name,
            "scale": scale,
            "command": f"ordinate reproduce {self.name} --scale {scale}",
            "environment": environment(),
            "wall_seconds": wall,
            "training_seconds": round(sum(run.record().get("seconds") or 0.0 for run in runs), 1),
            "workers": engine.workers,
            "not_ended": broken,
            **self.measure(scale, study),
        }
        write_json(folder / "result.json", document)
        return self.write(document, folder)

    def write(self, document: dict[str, Any], folder: Path) -> Result:
        """Draw the figure and the report of a document into a folder."""
        drawing = self.draw(document)
        stem = folder / self.name.rpartition("/")[2]
        images = {path.suffix[1:]: path for path in save_figure(drawing, stem)}
        result = Result(document, {"json": folder / "result.json", **images, "html": folder / "report.html"})
        sections: list[Section] = [
            VerdictTable(result.claims),
            FigureSection(drawing, self.caption(document)),
            Table(*result.table, caption=document["table"]["caption"]),
            Text(self.notes(document)),
            KeyValues(document["settings"], title="Settings"),
            KeyValues(_flat(document["environment"]), title="Environment"),
            Command(document["command"]),
        ]
        write_report(Report(self.title, self.summary, sections), result.files["html"])
        return result

    @abstractmethod
    def caption(self, document: dict[str, Any]) -> str:
        """What the figure shows, in a sentence or two."""

    def _check(self, scale: str) -> None:
        if scale not in self.scales:
            raise OrdinateError(f"{self.name} has no scale {scale!r}: {nearest(scale, self.scales)}")


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if not isinstance(value, dict | list)}
