"""The trained figures of the symmetry paper: all stored, with what differs from it, trained in the time promised."""

import pytest

from ordinate.papers import FIGURES
from tests.papers.stored import STORED, stored

NAMES = [name for name, figure in FIGURES.items() if name.startswith("symmetry/") and figure.plan is not None]
THREE_DIGITS = {f"symmetry/{name}" for name in ("fig-5a", "fig-5b", "fig-5c", "fig-5d", "fig-7b")}
SHARED = {f"symmetry/{name}" for name in ("table-1", "fig-11", "fig-12")}
"""Drawn from the models of other figures."""
TIMED = [name for name in NAMES if name not in SHARED]


def minutes(name):
    """On two cores: jobs go to whichever is free, each as fast as the fastest of its seeds (the machine was shared)."""
    trained = dict.fromkeys(tuple(curve["seconds"]) for curve in stored(name)["curves"].values())
    cores = [0.0, 0.0]
    for seconds in trained:  # a picked and a last checkpoint are of one training
        for _ in seconds:
            cores[cores.index(min(cores))] += min(seconds)
    return max(cores) / 60


def test_all_are_stored_with_what_differs():
    assert set(NAMES) <= set(STORED)
    for name in NAMES:
        assert stored(name)["settings"]["differs from the paper"]
        assert stored(name)["claims"]
        assert all(claim["seeds"] >= 3 for claim in stored(name)["claims"])


@pytest.mark.parametrize("name", TIMED)
def test_it_trains_in_the_time_that_is_named(name):
    words = FIGURES[name].scales["laptop"]
    named = int(words.partition("about ")[2].split()[0])
    assert minutes(name) <= 1.1 * named, words


@pytest.mark.parametrize("name", [name for name in TIMED if "/fig-" in name])
def test_a_figure_of_the_paper_takes_twenty_minutes_or_an_hour(name):
    assert minutes(name) <= (60 if name in THREE_DIGITS else 20)


def test_models_that_are_trained_for_different_times_are_told_apart():
    assert stored("symmetry/fig-7b")["settings"]["steps"] == "4500 (text), 6500 (upe)"
    assert stored("symmetry/fig-5b")["settings"]["steps"] == 6500
