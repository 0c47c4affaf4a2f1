"""Figures of papers as commands: data -> claims and verdicts -> plots and a report.

A figure's data come from trained runs (`papers.trained`) or are computed on the spot (`papers.computed`); either
way they become one plain document, and drawing and report are made from the document alone.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from matplotlib.figure import Figure as Drawing

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.evaluation.claims import Claim
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
from ordinate.lab.runs import Engine, Job, OnEvent, environment, write_json


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
    """One figure of a paper. Kinds say where the data come from, and figures what they are and how they look."""

    name: ClassVar[str]
    summary: ClassVar[str]
    title: ClassVar[str]

    scales: ClassVar[dict[str, str]]
    """Name of every scale, with a description."""

    @abstractmethod
    def jobs(self, scale: str, out: Path) -> list[Job]:
        """What is still to be done at a scale, with results below `out`."""

    @abstractmethod
    def collect(self, scale: str, out: Path, *, engine: Engine, on_event: OnEvent | None) -> dict[str, Any]:
        """Do it, and return plain data: `wall_seconds`, `workers`, `not_ended`, `settings`, `claims`, `table`, more."""

    @abstractmethod
    def draw(self, document: dict[str, Any]) -> Drawing:
        """The figure, from the plain data alone."""

    @abstractmethod
    def caption(self, document: dict[str, Any]) -> str:
        """What the figure shows, in a sentence or two."""

    @abstractmethod
    def notes(self, document: dict[str, Any]) -> list[str]:
        """What a reader of the report must know: scale, deviations, what failed."""

    def reproduce(self, scale: str, out: Path, *, engine: Engine, on_event: OnEvent | None = None) -> Result:
        """Collect the data, judge, draw, and write everything below `out`."""
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

    def folder(self, scale: str, out: Path) -> Path:
        """Where the result of a scale goes."""
        return out / f"{self.name}-{scale}"

    def write(self, document: dict[str, Any], folder: Path) -> Result:
        """Draw the figure and the report of a document into a folder."""
        report = self.report(document)
        [drawn] = report.figures()
        stem = folder / self.name.rpartition("/")[2]
        images = {path.suffix[1:]: path for path in drawn.save(stem)}
        result = Result(document, {"json": folder / "result.json", **images, "html": folder / "report.html"})
        write_report(report, result.files["html"])
        return result

    def report(self, document: dict[str, Any]) -> Report:
        """The page of a document: verdicts first, where something is claimed."""
        claims = Result(document, {}).claims
        verdicts = [VerdictTable(claims, figure=self.name)] if claims else []
        return Report(self.title, self.summary, [*verdicts, *self.sections(document)])

    def sections(self, document: dict[str, Any], name: str = "") -> list[Section]:
        """The figure, its table, notes, settings, environment, and how to rerun it; `name` is that of its files."""
        table, name = document["table"], name or self.name
        return [
            FigureSection(self.draw(document), self.caption(document), name=name),
            Table(table["headers"], table["rows"], caption=table["caption"], name=f"{name}-table"),
            Text(self.notes(document), title="Notes"),
            KeyValues(document["settings"], title="Settings"),
            KeyValues(_environment(document), title="Environment"),
            Command(document["command"]),
        ]

    def check(self, scale: str) -> None:
        """Refuse a scale that this figure does not have."""
        if scale not in self.scales:
            raise OrdinateError(f"{self.name} has no scale {scale!r}: {nearest(scale, self.scales)}")


def _environment(document: dict[str, Any]) -> dict[str, Any]:
    """Of the drawing, and where it has any, of the models."""
    found = {k: v for k, v in document["environment"].items() if not isinstance(v, dict | list)}
    return found | ({"models": "; ".join(document["trained_at"])} if "trained_at" in document else {})
