"""Beyond the paper: which published bias suits which tail, as one table.

    y_t = sum_{s >= 0} rho(s) x_{t-s},   rho(s) = e^-s or s^-1.5 (from lag 1 on)

learned by one layer of attention alone, with dot products and the bias of an encoding.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ordinate.encodings import (
    T5,
    Alibi,
    Encoding,
    Fire,
    KerpleLog,
    NoPosition,
    Rope,
    RpeLin,
    RpeLog,
)
from ordinate.lab.architectures import Dp, Memory
from ordinate.lab.evaluation.predicates import AtLeast
from ordinate.lab.report.heat import Heat, heat_maps
from ordinate.lab.tasks import make_task
from ordinate.papers.aims import Aim, Place, Ratio
from ordinate.papers.memories.sizes import SHARE, SIZES, described
from ordinate.papers.sheets import Line, Sheet, Sheets, Spot, sheets_figure

ENCODED: Mapping[str, Encoding] = {
    "none": NoPosition(),
    "RoPE": Rope(),
    "T5": T5(),
    "ALiBi": Alibi(),
    "KERPLE": KerpleLog(),
    "FIRE": Fire(),
    "rpe-lin": RpeLin(),
    "rpe-log": RpeLog(shift=1),
}
KERNELS: Mapping[str, dict[str, object]] = {
    "light tail, e^-s": {"kind": "exponential", "rate": 1.0},
    "heavy tail, s^-1.5": {"kind": "polynomial", "power": 1.5},
}


def biases(scale: str) -> Sheets:
    """Published encodings on a light and on a heavy tail."""
    size = SIZES[scale]
    heads = size.heads[len(size.heads) // 2]
    sheets = []
    for place, (title, kernel) in enumerate(KERNELS.items()):
        task = make_task("decaying-memory", length=size.length, kernels=[kernel], last=True)
        lines = []
        for label, encoding in ENCODED.items():
            layer = Memory(layers=1, heads=heads, ffn=False, encoding=(encoding,), attention=Dp())
            recipe = size.recipe(f"bias-{place}-{label}", task, layer)
            lines.append(Line(label, "positional", {float(heads): Spot(recipe)}))
        sheets.append(Sheet(title, "heads", lines, SHARE))
    light, heavy = KERNELS
    x = float(heads)
    aims: list[Aim] = [
        Ratio(
            "Light tail: rpe-lin leaves less than rpe-log.",
            AtLeast(1),
            Place(light, "rpe-lin", x),
            Place(light, "rpe-log", x),
        ),
        Ratio(
            "Heavy tail: rpe-log leaves less than rpe-lin.",
            AtLeast(1),
            Place(heavy, "rpe-log", x),
            Place(heavy, "rpe-lin", x),
        ),
        Ratio(
            "Heavy tail: KERPLE, which falls with the logarithm, leaves less than ALiBi, which falls with the lag.",
            AtLeast(1),
            Place(heavy, "KERPLE", x),
            Place(heavy, "ALiBi", x),
        ),
    ]
    note = f"One layer of attention alone with dot products, {heads} heads; the table is the figure."
    return Sheets(sheets, aims, size.seeds, note)


def heat_of(document: dict[str, Any]) -> Heat:
    """The map of a document, the first encoding on top."""
    sheets = document["sheets"]
    labels = [line["label"] for line in sheets[0]["lines"]]
    found = [[[row[0] for row in line["values"]] for line in sheet["lines"]] for sheet in sheets]
    values = np.array(found, dtype=np.float64).transpose(2, 1, 0)[:, ::-1]
    titles = [sheet["title"] for sheet in sheets]
    return Heat("what is left of the variance", "", "encoding", labels[::-1], titles, values)


FIGURES = (
    sheets_figure(
        "memories/biases",
        "Which published bias suits which tail",
        "What one layer of attention alone leaves of sums over all tokens before, with a light and a heavy tail.",
        described("eight encodings, two tails, three seeds, sized for 10 minutes on 2 cores", paper=False),
        biases,
        draw=lambda document: heat_maps([heat_of(document)], columns=1),
        caption="What is left of the variance, median over {settings[seeds]} seeds; cells say how many did not end. "
        "The darker, the more is left.",
    ),
)
