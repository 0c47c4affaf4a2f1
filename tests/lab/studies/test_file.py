"""Files of studies: what they say becomes recipes, and what is wrong with them is said in one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.studies import StudyPlan, read_plan
from ordinate.lab.studies.grid import merged, multiply
from ordinate.lab.studies.plan import BUDGETS, EqualParameters, EqualSamples, EqualSteps, points_of
from ordinate.lab.training import Recipe
from ordinate.lab.training.data import Data
from ordinate.models import build_model
from tests.lab.studies.files import TINY, write

plain = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
tables = st.dictionaries(st.sampled_from("abc"), plain, max_size=3)


def flat(table, prefix=()):
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from flat(value, (*prefix, key))
        else:
            yield (*prefix, key), value


@given(tables, tables)
def test_changes_win_and_nothing_else_is_lost(base, changes):
    found = dict(flat(merged(base, changes)))
    wanted = dict(flat(changes))
    assert {path: found[path] for path in wanted if wanted[path] != {}} == {
        path: value for path, value in wanted.items() if value != {}
    }
    for path, value in flat(base):
        covered = any(path[: len(other)] == other or other[: len(path)] == path for other in wanted)
        assert covered or found[path] == value


@given(
    st.dictionaries(
        st.sampled_from(["a.x", "a.y", "b"]), st.lists(st.integers(), min_size=1, max_size=3, unique=True)
    )
)
def test_a_grid_has_every_combination_once(grid):
    documents = multiply({"name": "n"}, [{"v": 1}, {"v": 2}], grid)
    count = 2
    for values in grid.values():
        count *= len(values)
    assert len(documents) == count
    assert len({str({**document, "name": ""}) for document in documents}) == count


def test_a_toml_study(tmp_path):
    grid = '\n[grid]\n"training.optimizer.learning_rate" = [1e-3, 1e-2]\n"model.width" = [4, 8]\n'
    plan = read_plan(write(tmp_path, TINY + grid))
    recipes = plan.recipes.known()
    assert [recipe.name for recipe in recipes[:2]] == [
        "a-learning_rate-0.001-width-4",
        "a-learning_rate-0.001-width-8",
    ]
    assert [(r.model.name, r.training.optimizer.learning_rate, r.model.width) for r in recipes] == [
        (kind, rate, width)
        for kind in ("positional", "standard")
        for rate in (1e-3, 1e-2)
        for width in (4, 8)
    ]
    assert (plan.seeds, plan.budget, plan.points(recipes)) == ((0, 1, 2), EqualSamples(), ["scale=3"])


def test_the_base_can_be_a_recipe_elsewhere(tmp_path):
    (tmp_path / "recipes").mkdir()
    write(tmp_path / "recipes", 'name = "mine"\n[task]\nname = "sum"\n[model]\nkind = "standard"\n', "r.toml")
    text = 'name = "s"\nseeds = [3, 7]\nbudget = {kind = "steps"}\nbase = "recipes/r.toml"\n'
    plan = read_plan(write(tmp_path, text))
    assert [recipe.name for recipe in plan.recipes.known()] == ["mine"]
    assert plan.seeds == (3, 7)


def test_a_python_study_is_run_because_it_is_named(tmp_path):
    recipe = 'Recipe.parse({"name": f"w{w}", "task": "sum", "model": {"kind": "positional", "width": w}})'
    text = (
        "from ordinate.lab.studies import StudyPlan\nfrom ordinate.lab.training import Recipe\n"
        f'plan = StudyPlan(name="w", recipes=[{recipe} for w in (4, 8)], seeds=2, budget="steps")\nsame = plan\n'
    )
    plan = read_plan(write(tmp_path, text, "widths.py"))
    assert [recipe.model.width for recipe in plan.recipes.known()] == [4, 8]
    assert plan.budget == EqualSteps()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("seeds = 3", "seed = 3", "unknown key 'seed': did you mean 'seeds'?"),
        ('budget = "samples"\n', "", "'budget' is missing: add it"),
        ('"samples"', '"sample"', "budget.kind = 'sample' is not known: did you mean 'samples'?"),
        ("seeds = 3", "seeds = []", "seeds = [] is not allowed, write how many, 1 or more, or a list"),
        ("seeds = 3", "seeds = 0", "seeds = 0 is not allowed, write how many, 1 or more, or a list"),
        ("seeds = 3", "seeds = [1, 1]", "seeds = [1, 1] names one twice"),
        ("seeds = 3", "seeds = [-1]", "seeds = -1 is not allowed"),
        ('name = "b"', 'name = "a"', "two recipes are named 'a'"),
        ('model.kind = "standard"\n', "", "recipes 'a' and 'b' are the same"),
        ('model.kind = "standard"', "model.kid = 3", "recipe 'b': unknown key 'model.kid'"),
        (
            'model.kind = "standard"',
            "training.steps = 8",
            "'b' spends 64 and 'a' 32: change training.steps or",
        ),
        ("[base]", '[compare]\nat = ["scale=9"]\n[base]', "no recipe is measured at 'scale=9'; did you mean"),
        ("[base]", '[compare]\nbaseline = "c"\n[base]', "there is no recipe 'c'; known: a, b"),
        ("[base]", 'base = "none.toml"\n[other]', "unknown key 'other'"),
        ("[[recipes]]", "[[recipe]]", "unknown key 'recipe': did you mean 'recipes'?"),
        ("[base]", "[base", "is not a TOML document"),
        ("scale = [2, 3]", "scal = [2, 3]", "has no axis 'scal'; did you mean 'scale'?"),
    ],
)
def test_what_cannot_be_a_study(tmp_path, old, new, line):
    assert old in TINY
    with pytest.raises(OrdinateError) as refused:
        read_plan(write(tmp_path, TINY.replace(old, new)))
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("none.toml", None, "there is no study"),
        ("study.json", "{}", "is no study: write the path of a .toml or .py file"),
        ("empty.py", "x = 1\n", "holds no plan: write one, plan = StudyPlan("),
        ("broken.py", "x = undefined\n", "line 1: NameError"),
        ("base.toml", 'name = "s"\nseeds = 1\nbudget = "steps"\nbase = "no.toml"\n', "cannot read the base"),
    ],
)
def test_files_that_hold_none(tmp_path, name, text, line):
    if text is not None:
        write(tmp_path, text, name)
    with pytest.raises(OrdinateError) as refused:
        read_plan(tmp_path / name)
    assert line in str(refused.value)


RECIPES = [
    {"name": "small", "model": {"kind": "positional", "width": 4, "hidden": 4}},
    {"name": "fixed", "model": {"kind": "standard", "width": 8, "hidden": 4}, "training": {"samples": 10}},
    {"name": "variable", "task": {"name": "sum", "variable": True}, "training": {"samples": 100, "steps": 7}},
]


@pytest.mark.parametrize("document", RECIPES, ids=lambda document: document["name"])
def test_what_is_spent_is_what_a_training_spends(document):
    recipe = Recipe.parse(merged({"task": {"name": "sum", "length": 4}, "model": "positional"}, document))
    training = recipe.training
    data = Data(recipe.task, batch=training.batch, samples=training.samples, seed=0)
    assert EqualSamples().spent(recipe) == training.steps * len(data.at(0).input)
    assert EqualSteps().spent(recipe) == training.steps
    model = build_model(recipe.model, recipe.task, seed=3)
    assert EqualParameters().spent(recipe) == sum(p.numel() for p in model.parameters())


@given(st.lists(st.integers(1, 300), min_size=1, max_size=4), st.floats(0, 1))
def test_a_budget_allows_what_is_within_it(steps, within):
    recipes = [
        Recipe.parse({"name": f"r{k}", "task": "sum", "model": "positional", "training": {"steps": n}})
        for k, n in enumerate(steps)
    ]
    budget = EqualSteps(within=within)
    if max(steps) <= min(steps) * (1 + within):
        budget.check(recipes)
        return
    with pytest.raises(OrdinateError, match="the budget is equal steps") as refused:
        budget.check(recipes)
    advised = float(str(refused.value).rpartition("within = ")[2].rstrip("}"))
    EqualSteps(within=advised).check(recipes)


def test_equal_parameters_can_be_equal_within_a_share(tmp_path):
    text = TINY.replace('budget = "samples"', 'budget = {kind = "parameters", within = 0.01}')
    with pytest.raises(OrdinateError, match=r"the budget is equal parameters, within 0\.01, but 'b' spends"):
        read_plan(write(tmp_path, text))
    assert read_plan(write(tmp_path, text.replace("0.01", "0.9"))).budget == EqualParameters(within=0.9)


def test_the_names_of_budgets_are_those_of_errors_and_tables():
    assert list(BUDGETS) == ["samples", "steps", "parameters"]


def test_a_plan_can_be_made_of_a_generator(tmp_path):
    plan = read_plan(write(tmp_path, TINY))
    recipes = (recipe for recipe in plan.recipes.known())
    assert (
        StudyPlan(name="again", recipes=recipes, seeds=1, budget="steps").recipes.known()
        == plan.recipes.known()
    )
    assert points_of(plan.recipes.known()[0]) == ["validation", "scale=2", "scale=3"]


def test_a_length_that_a_model_cannot_take_is_refused_before_training(tmp_path):
    text = TINY.replace("axes = {scale = [2, 3]}", "axes = {length = [9]}")
    with pytest.raises(OrdinateError, match="evaluation: "):
        read_plan(write(tmp_path, text))
