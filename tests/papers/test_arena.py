"""The arena: equal cells, honest refusals, a ranking of what was learned."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.evaluation import test_set
from ordinate.evaluation.metrics import within_tolerance
from ordinate.models import build_model
from ordinate.papers import FIGURES, rewrite_report
from ordinate.papers.arena.cells import SIZES, cell, cells
from ordinate.papers.arena.contests import FACTORS, contests
from ordinate.papers.arena.entrants import EVEN, Absent, built, entrants
from ordinate.papers.arena.figure import Arena, heat_of, table_of
from ordinate.papers.arena.ranking import ranked
from ordinate.papers.arena.scores import Score, same_models, score
from ordinate.positions.encodings import ENCODINGS
from ordinate.runs import Run
from ordinate.training import Recipe
from tests.papers.inline import Inline

LENGTHS, VALUES = FIGURES["arena/lengths"], FIGURES["arena/values"]
EVERYONE = replace(SIZES["smoke"], tasks=(), encodings=())


def test_all_encodings_and_nine_tasks_take_part():
    assert set(ENCODINGS) < {entrant.name for entrant in EVERYONE.entrants}
    assert [contest.name for contest in EVERYONE.contests] == [
        *(
            "addition",
            "multiplication",
            "sort",
            "sum",
            "copy",
            "reverse",
            "parity",
            "modular-counting",
            "k-hop",
        )
    ]
    absent = {(c.contest.name, c.entrant.name) for c in cells(EVERYONE) if c.recipe is None}
    assert {contest for contest, entrant in absent if entrant == "pairwise"} == {"sort", "k-hop"}
    assert {contest for contest, entrant in absent if entrant == "upe"} == {
        contest.name for contest in EVERYONE.contests if contest.name != "multiplication"
    }
    assert all(c.absent for c in cells(EVERYONE) if c.recipe is None)


SOME = ("none", "shaw", "rope", "abacus")
"""Encodings that stand for all where sizes are large."""


@pytest.mark.parametrize(
    "size",
    [EVERYONE, replace(SIZES["laptop"], encodings=SOME), replace(SIZES["paper"], encodings=SOME[:1])],
    ids=["smoke", "laptop", "paper"],
)
def test_cells_of_a_scale_differ_in_task_and_encoding_only(size):
    recipes = [c.recipe for c in cells(size) if c.recipe is not None]
    assert len({recipe.name for recipe in recipes}) == len(recipes)
    assert len({repr(recipe.training) for recipe in recipes}) == 1
    assert len({repr({**dict(r.model), "encoding": 0, "attention": 0}) for r in recipes}) == 1
    for recipe in recipes:
        assert Recipe.parse(recipe.to_dict()) == recipe


@pytest.mark.parametrize("contest", contests(SIZES["smoke"].lengths))
def test_every_cell_runs_as_far_as_it_says_and_is_refused_beyond(contest):
    for found in cells(EVERYONE):
        if found.contest.name != contest or found.recipe is None:
            continue
        model = build_model(found.recipe.model, found.recipe.task, seed=0).eval()
        assert 1 in found.reached
        for factor in {max(found.reached), *FACTORS} - set(found.reached[:-1]):
            batch = found.recipe.task.sample(
                1, generator=torch.Generator().manual_seed(0), length=factor * found.contest.length
            )
            if factor in found.reached:
                assert model(batch.input, batch.coordinates).isfinite().all(), found.recipe.name
            else:
                with pytest.raises(OrdinateError):
                    model(batch.input, batch.coordinates)


@pytest.mark.parametrize("name", ["one-hot", "binary", "learned"])
def test_absolute_positions_end_with_training(name):
    size = SIZES["laptop"]
    found = cell(contests(size.lengths)["copy"], entrants()[name], size)
    assert found.reached == (1,)
    assert found.recipe.evaluation.axes["length"] == (10.0,)


@pytest.mark.parametrize(
    "contest", contests(SIZES["laptop"].lengths).values(), ids=lambda contest: contest.name
)
def test_distances_beyond_training_share_what_training_shows(contest):
    inside, outside = (contest.task.coordinates(factor * contest.length) for factor in (1, 10))
    for name in ("shaw", "t5"):
        encoding = built(entrants()[name].settings(contest), contest).eval()
        with torch.no_grad():
            if name == "t5":
                for parameter in encoding.parameters():
                    parameter.normal_()
                shown, found = encoding.bias(inside, 0), encoding.bias(outside, 0)
            else:
                shown, found = (
                    encoding.pairs(inside, 0)[0].pattern.dense,
                    encoding.pairs(outside, 0)[0].pattern.dense,
                )
        assert set(found.unique().tolist()) == set(shown.unique().tolist())


def test_lengths_that_papers_chose_are_in_proportion():
    copies = contests(SIZES["laptop"].lengths)["copy"]
    assert entrants()["fire"].settings(copies).threshold / len(copies.task.coordinates(10)) == 512 / 2048
    assert entrants()["fire, causal"].settings(copies) == entrants()["fire"].settings(copies)
    assert entrants()["randomized"].settings(copies).furthest == 4 * len(copies.task.coordinates(100))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    small = replace(SIZES["smoke"], encodings=("learned", "alibi"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SIZES, "smoke", small)
        return out, small, LENGTHS.reproduce("smoke", out, engine=Inline())


def test_a_second_call_only_draws_and_one_more_encoding_trains_its_own_cells(made, monkeypatch):
    out, small, result = made
    monkeypatch.setitem(SIZES, "smoke", small)
    assert LENGTHS.jobs("smoke", out) == VALUES.jobs("smoke", out) == []
    again = LENGTHS.collect("smoke", out, engine=Inline(), on_event=None)
    assert again["scores"] == result.document["scores"]
    monkeypatch.setitem(SIZES, "smoke", replace(small, encodings=(*small.encodings, "pairwise")))
    jobs = LENGTHS.jobs("smoke", out)
    assert sorted(job.name for job in jobs) == ["arena-copy-pairwise seed 0", "arena-sum-pairwise seed 0"]
    Inline().run(jobs[:1])  # a kill in between: what is done stays done
    assert [job.name for job in LENGTHS.jobs("smoke", out)] == [jobs[1].name]


def test_the_document_says_what_was_refused_and_the_report_can_be_drawn_again(made):
    out, _, result = made
    found = {(s["contest"], s["entrant"]): s for s in result.document["scores"]}
    assert found["copy", "learned"]["refused"] == [2, 4, 10]
    assert found["copy", "learned"]["values"][0][1:] == [None, None, None]
    assert found["copy", "alibi"]["refused"] == []
    assert all(value is not None for value in found["copy", "alibi"]["values"][0])
    assert not found["copy", "alibi"]["learned"]
    assert rewrite_report(out / "arena" / "lengths-smoke").document == result.document
    page = result.files["html"].read_text()
    for words in ("not learned", "refused: positions beyond the built length were never trained"):
        assert words in page


def test_values_are_measured_in_the_same_runs(made, monkeypatch):
    out, small, _ = made
    monkeypatch.setitem(SIZES, "smoke", small)
    document = VALUES.collect("smoke", out, engine=Inline(), on_event=None)
    assert {score["contest"] for score in document["scores"]} == {"sum"}
    assert all(not score["refused"] for score in document["scores"])
    assert all(None not in score["values"][0] for score in document["scores"])


def scored(entrant, values, contest="copy", learned=True, refused=(), absent="", losses=None):
    inside = [1.0 if learned else 0.5] * len(values)
    return Score(contest, entrant, absent, learned, inside, values, list(refused), 10, 1.0, [], losses or [])


def bias_of(entrant):
    """Of the copies that training shows, with parameters that are not those of the start."""
    contest = contests(SIZES["laptop"].lengths)["copy"]
    settings = entrant.settings(contest)
    if isinstance(settings, Absent):
        return None
    encoding = built(settings, contest)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.add_(torch.rand_like(parameter))
        return encoding.bias(contest.task.coordinates(contest.length), 0)


def test_biases_that_cannot_tell_left_from_right_take_part_behind_a_mask_too():
    torch.manual_seed(0)
    biases = {name: bias_of(entrants()[name]) for name in ENCODINGS}
    even = {name for name, bias in biases.items() if bias is not None and torch.allclose(bias, bias.mT)}
    assert even == set(EVEN)
    assert {f"{name}, causal" for name in EVEN} <= set(entrants())


@pytest.mark.parametrize("name", [f"{name}, causal" for name in EVEN])
def test_behind_the_mask_nothing_of_later_tokens_is_seen(name):
    size = replace(SIZES["laptop"], layers=2, heads=2, width=16, hidden=16)
    found = cell(contests(size.lengths)["parity"], entrants()[name], size)
    task = found.recipe.task
    model = build_model(found.recipe.model, task, seed=0).eval()
    coordinates = task.coordinates(6)
    batch = task.sample(1, generator=torch.Generator().manual_seed(0), length=6)
    changed = batch.input.clone()
    changed[:, 4] = 1 - changed[:, 4]
    with torch.no_grad():
        before, after = model(batch.input, coordinates), model(changed, coordinates)
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.equal(before[:, 4:], after[:, 4:])
    assert found.reached == FACTORS


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


@pytest.mark.parametrize("factor", FACTORS)
def test_a_third_of_k_hop_and_a_sixth_of_sort_need_no_positions(factor):
    hops, sort = (contests(SIZES["laptop"].lengths)[name] for name in ("k-hop", "sort"))
    letters, numbers = (
        test_set(contest.task, "length", contest.at("length", factor), count=2000, seed=0).batches[0]
        for contest in (hops, sort)
    )
    repeated = (letters.input == letters.target)[:, 1:].all(1)
    assert 0.3 < repeated.double().mean() < 0.37
    right = numbers.target
    least, largest = right[:, :1], right[:, -1:]
    places = torch.linspace(0, 1, right.shape[1])[None, :, None]
    answers = {
        "mean": right.mean(1, keepdim=True).expand_as(right),
        "even": least + places * (largest - least),
    }
    scored = sort.task.scored(numbers.coordinates)
    shares = {
        name: within_tolerance(answer, right, scored, relative=0.1, absolute=0.1).double().mean()
        for name, answer in answers.items()
    }
    assert 0.13 < shares["mean"] < 0.22
    assert 0.42 < shares["even"] < (0.6 if factor < 10 else 0.75)


def test_the_rules_are_stated(made):
    _, _, result = made
    assert isinstance(LENGTHS, Arena)
    notes = " ".join(LENGTHS.notes(result.document))
    for words in (
        "at least 90% of sequences",
        "no verdict",
        "causal mask",
        "bit by bit: none.",
    ):
        assert words in notes
