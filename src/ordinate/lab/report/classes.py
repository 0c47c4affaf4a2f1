"""Maps of learned class vectors: a row is a class of pairs, a column a coordinate, a panel a layer."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib
import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray

from ordinate.lab.explain.parts import ClassVectors
from ordinate.lab.report.style import EDGE, paper_style, size


class ClassMap(NamedTuple):
    """The vectors of one model, or of one group of heads; those of several heads lie side by side."""

    names: Sequence[str]
    layers: Float[ndarray, "layer cls coordinate"]
    heads: int = 1


def map_of(vectors: ClassVectors) -> ClassMap:
    """The map of a model's class vectors."""
    layers, heads, classes, dim = vectors.vectors.shape
    flat = vectors.vectors.permute(0, 2, 1, 3).reshape(layers, classes, heads * dim)
    return ClassMap(vectors.names, flat.numpy(), heads)


def class_maps(maps: Mapping[str, ClassMap]) -> Figure:
    """Draw a row of panels for each map, a panel for each layer.

    >>> figure = class_maps({"rpe": ClassMap(["same place", "1 ahead"], np.zeros((3, 2, 4)))})
    >>> [axes.get_title("left") for axes in figure.axes][:2]
    ['rpe, layer 1', 'rpe, layer 2']
    """
    layers = max(len(one.layers) for one in maps.values())
    most = max(1e-9, *(float(np.abs(one.layers).max()) for one in maps.values()))
    heights = [max(1.6, min(3.6, 0.5 + 0.14 * len(one.names))) for one in maps.values()]
    margin = max(1.2, 0.5 + 0.065 * max(len(name) for one in maps.values() for name in one.names))
    with paper_style():
        figure = Figure(figsize=size(2.2 * layers + margin, sum(heights)), layout="constrained")
        panels = figure.subplots(len(maps), layers, squeeze=False, height_ratios=heights)
        for row, (label, one) in zip(panels, maps.items(), strict=True):
            for number, (axes, layer) in enumerate(zip(row, one.layers, strict=False)):
                image = axes.imshow(
                    layer,
                    cmap=matplotlib.colormaps["RdBu_r"],
                    vmin=-most,
                    vmax=most,
                    aspect="auto",
                    interpolation="nearest",
                )
                for head in range(1, one.heads):
                    axes.axvline(head * layer.shape[1] / one.heads - 0.5, color=EDGE, lw=0.6)
                axes.set_title(f"{label}, layer {number + 1}" if label else f"layer {number + 1}")
                axes.set_xlabel("coordinate" if one.heads == 1 else f"coordinate, {one.heads} heads")
                axes.grid(visible=False)
                names = one.names if number == 0 else []
                axes.set_yticks(range(len(names)), names, fontsize=6 if len(names) > 12 else 7)
            for axes in row[len(one.layers) :]:
                axes.set_axis_off()
        figure.colorbar(image, ax=panels, shrink=0.6 if sum(heights) > 3 else 0.95, label="value")
    return figure
