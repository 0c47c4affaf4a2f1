"""Examples that train for longer."""

import re
import runpy
import shlex
import shutil
import subprocess
import sys

import pytest

from ordinate.app.cli.main import main
from ordinate.lab.structure import check
from tests.links import broken_site
from tests.test_documents import ROOT, example_errors


def test_the_first_example_learns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "quickstart.py"))
    assert example_errors(capsys.readouterr().out)[0] < 1.0  # the best constant scores 18


def test_the_structure_of_an_own_task_is_shown_checked_and_carried_to_other_lengths(
    tmp_path, monkeypatch, capsys
):
    from ordinate.lab.tasks import TASKS

    monkeypatch.chdir(tmp_path)
    known = dict(TASKS)
    example = ROOT / "examples" / "own_structure.py"
    names = runpy.run_path(str(example))
    shown, *errors = capsys.readouterr().out.rsplit("\n", 4)[:-1]
    assert "3 classes, 12 of 25 pairs attended" in shown
    assert "one place back is not enough. reach: " in shown
    mse = [float(line.rsplit(" ", 1)[1]) for line in errors]
    assert len(mse) == 3
    assert max(mse) < 0.05  # the answers vary by 0.5
    assert check(names["structure"], names["short"], layers=1) == []
    assert set(TASKS) - set(known) == {"smooth"}
    del TASKS["smooth"]
    code = [line for line in example.read_text().splitlines() if line.strip()]
    assert len(code) < 40


def test_the_documentation_builds_without_a_warning_and_its_links_lead_somewhere(tmp_path):
    pytest.importorskip("zensical", reason="the documentation needs ordinate[docs]")
    for name in ("src", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)  # a site is built beside what a link leads to
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    command = [sys.executable, "-m", "zensical", "build", "--clean"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "No issues found" in done.stdout + done.stderr, done.stdout
    assert broken_site(tmp_path / "site") == []
    reference = sorted((tmp_path / "site" / "reference").glob("*.html"))
    assert [page.stem for page in reference] == ["core", "index", "lab", "papers", "programs", "tasks"]
    assert not any("<blockquote>" in page.read_text() for page in reference)  # examples are code


def test_the_constructions_of_the_docs_are_those_of_today(capsys):
    """What stands behind a command in docs/memories.md is what it prints, but for numbers and the width of tables."""
    text = (ROOT / "docs" / "memories.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\n\$ ordinate (.*)\n([^`]*)```", text)
    assert len(blocks) >= 3
    for command, said in blocks:
        main(shlex.split(command))
        found = capsys.readouterr()
        assert words(found.out or found.err.splitlines()[-1]) == words(said)


def words(text: str) -> list[str]:
    return re.findall(r"[a-zA-Z]+", text)


def test_the_life_of_a_step_is_that_of_the_code():
    done = subprocess.run(
        [sys.executable, "tools/life.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
