"""Samples to be read, drawn or typed, and their document."""

import pytest

from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.samples import answered, drawn


@pytest.mark.parametrize("name", ["sum", "addition", "k-hop"])
def test_the_same_seed_draws_the_same_samples(name):
    one, same, other = (drawn(make_task(name), 4, seed=seed) for seed in (1, 1, 2))
    assert one.to_dict() == same.to_dict()
    assert one.to_dict()["samples"] != other.to_dict()["samples"]
    assert len(one.rows) == one.to_dict()["count"] == 4


def test_numbers_are_written_in_full_and_symbols_as_text():
    numbers = answered(make_task("sum"), "1 2.5 3").to_dict()
    assert numbers["samples"] == [{"input": [1, 2.5, 3], "target": [1, 3.5, 6.5]}]
    assert numbers["length"] == 3
    assert answered(make_task("addition"), "12+39").to_dict()["samples"][0]["target"] == "51"


def test_values_of_axes_are_in_the_document():
    assert drawn(make_task("sum"), 1, scale=3).to_dict()["scale"] == 3
    assert drawn(make_task("addition"), 1, cascade=2).to_dict()["axes"] == {"cascade": 2}
