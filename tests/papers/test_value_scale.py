"""The value-scale figure: from training to verdicts, files and a second call that only draws."""

import json
import math

import numpy as np
import pytest

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store
from ordinate.papers import FIGURES, published, rewrite_report
from ordinate.papers.positional.value_scale import POINTS, SETTINGS, TASKS, ValueScale, recipe_for
from tests.papers.inline import Inline

FIGURE = FIGURES["positional/value-scale"]
SETTINGS_AS_SHIPPED = dict(SETTINGS)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A real, tiny study at a scale that may give verdicts."""
    out = tmp_path_factory.mktemp("out")
    tiny = ValueScale(
        description="tiny",
        tasks=("sum",),
        seeds=3,
        training=SETTINGS["laptop"].training.model_copy(update={"steps": 4, "batch": 8, "log_every": 2}),
        count=20,
    )
    before = SETTINGS["laptop"]
    SETTINGS["laptop"] = tiny
    events = []
    result = FIGURE.reproduce("laptop", out, engine=Inline(), on_event=events.append)
    yield out, result, events
    SETTINGS["laptop"] = before


def test_every_model_task_and_seed_is_trained(made):
    _, _, events = made
    done = sorted(event.job.name for event in events if event.kind == "done")
    assert done == [f"sum-{model} seed {k}" for model in ("positional", "standard") for k in range(3)]


def test_the_document_has_curves_claims_table_and_origin(made):
    _, result, _ = made
    document = json.loads(result.files["json"].read_text())
    assert document["figure"] == "positional/value-scale"
    assert document["command"] == "ordinate reproduce positional/value-scale --scale laptop"
    curve = document["curves"]["sum"]["positional"]
    assert np.array(curve["values"]).shape == (3, 10)
    assert set(curve["summary"]) == set(POINTS)
    assert curve["parameters"] == 84_577
    assert curve["samples_seen"] == 32
    assert len(document["claims"]) == 4
    assert len(document["table"]["rows"]) == 2
    assert document["wall_seconds"] > 0


def test_every_claim_has_a_verdict_from_three_seeds(made):
    _, result, _ = made
    for claim in result.claims:
        assert claim.verdict in ("supported", "contradicted", "inconclusive")
        assert claim.seeds == 3
        assert claim.measured.low <= claim.measured.estimate <= claim.measured.high


def test_untrained_models_do_not_support_the_claims(made):
    _, result, _ = made
    at_ten = [claim for claim in result.claims if "c = 10" in claim.sentence]
    assert [claim.verdict for claim in at_ten] == ["contradicted"]
    assert result.failed


def test_a_second_call_trains_nothing_and_draws_the_same(made):
    out, result, _ = made
    assert FIGURE.jobs("laptop", out) == []
    before = {kind: path.read_bytes() for kind, path in result.files.items()}
    events = []
    engine = Inline()
    engine.workers = result.document["workers"] + 1
    again = FIGURE.reproduce("laptop", out, engine=engine, on_event=events.append)
    assert events == []
    for kind in ("png", "svg"):
        assert again.files[kind].read_bytes() == before[kind]
    assert again.document["claims"] == result.document["claims"]
    for key in ("wall_seconds", "workers"):
        assert again.document[key] == result.document[key]


def test_the_report_is_drawn_again_from_the_document(made):
    _, result, _ = made
    folder = result.files["html"].parent
    page = result.files["html"].read_text()
    result.files["html"].unlink()
    assert rewrite_report(folder).files["html"].read_text() == page
    assert "contradicted" in page


def test_a_failed_seed_is_counted_and_shown(made):
    out, _, _ = made
    store = Store(out / "runs")
    run = store.open(recipe_for("sum", "positional", "laptop").to_dict(), 1)
    run.update(status="failed", error="the loss is nan at step 2")
    document = FIGURE.plan("laptop").measure(FIGURE.study("laptop", out / "runs"), "laptop")
    curve = document["curves"]["sum"]["positional"]
    assert curve["failed"] == ["the loss is nan at step 2"]
    assert curve["values"][1] == [None] * 10
    assert curve["summary"]["scale=10"]["failed"] == 1
    assert [c["failed"] for c in document["claims"][:4]] == [1] * 4
    assert document["claims"][1]["verdict"] == "inconclusive"  # two seeds are too few
    assert document["table"]["rows"][0][-1] == "1 of 3"
    FIGURE.draw(document)
    run.update(status="done", error=None)


def test_scales_are_described_and_paper_is_as_published():
    assert set(FIGURE.scales) == {"smoke", "demo", "laptop", "paper"}
    settings = SETTINGS_AS_SHIPPED
    training = settings["paper"].training
    assert (training.steps, training.batch, training.samples) == (2001 * 30, 1000, 30_000)
    assert (training.optimizer.learning_rate, training.schedule.name) == (5e-4, "plateau")
    assert settings["paper"].seeds == 10
    assert settings["laptop"].tasks == settings["paper"].tasks == TASKS
    assert settings["laptop"].seeds >= 3
    assert len(settings["demo"].tasks) >= 2
    assert settings["demo"].seeds >= 3


def test_an_unknown_scale_gets_the_nearest(tmp_path):
    with pytest.raises(OrdinateError, match="did you mean 'laptop'"):
        FIGURE.jobs("labtop", tmp_path)


def test_a_folder_without_a_result_is_refused(tmp_path):
    with pytest.raises(OrdinateError, match=r"holds no result\.json"):
        rewrite_report(tmp_path)
    (tmp_path / "result.json").write_text('{"figure": "positional/value-scal"}')
    with pytest.raises(OrdinateError, match="did you mean 'positional/value-scale'"):
        rewrite_report(tmp_path)


def test_published_numbers_carry_their_source():
    document = published("positional")
    assert "2410.01686" in document["paper"]
    known = document["value-scale"]
    assert known["source"]
    ratios = {t: known[t]["standard"]["10"] / known[t]["positional"]["10"] for t in TASKS}
    assert min(ratios.values()) > 370
    assert all(math.isfinite(v) for v in ratios.values())
