"""Scores of the arena and the ranking made of them: only what was learned counts, and intervals say how sure it is."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.runs import Run
from ordinate.papers.arena.cells import SIZES, cells
from ordinate.papers.arena.contests import FACTORS
from ordinate.papers.arena.figure import heat_of, table_of
from ordinate.papers.arena.scores import Score, ranked, same_models, score


def scored(entrant, values, contest="copy", learned=True, refused=(), absent="", losses=None):
    inside = [1.0 if learned else 0.5] * len(values)
    return Score(contest, entrant, absent, learned, inside, values, list(refused), 10, 1.0, [], losses or [])


def test_what_was_not_learned_is_not_ranked_and_what_failed_counts_nothing():
    scores = [
        scored("good", [[1.0, 0.9, 0.6, 0.3], [1.0, 0.9, 0.6, 0.3]]),
        scored("lucky", [[0.5, 1.0, 1.0, 1.0], [0.5, 1.0, 1.0, 1.0]], learned=False),
        scored("half", [[1.0, 1.0, 1.0, 1.0], [None] * 4]),
        scored("short", [[1.0, None, None, None]] * 2, refused=(2, 4, 10)),
        scored("absent", [], learned=False, absent="no relation"),
    ]
    places = ranked(scores, count=200)
    assert [place.entrant for place in places] == ["good", "half", "short", "lucky", "absent"]
    assert [round(place.points, 3) for place in places] == [0.6, 0.5, 0, 0, 0]
    assert places[1].interval == (0, 1)
    assert [place.ranks for place in places] == [(1, 2), (1, 2), (2, 3), (2, 3), (2, 3)]
    assert [place.learned for place in places] == [1, 1, 1, 0, 0]
    assert scores[3].medians == [1.0, None, None, None]


def test_models_are_the_same_where_all_their_losses_are():
    two = [[1.0, 0.5, 0.5, 0.5]] * 2
    scores = [
        scored("a", two, losses=[0.5, 0.25]),
        scored("b", two, losses=[0.5, 0.25]),
        scored("c", two, losses=[0.5, 0.125]),
        scored("a", two, contest="sum", losses=[1.0, 2.0]),
        scored("b", two, contest="sum", losses=[1.0, 2.0]),
        scored("c", two, contest="sum", losses=[0.5, 0.25]),
        scored("d", [], learned=False, absent="no relation"),
        scored("e", [], learned=False, absent="no relation"),
    ]
    assert same_models(scores) == {("a", "b"): ["copy", "sum"]}


CELLS = st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1, max_size=4)


@given(CELLS)
def test_points_are_the_mean_over_seeds_and_lie_in_their_interval(values):
    (place,) = ranked([scored("one", values)], count=200)
    assert math.isclose(place.points, np.mean([np.mean(row[1:]) for row in values]), abs_tol=1e-9)
    assert place.interval[0] - 0.05 <= place.points <= place.interval[1] + 0.05
    assert place.ranks == (1, 1)


@given(st.lists(CELLS, min_size=2, max_size=4))
def test_ranks_hold_the_place_of_the_points(several):
    places = ranked([scored(str(number), values) for number, values in enumerate(several)], count=200)
    assert [place.points for place in places] == sorted((place.points for place in places), reverse=True)
    for place in places:
        assert 1 <= place.ranks[0] <= place.ranks[1] <= len(places)


def test_what_differs_by_more_than_seeds_and_tests_is_told_apart():
    far, near, equal = ([[1.0, high, high, high]] * 3 for high in (0.9, 0.5, 0.5))
    places = {
        p.entrant: p for p in ranked([scored("b", near), scored("a", far), scored("c", equal)], count=200)
    }
    assert places["a"].ranks == (1, 1)
    assert places["b"].ranks == places["c"].ranks == (2, 3)


def test_in_every_draw_it_is_judged_anew_what_was_learned():
    apart = replace(scored("a", [[1.0, 1.0, 1.0, 1.0]] * 3), inside=[1.0, 1.0, 0.0])
    sure = replace(scored("b", [[1.0, 1.0, 1.0, 1.0]] * 3), inside=[1.0, 0.98, 0.96])
    places = {place.entrant: place for place in ranked([apart, sure], count=200)}
    assert places["a"].interval == (0, 1)
    assert places["b"].interval == (1, 1)


def measured(folder, share):
    """A run that ended with this share of right answers in distribution, and hardly any error."""
    run = Run(folder / f"seed-{round(100 * share)}")
    run.path.mkdir(parents=True)
    run.append_metrics([{"step": 1, "loss": 0.1}])
    run.write_result(
        "evaluation", [{"axis": "validation", "value": 1.0, "accuracy": share, "variance_share": 0.001}]
    )
    run.update(status="done", parameters=10, seconds=1.0)
    return run


@pytest.mark.parametrize("axis", ["length", "scale"])
def test_nine_tenths_of_the_sequences_are_asked_for_of_numbers_too(tmp_path, axis):
    sums = next(cell for cell in cells(SIZES["smoke"]) if cell.contest.name == "sum" and cell.recipe)
    for middle, learned in ((0.9, True), (0.89, False)):
        runs = [measured(tmp_path / str(middle), share) for share in (0.2, middle, 0.95)]
        assert score(sums, runs, axis).learned is learned


def test_the_map_hides_numbers_of_what_was_not_learned():
    scores = [
        scored("a", [[1.0, 0.9, 0.6, 0.3]]),
        scored("b", [[0.5, 1.0, 1.0, 1.0]], learned=False),
        scored("c", [[1.0, None, None, None]], refused=(2, 4, 10)),
    ]
    document = {
        "ranking": [{"entrant": name} for name in "abc"],
        "scores": [vars(score) for score in scores],
        "factors": list(FACTORS),
        "settings": {"seeds": 1},
        "trained": {"copy": 10},
        "axis": "length",
    }
    heat = heat_of(document, "copy")
    assert heat.rows == ["c", "b", "a"]
    assert heat.columns == ["in", "1x", "2x", "4x", "10x"]
    assert heat.medians[2].tolist() == [1.0, 1.0, 0.9, 0.6, 0.3]
    assert heat.words[1, 2] == "not learned"
    assert np.isnan(heat.medians[1, 1:]).all()
    assert heat.medians[1, 0] == 0.5
    assert [heat.words[0, column] for column in (2, 3, 4)] == ["refused"] * 3


def test_the_table_says_nothing_of_what_takes_no_part():
    scores = [scored("a", [[1.0, 0.9, 0.6, 0.3]]), scored("b", [], learned=False, absent="no relation")]
    rows = table_of(scores, ranked(scores, count=200))["rows"]
    assert rows[0][:3] == ["1", "a", "0.60"]
    assert rows[0][5:7] == ["1 of 1", "100 | 90 60 30"]
    assert rows[1] == ["", "b", "-", "-", "-", "-", "-", "10", "0"]


def test_what_just_misses_the_limit_is_not_rounded_up_to_it():
    missed = replace(scored("a", [[0.9, 0.0, 0.0, 0.0]], learned=False), inside=[0.895])
    assert table_of([missed], ranked([missed], count=200))["rows"][0][6] == "not learned (89)"
