"""The arena as stored: all encodings, three seeds, within 8 hours, and cells that others can add to."""

import pytest

from ordinate.lab.runs import Store
from ordinate.lab.runs.archive import unpack
from ordinate.papers import FIGURES
from ordinate.papers.arena.cells import SIZES
from ordinate.papers.arena.contests import FACTORS
from ordinate.papers.arena.figure import cells_along
from tests.papers.stored import RESULTS, STORED, stored

NAMES = [name for name in STORED if name.startswith("arena/")]
CELLS = RESULTS / "arena-cells.zip"


@pytest.mark.parametrize("name", NAMES)
def test_every_encoding_has_its_place_and_every_seed_its_number(name):
    found = stored(name)
    assert {place["entrant"] for place in found["ranking"]} == {
        entrant.name for entrant in SIZES["laptop"].entrants
    }
    assert set(found["contests"]) == {cell.contest.name for cell in cells_along(found["axis"], "laptop")}
    assert not found["not_ended"]
    for score in found["scores"]:
        runs = score["values"]
        assert bool(score["absent"]) == (not runs)
        assert len(runs) in (0, 3)
        assert len(score["inside"]) == len(runs)
        assert all(len(along) == len(FACTORS) for along in runs)


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_in_front_is_what_a_causal_mask_says(name):
    same = {tuple(one["entrants"]): one["contests"] for one in stored(name)["same_models"]}
    assert "sum" in same["pairwise", "none, causal"]


@pytest.mark.parametrize("name", NAMES)
def test_all_cells_are_trained_in_8_hours_on_two_cores(name):
    assert stored(name)["training_seconds"] / 2 <= 8 * 3600


def test_with_the_stored_cells_nothing_is_left_to_train(tmp_path):
    unpack(CELLS, Store(tmp_path / "runs"))
    for name in NAMES:
        assert not FIGURES[name].jobs("laptop", tmp_path)
