"""Papers: every figure a command, every claim a verdict."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from typing_extensions import override

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.evaluation.claims import Claim
from ordinate.lab.report.report import Group, Report, VerdictTable
from ordinate.lab.runs import LocalEngine, read_json
from ordinate.papers.figure import Figure, Result, published


class Figures(Mapping[str, Figure]):
    """Figures by name; the module of a figure is imported when the figure is asked for."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules

    def __getitem__(self, name: str) -> Figure:
        module = import_module(f"{__name__}.{self.modules[name]}")
        found: Figure = next(figure for figure in module.FIGURES if figure.name == name)
        return found

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
        "positional/trade-off": "positional.learnability",
        "positional/dynamic": "positional.families",
        "positional/graphs": "positional.families",
        "symmetry/fig-13": "symmetry.counts",
        "symmetry/fig-14": "symmetry.counts",
        "symmetry/proposition-5.1": "symmetry.proposition",
        "symmetry/fig-9": "symmetry.losses",
        "symmetry/fig-15": "symmetry.losses",
        "symmetry/fig-16": "symmetry.maps",
        "symmetry/fig-2a": "symmetry.addition",
        "symmetry/fig-2b": "symmetry.addition",
        "symmetry/fig-2c": "symmetry.addition",
        "symmetry/fig-4a": "symmetry.multiplication",
        "symmetry/fig-4b": "symmetry.multiplication",
        "symmetry/fig-4c": "symmetry.multiplication",
        "symmetry/fig-5a": "symmetry.multiplication",
        "symmetry/fig-5b": "symmetry.multiplication",
        "symmetry/fig-5c": "symmetry.multiplication",
        "symmetry/fig-5d": "symmetry.multiplication",
        "symmetry/fig-7a": "symmetry.addition",
        "symmetry/fig-7b": "symmetry.multiplication",
        "symmetry/fig-8a": "symmetry.addition",
        "symmetry/fig-8b": "symmetry.addition",
        "symmetry/fig-8c": "symmetry.addition",
        "symmetry/fig-10": "symmetry.addition",
        "symmetry/table-1": "symmetry.places",
        "symmetry/fig-11": "symmetry.vectors",
        "symmetry/fig-12": "symmetry.vectors",
        "symmetry/declared-sums": "symmetry.variants",
        "symmetry/declared-products": "symmetry.variants",
        "symmetry/search-sums": "symmetry.variants",
        "symmetry/search-lines": "symmetry.variants",
        "symmetry/search-products": "symmetry.variants",
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
        "memories/biases": "memories.decaying",
        "memories/samples": "memories.roles",
        "memories/norms": "memories.roles",
        "memories/match-2": "memories.neighbours",
        "memories/match-3": "memories.neighbours",
        "memories/sparse-average": "memories.neighbours",
        "memories/contextual-counting": "memories.neighbours",
        "memories/hard": "memories.neighbours",
        "beyond/addition-1000": "beyond.addition",
        "beyond/cascades": "beyond.addition",
        "beyond/proven": "beyond.proven",
        "beyond/multiplication-1": "beyond.multiplication",
        "beyond/multiplication-3": "beyond.multiplication",
        "beyond/addition-multiplication": "beyond.multiplication",
        "beyond/addition-in-text": "beyond.multiplication",
        "arena/lengths": "arena.figure",
        "arena/values": "arena.figure",
    }
)
"""All figures, those of a paper in the order in which the paper's name runs them: what is quick comes first."""


OnFigure = Callable[[int, int], None]
"""Told how many figures are drawn, and of how many."""


def reproduce(name: str, scale: str = "laptop", out: Path | str = "reproductions") -> Result:
    """Train the missing runs of a figure, measure, judge its claims, and write its report below `out`.

    >>> result = reproduce("symmetry/fig-13", scale="smoke")                    # doctest: +SKIP
    """
    if name not in FIGURES:
        raise OrdinateError(f"there is no figure {name!r}: {nearest(name, FIGURES)}")
    with LocalEngine() as engine:
        return FIGURES[name].reproduce(scale, Path(out), engine=engine)


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
    if not isinstance(name, str) or name not in FIGURES:
        raise OrdinateError(f"{path} is of the figure {name!r}: {nearest(str(name), FIGURES)}")
    return FIGURES[name], document


def stored_report(folder: Path, on_figure: OnFigure | None = None) -> Report:
    """One page of all reproductions below a folder, in the order of `FIGURES`."""
    found = [stored(path.parent) for path in sorted(folder.glob("**/result.json"))]
    order = list(FIGURES)
    found.sort(key=lambda pair: order.index(pair[0].name))
    name = folder.resolve().name
    return figures_report(found, f"{name[:1].upper()}{name[1:]}", on_figure)


def figures_report(
    found: Sequence[tuple[Figure, dict[str, Any]]], title: str, on_figure: OnFigure | None = None
) -> Report:
    """One page of figures with their documents, in this order: all verdicts first, then figure by figure."""
    groups: list[Group] = []
    claims: list[Claim] = []
    of: list[str] = []
    for name, (figure, document) in zip(_names(found), found, strict=True):
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


__all__ = [
    "FIGURES",
    "Figure",
    "Result",
    "figures_report",
    "published",
    "reproduce",
    "rewrite_report",
    "stored",
    "stored_report",
]
