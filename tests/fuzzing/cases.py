"""What a person may hand to `ordinate`, right and wrong, and what has to become of it.

Every case goes through the real front door, in a folder of its own. Allowed are the exit codes 0, 1, 2 and 130; with 2
there is one line on stderr, nothing on stdout, and no run was begun. What takes longer than its limit is interrupted
as by Ctrl-C, so that what is allowed and large costs no time.
"""

import contextlib
import io
import os
import resource
import shutil
import signal
import time
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import tomli_w
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ordinate.app.cli.main import main
from ordinate.lab.runs.engine import ENGINES
from tests.fuzzing.lines import lines
from tests.fuzzing.recipes import BASES, recipes, settings
from tests.papers.inline import Inline

ALLOWED = (0, 1, 2, 130)
PATIENCE = 60.0
"""Seconds within which a command has to end, on a busy machine."""
ROOM = 3 << 30
"""Bytes that a case may take beside what the process has."""


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    code: int
    out: str
    err: str
    seconds: float


def run(words, limit):
    """Run a command in this process; after `limit` seconds of work it is interrupted."""
    out, err = io.StringIO(), io.StringIO()
    variables, begun = dict(os.environ), time.monotonic()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        _interrupted(limit),
        _little_memory(),
    ):
        code = main(words)
    os.environ.clear()
    os.environ.update(variables)  # --plugin writes there
    return Said(code, out.getvalue(), err.getvalue(), time.monotonic() - begun)


def check(said):
    """Refuse what is never right."""
    assert said.code in ALLOWED, said
    assert said.code == 130 or "Traceback" not in said.err, said
    assert said.seconds < PATIENCE, said
    if said.code == 2:
        assert said.out == "", said
        assert said.err.startswith("error: "), said
        assert said.err.count("\n") == 1, said


def begun(store):
    """The runs that a store holds."""
    return sorted(path.parent for path in store.glob("*/seed-*/run.json"))


def prepare(folder):
    """A folder with what command lines name: a recipe, a study, a store with a run that is done and one that is not."""
    document = deepcopy(next(base for base in BASES if base["name"] == "sum-positional"))
    document["name"] = "tiny"
    (folder / "recipe.toml").write_text(tomli_w.dumps(document))
    study = {"name": "few", "seeds": [0], "budget": {"kind": "steps"}, "base": "recipe.toml"}
    (folder / "study.toml").write_text(tomli_w.dumps(study))
    (folder / "odd.py").write_text("def f(x):\n    return x.sum(1)\n")
    (folder / "empty").mkdir()
    store = folder / "store"
    for words in (
        ("sample", "next-character"),  # reads its text once
        ("train", folder / "recipe.toml", "--out", store),
        ("runs", "--store", store, "--pack", store / "runs.zip"),
    ):
        said = run(list(map(str, words)), 60)
        assert said.code == 0, said
    done = next(store.glob("*/seed-0"))
    shutil.copytree(done, done.with_name("seed-1"))
    (done.with_name("seed-1") / "run.json").write_text('{"status": "running", "step": 1, "steps": 2}')


@contextlib.contextmanager
def _interrupted(limit):
    def ring(number, frame):
        while frame.f_code is not run.__code__:
            if (
                frame.f_code.co_filename.startswith("<frozen importlib")
                or "hypothesis" in frame.f_code.co_filename
            ):
                return  # a module that is half imported would stay so: the next ring comes soon
            frame = frame.f_back
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, limit, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def _little_memory():
    """A bound for the memory of a case: what asks for more is told so, and takes nothing from others."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def recipes_end_well(cases, limit):
    """Train recipes; one that is refused has begun no run."""

    def case(folder, data):
        (folder / "recipe.toml").write_bytes(data)
        return ["train", "recipe.toml", "--out", "out"]

    _all_end_well(cases, limit, recipes(), case)


def changes_end_well(cases, limit):
    """Train recipes of ours with changes."""
    drawn = st.sampled_from(BASES).flatmap(
        lambda base: st.tuples(st.just(base), st.lists(settings(base), min_size=1, max_size=3))
    )

    def case(folder, given):
        base, texts = given
        (folder / "recipe.toml").write_text(tomli_w.dumps(base))
        return ["train", "recipe.toml", "--out", "out", *(word for text in texts for word in ("--set", text))]

    _all_end_well(cases, limit, drawn, case)


def lines_end_well(cases, monkeypatch, limit):
    """Call all commands with all kinds of words; what would serve for ever or train in other processes does not."""
    monkeypatch.setattr("uvicorn.Server.run", lambda self, *words, **options: None)
    monkeypatch.setattr("bench.run_sections", lambda *words, **options: {"rows": []})
    here = type("Here", (Inline,), {"open": staticmethod(lambda address, workers: Inline())})
    monkeypatch.setitem(ENGINES, "local", here)
    _all_end_well(cases, limit, lines(), lambda folder, words: words)


def _all_end_well(cases, limit, drawn, case):
    top, codes = Path.cwd(), Counter()
    (top / "first").mkdir()
    prepare(top / "first")

    @hypothesis.settings(max_examples=cases, suppress_health_check=list(HealthCheck), database=None)
    @given(drawn)
    def ends_well(value):
        folder = top / "case"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(top / "first", folder)
        with contextlib.chdir(folder):
            said = run(case(folder, value), limit)
        codes[said.code] += 1
        check(said)
        assert said.code != 2 or not begun(folder / "out"), said

    ends_well()
    assert codes[0] > cases / 10, codes
    assert codes[2] > cases / 10, codes
