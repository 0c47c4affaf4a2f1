"""Encodings that enter through the tokens or turn queries and keys: formulas and first-paper rules."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.coordinates import Coordinates
from ordinate.encodings import ENCODINGS, BuildSpec, OneHot, Rope
from ordinate.encodings.rotary import rotate_pairs
from ordinate.encodings.vectors import binary, drawn, one_hot, rows, spread, waves
from ordinate.errors import OrdinateError


def tokens(length: int) -> Coordinates:
    return Coordinates.of(number=range(length), dummy=range(1))


SPEC = BuildSpec(trained=(tokens(8),))
SUM = Coordinates.of(text=range(2), first=range(4), sign=range(1), second=range(4), dummy=range(1))


def columns(encoding, coordinates):
    """What `embed` appends."""
    return encoding.embed(torch.zeros(1, len(coordinates), 0), coordinates)[0]


def test_published_vectors_at_n_8():
    assert torch.equal(one_hot(9), torch.eye(9))
    assert binary(9).shape == (9, 4)
    assert binary(9)[5].tolist() == [-1, 1, -1, 1]
    assert waves(torch.arange(9), 2).shape == (9, 2)
    assert waves(torch.arange(9), 3).shape == (9, 3)


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_waves_against_the_formula(place, width):
    expected = [(math.sin, math.cos)[i % 2](place * 10000.0 ** (-(i - i % 2) / width)) for i in range(width)]
    assert waves(torch.tensor([place]), width)[0].tolist() == pytest.approx(expected, abs=1e-8)


@given(st.integers(1, 200))
def test_positions_have_different_bits(capacity):
    assert len({tuple(row) for row in binary(capacity).tolist()}) == capacity


@given(st.integers(1, 30), st.integers(0, 30))
def test_shorter_sequences_keep_the_first_rows_and_the_dummy_its_last(length, spare):
    assert rows(tokens(length), length + spare + 1).tolist() == [*range(length), length + spare]


@pytest.mark.parametrize("name", ["one-hot", "binary", "sinusoidal", "learned"])
def test_with_a_dummy_a_longer_length_is_refused_with_the_limit(name):
    """The dummy has the last row of the built length, which a longer sequence would need."""
    encoding = ENCODINGS[name]().build(SPEC)
    with pytest.raises(OrdinateError, match=r"9 tokens, .* at most 8"):
        encoding.vectors(tokens(9))


def test_sinusoidal_follows_the_model_and_keeps_the_dummy():
    encoding = ENCODINGS["sinusoidal"](width=4).build(SPEC)
    assert torch.equal(encoding.vectors(tokens(3))[3], waves(torch.tensor([8]), 4)[0].float())
    plain = Coordinates.of(number=range(500))
    assert torch.equal(encoding.vectors(plain), waves(torch.arange(500), 4).float())
    assert encoding.double().vectors(plain).dtype == torch.float64


def test_learned_vectors_are_trained_and_shared():
    encoding = ENCODINGS["learned"](width=5).build(SPEC)
    assert [p.shape for p in encoding.parameters()] == [(9, 5)]
    assert not list(OneHot().build(SPEC).parameters())
    assert (encoding.extra_features, OneHot().build(SPEC).extra_features) == (5, 9)


@given(st.integers(0, 50), st.integers(2, 9))
def test_rotation_depends_on_differences_only(shift, dim):
    """The shift law: q_i . k_j after rotation is a function of i - j."""
    q, k = torch.randn(2, 7, dim, dtype=torch.float64)
    here = torch.arange(7.0, dtype=torch.float64)
    scores = rotate_pairs(q, here, 10000.0) @ rotate_pairs(k, here, 10000.0).T
    moved = rotate_pairs(q, here + shift, 10000.0) @ rotate_pairs(k, here + shift, 10000.0).T
    torch.testing.assert_close(scores, moved)


def test_the_published_rope_baseline_did_nothing_and_rope_done_right_does():
    """It rotated along the head axis: q and k of a head turn by the same angle, and the scores stay."""
    q, k = torch.randn(2, 5, 2, 9, 64, dtype=torch.float64)
    plain = q @ k.transpose(-1, -2)
    heads = torch.arange(2.0, dtype=torch.float64)
    wrong_q, wrong_k = (rotate_pairs(t.transpose(1, 2), heads, 10000.0).transpose(1, 2) for t in (q, k))
    assert (wrong_q @ wrong_k.transpose(-1, -2) - plain).abs().max() < 1e-12
    right_q, right_k = Rope().build(SPEC).rotate(q, k, tokens(8))
    assert (right_q @ right_k.transpose(-1, -2) - plain).abs().max() > 1


def test_angles_are_right_in_low_precision_too():
    """Among 2000 tokens bfloat16 has no number of their places, and the angles were rounded with them."""
    places = tokens(2000)
    x = torch.randn(1, 1, len(places), 8, dtype=torch.float64).bfloat16()
    exact = rotate_pairs(x.double(), torch.arange(len(places)).double(), 10000.0)
    for found in Rope().build(SPEC).rotate(x, x, places):
        torch.testing.assert_close(found.double(), exact, atol=0.05, rtol=0.02)


@given(st.integers(1, 60), st.integers(0, 60))
def test_randomized_positions_are_different_and_in_order(count, spare):
    for positions in (drawn(count, count + spare), spread(count, count + spare)):
        listed = positions.tolist()
        assert len(listed) == count
        assert listed == sorted(set(listed))
        assert 0 <= listed[0] <= listed[-1] < count + spare


def test_outside_training_tokens_stand_where_they_are_drawn_on_average():
    torch.manual_seed(0)
    average = torch.stack([drawn(5, 100) for _ in range(4000)]).double().mean(0)
    assert (average - spread(5, 100)).abs().max() < 1.5


def test_randomized_draws_in_training_only_from_the_global_generator():
    encoding = ENCODINGS["randomized"](furthest=50, width=4).build(SPEC)
    results = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        results.append(columns(encoding, SUM))
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])
    encoding.eval()
    assert torch.equal(columns(encoding, SUM), waves(spread(len(SUM), 50), 4).float())


@pytest.mark.parametrize("name", ["abacus", "coupling"])
def test_digits_share_the_vector_of_their_place(name):
    encoding = ENCODINGS[name](furthest=10, width=3).build(BuildSpec(trained=(SUM,))).eval()
    sign = 0 if name == "abacus" else 1
    expected = [0, 0, 1, 2, 3, 4, sign, 1, 2, 3, 4, 0]
    assert torch.equal(columns(encoding, SUM), encoding.table[expected])


@pytest.mark.parametrize(("name", "options", "most"), [("abacus", {"spread": 3}, 3), ("coupling", {}, 6)])
def test_in_training_all_numbers_move_by_one_offset_that_leaves_room(name, options, most):
    encoding = ENCODINGS[name](furthest=10, width=3, **options).build(BuildSpec(trained=(SUM,)))
    torch.manual_seed(0)
    offsets = set()
    for _ in range(100):
        found = columns(encoding, SUM)
        (offset,) = [o for o in range(7) if torch.equal(found[2:6], encoding.table[1 + o : 5 + o])]
        assert torch.equal(found[7:11], found[2:6])
        assert torch.equal(found[0], encoding.table[0])
        offsets.add(offset)
    assert offsets == set(range(most + 1))


@pytest.mark.parametrize(("name", "most"), [("abacus", 1), ("coupling", 7)])
def test_abacus_moves_a_batch_and_coupling_every_sequence_of_it(name, most):
    encoding = ENCODINGS[name](furthest=10, width=3).build(BuildSpec(trained=(SUM,)))
    torch.manual_seed(0)
    found = encoding.embed(torch.zeros(100, len(SUM), 1), SUM)[..., 1:]
    assert torch.equal(found[:, 7:11], found[:, 2:6])
    assert len(torch.unique(found, dim=0)) == most
    found.sum().backward()
    assert (encoding.table.grad[1:].abs().sum(1) > 0).all() == (name == "coupling")
    encoding.eval()
    assert len(torch.unique(encoding.embed(torch.zeros(100, len(SUM), 1), SUM), dim=0)) == 1


def test_numbers_in_text_have_no_position_of_their_own():
    encoding = ENCODINGS["significance"](width=4).build(BuildSpec(trained=(SUM,), heads=2))
    found = columns(encoding, SUM)
    assert torch.equal(found[:2], waves(torch.arange(2), 4).float())
    assert not found[2:11].any()
