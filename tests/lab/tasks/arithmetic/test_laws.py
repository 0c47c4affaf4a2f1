"""Which tokens are free, and what an answer depends on when one of them changes."""

import pytest
import torch

from ordinate.lab.tasks import make_task


def dependence(task, length, count=300):
    """Pairs (ordinate of a changed digit, ordinate of a changed answer) by field of the digit."""
    draw = torch.Generator().manual_seed(0)
    batch = task.sample(count, generator=draw, length=length)
    where = batch.coordinates
    found = set()
    for token in task.free(where, length):
        other = task.reference(task.redraw(batch, token, draw), where)
        for answer in task.differs(other, batch.target).any(0).nonzero().flatten().tolist():
            found.add((where.fields[where.field[token]], where.ordinate[token], where.ordinate[answer]))
    return found


def test_without_carries_each_place_depends_on_its_own():
    found = dependence(make_task("no-carry"), 4)
    assert found == {(field, place, place) for field in ("first", "second") for place in range(4)}


@pytest.mark.parametrize("name", ["addition", "subtraction", "several", "multiplication"])
@pytest.mark.parametrize("style", ["padded", "variable"])
def test_places_depend_on_places_at_or_below(name, style):
    found = dependence(make_task(name, format=style, digits=3), 3)
    operands = {f for f, _, _ in found}
    assert operands >= set(make_task(name).operands)
    assert all(place <= answer for field, place, answer in found if field != "multiplier")
    assert all((field, 0, 0) in found for field in operands)


@pytest.mark.parametrize("words", [0, 4])
def test_free_tokens_are_digits_below_the_length(words, generator):
    for name in ("addition", "several", "subtraction", "no-carry"):
        task = make_task(name, words=words)
        batch = task.sample(2, generator=generator, length=3)
        where = batch.coordinates
        free = task.free(where, 3)
        assert [where.ordinate[t] for t in free] == [2, 1, 0] * len(task.operands)
        assert all(where.fields[where.field[t]] in task.operands for t in free)
    task = make_task("multiplication", words=words, multiplier=2)
    where = task.sample(2, generator=generator, length=3).coordinates
    assert [where.label(t) for t in task.free(where, 3)] == [
        *("multiplier 1", "multiplier 0"),
        *("multiplicand 2", "multiplicand 1", "multiplicand 0"),
    ]


def test_a_redrawn_digit_is_another_one_and_takes_every_value(generator):
    task = make_task("addition")
    batch = task.sample(3000, generator=generator)
    top = task.free(batch.coordinates, 5)[0]
    other = task.redraw(batch, top, generator)[:, top]
    assert (other != batch.input[:, top].where(batch.input[:, top] != 10, 0)).all()
    assert set(other.tolist()) == set(range(10))


def test_a_redrawn_difference_stays_no_smaller_than_zero(generator):
    task = make_task("subtraction", digits=2)
    batch = task.sample(500, generator=generator)
    for token in task.free(batch.coordinates, 2):
        inputs = task.redraw(batch, token, generator)
        answers = task.reference(inputs, batch.coordinates)
        top = answers[:, task.scored(batch.coordinates)[:, 0]][:, :-2]
        assert (top == 10).all()


def test_pads_and_zeros_are_the_same_answer():
    task = make_task("addition")
    one, other = torch.tensor([[10, 0, 1, 10]]), torch.tensor([[0, 10, 1, 2]])
    assert task.differs(one, other).tolist() == [[False, False, False, True]]


def test_tests_draw_natural_numbers():
    task = make_task("addition", sampler="complexity", digits=3)
    assert task.tested() == make_task("addition", digits=3)
    mix = make_task("arithmetic", parts=["multiplication", {"name": "addition", "sampler": "mixture"}])
    assert mix.tested() == make_task("arithmetic", parts=["multiplication", "addition"])
