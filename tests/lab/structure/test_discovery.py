"""Discovery: the relations that tasks should have, and evidence that agrees with them."""

from itertools import pairwise

import pytest

from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.structure import influence
from ordinate.lab.structure.discovery import discover
from ordinate.lab.tasks import make_task
from ordinate.relations import RELATIONS, BoundRelation

COUNT = 20_000  # of symbols; a tenth of it for numbers
FOUND = {
    ("addition",): "aligned('first', 'second') * window(back=3)",
    ("subtraction",): "aligned('first', 'second') * window(back=3)",
    ("no-carry",): "aligned('first', 'second') * window(back=0)",
    ("several",): "aligned('first', 'second', 'third') * window(back=3)",
    ("multiplication",): "uniform('multiplier', 'sign') | aligned('multiplicand') * window(back=3)",
    (
        "multiplication",
        ("multiplier", 3),
    ): "uniform('multiplier', 'sign') | aligned('multiplicand') * window(back=6)",
    ("sum",): "between('number', 'number') * causal(by='ordinate')",
    ("median",): "between('number', 'number') * causal(by='ordinate')",
    ("sort",): "everywhere()",
    (
        "ring",
        ("places", 11),
        ("dimension", 4),
        ("filled", 11),
    ): "relative(cyclic=True) * window(back=1, ahead=1, by='index', cyclic=True)",
}


def found(key, **options):
    name, *given = key
    task = make_task(name, **dict(given))
    count = COUNT if task.family == "arithmetic" else COUNT // 10
    return task, discover(task, count=count, **options)


@pytest.mark.parametrize("key", FOUND, ids=str)
def test_the_relation_of_a_task(key):
    _, discovery = found(key)
    assert str(discovery.relation) == FOUND[key]
    document = discovery.to_dict()
    assert choose(document["relation"]["recipe"], RELATIONS, "relation") == discovery.relation
    for evidence in discovery.evidence:
        assert evidence.kept == tuple(
            sorted(d for d, rate in evidence.rates.items() if rate >= discovery.threshold)
        )


@pytest.mark.parametrize(
    ("name", "options", "count"),
    [
        ("several", {}, 2000),  # few samples: fields that are read differently, the answer is in the last
        ("several", {"digits": 3}, 1000),
        ("addition", {}, 2000),
        ("min-sum", {}, 1000),
        ("path", {"length": 9}, 1000),
    ],
)
def test_a_relation_attends_to_all_that_was_kept(name, options, count):
    task = make_task(name, **options)
    discovery = discover(task, count=count)
    length = max(task.lengths())
    coordinates, rates = influence(task.tested(), length=length, count=count, seed=0)
    attended = BoundRelation(discovery.relation, [coordinates]).pattern(coordinates).dense >= 0
    assert attended[rates >= discovery.threshold].all()


def test_fewer_samples_than_the_threshold_needs_are_refused():
    with pytest.raises(OrdinateError, match=r"500 samples cannot show a rate of 0.001: write --count 10000"):
        discover(make_task("addition"), count=500)


def test_layouts_that_change_are_refused():
    with pytest.raises(OrdinateError, match="without words and in the padded format"):
        discover(make_task("addition", words=2), count=1000)


def test_progress_is_reported():
    for key, parts in ((("addition",), 2), (("ring", ("places", 5), ("dimension", 1), ("filled", 5)), 1)):
        told = []
        found(key, report=lambda told=told, **facts: told.append((facts["step"], facts["steps"])))
        assert told[-1][0] == told[-1][1]
        assert all(before[0] < after[0] for before, after in pairwise(told))
        assert told[-1][1] % parts == 0


def test_the_same_seed_finds_the_same():
    assert found(("addition",))[1] == found(("addition",))[1]
