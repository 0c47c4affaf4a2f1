"""Relations that are refused, and those that a task does not have: one line each, or a counterexample."""

import re

import pytest
import torch

from ordinate.coordinates import Coordinates
from ordinate.encodings import Learned, Pairwise
from ordinate.errors import OrdinateError
from ordinate.lab.structure import check
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.numbers import Numbers
from ordinate.models import ResidualEncoder, build_model
from ordinate.relations import (
    BoundRelation,
    absolute,
    aligned,
    relative,
    uniform,
    where,
    window,
)


def near_the_start(q, k):
    return (q.ordinate - k.ordinate <= 3) & (k.ordinate < 3)


def by_row(q, k):
    return torch.arange(len(q.field)) - k.ordinate + 100


def of_no_shape(q, k):
    return torch.ones(3, 1, 1, dtype=torch.bool)


def of_all_rows(q, k):
    return torch.arange(len(q.field))[:, None] - k.ordinate + 100


def broken(q, k):
    return q.significance


def digits(n):
    return Coordinates.of(digit=range(n))


REFUSED = {
    "a query without any key": (
        where(near_the_start),
        r"where\(near_the_start\) leaves 'digit 6' without any key at 9 tokens: add `\| itself\(\)`",
    ),
    "a class never trained": (
        aligned(),
        r"aligned\(\) has no class 'digit to digit, \d (back|ahead)' at 9 tokens: training had 11 classes",
    ),
    "a distance never trained": (relative(), r"relative\(\) has no class '\d (back|ahead)' at 9 tokens"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_lengths_that_a_relation_cannot_reach_are_refused(name):
    relation, line = REFUSED[name]
    bound = BoundRelation(relation, [digits(6)])
    bound.pattern(digits(6))
    for ask in (lambda: bound.pattern(digits(9)), lambda: _through_a_model(relation)):
        with pytest.raises(OrdinateError, match=line.replace("digit", r"\w+")) as error:
            ask()
        assert "\n" not in str(error.value)
    assert ("refused" in bound.beyond(digits(9))) == ("never trained" in name)


def _through_a_model(relation):
    settings = ResidualEncoder(layers=1, heads=1, width=4, encoding=(Pairwise(relation=(relation,)),))
    task = make_task("sum", length=6)
    build_model(settings, task, seed=0)(torch.zeros(1, 9, 1), task.coordinates(9))


@pytest.mark.parametrize(
    ("relation", "line"),
    [
        (
            where(by_row),
            r"where\(by_row\) depends on .* not in the coordinates of 'number 0' and 'number 2' at 6 tokens",
        ),
        (where(of_no_shape), r"where\(of_no_shape\) must give a value for every pair"),
        (where(of_all_rows), r"where\(of_all_rows\) must give a value for every pair"),
        (where(broken), r"where\(broken\) cannot be asked about pairs: AttributeError"),
        (aligned("numbre"), r"aligned\('numbre'\): there is no field 'numbre' among 'number': did you mean"),
        (
            window(2, 0, "numbre"),
            r"window\(.*\): there is no field 'numbre' among 'number': did you mean 'number'\?",
        ),
        (uniform("x") | relative(), r"there is no field 'x' among 'number': known: number"),
    ],
    ids=str,
)
def test_relations_that_cannot_be_are_refused_at_once(relation, line):
    bind = lambda: BoundRelation(relation, [make_task("sum").coordinates(6)])  # noqa: E731
    for ask in (bind, lambda: _through_a_model(relation)):
        with pytest.raises(OrdinateError, match=line) as error:
            ask()
        assert "\n" not in str(error.value)


def test_learned_positions_end_where_training_did():
    task = make_task("addition", digits=2, width=3)
    model = build_model(ResidualEncoder(layers=1, width=8, encoding=(Learned(),)), task, seed=0)
    batch = task.sample(1, generator=torch.Generator().manual_seed(0), length=9)
    with pytest.raises(OrdinateError, match=r"\b21\b") as error:
        model(batch.input, batch.coordinates)
    assert "\n" not in str(error.value)


# Does a task have the structure?


class FromTheFirst(Numbers):
    """Every number plus the first one: by distance, no two places act alike."""

    name = "from-the-first"
    summary = "every number plus the first"

    def reference(self, inputs, coordinates=None):
        return inputs + inputs[:, :1]


def test_check_finds_nothing_against_a_relation_that_fits():
    assert check(aligned() * window(4), make_task("addition", digits=5), layers=4) == []


def test_check_shows_a_counterexample_to_what_cannot_be_reached():
    (finding,) = check(aligned() * window(0), make_task("addition", digits=5), layers=4)
    assert finding.rule == "reach"
    assert re.search(
        r"the answer at 'second \d' depends on '(first|second) \d', which 4 layers do not", str(finding)
    )
    sums = re.findall(r"(\d+) \+ (\d+) gives (\d+)", finding.example)
    assert len(sums) == 2
    assert all(int(a) + int(b) == int(c) for a, b, c in sums)
    (a, b, one), (c, d, other) = sums
    assert one != other
    assert (a == c) != (b == d)  # one digit of one number was changed


def test_check_shows_pairs_of_a_class_that_do_not_act_alike():
    task = FromTheFirst(length=5)
    findings = check(relative(), task, layers=1)
    assert {finding.rule for finding in findings} == {"alike"}
    two = next(f for f in findings if "'2 back'" in f.message)
    assert two.example.startswith("'number 2' from 'number 0' changes in 100.00%")
    assert check(uniform("number"), task, layers=1)[0].rule == "alike"
    assert check(absolute(), task, layers=1) == []
