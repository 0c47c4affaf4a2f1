"""Symbols: exact match, symbols right, cross-entropy, slices, and where a test set is in distribution."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation import SymbolPoint, measure, sliced, sweep, test_set, trained_point
from ordinate.lab.evaluation.metrics import symbol_entropy, symbols_right
from ordinate.lab.evaluation.points import NumberPoint, score_of
from ordinate.lab.tasks import make_task

ADD = make_task("addition", digits=3, width=4)


def perfect(task, *, wrong=None):
    """A model that is right, but for the samples that `wrong` picks, whose lowest digit is one more."""

    def model(x, coordinates):
        answers = task.reference(x, coordinates).clone()
        if wrong is not None:
            lowest = max(i for i in range(len(coordinates)) if task.scored(coordinates)[i])
            answers[:, lowest] = torch.where(wrong(x), (answers[:, lowest] + 1) % 10, answers[:, lowest])
        return 50 * F.one_hot(answers, task.outputs).float()

    return model


def test_a_perfect_model_is_right_everywhere():
    for axis in ("length=1,3,30", "cascade=0,3", "words=0,4"):
        for point in sweep(perfect(ADD), ADD, axis, count=64):
            assert isinstance(point, SymbolPoint)
            assert (point.accuracy, point.symbol_accuracy, point.score) == (1, 1, 1)
            assert point.cross_entropy < 1e-6
            assert point.count == 64


def test_one_wrong_symbol_makes_a_wrong_answer():
    tests = test_set(ADD, "length", 3.0, count=200, seed=0)
    odd = perfect(ADD, wrong=lambda x: x[:, 0] % 2 == 1)
    point, errors = measure(odd, ADD, tests)
    share = float((tests.batches[0].input[:, 0] % 2 == 1).double().mean())
    assert point.accuracy == pytest.approx(1 - share)
    assert point.symbol_accuracy == pytest.approx(1 - share / 5)  # a sum of 4 places and the sign's
    assert float(errors.mean()) == pytest.approx(share)


def test_a_model_that_knows_nothing_has_the_entropy_of_its_symbols():
    (point,) = sweep(lambda x, c: torch.zeros(*x.shape, ADD.outputs), ADD, "length", [3.0], count=50)
    assert point.cross_entropy == pytest.approx(math.log(ADD.outputs), rel=1e-5)


@settings(max_examples=20)
@given(st.integers(0, 2**31))
def test_metrics_against_loops(seed):
    g = torch.Generator().manual_seed(seed)
    output = torch.randn(3, 4, 5, generator=g, dtype=torch.float64)
    target = torch.randint(5, (3, 4), generator=g)
    scored = torch.tensor([[True], [False], [True], [True]])
    right, entropy = symbols_right(output, target, scored), symbol_entropy(output, target, scored)
    for b in range(3):
        rows = [0, 2, 3]
        assert right[b].tolist() == [int(output[b, t].argmax()) == int(target[b, t]) for t in rows]
        losses = [-float(output[b, t].log_softmax(-1)[target[b, t]]) for t in rows]
        assert float(entropy[b]) == pytest.approx(sum(losses) / 3)


def test_stored_points_know_what_they_are():
    (symbols,) = sweep(perfect(ADD), ADD, "length", [3.0], count=4)
    (numbers,) = sweep(lambda x, c: 0 * x, make_task("sum"), "scale", [1.0], count=4)
    assert isinstance(numbers, NumberPoint)
    for point in (symbols, numbers):
        assert score_of(point.to_dict()) == point.score
        assert set(point.columns.values()) <= set(point.to_dict())


def test_tests_are_natural_whatever_training_draws():
    hard = make_task("addition", digits=3, width=4, sampler="complexity")
    a, b = (test_set(task, "length", 3.0, count=50, seed=0).batches[0] for task in (hard, ADD))
    assert torch.equal(a.input, b.input)


def test_layouts_that_change_are_tested_on_several():
    task = make_task("addition", digits=3, words=3)
    tests = test_set(task, "length", 3.0, count=160, seed=0)
    assert len(tests.batches) == 16
    assert len({batch.coordinates for batch in tests.batches}) > 4
    assert measure(perfect(task), task, tests)[0].accuracy == 1
    assert sum(part.count for part in sliced(perfect(task), task, tests, "cascade")) == 160


@pytest.mark.parametrize(
    ("name", "axis", "value", "length", "inside"),
    [
        ("addition", "length", 5, None, True),
        ("addition", "length", 6, None, False),
        ("addition", "words", 0, None, True),
        ("addition", "words", 1, None, False),
        ("addition", "words", 0, 9, False),
        ("addition", "words", 0, 5, True),
        ("sum", "scale", 1, None, True),
        ("sum", "scale", 1, 9, False),
        ("sum", "scale", 2, None, False),
    ],
)
def test_in_distribution_is_what_training_draws(name, axis, value, length, inside):
    tests = test_set(make_task(name), axis, float(value), count=2, seed=0, length=length)
    assert tests.in_distribution == inside
    if length is not None:
        assert tests.lengths == (length,)


@pytest.mark.parametrize("name", ["sum", "addition", "arithmetic", "path"])
def test_the_trained_point_is_in_distribution(name):
    task = make_task(name)
    assert test_set(task, *trained_point(task), count=4, seed=0).in_distribution


def test_slices_count_every_sample_and_find_the_hard_ones():
    tests = test_set(ADD, "length", 6.0, count=500, seed=0)
    batch = tests.batches[0]
    cascade = ADD.slice("cascade", batch)
    hard = {tuple(x.tolist()) for x in batch.input[cascade >= 2]}
    model = perfect(ADD, wrong=lambda x: torch.tensor([tuple(row) in hard for row in x.tolist()]))
    found = sliced(model, ADD, tests, "cascade")
    assert [part.value for part in found] == sorted(set(cascade.tolist()))
    for part in found:
        assert part.count == int((cascade == part.value).sum())
        assert part.score == (1 if part.value < 2 else 0)
    assert sum(part.count for part in found) == 500
    assert found[0].to_dict() == {"value": 0, "count": found[0].count, "score": 1.0}


def test_slices_that_are_not_there():
    tests = test_set(ADD, "length", 3.0, count=4, seed=0)
    with pytest.raises(
        OrdinateError, match=r"task 'addition' has no slice 'cascad': did you mean 'cascade'\?"
    ):
        sliced(perfect(ADD), ADD, tests, "cascad")
    sums = make_task("sum")
    numbers = test_set(sums, "length", 3.0, count=4, seed=0)
    with pytest.raises(OrdinateError, match=r"task 'sum' has no slice 'x': it has none"):
        sliced(lambda x, c: x, sums, numbers, "x")


def test_places_tell_which_digit_is_wrong():
    tests = test_set(ADD, "length", 3.0, count=200, seed=0)
    odd = perfect(ADD, wrong=lambda x: x[:, 0] % 2 == 1)
    by_place = {part.value: part for part in sliced(odd, ADD, tests, "place")}
    assert sorted(by_place) == [0, 1, 2, 3, 4]
    share = float((tests.batches[0].input[:, 0] % 2 == 1).double().mean())
    assert by_place[0].score == pytest.approx(1 - share)
    assert all(by_place[place].score == 1 for place in (1, 2, 3, 4))
    assert all(part.count == 200 for part in by_place.values())
