"""One page for several figures: all verdicts first, then each figure with settings, environment, how to rerun."""

from collections.abc import Callable, Sequence
from typing import Any

from ordinate.lab.evaluation.claims import Claim
from ordinate.lab.report.report import Group, Report, VerdictTable
from ordinate.papers.figure import Figure, Result
from ordinate.papers.published import published

OnFigure = Callable[[int, int], None]
"""Told how many figures are drawn, and of how many."""


def figures_report(
    found: Sequence[tuple[Figure, dict[str, Any]]], title: str, on_figure: OnFigure | None = None
) -> Report:
    """The page of figures with their documents, in this order."""
    names = _names(found)
    groups: list[Group] = []
    claims: list[Claim] = []
    of: list[str] = []
    for name, (figure, document) in zip(names, found, strict=True):
        groups.append(Group(figure.title, name, figure.summary, figure.sections(document, name=name)))
        claims += Result(document, {}).claims
        of += [name] * (len(claims) - len(of))
        if on_figure is not None:
            on_figure(len(groups), len(found))
    verdicts = [VerdictTable(claims, figures=of)] if claims else []
    return Report(title, _lead([figure for figure, _ in found]), [*verdicts, *groups])


def _names(found: Sequence[tuple[Figure, dict[str, Any]]]) -> list[str]:
    """What each figure is called on the page: with its scale where one is there at two."""
    names = [figure.name for figure, _ in found]
    return [
        figure.name if names.count(figure.name) == 1 else f"{figure.name}, {document['scale']}"
        for figure, document in found
    ]


def _lead(figures: Sequence[Figure]) -> str:
    """How many figures there are, and of which papers."""
    papers = dict.fromkeys(figure.name.split("/")[0] for figure in figures)
    count = "1 figure" if len(figures) == 1 else f"{len(figures)} figures"
    return " ".join([f"{count}.", *filter(None, map(_source, papers))])


def _source(paper: str) -> str:
    """The paper that a folder of figures is named after; figures of our own have none."""
    try:
        name = published(paper).get("paper")
    except FileNotFoundError:
        return ""
    return f"{name}." if name else ""
