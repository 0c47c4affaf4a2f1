"""A run is a folder; equal recipes share it; it can be found again by a part of its name."""

import tomllib
from pathlib import Path

import pytest

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store, recipe_key
from ordinate.lab.runs.engine import _context
from tests.lab.runs import process_jobs

RECIPE = {
    "name": "sum-positional",
    "task": {"name": "sum", "length": 8, "scale": None},
    "model": {"kind": "positional", "heads": [2, 2]},
    "training": {"batch": 256, "rate": 2e-3},
}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs")


class TestOpen:
    def test_the_folder_holds_the_recipe_and_the_record(self, store):
        run = store.open(RECIPE, seed=3)
        assert run.path == store.root / f"sum-positional-{recipe_key(RECIPE)}" / "seed-3"
        assert run.id == f"sum-positional-{recipe_key(RECIPE)}/seed-3"
        assert (run.seed, run.status) == (3, "new")
        on_disk = tomllib.loads((run.path / "recipe.toml").read_text())
        assert on_disk == run.recipe == {**RECIPE, "task": {"name": "sum", "length": 8}}
        assert {"created", "updated", "environment", "status"} <= run.record().keys()

    def test_opening_again_keeps_what_is_there(self, store):
        store.open(RECIPE, seed=0).update(status="done", step=10)
        run = store.open(RECIPE, seed=0)
        assert (run.status, run.record()["step"]) == ("done", 10)

    def test_the_key_depends_on_values_and_not_on_order_name_or_none(self):
        other_order = {key: RECIPE[key] for key in reversed(RECIPE)} | {"name": "other", "extra": None}
        assert recipe_key(other_order) == recipe_key(RECIPE)
        assert recipe_key({**RECIPE, "training": {"batch": 128, "rate": 2e-3}}) != recipe_key(RECIPE)
        assert len(recipe_key(RECIPE)) == 10

    def test_the_key_is_that_of_the_recipe_on_disk(self, store):
        recipe = {**RECIPE, "odd": {"tiny": 1e-300, "one": 1.0, "text": 'a "b" \\ ü\n', "inf": float("inf")}}
        run = store.open(recipe, seed=0)
        assert recipe_key(run.recipe) == recipe_key(recipe)

    @pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "-x", "a b", "a\n", None, 3])
    def test_a_name_that_cannot_be_a_folder_is_refused(self, store, name):
        with pytest.raises(OrdinateError, match="a recipe cannot be named"):
            store.open({**RECIPE, "name": name}, seed=0)
        assert not store.root.exists()

    def test_a_negative_seed_is_refused(self, store):
        with pytest.raises(OrdinateError, match="a seed cannot be -1"):
            store.open(RECIPE, seed=-1)

    def test_a_value_that_toml_cannot_hold_is_refused_with_its_place(self, store):
        with pytest.raises(OrdinateError, match=r"the recipe's task\.length is a complex"):
            store.open({**RECIPE, "task": {"length": 1j}}, seed=0)
        with pytest.raises(OrdinateError, match=r"model\.heads holds None in a list"):
            store.open({**RECIPE, "model": {"heads": [1, None]}}, seed=0)

    def test_a_recipe_edited_in_the_folder_is_noticed(self, store):
        run = store.open(RECIPE, seed=0)
        text = (run.path / "recipe.toml").read_text()
        (run.path / "recipe.toml").write_text(text.replace("256", "512"))
        with pytest.raises(OrdinateError, match="was edited since the run was made"):
            store.open(RECIPE, seed=0)

    def test_a_root_that_is_a_file_is_named(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(OrdinateError, match=r"cannot write .*file"):
            Store(tmp_path / "file").open(RECIPE, seed=0)


class TestFind:
    def test_by_id_by_prefix_and_by_path(self, store):
        run = store.open(RECIPE, seed=1)
        for text in (run.id, run.id + "/", "sum-pos", run.id[:-2], str(run.path), run.path):
            assert store.find(text).id == run.id

    def test_a_whole_id_wins_over_longer_ones(self, store):
        for seed in (1, 10):
            store.open(RECIPE, seed=seed)
        assert store.find(f"sum-positional-{recipe_key(RECIPE)}/seed-1").seed == 1

    def test_a_prefix_of_several_lists_them(self, store):
        for seed in range(7):
            store.open(RECIPE, seed=seed)
        with pytest.raises(OrdinateError, match=r"begins 7 runs: .*seed-0, .*seed-4 and 2 more"):
            store.find("sum")

    def test_a_misspelt_name_gets_the_nearest(self, store):
        store.open(RECIPE, seed=0)
        store.open({**RECIPE, "name": "min-standard"}, seed=0)
        with pytest.raises(OrdinateError, match="did you mean 'sum-positional'"):
            store.find("sum-positonal")
        with pytest.raises(OrdinateError, match=r"did you mean 'sum-positional-[0-9a-f]{10}/seed-0'"):
            store.find(f"sum-positional-{recipe_key(RECIPE)}/seed0")
        with pytest.raises(OrdinateError, match=r"known: min-standard-.*, sum-positional-"):
            store.find("quux")

    @pytest.mark.parametrize(
        "text", ["x", "", ".", "*", "..", "/", "~nobody-of-this-name/x", "a\0b", "a" * 5000]
    )
    def test_an_empty_store_says_so(self, store, text):
        with pytest.raises(OrdinateError):
            store.find(text)

    def test_dots_never_lead_out_of_the_root(self, store, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        store.open(RECIPE, seed=0)
        outside = Store(tmp_path / "other").open(RECIPE, seed=5)
        inside = store.root / "x"
        inside.mkdir()
        for text in (f"../other/{outside.id}", f"x/../../other/{outside.id}", "../other", "../../etc/passwd"):
            with pytest.raises(OrdinateError, match="there is no run"):
                store.find(text)

    def test_an_explicit_path_of_a_run_elsewhere_is_taken(self, store, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        other = Store(tmp_path / "other")
        outside = other.open(RECIPE, seed=5)
        run = store.find(f"other/{outside.id}")
        assert run.path == outside.path
        run.update(status="done")
        assert [record.status for record in other.runs()] == ["done"]
        assert store.runs() == []

    def test_a_run_found_by_a_relative_path_is_that_of_the_store(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        store = Store("runs")
        run = store.open(RECIPE, seed=0)
        assert store.find(f"runs/{run.id}").path == Path("runs") / run.id


class TestLock:
    def test_a_second_process_is_refused_until_the_first_is_gone(self, store):
        context = _context()
        ours, theirs = context.Pipe()
        holder = context.Process(target=process_jobs.hold_lock, args=(store.root, 0, theirs))
        holder.start()
        assert ours.poll(60)
        pid = ours.recv()
        run = store.open({"name": "sum"}, 0)
        message = rf"another process is training this run \(pid {pid}\)"
        with pytest.raises(OrdinateError, match=message), run.lock():
            pass
        with store.open({"name": "sum"}, 1).lock():  # another run is free
            pass
        holder.kill()
        holder.join()
        with run.lock():
            pass

    def test_leaving_the_block_releases_the_lock_also_on_errors(self, store):
        run = store.open(RECIPE, seed=0)
        with pytest.raises(ValueError, match="loss"), run.lock():
            raise ValueError("loss is not a number")
        with run.lock():
            pass
