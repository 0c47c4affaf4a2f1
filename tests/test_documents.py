"""README and docs say what the stored results and the tested examples say."""

import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_marked_places_are_filled_from_results():
    done = subprocess.run(
        [sys.executable, "tools/fill_docs.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["1-sample.txt", "2-discover.txt"])
def test_commands_of_the_quickstart_print_what_it_shows(name, tmp_path):
    tool = runpy.run_path(str(ROOT / "tools" / "record.py"))
    assert tool["recorded"]([name], tmp_path)[name] == (tool["CONSOLE"] / name).read_text(encoding="utf-8")


def test_a_plan_is_a_row_a_paper_and_the_most_expensive_figures():
    planned = runpy.run_path(str(ROOT / "tools" / "fill_docs.py"))["planned"]

    def row(figure, runs, parameters, here, gpu):
        hours = {"hours_here": here, "hours_gpu": gpu, "operations": gpu * 3600 * 19.5e12 / 4}
        return {"figure": figure, "runs": runs, "parameters": parameters, "gigabytes": 1.26, **hours}

    rows = [row(f"a/{n}", 3, 200_000, 0.004 * n, 1e-3 * n) for n in range(1, 7)]
    rows.append(row("b/x", 10, 124_400_000, 12345.0, 60.0))
    total = {
        key: sum(each[key] for each in rows) for key in ("runs", "operations", "hours_here", "hours_gpu")
    }
    environment = {"cpu": "a CPU", "revision": "0123456789abcdef"}
    document = {"command": "ordinate plan a b", "environment": environment, "gpu": {"teraflops": 19.5}}
    text = planned({**document, "rows": rows, "total": total, "workers": {"days": 1.0, "gpus": 3}})
    assert text.splitlines() == [
        "|  | runs | largest model | GB | hours here | GPU hours | GPUs for 1 day |",
        "|---|---|---|---|---|---|---|",
        "| **a** | 18 | 200 k | 1.3 | 0.084 | 0.021 | 1 |",
        *(f"| a/{n} | 3 | 200 k | 1.3 | {0.004 * n:.2g} | 0.00{n} | 1 |" for n in range(3, 7)),
        "| **b** | 10 | 120 M | 1.3 | 12,000 | 60 | 3 |",
        "| b/x | 10 | 120 M | 1.3 | 12,000 | 60 | 3 |",
        "| **all** | 28 | 120 M | 1.3 | 12,000 | 60 | 3 |",
        "",
        "`ordinate plan a b`, a CPU, revision 0123456789. Hours here are of one thread. In these hours a GPU of 19.5 "
        "TFLOP/s is taken to reach 0.25 of its peak.",
    ]


def test_the_example_trains_and_evaluates(tmp_path, monkeypatch, capsys):
    """With a fifth of its steps; `tests/slow` takes all."""
    monkeypatch.chdir(tmp_path)
    code = (ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8")
    assert "steps=300" in code
    exec(code.replace("steps=300", "steps=60"), {})
    assert example_errors(capsys.readouterr().out)[0] < 18  # the best constant


def example_errors(text):
    lines = text.splitlines()
    assert len(lines) == 3
    return [float(line.rsplit(" ", 1)[1]) for line in lines]


def python_blocks(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)


def test_the_map_of_contributing_is_that_of_the_imports_and_folders():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block, table = text.partition("## The map")[2].partition("## Add a task")[0].split("```")[1:]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rooms, lab = (contract["layers"] for contract in project["tool"]["importlinter"]["contracts"])
    source = ROOT / "src" / "ordinate"
    drawn = {"": [], **{folder: [] for folder in ("app", "lab")}}
    room = ""
    for line in block.strip().splitlines():
        names = re.split(r" {3,}", line.strip())[0].split()
        drawn[room if line.startswith(" ") else ""].append(names)
        room = room if line.startswith(" ") else names[0]
    assert drawn[""] == [layer.replace("ordinate.", "").split(" | ") for layer in rooms]
    assert drawn["lab"] == [layer.split(" | ") for layer in lab]
    for folder, lines in drawn.items():
        own = {path.stem for path in (source / folder).glob("*") if path.suffix in ("", ".py")}
        own = {name for name in own if not name.startswith("__")}
        assert own == {name for names in lines for name in names}

    named = {folder.rstrip("/") for folder in re.findall(r"^\| `(\S+)` \|", table, re.MULTILINE)}
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if kept.returncode == 0:  # a checkout, not a copy of its files
        assert named == {line.partition("/")[0] for line in kept.stdout.splitlines() if "/" in line}
    assert all((ROOT / folder).is_dir() for folder in named)


@pytest.fixture
def forgotten():
    """Tasks that documents define are not known to other tests."""
    from ordinate.lab.tasks import TASKS

    known = dict(TASKS)
    yield
    TASKS.clear()
    TASKS.update(known)


def test_the_task_and_the_encoding_of_contributing_work(forgotten):
    import torch

    from ordinate.encodings import BuildSpec, NoPosition
    from ordinate.lab.tasks import make_task
    from ordinate.models import Standard, build_model

    *task_codes, encoding_code, _ = python_blocks("CONTRIBUTING.md")
    names: dict = {"__name__": "contributing"}
    for code, name in zip(task_codes, ("steps", "Steps"), strict=True):
        exec(code, names)
        steps = names[name](length=3)
        assert steps.reference(torch.tensor([[[1.0], [3.0], [2.0]]])).flatten().tolist() == [1, 2, 1]
        assert len(code.splitlines()) < 14
    exec(encoding_code, names)
    assert len(encoding_code.splitlines()) < 25
    task = make_task("sum", length=4)
    model = build_model(Standard(encoding=(NoPosition(),)), task, seed=0)
    model.encoding, model.merge = names["Distance"]().build(BuildSpec((task.coordinates(4),))), False
    assert model(torch.randn(2, 4, 1), task.coordinates(4)).isfinite().all()


def test_the_tasks_of_your_own_work(forgotten):
    from ordinate.lab.tasks import make_task

    exec(python_blocks("docs/own.md")[0], {"__name__": "own"})
    for name, given, answers in [("running-range", "3 1 4", [0, 2, 3]), ("swap", "0 1 3", [1, 0, 2])]:
        assert make_task(name).parse(given).target.flatten().tolist() == answers
    assert make_task("swap", by=2).parse("0 1 3").target.tolist() == [[2, 3, 1]]


def test_the_machines_of_the_docs_answer_as_they_say():
    exec(python_blocks("docs/own.md")[1], {})


def test_the_figure_of_contributing_works(tmp_path):
    from tests.papers.inline import Inline

    code = python_blocks("CONTRIBUTING.md")[-1]
    assert len(code.splitlines()) < 20
    names: dict = {}
    exec(code, names)
    (figure,) = names["FIGURES"]
    result = figure.reproduce("smoke", tmp_path, engine=Inline())
    assert [claim.verdict for claim in result.claims] == [None]
    assert result.table[1][0][:2] == ["min", "positional"]
    assert result.files["png"].is_file()


def test_the_relation_of_the_concepts_is_shown_as_it_prints(capsys):
    (code,) = python_blocks("docs/concepts.md")
    exec(code, {})
    assert f"```text\n{capsys.readouterr().out}```" in (ROOT / "docs" / "concepts.md").read_text(
        encoding="utf-8"
    )


def test_the_relations_of_the_docs_are_bound_as_they_say():
    names: dict = {}
    declared, bound = python_blocks("docs/relations.md")[:2]
    exec(declared + bound, names)
    assert names["long"].keys_per_query == 2.999625
    assert names["pattern"].tokens == 8


def test_the_program_of_the_docs_works():
    names: dict = {}
    (code,) = python_blocks("docs/programs.md")
    exec(code, names)
    assert names["answer"].ravel().tolist() == list(range(1, 9))
    assert names["checked"].holds


def test_the_explanation_of_the_docs_works():
    names: dict = {}
    (code,) = python_blocks("docs/explain.md")
    exec(code, names)
    assert names["found"].right == "4218"
    assert names["keys"].shape == (1, 4, 17, 16)
    assert not names["after"].equal(names["before"])
    assert {row.kind for row in names["table"].rows} == {"layer", "head", "class"}
    assert set(names["seen"]) == set(names["hooks"](names["model"]))
    assert (ROOT / "docs" / "img" / "explain.png").is_file()


def test_ci_prints_the_closing_line_of_make_test():
    script = (ROOT / ".ci" / "run").read_text()
    assert "make test" in script
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_commands_and_columns_of_reports_are_those_of_today(tmp_path, monkeypatch, capsys):
    import shlex

    from ordinate.app.cli.main import main
    from ordinate.lab.report.runs import COLUMNS
    from ordinate.lab.report.tables import VALUES, VERDICTS

    text = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    for columns in (VALUES, VERDICTS, COLUMNS):
        assert ", ".join(f"`{column}`" for column in columns) in text
    for folder in ("recipes", "results"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    commands = [
        line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()
    ]
    assert len(commands) == 4
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)  # as without the extra
    *reports, training = commands
    for command in reports[1:]:
        assert main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    assert sorted(path.name for path in Path("figures").iterdir()) == [
        "beyond-cascades.pdf",
        "beyond-cascades.svg",
    ]
    assert Path("tables", "beyond-cascades-values.tex").is_file()
    assert main(shlex.split(training)[1:]) == 2
    assert "ordinate[track]" in capsys.readouterr().err


def test_the_theory_of_the_docs_works(capsys):
    (code,) = python_blocks("docs/memories.md")
    exec(code, {})
    depth, *lines = capsys.readouterr().out.splitlines()
    assert depth == "4"
    assert len(lines) == 3
