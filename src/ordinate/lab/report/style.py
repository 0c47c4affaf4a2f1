"""How figures look: one style, and for every role a series can play one colour, marker and line.

The colours are those of Okabe and Ito, told apart with any common colour blindness; marker and line style
repeat the difference for print without colour. A figure is drawn for a page, or for a column of a paper.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from numpy import ndarray

OKABE_ITO: dict[str, str] = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
}


@dataclass(frozen=True)
class Look:
    """Colour, marker and line style of one role."""

    colour: str
    marker: str
    line: str


ROLES: dict[str, Look] = {
    "positional": Look(OKABE_ITO["blue"], "o", "-"),
    "standard": Look(OKABE_ITO["vermilion"], "s", "--"),
    "hybrid": Look(OKABE_ITO["green"], "^", "-."),
    "rotary": Look(OKABE_ITO["purple"], "D", ":"),
    "baseline": Look(OKABE_ITO["black"], "v", ":"),
    "first": Look(OKABE_ITO["sky"], "P", "-"),
    "second": Look(OKABE_ITO["orange"], "X", "--"),
}
"""Fixed for the whole project: a reader who has learnt one figure can read the next."""

BLUE, VERMILION, GREEN, PURPLE = "positional", "standard", "hybrid", "rotary"
BLACK, SKY, ORANGE = "baseline", "first", "second"
"""The same looks by their colours, for series that play none of these roles; documents store the role."""

INK, GREY, EDGE, GRID, PAPER = "#000000", "#555555", "#444444", "#d9d9d9", "#ffffff"
"""What is not a series: text and marks, remarks, frames, lines of the grid, the ground."""

RIGHT, WRONG, WRONG_TEXT = "#cfe8df", "#f5d3c1", "#9a3a00"
"""The ground of right and of wrong answers, and letters of wrong ones on the ground of the page."""

INKS = {
    (True, True): "#010101",
    (True, False): "#020202",
    (False, True): "#fdfdfd",
    (False, False): "#fefefe",
}
"""Letters on coloured cells, whether they are dark on a light ground and on a dark one (`ink_on`)."""

DARK: dict[str, str] = {
    INK: "#e8eaed",
    GREY: "#a9b1bb",
    EDGE: "#8b939d",
    GRID: "#363c44",
    PAPER: "#1e2227",
    RIGHT: "#1d4a3b",
    WRONG: "#60301a",
    WRONG_TEXT: "#ffb38a",
    **{ink: "#010101" if dark else "#fefefe" for (_, dark), ink in INKS.items()},
    OKABE_ITO["orange"]: "#e69f00",
    OKABE_ITO["sky"]: "#8fd0ff",
    OKABE_ITO["green"]: "#00d09c",
    OKABE_ITO["yellow"]: "#f0e442",
    OKABE_ITO["blue"]: "#4a8fe8",
    OKABE_ITO["vermilion"]: "#f06a0a",
    OKABE_ITO["purple"]: "#cc79a7",
}
"""What each colour becomes on a dark ground."""

LUMA = (0.213, 0.715, 0.072)
"""How bright red, green and blue are."""


def rgb(colour: str) -> Float[ndarray, " 3"]:
    """Red, green and blue from 0 to 1."""
    return np.array(to_rgb(colour))


def night(colours: Float[ndarray, "*pixel 3"]) -> Float[ndarray, "*pixel 3"]:
    """Colours of an image on a dark ground: brightness is turned over, and the hue stays.

    White becomes the ground and black the ink: a ramp from the ground to the ink is one in both schemes.

    >>> from matplotlib.colors import to_hex
    >>> [to_hex(night(rgb(colour))) for colour in ("#ffffff", "#000000")] == [DARK[PAPER], DARK[INK]]
    True
    """
    turned = np.clip(colours + 1 - 2 * (colours @ np.array(LUMA))[..., None], 0, 1)
    return np.asarray(rgb(DARK[PAPER]) + turned * (rgb(DARK[INK]) - rgb(DARK[PAPER])))


def contrast(grounds: Float[ndarray, "*pixel 3"], letters: Float[ndarray, " 3"]) -> Float[ndarray, "*pixel"]:
    """The ratio of luminances, from 1 to 21; letters need 4.5 on every ground (WCAG 2.2, 1.4.3).

    >>> round(float(contrast(rgb("#ffffff"), rgb("#000000"))), 1)
    21.0
    """
    ratio = _luminance(grounds) / _luminance(letters)
    return np.asarray(np.maximum(ratio, 1 / ratio))


def _luminance(colours: Float[ndarray, "*pixel 3"]) -> Float[ndarray, "*pixel"]:
    """With the 0.05 that a screen reflects."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]) + 0.05)


def ink_on(cell: Sequence[float]) -> str:
    """The colour of letters on a cell of an image that can be read in both schemes.

    >>> ink_on((1.0, 1.0, 1.0)), ink_on((0.0, 0.0, 0.0))
    ('#020202', '#fdfdfd')
    """
    grounds = np.array(cell[:3]), night(np.array(cell[:3]))
    black, white = rgb("#010101"), rgb("#fefefe")
    light, dark = (bool(contrast(ground, black) > contrast(ground, white)) for ground in grounds)
    return INKS[light, dark]


