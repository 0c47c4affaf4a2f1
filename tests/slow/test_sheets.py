"""Real small runs of figures made of lines whose numbers are worked out from the trained models again."""

import pytest
import torch

from ordinate.lab.runs import Run
from ordinate.lab.seeds import generator
from ordinate.lab.training import Recipe, load_model
from ordinate.papers import FIGURES
from ordinate.papers.memories import decaying
from ordinate.papers.positional.families import SAMPLES, by_rounds
from ordinate.papers.positional.learnability import RISK, TASK, measured
from ordinate.papers.theory.biases import LIN
from tests.papers.inline import Inline


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Figures of several kinds, small, in one store."""
    out = tmp_path_factory.mktemp("lines")
    names = (
        *(f"positional/{name}" for name in ("sample-size", "k-hop", "learnability", "graphs")),
        "memories/exp-4a",
    )
    return {name.rpartition("/")[2]: FIGURES[name].reproduce("smoke", out, engine=Inline()) for name in names}


def test_sheets_of_hops_hold_losses_and_symbols(made):
    hops = made["k-hop"].document["sheets"]
    assert [sheet["ylabel"] for sheet in hops] == ["cross-entropy", "cross-entropy", "symbols right"]
    losses = [v for sheet in hops[:2] for line in sheet["lines"] for row in line["values"] for v in row]
    assert all(1.5 < loss < 3.5 for loss in losses)  # hardly trained: near the logarithm of 16 symbols
    assert "published values" not in FIGURES["positional/k-hop"].caption(made["k-hop"].document)


def test_lines_over_samples_have_a_recipe_for_each(made):
    lines = made["sample-size"].document["sheets"][0]["lines"]
    assert lines[0]["x"] == [20.0, 40.0]
    assert "20, 40" in made["sample-size"].document["settings"]["training set"]


def test_the_gap_is_that_of_the_samples_trained_on_and_new_ones(made):
    result = made["learnability"]
    store = result.files["json"].parents[2] / "runs"
    run = Run(next(store.glob("gap-positional-20-4-2-*/seed-0")))
    model = load_model(run)
    slow = []
    for batch in (
        TASK.sample(20, generator=generator(0, "train", 8), length=8),
        TASK.sample(RISK, generator=generator(0, "risk")),
    ):
        with torch.no_grad():
            slow.append(float((model(batch.input.float(), batch.coordinates) - batch.target).square().mean()))
    found = measured(run.path, None)
    assert found.gap == pytest.approx(abs(slow[0] - slow[1]), rel=1e-4)
    sheets = {sheet["title"]: sheet for sheet in result.document["sheets"]}
    assert sheets["gap over steps"]["lines"][0]["x"] == [2.0, 4.0]
    assert sheets["gap over steps"]["lines"][0]["values"][0][1] == pytest.approx(found.gap)
    assert sheets["bound over training samples"]["lines"][0]["values"][0][0] == pytest.approx(found.bound)


def test_errors_by_rounds_are_those_of_the_graphs_that_need_them(made):
    result = made["graphs"]
    run = Run(next((result.files["json"].parents[2] / "runs").glob("bfs-positional-*/seed-0")))
    found = by_rounds(run.path)
    task = Recipe.parse(run.recipe).task
    batch = task.sample(SAMPLES, generator=generator(0, "rounds"))
    model = load_model(run)
    furthest = batch.target[:, :, 0].amax(1)  # distances from vertex 0
    with torch.no_grad():
        errors = (model(batch.input.float(), batch.coordinates) - batch.target).square().mean((1, 2))
    for n in (1, 3):
        assert found[n] == pytest.approx(float(errors[furthest == n].mean()), rel=1e-4)
    lines = result.document["sheets"][1]["lines"]
    assert lines[0]["values"][0][2] == pytest.approx(found[3])


def test_what_heads_can_express_stands_beside_what_they_learned(made):
    result = made["exp-4a"]
    lines = {line["label"]: line for line in result.document["sheets"][0]["lines"]}
    assert [line["exact"] for line in lines.values()] == [False, True, False, True]
    best = lines["lin, best"]["values"]
    assert len(best) == 1
    assert best[0][0] == pytest.approx(decaying.least_share(LIN, decaying.heavy(16), 1))
    assert "computed, not trained: lin, best, log, best" in FIGURES["memories/exp-4a"].caption(
        result.document
    )
    assert [claim.exact for claim in result.claims] == [False, True, True]
