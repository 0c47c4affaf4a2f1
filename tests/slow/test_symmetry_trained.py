"""Trained figures of the symmetry paper, small: one store, what is drawn, what a table has."""

import json

import numpy as np
import pytest

from ordinate.papers import FIGURES, rewrite_report
from tests.papers.inline import Inline


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Figures of every kind, small, in one store."""
    out = tmp_path_factory.mktemp("symmetry")
    names = ("symmetry/fig-2c", "symmetry/fig-8a", "symmetry/fig-4c", "symmetry/fig-11", "symmetry/table-1")
    return {name: FIGURES[name].reproduce("smoke", out, engine=Inline()) for name in names}


def test_small_runs_give_documents_without_verdicts(made):
    for result in made.values():
        assert all(claim.verdict is None for claim in result.claims)
        assert result.claims
        assert result.files["png"].stat().st_size > 5000
    again = rewrite_report(made["symmetry/fig-11"].files["json"].parent)
    assert again.document == json.loads(again.files["json"].read_text())


def test_runs_are_shared_in_one_store(made):
    seconds = [made[f"symmetry/{name}"].document["wall_seconds"] for name in ("fig-8a", "fig-11", "table-1")]
    assert seconds == [None] * 3 or max(s for s in seconds if s is not None) < 60
    folder = made["symmetry/fig-2c"].files["json"].parents[2] / "runs"
    assert (
        len([path for path in folder.iterdir() if path.is_dir()]) == 4
    )  # ape-shifted, rpe, and rpe, upe of products


def test_the_picked_checkpoint_and_the_last_are_both_shown(made):
    document = made["symmetry/fig-2c"].document
    assert list(document["curves"]) == ["ape-shifted", "ape-shifted, last", "rpe", "rpe, last"]
    assert document["curves"]["rpe"]["picked"]["point"] == "length=7"
    assert [row[0] for row in document["table"]["rows"]] == list(document["curves"])
    assert any(
        "the last one is shown beside it" in note for note in FIGURES["symmetry/fig-2c"].all_notes(document)
    )


def test_only_the_axis_of_the_figure_is_drawn(made):
    result = made["symmetry/fig-8a"]
    assert len(FIGURES["symmetry/fig-8a"].draw(result.document).axes) == 1
    assert result.table[0][4:6] == ["1", "5"]
    assert "longest cascade" in result.document["table"]["caption"]


def test_maps_name_their_rows(made):
    document = made["symmetry/fig-11"].document
    rpe, upe = document["curves"]["rpe"], document["curves"]["upe"]
    assert "1 ahead" in rpe["names"]
    assert "any to multiplier 0" in upe["names"]
    assert np.array(rpe["layers"]).shape == (1, len(rpe["names"]), 8)
    assert 0 < rpe["dispersion"][0][0] <= 1
    assert 0 < rpe["with_start"][0][0] <= 1
    moved = np.abs(np.array(rpe["layers"])).max()
    assert 0 < moved < 0.05  # a few steps from a start of 0.02 that is taken away


def test_table_1_has_a_row_for_every_digit(made):
    rows = made["symmetry/table-1"].table[1]
    assert [row[0] for row in rows] == ["shifted", "uniform", *(f"digit {n}" for n in range(1, 9))]
    assert rows[0][3] == "99.7 %"
