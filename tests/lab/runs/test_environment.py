"""A stored number carries what it was made with."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import torch

from ordinate.attention.costs import DEFAULT, Costs, in_force
from ordinate.lab.runs import cores, environment, keep_freed_memory
from ordinate.lab.runs import environment as environment_function
from ordinate.lab.runs.environment import _git, _revision


def git(folder, *arguments):
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *identity, "-C", str(folder), *arguments], check=True, capture_output=True)


def test_the_facts_are_there_and_plain():
    facts = environment()
    assert facts["torch"] == torch.__version__
    assert facts["threads"] == torch.get_num_threads()
    assert facts["cores"] == cores() >= 1
    assert facts["cpu"]
    assert json.loads(json.dumps(facts)) == facts


def test_the_revision_is_that_of_the_tree_that_tracks_the_package(tmp_path):
    git(tmp_path, "init")
    package = tmp_path / "src" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    assert _revision(package) == (None, None)  # inside a checkout, but not part of it
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    _revision.cache_clear()
    revision, dirty = _revision(package)
    assert len(revision) == 40
    assert dirty is False
    (tmp_path / "notes").write_text("outside the package")
    _revision.cache_clear()
    assert _revision(package) == (revision, False)
    (package / "new.py").write_text("")
    _revision.cache_clear()
    assert _revision(package) == (revision, True)


def test_no_checkout_or_no_git_is_no_failure(tmp_path, monkeypatch):
    assert _revision(tmp_path) == (None, None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _git(Path(), "status") is None
    assert environment_function()["python"]


def test_keeping_freed_memory_is_harmless():
    assert keep_freed_memory() in (True, False)
    assert torch.zeros(1 << 20).sum() == 0


def test_the_costs_by_which_paths_are_chosen():
    other = replace(DEFAULT, sparse_slot=7.0)
    with in_force(other):
        assert Costs.of(environment()["paths"]) == other
    assert Costs.of(environment()["paths"]) == DEFAULT
