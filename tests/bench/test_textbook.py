"""The textbook is right: published sizes, exact answers, and the same function as ours from the same weights."""

import ast
from pathlib import Path

import pytest
import torch
from bench.published import KINDS, published
from bench.settings import QUICK
from bench.textbook_models import SOURCE, TextbookTraining, copy_weights, load_textbook, with_dummy

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import TASKS, make_task
from ordinate.models import build_model

textbook = load_textbook()

NUMBERS = [name for name, task in TASKS.items() if task.family == "numbers"]


def test_it_stands_alone():
    imports = [node for node in ast.walk(ast.parse(SOURCE.read_text())) if isinstance(node, ast.ImportFrom)]
    assert imports
    assert not [node for node in imports if (node.module or "").startswith("ordinate")]


@pytest.mark.parametrize(("kind", "parameters"), [("positional", 84_577), ("standard", 150_273)])
def test_models_have_the_published_sizes(kind, parameters):
    assert sum(p.numel() for p in textbook.make_model(kind, 8).parameters()) == parameters


@pytest.mark.parametrize("name", NUMBERS)
def test_answers_are_ours(name):
    task = make_task(name, length=8)
    inputs = task.sample(20, generator=torch.Generator().manual_seed(0)).input
    answers = torch.stack([textbook.target_of(name, x) for x in inputs])
    torch.testing.assert_close(answers, task.reference(inputs))


@pytest.mark.parametrize("name", NUMBERS)
def test_samples_have_a_row_for_the_dummy(name):
    task = make_task(name, length=8)
    x, y = textbook.make_sample(name, 8)
    tokens = len(task.coordinates(8)) + 1
    assert x.shape == (tokens, task.features)
    assert y.shape == (tokens, task.outputs)
    assert not x[-1].any()
    assert not y[-1].any()


def test_ranges_beyond_training_stick_out_of_it():
    for _ in range(200):
        lo, hi = textbook.draw_range(2)
        assert -4 <= lo <= hi <= 4
        assert lo < -2 or hi > 2


@pytest.mark.parametrize("kind", KINDS)
def test_equal_weights_give_equal_outputs(kind):
    recipe = published(kind, QUICK)
    theirs, ours = textbook.make_model(kind, 8), build_model(recipe.model, recipe.task, seed=0)
    copy_weights(theirs, ours)
    batch = recipe.task.sample(7, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(
        ours(batch.input, recipe.task.coordinates(8)),
        theirs(with_dummy(batch)[0])[:, :-1],
        atol=1e-5,
        rtol=1e-5,
    )


def test_training_lowers_the_loss_and_evaluation_has_eleven_sets():
    training = TextbookTraining("sum", "positional", samples=100, tests=20, batch=50)
    before = training.evaluate()
    training.advance(20)
    after = training.evaluate()
    assert len(before) == len(after) == 11
    assert after[0] < before[0]


def test_a_training_leaves_the_global_generator_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    TextbookTraining("sum", "positional", samples=10, tests=1, batch=5)
    assert torch.equal(torch.rand(1), expected)


def test_without_the_checkout_it_says_so(tmp_path: Path):
    with pytest.raises(OrdinateError, match="source checkout"):
        load_textbook(tmp_path / "textbook.py")
