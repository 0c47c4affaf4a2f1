"""The figures of the limits of positional attention: all stored, from enough seeds, trained in the time promised."""

import pytest

from ordinate.papers import FIGURES
from tests.papers.stored import STORED, stored

ELSEWHERE = {f"positional/{name}" for name in ("compiled", "depth", "value-scale")}
"""Of programs, and the figure that the others start from."""
NAMES = [name for name in FIGURES if name.startswith("positional/") and name not in ELSEWHERE]


def test_all_are_stored_from_three_seeds():
    assert set(NAMES) <= set(STORED)
    for name in NAMES:
        assert stored(name)["claims"]
        assert all(claim["exact"] or claim["seeds"] >= 3 for claim in stored(name)["claims"])


@pytest.mark.parametrize("name", NAMES)
def test_it_is_trained_in_45_minutes_on_two_cores(name):
    found = stored(name)
    assert (found.get("training_seconds") or 2 * found["wall_seconds"]) / 2 <= 45 * 60
