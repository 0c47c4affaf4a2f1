"""The how-to says what the code does: its files can be read, its tables are those of today."""

import re
import shlex
from math import comb
from pathlib import Path

import pytest

from ordinate.app.cli.main import command as root
from ordinate.lab.evaluation.comparisons import seeds_needed
from ordinate.lab.runs.engine import ENGINES
from ordinate.lab.studies import conduct, read_plan
from ordinate.lab.studies.findings import COMPARISONS, SUMMARY
from ordinate.lab.training import Recipe
from tests.lab.studies.files import Here, write

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_the_columns_are_those_of_the_tables():
    for columns in (SUMMARY, COMPARISONS):
        assert ", ".join(f"`{column}`" for column in columns) in TEXT


def test_the_commands_name_files_and_options_that_there_are():
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) == 3
    known = {option for p in root.commands["study"].params for option in p.opts}
    for line in lines:
        program, command, file, *options = shlex.split(line)
        assert (program, command) == ("ordinate", "study")
        assert (ROOT / file).is_file()
        assert {word for word in options if word.startswith("--")} <= known
        if "--engine" in options:
            assert options[options.index("--engine") + 1] in ENGINES


@pytest.mark.parametrize(("name", "recipes", "seeds"), [("study.toml", 4, 6), ("study.py", 3, 3)])
def test_the_examples_train(name, recipes, seeds, tmp_path):
    plan = read_plan(ROOT / "examples" / name)
    known = plan.recipes.known()
    assert (len(known), len(plan.seeds)) == (recipes, seeds)
    short = [
        Recipe.parse({**(d := r.to_dict()), "training": {**d["training"], "steps": 1}}) for r in known[-1:]
    ]
    quick = plan.model_copy(update={"recipes": type(plan.recipes)(short), "seeds": (0,)})
    study = conduct(quick, tmp_path, Here())
    assert [run.status for run in study.runs(study.recipes[0])] == ["done"]


def test_the_python_study_is_ten_lines():
    code = (ROOT / "examples" / "study.py").read_text().split('"""', 2)[2]
    assert len([line for line in code.splitlines() if line and not line.startswith("from")]) <= 10


def test_the_search_of_the_how_to_can_be_searched(tmp_path):
    search = blocks("toml")[1]
    plan = read_plan(write(tmp_path, search))
    assert plan.recipes.trials == 8
    assert len(plan.recipes.edges) == 6


def test_the_numbers_of_seeds_are_those_of_the_rule():
    assert (seeds_needed(1), seeds_needed(6), seeds_needed(22)) == (4, 5, 6)
    assert 22 * 2 / comb(12, 6) <= 0.05 < 24 * 2 / comb(12, 6)


def test_the_lines_that_read_the_table_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "studies" / "attention"
    folder.mkdir(parents=True)
    row = dict.fromkeys(SUMMARY, "") | {"recipe": "a", "point": "scale=4", "median": "0.5"}
    (folder / "summary.csv").write_text(f"{','.join(row)}\n{','.join(row.values())}\n")
    exec(blocks("python")[1], {})
    assert capsys.readouterr().out == "a 0.5 no seed failed\n"
