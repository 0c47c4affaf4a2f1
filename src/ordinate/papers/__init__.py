"""Papers: every figure a command, every claim a verdict."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from typing_extensions import override

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.report.report import Report
from ordinate.lab.runs import read_json
from ordinate.papers.figure import Figure, Result
from ordinate.papers.page import OnFigure, figures_report
from ordinate.papers.published import published


class Figures(Mapping[str, Figure]):
    """Figures by name. The module of one is imported when the figure is asked for, and has it in its `FIGURES`."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules

    def __getitem__(self, name: str) -> Figure:
        module = import_module(f"{__name__}.{self.modules[name]}")
        return next(figure for figure in module.FIGURES if figure.name == name)

    @override
    def __contains__(self, name: object) -> bool:
        return name in self.modules

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __len__(self) -> int:
        return len(self.modules)


FIGURES: Mapping[str, Figure] = Figures(
    {
        "positional/compiled": "positional.compiled",
        "positional/depth": "positional.depth",
        "positional/cost": "positional.cost",
        "positional/value-scale": "positional.value_scale",
        "positional/small-models": "positional.variants",
        "positional/ablation": "positional.variants",
        "positional/rope": "positional.variants",
        "positional/variable-length": "positional.numbers",
        "positional/sample-size": "positional.numbers",
        "positional/input-length": "positional.numbers",
        "positional/accuracy": "positional.numbers",
        "positional/mixed-type": "positional.mixed",
        "positional/mixed-type-samples": "positional.mixed",
        "positional/k-hop": "positional.hops",
        "positional/learnability": "positional.learnability",
        "positional/trade-off": "positional.trade_off",
        "positional/dynamic": "positional.families",
        "positional/graphs": "positional.families",
        "symmetry/fig-13": "symmetry.counts",
        "symmetry/fig-14": "symmetry.counts",
        "symmetry/proposition-5.1": "symmetry.proposition",
        "symmetry/fig-9": "symmetry.losses",
        "symmetry/fig-15": "symmetry.losses",
        "symmetry/fig-16": "symmetry.maps",
        "symmetry/fig-2a": "symmetry.lengths",
        "symmetry/fig-2b": "symmetry.lengths",
        "symmetry/fig-2c": "symmetry.lengths",
        "symmetry/fig-4a": "symmetry.lengths",
        "symmetry/fig-4b": "symmetry.lengths",
        "symmetry/fig-4c": "symmetry.lengths",
        "symmetry/fig-5a": "symmetry.lengths",
        "symmetry/fig-5b": "symmetry.lengths",
        "symmetry/fig-5c": "symmetry.lengths",
        "symmetry/fig-5d": "symmetry.lengths",
        "symmetry/fig-7a": "symmetry.lengths",
        "symmetry/fig-7b": "symmetry.lengths",
        "symmetry/fig-8a": "symmetry.lengths",
        "symmetry/fig-8b": "symmetry.lengths",
        "symmetry/fig-8c": "symmetry.lengths",
        "symmetry/fig-10": "symmetry.lengths",
        "symmetry/table-1": "symmetry.places",
        "symmetry/fig-11": "symmetry.vectors",
        "symmetry/fig-12": "symmetry.vectors",
        "symmetry/declared-sums": "symmetry.declared",
        "symmetry/declared-products": "symmetry.declared",
        "symmetry/search-sums": "symmetry.search",
        "symmetry/search-lines": "symmetry.search",
        "symmetry/search-products": "symmetry.search",
        "memories/prop-4.2": "memories.dot_product",
        "memories/exp-1b": "memories.fixed",
        "memories/exp-2a": "memories.fixed",
        "memories/exp-2b": "memories.fixed",
        "memories/exp-3a": "memories.fixed",
        "memories/exp-4a": "memories.decaying",
        "memories/exp-4b": "memories.decaying",
        "memories/exp-1a": "memories.language",
        "memories/exp-3b": "memories.language",
        "memories/nesting": "memories.nesting",
        "memories/heads": "memories.roles",
        "memories/width": "memories.roles",
        "memories/slopes": "memories.roles",
        "memories/biases": "memories.biases",
        "memories/samples": "memories.roles",
        "memories/norms": "memories.roles",
        "memories/match-2": "memories.neighbours",
        "memories/match-3": "memories.neighbours",
        "memories/sparse-average": "memories.neighbours",
        "memories/contextual-counting": "memories.neighbours",
        "memories/hard": "memories.neighbours",
        "beyond/addition-1000": "beyond.addition",
        "beyond/cascades": "beyond.cascades",
        "beyond/multiplication-1": "beyond.multiplication",
        "beyond/multiplication-3": "beyond.multiplication",
        "beyond/addition-multiplication": "beyond.together",
        "beyond/addition-in-text": "beyond.together",
        "arena/lengths": "arena.figure",
        "arena/values": "arena.figure",
    }
)
"""All figures, those of a paper in the order in which the paper's name runs them: what is quick comes first."""


def rewrite_report(folder: Path) -> Result:
    """Draw the figure and the report of a reproduction again from its `result.json`."""
    figure, document = stored(folder)
    return figure.write(document, folder)


def stored(folder: Path) -> tuple[Figure, dict[str, Any]]:
    """The figure whose result is in a folder, and its document."""
    path = folder / "result.json"
    if not path.is_file():
        raise OrdinateError(f"{folder} holds no result.json: give the folder of a reproduction")
    document = read_json(path)
    name = document.get("figure") if isinstance(document, dict) else None
    if name not in FIGURES:
        raise OrdinateError(f"{path} is of the figure {name!r}: {nearest(str(name), FIGURES)}")
    return FIGURES[name], document


def stored_report(folder: Path, on_figure: OnFigure | None = None) -> Report:
    """One page of all reproductions below a folder, in the order of `FIGURES`."""
    found = [stored(path.parent) for path in sorted(folder.glob("**/result.json"))]
    order = list(FIGURES)
    found.sort(key=lambda pair: order.index(pair[0].name))
    name = folder.resolve().name
    return figures_report(found, f"{name[:1].upper()}{name[1:]}", on_figure)


__all__ = ["FIGURES", "Figure", "Result", "published", "rewrite_report", "stored", "stored_report"]
