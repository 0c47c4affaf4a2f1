"""Progress on stderr: bars on a terminal, now and then a line elsewhere."""

import sys
import time
from types import TracebackType
from typing import Any, TypeVar

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from ordinate.app.cli.output import console
from ordinate.lab.report.numbers import show_number
from ordinate.lab.runs import Event

B = TypeVar("B", bound="_Bars")

PAUSE = 5.0
"""Seconds between two lines where there is no terminal."""


class Lines:
    """Lines on stderr, not more than one every few seconds unless they matter; if `quiet`, also none at first."""

    def __init__(self, pause: float = PAUSE, *, quiet: bool = False) -> None:
        self.pause = pause
        self._last = time.monotonic() if quiet else -pause

    def write(self, text: str, *, always: bool = False) -> None:
        """Write the line, or leave it out when one was written just before."""
        now = time.monotonic()
        if always or now - self._last >= self.pause:
            self._last = now
            print(text, file=sys.stderr, flush=True)


class _Bars:
    """Bars with names, which are there on a terminal only."""

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        self.name = name
        self.lines = Lines(quiet=quiet)
        self._tasks: dict[str, TaskID] = {}
        self.bars: Progress | None = None
        if sys.stderr.isatty():
            self.bars = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TextColumn("{task.completed:.0f}/{task.total:.0f}", markup=False),
                TextColumn("{task.fields[detail]}", markup=False),
                console=console(stderr=True),
                transient=True,
            )

    def __enter__(self: B) -> B:
        if self.bars is not None:
            self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bars is not None:
            self.bars.stop()

    def draw(self, name: str, done: int, total: int, detail: str = "") -> bool:
        """Bring the bar of this name to where it is now; False where there is no terminal."""
        if self.bars is None:
            return False
        if name not in self._tasks:
            self._tasks[name] = self.bars.add_task(name, total=total, detail="")
        self.bars.update(self._tasks[name], completed=done, total=total, detail=detail)
        return True


class StepProgress(_Bars):
    """Progress of one training: step, loss, learning rate, steps a second, time left.

    >>> with StepProgress("sum") as progress:                                            # doctest: +SKIP
    ...     train(recipe, report=progress.report)
    """

    reported = False

    def report(self, **facts: Any) -> None:
        """Show the facts that a training reports."""
        self.reported = True
        if "scores" in facts:  # the step is known already
            return
        step, steps, detail = int(facts["step"]), int(facts["steps"]), step_detail(facts)
        if not self.draw(self.name, step, steps, detail):
            self.lines.write(f"{self.name} step {step}/{steps}  {detail}", always=step == steps)


class SearchProgress(_Bars):
    """Progress of a computation that counts what it has tried; away from a terminal a short one says nothing.

    >>> with SearchProgress("slopes") as progress:
    ...     progress.report(1, 99)
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, quiet=True)

    def report(self, done: int, total: int) -> None:
        """Show how many were tried."""
        if not self.draw(self.name, done, total):
            self.lines.write(f"{self.name} {done}/{total}")


class JobProgress(_Bars):
    """Progress of many jobs: one bar for all, one for each that runs. Call it with the engine's events."""

    def __init__(self, name: str, total: int = 0) -> None:
        super().__init__(name)
        self.total, self.ended = total, 0
        self._running: dict[str, str] = {}
        self.draw(name, 0, total)

    def add_jobs(self, jobs: int) -> None:
        """Raise the total by `jobs`."""
        self.total += jobs
        self.draw(self.name, self.ended, self.total)

    def __call__(self, event: Event) -> None:
        """Show one event."""
        name, facts = event.job.name, event.facts
        if event.kind == "started":
            self._running[name] = "starting"
            self.draw(f"  {name}", 0, 1, "starting")
        elif event.kind == "progress":
            self._step(name, facts)
        else:
            self._leave(name, event.kind, facts)

    def _step(self, name: str, facts: dict[str, Any]) -> None:
        if "step" not in facts or "steps" not in facts or "scores" in facts:
            return
        self._running[name] = f"{facts['step']}/{facts['steps']}"
        if not self.draw(f"  {name}", facts["step"], facts["steps"], step_detail(facts)):
            running = ", ".join(f"{job} {at}" for job, at in self._running.items())
            self.lines.write(f"{self.name} {self.ended}/{self.total} done; {running}")

    def _leave(self, name: str, kind: str, facts: dict[str, Any]) -> None:
        self._running.pop(name, None)
        if self.bars is not None and f"  {name}" in self._tasks:
            self.bars.remove_task(self._tasks.pop(f"  {name}"))
        if kind == "retried":
            self._print(f"{name}: {facts.get('cause', 'worker died')}, tried again")
            return
        self.ended += 1
        if kind == "failed":
            last = (str(facts.get("error", "")).strip().splitlines() or ["no message"])[-1]
            self._print(f"{name} failed: {last}")
        elif self.bars is None:
            took = f" in {duration(facts['seconds'])}" if "seconds" in facts else ""
            self._print(f"{self.name} {self.ended}/{self.total} done: {name}{took}")
        self.draw(self.name, self.ended, max(self.total, self.ended))

    def _print(self, text: str) -> None:
        if self.bars is not None:
            self.bars.console.print(text, soft_wrap=True)
        else:
            self.lines.write(text, always=True)


def step_detail(facts: dict[str, Any]) -> str:
    """Return what is beside the bar, as far as it is known.

    >>> step_detail({"step": 50, "steps": 150, "loss": 0.25, "rate": 0.002, "seconds": 2.0})
    'loss 0.25  rate 0.002  25 steps/s  0:04 left'
    """
    parts = [f"{key} {show_number(float(facts[key]))}" for key in ("loss", "rate") if key in facts]
    seconds, step = float(facts.get("seconds") or 0), int(facts["step"])
    if seconds > 0 and step > 0:
        speed = step / seconds
        parts += [
            f"{show_number(speed)} steps/s",
            f"{duration((int(facts['steps']) - step) / speed)} left",
        ]
    if facts.get("failed"):
        parts.append(f"{facts['failed']} failed")
    return "  ".join(parts)


def duration(seconds: float) -> str:
    """Return minutes and seconds, with hours where there are some.

    >>> duration(75.0), duration(3700.0)
    ('1:15', '1:01:40')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{second:02d}" if hours else f"{minutes}:{second:02d}"
