"""Everything that is written can be read in both schemes: on coloured cells, over lines, and on the page itself."""

import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from ordinate.lab.explain import Ablated, Ablation, class_vectors, explain
from ordinate.lab.report.accuracy import accuracy_curves
from ordinate.lab.report.answers import answer_places
from ordinate.lab.report.classes import class_maps, class_matrix, map_of
from ordinate.lab.report.curves import Panel, Series, training_curves, value_curves
from ordinate.lab.report.drawing import figure_bytes
from ordinate.lab.report.explanation import ablation_bars, attention_grid, used_positions
from ordinate.lab.report.heat import Heat, heat_maps
from ordinate.lab.report.inline import inline_svg, night_filter, share_shapes
from ordinate.lab.report.report import CSS
from ordinate.lab.report.ring import ring_maps
from ordinate.lab.report.style import DARK, INK, PAPER, RIGHT, contrast, ink_on, night, rgb
from ordinate.lab.tasks import make_task
from ordinate.models import ResidualEncoder, build_model
from ordinate.relations import aligned, itself, window
from tests.contrast import ENOUGH, faint, words
from tests.stylesheet import unreadable


@pytest.fixture(scope="module")
def model():
    task = make_task("addition", digits=3, width=4)
    return task, build_model(ResidualEncoder(layers=2, heads=2, width=8, hidden=8), task, seed=0)


@pytest.fixture(scope="module")
def explained(model):
    """Right and wrong places by turns."""
    task, untrained = model
    found = explain(untrained, task, "199+1")
    return replace(found, outputs=tuple(replace(o, correct=bool(i % 2)) for i, o in enumerate(found.outputs)))


def test_letters_without_contrast_are_found():
    figure = Figure(figsize=(4, 2))
    figure.patch.set_facecolor(PAPER)
    for x, colour, ground in ((0.1, INK, PAPER), (0.5, "#999999", PAPER), (0.8, INK, "#cfe8d0")):
        figure.text(x, 0.5, colour + ground, color=colour, bbox={"facecolor": ground, "edgecolor": "none"})
    # The last ground is one that no scheme changes, under ink that the dark one turns over.
    assert [(scheme, text) for scheme, text, _, _ in faint(figure)] == [
        ("light", "#999999" + PAPER),
        ("dark", INK + "#cfe8d0"),
    ]
    assert len(words(figure, dark=False)) == 3


def test_pictures_of_an_explanation_can_be_read(explained, model):
    (vectors,) = class_vectors(model[1])
    ablation = Ablation("length", 3.0, 10, 1.0, 0.0, (Ablated("layer 1", "layer", 0.5, -0.5, 1.0),))
    for figure in (
        *(answer_places(explained), attention_grid(explained), used_positions(explained)),
        *(class_maps({"": map_of(vectors)}), ablation_bars(ablation)),
    ):
        assert faint(figure) == []


def curve(label, role, height):
    return Series(label, role, [1, 2, 5, 10], [[height, height, height, height / 2]] * 3)


@pytest.mark.parametrize("draw", [value_curves, accuracy_curves, training_curves])
def test_curves_can_be_read_where_lines_cross_what_is_written(draw):
    lines = [curve("a", "positional", 1.0), curve("b", "standard", 0.95), curve("c", "hybrid", 0.5)]
    panel = Panel("length", "digits", "exact match", lines, trained_to=2, percent=draw is not training_curves)
    assert faint(draw([panel])) == []


@pytest.mark.parametrize("percent", [True, False])
def test_every_cell_of_a_map_can_be_read(percent):
    values = (np.linspace(0, 1, 60) if percent else np.logspace(-6, 3, 60)).reshape(1, 6, 10)
    values[0, 2, 3] = values[0, 2, 4] = np.nan
    names = list("abcdef"), list("0123456789")
    heat = Heat("t", "x", "y", *names, values, percent=percent, words={(2, 3): "refused"}, remark="a remark")
    figure = heat_maps([heat], columns=1)
    assert len(words(figure, dark=True)) >= 60
    assert faint(figure) == []


def test_other_maps_can_be_read():
    coordinates = make_task("addition").coordinates(5)
    relation = aligned("first", "second") * window(2) | itself()
    eye = np.eye(5)
    for figure in (
        class_matrix(relation, coordinates),
        ring_maps({"a": eye.tolist()}, eye[:1], eye[0], filled=2, clip=1.0),
    ):
        assert faint(figure) == []


@pytest.mark.parametrize("step", range(11))
def test_one_of_the_inks_can_be_read_on_every_colour(step):
    for red, green in np.ndindex(11, 11):
        cell = np.array([red, green, step]) / 10
        ink = ink_on(tuple(cell))
        assert contrast(cell, rgb(ink)) > ENOUGH
        assert contrast(night(cell), rgb(DARK[ink])) > ENOUGH


def test_the_filter_of_the_page_does_to_an_image_what_is_measured_here():
    matrix, *channels = re.findall(r'values="([^"]*)"|slope="([^"]*)" intercept="([^"]*)"', night_filter())
    rows = np.array(matrix[0].split(), dtype=float).reshape(4, 5)
    slopes, lows = np.array([channel[1:] for channel in channels], dtype=float).T
    pixels = np.random.default_rng(0).random((50, 3))
    turned = np.clip(np.column_stack([pixels, np.ones((50, 2))]) @ rows.T, 0, 1)[:, :3]
    assert np.allclose(lows + slopes * turned, night(pixels), atol=2e-3)


def test_a_page_with_an_image_has_the_filter_and_one_without_has_not(explained, panels):
    def page(figure):
        return share_shapes(inline_svg(figure_bytes(figure, "svg").decode(), "label"))

    assert page(attention_grid(explained)).count('id="night"') == 1
    assert "night" not in page(value_curves(panels[:1]))
    dark, paper = (CSS.index(f"filter: {name}") for name in ("url(#night)", "none"))
    assert CSS.index("scheme: dark") < dark < CSS.index("@media print") < paper


def test_no_colour_of_a_drawing_is_the_same_in_both_schemes_by_oversight(explained):
    svg = inline_svg(figure_bytes(answer_places(explained), "svg").decode(), "label")
    assert re.findall(r": (#[0-9a-f]{6})", svg) == []
    assert contrast(rgb(DARK[RIGHT]), rgb(DARK[INK])) > ENOUGH


def test_what_is_written_on_the_page_can_be_read():
    assert unreadable(CSS) == []
