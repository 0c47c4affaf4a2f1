"""Maps of classes: which class every pair of tokens has, and the vectors that a model learned for them."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib
import numpy as np
from jaxtyping import Float
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy import ndarray

from ordinate.coordinates import Coordinates
from ordinate.lab.explain.parts import ClassVectors
from ordinate.lab.report.style import EDGE, paper_style, size
from ordinate.relations import ABSENT, BoundRelation, Relation

MOST_LABELS = 60
"""Tokens up to which every one is named on the axes."""


def class_matrix(relation: Relation, coordinates: Coordinates) -> Figure:
    """Draw which class every pair of tokens has: queries down, keys across, absent white, plain grey.

    >>> from ordinate.relations import aligned, window
    >>> figure = class_matrix(aligned() * window(back=2), Coordinates.of(digit=range(4)))
    >>> figure.axes[0].get_xlabel()
    'key'
    """
    bound = BoundRelation(relation, [coordinates])
    classes = bound.pattern(coordinates).dense.numpy()
    tokens, count = len(coordinates), bound.classes
    shown = np.where(classes == ABSENT, math.nan, classes.astype(float))
    colours = matplotlib.colormaps["viridis"](np.linspace(0.05, 0.98, max(count, 1)))
    colours = np.vstack([colours[:count], [[0.8, 0.8, 0.8, 1.0]]])
    with paper_style():
        side = min(9.0, 2.2 + 0.22 * tokens)
        figure = Figure(figsize=(side, side), layout="constrained")
        axes = figure.add_subplot()
        axes.imshow(shown, cmap=ListedColormap(colours), vmin=-0.5, vmax=count + 0.5, interpolation="nearest")
        axes.set_title(str(relation))
        axes.set_xlabel("key")
        axes.set_ylabel("query")
        axes.grid(visible=False)
        step = max(1, math.ceil(tokens / MOST_LABELS))
        labels = [coordinates.label(i) for i in range(0, tokens, step)]
        axes.set_xticks(range(0, tokens, step), labels, rotation=90, fontsize=7)
        axes.set_yticks(range(0, tokens, step), labels, fontsize=7)
    return figure


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
