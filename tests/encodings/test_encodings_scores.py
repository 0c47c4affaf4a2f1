"""Encodings that enter through the scores: formulas against slow loops, class by class."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from ordinate.coordinates import Coordinates
from ordinate.encodings import (
    T5,
    Alibi,
    BuildSpec,
    Fire,
    KerpleLog,
    KerplePower,
    Shaw,
    Significance,
    Upe,
)
from ordinate.encodings.bias import bucket, slopes
from ordinate.errors import OrdinateError
from ordinate.relations import ABSENT

TOKENS = Coordinates.of(number=range(9))
SPEC = BuildSpec(trained=(TOKENS,), layers=3, heads=4, head_dim=5)


def loop(value, count=9):
    """A matrix a head, entry by entry."""
    return torch.tensor([[[value(h, i, j) for j in range(count)] for i in range(count)] for h in range(4)])


def t5_reference(ahead: int, buckets: int, furthest: int) -> int:
    half = buckets // 2
    first = half if ahead > 0 else 0
    distance, exact = abs(ahead), half // 2
    if distance < exact:
        return first + distance
    wide = exact + (half - exact) * math.log(distance / exact) / math.log(furthest / exact)
    return first + min(half - 1, math.floor(wide + 1e-9))


@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (8, 20), (6, 7), (64, 1000)])
def test_t5_buckets_against_a_reference(buckets, furthest):
    ahead = torch.arange(-2 * furthest, 2 * furthest + 1)
    assert bucket(ahead, buckets, furthest).tolist() == [
        t5_reference(d, buckets, furthest) for d in ahead.tolist()
    ]


def test_t5_shares_scalars_by_bucket_in_all_layers():
    encoding = T5(buckets=8, furthest=6).build(SPEC)
    expected = loop(lambda h, i, j: float(encoding.table.detach()[h, t5_reference(j - i, 8, 6)]))
    for layer in range(3):
        torch.testing.assert_close(encoding.bias(TOKENS, layer), expected)


def test_alibi_slopes_of_8_and_12_heads():
    eight = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert slopes(8) == eight
    assert slopes(12) == pytest.approx([*eight, *(2**-e for e in (0.5, 1.5, 2.5, 3.5))])
    assert slopes(1) == [2**-8]


def test_alibi_falls_on_both_sides():
    expected = loop(lambda h, i, j: -(2.0 ** (-2 * (h + 1))) * abs(i - j))
    torch.testing.assert_close(Alibi().build(SPEC).bias(TOKENS, 0), expected)
    assert not list(Alibi().build(SPEC).parameters())


def test_kerple_against_the_formulas():
    log, power = KerpleLog().build(SPEC), KerplePower().build(SPEC)
    for layer in range(3):
        r1, r2 = (F.softplus(free.detach())[layer] for free in (log.scale, log.shape))
        expected = loop(lambda h, i, j, a=r1, b=r2: float(-a[h] * math.log(1 + b[h] * abs(i - j))))
        torch.testing.assert_close(log.bias(TOKENS, layer), expected)
        r1, r2 = F.softplus(power.scale.detach())[layer], 2 * torch.sigmoid(power.shape.detach())[layer]
        expected = loop(lambda h, i, j, a=r1, b=r2: float(-a[h] * abs(i - j) ** b[h]))
        torch.testing.assert_close(power.bias(TOKENS, layer), expected)


@given(st.integers(0, 1000))
def test_kerple_starts_in_its_range(seed):
    torch.manual_seed(seed)
    log, power = KerpleLog().build(SPEC), KerplePower().build(SPEC)
    for drawn in (F.softplus(log.scale), F.softplus(log.shape), F.softplus(power.scale)):
        assert ((drawn > 0.009) & (drawn < 1.001)).all()
    exponent = 2 * torch.sigmoid(power.shape)
    assert ((exponent > 0) & (exponent < 2)).all()


def test_fire_against_the_formula_and_the_published_causal_one():
    torch.manual_seed(0)
    encoding = Fire(hidden=6, threshold=4).build(SPEC).double()
    encoding.requires_grad_(False)
    f = encoding.functions[1]
    f.c.fill_(0.7)
    f.threshold.fill_(-0.9)

    def psi(x):
        return math.log(0.7 * x + 1)

    def value(h, i, j):
        ratio = psi(abs(i - j)) / (psi(max(i, j, 0.9 * 4)) + 1e-6)
        if j <= i:
            assert ratio == psi(i - j) / (psi(max(i, 0.9 * 4)) + 1e-6)
        return float(f.down(F.relu(f.up(torch.tensor([ratio], dtype=torch.float64))))[h])

    torch.testing.assert_close(encoding.bias(TOKENS, 1), loop(value).double(), rtol=1e-6, atol=1e-7)
    assert len(Fire(shared=True).build(SPEC).functions) == 1


def test_shaw_has_a_vector_for_every_distance_in_every_layer():
    encoding = Shaw().build(SPEC)
    assert [tuple(p.shape) for p in encoding.parameters()] == [(3, 1, 17, 5)]
    assert [tuple(p.shape) for p in Shaw(per_head=True, clip=2).build(SPEC).parameters()] == [(3, 4, 5, 5)]
    (group,) = encoding.pairs(TOKENS, 2)
    assert torch.equal(group.vectors, encoding.tables[0][2])
    classes = group.pattern.dense
    for i in range(9):
        for j in range(9):
            assert classes[i, j] == i - j + 8


def test_upe_gives_a_multiplier_one_vector_from_everywhere_and_the_rest_distances():
    coordinates = Coordinates.of(multiplier=range(3), number=range(6))
    encoding = Upe(clip=2).build(BuildSpec(trained=(coordinates,), heads=4, head_dim=5))
    (group,) = encoding.pairs(coordinates, 0)
    classes = group.pattern.dense
    assert group.pattern.classes == 3 + 5
    for j in range(3):
        assert (classes[:, j] == classes[0, j]).all()
    assert len(classes[0, :3].unique()) == 3
    for i in range(9):
        for j in range(3, 9):
            assert classes[i, j] == 3 + max(-2, min(2, i - j)) + 2


def test_significance_gives_some_heads_vectors_between_digits_and_masks_nothing():
    coordinates = Coordinates.of(text=range(2), first=range(3), second=range(3))
    encoding = Significance(special=1).build(BuildSpec(trained=(coordinates,), heads=4, head_dim=5))
    special, others = encoding.pairs(coordinates, 0)
    assert (special.heads, others.heads, others.vectors) == (1, 3, None)
    for group in (special, others):
        assert (group.pattern.dense != ABSENT).all()
    classes, plain = special.pattern.dense, special.pattern.plain
    assert special.pattern.classes == 4 * 5
    seen = {}
    for i in range(8):
        for j in range(8):
            if i < 2 or j < 2:
                assert classes[i, j] == plain
                continue
            (a, o), (b, p) = (divmod(i - 2, 3), divmod(j - 2, 3))
            assert seen.setdefault((a, b, o - p), classes[i, j]) == classes[i, j]
    assert len({int(c) for c in seen.values()}) == 20
    near = Significance(reach=1).build(BuildSpec(trained=(coordinates,), heads=4, head_dim=5))
    assert near.pairs(coordinates, 0)[0].pattern.classes == 4 * 3


def test_significance_gives_a_multiplier_in_text_one_vector_from_every_digit():
    coordinates = Coordinates.of(text=range(2), multiplier=range(3), number=range(4))
    encoding = Significance(special=1, uniform=("multiplier",)).build(
        BuildSpec(trained=(coordinates,), heads=4, head_dim=5)
    )
    special, _ = encoding.pairs(coordinates, 0)
    classes, plain = special.pattern.dense, special.pattern.plain
    assert (classes[:2] == plain).all()
    assert (classes[:, :2] == plain).all()
    for j in range(2, 5):
        assert (classes[2:, j] == classes[2, j]).all()
    alike = {int(c) for c in classes[2, 2:5]}
    assert len(alike) == 3
    assert plain not in alike
    for i in range(5, 9):
        for j in range(5, 9):
            assert classes[i, j] == classes[5 + max(0, i - j), 5 + max(0, j - i)]
    with pytest.raises(OrdinateError, match="no field 'factor'"):
        Significance(uniform=("factor",)).build(BuildSpec(trained=(coordinates,), heads=4, head_dim=5))
