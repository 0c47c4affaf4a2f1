from pathlib import Path

import pytest

from ordinate.errors import OrdinateError
from ordinate.lab.training import Recipe, find_recipe, shipped
from ordinate.lab.training.shipped import about, times


def test_a_name_and_a_path_are_the_same_recipe():
    path = shipped()["sum-positional"]
    assert Recipe.read("sum-positional") == Recipe.read(path) == Recipe.read(str(path))


def test_a_file_goes_before_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sum-positional").write_text("mine")
    assert find_recipe("sum-positional") == Path("sum-positional")


@pytest.mark.parametrize("near", ["own.toml", "addition-1000"])
def test_a_misspelt_one_is_answered_with_the_nearest_file_or_name(near, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.toml").touch()
    with pytest.raises(OrdinateError, match=f"did you mean '{near}'"):
        find_recipe(near[:-1])


@pytest.mark.parametrize("name", shipped())
def test_every_recipe_says_what_it_is_and_has_a_time(name):
    assert len(about(shipped()[name])) > 20
    assert times()["hours"][name] > 0


def test_times_are_those_of_the_recipes_there_are():
    assert set(times()["hours"]) == set(shipped())
