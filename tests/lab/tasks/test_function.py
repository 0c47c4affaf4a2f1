"""A task from one function: `@task("smooth")`."""

import inspect
import subprocess
import sys

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.structure import check, discover
from ordinate.lab.tasks import TASKS, Task, make_task, task
from ordinate.lab.training import Recipe, Training, load_model, train
from ordinate.models import ResidualEncoder
from ordinate.relations import aligned, window


@pytest.fixture(autouse=True)
def forgotten():
    """Tasks of these tests are not known to others."""
    known = dict(TASKS)
    yield
    TASKS.clear()
    TASKS.update(known)


def before(x):
    """The number before each, 0 before the first."""
    return torch.nn.functional.pad(x, (1, 0))[:, :-1]


@pytest.fixture
def smooth():
    @task("smooth")
    def smooth(x, share: float = 0.5):
        """A share of a number and the rest of the one before it.

        4 0 gives 2 2.
        """
        return share * x + (1 - share) * before(x)

    return smooth


@pytest.fixture
def swap():
    @task("swap", symbols=4)
    def swap(x):
        """0 and 1 change places, and so do 2 and 3."""
        return x ^ 1

    return swap


def drawn(task, count=50, **axes):
    return task.sample(count, generator=torch.Generator().manual_seed(0), **axes)


def test_it_is_a_task_by_its_name(smooth):
    assert TASKS["smooth"] is smooth
    assert issubclass(smooth, Task)
    assert make_task("smooth", length=4) == smooth(length=4)
    assert smooth.summary == "A share of a number and the rest of the one before it"
    assert smooth.__doc__.endswith("4 0 gives 2 2.")
    assert repr(smooth(length=4)).startswith("smooth(length=4")


def test_numbers_are_drawn_as_those_of_the_library_and_answered_by_the_function(smooth):
    for axes in ({}, {"length": 20}, {"scale": 3.0}):
        batch = drawn(smooth(), **axes)
        assert torch.equal(batch.input, drawn(make_task("sum"), **axes).input)
        x = batch.input[..., 0]
        torch.testing.assert_close(batch.target[..., 0], (x + before(x)) / 2)
    assert smooth().axes == ("length", "scale")


def test_what_is_shown_can_be_read(smooth, swap):
    assert smooth().show(smooth().parse("4 0 8")) == [{"input": "4.00 0.00 8.00", "target": "2.00 2.00 4.00"}]
    assert swap().show(swap().parse("0 1 3")) == [{"input": "0 1 3", "target": "1 0 2"}]
    with pytest.raises(OrdinateError, match="write whole numbers below 4"):
        swap().parse("0 1 4")


def test_parameters_with_defaults_are_options(smooth):
    short = make_task("smooth", share=0.25)
    assert short.model_dump()["share"] == 0.25
    assert short.parse("4 0").target.flatten().tolist() == [1.0, 3.0]
    with pytest.raises(OrdinateError, match=r"task\.share"):
        make_task("smooth", share="much")
    with pytest.raises(OrdinateError, match=r"unknown key 'task\.shar': did you mean 'share'"):
        make_task("smooth", shar=0.5)


def test_symbols_are_uniform_and_answers_may_be_others():
    @task("parity-of-pair", symbols=6, answers=2)
    def pairs(x):
        return (x + before(x)) % 2

    batch = drawn(pairs(length=5), 2000)
    assert batch.input.shape == batch.target.shape == (2000, 5)
    shares = torch.bincount(batch.input.flatten()) / batch.input.numel()
    torch.testing.assert_close(shares, torch.full((6,), 1 / 6), atol=0.02, rtol=0)
    assert (pairs().features, pairs().outputs) == (6, 2)
    assert pairs.summary == "parity-of-pair"


def test_answers_may_be_yes_and_no():
    @task("larger", symbols=4, answers=2)
    def larger(x):
        return x > before(x)

    assert larger().parse("1 0 3").target.tolist() == [[1, 0, 1]]


def test_it_has_a_structure_that_is_found(smooth):
    assert check(aligned("number") * window(back=1), smooth(), layers=1) == []
    assert check(aligned("number") * window(back=0), smooth(), layers=1)
    assert discover(smooth(), count=2000).relation == aligned("number") * window(back=1)


