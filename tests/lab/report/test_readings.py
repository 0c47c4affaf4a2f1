"""What a page tells of a figure: the numbers of the figure, where they stand."""

import math
import re

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.accuracy import accuracy_curves
from ordinate.lab.report.curves import Panel, Series, training_curves, value_curves
from ordinate.lab.report.drawing import figure_bytes
from ordinate.lab.report.inline import inline_svg, palette, share_shapes
from ordinate.lab.report.numbers import show_interval
from ordinate.lab.report.readings import MOST_POINTS, readings
from ordinate.lab.report.ring import ring_maps
from ordinate.lab.report.style import COLUMN, DARK, OKABE_ITO, PAPER, ROLES, drawn_for


def panel(values, **options):
    return Panel("sum", "scale c", "MSE", [Series("RPE", "positional", [1, 2, 10], values, **options)])


def test_a_point_tells_median_interval_seeds_and_the_published_value():
    values = [[0.1, 0.2, 0.3], [0.2, 0.4, 0.9], [0.3, 0.9, 0.8]]
    (reading,) = readings(value_curves([panel(values, published={2: 0.25})]))
    assert [point["name"] for point in reading["points"]] == ["1", "2", "10"]
    assert [point["trained"] for point in reading["points"]] == [True, False, False]
    (line,) = reading["points"][1]["lines"]
    assert line["median"] == show_interval(summarise([0.2, 0.4, 0.9]).interval)
    assert line["seeds"] == ["0.2", "0.4", "0.9"]
    assert line["published"] == "0.25"


def test_a_failed_seed_is_told_and_left_out_of_the_median():
    (reading,) = readings(value_curves([panel([[0.1, 0.2, 0.3], [9.0, 9.0, math.nan]])]))
    lines = [point["lines"][0] for point in reading["points"]]
    assert [line["median"] for line in lines] == ["0.1", "0.2", "0.3"]
    assert lines[0]["seeds"][1] == "9 (failed)"
    assert lines[2]["seeds"][1] == "failed"


@pytest.mark.parametrize("draw", [value_curves, accuracy_curves, training_curves])
def test_places_are_those_of_the_marks_in_the_picture(draw):
    figure = draw([panel([[0.1, 0.4, 0.8]])])
    (reading,) = readings(figure)
    (axes,) = figure.axes
    median = next(line for line in axes.lines if len(line.get_xdata()) == 3)
    width, height = figure.get_size_inches() * figure.dpi
    marks = axes.transData.transform(np.column_stack([median.get_xdata(), median.get_ydata()]))
    told = [(point["at"] * width, (1 - point["lines"][0]["at"]) * height) for point in reading["points"]]
    assert np.allclose(told, marks, atol=0.02)
    left, top, right, bottom = reading["box"]
    assert all(left <= p["at"] <= right and top <= p["lines"][0]["at"] <= bottom for p in reading["points"])


def test_shares_are_told_in_per_cent():
    (reading,) = readings(accuracy_curves([panel([[1.0, 0.5, 0.0]])]))
    assert [point["lines"][0]["median"] for point in reading["points"]] == ["100.0 %", "50.0 %", "0.0 %"]


def test_long_lines_are_told_at_some_points():
    series = Series("a", "positional", list(range(1, 5001)), [[1.0] * 5000])
    (reading,) = readings(training_curves([Panel("t", "step", "loss", [series])]))
    assert MOST_POINTS / 2 < len(reading["points"]) <= MOST_POINTS


def test_cells_of_a_matrix_are_told_from_its_upper_left():
    values = [[0.0, 0.1], [0.2, 0.3]]
    figure = ring_maps({"APE": values}, np.eye(2)[:1], np.eye(2)[0], filled=1, clip=1.0)
    figure_bytes(figure, "svg")
    cells, _ = readings(figure)
    assert cells["cells"] == values
    assert (cells["rows"], cells["columns"]) == (["1", "2"], ["1", "2"])


