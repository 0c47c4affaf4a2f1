"""Encodings: the interface, and the laws that all of them keep."""

import inspect
import pickle
import re
from functools import lru_cache

import pytest
import torch
from pydantic import Field
from torch import nn
from torch.func import functional_call

from ordinate.attention.dot_product import attention_scores, attention_weights
from ordinate.coordinates import Coordinates
from ordinate.encodings import ENCODINGS, Alibi, BuildSpec, Combined, Encoding, OneHot, Pairs, Pairwise, Rope
from ordinate.encodings.helpers import Cache
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.models import ResidualEncoder
from ordinate.relations import BoundRelation, aligned, causal, relative, window


def tokens(length: int) -> Coordinates:
    """Longer sequences begin with the tokens of shorter ones."""
    return Coordinates.of(text=range(3), multiplier=range(2), sign=range(1), number=range(length))


SHORT, LONG = tokens(7), tokens(124)
SPEC = BuildSpec(trained=(tokens(5), SHORT), layers=2, heads=4, head_dim=6)

DEFINED = {
    **{name: {} for name in ("none", "sinusoidal", "rope", "randomized", "abacus", "coupling")},
    **{
        name: {}
        for name in ("t5", "alibi", "kerple-log", "kerple-power", "fire", "rpe-lin", "rpe-log", "dape")
    },
    "shaw": {"clip": 4},
    "upe": {"clip": 4},
    "significance": {"reach": 3},
    "pairwise": {"relation": {"kind": "relative", "clip": 4}},
}
REFUSED = {
    **{name: {} for name in ("one-hot", "binary", "learned", "shaw", "upe", "significance", "pairwise")},
    "randomized": {"furthest": 20},
    "abacus": {"furthest": 20},
    "coupling": {"furthest": 20},
}
RANDOM = ("randomized", "abacus", "coupling")


def build(name, spec=SPEC, **options) -> Encoding:
    torch.manual_seed(0)
    return choose({"kind": name, **options}, ENCODINGS, "model.encoding").build(spec)


@lru_cache
def material(count, width):
    """Random tokens, and maps to queries and keys; drawn once, outside of any `vmap`."""
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=generator) for shape in ((2, count, 3), (width, 6), (2, 4, 1, 6))]


def scores(encoding, coordinates, layer=1):
    """Of random tokens, through everything that an encoding can do."""
    tokens, first, maps = material(len(coordinates), 3 + encoding.extra_features)
    mixed = encoding.embed(tokens, coordinates) @ first
    query, key = encoding.rotate(mixed[:, None] * maps[0], mixed[:, None] * maps[1], coordinates)
    found = attention_scores(
        query, key, pairs=encoding.pairs(coordinates, layer), bias=encoding.bias(coordinates, layer)
    )
    return encoding.scores(found, coordinates, layer)


def all_finite(name, found):
    """Whether all scores are numbers; rpe-log, as published, hides every token from itself and nothing else."""
    hidden = torch.eye(found.shape[-1], dtype=torch.bool) & (name == "rpe-log")
    return bool((found.isfinite() == ~hidden).all()) and not found.isnan().any()


def permuted(coordinates, order):
    return Coordinates(
        coordinates.fields,
        tuple(coordinates.field[i] for i in order),
        tuple(coordinates.ordinate[i] for i in order),
    )


def test_every_encoding_is_tried_beyond_the_trained_length():
    assert set(DEFINED) | set(REFUSED) == set(ENCODINGS)


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_says_what_it_is(name):
    kind = ENCODINGS[name]
    assert kind.name == name
    assert kind.extrapolation.split(":")[0] in ("refused", "defined")
    assert "arXiv" in kind.source
    assert "Example: `encoding = " in kind.__doc__


