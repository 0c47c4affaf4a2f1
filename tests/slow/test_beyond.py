"""Far past the trained lengths, small."""

from ordinate.papers import FIGURES
from tests.papers.inline import Inline


def test_a_scale_without_aims_says_that_one_seed_is_no_verdict(tmp_path):
    figure = FIGURES["beyond/addition-in-text"]
    result = figure.reproduce("smoke", tmp_path, engine=Inline())
    assert result.document["note"] == "one seed, no verdict"
    assert "one seed, no verdict" in result.files["html"].read_text()
