"""Relations as values, bound to layouts or to none, and worked out in one call."""

import json
import math
from functools import reduce
from operator import or_

import pytest
import torch
from torch._subclasses import FakeTensorMode

import ordinate.relations
from ordinate.coordinates import Coordinates, layout
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.relations import (
    RELATIONS,
    BoundRelation,
    absolute,
    aligned,
    between,
    causal,
    everywhere,
    itself,
    leap,
    relative,
    uniform,
    where,
    window,
)

VALUES = [
    relative(),
    relative(by="ordinate", clip=3, cyclic=True),
    aligned("first", "second") * window(back=4),
    aligned(by="index") * window(2, 1, "it's", "b", by="index"),
    uniform("multiplier") | (aligned("digit") | relative()) * window(0, 3, cyclic=True),
    leap("a", back=4) | leap() | itself(),
    causal() * (causal(by="ordinate") * everywhere()),
    absolute() | (between("a") | between(None, ("a", "b"))),
]


@pytest.mark.parametrize("relation", VALUES, ids=str)
def test_a_relation_is_a_value(relation):
    again = eval(repr(relation), vars(ordinate.relations))
    assert again == relation
    assert hash(again) == hash(relation)
    assert {relation: 1}[again] == 1
    assert relation != relation * everywhere()
    assert choose(json.loads(relation.model_dump_json()), RELATIONS, "relation") == relation


# Bound without layouts

LAYOUTS = [
    layout(number=30),
    layout(number=list(range(29, -1, -1))),
    layout(first=9, second=9, answer=10),
    layout(answer=10, number=12, second=9, first=9),
    layout(first=list(range(20, -1, -1)), number=9, second=list(range(20, -1, -1)), answer=40),
]

FINITE = {
    aligned("first", "second") * window(back=4): 4 * 5,
    aligned("number") * window(back=2, ahead=1): 4,
    aligned("number") * window(back=2) | between("answer", "answer") | itself(): 3,
    relative(clip=3): 7,
    relative(clip=3) | aligned("number"): 7,
    between("number", "number") | relative(clip=2) | itself(): 5,
    relative(by="ordinate") * window(back=2): 3,
    leap("first", "second"): 8,
    leap("number", back=5): 2,
    window(back=3) | itself(): 0,
    causal() * everywhere(): 0,
}


@pytest.mark.parametrize("relation", FINITE, ids=str)
def test_relations_that_bound_their_distances_know_their_classes(relation):
    bound = (relation | itself()).bind()
    assert bound.classes == FINITE[relation]
    seen = BoundRelation(
        relation | itself(), [c for c in LAYOUTS if set(relation.named_fields()) <= set(c.fields)]
    )
    assert seen.labels == bound.labels
    names = bound.names
    for c in LAYOUTS:
        pattern = bound.pattern(c)
        direct = (relation | itself()).bind(
            Coordinates(c.fields + relation.named_fields(), c.field, c.ordinate)
        )
        expected, own = direct.pattern(direct.trained[0]), direct.names
        assert pattern.classes == bound.classes
        assert torch.equal(pattern.dense < 0, expected.dense < 0)
        assert [names[n] for n in pattern.label.tolist() if n != pattern.plain] == [
            own[n] for n in expected.label.tolist() if n != expected.plain
        ]


@pytest.mark.parametrize("name", ["number", "text", "token"])
@pytest.mark.parametrize(
    ("relation", "classes"),
    [
        (aligned() * window(back=2), 3),
        (relative() * window(back=5), 6),
        (leap(), 2),
        (aligned() * causal() * window(1, 1), 2),
    ],
    ids=str,
)
def test_a_relation_that_names_no_field_is_over_one_field_of_any_name(relation, classes, name):
    c = layout(**{name: 9})
    bound = relation.bind()
    assert bound.classes == classes
    alone = relation.bind(c)
    assert torch.equal(bound.pattern(c).dense, alone.pattern(c).dense)


@pytest.mark.parametrize(
    "relation",
    [
        relative(),
        aligned(),
        aligned("number"),
        uniform("number"),
        absolute(),
        where(lambda q, k: q.ordinate % 2 + 0 * k.ordinate),
        aligned("a", "b") * window(2, by="index"),
    ],
    ids=str,
)
def test_relations_whose_classes_grow_ask_for_layouts(relation):
    with pytest.raises(OrdinateError, match=r"write trained=od\.layout\((token|number|a)=8\)") as error:
        relation.bind()
    assert "\n" not in str(error.value)
    assert (relation | itself()).bind(layout(number=5, a=2, b=2)).classes