def test_two_drawings_of_a_page_share_no_name():
    svg = figure_bytes(value_curves([panel([[0.1, 0.4, 0.8]])]), "svg").decode()
    pages = [inline_svg(svg, label) for label in ("one", "two")]
    names = [{part.split('"')[0] for part in page.split('id="')[1:]} for page in pages]
    assert names[0]
    assert not names[0] & names[1]
    for page, own in zip(pages, names, strict=True):
        used = {part.split('"')[0] for part in page.split('href="#')[1:]}
        used |= {part.split(")")[0] for part in page.split("url(#")[1:]}
        assert used <= own
        assert not any(colour in page for colour in ("#000000", "#0072b2", "#ffffff"))


def drawn_paths(page, shapes=None):
    """What every use of a page draws, and where."""
    shapes = shapes or dict(re.findall(r'<path id="([^"]*)" ([^>]*)/>', page))
    return [(shapes[name], where) for name, where in re.findall(r'<use href="#([^"]*)"([^>]*)/>', page)]


def test_drawings_of_a_page_share_their_letters_and_words():
    svg = figure_bytes(value_curves([panel([[0.1, 0.4, 0.8]])]), "svg").decode()
    alone = [inline_svg(svg, label) for label in ("one", "two")]
    page = share_shapes("\n".join(alone))
    shapes = re.findall(r'<path id="([^"]*)" ([^>]*)/>', page)
    words = re.findall(r'<g id="(word-[^"]*)">(.*?)</g>', page)
    for defined in (shapes, words):
        assert len(dict(defined)) == len({what for _, what in defined}) == len(defined) > 0
    drawings = page.partition("</svg>")[2]
    assert all(page.count(f'"#{name}"') > 1 for name, _ in words)
    # every use means what it meant in its own drawing
    for name, word in words:
        drawings = drawings.replace(f'<use href="#{name}"/>', word)
    meant = [drawn_paths(drawing) for drawing in alone]
    assert drawn_paths(drawings, dict(shapes)) == meant[0] + meant[1]
    assert share_shapes("<p>no drawing</p>") == "<p>no drawing</p>"


def test_places_are_kept_to_a_hundredth_of_a_point_and_scales_as_they_are():
    moved = 'transform="translate(60.1071 2) scale(0.015625)"'
    drawn = f'<path d="M 62.970227 -0.5 L 3 20.117422"/><use x="985.249055" y="7" {moved}/>'
    page = inline_svg(f'<svg viewBox="0 0 1 1">{drawn}</svg>', "a line")
    assert 'd="M 62.97 -0.5 L 3 20.11"' in page
    assert 'x="985.24" y="7" transform="translate(60.10 2) scale(0.015625)"' in page


def luminance(colour):
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], channels))


def test_every_look_stands_out_on_a_dark_ground():
    ground = luminance(DARK[PAPER])
    for look in ROLES.values():
        assert (luminance(DARK[look.colour]) + 0.05) / (ground + 0.05) >= 3, look
    assert "--c-0072b2: #0072b2;" in palette(dark=False)


# Machado, Oliveira and Fernandes (2009), severity 1, in linear light
BLINDNESS = {
    "none": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("dark", [False, True])
def test_colours_are_told_apart_with_any_common_colour_blindness(kind, dark):
    def seen(colour):
        light = np.array(
            [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        )
        return np.cbrt(np.clip(np.array(BLINDNESS[kind]) @ light, 0, 1))

    colours = [DARK[look.colour] if dark else look.colour for look in ROLES.values()]
    views = [seen(colour) for colour in colours]
    nearest = min(float(np.linalg.norm(a - b)) for i, a in enumerate(views) for b in views[:i])
    assert nearest > 0.09
    assert set(OKABE_ITO.values()) <= {*DARK}


def test_a_column_of_a_paper_has_letters_of_seven_points_and_more():
    with drawn_for(COLUMN):
        figure = value_curves([panel([[0.1, 0.4, 0.8]])])
    (axes,) = figure.axes
    assert figure.get_figwidth() == 3.35
    assert axes.xaxis.label.get_size() == 7.5
    assert axes.title.get_size() > 7.5
    assert value_curves([panel([[0.1, 0.4, 0.8]])]).get_figwidth() == 5.4