@pytest.mark.parametrize("name", ENCODINGS)
def test_settings_survive_a_recipe(name):
    for options in (DEFINED.get(name, {}), REFUSED.get(name, {})):
        settings = choose({"kind": name, **options}, ENCODINGS, "model.encoding")
        for mode in ("python", "json"):
            assert choose(settings.model_dump(mode=mode), ENCODINGS, "model.encoding") == settings


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_keeps_the_shapes_of_the_interface(name):
    encoding, count = build(name), len(SHORT)
    x, q = torch.randn(3, count, 2, dtype=torch.float64), torch.randn(3, 4, count, 6)
    embedded = encoding.embed(x, SHORT)
    assert embedded.shape == (3, count, 2 + encoding.extra_features)
    assert embedded.dtype == x.dtype
    assert torch.equal(embedded[..., :2], x)
    assert [r.shape for r in encoding.rotate(q, q, SHORT)] == [q.shape, q.shape]
    groups = encoding.pairs(SHORT, 0)
    assert sum(group.heads for group in groups) in (0, 4)
    for group in groups:
        if group.vectors is not None:
            assert group.vectors.shape in (
                (1, group.pattern.classes, 6),
                (group.heads, group.pattern.classes, 6),
            )
    bias = encoding.bias(SHORT, 0)
    assert bias is None or bias.shape == (4, count, count)
    assert all_finite(name, scores(encoding, SHORT))


@pytest.mark.parametrize("name", ENCODINGS)
def test_gradients_reach_every_parameter(name):
    encoding = build(name)
    if not list(encoding.parameters()):
        return
    total = sum(attention_weights(scores(encoding, SHORT, layer)).square().sum() for layer in (0, 1))
    total.backward()
    for parameter in encoding.parameters():
        assert parameter.grad.isfinite().all()
        assert parameter.grad.abs().sum() > 0


@pytest.mark.parametrize("name", [name for name in ENCODINGS if name not in RANDOM])
def test_members_of_an_ensemble_share_a_pass(name):
    members = [build(name), build(name)]
    with torch.no_grad():
        for parameter in members[1].parameters():
            parameter.mul_(1.5)
    if not list(members[0].parameters()):
        return
    names = dict(members[0].named_parameters())
    stacked = {key: torch.stack([dict(m.named_parameters())[key] for m in members]) for key in names}

    material(len(SHORT), 3 + members[0].extra_features)

    class Scores(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoding = members[0]

        def forward(self):
            return scores(self.encoding, SHORT)

    together = torch.vmap(
        lambda p: functional_call(Scores(), {f"encoding.{key}": value for key, value in p.items()}, ())
    )(stacked)
    # After: what was kept from the pass in common must be of use to each alone.
    torch.testing.assert_close(together, torch.stack([scores(member, SHORT) for member in members]))


@pytest.mark.parametrize("name", DEFINED)
def test_defined_encodings_work_at_ten_times_the_trained_length_and_keep_what_they_said(name):
    """Tokens appended do not change the values between old tokens."""
    assert len(LONG) == 10 * len(SHORT)
    encoding, old = build(name, **DEFINED[name]).eval(), len(SHORT)
    assert all_finite(name, scores(encoding, LONG))
    if name == "randomized":  # by design, positions are spread over the whole length
        return
    x, q = torch.randn(2, len(LONG), 1), torch.randn(2, 4, len(LONG), 6)
    assert torch.equal(encoding.embed(x, LONG)[:, :old], encoding.embed(x[:, :old], SHORT))
    turned = encoding.rotate(q, q, LONG)[0][..., :old, :]
    torch.testing.assert_close(turned, encoding.rotate(q[..., :old, :], q[..., :old, :], SHORT)[0])
    for long, short in zip(encoding.pairs(LONG, 1), encoding.pairs(SHORT, 1), strict=True):
        assert torch.equal(long.pattern.dense[:old, :old], short.pattern.dense)
    if encoding.bias(SHORT, 1) is not None:
        torch.testing.assert_close(encoding.bias(LONG, 1)[:, :old, :old], encoding.bias(SHORT, 1))


@pytest.mark.parametrize("name", REFUSED)
def test_refused_lengths_say_the_length_and_what_to_do_in_one_line(name):
    encoding = build(name, **REFUSED[name]).eval()
    with pytest.raises(OrdinateError, match=r"130 tokens.*[:;] (evaluate|use|write) ") as refusal:
        scores(encoding, LONG)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["t5", "alibi", "kerple-log", "kerple-power", "fire", "dape", "shaw"])
def test_the_shift_law_contributions_depend_on_differences_only(name):
    encoding = build(name, **DEFINED[name])
    bias = encoding.bias(LONG, 1)
    found = [bias] if bias is not None else [group.pattern.dense[None] for group in encoding.pairs(LONG, 1)]
    for values in found:
        torch.testing.assert_close(values[:, 1:, 1:], values[:, :-1, :-1])
        assert len(values[0].unique()) > 4


