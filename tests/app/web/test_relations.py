"""The editor says what the library says of the same relation."""

import pytest

from ordinate.lab.tasks import make_task
from ordinate.lab.zoo import load_card
from ordinate.relations import ABSENT, BoundRelation, aligned, everywhere, itself, uniform, window

CASES = [
    ({"fields": ["first", "second"], "back": 4, "rest": "nothing"}, aligned("first", "second") * window(4)),
    (
        {"fields": ["first", "second"], "back": 1, "ahead": 2, "rest": "itself"},
        aligned("first", "second") * window(1, 2) | itself(),
    ),
    (
        {"uniform": ["first"], "fields": ["second"], "rest": "everywhere"},
        uniform("first") | aligned("second") | everywhere(),
    ),
    ({"rest": "everywhere"}, everywhere()),
]


@pytest.mark.parametrize(("design", "relation"), CASES)
@pytest.mark.parametrize("length", [1, 5, 12])
def test_classes_matrix_and_cost_are_those_of_the_relation(client, design, relation, length):
    found = client.post("/api/relation", json={"task": "addition", "length": length, **design}).json()
    coordinates = make_task("addition").coordinates(length)
    bound = BoundRelation(relation, [coordinates])
    assert found["text"] == str(relation)
    assert found["classes"] == bound.names
    assert found["matrix"] == bound.pattern(coordinates).dense.tolist()
    assert found["attended"] == sum(label != ABSENT for row in found["matrix"] for label in row)
    assert found["table"] == bound.parameters(16, 4, 4)
    assert len(found["tokens"]) == len(coordinates)


def test_the_model_is_that_of_the_package(client):
    found = client.post("/api/relation", json={"length": 5, **CASES[0][0]}).json()
    assert found["parameters"] == load_card("addition-relation").parameters
    assert found["beyond"] == "length 50, 103 tokens: every class is known from training"


def test_a_wider_window_costs_more_and_a_relation_without_one_is_refused_further_on(client):
    narrow, wide, without = (
        client.post(
            "/api/relation", json={"fields": ["first", "second"], "back": back, "rest": "nothing"}
        ).json()
        for back in (1, 3, None)
    )
    assert narrow["parameters"] < wide["parameters"] < without["parameters"]
    assert "refused" in without["beyond"]
