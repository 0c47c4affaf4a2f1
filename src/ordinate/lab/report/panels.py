"""What figures are drawn from: the values of models over an axis, panel by panel, and a figure that keeps them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import ndarray


@dataclass(frozen=True)
class Series:
    """One model: a value for each seed at each x, and the published medians where they are known.

    `role` decides colour, marker and line (`ordinate.lab.report.style.ROLES`).
    """

    label: str
    role: str
    x: Sequence[float | int]
    values: Sequence[Sequence[float | int]] | Float[ndarray, "seed point"]
    published: Mapping[float, float] | Mapping[int, float] = field(default_factory=dict)
    seeds: Sequence[int] = ()
    """The seed of every row; 0, 1, ... unless given."""
    colour: str = ""
    """Its colour, where it is not that of its role."""

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or self.table.shape[1] != len(self.x) or not len(self.table):
            shape = " x ".join(map(str, self.table.shape))
            raise ValueError(f"{self.label}: values are seeds x {len(self.x)} points, got {shape}")
        if self.seeds and len(self.seeds) != len(self.table):
            raise ValueError(f"{self.label}: {len(self.seeds)} seeds but {len(self.table)} rows of values")

    @cached_property
    def table(self) -> Float[ndarray, "seed point"]:
        """The values as one array."""
        return np.array([list(row) for row in self.values], dtype=np.float64)

    @cached_property
    def finite(self) -> Bool[ndarray, " seed"]:
        """Which seeds are finite at every point."""
        whole: ndarray = np.isfinite(self.table).all(axis=1)
        return whole

    @property
    def failed(self) -> int:
        """How many seeds have a value that is not a finite number."""
        return int((~self.finite).sum())


@dataclass(frozen=True)
class Panel:
    """One task. Values of x up to `trained_to` were seen in training (`None`: do not mark them).

    Above `reach` no answer can be right by construction.
    """

    title: str
    xlabel: str
    ylabel: str
    series: Sequence[Series]
    trained_to: float | int | None = 1.0
    reach: float | int | None = None
    log_x: bool = False
    percent: bool = False
    """Values are shares, drawn from 0 to 100 % instead of on a logarithmic axis."""


class Drawing(Figure):
    """A figure that keeps the numbers it shows, so that a page can tell them and a table can list them.

    >>> figure = Drawing()
    >>> curve = Series("RPE", "positional", [1, 2], [[0.1, 0.2]])
    >>> figure.keep(figure.add_subplot(), Panel("sum", "scale c", "MSE", [curve]))
    >>> [panel.title for panel in figure.panels.values()]
    ['sum']
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.panels: dict[Axes, Panel] = {}

    def keep(self, axes: Axes, panel: Panel) -> None:
        """Remember what is drawn on the axes."""
        self.panels[axes] = panel
