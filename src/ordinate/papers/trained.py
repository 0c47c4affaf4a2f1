"""Figures whose data are trained: recipes x seeds -> runs in a store -> statistics."""

import time
from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Engine, Job, OnEvent, Run, read_json
from ordinate.lab.studies import Study
from ordinate.papers.figure import Figure


class Trained(Figure):
    """A figure of trained runs. A second call with the same settings trains nothing and only draws."""

    @abstractmethod
    def study(self, scale: str, store: Path) -> Study:
        """What is trained at a scale."""

    @abstractmethod
    def measure(self, scale: str, study: Study) -> dict[str, Any]:
        """Statistics and claims from the study's runs, as plain data with keys `table`, `claims`, `settings`."""

    def jobs(self, scale: str, out: Path) -> list[Job]:
        """What is still to be trained."""
        self.check(scale)
        return self.study(scale, out / "runs").jobs()

    def collect(self, scale: str, out: Path, *, engine: Engine, on_event: OnEvent | None) -> dict[str, Any]:
        """Train what is missing, and measure."""
        study = self.study(scale, out / "runs")
        started = time.monotonic()
        outcomes = study.run(engine, on_event)
        runs = [run for recipe in study.recipes for run in study.runs(recipe)]
        whole = len(outcomes) == len(runs)  # a part of it says nothing of the time that all takes
        time_taken = {
            "wall_seconds": round(time.monotonic() - started, 1) if whole else None,
            "workers": engine.workers,
        }
        broken = [f"{outcome.job.name}: {outcome.error}" for outcome in outcomes if not outcome.ok]
        earlier = self.folder(scale, out) / "result.json"
        if not outcomes and earlier.is_file():
            known = read_json(earlier)
            time_taken = {key: known.get(key, default) for key, default in time_taken.items()}
        if broken and not any(run.status == "done" for run in runs):
            raise OrdinateError(f"no run of {self.name} ended: {broken[0].strip().splitlines()[-1]}")
        return {
            **time_taken,
            "training_seconds": round(sum(run.record().get("seconds") or 0.0 for run in runs), 1),
            "trained_at": trained_at(runs),
            "not_ended": broken,
            **self.measure(scale, study),
        }


def trained_at(runs: Iterable[Run]) -> list[str]:
    """The revisions that trained runs, and on which processors: figures may be drawn elsewhere, and later."""
    found = set()
    for run in runs:
        made = run.record()["environment"]
        changed = " with changes" if made.get("dirty") else ""
        found.add(f"{(made.get('revision') or 'unknown')[:10]}{changed}, {made['cpu']}")
    return sorted(found)
