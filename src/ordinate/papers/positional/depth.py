"""Theorem 5.1 as a construction: how deep the compiled programs of the library are, beside the bound."""

from typing import Any

from matplotlib.figure import Figure as Drawing

from ordinate.lab.evaluation.claims import AtMost, Claim
from ordinate.lab.programs.collection import STATIC
from ordinate.lab.programs.compiler.compile import SIZES, Row, cost_table
from ordinate.lab.report.programs import depth_curves
from ordinate.papers.figure import Document, Figure, Progress

SCALES = {
    "smoke": ("n = 8 and 16; no verdict", SIZES[:2]),
    "laptop": ("n = 8 .. 4096, some seconds", SIZES),
}
PANELS = {
    "depth grows as log n": ("prefix-sum", "max-subarray", "addition", "times-three-digits", "fft"),
    "depth grows as log² n": ("sort", "median", "prefix-median"),
}
KEYS = ("n", "rounds", "words", "layers", "layer_bound", "heads", "head_bound", "width", "hidden")


def compute(scale: str, progress: Progress) -> Document:
    """Plan every static program for every size: rounds, layers, heads and widths, counted."""
    sizes = SCALES[scale][1]
    rows = cost_table(STATIC, sizes, progress)
    return {
        "settings": {"programs": len(STATIC), "processors": f"{sizes[0]} to {sizes[-1]}"},
        "rows": rows,
        "claims": [claim.to_dict() for claim in _claims(rows, scale)],
        "table": _table(rows),
    }


def draw(document: Document) -> Drawing:
    """Two panels: scans and their like, and sorting."""
    by_name: dict[str, list[Row]] = {}
    for row in document["rows"]:
        by_name.setdefault(row["program"], []).append(row)
    return depth_curves({title: {name: by_name[name] for name in names} for title, names in PANELS.items()})


def notes(document: Document) -> list[str]:
    """Where the bound comes from, and which programs are left out."""
    shorter = sorted({row["program"] for row in document["rows"]} - _longest(document["rows"]))
    return [
        "The theorem routes the messages of every round through a Benes network, whose switches must come to know "
        "addresses in data; patterns that are known beforehand need one layer a round.",
        "Programs whose addresses are data are not here: they route themselves by sorting, k (k + 1) + k rounds "
        "with k = ceil(log2 2n) for what the theorem counts as one.",
        f"Not compiled for the largest n, because their words grow with it: {', '.join(shorter) or 'none'}.",
    ]


def _longest(rows: list[Row]) -> set[str]:
    most = max(row["n"] for row in rows)
    return {row["program"] for row in rows if row["n"] == most}


def _claims(rows: list[Row], scale: str) -> list[Claim]:
    def most(sentence: str, value: float | int, bound: int) -> Claim:
        return Claim.of_exact(sentence, float(value), AtMost(bound), None, scale)  # type: ignore[arg-type]

    return [
        most(
            "Every static program is within the theorem's depth (largest share of 2 R ceil(log2 N) layers).",
            max(row["layers"] / row["layer_bound"] for row in rows),
            1,
        ),
        most(
            "Every static program is within the theorem's heads (largest share of 2 s heads).",
            max(row["heads"] / row["head_bound"] for row in rows),
            1,
        ),
        most(
            "Layers of prefix sums are ceil(log2 n), not more (largest difference).",
            max(
                row["layers"] - (row["n"] - 1).bit_length() for row in rows if row["program"] == "prefix-sum"
            ),
            0,
        ),
    ]


def _table(rows: list[Row]) -> dict[str, Any]:
    """The smallest and the largest size of every program."""
    ends = {name: [row for row in rows if row["program"] == name] for name in {r["program"]: 0 for r in rows}}
    return {
        "headers": [
            "program",
            "n",
            "rounds",
            "words",
            "layers",
            "bound",
            "heads",
            "bound",
            "width",
            "hidden",
        ],
        "rows": [
            [name, *(str(row[key]) for key in KEYS)]
            for name, found in ends.items()
            for row in (found[0], found[-1])
        ],
        "caption": "The smallest and the largest n; ordinate compile --table has all of them.",
    }


FIGURES = (
    Figure(
        "positional/depth",
        "Depth of compiled programs",
        "Layers of positional Transformers that run parallel algorithms exactly, for growing numbers of processors, "
        "beside the 2 R ceil(log2 N) layers and 2 s heads that the theorem has for R rounds of s words.",
        {name: words for name, (words, _) in SCALES.items()},
        draw=draw,
        caption="Layers of compiled programs over the number of processors, on a logarithmic axis of n. Below, on a "
        "logarithmic axis of layers: dotted, in the same colour, what the theorem allows for as many rounds.",
        compute=compute,
        notes=notes,
    ),
)
