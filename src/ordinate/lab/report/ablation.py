"""What parts of a model are worth, as bars."""

from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from ordinate.lab.explain.ablate import Ablation
from ordinate.lab.report.style import OKABE_ITO, paper_style

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
