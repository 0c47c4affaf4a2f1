"""Encodings: the interface, the published vectors, and what happens at other lengths."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.positions.encodings import ENCODINGS, Combined, Encoding, OneHot, Rope, RotaryEncoding
from ordinate.positions.encodings.rope import rotate_pairs
from ordinate.positions.encodings.vectors import VectorEncoding, binary, one_hot, rows, sinusoidal


def tokens(length: int) -> Coordinates:
    return Coordinates.of(number=range(length), dummy=range(1))


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_says_what_happens_beyond_the_trained_length(name):
    assert ENCODINGS[name].beyond.split(":")[0] in ("refused", "defined")


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_keeps_the_shapes_of_the_interface(name):
    encoding, c = ENCODINGS[name]().build(9), tokens(8)
    x, q = torch.randn(3, 9, 2), torch.randn(3, 2, 9, 6)
    assert encoding.embed(x, c).shape == (3, 9, 2 + encoding.extra_features)
    rotated = encoding.rotate(q, q, c)
    assert rotated[0].shape == q.shape == rotated[1].shape
    assert encoding.class_vectors(c) is None
    assert encoding.bias(c) is None


def test_published_vectors_at_n_8():
    assert torch.equal(one_hot(9), torch.eye(9))
    assert binary(9).shape == (9, 4)
    assert binary(9)[5].tolist() == [-1, 1, -1, 1]
    assert sinusoidal(9, 2).shape == (9, 2)
    assert sinusoidal(9, 4)[3].tolist() == pytest.approx(
        [math.sin(3), math.cos(3), math.sin(0.03), math.cos(0.03)]
    )


@given(st.integers(1, 200))
def test_positions_have_different_bits(capacity):
    assert len({tuple(row) for row in binary(capacity).tolist()}) == capacity


@given(st.integers(1, 30), st.integers(0, 30))
def test_shorter_sequences_keep_the_first_rows_and_the_dummy_its_last(length, spare):
    assert rows(tokens(length), length + spare + 1).tolist() == [*range(length), length + spare]


@pytest.mark.parametrize("name", ["one-hot", "binary", "sinusoidal", "learned"])
def test_a_length_without_vectors_is_refused_with_the_limit(name):
    encoding = ENCODINGS[name]().build(9)
    with pytest.raises(OrdinateError, match=r"9 tokens, .* at most 8"):
        encoding.vectors(tokens(9))


def test_learned_vectors_are_trained_and_shared():
    encoding = ENCODINGS["learned"](width=5).build(9)
    assert [p.shape for p in encoding.parameters()] == [(9, 5)]
    assert not list(OneHot().build(9).parameters())


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
    right_q, right_k = RotaryEncoding().rotate(q, k, tokens(8))
    assert (right_q @ right_k.transpose(-1, -2) - plain).abs().max() > 1


def test_combined_encodings_do_what_each_of_them_does():
    both, c = Combined(OneHot().build(9), Rope().build(9)), tokens(8)
    x, q = torch.randn(2, 9, 1), torch.randn(2, 2, 9, 8)
    assert torch.equal(both.embed(x, c), OneHot().build(9).embed(x, c))
    assert torch.equal(both.rotate(q, q, c)[0], RotaryEncoding().rotate(q, q, c)[0])
    assert both.class_vectors(c) is None
    assert both.bias(c) is None


def test_combined_biases_add_up_and_classes_of_two_are_refused():
    from ordinate.positions.encodings import ClassVectors

    class Biased(Encoding):
        def bias(self, coordinates):
            return torch.ones(2, 9, 9)

        def class_vectors(self, coordinates):
            return ClassVectors(torch.zeros(9, 9, dtype=torch.long), torch.zeros(1, 8))

    both, c = Combined(Biased(), Biased()), tokens(8)
    assert torch.equal(both.bias(c), torch.full((2, 9, 9), 2.0))
    with pytest.raises(ValueError, match="at most one"):
        both.class_vectors(c)


def test_a_table_can_have_any_width():
    assert VectorEncoding(torch.zeros(4, 7)).extra_features == 7