def test_classes_by_significance_do_not_change_when_ordinates_move():
    moved = Coordinates(SHORT.fields, SHORT.field, tuple(o + 5 for o in SHORT.ordinate))
    for settings in (build("significance"), build("pairwise", relation=aligned())):
        for here, there in zip(settings.pairs(SHORT, 0), settings.pairs(moved, 0), strict=True):
            assert torch.equal(here.pattern.dense, there.pattern.dense)


@pytest.mark.parametrize("name", ["none", "abacus", "coupling", "significance"])
def test_the_permutation_law_coordinates_decide_and_not_the_place_in_the_sequence(name):
    encoding = build(name).eval()
    order = torch.randperm(len(SHORT)).tolist()
    x, other = torch.randn(2, len(SHORT), 2), permuted(SHORT, order)
    assert torch.equal(encoding.embed(x, SHORT)[:, order], encoding.embed(x[:, order], other))
    for here, there in zip(encoding.pairs(SHORT, 0), encoding.pairs(other, 0), strict=True):
        assert torch.equal(here.pattern.dense[order][:, order], there.pattern.dense)


@pytest.mark.parametrize("base", [relative(clip=4), aligned() * window(back=2, by="index")])
def test_absent_pairs_have_weight_exactly_zero(base):
    encoding = Pairwise(relation=base * causal()).build(SPEC)
    for coordinates in (SHORT, tokens(6)):
        weights = attention_weights(scores(encoding, coordinates))
        assert (weights.triu(1) == 0).all()
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


def test_a_list_of_relations_splits_the_heads_evenly_in_order():
    relations = (relative(clip=2), window(back=3, by="index"))
    encoding = Pairwise(relation=list(relations), per_head=False).build(SPEC)
    first, second = encoding.pairs(SHORT, 1)
    assert (first.heads, second.heads) == (2, 2)
    assert first.vectors.shape == (1, 5, 6)
    assert second.vectors is None
    for relation, group in zip(relations, (first, second), strict=True):
        assert torch.equal(group.pattern.dense, BoundRelation(relation, [SHORT]).pattern(SHORT).dense)
    with pytest.raises(OrdinateError, match="3 relations for 4 heads: write"):
        Pairwise(relation=[relative()] * 3).build(SPEC)
    with pytest.raises(OrdinateError, match=r"model.encoding.relation.kind = 'relativ' .* 'relative'"):
        choose({"kind": "pairwise", "relation": "relativ"}, ENCODINGS, "model.encoding")


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        (
            "upe",
            {"fields": ["multiplicand"]},
            r"no field 'multiplicand' .*: write fields = .* of text, multiplier, sign, number",
        ),
        ("abacus", {"fields": ["x"]}, r"no field 'x'.*write fields = \[...\]"),
        ("abacus", {"furthest": 4}, "'number 4' at 13 tokens: .*furthest = 7 or more"),
        ("significance", {"special": 5}, "special = 5 is more than the 4 heads"),
        ("randomized", {"furthest": 5}, "13 tokens, .* end at 5: write"),
        ("t5", {"buckets": 8, "furthest": 2}, "furthest > buckets / 4"),
    ],
)
def test_what_cannot_be_built_is_said_in_one_line(name, options, match):
    with pytest.raises(OrdinateError, match=match):
        build(name, **options)


def test_sequences_without_numbers_are_refused_by_encodings_of_numbers():
    words = BuildSpec(trained=(Coordinates.of(text=range(4), dummy=range(1)),), heads=2)
    for name in ("abacus", "coupling", "significance"):
        with pytest.raises(OrdinateError, match="needs a field of numbers, these sequences have text, dummy"):
            build(name, spec=words)


def test_combined_encodings_do_what_each_of_them_does():
    both = Combined(OneHot().build(SPEC), Rope().build(SPEC))
    x, q = torch.randn(2, len(SHORT), 1), torch.randn(2, 2, len(SHORT), 8)
    assert torch.equal(both.embed(x, SHORT), OneHot().build(SPEC).embed(x, SHORT))
    assert torch.equal(both.rotate(q, q, SHORT)[0], Rope().build(SPEC).rotate(q, q, SHORT)[0])
    assert both.pairs(SHORT, 0) == ()
    assert both.bias(SHORT, 0) is None
    assert not both.random
    assert Combined(OneHot().build(SPEC), build("abacus")).random


