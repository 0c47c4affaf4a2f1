"""A relation as a picture: its class matrix, one colour a class."""

import math

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from ordinate.coordinates import Coordinates
from ordinate.lab.report.style import paper_style
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
