"""Every stored figure is drawn from its document alone."""

import shutil

import pytest

from ordinate.papers import rewrite_report
from tests.papers.test_stored import RESULTS

STORED = sorted(str(path.parent.relative_to(RESULTS)) for path in RESULTS.glob("*/*/result.json"))


@pytest.mark.parametrize("name", STORED)
def test_a_stored_figure_is_drawn_without_computing(name, tmp_path):
    shutil.copy(RESULTS / name / "result.json", tmp_path)
    result = rewrite_report(tmp_path)
    for claim, kept in zip(result.claims, result.document["claims"], strict=True):
        assert claim.to_dict() | kept == claim.to_dict()  # older documents say less
    assert result.files["html"].stat().st_size < 5_000_000