def test_combined_biases_add_up_and_classes_of_two_are_refused():
    class Biased(Encoding):
        def bias(self, coordinates, layer):
            return torch.ones(2, 13, 13)

    class Related(Biased):
        def pairs(self, coordinates, layer):
            return (Pairs(2, BoundRelation(relative(), [coordinates]).pattern(coordinates)),)

    both = Combined(Related(), Biased())
    assert len(both.pairs(SHORT, 0)) == 1
    assert torch.equal(both.bias(SHORT, 0), torch.full((2, 13, 13), 2.0))
    with pytest.raises(OrdinateError, match="one encoding at most can have a relation"):
        Combined(Related(), Related())


def test_a_cache_computes_once_and_forgets_the_oldest():
    cache, made = Cache[int](most=2), []
    for key in (1, 1, 2, 3, 3, 1):
        cache(key, lambda key=key: made.append(key) or key)
    assert made == [1, 2, 3, 1]
    assert len(cache) == 2


class Nearby(Encoding, name="nearby"):
    """For tests: one class, with its settings as fields.

    What stands here is not in the summary.
    """

    reach: int = Field(default=2, ge=1, description="distances from here on are alike")
    fields: tuple[str, ...] = ()

    def check_settings(self):
        if self.reach > 100:
            raise ValueError(f"must have reach <= 100, got {self.reach}")

    def setup(self, spec):
        self.table = nn.Parameter(torch.zeros(spec.heads, self.reach + 1))

    def bias(self, coordinates, layer):
        place = torch.arange(len(coordinates), device=self.device)
        return self.table[:, (place[:, None] - place).abs().clamp(max=self.reach)]


def test_an_encoding_is_one_class_with_its_settings_as_fields():
    encoding = Nearby(reach=4)
    assert (encoding.reach, encoding.fields) == (4, ())
    assert Nearby.summary == "For tests: one class, with its settings as fields"
    assert not list(encoding.parameters())
    built = encoding.build(SPEC)
    assert type(built) is Nearby
    assert built.table.shape == (4, 5)
    assert built.bias(SHORT, 0).shape == (4, len(SHORT), len(SHORT))
    assert repr(encoding) == "Nearby(reach=4, fields=())"


def test_settings_are_a_value():
    settings = Nearby(reach=4).settings
    assert settings == Nearby(reach=4).settings != Nearby().settings
    assert hash(settings) == hash(Nearby(reach=4).settings)
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert settings.model_dump(mode="json") == {"kind": "nearby", "reach": 4, "fields": []}
    assert settings.build(SPEC).table.shape == (4, 5)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            {"reach": 0},
            "Nearby.reach = 0 is not allowed, it should be greater than or equal to 1 (reach: distances",
        ),
        ({"reech": 3}, "unknown key 'Nearby.reech': did you mean 'reach'?"),
        ({"reach": 101}, "Nearby: must have reach <= 100, got 101"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(options, line):
    with pytest.raises(OrdinateError, match=re.escape(line)) as refusal:
        Nearby(**options)
    assert "\n" not in str(refusal.value)


def test_a_setting_cannot_have_the_name_of_a_part_of_the_interface():
    with pytest.raises(OrdinateError, match=r"Wrong.bias is annotated.* write `bias = ...`"):

        class Wrong(Encoding, name="wrong"):
            bias: bool = True


def test_a_model_takes_an_encoding_its_settings_a_name_or_a_table():
    given = (Alibi(), Alibi().settings, "alibi", {"kind": "alibi"}, [Alibi()])
    assert len({ResidualEncoder(encoding=value) for value in given}) == 1


@pytest.mark.parametrize("shape", [(3, 7, 7), (4, 1, 7), (7, 7), (4, 7, 8)])
def test_a_bias_of_the_wrong_shape_is_refused_where_it_is_written(shape):
    class Own(Encoding, name="own"):
        def bias(self, coordinates, layer):
            return torch.zeros(shape)

    line = inspect.getsourcelines(Own.bias)[1]
    with pytest.raises(OrdinateError) as refusal:
        Own().build(BuildSpec(trained=(tokens(9), tokens(1)), heads=4))
    assert str(refusal.value) == (
        f"{__file__}, line {line}: bias of Own has shape {list(shape)} with 4 heads and 7 tokens: "
        "return [4, 7, 7], or [1, 7, 7] for all heads alike"
    )
