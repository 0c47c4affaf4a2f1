"""Pictures of an explanation: where every head looks, which input each output used, and what parts are worth."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter
from numpy import ndarray
from torch import Tensor

from ordinate.lab.explain.ablate import Ablation
from ordinate.lab.explain.explanation import Explanation
from ordinate.lab.report.curves import settle
from ordinate.lab.report.style import GRID, OKABE_ITO, WRONG_TEXT, paper_style

MOST_HEADS = 12
"""Heads that are drawn of a layer."""
MOST_PASSES = 16
"""Layers, or loops through them, that are drawn."""
APART = 0.115
"""Inches between two names; where tokens are closer, one in two, three, ... is named."""
TALLEST, WIDEST = 24.0, 18.0
"""Inches that all matrices together take."""


def token_labels(explanation: Explanation) -> list[str]:
    """Every token with its field and ordinate; a pad is a dot."""
    return [token.label.replace("pad ", "· ", 1) for token in explanation.tokens]


def attention_grid(explanation: Explanation) -> Figure:
    """Draw one matrix for every head (across) and layer or loop (down): queries down, keys across."""
    passes, heads = explanation.attention.shape[:2]
    shown = explanation.attention[:MOST_PASSES, :MOST_HEADS].numpy()
    rows, columns, tokens = shown.shape[:3]
    most = max(1e-9, float(np.abs(shown).max()))
    labels = token_labels(explanation)
    side = max(1.5, min(_side(tokens), TALLEST / rows, WIDEST / columns))
    size = _size(tokens)
    names = 0.1 + 0.0092 * size * max(map(len, labels))  # inches that the longest label takes
    left, right, top, bottom, gap, title = names + 0.3, 0.85, 0.15, names + 0.3, 0.1, 0.28
    wide = left + columns * side + (columns - 1) * gap + right
    high = top + rows * (side + title) + bottom
    with paper_style():
        figure = Figure(figsize=(wide, high))
        for row, one in enumerate(explanation.passes[:rows]):
            for head in range(columns):
                x, y = left + head * (side + gap), high - top - (row + 1) * (side + title)
                axes = figure.add_axes((x / wide, y / high, side / wide, side / high))
                image = _matrix(axes, np.abs(shown[row, head]), most)
                axes.set_title(f"{one.name}, head {head + 1}", fontsize=7.5)
                _name(axes, labels if row == rows - 1 else [], "x", size, side)
                _name(axes, labels if head == 0 else [], "y", size, side)
                if row == rows - 1:
                    axes.set_xlabel("key", fontsize=8)
                if head == 0:
                    axes.set_ylabel("query", fontsize=8)
        tall = min(3.0, high - top - bottom)
        bar = figure.add_axes(
            ((wide - 0.7) / wide, (high - top - title - tall) / high, 0.13 / wide, tall / high)
        )
        figure.colorbar(image, cax=bar).set_label("weight", fontsize=8)
        bar.tick_params(labelsize=7)
        cut = [f"{rows} of {passes} layers"] * (rows < passes) + [f"{columns} of {heads} heads"] * (
            columns < heads
        )
        if cut:
            figure.text(0.1 / wide, 0.1 / high, f"The first {' and '.join(cut)}", fontsize=8)
    return figure


def used_positions(explanation: Explanation) -> Figure:
    """Draw which input every output used: by rollout, by the effect of changes, and what the right answer needs.

    Inputs that are not changed on their own, such as signs, are grey.
    """
    unit = "probability moved" if explanation.kind == "symbols" else "change of the number"
    right = "share of changes" if explanation.kind == "symbols" else unit
    still = np.array([not token.changed for token in explanation.tokens])
    panels = {
        "attention rollout": (explanation.rollout.numpy(), "share"),
        "effect of a change on the model": (_without(explanation.effect, still), unit),
        "effect on the right answer": (_without(explanation.needed, still), right),
    }
    outputs, tokens = explanation.rollout.shape
    wide, high = max(2.4, _side(tokens)), max(1.0, min(6.0, 0.125 * outputs))
    labels, names = token_labels(explanation), output_labels(explanation)
    margin = 0.055 * max(map(len, names))
    with paper_style():
        figure = Figure(
            figsize=(3 * (wide + 0.75) + margin + 0.5, high + 0.9 + 0.055 * max(map(len, labels))),
            layout=ConstrainedLayoutEngine(w_pad=0.05, h_pad=0.04),
        )
        row = figure.subplots(1, 3, squeeze=False, sharey=True)[0]
        for axes, (title, (values, label)) in zip(row, panels.items(), strict=True):
            image = _matrix(axes, values, max(1e-9, float(np.nanmax(values, initial=0.0))))
            axes.set_title(title, fontsize=9)
            axes.set_aspect("auto")
            _name(axes, labels, "x", _size(tokens), wide)
            axes.set_xlabel("input", fontsize=8)
            bar = figure.colorbar(image, ax=axes, shrink=0.9, aspect=16, pad=0.02)
            bar.set_label(label, fontsize=8)
            bar.ax.tick_params(labelsize=7)
        _name(row[0], names, "y", _size(outputs), high)
        row[0].set_ylabel("output", fontsize=8)
        _mark_wrong(row[0], explanation)
        settle(figure)
    return figure


def output_labels(explanation: Explanation) -> list[str]:
    """Every output with the token it is read at, and the right answer where it is another."""
    names = []
    for output in explanation.outputs:
        token = explanation.tokens[output.token]
        answer, right = (write_value(value) for value in (output.answer, output.right))
        said = answer if output.correct else f"{answer} (not {right})"
        column = f".{output.column}" if any(other.column for other in explanation.outputs) else ""
        names.append(f"{said}  {token.field} {token.ordinate}{column}")
    return names


def write_value(value: str | float) -> str:
    """An answer in a few letters: a pad as a dot, a blank as a sign, a number with three figures.

    >>> write_value("pad"), write_value(0.12345)
    ('·', '0.123')
    """
    if isinstance(value, str):
        return {"pad": "·", " ": "␣"}.get(value, value)
    return f"{value:.3g}"


def _without(
    values: Float[Tensor, "row column"], still: Bool[ndarray, " column"]
) -> Float[ndarray, "row column"]:
    """No number where nothing was changed."""
    return np.where(still, np.nan, values.numpy())


def _side(tokens: int) -> float:
    """Inches of a matrix: enough to name every token, up to a limit."""
    return min(6.0, max(1.5, 0.125 * tokens))


def _matrix(axes: Axes, values: Float[ndarray, "row column"], most: float) -> AxesImage:
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(True)
    axes.set_facecolor(GRID)
    axes.tick_params(length=2, pad=1)
    return axes.imshow(values, cmap="Blues", vmin=0, vmax=most, interpolation="nearest")


def _size(tokens: int) -> float:
    """Points of the letters that name tokens."""
    return 6.5 if tokens <= 24 else 5.5


def _name(axes: Axes, labels: Sequence[str], which: str, size: float, inches: float) -> None:
    """Name as many tokens as this many inches have room for."""
    step = max(1, math.ceil(len(labels) * APART / inches))
    places = range(0, len(labels), step)
    if which == "x":
        axes.set_xticks(places, [labels[i] for i in places], rotation=90, fontsize=size)
    else:
        axes.set_yticks(places, [labels[i] for i in places], fontsize=size)


def _mark_wrong(axes: Axes, explanation: Explanation) -> None:
    """Names of wrong outputs in red."""
    wrong = {
        label
        for label, out in zip(output_labels(explanation), explanation.outputs, strict=True)
        if not out.correct
    }
    for text in axes.get_yticklabels():
        if text.get_text() in wrong:
            text.set_color(WRONG_TEXT)


COLOURS = {"layer": OKABE_ITO["blue"], "head": OKABE_ITO["sky"], "class": OKABE_ITO["orange"]}


def ablation_bars(ablation: Ablation) -> Figure:
    """Draw the accuracy that is left without each part, beside that of the whole model."""
    rows, size = ablation.rows, 7 if len(ablation.rows) <= 60 else 5.5
    step = 0.16 if size == 7 else 0.12
    with paper_style():
        figure = Figure(figsize=(6.4, 1.0 + step * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        axes.barh(
            range(len(rows)),
            [row.accuracy for row in rows],
            color=[COLOURS[row.kind] for row in rows],
            height=0.8,
        )
        axes.axvline(ablation.accuracy, color=OKABE_ITO["black"], lw=1, ls="--")
        axes.set_yticks(range(len(rows)), [row.part for row in rows], fontsize=size)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"accuracy without it (whole model: {ablation.accuracy:.1%})")
        kinds = dict.fromkeys(row.kind for row in rows)
        axes.legend(
            handles=[Patch(color=COLOURS[kind], label=kind) for kind in kinds],
            loc="upper left",
            bbox_to_anchor=(1, 1),
            fontsize=8,
        )
    return figure
