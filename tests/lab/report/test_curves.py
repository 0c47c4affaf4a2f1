"""Curves show every seed, name the failed ones and mark what was trained on."""

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from ordinate.lab.report.accuracy import accuracy_curves
from ordinate.lab.report.curves import Panel, Series, training_curves, value_curves
from ordinate.lab.report.drawing import figure_bytes
from ordinate.lab.report.style import ROLES, look_of, paper_style


def texts(artist) -> str:
    return " ".join(t.get_text() for t in artist.findobj(matplotlib.text.Text))


def test_one_panel_a_task_with_logarithmic_errors(panels):
    figure = value_curves(panels)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [panel.title for panel in panels]
    assert {axes.get_yscale() for axes in figure.axes} == {"log"}
    assert all("in distribution" in texts(axes) for axes in figure.axes)


def test_the_line_is_the_median_of_the_finite_seeds_and_the_band_holds_them():
    values = [[1.0, 2.0], [2.0, 4.0], [3.0, 9.0], [np.nan, 5.0]]
    figure = value_curves([Panel("t", "x", "y", [Series("a", "positional", [1, 2], values)])])
    (axes,) = figure.axes
    drawn = [line.get_ydata().tolist() for line in axes.lines]
    assert [2.0, 4.0] in drawn
    for seed in values[:3]:
        assert any(np.allclose(seed, line) for line in drawn)
    assert any(np.isnan(line[0]) and line[1] == 5 for line in drawn), "a failed seed keeps its finite points"
    (band,) = [c for c in axes.collections if isinstance(c, PolyCollection)]
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() == pytest.approx(np.quantile([1, 2, 3], 0.1))
    assert heights.max() == pytest.approx(np.quantile([2, 4, 9], 0.9))


def test_failed_seeds_are_named_in_their_panel_only(panels):
    figure = value_curves(panels)
    named = [axes.get_title(loc="left") for axes in figure.axes if "failed" in texts(axes)]
    assert named == ["sort"]
    assert "standard: 1 of 5 seeds failed" in texts(figure)


def test_published_medians_are_hollow_markers_where_they_are_known(panels):
    axes = value_curves(panels[:1]).axes[0]
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert [line.get_xydata().tolist() for line in hollow] == [[[2, 1e-3], [10, 0.1]]]


def test_the_legend_names_each_model_once(panels):
    (legend,) = value_curves(panels).legends
    labels = [t.get_text() for t in legend.get_texts()]
    assert len(labels) == len(set(labels))
    assert {"positional (median)", "standard (median)", "published median", "failed seed"} <= set(labels)


@pytest.mark.parametrize(
    ("x", "values", "trained_to"),
    [
        ([1], [[0.1]], 1.0),
        ([1, 2], [[np.nan, np.inf]], 1.0),
        ([5, 10, 20], [[0.1, 0.2, 0.3]], 1),
        ([5, 10, 20], [[0.1, 0.2, 0.3]], 50),
        ([5, 10, 20], [[0.0, 0.2, 0.3]], None),
    ],
)
@pytest.mark.filterwarnings("error")
def test_draws_one_point_one_seed_all_failed_and_zero_error_without_a_warning(x, values, trained_to):
    panel = Panel("t", "x", "y", [Series("a", "positional", x, values)], trained_to)
    assert figure_bytes(value_curves([panel]), "png").startswith(b"\x89PNG")
    assert figure_bytes(training_curves([panel]), "png").startswith(b"\x89PNG")


@pytest.mark.parametrize("log_x", [False, True])
def test_training_curves_show_every_seed_and_where_one_failed(log_x):
    loss = [[1.0, 0.5, 0.1], [1.0, 0.4, np.nan], [1.0, 0.6, 0.3]]
    figure = training_curves(
        [Panel("sum", "step", "loss", [Series("a", "standard", [1, 10, 100], loss)])], log_x=log_x
    )
    (axes,) = figure.axes
    assert axes.get_xscale() == ("log" if log_x else "linear")
    crosses = [line.get_xydata().tolist() for line in axes.lines if line.get_marker() == "x"]
    assert crosses == [[[10.0, 0.4]]]
    assert len(axes.lines) == 3 + 1 + 1
    assert "1 of 3 seeds failed" in texts(axes)


