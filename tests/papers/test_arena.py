"""The arena: equal cells, honest refusals, a ranking of what was learned."""

from dataclasses import replace

import pytest
import torch

from ordinate.encodings import ENCODINGS
from ordinate.errors import OrdinateError
from ordinate.lab.evaluation import test_set
from ordinate.lab.evaluation.metrics import within_tolerance
from ordinate.lab.training import Recipe
from ordinate.models import build_model
from ordinate.papers import FIGURES, rewrite_report
from ordinate.papers.arena import NoPlaceError
from ordinate.papers.arena.cells import SIZES, cell, cells
from ordinate.papers.arena.contests import FACTORS, contests
from ordinate.papers.arena.entrants import built
from tests.papers.inline import Inline

LENGTHS, VALUES = FIGURES["arena/lengths"], FIGURES["arena/values"]
EVERYONE = replace(SIZES["smoke"], tasks=(), encodings=())
EVEN = ("alibi", "kerple-log", "kerple-power", "fire", "rpe-lin", "rpe-log", "dape")
"""Biases that are alike on both sides: b[i, j] = b[j, i]."""


@pytest.fixture(scope="module")
def entrants():
    return {entrant.name: entrant for entrant in SIZES["laptop"].entrants}


def settings_of(entrant, contest):
    """At the scale of a laptop."""
    return entrant.settings(SIZES["laptop"].terms(contest))


def encoding_of(entrant, contest):
    return built(settings_of(entrant, contest), SIZES["laptop"].terms(contest).spec)


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
def test_absolute_positions_end_with_training(name, entrants):
    size = SIZES["laptop"]
    found = cell(contests(size.lengths)["copy"], entrants[name], size)
    assert found.reached == (1,)
    assert found.recipe.evaluation.axes["length"] == (10.0,)


@pytest.mark.parametrize(
    "contest", contests(SIZES["laptop"].lengths).values(), ids=lambda contest: contest.name
)
def test_distances_beyond_training_share_what_training_shows(contest, entrants):
    inside, outside = (contest.task.coordinates(factor * contest.length) for factor in (1, 10))
    for name in ("shaw", "t5"):
        encoding = encoding_of(entrants[name], contest)
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


def test_lengths_that_papers_chose_are_in_proportion(entrants):
    copies = contests(SIZES["laptop"].lengths)["copy"]
    chosen = {name: settings_of(entrants[name], copies) for name in ("fire", "fire, causal", "randomized")}
    assert chosen["fire"].threshold / len(copies.task.coordinates(10)) == 512 / 2048
    assert chosen["fire, causal"] == chosen["fire"]
    assert chosen["randomized"].furthest == 4 * len(copies.task.coordinates(100))


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


def bias_of(entrant):
    """Of the copies that training shows, with parameters that are not those of the start."""
    contest = contests(SIZES["laptop"].lengths)["copy"]
    try:
        encoding = encoding_of(entrant, contest)
    except NoPlaceError:
        return None
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.add_(torch.rand_like(parameter))
        return encoding.bias(contest.task.coordinates(contest.length), 0)


def test_biases_that_cannot_tell_left_from_right_are_known(entrants):
    torch.manual_seed(0)
    biases = {name: bias_of(entrants[name]) for name in ENCODINGS}
    even = {name for name, bias in biases.items() if bias is not None and torch.allclose(bias, bias.mT)}
    assert even == set(EVEN)


@pytest.mark.parametrize("scale", SIZES)
def test_these_and_no_others_take_part_behind_a_mask_too(scale):
    """In the order that rankings with equal points keep."""
    names = [entrant.name for entrant in replace(SIZES[scale], encodings=()).entrants]
    behind = [f"{name}, causal" for name in ("none", *EVEN)]
    assert names == [*ENCODINGS, *behind, "pairwise, content x class"]


@pytest.mark.parametrize("name", [f"{name}, causal" for name in EVEN])
def test_behind_the_mask_nothing_of_later_tokens_is_seen(name, entrants):
    size = replace(SIZES["laptop"], layers=2, heads=2, width=16, hidden=16)
    found = cell(contests(size.lengths)["parity"], entrants[name], size)
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
    notes = " ".join(LENGTHS.all_notes(result.document))
    for words in (
        "at least 90% of sequences",
        "no verdict",
        "causal mask",
        "bit by bit: none.",
    ):
        assert words in notes
