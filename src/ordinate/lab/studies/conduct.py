"""Conducting a study: round after round of recipes, each trained by an engine with every seed."""

from collections.abc import Callable
from pathlib import Path

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Engine, Event, Job, OnEvent, Run, Store
from ordinate.lab.runs.lock import held
from ordinate.lab.studies.plan import StudyPlan
from ordinate.lab.studies.study import Study
from ordinate.lab.training import Recipe

OnRound = Callable[[list[Job], int], None]
"""Told, before a round, what is left to train and how many of its runs there are in all."""


def conduct(
    plan: StudyPlan,
    store: Path,
    engine: Engine,
    *,
    on_event: OnEvent | None = None,
    on_round: OnRound | None = None,
    retry: bool = False,
) -> Study:
    """Train what is not trained yet, and return the study of all recipes there were.

    A run that fails, whether its loss is no number or its worker died once too often, is marked as failed and the
    others go on. The same call again goes on where this one was stopped; with `retry` also failed runs are tried again.
    """
    rounds, recipes = plan.recipes.rounds(), dict[str, Recipe]()
    batch = next(rounds)
    while batch:
        recipes |= {recipe.name: recipe for recipe in batch}
        plan.check(list(recipes.values()))
        study = Study(tuple({recipe.name: recipe for recipe in batch}.values()), plan.seeds, store)
        if retry:
            _reopen(study)
        _train(study, engine, on_event, on_round)
        try:
            batch = rounds.send([study.runs(recipe) for recipe in batch])
        except StopIteration:
            break
    return Study(tuple(recipes.values()), plan.seeds, store)


def _train(study: Study, engine: Engine, on_event: OnEvent | None, on_round: OnRound | None) -> None:
    """One round; what fails is marked at once, so that it is known however the round ends."""

    def mark(event: Event) -> None:
        if event.kind == "failed":
            run = run_of(event.job, study.store)
            if not held(run.path / "lock"):  # otherwise another study is training it
                run.update(status="failed", error=str(event.facts["error"]).strip().splitlines()[-1])
        if on_event is not None:
            on_event(event)

    jobs = study.jobs()
    if on_round is not None:
        on_round(jobs, len(study.recipes) * len(study.seeds))
    for outcome in engine.run(jobs, mark):
        if outcome.ok and run_of(outcome.job, study.store).status not in ("done", "failed"):
            raise OrdinateError(
                f"{outcome.job.name} was trained where this machine does not see it: "
                "write an --out that is the same folder on all machines"
            )


def _reopen(study: Study) -> None:
    """Let failed runs be trained again: from their last state, or from the start."""
    for recipe in study.recipes:
        for run in study.runs(recipe):
            if run.status == "failed":
                run.update(status="running", error=None)


def run_of(job: Job, store: Path) -> Run:
    """The run that a job trains."""
    return Store(store).open(job.kwargs["recipe"], job.kwargs["seed"])
