"""Coordinates: what tasks and positions both speak of."""

import pickle

import numpy as np
import pytest
import torch

from ordinate.coordinates import Coordinates, _ordinates, layout
from ordinate.errors import OrdinateError


def test_fields_are_laid_one_after_another():
    c = Coordinates.of(first=range(2), second=[5, 4])
    assert (c.field, c.ordinate, c.fields) == ((0, 0, 1, 1), (0, 1, 5, 4), ("first", "second"))
    assert c.field_tensor.tolist() == [0, 0, 1, 1]
    assert c.ordinate_tensor.tolist() == [0, 1, 5, 4]


def test_equal_coordinates_are_one_key():
    kept = {Coordinates.of(number=range(3)): "kept"}
    assert kept[Coordinates.of(number=range(3))] == "kept"
    assert Coordinates.of(number=range(4)) not in kept


def test_appending_joins_fields_of_the_same_name():
    c = Coordinates.of(a=[0], b=[0]) + Coordinates.of(b=[1], c=[0])
    assert c.fields == ("a", "b", "c")
    assert c.field == (0, 1, 1, 2)


def test_labels_name_field_and_ordinate():
    assert Coordinates.of(number=range(3)).label(2) == "number 2"


def test_a_token_without_ordinate_is_refused():
    with pytest.raises(ValueError, match="every token needs a field and an ordinate"):
        Coordinates(("a",), (0, 0), (0,))


def test_a_field_that_has_no_name_is_refused():
    with pytest.raises(ValueError, match="field numbers must index"):
        Coordinates(("a",), (0, 1), (0, 0))


def test_what_is_given_does_not_matter_only_the_numbers():
    c = Coordinates.of(a=range(3))
    for given in ([0, 1, 2], (0, 1, 2), torch.arange(3), np.arange(3, dtype=np.int32), iter((0, 1, 2))):
        again = Coordinates.of(a=given)
        assert (again, hash(again), repr(again)) == (c, hash(c), repr(c))
    assert c == pickle.loads(pickle.dumps(c))
    assert c == eval(repr(c))
    assert c != Coordinates.of(b=range(3))
    assert c != "Coordinates"
    assert len(Coordinates.of()) == 0


@pytest.mark.parametrize("given", [[2**70], [2**63], torch.zeros(2, 2).long()])
def test_ordinates_that_are_no_whole_numbers_are_refused(given):
    with pytest.raises(ValueError, match="ordinates must be whole numbers, one for each token"):
        Coordinates.of(a=given)


def test_a_layout_is_said_by_sizes_or_ordinates():
    assert layout(first=2, second=[5, 4]) == Coordinates.of(first=range(2), second=[5, 4])
    assert layout(text=range(1, 3), other=torch.tensor([7])).ordinate == (1, 2, 7)
    assert len(layout()) == len(layout(number=0)) == 0


@pytest.mark.parametrize("given", [-1, True, 1.5, "ten", None, (3, 4), [0.5], [2**70], 10**18, ["a"] * 100])
def test_a_layout_that_cannot_be_is_refused_in_one_line(given):
    with pytest.raises(
        OrdinateError, match=r"^layout\(number=.*\): write how many tokens it has, number=8, or"
    ) as error:
        _ordinates("number", given)  # of any type, which the checks of annotations would refuse
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200