def test_refuses_values_of_the_wrong_shape_and_no_panels():
    with pytest.raises(ValueError, match="seeds x 3 points"):
        Series("a", "positional", [1, 2, 3], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="at least one panel"):
        value_curves([])


def test_drawing_leaves_the_settings_of_matplotlib_alone(panels):
    before = dict(matplotlib.rcParams)
    figure_bytes(value_curves(panels[:1]), "svg")
    assert dict(matplotlib.rcParams) == before


def test_the_callers_settings_do_not_change_a_figure(panels):
    plain = figure_bytes(value_curves(panels[:1]), "svg")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red"}):
        assert figure_bytes(value_curves(panels[:1]), "svg") == plain


def test_no_two_roles_look_alike():
    looks = list(ROLES.values())
    assert len({look.colour for look in looks}) == len({look.marker for look in looks}) == len(looks)
    assert look_of("a role of one's own") == look_of("a role of one's own")
    assert look_of("positional") != look_of("standard")


def test_the_style_ends_with_its_block_even_on_an_error():
    before = matplotlib.rcParams["axes.grid"]
    with pytest.raises(RuntimeError), paper_style():
        raise RuntimeError
    assert matplotlib.rcParams["axes.grid"] == before


def test_many_points_of_a_wide_range_are_not_written_over_each_other():
    few, many = [1, 5, 40], [*range(1, 21), 30, 40]
    for x, scale in ((few, "log"), (many, "linear")):
        curve = Series("looped", "first", x, [[1.0] * len(x)] * 2)
        figure = accuracy_curves([Panel("cascade", "longest cascade", "exact match", [curve], trained_to=5)])
        assert figure.axes[0].get_xscale() == scale


@pytest.mark.parametrize(
    ("inside", "height"),
    [([1.0, 1.0, 1.0], 0.2), ([0.0, 0.0, 0.0], 0.8), ([0.5, 0.1, 0.9], 0.7), ([np.nan] * 3, 0.5)],
)
def test_what_was_trained_is_named_away_from_the_values(inside, height):
    curve = Series("rpe", "first", [5, 6, 7], [[value, 0.5, 0.5] for value in inside])
    figure = accuracy_curves([Panel("length", "digits", "exact match", [curve], trained_to=5)])
    (name,) = (text for text in figure.axes[0].texts if text.get_text() == "in training")
    assert name.get_position()[1] == height


def test_the_name_of_a_range_hides_no_value():
    high = Series("standard", "second", [1, 2, 3], [[1.0, 0.6, 0.6]] * 2, published={1: 0.62})
    low = Series("positional", "first", [1, 2, 3], [[0.22, 0.1, 0.1]] * 2)
    for percent in (True, False):
        figure = value_curves([Panel("sum", "c", "error", [high, low], trained_to=1, percent=percent)])
        (axes,) = figure.axes
        (name,) = (text for text in axes.texts if text.get_text() == "in distribution")
        figure.draw_without_rendering()
        box = name.get_window_extent()
        covered = [
            value
            for line in axes.lines
            for value in axes.transData.transform(line.get_xydata())
            if box.contains(*value)
        ]
        assert covered == []


def test_one_row_is_no_median():
    alone = Series("exact", "first", [1.0, 2.0], [[1.0, 2.0]], {})
    figure = value_curves([Panel("", "x", "y", [alone])])
    assert figure.legends[0].get_texts()[0].get_text() == "exact"


def test_ticks_of_a_logarithmic_axis_are_written_in_full():
    curve = Series("disturbed", "first", [0.01, 0.1, 1, 20], [[1.0, 2.0, 3.0, 4.0]])
    figure = value_curves([Panel("noise", "noise", "MSE", [curve], log_x=True)])
    axis = figure.axes[0].xaxis
    assert axis.get_major_formatter().format_ticks(axis.get_majorticklocs()) == ["0.01", "0.1", "1", "20"]
