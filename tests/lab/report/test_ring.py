"""Figures of rings and of distributions: what is drawn where."""

import numpy as np

from ordinate.lab.report.curves import Panel, Series
from ordinate.lab.report.distributions import Distribution, distributions
from ordinate.lab.report.drawing import figure_bytes
from ordinate.lab.report.ring import ring_losses, ring_maps


def test_losses_have_a_known_level_and_shaded_places():
    train = Panel(
        "training", "step", "loss", [Series("RPE", "positional", [1, 10], [[1.0, 0.1], [2.0, 0.2]])]
    )
    places = Series("RPE", "positional", [1, 2, 3, 4], [[0.1, 0.1, 0.2, 0.3]])
    test = Panel("test", "place", "loss", [places], trained_to=2)
    figure = ring_losses(train, test, level=4.5, level_name="answer 0", expected=[0.2] * 4)
    left, right = figure.axes
    assert left.get_xscale() == "log"
    assert any(np.allclose(line.get_ydata(), 4.5) for line in right.lines)
    assert "filled in training" in [text.get_text() for text in right.texts]
    assert figure_bytes(figure, "png") == figure_bytes(figure, "png")


def test_maps_are_clipped_and_drawn_from_place_one():
    maps = {"APE": np.eye(5).tolist(), "APE + shifts": (2 * np.eye(5)).tolist()}
    figure = ring_maps(maps, np.zeros((3, 5)), np.ones(5), filled=2, clip=0.5)
    images = [axes.images[0] for axes in figure.axes[:2]]
    assert [image.get_clim() for image in images] == [(-0.5, 0.5)] * 2
    assert tuple(images[0].get_extent()) == (0.5, 5.5, 5.5, 0.5)
    assert len(figure.axes[2].lines) == 4


def test_tiny_probabilities_and_empty_shares_are_left_out():
    figure = distributions(
        [Distribution("5 digits", [0.5, 0.5, 1e-9], [[0.4, 0.6, 0.0]])], "cascade", {5: 1e-4, 50: 1e-2}, "P"
    )
    bars, tail = figure.axes
    assert len(bars.patches) == 2
    assert len(bars.lines[0].get_xdata()) == 2
    assert tail.get_xscale() == "log"
