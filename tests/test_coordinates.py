"""Coordinates: what tasks and positions both speak of."""

import pytest

from ordinate.coordinates import Coordinates


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
