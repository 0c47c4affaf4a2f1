"""Beyond the paper: how many layers nested memories take in training, at equal parameters.

    y_t = x_{t - t_{K+1}},   t_{i+1} = g_{i+1}(x_t, x_{t-t_1}, ..., x_{t-t_i})

with random tables g over signs. Theorem 4.4 says that K + 1 + 1{M >= K + 1} layers are enough, K + 2 here, where
M = K + 1. Nothing says that fewer fail; that is what is measured. Lags are short in one map and longer in the other: a
target that sees 6 lags is a function of 7 signs, a table of 128 entries that hidden units can learn by heart, however
nested it is; one that sees 12 has 8192.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from ordinate.lab.architectures import Dp, Memory
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.report.curves import value_curves
from ordinate.lab.report.heat import Heat, draw_heat
from ordinate.lab.report.style import BLUE, GREEN, PURPLE, VERMILION
from ordinate.lab.tasks import Task, make_task
from ordinate.papers.aims import Aim, Place, Shows
from ordinate.papers.figure import Document
from ordinate.papers.memories.fixed import FIRST, SHARE, SIZES, MemoryScale, described
from ordinate.papers.sheets import Line, Sheet, Sheets, caption_of, panels, sheets_figure

LEARNED = 0.1
"""The share of the variance below which a target counts as learned."""
LOOKS = (BLUE, VERMILION, GREEN, PURPLE)


@dataclass(frozen=True)
class Reach:
    """How far the lags of a target go, in sequences of this length."""

    name: str
    """Of its recipes."""
    furthest: int
    length: int

    @property
    def title(self) -> str:
        """Of the panels."""
        return f"lags up to {self.furthest}"

    def target(self, nesting: int) -> Task:
        """The last of K + 1 tokens that are found one by the other."""
        weights = (*(0.0 for _ in range(nesting)), 1.0)
        return make_task(
            "adaptive-memory",
            nesting=nesting,
            memories=nesting + 1,
            within=(1, self.furthest),
            index={"kind": "drawn"},
            readout={"kind": "sum", "weights": weights},
            current=False,
            length=self.length,
        )


@dataclass(frozen=True)
class Grid:
    """Nestings, depths, reaches, and how large all models are."""

    nestings: tuple[int, ...]
    layers: tuple[int, ...]
    heads: int
    width: int
    dim: int
    parameters: int
    reaches: tuple[Reach, ...]

    def model(self, layers: int) -> Memory:
        """As many hidden units as make up for the layers."""
        attention = self.heads * (2 * self.dim * self.width + self.width**2 + 1) + self.width**2
        embedding = 2 * self.width
        a_unit = (layers - 1) * (2 * self.width + 1) + self.width + 2
        hidden = (self.parameters - layers * attention - embedding) // a_unit
        return Memory(
            layers=layers,
            heads=self.heads,
            width=self.width,
            hidden=max(1, hidden),
            encoding=(FIRST,),
            attention=Dp(dim=self.dim),
        )


GRIDS = {
    "smoke": Grid((0, 1), (1, 2), 2, 4, 2, 300, (Reach("nesting", 3, 8), Reach("nesting-far", 4, 8))),
    "laptop": Grid(
        (0, 1, 2, 3),
        (1, 2, 3, 4, 5),
        4,
        16,
        8,
        16_000,
        (Reach("nesting", 6, 16), Reach("nesting-far", 12, 32)),
    ),
}


def size_of(scale: str) -> MemoryScale:
    """The training of a scale, with the width of its models."""
    return replace(SIZES[scale], width=GRIDS[scale].width)


def aims_of(grid: Grid, reach: Reach, nesting: int) -> list[Aim]:
    """The theorem's depth is enough, and one layer fewer is not."""
    enough, label = nesting + 2, f"K = {nesting}"
    begin, small = f"{reach.title.capitalize()}, {label}", f"{LEARNED:.0%}"
    aims: list[Aim] = []
    if enough in grid.layers:
        aims.append(
            Shows(
                f"{begin}: {enough} layers, the K + 2 of Theorem 4.4, leave less than {small}.",
                AtMost(LEARNED),
                Place(reach.title, label, float(enough)),
            )
        )
    fewer = f"{enough - 1} layers, one fewer, leave" if nesting else "1 layer, one fewer, leaves"
    aims.append(
        Shows(
            f"{begin}: {fewer} more than {small}.",
            AtLeast(LEARNED),
            Place(reach.title, label, float(enough - 1)),
        )
    )
    return aims


def draw(document: Document) -> Drawing:
    """Lines above, the map of each below."""
    above = panels(document)
    maps = [draws(heat_of(sheet, document["enough"])) for sheet in document["sheets"]]
    return value_curves(above, columns=len(above), beside=maps)


def caption(document: Document) -> str:
    """What the lines are, and what the maps are."""
    return (
        f"Above: {caption_of(document)} Below: the same medians by nesting K and layers, over the seeds that "
        "ended; cells say how many did not. Right of the stairs are the layers that Theorem 4.4 says are enough."
    )


def draws(heat: Heat) -> Callable[[Axes], None]:
    """What draws a map."""
    return lambda axes: draw_heat(axes, heat)


def heat_of(sheet: dict[str, Any], enough: list[int]) -> Heat:
    """The map of a sheet: a row for each line, a column for each number of layers."""
    lines = sheet["lines"]
    layers = [int(x) for x in lines[0]["x"]]
    values = np.array([line["values"] for line in lines], dtype=np.float64).swapaxes(0, 1)
    return Heat(
        f"{sheet['title']}, as a map",
        sheet["xlabel"],
        "nesting",
        [line["label"] for line in lines],
        [str(count) for count in layers],
        values,
        [sum(count < needed for count in layers) for needed in enough],
        "right of the stairs: enough by Theorem 4.4",
    )


@sheets_figure(
    "memories/nesting",
    "Layers for nested memories",
    "What Transformers of one to five layers and equal parameters leave of the variance of a token that is found "
    "by K + 1 look-ups one after the other.",
    described(
        "K = 0 to 3, 1 to 5 layers, lags up to 6 and up to 12, three seeds, about 80 minutes on 2 cores",
        paper=False,
    ),
    draw=draw,
    caption=caption,
)
def depth_for_nesting(scale: str) -> Sheets:
    """A sheet for every reach: a line for every K, over layers."""
    size, grid = size_of(scale), GRIDS[scale]
    sheets, aims = [], []
    for reach in grid.reaches:
        lines = []
        for nesting in grid.nestings:
            name, target = f"{reach.name}-{nesting}", reach.target(nesting)
            recipes = {n: size.recipe(f"{name}-{n}", target, grid.model(n)) for n in grid.layers}
            lines.append(Line.over(recipes, f"K = {nesting}", LOOKS[nesting]))
            aims += aims_of(grid, reach, nesting)
        sheets.append(Sheet(reach.title, "layers", lines, SHARE))
    note = (
        "All models have about as many parameters: what layers do not take is given to hidden units. The theorem says "
        "that K + 2 layers are enough, not that training finds them, nor that fewer fail."
    )
    enough = [nesting + 2 for nesting in grid.nestings]
    return Sheets(sheets, aims, size.seeds, note, facts={"enough": enough})


FIGURES = (depth_for_nesting,)