LAST = ", last"
"""After a role: the last checkpoint of a model whose checkpoint was picked, in the same colour."""

_STYLE: dict[Any, object] = {
    "figure.facecolor": "white",
    "figure.dpi": 100,
    "savefig.facecolor": "white",
    "savefig.bbox": None,
    "font.family": ["DejaVu Sans"],
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.facecolor": "white",
    "axes.edgecolor": EDGE,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "pdf.fonttype": 42,  # publishers refuse Type 3
    "svg.hashsalt": "ordinate",
    "text.usetex": False,
}


_LETTERS: dict[Any, float] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 10,
}
_STROKES: dict[Any, float] = {
    "axes.linewidth": 0.8,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
}


@dataclass(frozen=True)
class Format:
    """Where a figure will stand: how large its letters and strokes are, and how wide it may be, in inches."""

    letters: float = 1.0
    strokes: float = 1.0
    narrow: float | None = None
    """The width of figures with one panel; `None` leaves the size as it is."""
    wide: float | None = None
    apart: float = 0.05
    """Least distance of two labels of a logarithmic axis, as a share of it."""

    def size(self, width: float, height: float) -> tuple[float, float]:
        """Width and height of a figure that takes this much of a page.

        >>> PAGE.size(11.4, 7.2)
        (11.4, 7.2)
        >>> COLUMN.size(5.4, 3.9)[0], COLUMN.size(11.4, 7.2)[0]
        (3.35, 6.9)
        """
        if self.narrow is None or self.wide is None:
            return width, height
        taken = self.narrow if width < NARROW else self.wide
        # Letters shrink less than panels do: what stands above and below them needs its share of the height.
        return taken, height * taken / width * (0.5 + 0.5 * self.letters * width / taken)


NARROW = 5.8
"""Figures below this width, in inches, go into one column of two."""
PAGE = Format()
"""A report, a screen."""
COLUMN = Format(letters=0.75, strokes=0.7, narrow=3.35, wide=6.9, apart=0.15)
"""A column of a paper, or the width of its text: letters of 7 to 8 points when the figure is not scaled."""

_format: ContextVar[Format] = ContextVar("format", default=PAGE)


@contextmanager
def drawn_for(place: Format) -> Iterator[None]:
    """Draw figures for a place inside the `with` block.

    >>> with drawn_for(COLUMN):
    ...     points(8)
    6.0
    """
    token = _format.set(place)
    try:
        yield
    finally:
        _format.reset(token)


def size(width: float, height: float) -> tuple[float, float]:
    """The size of a figure in inches, as the place has it."""
    return _format.get().size(width, height)


def points(letters: float | int) -> float:
    """The size of letters in points, as the place has it."""
    return letters * _format.get().letters


def remark(axes: Axes, text: str, *, above: float | int) -> None:
    """Write small grey lines between a picture and its title, some points above the picture."""
    axes.annotate(
        text,
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, above),
        textcoords="offset points",
        fontsize=points(8),
        color=GREY,
        va="bottom",
    )


def thinned(ticks: Sequence[float]) -> list[float]:
    """Of ticks on a logarithmic axis, those whose labels have room in the place; the first and the last stay.

    >>> with drawn_for(COLUMN):
    ...     thinned([5.0, 6.0, 10.0, 50.0, 100.0, 500.0, 1000.0])
    [5.0, 50.0, 1000.0]
    """
    if len(ticks) < 3 or not _format.get().apart:
        return list(ticks)
    room = _format.get().apart * math.log(ticks[-1] / ticks[0])
    kept = [ticks[0]]
    for tick in ticks[1:-1]:
        if math.log(tick / kept[-1]) >= room and math.log(ticks[-1] / tick) >= room:
            kept.append(tick)
    return [*kept, ticks[-1]]


def look_of(role: str) -> Look:
    """Return the look of a role; a role without a fixed one always gets the same look, taken from its name.

    >>> look_of("positional").marker
    'o'
    >>> look_of("anything") == look_of("anything")
    True
    >>> look_of("positional, last") == Look(look_of("positional").colour, ".", ":")
    True
    """
    if role in ROLES:
        return ROLES[role]
    if role.endswith(LAST):
        return Look(look_of(role.removesuffix(LAST)).colour, ".", ":")
    spare = [ROLES["first"], ROLES["second"], ROLES["hybrid"], ROLES["rotary"]]
    return spare[sum(role.encode()) % len(spare)]


@contextmanager
def paper_style() -> Iterator[None]:
    """Draw in the project's style inside the `with` block; matplotlib's settings are as before after it.

    >>> with paper_style():
    ...     matplotlib.rcParams["axes.spines.top"]
    False
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        place = _format.get()
        matplotlib.rcParams.update({name: value * place.letters for name, value in _LETTERS.items()})
        matplotlib.rcParams.update({name: value * place.strokes for name, value in _STROKES.items()})
        yield