def test_classes_that_no_layout_told_of_are_refused():
    near = (relative() * window(back=2)).bind()
    with pytest.raises(OrdinateError, match=r"no class '\d+ (back|ahead)' at 6 tokens: .* write trained="):
        near.pattern(layout(first=3, second=3))
    with pytest.raises(OrdinateError, match=r"uses \d+ differences between tokens: write trained="):
        (window(2**20) * window(2**20, by="index") * aligned("a", "b")).bind()


# In one call


def test_on_gives_the_pattern_of_a_layout_with_its_own_classes():
    near, c = aligned("number") * window(back=2), layout(number=5)
    pattern = near.on(c)
    assert pattern is near.on(layout(number=5))
    assert (pattern.tokens, pattern.classes, pattern.keys_per_query) == (5, 3, 12 / 5)
    assert near.on(layout(number=2)).classes == 2
    assert near.on(layout(number=2), trained=[layout(number=3), c]).classes == 3
    assert near.on(layout(number=2), trained=c) is near.on(layout(number=2), trained=c)


def test_show_takes_a_number_of_tokens():
    assert window(1).show(3) == window(1).show(layout(token=3))
    assert aligned("digit").show(3) == aligned("digit").show(layout(digit=3))
    with pytest.raises(OrdinateError, match=r"names 2 fields: write show\(od\.layout\(a=3, b=3\)\)"):
        aligned("a", "b").show(3)


# Nothing at all, and what cannot be


@pytest.mark.parametrize(
    "relation", [relation for relation in VALUES if not relation.named_fields()], ids=str
)
def test_no_tokens_have_no_pairs(relation):
    for empty in (layout(), layout(number=0)):
        pattern = relation.on(empty)
        assert (pattern.tokens, len(pattern.query), pattern.dense.shape) == (0, 0, (0, 0))
        assert pattern.keys_per_query == 0
        assert sum(len(block.runs) for block in pattern.blocks) == 0
        assert relation.show(0)
    assert (relation | itself()).bind([layout(), layout(number=3)]).pattern(layout()).tokens == 0


REFUSED = {
    "no layout": (lambda: window(1).bind([]), r"window\(back=1\) is bound to no layout: write at least one"),
    "a field that is not there": (
        lambda: aligned("numbre").on(layout(number=3)),
        r"aligned\('numbre'\): there is no field 'numbre' among 'number': did you mean 'number'\?",
    ),
    "a field that is not there later": (
        lambda: (aligned("number") * window(1)).bind().pattern(layout(text=3)),
        r"there is no field 'number' among 'text': known: text",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_one_line(name):
    ask, line = REFUSED[name]
    with pytest.raises(OrdinateError, match=line) as error:
        ask()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("of", [5, "window", [], None, {"kind": "window"}, [5], [[]], math.nan])
@pytest.mark.parametrize("kind", ["product", "union"])
def test_parts_that_are_no_list_of_relations_are_refused(kind, of):
    with pytest.raises(OrdinateError) as error:
        choose({"kind": kind, "of": of}, RELATIONS, "relation")
    assert "\n" not in str(error.value)
    assert repr(of) in str(error.value) or repr(of[0]) in str(error.value)


def test_relations_inside_one_another_without_end_are_refused():
    assert len(reduce(or_, [window(1)] * 60 + [itself()]).on(layout(a=3)).query) == 5
    with pytest.raises(OrdinateError, match="more than 64 relations are nested"):
        reduce(or_, [window(1)] * 100)
    deep = "itself"
    for _ in range(400):
        deep = {"kind": "union", "of": [deep]}
    with pytest.raises(OrdinateError, match="more than 64 relations are nested"):
        choose(deep, RELATIONS, "relation")


@pytest.mark.parametrize(
    "kind",
    [
        {"kind": "window", "back": 10**30},
        {"kind": "leap", "back": 2**60},
        {"kind": "relative", "clip": 2**80},
    ],
)
def test_distances_beyond_any_sequence_are_refused(kind):
    with pytest.raises(OrdinateError, match="less than or equal to 1048576"):
        choose(kind, RELATIONS, "relation")


@pytest.mark.parametrize(
    "mode",
    [FakeTensorMode, torch.inference_mode, lambda: torch.device("meta")],
    ids=["fake", "inference", "meta"],
)
def test_patterns_are_ordinary_tensors_whoever_asks_first(mode):
    relation, c = aligned("a") * window(2) | itself(), Coordinates.of(a=range(5))
    with mode():
        pattern = relation.bind().pattern(c)
        assert pattern.blocks
        assert len(pattern.dense) == 5
    with torch.inference_mode(False):
        expected = relation.bind(c).pattern(Coordinates.of(a=range(5)))
    assert torch.equal(pattern.dense, expected.dense)
    assert pattern.blocks == expected.blocks
    assert not pattern.label.is_inference()
