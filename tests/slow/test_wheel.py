"""The wheel as a stranger has it: built, installed into an empty environment, used outside of any checkout."""

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT]
    subprocess.run(command, check=True)
    return next(folder.glob("ordinate-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A function that runs the installed command in an empty folder."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "environment", with_pip=True)
    python = folder / "environment" / "bin" / "python"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ORDINATE", "COV"))}
    environment |= {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "OMP_NUM_THREADS": "1"}
    install = [python, "-m", "pip", "install", "--quiet", f"{wheel}[theory,web]"]
    subprocess.run(install, check=True, env=environment, cwd=folder)

    def run(*words, code=0):
        done = subprocess.run(
            [python.parent / "ordinate", *map(str, words)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stderr
        return done

    run.start = lambda *words: subprocess.Popen(
        [python.parent / "ordinate", *words], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    run.folder = folder
    return run


def test_types_recipes_and_licenses_are_in_it(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "ordinate/py.typed" in names
    assert "ordinate/__init__.pyi" in names
    assert {"ordinate/recipes/addition-1000.toml", "ordinate/recipes/published/abacus.toml"} <= names
    assert any(re.fullmatch(r"ordinate-.*\.dist-info/licenses/LICENSE", name) for name in names)
    for folder in {name.rsplit("/", 1)[0] for name in names if "/vendor/" in name}:
        assert f"{folder}/LICENSE" in names
    assert not any(name.startswith(("tests/", "bench/", "results/")) for name in names)


def test_recipes_are_listed_and_trained_by_name(installed):
    listed = json.loads(installed("recipes", "--json").stdout)
    assert "addition-1000" in {row["name"] for row in listed["recipes"]}
    few = ("--set", "training.steps=3", "--set", "evaluation.count=4", "--out", "runs")
    trained = json.loads(installed("train", "addition-1000", *few, "--json").stdout)
    assert trained["runs"][0]["status"] == "done"
    assert "did you mean 'addition-1000'?" in installed("train", "adition-1000", code=2).stderr


def test_models_of_the_package_are_verified_and_explained(installed):
    installed("verify", "addition-relation")
    explained = installed("explain", "addition-relation", "--input", "123+4095", "--out", "why")
    assert "4218" in explained.stdout
    assert list((installed.folder / "why").rglob("*.html"))


def test_a_figure_is_reproduced(installed):
    installed("reproduce", "positional/value-scale", "--scale", "smoke", "--out", "figures")
    assert list((installed.folder / "figures").rglob("result.json"))


def test_a_task_of_ones_own_begins(installed):
    installed("new", "task", "running-range")
    sampled = installed("--plugin", "running_range.py", "sample", "running-range", "--length", "5")
    assert sampled.stdout.strip()


def test_the_page_is_served(installed):
    process = installed.start("serve", "--port", "0")
    try:
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line
        page = urlopen(found[0], timeout=20).read().decode()
    finally:
        process.terminate()
        process.wait(timeout=20)
    assert "<title>" in page


def test_what_needs_the_checkout_says_so(installed):
    assert "checkout" in installed("bench", code=2).stderr
