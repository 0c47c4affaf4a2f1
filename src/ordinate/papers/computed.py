"""Figures whose data are computed on the spot: counts, flows, small models; nothing is kept but the result."""

import time
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ordinate.lab.runs import Engine, Event, Job, OnEvent
from ordinate.lab.threads import threads
from ordinate.papers.figure import Figure

PATIENCE = 2.0
"""Seconds after which progress is shown."""

Report = Callable[[int, int], None]
"""Called with the steps done and the steps in all, as often as one likes."""


class Computed(Figure):
    """A figure that is computed in this process, on one thread; every call computes it anew."""

    @abstractmethod
    def compute(self, scale: str, report: Report) -> dict[str, Any]:
        """The data and claims of a scale, as plain data with keys `table`, `claims`, `settings`."""

    def jobs(self, scale: str, out: Path) -> list[Job]:
        """The whole figure is one job."""
        self.check(scale)
        return [Job(self.name, self.compute, {"scale": scale})]

    def collect(self, scale: str, out: Path, *, engine: Engine, on_event: OnEvent | None) -> dict[str, Any]:
        """Compute, and tell of it as an engine does: started, progress, done."""
        (job,) = self.jobs(scale, out)
        started = time.monotonic()
        shown = False

        def report(step: int, steps: int) -> None:
            nonlocal shown
            seconds = time.monotonic() - started
            if on_event is None or seconds < PATIENCE:
                return
            if not shown:
                on_event(Event(job, "started", {}))
                shown = True
            on_event(Event(job, "progress", {"step": step, "steps": steps, "seconds": seconds}))

        with threads(1):
            measured = self.compute(scale, report)
        seconds = round(time.monotonic() - started, 1)
        if on_event is not None:
            on_event(Event(job, "done", {"seconds": seconds}))
        return {"wall_seconds": seconds, "workers": 1, "not_ended": [], **measured}
