"""Compiled programs: how deep they are beside the theorem, where every head looks, and the page of one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter
from matplotlib.transforms import Bbox
from torch import Tensor

from ordinate.encodings import DUMMY
from ordinate.lab.explain.explanation import Step, walk
from ordinate.lab.programs.compiler.labels import Message
from ordinate.lab.programs.files import load, read_description, read_labels
from ordinate.lab.programs.language.ranges import Range
from ordinate.lab.report.curves import settle
from ordinate.lab.report.drawing import Drawing, Panel, Series
from ordinate.lab.report.report import Command, FigureSection, KeyValues, Report, Section, Table, Text
from ordinate.lab.report.style import GREY, OKABE_ITO, paper_style, points, size

MOST_LAYERS = 8
"""Layers that are drawn; deeper models are cut."""
MOST_TOKENS = 32
"""Tokens up to which numbers and places can be read."""
_DIGITS = "3141592653589793238462643383279502884197"


def example_inputs(ranges: Sequence[Range], n: int) -> Float[np.ndarray, "1 n word"]:
    """The digits of pi as inputs, brought into the ranges; every word begins at another digit.

    >>> example_inputs([Range(0, 9, whole=True)], 5)[0, :, 0].tolist()
    [3.0, 1.0, 4.0, 1.0, 5.0]
    """
    digits = np.array([float(d) for d in _DIGITS])
    words = []
    for word, known in enumerate(ranges):
        row = np.resize(np.roll(digits, -word * 7), n)
        if known.whole and known.high - known.low < 9:
            row = known.low + row % (known.high - known.low + 1)
        words.append(np.clip(row if known.magnitude > 1 or known.whole else row / 10, known.low, known.high))
    return np.stack(words, axis=-1)[None]


def draw_walk(steps: Sequence[Step], title: str = "") -> Figure:
    """Draw a walk, one row a layer: a matrix a head, and the columns behind the layer as a table of numbers.

    >>> step = Step((Message("i - 1", ("r1 = x",)),), torch.eye(3)[None], ["x + r1"], torch.ones(3, 1))
    >>> len(draw_walk([step]).axes)
    2
    """
    shown = steps[: MOST_LAYERS + 1]
    heads = max(1, *(len(step.messages) for step in shown))
    tokens = shown[0].values.shape[0]
    side = max(1.9, 0.16 * tokens)
    wide = max(2.4, 0.6 + max(sum(_widths(step.columns)) for step in shown))
    with paper_style():
        figure = Figure(
            figsize=(side * heads + wide + 0.4, (side + 0.75) * len(shown) + 0.5),
            layout=ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06),
        )
        grid = figure.add_gridspec(len(shown), heads + 1, width_ratios=[side] * heads + [wide])
        for row, step in enumerate(shown):
            for place, message in enumerate(step.messages):
                _matrix(figure.add_subplot(grid[row, place]), step.weights[place], message, row)
            _numbers(figure.add_subplot(grid[row, heads]), step, row)
        cut = f" (the first {MOST_LAYERS} of {len(steps) - 1} layers)" if len(shown) < len(steps) else ""
        if title:
            figure.suptitle(title + cut, x=0.01, ha="left", fontweight="bold")
        settle(figure)
    return figure


def _matrix(axes: Axes, weights: Float[Tensor, "token token"], message: Message, layer: int) -> None:
    axes.imshow(weights.abs().numpy(), cmap="Blues", vmin=0, vmax=1)
    axes.grid(visible=False)
    names = _tokens(len(weights))
    axes.set_xticks(range(len(names)), names, fontsize=6, rotation=90)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    words = message.words if len(message.words) <= 3 else (*message.words[:2], "...")
    axes.set_title(f"layer {layer}: {', '.join(words)}\nfrom {message.source}", fontsize=7.5)
    axes.set_xlabel("token looked at", fontsize=7)
    axes.set_ylabel("token", fontsize=7)


def _numbers(axes: Axes, step: Step, layer: int) -> None:
    """A table: a row a token, a column a residual column."""
    values = step.values.double().numpy()
    axes.set_axis_off()
    axes.set_title("input columns" if layer == 0 else f"columns behind layer {layer}", fontsize=8)
    if not step.columns:
        return
    table = axes.table(
        cellText=[[f"{value:.4g}" for value in row] for row in values],
        rowLabels=_tokens(len(values)),
        colLabels=list(step.columns),
        colWidths=_widths(step.columns),
        loc="center",
        cellLoc="right",
        bbox=Bbox.from_bounds(0.08, 0, 0.92, 1),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(7)
    for (row, _), cell in table.get_celld().items():
        cell.set_linewidth(0.3)
        if row == 0:
            cell.set_text_props(color=OKABE_ITO["blue"], fontweight="bold", ha="center")


def _widths(columns: Sequence[str]) -> list[float]:
    """Widths of columns in inches, from their labels."""
    return [max(0.5, 0.2 + 0.075 * len(label)) for label in columns]


def _tokens(count: int) -> list[str]:
    """Positions, and the dummy behind them."""
    return [*map(str, range(count - 1)), DUMMY]


def compiled_report(folder: Path) -> Report:
    """The report of the compiled program in a folder."""
    facts = read_description(folder)
    lead = f"{facts['summary'][0].upper()}{facts['summary'][1:]}, compiled for {facts['n']} processors."
    sections: list[Section] = [
        Table(
            ["", "this program", "theorem allows"],
            [
                ["rounds of communication", facts["rounds"], ""],
                ["words a processor and round", facts["words"], ""],
                ["layers", facts["layers"], facts["layer_bound"]],
                ["heads", facts["heads"], facts["head_bound"]],
                ["width", facts["width"], ""],
                ["hidden units", facts["hidden"], ""],
                ["parameters", facts["parameters"], ""],
            ],
            "The theorem of arXiv 2410.01686: 2 R ceil(log2 N) layers and 2 s heads for R rounds of s words.",
            "Costs",
            "costs",
        ),
        Text(_proved(facts), title="What is proved"),
        *_walk(folder, facts),
        KeyValues({"number format": facts["dtype"], "attention": _attention(facts)}, title="Weights"),
        Command(
            f"ordinate verify {facts['program']} --n {facts['n']} --dtype {facts['dtype']}{_reals(facts)}"
        ),
    ]
    return Report(str(facts["program"]), lead, sections)


def _proved(facts: dict[str, Any]) -> list[str]:
    ranges = [f"Input word {word}: {Range(**known)}." for word, known in enumerate(facts["inputs"])]
    return [
        *ranges,
        f"On these the model differs from the program by at most {facts['error_bound']:.3g} in {facts['dtype']}; "
        "other inputs are refused.",
    ]


def _walk(folder: Path, facts: dict[str, Any]) -> list[Section]:
    """The walk of an example, where its tokens can be told apart."""
    if facts["n"] > MOST_TOKENS:
        return [Text([f"Layers are drawn for up to {MOST_TOKENS} processors."], title="Layers")]
    inputs = example_inputs([Range(**known) for known in facts["inputs"]], facts["n"])
    figure = draw_walk(walk(load(folder), read_labels(facts), torch.from_numpy(inputs)))
    return [
        FigureSection(
            figure,
            "Rows are layers. A matrix shows where every token looks in a head; the table behind it what stands in "
            "the residual columns of an example. x is an input, c a constant of the position, r a received word, u a "
            "ReLU, v a value that is kept.",
            "Layers",
            name="layers",
        )
    ]


def _attention(facts: dict[str, Any]) -> str:
    return "query and key weights" if facts["dense"] else "tables of sources"


def _reals(facts: dict[str, Any]) -> str:
    return "" if all(known["whole"] for known in facts["inputs"]) else " --reals"


COLOURS = [OKABE_ITO[name] for name in ("blue", "vermilion", "green", "purple", "orange", "sky", "black")]
MARKERS = "os^DvPX"

Rows = Sequence[Mapping[str, Any]]


def depth_curves(panels: Mapping[str, Mapping[str, Rows]]) -> Figure:
    """Draw layers over n on a logarithmic axis of n, one column a panel.

    Above, the layers alone, where a logarithm is a straight line; below, on a logarithmic axis, with the bound of each
    program dotted in the same colour. Rows have `n`, `layers` and `layer_bound`, in the order of n.

    >>> rows = [{"n": 8, "layers": 3, "layer_bound": 18}, {"n": 16, "layers": 4, "layer_bound": 32}]
    >>> figure = depth_curves({"scans": {"prefix-sum": rows}})
    >>> [len(axes.lines) for axes in figure.axes]
    [1, 2]
    """
    with paper_style():
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
        figure = Drawing(figsize=size(4.6 * len(panels) + 0.4, 7.6), layout=layout)
        for number, (title, programs) in enumerate(panels.items(), start=1):
            above = figure.add_subplot(2, len(panels), number)
            _panel(above, title, programs, bounds=False)
            figure.keep(above, _kept(title, programs, bounds=False))
            below = figure.add_subplot(2, len(panels), len(panels) + number)
            _panel(below, "beside the theorem's bound", programs, bounds=True)
            figure.keep(below, _kept(f"{title}, bounds", programs, bounds=True))
        settle(figure)
    return figure


def _kept(title: str, programs: Mapping[str, Rows], *, bounds: bool) -> Panel:
    """The layers of a panel as numbers, or the bounds on them."""
    series = [
        Series(
            name,
            name,
            [row["n"] for row in rows],
            [[row["layer_bound" if bounds else "layers"] for row in rows]],
            colour=COLOURS[place % len(COLOURS)],
        )
        for place, (name, rows) in enumerate(programs.items())
    ]
    measure = "layers that the theorem allows" if bounds else "layers"
    return Panel(title, "processors n", measure, series, trained_to=None)


def _panel(axes: Axes, title: str, programs: Mapping[str, Rows], *, bounds: bool) -> None:
    sizes: set[int] = set()
    for place, (name, rows) in enumerate(programs.items()):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        n = [row["n"] for row in rows]
        sizes |= set(n)
        axes.plot(n, [row["layers"] for row in rows], color=colour, marker=marker, label=name)
        if bounds:
            axes.plot(n, [row["layer_bound"] for row in rows], ":", color=colour, lw=1.2)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log" if bounds else "linear")
    axes.xaxis.set_major_locator(FixedLocator(sorted(sizes)))
    axes.xaxis.set_minor_locator(NullLocator())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ScalarFormatter())
    axes.tick_params(axis="x", labelrotation=90)
    axes.set_xlabel("processors n")
    axes.set_ylabel("layers")
    axes.set_title(title)
    if bounds:
        bound = Line2D([], [], ls=":", color=GREY, label=r"theorem: $2R\lceil\log_2 n\rceil$")
        axes.legend(handles=[bound], fontsize=points(8), loc="upper left")
    else:
        axes.legend(fontsize=points(8), loc="upper left")
