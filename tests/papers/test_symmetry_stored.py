"""The stored figures of the symmetry paper: all there, three seeds behind every verdict, within the promised time."""

import json
from pathlib import Path

import pytest

from ordinate.papers import FIGURES
from ordinate.papers.trained import Trained

RESULTS = Path(__file__).parents[2] / "results"
NAMES = [
    name for name, figure in FIGURES.items() if name.startswith("symmetry/") and isinstance(figure, Trained)
]
LONG = {f"symmetry/{name}" for name in ("fig-5a", "fig-5b", "fig-5c", "fig-5d", "fig-7b")}
"""Multipliers of three digits."""
SHARED = {f"symmetry/{name}" for name in ("table-1", "fig-11", "fig-12")}
"""Drawn from the models of other figures."""
TIMED = [name for name in NAMES if name not in SHARED]


def stored(name):
    return json.loads((RESULTS / name / "result.json").read_text(encoding="utf-8"))


def minutes(name):
    """Of all trainings on two cores, each as fast as the fastest of its seeds: the machine was shared."""
    seconds = {
        tuple(curve["seconds"]) for curve in stored(name)["curves"].values()
    }  # picked and last are one
    return sum(len(each) * min(each) for each in seconds) / 60 / 2


@pytest.mark.parametrize("name", NAMES)
def test_every_trained_figure_is_stored_with_origin_and_three_seeds(name):
    document = stored(name)
    assert document["scale"] == "laptop"
    assert document["environment"]["revision"]
    assert document["environment"]["dirty"] is False
    assert document["not_ended"] == []
    assert document["settings"]["differs from the paper"]
    assert document["claims"]
    for claim in document["claims"]:
        assert claim["verdict"]
        assert claim["seeds"] >= 3


@pytest.mark.parametrize("name", TIMED)
def test_it_trains_on_two_cores_in_the_time_that_is_named(name):
    words = FIGURES[name].scales["laptop"]
    named = int(words.partition("about ")[2].split()[0])
    assert minutes(name) <= 1.1 * named, words


@pytest.mark.parametrize("name", [name for name in TIMED if "/fig-" in name])
def test_a_figure_of_the_paper_takes_twenty_minutes_or_an_hour(name):
    assert minutes(name) <= (60 if name in LONG else 20)
