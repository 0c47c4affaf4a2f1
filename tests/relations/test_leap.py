"""Leaps: the same classes at distances that double with every loop."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.attention import ContentClass
from ordinate.coordinates import Coordinates
from ordinate.encodings import Alibi, Combined, Pairwise
from ordinate.lab.tasks import make_task
from ordinate.models import ResidualEncoder, build_model
from ordinate.relations import BoundRelation, aligned, itself, leap, window

TASK = make_task("addition", digits=5, width=8)


@given(st.integers(0, 5), st.integers(1, 40), st.integers(1, 3))
def test_pairs_are_the_same_place_and_a_leap_back(loop, length, back):
    bound = BoundRelation(leap("digit", back=back), [Coordinates.of(digit=range(8))]).at_loop(loop)
    pattern = bound.pattern(Coordinates.of(digit=range(length)))
    far = back * 2**loop
    wanted = {(i, j, int(i != j)) for i in range(length) for j in range(length) if i - j in (0, far)}
    assert set(zip(*(t.tolist() for t in (pattern.query, pattern.key, pattern.label)), strict=True)) == wanted


def test_classes_keep_their_numbers_and_names():
    bound = BoundRelation(leap("first", "second"), TASK.trained())
    assert bound.classes == 8
    assert bound.at_loop(4).names == bound.names
    assert "first to second, a leap back" in bound.names
    assert bound.at_loop(0) is bound
    assert bound.at_loop(4) is bound.at_loop(4)
    assert str(leap("first").at_loop(3)) == "leap('first', back=8)"
    assert (leap() | itself()).at_loop(2) == leap(back=4) | itself()
    plain = aligned() * window(1)
    assert plain.at_loop(5) == plain


def model_of(loops, encoding=None):
    settings = ResidualEncoder(
        layers=1,
        width=16,
        hidden=16,
        loops=loops,
        attention=ContentClass(),
        encoding=encoding or (Pairwise(relation=leap("first", "second")),),
    )
    return build_model(settings, TASK, seed=0).double()


def test_loops_reach_one_place_less_than_a_power_of_two():
    for loops in (1, 2, 3, 4):
        model, batch = model_of(loops), TASK.sample(1, generator=torch.Generator().manual_seed(0), length=30)
        changed = batch.input.clone()
        lowest = len(batch.coordinates) - 1  # the least significant digit of the second number
        changed[0, lowest] = (changed[0, lowest] + 1) % 10
        before, after = (model(x, batch.coordinates)[0] for x in (batch.input, changed))
        moved = (before - after).abs().amax(-1) > 1e-12
        ordinates = {batch.coordinates.ordinate[i] for i in moved.nonzero().flatten().tolist()}
        assert ordinates == set(range(2**loops))


def test_all_loops_share_one_table_that_is_stored_once():
    one, five = model_of(1), model_of(5)
    assert {name: p.shape for name, p in one.state_dict().items()} == {
        name: p.shape for name, p in five.state_dict().items()
    }
    batch = TASK.sample(2, generator=torch.Generator().manual_seed(0))
    five(batch.input, batch.coordinates).square().sum().backward()
    assert five.encoding.tables[0].grad.abs().sum() > 0


def test_it_goes_with_other_encodings():
    pairs = Pairwise(relation=leap("first", "second"))
    model = model_of(3, (pairs, Alibi()))
    assert isinstance(model.encoding.at_loop(2), Combined)
    batch = TASK.sample(2, generator=torch.Generator().manual_seed(0))
    assert model(batch.input, batch.coordinates).isfinite().all()
