"""Patterns by spans of candidates are those of all pairs, in time and memory that grow with what is attended."""

import random
import time
import tracemalloc
import weakref
from contextlib import nullcontext

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ordinate.coordinates import Coordinates, layout
from ordinate.errors import OrdinateError
from ordinate.relations import (
    BoundRelation,
    Places,
    absolute,
    aligned,
    asked,
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

FIELDS = ("a", "b", "c")


def near(q, k):
    return (q.ordinate - k.ordinate).abs() <= 1


def sums(q, k):
    return torch.where(q.index >= k.index, (q.ordinate + k.ordinate) % 3, -1)


def drawn_fields(draw):
    return draw.sample(FIELDS, draw.randint(1, 3))


def drawn_simple(draw):
    by = draw.choice(("ordinate", "index"))
    far = draw.choice((0, 1, 2, 3, 50))
    return draw.choice(
        (
            lambda: relative(by=by, clip=draw.choice((None, 1, 3)), cyclic=draw.random() < 0.5),
            lambda: aligned(*draw.choice(((), drawn_fields(draw))), by=by),
            lambda: uniform(*drawn_fields(draw)),
            absolute,
            lambda: leap(*draw.choice(((), drawn_fields(draw))), back=draw.randint(1, 3)),
            lambda: window(far, draw.randint(0, 4), by=by, cyclic=draw.random() < 0.5),
            lambda: window(draw.randint(0, 3), far, *drawn_fields(draw), by=by, cyclic=draw.random() < 0.3),
            lambda: causal(by=by),
            lambda: between(draw.choice((None, "a", ("a", "c"))), draw.choice((None, "b", ("b", "a")))),
            everywhere,
            itself,
            lambda: where(draw.choice((near, sums))),
        )
    )()


def drawn_relation(draw, depth):
    if not depth or draw.random() < 0.3:
        return drawn_simple(draw)
    one, other = drawn_relation(draw, depth - 1), drawn_relation(draw, depth - 1)
    return one * other if draw.random() < 0.6 else one | other


def drawn_tokens(draw):
    """0 to 40 tokens: fields in stretches or mixed, ordinates up, down, negative, repeated or apart."""
    tokens = draw.choice((0, 1, 2, draw.randint(3, 40)))
    field = [draw.randint(0, 2) for _ in range(tokens)]
    if draw.random() < 0.6:
        field.sort()
    spread = draw.choice((3, 20, 200))
    ordinate = [draw.randint(-spread // 2, spread) for _ in range(tokens)]
    if draw.random() < 0.6:
        ordinate = sorted(range(tokens), reverse=draw.random() < 0.5)
    return Coordinates(FIELDS, field, ordinate)


def all_pairs(relation, coordinates):
    """The definition: ask about every pair, queries in a column and keys in a row, one by one in the order of pairs."""
    places = Places.of(coordinates)
    said = relation.relate(places.column(), places.row())
    tokens = len(coordinates)
    pairs = [(i, j) for i in range(tokens) for j in range(tokens) if said.attended[i, j]]
    label = [tuple(int(n[pair]) for n in said.label) if said.classed[pair] else None for pair in pairs]
    return pairs, label


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_patterns_by_span_are_those_of_all_pairs(start, monkeypatch):
    for seed in range(start, start + 50):
        draw = random.Random(seed)
        monkeypatch.setattr(asked, "PAIRS_AT_ONCE", draw.choice((1, 7, 2**18)))
        loop = draw.choice((0, 0, 1, 3, 40))
        relation = drawn_relation(draw, draw.randint(0, 3)) | itself()
        coordinates = drawn_tokens(draw)
        unlooped = sorted({label for label in all_pairs(relation, coordinates)[1] if label})
        bound = BoundRelation(relation, coordinates)
        assert bound.labels == unlooped, relation

        pairs, label = all_pairs(relation.at_loop(loop), coordinates)
        if not set(label) - {None} <= set(unlooped):
            with pytest.raises(OrdinateError, match="has no class"):
                bound.at_loop(loop).pattern(coordinates)
            continue
        pattern = bound.at_loop(loop).pattern(coordinates)
        assert list(zip(pattern.query.tolist(), pattern.key.tolist(), strict=True)) == pairs, relation
        number = {name: n for n, name in enumerate(unlooped)} | {None: pattern.plain}
        assert pattern.label.tolist() == [number[name] for name in label], relation
        dense = torch.full_like(pattern.dense, -1)
        for block in pattern.blocks:
            for run in block.runs:
                for query in range(run.first, run.last):
                    assert dense[query, query + run.shift] == -1
                    dense[query, query + run.shift] = block.classes[run.slot]
        assert torch.equal(dense, pattern.dense), relation


def test_what_is_not_made_of_others_asks_about_no_pair_that_it_does_not_attend_to():
    for seed in range(300):
        draw = random.Random(seed)
        relation, coordinates = drawn_simple(draw), drawn_tokens(draw)
        asked_about = sum(int(span.counts.sum()) for span in relation.candidates(Places.of(coordinates)))
        if relation.name == "where":
            assert asked_about == len(coordinates) ** 2
        else:
            assert asked_about == len(all_pairs(relation, coordinates)[0]), relation


LINEAR = {
    "window": (window(back=5), ("text",)),
    "both ways around a ring": (relative(cyclic=True) * window(2, 2, by="index", cyclic=True), ("text",)),
    "aligned": (aligned("a", "b") * window(back=4), ("a", "b")),
    "aligned, then itself": (aligned("a") * window(back=4) | itself(), ("a", "b")),
    "leap": (leap("a", back=7), ("a",)),
    "clipped": (relative(clip=2) * causal() * window(3), ("text",)),
    "a function in a window": (window(back=5) * where(near), ("text",)),
    "text beside numbers": (between("text", "text") * window(1, 1) | aligned("a") * window(2), ("a", "text")),
}


@pytest.mark.parametrize("name", LINEAR)
def test_time_and_memory_grow_with_the_tokens(name):
    relation, fields = LINEAR[name]

    def measured(tokens):
        coordinates = layout(**{field: tokens // len(fields) for field in fields})
        begun = time.process_time()
        pattern = relation.bind(coordinates).pattern(coordinates)
        assert pattern.blocks
        return time.process_time() - begun, len(pattern.query)

    measured(1000)
    (short, few), (long, many) = (
        min((measured(tokens) for _ in range(3)), key=lambda found: found[0]) for tokens in (16_000, 64_000)
    )
    assert 3.9 * few < many < 4.1 * few
    assert long < 8 * short + 0.05  # asking about all pairs takes 16 times as long


class Living(TorchDispatchMode):
    """Counts the bytes of all tensors that are alive at once."""

    def __init__(self):
        super().__init__()
        self.tensors, self.most = [], 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        made = out if isinstance(out, tuple | list) else (out,)
        self.tensors += [weakref.ref(tensor) for tensor in made if isinstance(tensor, torch.Tensor)]
        self.tensors = [found for found in self.tensors if found() is not None]
        storages = [tensor.untyped_storage() for found in self.tensors if (tensor := found()) is not None]
        self.most = max(
            self.most, sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())
        )
        return out


def test_memory_is_that_of_some_numbers_for_every_pair(monkeypatch):
    monkeypatch.setattr(asked, "PAIRS_AT_ONCE", 2**14)
    monkeypatch.setattr("ordinate.coordinates._disable_current_modes", nullcontext)
    relation, coordinates = aligned("a") * window(back=5), layout(a=50_000)
    with Living() as living:
        pattern = relation.bind(coordinates).pattern(coordinates)
    assert 3 * 8 * len(pattern.query) <= living.most <= 9 * 8 * len(pattern.query)
    with Living() as living:
        assert pattern.blocks
    assert living.most <= 12 * 8 * len(pattern.query)


def test_long_layouts_are_cheap_keys():
    tracemalloc.start()
    one, other = (
        layout(text=500_000, number=range(500_000, 0, -1)),
        layout(text=500_000, number=range(500_000, 0, -1)),
    )
    assert one == other
    assert hash(one) == hash(other)
    assert {one: "kept"}[other] == "kept"
    assert tracemalloc.get_traced_memory()[1] < 100 * 10**6  # a hundred bytes a token
    tracemalloc.stop()
    begun = time.process_time()
    for _ in range(1000):
        hash(one)
    assert time.process_time() - begun < 0.1
