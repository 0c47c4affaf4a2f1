"""Memories as weights from Python: the model, and the document that `ordinate construct --json` prints."""

import pytest

from ordinate.errors import OrdinateError
from ordinate.papers.construct import adaptive_target, construct_adaptive, construct_fixed


def test_the_proof_is_the_only_construction_without_best_coefficients():
    for document in (
        construct_fixed([2], heads=3, length=8).document,
        construct_adaptive(adaptive_target(nesting=0, memories=1, length=6), heads=3, length=6).document,
    ):
        names = [(row["name"], row["coefficients"]) for row in document["constructions"]]
        assert names == [("paper", "of the proof"), ("paper", "best"), ("optimised", "best")]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"slopes": "papr"}, "there is no kind of slopes 'papr': did you mean 'paper'"),
        ({"error": 0.0}, "--error 0 is out of range"),
        ({"heads": 2, "error": 1e-6}, "heads and .* digits are enough"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(options, line):
    with pytest.raises(OrdinateError, match=line) as error:
        construct_fixed([5], length=12, **options)
    assert "\n" not in str(error.value)
