"""Advice: right on every task, and on functions that people write."""

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import TASKS, make_task
from ordinate.papers.theory.advice import FunctionTask, find_memory, load_function, memory, probe
from ordinate.papers.theory.advice.evidence import find_fall
from ordinate.papers.theory.advice.probe import draw_probe

from .expected_memories import TABLE, check_advice


@pytest.fixture(autouse=True)
def fewer_samples(monkeypatch):
    monkeypatch.setattr(probe, "WORK", 2**17)
    monkeypatch.setattr(probe, "REPEATS", 4)
    monkeypatch.setattr(memory, "CLOSER", 2**14)


def test_every_task_is_in_the_table():
    assert {expected.task for expected in TABLE} == set(TASKS)


@pytest.mark.parametrize("expected", TABLE, ids=lambda e: e.task)
def test_the_advisor_is_right_on(expected):
    check_advice(expected)


def test_the_worked_example_is_a_function_of_three_fixed_tokens():
    batch = make_task("adaptive-memory").sample(200, generator=torch.Generator().manual_seed(0))
    x = batch.input[..., 0]
    either = torch.where((x[:, 1:-1] > 0) | (x[:, :-2] < 0), 1.0, -1.0)
    assert torch.equal(batch.target[:, 2:, 0], x[:, 2:] * either)


def test_probes_count_what_brute_force_counts():
    task = make_task("fixed-memory", lags=(0, 1, 3), length=5, readout="majority")
    found = draw_probe(task, 5, seed=3)
    x = found.batch.input.clone()
    for column, key in enumerate(found.keys):
        flipped = x.clone()
        flipped[:, key] *= -1
        differs = (task.reference(flipped) != found.batch.target)[:, found.answer, 0]
        asked = found.changes.moved[:, column] > 0
        assert torch.equal(found.changes.present[asked, column], differs[asked])


@pytest.mark.parametrize("rate", [0.3, 1.0, 2.5])
def test_both_tails_are_told_apart(rate):
    exponential = find_fall({s: 3 * 2.718281828 ** (-rate * s) for s in range(12)})
    polynomial = find_fall({s: 0.0 if s == 0 else s**-rate for s in range(40)})
    assert (exponential.tail, polynomial.tail) == ("exponential", "polynomial")
    assert exponential.rate == pytest.approx(rate)
    assert polynomial.rate == pytest.approx(rate)


SOURCE = """
import torch

def back(x, lag):
    return torch.nn.functional.pad(x, (lag, 0))[:, : x.shape[1]]

def choose(x):
    return torch.where(x > 0, back(x, 2), back(x, 5))

def last(x):
    return x[:, -1] * x[:, -4]

def broken(x):
    return x.sum() / [][0]

def narrow(x):
    return x[:, :2]
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "my.py").write_text(SOURCE)
    return tmp_path / "my.py"


def function(file, name, **options):
    found, path = load_function(f"{file}:{name}")
    return FunctionTask(function=found, file=path, **options)


def test_functions_of_people_are_measured(file):
    adaptive = find_memory(function(file, "choose", length=8))
    assert (adaptive.kind, adaptive.levels) == ("adaptive", 1)
    fixed = find_memory(function(file, "last", length=6, tokens="gaussian"))
    assert fixed.kind == "fixed"
    assert [lag for _, lag in fixed.lags] == [0, 3]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("broken", "line 14, in broken: IndexError"),
        ("narrow", "returned (1, 2)"),
        ("chose", "did you mean 'choose'"),
    ],
)
def test_what_goes_wrong_in_a_file_is_told_with_its_line(file, name, message):
    with pytest.raises(OrdinateError) as error:
        find_memory(function(file, name))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [("def f(x:\n    pass", "line 1: SyntaxError"), ("a = 1\nb = 1 / 0", "line 2: ZeroDivision")],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, source, message):
    (tmp_path / "bad.py").write_text(source)
    with pytest.raises(OrdinateError, match=message):
        load_function(f"{tmp_path / 'bad.py'}:f")
