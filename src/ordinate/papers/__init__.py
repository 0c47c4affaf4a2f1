"""Papers: every figure a command, every claim a verdict."""

from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.report.report import Report
from ordinate.lab.runs import read_json
from ordinate.papers.arena.figure import ARENA
from ordinate.papers.beyond.addition import Addition1000
from ordinate.papers.beyond.cascades import Cascades
from ordinate.papers.beyond.multiplication import Multiplication1, Multiplication3
from ordinate.papers.beyond.together import Both, InText
from ordinate.papers.figure import Figure, Result
from ordinate.papers.memories.decaying import DECAYING
from ordinate.papers.memories.dot_product import PROP_4_2
from ordinate.papers.memories.fixed import FIXED
from ordinate.papers.memories.language import LANGUAGE
from ordinate.papers.memories.neighbours import NEIGHBOURS
from ordinate.papers.memories.nesting import NESTING
from ordinate.papers.memories.roles import BEYOND as MEMORIES_BEYOND
from ordinate.papers.page import OnFigure, figures_report
from ordinate.papers.positional.compiled import CompiledMeetsTrained
from ordinate.papers.positional.cost import Cost
from ordinate.papers.positional.depth import Depth
from ordinate.papers.positional.families import FAMILIES
from ordinate.papers.positional.hops import K_HOP
from ordinate.papers.positional.learnability import LEARNABILITY
from ordinate.papers.positional.mixed import MIXED
from ordinate.papers.positional.numbers import NUMBERS
from ordinate.papers.positional.trade_off import TRADE_OFF
from ordinate.papers.positional.value_scale import ValueScale
from ordinate.papers.positional.variants import VARIANTS
from ordinate.papers.published import published
from ordinate.papers.symmetry.counts import Fig13, Fig14
from ordinate.papers.symmetry.declared import DECLARED
from ordinate.papers.symmetry.lengths import LENGTHS
from ordinate.papers.symmetry.losses import Fig9, Fig15
from ordinate.papers.symmetry.maps import Fig16
from ordinate.papers.symmetry.places import TABLE_1
from ordinate.papers.symmetry.proposition import Proposition
from ordinate.papers.symmetry.search import SEARCHES
from ordinate.papers.symmetry.vectors import MAPS

POSITIONAL: tuple[Figure, ...] = (
    CompiledMeetsTrained(),
    Depth(),
    Cost(),
    ValueScale(),
    *VARIANTS,
    *NUMBERS,
    *MIXED,
    K_HOP,
    LEARNABILITY,
    TRADE_OFF,
    *FAMILIES,
)
COMPUTED: tuple[Figure, ...] = (Fig13(), Fig14(), Proposition(), Fig9(), Fig15(), Fig16())
SYMMETRY: tuple[Figure, ...] = (*COMPUTED, *LENGTHS, TABLE_1, *MAPS, *DECLARED, *SEARCHES)
MEMORIES: tuple[Figure, ...] = (
    PROP_4_2,
    *FIXED,
    *DECAYING,
    *LANGUAGE,
    NESTING,
    *MEMORIES_BEYOND,
    *NEIGHBOURS,
)
BEYOND: tuple[Figure, ...] = (
    Addition1000(),
    Cascades(),
    Multiplication1(),
    Multiplication3(),
    Both(),
    InText(),
)

FIGURES: dict[str, Figure] = {
    figure.name: figure for figure in (*POSITIONAL, *SYMMETRY, *MEMORIES, *BEYOND, *ARENA)
}
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