def test_recipes_and_checkpoints_name_it(swap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recipe = Recipe(
        name="swap",
        task=swap(length=4),
        model=ResidualEncoder(layers=1, width=8, hidden=8),
        training=Training(steps=2, batch=8),
    )
    assert Recipe.parse(recipe.to_dict()) == recipe
    run = train(recipe, seeds=[0])[0]
    assert Recipe.parse(run.recipe).task == swap(length=4)
    model, batch = load_model(run), drawn(swap(length=4))
    assert model(batch.input, batch.coordinates).shape == (50, 4, 4)


def test_a_function_that_is_defined_again_replaces_itself():
    def define(number):
        @task("again")
        def again(x):
            return x + number

        return again

    first, second = define(1), define(2)
    assert TASKS["again"] is second is not first
    with pytest.raises(OrdinateError, match="in other: the name 'again' is taken"):

        @task("again")
        def other(x):
            return x


def test_inputs_are_the_functions_own():
    @task("in-place")
    def in_place(x):
        x += 1
        return x

    batch = drawn(in_place())
    torch.testing.assert_close(batch.target, batch.input + 1)


CALLS = iter(range(1000))

WRONG = {
    "sum of a row": (lambda x: x.sum(1), r"it returns shape \[3\] for inputs of shape \[3, 8\]"),
    "a list": (lambda x: x.tolist(), r"it returns list: return a tensor of shape \[3, 8\]"),
    "an error": (lambda x: x[:, 99], "IndexError: index 99 is out of bounds for dimension 1 with size 8"),
    "no number": (lambda x: x / 0, "not finite"),
    "random": (lambda x: x + torch.rand(()), "answers the same inputs differently"),
    "state": (lambda x: x + next(CALLS), "answers the same inputs differently"),
    "batch": (lambda x: x - x.mean(0), "change with the rest of the batch: answer each row on its own"),
}

WRONG_SYMBOLS = {
    "numbers": (lambda x: x / 2, "it returns torch.float32: return whole numbers below 4"),
    "too large": (lambda x: x + 1, "it returns symbols from 1 to 4: return 0 to 3, or write answers=5"),
    "negative": (lambda x: x - 1, "it returns symbols from -1 to 2: return 0 to 3"),
}


@pytest.mark.parametrize("what", [*WRONG, *WRONG_SYMBOLS])
def test_what_is_wrong_with_a_function_is_one_line_with_its_place(what):
    function, message = {**WRONG, **WRONG_SYMBOLS}[what]
    kind = task("wrong", symbols=4 if what in WRONG_SYMBOLS else None)(function)
    x = torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3]]).repeat(3, 1)
    x = x if what in WRONG_SYMBOLS else x.float().add(torch.arange(3.0)[:, None])[..., None]
    with pytest.raises(OrdinateError, match=message) as error:
        kind().reference(x)
    assert "\n" not in str(error.value)
    line = inspect.getsourcelines(function)[1]
    assert str(error.value).startswith(f"{__file__}, line {line}, in <lambda>: ")


def no_default(x, back):
    return x


def takes_length(x, length: int = 3):
    return x


def takes_all(x, *others):
    return x


def takes_nothing():
    return None


def takes_a_module(x, inner: torch.nn.Module | None = None):
    return x


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (no_default, "the option 'back' has no default: write back="),
        (takes_length, "every task has its own 'length': give the option another name"),
        (takes_all, "[*]others is no option: name each of them"),
        (takes_a_module, "Give the option a type such as int, float or str"),
        (takes_nothing, r"it takes no inputs: write def takes_nothing\(x\)"),
    ],
)
def test_functions_that_cannot_be_tasks(function, message):
    with pytest.raises(OrdinateError, match=message) as error:
        task("wrong")(function)
    line = inspect.getsourcelines(function)[1]
    assert str(error.value).startswith(f"{__file__}, line {line}, in {function.__name__}: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"symbols": 1}, "symbols must be at least 2, got 1: write symbols=2"),
        ({"symbols": 4, "answers": 0}, "answers must be at least 2, got 0: write answers=2"),
        ({"answers": 2}, "answers=2 counts symbols: write"),
    ],
)
def test_numbers_of_symbols_that_make_no_task(options, message):
    with pytest.raises(OrdinateError, match=message):
        task("one", **options)


def test_a_decorator_without_a_name_says_so():
    """In a process of its own: tests check types of arguments, users' processes do not."""
    script = "from ordinate.lab.tasks import task\n@task\ndef smooth(x):\n    return x\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert 'OrdinateError: a task needs a name: write @task("smooth") over its function' in done.stderr
