"""How figures look: one style, and for every role a series can play one colour, marker and line.

The colours are those of Okabe and Ito, told apart with any common colour blindness; marker and line style
repeat the difference for print without colour.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib

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

LAST = ", last"
"""After a role: the last checkpoint of a model whose checkpoint was picked, in the same colour."""

_STYLE: dict[Any, object] = {
    "figure.facecolor": "white",
    "figure.dpi": 100,
    "savefig.facecolor": "white",
    "savefig.bbox": None,
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "axes.facecolor": "white",
    "axes.edgecolor": "#444444",
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "svg.fonttype": "path",
    "svg.hashsalt": "ordinate",
    "text.usetex": False,
}


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
        yield
