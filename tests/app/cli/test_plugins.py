"""Tasks and encodings of one's own: from a file that is named and from installed packages; whose line is at fault."""

import re
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from ordinate.app.cli.new import files
from ordinate.encodings import ENCODINGS, EncodingSettings
from ordinate.errors import OrdinateError
from ordinate.lab import plugins
from ordinate.lab.plugins import VARIABLE
from ordinate.lab.runs import Job, LocalEngine
from ordinate.lab.tasks import TASKS, make_task

OWN = "running-range"
ENCODING = '''
from ordinate.encodings import Alibi

class Steep(Alibi, name="steep"):
    """ALiBi by another name."""
'''


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """Nothing is known before, and nothing is left behind."""
    monkeypatch.setenv(VARIABLE, "")
    before = {id(table): dict(table) for table in (TASKS, ENCODINGS)}
    yield
    for table in (TASKS, ENCODINGS):
        table.clear()
        table.update(before[id(table)])
    plugins.run_file.cache_clear()
    plugins._load_installed.cache_clear()


@pytest.fixture
def own(call, tmp_path):
    """The files that `ordinate new task` writes."""
    answer = call("new", "task", OWN, "--out", tmp_path, "--json")
    assert answer.code == 0, answer.err
    assert [path.rsplit("/", 1)[1] for path in answer.json["files"]] == list(files(OWN))
    return tmp_path / "running_range.py"


def test_a_new_task_takes_part_in_everything(call, own, tmp_path):
    plugin = ("--plugin", own)
    listed = call(*plugin, "tasks", "--json").json["tasks"]
    assert listed[-1]["name"] == OWN
    assert call(*plugin, "sample", OWN, "--input", "3 1 4", "--json").json["samples"][0]["target"] == [
        0,
        2,
        3,
    ]
    small = [f"--set=training.{change}" for change in ("steps=2", "batch=8")]
    sizes = ["--set=model.width=8", "--set=model.hidden=8", "--set=evaluation.count=8"]
    out = ("--out", tmp_path / "runs")
    trained = call(*plugin, "train", own.with_suffix(".toml"), *small, *sizes, *out, "--json")
    assert trained.code == 0, trained.err
    run = trained.json["runs"][0]["id"]
    swept = call(
        *plugin, "evaluate", run, "--store", tmp_path / "runs", "--axis", "length=4", "--count", 8, "--json"
    )
    assert swept.code == 0, swept.err
    found = call(*plugin, "discover", OWN, "--json")
    assert found.code == 0, found.err


def test_its_test_passes(own):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_{own.name}"]
    done = subprocess.run(command, cwd=own.parent, capture_output=True, text=True)
    assert "4 passed" in done.stdout, done.stdout


def test_nothing_is_overwritten(call, own):
    before = own.read_text()
    answer = call("new", "task", OWN, "--out", own.parent)
    assert answer.code == 2
    assert "is there already" in answer.error
    assert own.read_text() == before


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("task", "sum"), "a task is called 'sum' already"),
        (("task", "My Task"), "'My Task' is no name of a task"),
        (
            ("task", "class"),
            "'class' is a word of Python or a module it needs: write another name, as my-class",
        ),
        (("task", "torch"), "'torch' is a word of Python or a module it needs"),
        (("tsk", "mine"), "there is no new 'tsk': did you mean 'task'?"),
    ],
)
def test_what_cannot_be_new(call, words, line, tmp_path):
    answer = call("new", *words, "--out", tmp_path)
    assert answer.code == 2
    assert line in answer.error
    assert not list(tmp_path.iterdir())


def test_an_encoding_of_ones_own(call, tmp_path):
    from ordinate.models import ResidualEncoder

    (tmp_path / "steep.py").write_text(ENCODING)
    listed = call("--plugin", tmp_path / "steep.py", "encodings", "--json").json["encodings"]
    assert listed[-1]["name"] == "steep"
    assert ResidualEncoder(encoding="steep").encoding[0].name == "steep"


TASK = files(OWN)["running_range.py"]
CLASS = """
import torch
from ordinate.lab.tasks.numbers import Numbers

class RunningRange(Numbers, name="running-range", summary="largest minus smallest number so far"):
    def reference(self, inputs, coordinates=None):
        return torch.cummax(inputs, dim=1).values - torch.cummin(inputs, dim=1).values
"""


