"""What paths cost: the kept file, the default where there is none, and the choice that follows."""

import json
import warnings
from dataclasses import replace

import pytest

from ordinate.attention import costs as module
from ordinate.attention import tune
from ordinate.attention.classes import costs_of, path_of
from ordinate.attention.costs import DEFAULT, Costs, costs, in_force, keep, kept_in
from ordinate.attention.tables import CPU, blocked_tables
from tests.attention.pairs import pattern_of, relative, window

OTHER = Costs(1.0, 2.0, 3.0, 4.0, 5.0)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ordinate" / "attention.json"


def in_a_new_process():
    """What is in force there: nothing was read yet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_IN_FORCE", [])
        return costs()


def test_what_is_kept_is_read_by_the_next_process(cache):
    assert in_a_new_process() == DEFAULT
    assert keep(OTHER) == cache == kept_in()
    assert costs() == DEFAULT  # this process has begun with it
    assert in_a_new_process() == OTHER
    assert [path.name for path in cache.parent.iterdir()] == ["attention.json"]


def test_other_machines_and_versions_keep_theirs(cache):
    keep(OTHER)
    ((here, numbers),) = json.loads(cache.read_text()).items()
    cache.write_text(json.dumps({"elsewhere, torch 1.0": numbers}))
    assert in_a_new_process() == DEFAULT
    keep(replace(OTHER, sparse_slot=7.0))
    assert set(json.loads(cache.read_text())) == {here, "elsewhere, torch 1.0"}


BROKEN = {
    "{": "Expecting property name",
    "[]": "it must be an object",
    '{"HERE": 3}': "it must have the numbers sparse_token",
    '{"HERE": {"sparse_token": 1}}': "it must have the numbers sparse_token",
    '{"HERE": NUMBERS}'.replace("NUMBERS", '{"a": 1}'): "it must have the numbers sparse_token",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_file_is_ignored_with_a_note(cache, text):
    keep(OTHER)
    (here,) = json.loads(cache.read_text())
    cache.write_text(text.replace("HERE", here))
    with pytest.warns(UserWarning, match=f"{cache} is ignored: {BROKEN[text]}.*`ordinate bench --tune`"):
        assert in_a_new_process() == DEFAULT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        keep(OTHER)  # and is written anew
    assert in_a_new_process() == OTHER


@pytest.mark.parametrize("number", ["1", True, None, -1.0, float("nan"), float("inf")])
def test_numbers_that_are_none_are_refused(number):
    with pytest.raises(ValueError, match="sparse_slot is"):
        Costs.of({**vars(OTHER), "sparse_slot": number})


def test_the_choice_follows_the_costs_in_force():
    pattern = window(600, 20)
    assert path_of(pattern) == "sparse"
    with in_force(replace(DEFAULT, sparse_slot=30.0)):
        assert path_of(pattern) == "blocked"
        with in_force(replace(DEFAULT, sparse_slot=30.0, blocked_score=30.0)):
            assert path_of(pattern) == "dense"
    assert path_of(pattern) == "sparse"


def test_costs_are_those_of_the_formula():
    pattern = window(1000, 20)
    tables = blocked_tables(pattern, CPU)
    found = costs_of(pattern)
    assert found["dense"] == 1000
    assert found["sparse"] == DEFAULT.sparse_token + DEFAULT.sparse_slot * 20 + DEFAULT.sparse_run * 20 / 1000
    assert found["blocked"] == pytest.approx(
        (DEFAULT.blocked_score * tables.pairs + DEFAULT.blocked_block * len(tables.blocks)) / 1000
    )


def test_where_offsets_do_not_decide_there_is_no_cost_of_blocks():
    classes = window(1000, 100).dense.clone()
    classes[500, 450] = 3
    assert set(costs_of(pattern_of(classes, count=100))) == {"dense", "sparse"}
    assert path_of(relative(1000, 3)) == "dense"  # all keys


def test_measuring_finds_costs_that_choose_the_faster_path(monkeypatch):
    """Times that are made up from known costs give these costs back."""
    wanted = Costs(20.0, 3.0, 100.0, 0.75, 4000.0)

    def seconds(attend, pattern, batch, most):
        slots, runs = tune.slots_and_runs(pattern)
        tokens, tables = pattern.tokens, blocked_tables(pattern, CPU)
        return (
            1e-9
            * {
                "dense_attention": tokens,
                "sparse_attention": 20 + (3 * slots + 100 * runs) / tokens,
                "blocked_attention": (0.75 * tables.pairs + 4000 * len(tables.blocks)) / tokens,
            }[attend.__name__]
        )

    monkeypatch.setattr(tune, "_seconds", seconds)
    lines = []
    assert tune.measured(0.0, lines.append) == wanted
    assert len(lines) == len(tune.BATCHES)


def test_measuring_on_this_machine():
    found = tune.fitted(
        [
            tune.Measured((1.0,), tune._seconds(tune.dense_attention, tune.near(16, 4), (1, 1, 4), 0.0) * 1e9)
            for _ in range(2)
        ]
    )
    assert found[0] > 0
