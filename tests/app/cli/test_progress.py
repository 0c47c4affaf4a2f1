"""Progress: bars where stderr is a terminal, a line now and then elsewhere."""

import io
import sys

from ordinate.app.cli.progress import JobProgress, Lines, StepProgress, duration, step_detail
from ordinate.lab.runs import Event, Job

FACTS = {"step": 50, "steps": 100, "loss": 0.5, "rate": 1e-3, "seconds": 2.0, "failed": 1}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_keep_their_distance(capsys):
    lines = Lines(pause=60.0)
    for text in ("first", "second"):
        lines.write(text)
    lines.write("third", always=True)
    assert capsys.readouterr().err == "first\nthird\n"


def test_step_detail():
    assert step_detail(FACTS) == "loss 0.5  rate 0.001  25 steps/s  0:02 left  1 failed"
    assert step_detail({"step": 0, "steps": 5, "loss": float("nan")}) == "loss n/a"
    assert duration(59.6) == "1:00"


def test_training_without_a_terminal(capsys):
    with StepProgress("sum") as progress:
        progress.report(**FACTS)
    assert capsys.readouterr().err.startswith("sum step 50/100  loss 0.5")


def test_training_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with StepProgress("sum") as progress:
        progress.report(**FACTS)
    assert "50/100" in terminal.getvalue()


def test_jobs_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    _play(JobProgress("figure", total=2))
    text = terminal.getvalue()
    assert "b failed: ValueError: no" in text
    assert "a: worker died (signal 9), tried again" in text


def test_jobs_without_a_terminal(capsys):
    _play(JobProgress("figure", total=2))
    assert capsys.readouterr().err.splitlines() == [
        "figure 0/2 done; a 1/4, b starting",
        "a: worker died (signal 9), tried again",
        "figure 1/2 done: a in 0:03",
        "b failed: ValueError: no",
    ]


def _play(progress: JobProgress) -> None:
    a, b = Job("a", print), Job("b", print)
    with progress:
        progress(Event(a, "started", {"pid": 1, "attempt": 1}))
        progress(Event(b, "started", {"pid": 2, "attempt": 1}))
        progress(Event(a, "progress", {"step": 1, "steps": 4, "loss": 0.5}))
        progress(Event(a, "progress", {"note": "without a step"}))
        progress(Event(a, "retried", {"cause": "worker died (signal 9)"}))
        progress(Event(a, "started", {"pid": 3, "attempt": 2}))
        progress(Event(a, "done", {"seconds": 3.0}))
        progress(Event(b, "failed", {"error": "Traceback\n  ...\nValueError: no"}))
    assert progress.ended == 2