def test_a_task_can_be_a_class(call, tmp_path):
    path = tmp_path / "own.py"
    path.write_text(CLASS)
    shown = call("--plugin", path, "sample", OWN, "--input", "3 1 4", "--json")
    assert shown.json["samples"][0]["target"] == [0, 2, 3]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import torch\nx = undefined\n", "line 2: NameError: name 'undefined' is not defined"),
        ("import sys\nsys.exit(7)\n", "line 2: SystemExit: 7"),
        ("raise BaseException('no')\n", "line 1: BaseException: no"),
        ("def f(:\n", "line 1: SyntaxError: invalid syntax"),
        ("x = 1\n", "holds no task and no encoding: define a function under @task"),
        (CLASS.replace("def reference", "def answer"), "that can be made: RunningRange lacks reference"),
        (re.sub(", summary=.*so far.", "", CLASS), "RunningRange has no 'summary'"),
        (CLASS.replace("summary=", "sumary="), "no class keyword 'sumary': did you mean 'summary'?"),
        (CLASS.replace(OWN, "sum"), "the name 'sum' is taken"),
        (
            TASK.replace(f'@task("{OWN}")', '@task("sum")'),
            "line 14, in running_range: the name 'sum' is taken",
        ),
        (TASK.replace("(x)", "(x, back)"), "line 14, in running_range: the option 'back' has no default"),
    ],
)
def test_files_that_cannot_be_used(call, tmp_path, text, line):
    path = tmp_path / "own.py"
    path.write_text(text)
    answer = call("--plugin", path, "tasks")
    assert answer.code == 2
    assert line in answer.error
    assert answer.error.count(str(path)) == 1


def test_a_file_that_is_not_there(call, tmp_path):
    answer = call("--plugin", tmp_path / "own.py", "tasks")
    assert answer.code == 2
    assert "is not a Python file: name one that ends in .py" in answer.error


@pytest.mark.parametrize(("text", "function"), [(TASK, "running_range"), (CLASS, "reference")])
def test_the_line_of_the_user_is_named_where_it_fails_later(call, tmp_path, text, function):
    path = tmp_path / "own.py"
    path.write_text(text.replace("dim=1", "dim=7", 1))
    place = 1 + next(i for i, line in enumerate(path.read_text().splitlines()) if "dim=7" in line)
    answer = call("--plugin", path, "sample", OWN)
    assert answer.code == 2
    assert f"{path}, line {place}, in {function}: IndexError: Dimension out of range" in answer.error


@pytest.mark.parametrize("end", ["exit(7)", "raise GeneratorExit"])
def test_a_file_cannot_end_the_command(call, tmp_path, end):
    path = tmp_path / "own.py"
    path.write_text(CLASS.replace("return torch.cummax", f"{end}\n        return torch.cummax"))
    answer = call("--plugin", path, "sample", OWN)
    assert answer.code == 2
    assert f"in reference: {'SystemExit: 7' if end == 'exit(7)' else 'GeneratorExit'}" in answer.error


class TestInstalled:
    """Entry points, as packages declare them."""

    @staticmethod
    def load(monkeypatch, tmp_path, **points):
        (tmp_path / "own_package.py").write_text(TASK)
        monkeypatch.syspath_prepend(tmp_path)
        found = [EntryPoint(name, value, "ordinate.tasks") for name, value in points.items()]
        monkeypatch.setattr(plugins, "entry_points", lambda group: found if group == "ordinate.tasks" else [])
        plugins._load_installed.cache_clear()
        before = list(TASKS)
        plugins.load()
        return [name for name in TASKS if name not in before]

    def test_packages_take_part(self, monkeypatch, tmp_path):
        assert OWN not in TASKS
        assert self.load(monkeypatch, tmp_path, own="own_package:running_range") == [OWN]
        assert make_task(OWN).name == OWN

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            ("own_package:Missing", "has no attribute 'Missing'"),
            ("own_package:torch", "it is no Task"),
            ("no_such_package:Task", "No module named"),
            ("leaving_package:Task", "SystemExit"),
        ],
    )
    def test_one_that_cannot_be_used_is_passed_over(self, monkeypatch, tmp_path, value, said):
        (tmp_path / "leaving_package.py").write_text("raise SystemExit")
        with pytest.warns(UserWarning, match=said):
            assert self.load(monkeypatch, tmp_path, bad=value, own="own_package:running_range") == [OWN]


def test_a_look_at_a_table_runs_nothing(own, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(own))
    with pytest.raises(OrdinateError, match="of a plug-in: add --plugin FILE"):
        make_task(OWN)
    plugins.load()
    assert make_task(OWN).name == OWN
    plugins.load(own)  # once more is harmless
    assert list(TASKS).count(OWN) == 1


def test_help_of_a_command_runs_nothing(call, tmp_path):
    assert call("--plugin", tmp_path / "none.py", "train", "--help").code == 0


def test_workers_know_the_plugins_of_their_parent(own):
    with LocalEngine(workers=1) as engine:
        jobs = [Job("before", _name_of_own)]
        assert "is not known" in engine.run(jobs)[0].error
        plugins.load(own)
        assert engine.run(jobs)[0].value == OWN


def _name_of_own(report):
    return make_task(OWN).name


def test_tables_are_changed_by_hand_too():
    class Mine(TASKS["sum"]):
        name = "mine"

    TASKS["mine"] = Mine
    assert TASKS["mine"] is Mine
    del TASKS["mine"]
    assert "mine" not in TASKS
    with pytest.raises(OrdinateError, match="is not known"):
        make_task("mine")


def test_the_base_of_encodings_is_theirs():
    assert all(issubclass(kind, EncodingSettings) for kind in ENCODINGS.values())
