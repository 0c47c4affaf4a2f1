"""A figure with a column of GPT-2, fine-tuned on a folder that is named, and without it."""

import pytest

from ordinate.papers import FIGURES
from ordinate.papers.positional.gpt2 import VARIABLE
from tests.papers.inline import Inline
from tests.papers.tiny_gpt2 import save_tiny_gpt2

FIGURE = FIGURES["positional/mixed-type"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The figure with GPT-2, drawn twice, and without it."""
    out, folder = tmp_path_factory.mktemp("mixed"), save_tiny_gpt2(tmp_path_factory.mktemp("gpt2"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder))
        first = FIGURE.reproduce("smoke", out, engine=Inline())
        left = FIGURE.jobs("smoke", out)
        patch.delenv(VARIABLE)
        return first, left, FIGURE.reproduce("smoke", out, engine=Inline())


def test_the_column_is_there_where_a_folder_is_named(made):
    document = made[0].document
    titles = {sheet["title"]: [line["label"] for line in sheet["lines"]] for sheet in document["sheets"]}
    assert titles == {
        "min, names of training": ["positional", "standard", "GPT-2", "prices alone"],
        "min, unseen names": ["positional", "standard", "GPT-2", "prices alone"],
        "GPT-2: percentage error": ["GPT-2, min"],
        "GPT-2: numbers": ["GPT-2, min"],
    }
    assert made[1] == []
    numbers = document["sheets"][3]["lines"][0]
    assert len(numbers["values"][0]) == 10
    assert not numbers["failed"]
    assert all(0 <= share <= 1 for share in numbers["values"][0])
    sentences = [claim.sentence for claim in made[0].claims]
    assert sum("better than GPT-2" in sentence for sentence in sentences) == 2
    notes = " ".join(FIGURE.all_notes(document))
    assert "left out of its errors" in notes
    assert "2 layers of width 32" in notes
    assert "GPT-2 is left out" not in notes
    assert "adamw" in document["settings"]["optimizer"]


def test_the_column_is_left_out_where_none_is_and_the_report_says_so(made):
    document = made[2].document
    assert [[line["label"] for line in sheet["lines"]] for sheet in document["sheets"]] == [
        ["positional", "standard", "prices alone"],
        ["positional", "standard", "prices alone"],
    ]
    said = [note for note in FIGURE.all_notes(document) if "GPT-2" in note]
    assert len(said) == 1
    assert f"GPT-2 is left out: at this scale it is fine-tuned only where {VARIABLE} names" in said[0]
    assert "GPT-2 is left out" in made[2].files["html"].read_text()
    assert not any("GPT-2" in claim.sentence for claim in made[2].claims)
