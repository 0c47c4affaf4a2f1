"""Each task on numbers answers as plain Python does, and obeys the laws of what it computes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.sweep import sweep
from ordinate.lab.tasks import TASKS, Batch, make_task
from ordinate.lab.tasks.numbers import Max, MaxSubarray, Median, Min, MinSum, Sort, Sum, ascending

from . import brute_force
from .strategies import batches, few, reals, sequences, tensor

SCALAR = {
    Sum: brute_force.cumulative_sum,
    Min: brute_force.cumulative_min,
    Max: brute_force.cumulative_max,
    Median: brute_force.cumulative_median,
    Sort: brute_force.ascending,
    MaxSubarray: brute_force.cumulative_max_subarray,
}
CUMULATIVE = [Sum, Min, Max, Median, MaxSubarray]
CLOSE = {"rtol": 1e-12, "atol": 1e-10}

scalar = pytest.mark.parametrize("task", SCALAR, ids=lambda task: task.name)
cumulative = pytest.mark.parametrize("task", CUMULATIVE, ids=lambda task: task.name)


def answers(task, sequence):
    return task().reference(tensor(sequence)).flatten()


def same(a, b):
    torch.testing.assert_close(a, b, **CLOSE)


@scalar
@given(batch=batches())
def test_the_answers_are_those_of_plain_python(task, batch):
    expected = [SCALAR[task](row) for row in batch[..., 0].tolist()]
    same(task().reference(batch)[..., 0], torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize(
    ("task", "given_", "expected"),
    [
        (Sum, [1, -2, 3], [1, -1, 2]),
        (Min, [1, -2, 3], [1, -2, -2]),
        (Max, [1, -2, 3], [1, 1, 3]),
        (Median, [1, -2, 3, 2], [1, -0.5, 1, 1.5]),
        (Sort, [1, -2, 3, -2], [-2, -2, 1, 3]),
        (MaxSubarray, [-3, 2, -1, 4, -6], [-3, 2, 2, 5, 5]),
        (MaxSubarray, [-3, -1, -2], [-3, -1, -1]),  # never empty
    ],
)
def test_worked_examples(task, given_, expected):
    assert answers(task, given_).tolist() == expected


@scalar
@given(number=reals)
def test_one_number_is_its_own_answer(task, number):
    assert answers(task, [number]).tolist() == [number]


@scalar
@given(batch=batches())
def test_sequences_of_a_batch_do_not_meet(task, batch):
    alone = torch.cat([task().reference(row.unsqueeze(0)) for row in batch])
    assert torch.equal(task().reference(batch), alone)


@scalar
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_reference_keeps_the_dtype_and_the_inputs(task, dtype):
    batch = torch.linspace(2, -2, 24, dtype=dtype).view(3, 8, 1)
    before = batch.clone()
    assert task().reference(batch).dtype == dtype
    assert torch.equal(batch, before)


@cumulative
@given(data=st.data())
def test_a_later_token_never_changes_an_earlier_output(task, data):
    x = data.draw(sequences(min_size=2))
    at = data.draw(st.integers(1, len(x) - 1))
    changed = [*x[:at], data.draw(reals), *x[at + 1 :]]
    assert torch.equal(answers(task, x)[:at], answers(task, changed)[:at])


@cumulative
@given(x=sequences(min_size=2))
def test_a_shorter_sequence_has_the_first_of_the_answers(task, x):
    assert torch.equal(answers(task, x[:-1]), answers(task, x)[:-1])


@given(data=st.data())
def test_sorting_forgets_the_order_of_the_input(data):
    x = data.draw(sequences())
    assert torch.equal(answers(Sort, x), answers(Sort, data.draw(st.permutations(x))))


@given(x=sequences())
def test_sorting_twice_is_sorting_once(x):
    once = answers(Sort, x)
    assert torch.equal(answers(Sort, once.tolist()), once)


@pytest.mark.parametrize("task", [Sum, Min, Max, Median], ids=lambda task: task.name)
@given(data=st.data())
def test_the_last_answer_forgets_the_order_of_the_input(task, data):
    x = data.draw(sequences())
    same(answers(task, x)[-1], answers(task, data.draw(st.permutations(x)))[-1])


@scalar
@given(x=sequences(), factor=st.floats(0.1, 10))
def test_a_positive_factor_passes_through(task, x, factor):
    same(answers(task, [factor * v for v in x]), factor * answers(task, x))


@given(x=sequences(), factor=st.floats(-10, 10))
def test_any_factor_passes_through_a_sum(x, factor):
    same(answers(Sum, [factor * v for v in x]), factor * answers(Sum, x))


@given(data=st.data())
def test_the_sum_of_two_sequences_is_the_sum_of_their_sums(data):
    x = data.draw(sequences())
    y = data.draw(sequences(len(x), len(x)))
    same(answers(Sum, [a + b for a, b in zip(x, y, strict=True)]), answers(Sum, x) + answers(Sum, y))


@pytest.mark.parametrize("task", [Min, Max, Median, Sort], ids=lambda task: task.name)
@given(x=sequences(), shift=reals)
def test_a_shift_passes_through_order_statistics(task, x, shift):
    same(answers(task, [v + shift for v in x]), answers(task, x) + shift)


@given(x=sequences())
def test_max_is_min_turned_over(x):
    assert torch.equal(answers(Max, x), -answers(Min, [-v for v in x]))


@given(x=sequences())
def test_min_median_and_max_come_in_this_order(x):
    low, middle, high = (answers(task, x) for task in (Min, Median, Max))
    assert (low <= middle).all()
    assert (middle <= high).all()


@given(x=sequences())
def test_the_best_run_is_no_worse_than_any_number_and_than_the_whole(x):
    best = answers(MaxSubarray, x)
    assert (best >= answers(Max, x)).all()
    assert (best >= answers(Sum, x) - 1e-9).all()


@given(x=sequences())
def test_the_median_is_the_midpoint_quantile_of_each_prefix(x):
    row = torch.tensor(x, dtype=torch.float64)
    expected = [row[:k].quantile(0.5, interpolation="midpoint") for k in range(1, len(x) + 1)]
    same(answers(Median, x), torch.stack(expected))


# min-sum: one answer, at token 0


@given(data=st.data())
def test_min_sum_is_that_of_plain_python(data):
    n = data.draw(st.integers(1, 12))
    x = data.draw(sequences(2 * n, 2 * n))
    first, *rest = answers(MinSum, x).tolist()
    assert first == brute_force.min_pairwise_sum(x)
    assert rest == [0.0] * (2 * n - 1)


@given(data=st.data())
def test_min_sum_forgets_the_order_of_the_pairs_and_which_half_is_first(data):
    pairs = data.draw(st.lists(st.tuples(few, reals), min_size=1, max_size=6))
    mixed = [data.draw(st.permutations(pair)) for pair in data.draw(st.permutations(pairs))]

    def halves(pairs):
        return [pair[0] for pair in pairs] + [pair[1] for pair in pairs]

    assert answers(MinSum, halves(pairs))[0] == answers(MinSum, halves(mixed))[0]


def test_min_sum_refuses_halves_of_unequal_length():
    with pytest.raises(OrdinateError, match="even number of tokens, not 3"):
        answers(MinSum, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_sorting_keeps_the_type_and_agrees_with_torch_in_all_of_them(dtype):
    """Types that NumPy does not have are sorted by torch, and so is what is differentiated."""
    x = torch.randn(50, 7, generator=torch.Generator().manual_seed(0)).to(dtype)
    assert torch.equal(ascending(x), x.sort(-1).values)
    assert ascending(x).dtype == dtype
    assert ascending(x.clone().requires_grad_()).requires_grad


NUMBERS = [name for name, task in TASKS.items() if task.family == "numbers"]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("scale", [1.0, 2.6])
def test_all_inputs_are_whole_at_any_scale(name, scale, generator):
    task = make_task(name, integers=True)
    batch = task.sample(500, generator=generator, scale=scale)
    other = task.redraw(batch, 0, generator)
    for inputs in (batch.input, other):
        assert torch.equal(inputs, inputs.round())
    furthest = int(2 * scale)
    least = 0 if name == "path" else -furthest
    assert batch.input.unique().tolist() == list(range(least, furthest + 1))


@pytest.mark.parametrize("name", NUMBERS)
def test_tests_alone_can_have_whole_numbers(name, generator):
    task = make_task(name, integer_tests=True)
    trained, tested = (
        task.sample(50, generator=generator),
        task.tested().sample(50, generator=generator, scale=3.0),
    )
    assert not torch.equal(trained.input, trained.input.round())
    assert torch.equal(tested.input, tested.input.round())
    assert task.tested() == make_task(name, integers=True)
    # a sweep draws what tests draw
    seen = []
    sweep(lambda x, c: seen.append(x) or task.reference(x, c), task, "scale", [2.0], count=20)
    assert all(torch.equal(x, x.round()) for x in seen)


def test_whole_numbers_are_uniform_on_the_range(generator):
    inputs = make_task("sum", integers=True).sample(5000, generator=generator).input
    counts = inputs.unique(return_counts=True)[1]
    assert (counts / 8000 - 1).abs().max() < 0.05


def test_they_are_written_as_such(generator):
    task = make_task("median", length=3, integers=True)
    batch = task.sample(1, generator=generator)
    inputs = torch.tensor([[[1.0], [-2.0], [0.0]]])
    batch = batch._replace(input=inputs, target=task.reference(inputs))
    assert task.show(batch) == [{"input": "1 -2 0", "target": "1 -0.50 0"}]


@pytest.mark.parametrize(("error", "accuracy"), [(0.0, 1.0), (0.099, 1.0), (0.2, 0.0)])
def test_an_answer_counts_within_ten_percent(error, accuracy):
    """|output - target| <= 0.1 + 0.1 |target| at every place."""
    task = make_task("sum", integers=True)
    for point in sweep(lambda x, c: task.reference(x) * (1 + error), task, "scale", [5.0], count=200):
        assert point.accuracy == pytest.approx(accuracy, abs=0.05)


def test_a_scale_without_whole_numbers_is_refused(generator):
    task = make_task("sum", low=1, high=1.5, integers=True)
    with pytest.raises(OrdinateError, match=r"no whole number from 0\.1 to 0\.15: write a larger scale"):
        task.sample(1, generator=generator, scale=0.1)


def answered(task, rows):
    inputs = torch.tensor(rows)
    return Batch(inputs, task.reference(inputs), task.coordinates(inputs.shape[1]))


def test_numbers_have_two_decimals_and_no_negative_zero():
    task = Sum(length=3)
    assert task.show(answered(task, [[[-1.25], [0.5], [0.7499]], [[-0.001], [0.0], [1.0]]])) == [
        {"input": "-1.25 0.50 0.75", "target": "-1.25 -0.75 0.00"},
        {"input": "0.00 0.00 1.00", "target": "0.00 0.00 1.00"},
    ]


def test_sort():
    task = Sort(length=2)
    assert task.show(answered(task, [[[2.0], [-10.5]]])) == [
        {"input": "2.00 -10.50", "target": "-10.50 2.00"}
    ]


def test_min_sum_shows_both_sequences_and_one_answer():
    task = MinSum(length=2)
    assert task.show(answered(task, [[[1.0], [2.0], [3.0], [-4.0]]])) == [
        {"input": "1.00 2.00 / 3.00 -4.00", "target": "-2.00"}
    ]
