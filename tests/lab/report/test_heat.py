"""Maps of cells: medians, failed seeds, and the staircase."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from ordinate.lab.report.heat import Heat, draw_heat
from ordinate.lab.report.readings import readings
from ordinate.lab.report.style import INKS

NAN = float("nan")
VALUES = np.array(
    [
        [[0.5, 0.02, 1e-3], [0.9, NAN, 0.04]],
        [[0.7, 0.04, 2e-3], [0.8, NAN, NAN]],
        [[0.6, 0.06, 4e-3], [0.7, NAN, 0.02]],
    ]
)


def drawn(values=VALUES, steps=(1, 3)):
    axes = Figure().add_subplot()
    draw_heat(axes, Heat("left", "layers", "nesting", ["K = 0", "K = 1"], ["1", "2", "3"], values, steps))
    return axes


def test_cells_say_the_median_of_the_seeds_that_ended_and_how_many_did_not():
    texts = {(t.get_position()[1], t.get_position()[0]): t.get_text() for t in drawn().texts}
    assert texts == {
        **{(0, 0): "0.6", (0, 1): "0.04", (0, 2): "0.002"},
        **{(1, 0): "0.8", (1, 1): "failed", (1, 2): "0.03\n1/3 failed"},
    }


def test_the_stairs_run_along_the_left_edges_of_the_cells_named():
    axes = drawn()
    (line,) = axes.lines
    assert line.get_xydata().tolist() == [[0.5, -0.5], [0.5, 0.5], [2.5, 0.5], [2.5, 1.5]]
    assert not drawn(steps=()).lines


def test_letters_are_light_on_dark_cells_and_dark_on_light_ones_whatever_the_scheme_makes_of_the_cells():
    colours = {t.get_text(): t.get_color() for t in drawn().texts}
    assert colours["0.8"] == INKS[False, True]
    assert colours["0.002"] == INKS[True, False]


@pytest.mark.parametrize("values", [np.full((2, 2, 3), NAN), np.full((1, 2, 3), 0.25), np.zeros((1, 2, 3))])
def test_maps_without_a_scale_can_be_drawn(values):
    figure = drawn(values).figure
    figure.canvas.draw()
    assert len(figure.axes[0].texts) == 6


def test_a_page_can_tell_every_cell():
    axes = drawn()
    axes.figure.canvas.draw()
    (reading,) = readings(axes.figure)
    assert reading["rows"] == ["K = 1", "K = 0"]
    assert reading["cells"] == [[0.8, None, 0.03], [0.6, 0.04, 0.002]]


def test_values_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="seeds x 1 rows x 2 columns"):
        Heat("t", "x", "y", ["a"], ["b", "c"], np.zeros((1, 2, 2)))
    with pytest.raises(ValueError, match="2 steps for 1 rows"):
        Heat("t", "x", "y", ["a"], ["b"], np.zeros((1, 1, 1)), [1, 2])


def test_shares_are_drawn_in_per_cent_and_words_where_there_is_no_share():
    axes = Figure().add_subplot()
    values = np.array([[[0.0, 0.994, np.nan, np.nan]]])
    heat = Heat("t", "x", "y", ["a"], ["b", "c", "d", "e"], values, percent=True, words={(0, 2): "refused"})
    draw_heat(axes, heat)
    assert [text.get_text() for text in axes.texts] == ["0", "99", "refused", "failed"]
