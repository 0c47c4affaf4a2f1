"""Relations against obvious double loops, and the laws of their algebra."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.coordinates import Coordinates
from ordinate.encodings import Pairwise
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.structure import reach
from ordinate.lab.tasks import make_task
from ordinate.models import ResidualEncoder, build_model
from ordinate.relations import (
    ABSENT,
    RELATIONS,
    BoundRelation,
    Places,
    absolute,
    aligned,
    between,
    causal,
    everywhere,
    itself,
    relative,
    uniform,
    where,
    window,
)

FEW = settings(max_examples=15)
# The run-time checks of annotations draw from `random`, inside strategies too.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")


def one_back(q, k):
    return q.ordinate - k.ordinate == 1


def parity(q, k):
    return torch.where(q.ordinate >= k.ordinate, (q.ordinate + k.ordinate) % 2, -1)


@st.composite
def coordinates(draw, most=6):
    """One to three fields of drawn sizes, each with ordinates up, down or shifted."""
    fields = {}
    for name in draw(st.sampled_from([("a",), ("a", "b"), ("b", "a", "c")])):
        size, start = draw(st.integers(1, most)), draw(st.integers(0, 2))
        ordinates = range(start, start + size)
        fields[name] = tuple(reversed(ordinates)) if draw(st.booleans()) else tuple(ordinates)
    return Coordinates.of(**fields)


class Token:
    def __init__(self, coordinates, index):
        self.f, self.o, self.i = (
            coordinates.fields[coordinates.field[index]],
            coordinates.ordinate[index],
            index,
        )


def around(d, n):
    """The short way around a ring."""
    return next(e for e in range(-(n // 2), n - n // 2) if (e - d) % n == 0)


PLAIN = "plain"

RULES = {
    # each rule gives a label, PLAIN, or None for absent
    "relative": (relative(), lambda q, k, n: q.i - k.i),
    "relative by ordinate": (relative(by="ordinate"), lambda q, k, n: q.o - k.o),
    "clipped": (relative(clip=2), lambda q, k, n: min(2, max(-2, q.i - k.i))),
    "cyclic": (relative(cyclic=True), lambda q, k, n: around(q.i - k.i, n)),
    "aligned": (aligned(), lambda q, k, n: (q.f, k.f, q.o - k.o)),
    "aligned in a": (
        aligned("a"),
        lambda q, k, n: (q.f, k.f, q.o - k.o) if q.f == k.f == "a" else None,
    ),
    "uniform": (uniform("a"), lambda q, k, n: (k.f, k.o) if k.f == "a" else None),
    "absolute": (absolute(), lambda q, k, n: (q.f, q.o, k.f, k.o)),
    "window": (window(2, 1), lambda q, k, n: PLAIN if -1 <= q.o - k.o <= 2 else None),
    "window in a": (
        window(1, 0, "a"),
        lambda q, k, n: PLAIN if 0 <= q.o - k.o <= 1 and q.f == k.f == "a" else None,
    ),
    "cyclic window": (
        window(1, 1, by="index", cyclic=True),
        lambda q, k, n: PLAIN if -1 <= around(q.i - k.i, n) <= 1 else None,
    ),
    "causal": (causal(), lambda q, k, n: PLAIN if q.i >= k.i else None),
    "causal by ordinate": (causal(by="ordinate"), lambda q, k, n: PLAIN if q.o >= k.o else None),
    "between": (between("a", ("a", "b")), lambda q, k, n: PLAIN if q.f == "a" and k.f in "ab" else None),
    "between any": (between(None, "a"), lambda q, k, n: PLAIN if k.f == "a" else None),
    "everywhere": (everywhere(), lambda q, k, n: PLAIN),
    "itself": (itself(), lambda q, k, n: PLAIN if q.i == k.i else None),
    "where true": (where(one_back), lambda q, k, n: PLAIN if q.o - k.o == 1 else None),
    "where class": (where(parity), lambda q, k, n: (q.o + k.o) % 2 if q.o >= k.o else None),
}


def said(relation, c):
    """What a relation says of every pair, as a double loop would write it: None, PLAIN or a label."""
    places = Places.of(c)
    attended, classed, label = relation.relate(places.column(), places.row())
    return [
        [
            None if not attended[i, j] else tuple(int(n[i, j]) for n in label) if classed[i, j] else PLAIN
            for j in range(len(c))
        ]
        for i in range(len(c))
    ]


def assert_same(found, expected):
    """Equal up to the names of the classes."""
    names = {}
    for a, b in zip(itertools.chain(*found), itertools.chain(*expected), strict=True):
        assert (a is None, a == PLAIN) == (b is None, b == PLAIN)
        assert names.setdefault(a, b) == b
    assert len(set(names.values())) == len(names)


@pytest.mark.parametrize("name", RULES)
@FEW
@given(c=coordinates())
def test_every_relation_is_its_double_loop(name, c):
    relation, rule = RULES[name]
    tokens = [Token(c, i) for i in range(len(c))]
    assert_same(said(relation, c), [[rule(q, k, len(c)) for k in tokens] for q in tokens])


relations = st.sampled_from([relation for relation, _ in RULES.values()])


@given(relations, relations, coordinates())
def test_in_a_union_the_first_that_attends_wins(a, b, c):
    rows = zip(said(a, c), said(b, c), strict=True)
    expected = [
        [x if x == PLAIN else (0, x) if x is not None else y if y in (None, PLAIN) else (1, y) for x, y in r]
        for r in (zip(*row, strict=True) for row in rows)
    ]
    assert_same(said(a | b, c), expected)


@given(relations, relations, coordinates())
def test_in_a_product_absent_wins_and_classes_are_pairs(a, b, c):
    rows = zip(said(a, c), said(b, c), strict=True)
    expected = [
        [None if x is None or y is None else PLAIN if x == y == PLAIN else (x, y) for x, y in r]
        for r in (zip(*row, strict=True) for row in rows)
    ]
    assert_same(said(a * b, c), expected)


@given(relations, coordinates(), st.integers(0, 3))
def test_a_window_restricts_and_keeps_the_classes(a, c, back):
    expected = [
        [x if y is not None else None for x, y in zip(*row, strict=True)]
        for row in zip(said(a, c), said(window(back), c), strict=True)
    ]
    assert_same(said(a * window(back), c), expected)
    assert_same(said(window(back) * a, c), expected)


@given(relations, relations, coordinates().filter(lambda c: "b" in c.fields))
def test_patterns_blocks_and_runs_hold_the_same_pairs(a, b, c):
    relation = a | b | itself()
    bound = BoundRelation(relation, [c])
    pattern = bound.pattern(c)
    assert pattern is bound.pattern(c)
    dense = [[None if x == ABSENT else PLAIN if x == pattern.plain else x for x in r] for r in pattern.dense]
    assert_same([[x if x in (None, PLAIN) else int(x) for x in r] for r in dense], said(relation, c))
    found = torch.full_like(pattern.dense, ABSENT)
    assert [b.first for b in pattern.blocks] == list(pattern.bounds[:-1])
    for block in pattern.blocks:
        for run in block.runs:
            assert block.first <= run.first < run.last <= block.last
            for query in range(run.first, run.last):
                assert found[query, query + run.shift] == ABSENT
                found[query, query + run.shift] = block.classes[run.slot]
    assert torch.equal(found, pattern.dense)


@pytest.mark.parametrize(
    "relation",
    [
        aligned() * window(3),
        aligned("first", "second") * window(2, 1) | itself(),
        relative(clip=3, by="ordinate"),
        uniform("sign") | aligned() * window(1),
    ],
    ids=str,
)
@FEW
@given(long=st.integers(6, 20))
def test_classes_keep_their_numbers_at_every_length(relation, long):
    def at(n):
        return Coordinates.of(first=reversed(range(n)), sign=[0], second=reversed(range(n)))

    bound = BoundRelation(relation, [at(6)])
    short, longer = bound.pattern(at(6)), bound.pattern(at(long))
    place = {at(long).label(i): i for i in range(len(at(long)))}
    common = torch.tensor([place[at(6).label(i)] for i in range(13)])
    assert torch.equal(longer.dense[common][:, common], short.dense)
    assert longer.classes == short.classes
    assert "every class is known" in bound.beyond(at(long))


def test_patterns_are_worked_out_once_while_their_pairs_fit(monkeypatch):
    seen = [Coordinates.of(x=range(n)) for n in range(1, 101)]
    bound = BoundRelation(relative(), seen)
    first = [bound.pattern(c) for c in seen]
    assert all(bound.pattern(c) is kept for c, kept in zip(seen, first, strict=True))

    monkeypatch.setattr("ordinate.relations.bound.KEPT_PAIRS", 3 * 3 + 4 * 4)
    bound = BoundRelation(relative(), seen[:5])
    three, four = bound.pattern(seen[2]), bound.pattern(seen[3])
    assert bound.pattern(seen[2]) is three
    one = bound.pattern(seen[0])  # one pair too many: the oldest goes
    assert bound.pattern(seen[0]) is one
    assert bound.pattern(seen[3]) is four
    assert bound.pattern(seen[2]) is not three
    five = bound.pattern(seen[4])
    assert bound.pattern(seen[4]) is five


def test_how_many_classes_and_parameters_there_are():
    task = make_task("addition", digits=5, width=8)
    c = task.coordinates(5)  # fields of 8 and 9 tokens
    counts = {
        aligned() * window(4): 4 * 5,
        relative(): 2 * 17 - 1,
        relative(clip=3): 7,
        absolute(): 17**2,
        uniform("first"): 8,
        uniform("first") | relative(clip=2): 8 + 5,
        everywhere(): 0,
        where(parity): 2,
    }
    for relation, classes in counts.items():
        bound = BoundRelation(relation, [c])
        assert bound.classes == len(bound.names) == len(set(bound.names)) == classes, relation
    for per_head, tables in ((True, 4), (False, 1)):
        encoding = Pairwise(relation=(aligned() * window(4),), per_head=per_head)
        model = build_model(ResidualEncoder(layers=3, width=32, encoding=(encoding,)), task, seed=0)
        assert sum(p.numel() for p in model.encoding.parameters()) == 3 * tables * 20 * 8


@pytest.mark.parametrize(
    "relation",
    [relation for relation, _ in RULES.values()] + [uniform("a") | relative() * window(3) * causal()],
    ids=str,
)
def test_relations_come_back_from_their_dump(relation):
    for options in ({}, {"exclude_defaults": True}):
        assert choose(relation.model_dump(mode="json", **options), RELATIONS, "relation") == relation


def test_a_function_that_is_not_there_is_refused():
    with pytest.raises(
        OrdinateError, match=r"^relation.function = 'nowhere:near' is not there: import nowhere"
    ):
        choose({"kind": "where", "function": "nowhere:near"}, RELATIONS, "relation")


@given(coordinates(), st.integers(1, 4))
def test_causal_relations_never_look_ahead(c, layers):
    for relation in (relative() * causal(), (aligned() * causal()) | itself(), causal() * window(9, 9)):
        pattern = BoundRelation(relation | itself(), [c]).pattern(c)
        assert not torch.triu(reach(pattern, layers), 1).any()


def test_reach_grows_with_the_layers():
    c = Coordinates.of(digit=range(12))
    pattern = BoundRelation(window(2), [c]).pattern(c)
    for layers in (0, 1, 3):
        i, j = torch.arange(12)[:, None], torch.arange(12)
        assert torch.equal(reach(pattern, layers), (j <= i) & (j >= i - 2 * layers))


def test_show():
    c = Coordinates.of(number=(1, 0), text=range(2))
    relation = aligned("number") * window(1) | between("text", "text")
    assert relation.show(c).splitlines() == [
        "aligned('number') * window(back=1) | between('text', 'text'): 2 classes, 7 of 16 pairs attended",
        "  0  number to number, same place    2",
        "  1  number to number, 1 back        1",
        "  +  plain                           4",
        "",
        "number 1   0 1 . .",
        "number 0   . 0 . .",
        "text 0     . . + +",
        "text 1     . . + +",
    ]
    many = absolute().show(Coordinates.of(digit=range(9)), most=3)
    assert "  and 78 more" in many
    assert many.endswith("and 3 more tokens")
    assert str(between(("a", "b"), "a")) == "between(('a', 'b'), 'a')"


# What is refused, each in one line
