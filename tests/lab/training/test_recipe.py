"""Recipes: what a person writes, and what is said when it is wrong."""

import tomllib

import pytest
import tomli_w

from ordinate.errors import OrdinateError
from ordinate.lab.training import Adam, Cosine, Plateau, Recipe
from ordinate.lab.training.recipe import VERSION, apply_change

SMALL = {"name": "small", "task": {"name": "sum", "length": 4}, "model": {"kind": "positional"}}


def test_a_small_recipe_has_the_defaults():
    recipe = Recipe.parse(SMALL)
    assert recipe.version == VERSION
    assert recipe.training.optimizer == Adam()
    assert recipe.training.schedule == Cosine()
    assert recipe.training.device == "auto"


def test_a_recipe_comes_back_from_its_file_whole():
    recipe = Recipe.parse({**SMALL, "training": {"schedule": "plateau", "clip": 1.0}})
    again = Recipe.parse(tomllib.loads(tomli_w.dumps(recipe.to_dict())))
    assert again == recipe
    assert again.training.schedule == Plateau()


def test_reading_a_file_with_changes(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(tomli_w.dumps(SMALL))
    changes = [
        "training.steps=7",
        "model.kind=standard",
        "training.optimizer.learning_rate=0.5",
        "training.optimizer.kind=adamw",
        "evaluation.axes.scale=[1, 2]",
        "model.encoding=rope",
    ]
    recipe = Recipe.read(path, changes)
    assert recipe.training.steps == 7
    assert recipe.model.name == "standard"
    assert recipe.training.optimizer.name == "adamw"
    assert recipe.training.optimizer.learning_rate == 0.5
    assert recipe.evaluation.axes == {"scale": (1.0, 2.0)}


def test_a_change_below_a_bare_name_keeps_the_name():
    document = {"training": {"optimizer": "adamw"}}
    apply_change(document, "training.optimizer.learning_rate=0.1")
    assert document == {"training": {"optimizer": {"kind": "adamw", "learning_rate": 0.1}}}


def test_changes_need_no_table_to_be_there():
    document = {"name": "x", "task": "sum", "model": "positional"}
    for text in ("task.length=3", "training.optimizer.learning_rate=0.1", "training.schedule.warmup=0.5"):
        apply_change(document, text)
    recipe = Recipe.parse(document)
    assert recipe.task.length == 3
    assert recipe.training.optimizer == Adam(learning_rate=0.1)
    assert recipe.training.schedule == Cosine(warmup=0.5)


def change(**tables):
    return {**SMALL, **tables}


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (change(trainig={}), "unknown key 'trainig': did you mean 'training'?"),
        (change(training={"stepps": 5}), "unknown key 'training.stepps': did you mean 'steps'?"),
        (
            change(training={"steps": "many"}),
            "training.steps = 'many' is not allowed, it should be a valid integer",
        ),
        (
            change(training={"precision": "float16"}),
            "training.precision = 'float16' is not allowed, it should be 'float32', 'bfloat16' or 'float64'",
        ),
        (change(training={"steps": 0}), "greater than or equal to 1"),
        (
            change(training={"schedule": "cosin"}),
            "training.schedule.kind = 'cosin' is not known: did you mean 'cosine'?",
        ),
        (
            change(training={"optimizer": {"kind": "adam", "lr": 1}}),
            "unknown key 'training.optimizer.lr'",
        ),
        (change(task={"name": "sun"}), "task.name = 'sun' is not known: did you mean 'sum'? (of a plug-in"),
        (change(task={"name": "sum", "length": 0}), "task.length = 0 is not allowed"),
        (change(model={"kind": "positional", "heads": 5}), "multiple of heads"),
        (change(model="posional"), "did you mean 'positional'"),
        ({"name": "x", "model": "positional"}, "'task' is missing: add it"),
        (change(name="../x"), "name = '../x' is not allowed"),
        (change(version=VERSION + 1), "upgrade ordinate"),
        (change(evaluation={"axes": {"hops": [1]}}), "evaluation.axes.hops: task 'sum' has no axis 'hops'"),
        (
            change(training={"pick": {"axis": "hops", "value": 1}}),
            "training.pick.axis: task 'sum' has no axis 'hops'",
        ),
        (change(training={"pick": {"axis": "length"}}), "training.pick.value"),
        (change(evaluation={"axes": {"scale": ["a"]}}), "evaluation.axes.scale = 'a' is not allowed"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(document, line):
    with pytest.raises(OrdinateError) as error:
        Recipe.parse(document)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_byte_order_mark_in_front_is_passed_over(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(tomli_w.dumps(SMALL), encoding="utf-8-sig")
    assert Recipe.read(path) == Recipe.parse(SMALL)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("x = " + "[" * 2000, "nested more than 100 deep"),
        ("a" + ".a" * 200 + " = 1", "nested"),
        (None, "there is no recipe"),
        ("a = = 3", "is not a TOML document"),
        ("\xff\xfe", "is not"),
    ],
)
def test_files_that_are_no_recipes(tmp_path, content, line):
    path = tmp_path / "recipe.toml"
    if content is not None:
        path.write_bytes(content.encode("latin-1"))
    with pytest.raises(OrdinateError, match=line):
        Recipe.read(path)


@pytest.mark.parametrize("text", ["training.steps", "=3", "a..b=3"])
def test_changes_that_are_not_understood(text):
    with pytest.raises(OrdinateError, match=r"write --set training\.steps=100"):
        apply_change({}, text)
