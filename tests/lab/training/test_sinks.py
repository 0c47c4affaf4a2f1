"""Sinks are told what training reports; one that fails is left out and training goes on."""

import json
import sys

import pytest

from ordinate.app.cli.main import main
from ordinate.lab.training import Recipe, train
from ordinate.lab.training.sinks import Feed, Sink, Subject

RECIPE = {
    "name": "tiny",
    "task": {"name": "sum", "length": 4},
    "model": {"kind": "positional", "width": 8, "hidden": 8, "layers": 1},
    "training": {"steps": 20, "batch": 16, "log_every": 5},
    "evaluation": {"count": 20, "every": 10, "axes": {"scale": [2]}},
}


class Memory(Sink):
    name = "memory"

    def __init__(self, breaks_at=None):
        self.rows, self.ends, self.breaks_at = [], {}, breaks_at

    def log(self, seed, step, values):
        if self.breaks_at is not None and step >= self.breaks_at:
            raise OSError("the disk is full\nand more")
        self.rows.append((seed, step, values))

    def end(self, seed, status):
        self.ends[seed] = status


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A training, a sink that heard all of it and one that broke on the way."""
    whole, broken, warnings = Memory(), Memory(breaks_at=10), []
    feed = Feed([broken, whole], warn=warnings.append)
    store = str(tmp_path_factory.mktemp("store"))
    runs = train(Recipe.parse(RECIPE), [3, 4], store=store, report=feed.report)
    feed.end({run.seed: run.status for run in runs})
    return runs, whole, broken, warnings


def test_a_sink_hears_every_loss_and_score(told):
    runs, whole, _, _ = told
    for run in runs:
        stored = [(row["step"], row["loss"], row["rate"]) for row in run.metrics() if "loss" in row]
        heard = [(s, v["loss"], v["rate"]) for seed, s, v in whole.rows if seed == run.seed and "loss" in v]
        assert heard == stored
        scores = [v for seed, step, v in whole.rows if seed == run.seed and step == 20 and "loss" not in v]
        assert scores == [{f"scores/{name}": value for name, value in run.record()["scores"].items()}]
        assert any(step == 10 and "scores/validation" in v for _, step, v in whole.rows)
    assert whole.ends == {3: "done", 4: "done"}


def test_a_sink_that_fails_is_left_out_with_one_line(told):
    runs, _, broken, warnings = told
    assert [run.status for run in runs] == ["done", "done"]
    assert {step for _, step, _ in broken.rows} == {5}
    assert not broken.ends
    assert warnings == ["memory is told no more, training goes on: the disk is full"]


@pytest.fixture
def recipe(tmp_path):
    import tomli_w

    path = tmp_path / "tiny.toml"
    path.write_text(tomli_w.dumps(RECIPE))
    return path


@pytest.mark.parametrize(
    ("option", "module", "extra"),
    [("--tensorboard", "torch.utils.tensorboard", "track"), ("--mlflow", "mlflow", "mlflow")],
)
def test_a_missing_package_is_named_before_training(
    recipe, tmp_path, monkeypatch, capsys, option, module, extra
):
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["train", str(recipe), option, str(tmp_path / "x"), "--out", str(tmp_path / "runs")]) == 2
    assert f"pip install 'ordinate[{extra}]'" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_tensorboard_files_hold_what_the_run_holds(recipe, tmp_path, capsys):
    reader = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="tensorboard, the extra track, is not installed",
    )
    folder = tmp_path / "board"
    assert main(["train", str(recipe), "--out", str(tmp_path), "--tensorboard", str(folder), "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    events = reader.EventAccumulator(str(folder / run["id"]))
    events.Reload()
    assert [event.step for event in events.Scalars("loss")] == [5, 10, 15, 20]
    for point, score in run["scores"].items():
        assert events.Scalars(f"scores/{point}")[-1].value == pytest.approx(score)


def test_mlflow_keeps_a_run_in_sqlite_and_finds_it_again(tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="mlflow, the extra mlflow, is not installed")
    from ordinate.lab.training.sinks import MLflow

    uri = f"sqlite:///{tmp_path / 'ml.db'}"
    subject = Subject("tiny", {"training.steps": 20}, {0: "tiny-1/seed-0"})
    for step, status in ((5, "running"), (10, "done")):
        sink = MLflow(uri, subject)
        sink.log(0, step, {"loss": 1.0 / step, "scores/scale=2": float("nan")})
        sink.end(0, status)
    client = mlflow.MlflowClient(uri)
    (run,) = client.search_runs([client.get_experiment_by_name("tiny").experiment_id])
    assert run.info.status == "FINISHED"
    assert run.data.params == {"training.steps": "20", "seed": "0"}
    assert [(m.step, m.value) for m in client.get_metric_history(run.info.run_id, "loss")] == [
        (5, 0.2),
        (10, 0.1),
    ]
