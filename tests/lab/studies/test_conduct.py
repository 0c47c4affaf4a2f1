"""Conducting: what is trained, what is not trained twice, what a failure leaves behind, and what is found."""

import sys
from pathlib import Path

import numpy as np
import pytest

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.runs import Outcome, Store
from ordinate.lab.studies import Study, comparisons, conduct, read_plan, summaries
from ordinate.lab.training import Recipe
from tests.lab.studies.files import TINY, Here, write


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return read_plan(write(tmp_path_factory.mktemp("study"), TINY))


@pytest.fixture(scope="module")
def store(plan, tmp_path_factory):
    """A store in which all runs are done."""
    folder = tmp_path_factory.mktemp("done")
    engine = Here()
    conduct(plan, folder, engine)
    assert sorted(engine.ran) == [f"{name} seed {seed}" for name in "ab" for seed in range(3)]
    return folder


def test_done_runs_are_not_trained_again(plan, store):
    engine, rounds = Here(), []
    study = conduct(plan, store, engine, on_round=lambda jobs, total: rounds.append((len(jobs), total)))
    assert engine.ran == []
    assert rounds == [(0, 6)]
    assert [recipe.name for recipe in study.recipes] == ["a", "b"]


def test_workers_are_told_the_whole_path_of_the_store(plan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Study(tuple(plan.recipes.known()), plan.seeds, Path("runs"))
    assert {job.kwargs["store"] for job in study.jobs()} == {str((tmp_path / "runs").resolve())}


def test_the_statistics_are_those_of_the_stored_runs(plan, store):
    study = conduct(plan, store, Here())
    found = {(s.recipe, s.point): s for s in summaries(plan, study)}
    assert list(found) == [(name, point) for name in "ab" for point in ("validation", "scale=2", "scale=3")]
    for (name, point), summary in found.items():
        recipe = next(r for r in study.recipes if r.name == name)
        scores = [run.record()["scores"][point] for run in study.runs(recipe)]
        assert summary.score == summarise(scores)
        assert summary.failed == ()
        assert summary.in_distribution == (point == "validation")
    (pair,) = comparisons(plan, study)
    assert (pair.point, pair.found.a, pair.found.b, pair.found.better) == ("scale=3", "a", "b", None)
    assert pair.found.errors[0] == pytest.approx(found["a", "scale=3"].score.median, rel=1e-5)


def test_a_seed_succeeds_from_a_share_of_right_answers_on(plan, store):
    study = conduct(plan, store, Here())
    recipe = study.recipes[0]
    right = [run.read_result("evaluation")[0]["accuracy"] for run in study.runs(recipe)]
    assert 0 < min(right) <= max(right) < 1
    for success in (*right, (max(right) + 1) / 2):
        asked = plan.model_copy(update={"success": success})
        share = summaries(asked, study)[0].success
        assert share == pytest.approx(np.mean([accuracy >= success for accuracy in right]))


def test_a_run_that_dies_is_marked_and_the_others_go_on(plan, tmp_path):
    engine = Here(deaths=["a seed 1"])
    study = conduct(plan, tmp_path, engine)
    assert len(engine.ran) == 6
    failed = study.runs(study.recipes[0])[1]
    assert (failed.status, failed.record()["error"]) == ("failed", "worker died (signal 9) twice")
    summary = summaries(plan, study)[0]
    assert (summary.score.count, summary.score.failed, summary.failed) == (3, 1, (1,))
    assert summary.success <= 2 / 3
    (pair,) = comparisons(plan, study)
    assert pair.found.reason == "a: 2 seeds with a finite result, 3 needed"

    again = Here()
    conduct(plan, tmp_path, again)
    assert again.ran == []
    conduct(plan, tmp_path, again, retry=True)
    assert again.ran == ["a seed 1"]
    assert study.runs(study.recipes[0])[1].status == "done"


def test_a_run_that_another_process_trains_is_not_marked(plan, tmp_path):
    run = Store(tmp_path).open(plan.recipes.known()[0].to_dict(), 1)
    with run.lock():
        conduct(plan, tmp_path, Here(deaths=["a seed 1"]))
    assert run.status == "new"


def test_a_study_that_was_interrupted_goes_on(plan, store, tmp_path):
    def stop(event):
        if event.job.name == "b seed 1":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conduct(plan, tmp_path, Here(), on_event=stop)
    engine = Here()
    study = conduct(plan, tmp_path, engine)
    assert 0 < len(engine.ran) < 6
    whole = conduct(plan, store, Here())
    for recipe in study.recipes:
        scores = [[run.record()["scores"] for run in s.runs(recipe)] for s in (study, whole)]
        assert scores[0] == scores[1]


def test_runs_on_a_disk_that_is_not_shared_are_noticed(plan, tmp_path):
    class Elsewhere(Here):
        def run(self, jobs, on_event=None):
            return [Outcome(job, "trained", None, 1) for job in jobs]

    with pytest.raises(OrdinateError, match="write an --out that is the same folder on all machines"):
        conduct(plan, tmp_path, Elsewhere())


def test_recipes_of_other_tasks_are_not_compared(tmp_path):
    text = TINY.replace("seeds = 3", "seeds = 1") + '\n[[recipes]]\nname = "c"\ntask.name = "max"\n'
    text += '\n[[recipes]]\nname = "d"\ntask.low = -1.0\n'
    plan = read_plan(write(tmp_path, text.replace('"max"', '"min"')))
    study = conduct(plan, tmp_path / "runs", Here())
    assert [(pair.found.a, pair.found.b) for pair in comparisons(plan, study)] == [("a", "b")]


class TestSearch:
    SEARCH = """
[search]
score = "scale=3"
trials = 5
together = 2
[search.space]
"model.width" = {low = 2, high = 8, step = 2}
"training.optimizer.learning_rate" = {low = 1e-3, high = 1e-1, log = true}
"model.kind" = ["positional", "standard"]
"""
    TEXT = TINY[: TINY.index("[[recipes]]")].replace("seeds = 3", "seeds = 2") + SEARCH

    @pytest.mark.parametrize(
        ("old", "new", "line"),
        [
            ('"scale=3"', '"scale=4"', "is not measured at 'scale=4'; did you mean"),
            ('"model.width" = {low = 2', '"model.width" = {low = 9', "must have low below high, got 9 and 8"),
            ("low = 1e-3", "low = 0.0", "must have low above 0"),
            ("trials = 5", "trials = 0", "search.trials = 0 is not allowed"),
            ('["positional", "standard"]', '["positional", "standart"]', "did you mean 'standard'?"),
            ('["positional", "standard"]', '"standard"', "write a list of values, or {low = 1, high = 9}"),
            ('"model.kind"', '"training.stps"', "unknown key 'training.stps'"),
            ('"model.kind" = ["positional", "standard"]', '"training.steps" = [4, 9]', "the budget is equal"),
            ("[search]", "[[recipes]]\nname='x'\n[search]", "a search, or recipes and a grid"),
        ],
    )
    def test_what_cannot_be_searched_is_refused_before_training(self, tmp_path, old, new, line):
        assert old in self.TEXT
        with pytest.raises(OrdinateError) as refused:
            read_plan(write(tmp_path, self.TEXT.replace(old, new)))
        assert line in str(refused.value)

    def test_without_optuna_one_line_says_what_to_install(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "optuna", None)
        plan = read_plan(write(tmp_path, self.TEXT))
        with pytest.raises(OrdinateError, match=r"write pip install 'ordinate\[search\]'"):
            conduct(plan, tmp_path / "runs", Here())

    def test_a_search_is_the_same_again_and_goes_on_where_it_stopped(self, tmp_path):
        pytest.importorskip("optuna", reason="optuna is not installed: pip install 'ordinate[search]'")
        plan, rounds = read_plan(write(tmp_path, self.TEXT)), []
        whole = conduct(plan, tmp_path / "a", Here(), on_round=lambda jobs, total: rounds.append(total))
        assert rounds[0] == 4
        assert 3 <= len(whole.recipes) <= 5

        def stop(event):
            if "trial-2" in event.job.name:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            conduct(plan, tmp_path / "b", Here(), on_event=stop)
        engine = Here()
        again = conduct(plan, tmp_path / "b", engine)
        assert again.recipes == whole.recipes
        assert not any("trial-0" in name for name in engine.ran)

    def test_a_failed_trial_does_not_end_a_search(self, tmp_path):
        pytest.importorskip("optuna", reason="optuna is not installed: pip install 'ordinate[search]'")
        plan = read_plan(write(tmp_path, self.TEXT))
        study = conduct(plan, tmp_path, Here(deaths=["tiny-trial-0 seed 0", "tiny-trial-0 seed 1"]))
        assert len(study.recipes) >= 3

    def test_a_search_in_python_proposes_recipes_itself(self, tmp_path):
        pytest.importorskip("optuna", reason="optuna is not installed: pip install 'ordinate[search]'")
        from ordinate.lab.studies import Search, StudyPlan
        from ordinate.lab.studies.findings import best

        base = read_plan(write(tmp_path, TINY)).recipes.known()[0].to_dict()

        def propose(trial):
            rate = trial.suggest_categorical("rate", [1e-6, 1e-2])
            return Recipe.parse(
                {**base, "training": {**base["training"], "optimizer": {"learning_rate": rate}}}
            )

        search = Search(propose, score="validation", trials=6, together=3)
        plan = StudyPlan(name="rates", recipes=search, seeds=1, budget="samples")
        study = conduct(plan, tmp_path / "runs", Here())
        assert len(study.recipes) == 2  # the same recipe is not trained twice
        scores = {r.name: study.runs(r)[0].record()["scores"]["validation"] for r in study.recipes}
        assert best(study, "validation") == min(scores, key=scores.get)
