"""Models by name, measured from Python as `ordinate evaluate` measures them."""

import pytest

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store
from ordinate.lab.zoo import evaluate, find_model


@pytest.fixture
def found(tmp_path):
    return find_model("addition-relation", Store(tmp_path))


def test_in_distribution_is_always_beside(found):
    points = evaluate(found, {"length": [12]}, count=10).points
    assert [point.in_distribution for point in points] == [True, False]


def test_an_axis_that_the_task_has_not_is_refused(found):
    with pytest.raises(OrdinateError, match="has no axis 'scale'"):
        evaluate(found, {"scale": [2]})


def test_what_is_asked_for_stays_asked_once(found):
    evaluate(found, {"length": [3]}, count=5)
    assert set(found.evaluation["axes"]) != {"length"} or found.evaluation["axes"]["length"] != [3]
