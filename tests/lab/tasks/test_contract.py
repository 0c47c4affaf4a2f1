"""What every registered task keeps to, whatever it computes."""

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.sweep import test_set, trained_point
from ordinate.lab.tasks import TASKS

NUMBERS = [name for name, task in TASKS.items() if task.family == "numbers"]
SYMBOLS = [name for name, task in TASKS.items() if task.family == "arithmetic"]
AXES = {"length", "scale", "words", "cascade", "carries", "filled", "hops", "unseen", "density", "beyond"}
AXES |= {"lag", "nesting", "memories"}

VALUES = {
    "scale": 3.0,
    "words": 4,
    "cascade": 3,
    "carries": 2.0,
    "filled": 4,
    "hops": 1,
    "unseen": 1.0,
    "density": 0.5,
    "lag": 2,
    "nesting": 1,
    "memories": 1.0,
}

INDICES = ("k-hop", "match-2", "match-3", "contextual-counting", "next-character")
INDICES += ("copy", "reverse", "parity", "modular-counting", "regular", "machine")
"""Symbols, which have no float64."""

MAY_BE_EMPTY = ("regular", "machine")
"""Strings behind a symbol of their own, which have an answer at length 0."""

every = pytest.mark.parametrize("name", TASKS)
numbers = pytest.mark.parametrize("name", NUMBERS)
symbols = pytest.mark.parametrize("name", SYMBOLS)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def small(name, size=5):
    """A task with sequences of this length, or up to this many digits."""
    if name == "ring":
        return TASKS[name](places=size, filled=min(3, size), dimension=4)
    if name == "arithmetic":
        return TASKS[name](parts=[{"name": n, "digits": size} for n in ("addition", "multiplication")])
    if name == "k-hop":
        return TASKS[name](length=size, hops=1)
    if name == "fixed-memory":
        return TASKS[name](length=size, lags=(0, 1))
    if name == "contextual-counting":
        return TASKS[name](length=size, regions=1)
    if name == "mixed":
        return TASKS[name](categories=size, asked=2)
    return TASKS[name](**{"digits" if name in SYMBOLS else "length": size})


@every
def test_it_says_what_it_is(name):
    task = TASKS[name]
    assert task.name == name
    assert task.family
    assert task.summary
    assert "\n" not in task.summary
    assert set(task.axes) <= AXES
    assert set(task.slices) <= {"cascade", "carries", "levels", "hops", "query", "rounds"}
    assert task.__doc__


@numbers
@pytest.mark.parametrize("variable", [False, True])
def test_samples_coordinates_and_scores_agree_at_every_length(name, variable, generator):
    task = TASKS[name](length=7, variable=variable)
    lengths = task.lengths()
    assert lengths == (tuple(range(lengths[0], 8)) if variable else (7,))
    for length in lengths:
        batch = task.sample(5, generator=generator, length=length)
        tokens = len(task.coordinates(length))
        assert batch.coordinates == task.coordinates(length)
        assert batch.input.shape == (5, tokens, task.features)
        assert batch.target.shape == (5, tokens, task.outputs)
        assert task.scored(batch.coordinates).shape == (tokens, task.outputs)
        assert task.scored(batch.coordinates).any()
        assert batch.input.dtype == batch.target.dtype == torch.float32
        assert batch.target.isfinite().all()
        assert torch.equal(batch.target, task.reference(batch.input))


@symbols
@pytest.mark.parametrize("length", [1, 5, 9, 40])
def test_symbols_coordinates_and_scores_agree_at_every_length(name, length, generator):
    task = TASKS[name]()
    assert task.lengths() == (5,)
    for _ in range(3):
        batch = task.sample(4, generator=generator, length=length)
        tokens = len(batch.coordinates)
        assert tokens <= len(task.coordinates(length))
        assert batch.input.shape == batch.target.shape == (4, tokens)
        assert batch.input.dtype == batch.target.dtype == torch.long
        assert 0 <= batch.input.min() <= batch.input.max() < task.features
        assert 0 <= batch.target.min() <= batch.target.max() < task.outputs
        assert task.scored(batch.coordinates).shape == (tokens, 1)
        assert task.scored(batch.coordinates).any()
        assert torch.equal(batch.target, task.reference(batch.input))
        assert torch.equal(batch.target, task.reference(batch.input, batch.coordinates))


@every
def test_the_default_length_is_the_longest_trained(name, generator):
    task = TASKS[name](length=5, variable=True) if name in NUMBERS else small(name)
    for _ in range(4 if name == "arithmetic" else 1):
        one = task.sample(2, generator=generator).input.shape[1]
        if one == len(task.coordinates(5)):
            return
    pytest.fail(f"{one} tokens")


@every
def test_a_length_axis_goes_past_training(name, generator):
    task = small(name, 4)
    if "length" in task.axes:
        sizes = {task.sample(2, generator=generator, length=50).input.shape[1] for _ in range(8)}
        assert max(sizes) == len(task.coordinates(50))
    else:
        with pytest.raises(OrdinateError):
            task.sample(2, generator=generator, length=50)


def draw_twice(task, **axes):
    torch.manual_seed(0)
    one = task.sample(20, generator=seeded(1), **axes)
    torch.manual_seed(1)
    again = task.sample(20, generator=seeded(1), **axes)
    other = task.sample(20, generator=seeded(3), **axes)
    assert torch.equal(one.input, again.input)
    assert torch.equal(one.target, again.target)
    assert one.coordinates == again.coordinates
    assert not torch.equal(one.input, other.input)


@every
def test_a_generator_decides_everything(name):
    task = small(name, 6)
    draw_twice(task)
    for axis, value in VALUES.items():
        if axis in task.axes:
            draw_twice(task, **{axis: value})


@every
def test_a_generator_moves_on(name, generator):
    task = TASKS[name]()
    assert not torch.equal(
        task.sample(3, generator=generator).input, task.sample(3, generator=generator).input
    )


@pytest.mark.parametrize("name", sorted(set(TASKS) - set(SYMBOLS) - set(INDICES)))
def test_the_reference_keeps_float64(name, generator):
    task = small(name)
    inputs = task.sample(3, generator=generator).input.double()
    assert task.reference(inputs).dtype == torch.float64


@every
def test_a_redrawn_token_changes_alone(name, generator):
    task = small(name, 4)
    batch = task.sample(50, generator=generator, length=4)
    free = task.free(batch.coordinates, 4)
    assert free
    for token in free:
        other = task.redraw(batch, token, generator)
        changed = (other != batch.input).flatten(2).any(-1) if other.ndim > 2 else other != batch.input
        assert changed[:, token].any() or name == "path"
        changed[:, token] = False
        assert not changed.any()
        answers = task.reference(other, batch.coordinates)
        assert task.differs(answers, batch.target).shape == batch.input.shape[:2]
        assert not task.differs(answers, answers).any()


BAD_REQUESTS = [
    ({"count": 0}, "count must be at least 1, got 0"),
    ({"count": -3}, "count must be at least 1, got -3"),
    ({"length": 0}, "length must be [12] to [0-9]+, got 0"),
    ({"length": -1}, "length must be [012] to [0-9]+, got -1"),
    ({"length": 10**9}, "length must be [012] to [0-9]+, got 1000000000"),
    ({"scale": 0.0}, "scale must be (above 0 and at most [25]e[+]14|1 to [0-9]+), got 0"),
    ({"scale": -2.0}, "scale must be (above 0|1 to)"),
    ({"scale": float("nan")}, "scale must be (above 0|1 to)"),
    ({"beyond": 0.0}, "scale must be above 0"),
    ({"words": -1}, "words must be a whole number from 0 to 1024, got -1"),
    ({"words": 1.5}, "words must be a whole number"),
    ({"words": float("nan")}, "words must be a whole number"),
    ({"cascade": 6}, "cascade must be a whole number from 0 to 5, got 6: write cascade=5"),
    ({"cascade": -1}, "cascade must be a whole number from 0 to 5, got -1: write cascade=0"),
    ({"cascade": float("inf")}, "cascade must be a whole number"),
    ({"carries": 6.0}, "carries must be a whole number from 0 to 5, got 6: write carries=5"),
    ({"cascade": 1, "carries": 1}, "write one of them"),
    ({"hops": 4}, "hops must be a whole number from 0 to 3, got 4: write hops=3"),
    ({"hops": 0.5}, "hops must be a whole number from 0 to 3, got 0.5: write hops=0"),
    ({"hops": 3, "length": 4}, "3 hops need at least 5 letters, got 4: write hops=2, or length=5"),
    ({"unseen": -1}, "unseen must be a whole number from 0 to [0-9]+, got -1: write unseen=0"),
    ({"density": 1.5}, "density must be 0 to 1, got 1.5: write density=0.2"),
    ({"density": float("nan")}, "density must be 0 to 1"),
    ({"lag": 40}, "lag 40 is beyond a sequence of 32 tokens: write lags of at most 31, or length=41"),
    ({"lag": -1}, "lag must be a whole number from 0 to 1048576, got -1: write lag=0"),
    ({"lag": 1.5}, "lag must be a whole number from 0 to 1048576, got 1.5"),
    ({"memories": 0}, "memories must be a whole number from 1 to [0-9]+, got 0: write memories=1"),
    ({"memories": float("inf")}, "memories must be a whole number"),
    ({"nesting": float("nan")}, "nesting must be a whole number"),
    ({"filled": 0}, "filled must be a whole number from 1 to 51, got 0"),
    ({"filled": 52.0}, "filled must be a whole number from 1 to 51, got 52: write filled=51"),
]


@pytest.mark.parametrize(
    ("name", "bad", "message"),
    [
        (name, bad, message)
        for name, task in TASKS.items()
        for bad, message in BAD_REQUESTS
        if (set(bad) <= {"count", *task.axes} and not (name in MAY_BE_EMPTY and bad == {"length": 0}))
        or (task.family in ("numbers", "graphs") and set(bad) == {"length"})
    ],
)
def test_bad_requests_are_refused_in_one_line(name, bad, message, generator):
    with pytest.raises(OrdinateError, match=message) as error:
        TASKS[name]().sample(**{"count": 2, "generator": generator, **bad})
    assert "\n" not in str(error.value)
    assert "write" in str(error.value)


@every
def test_show_gives_a_row_a_sample(name, generator):
    task = small(name, 3)
    rows = task.show(task.sample(4, generator=generator))
    assert len(rows) == 4
    assert all(list(row) == ["input", "target"] for row in rows)
    assert all(isinstance(cell, str) and cell for row in rows for cell in row.values())


@every
def test_there_is_a_point_at_which_it_is_as_in_training(name):
    task = TASKS[name]()
    axis, value = trained_point(task)
    tests = test_set(task, axis, value, count=8, seed=0)
    assert tests.in_distribution
    assert tests.lengths == task.lengths()


@every
def test_what_is_shown_can_be_read(name, generator):
    task = small(name)
    batch = task.sample(4, generator=generator)
    rows = task.show(batch)
    if name == "ring":
        with pytest.raises(OrdinateError, match="cannot read an input: leave --input out"):
            task.parse(rows[0]["input"])
        return
    for row in rows:
        read = task.parse(row["input"])
        assert read.coordinates == batch.coordinates
        assert task.show(read)[0]["input"] == row["input"]
        assert torch.equal(read.target, task.reference(read.input, read.coordinates))


@every
def test_changes_change_one_free_token_each(name, generator):
    task = small(name, 4)
    batch = task.sample(2, generator=generator, length=4)
    inputs, token = task.changes(batch, generator)
    differ = (inputs != batch.input[:1]).reshape(len(inputs), len(batch.coordinates), -1).any(-1)
    assert torch.equal(differ.nonzero()[:, 1], token)
    assert set(token.tolist()) <= set(task.free(batch.coordinates, len(batch.coordinates)))
    assert task.reference(inputs, batch.coordinates).shape[0] == len(inputs)
    assert len(task.token_texts(batch.input)) == len(batch.coordinates)


BAD_INPUTS = [
    ("addition", "12+", r"'12\+' is not understood: write 2 whole numbers and a sign, such as 4095\+123"),
    ("addition", "1.5+2", "is not understood"),
    ("addition", "1" * 5000 + "+1", "length must be 1 to 4096, got 5000"),
    ("several", "1+2", r"write 3 whole numbers and 2 signs, such as 4095\+123\+4095"),
    ("several", "1 a + 2 bc + 3", "texts of several lengths between its numbers"),
    ("subtraction", "12-40", "12 is less than 40: write the larger number first"),
    (
        "multiplication",
        "56x4297",
        "the multiplier 56 is not 1 to 9, as in this task: write the multiplier first",
    ),
    ("multiplication", "0x7", "the multiplier 0 is not 1 to 9"),
    ("arithmetic", "5-77", r"write one operation, such as 4095\+123 or 4x4095"),
    ("sum", "1 two 3", "'two' is not a number: write numbers separated by spaces"),
    ("sum", "1 nan", "'nan' is not a number"),
    ("sum", "", "length must be 1 to 4096, got 0"),
    ("sum", "1 2 / 3 4", "is no input of sum: write it as ordinate sample shows it"),
    ("min-sum", "1 2 3 / 4", "is no input of min-sum"),
    ("path", "0 1", "square, got 1 rows, one of 2 numbers: write 0 1 / 1 0"),
    ("bfs", "0 1 1 / 1 0 1", "square, got 2 rows, one of 3 numbers: write 0 1 / 1 0"),
    ("bfs", "0 1 / 1", "square, got 2 rows, one of 1 numbers: write 0 1 / 1 0"),
    ("bfs", "0 1 / 0 0", "an undirected graph has a symmetric matrix"),
    ("bfs", "0 1 / 1 0", "a graph of 2 vertices needs tokens of 2 features, these have 5: write length=2"),
    ("lcs", "1 2 / 3", "lcs reads first, second, got 2 / 1 numbers: write 2 / 2"),
    ("lcs", "1 2 / 3 0.5", "lcs reads whole numbers: write 0 to 4096"),
    ("knapsack", "1 2 / 3 4", "knapsack reads weight, value, capacity, got 2 / 2 numbers: write 2 / 2 / 1"),
    ("k-hop", "abc", "is not understood: write hops and letters, such as 2 abcab"),
    ("k-hop", "9 abcab", "hops must be a whole number from 0 to 1, got 9: write hops=1"),
    ("k-hop", "1 ab", "1 hops need at least 3 letters, got 2: write hops=0, or length=3"),
    ("k-hop", "1 abz", "letter 'z' is not among the 10 of this alphabet: write alphabet=13"),
    ("mixed", "Cata 1.00", "is not understood: write 'Cata 1.50, Cat"),
    (
        "mixed",
        "Cata dear. Find min of categories Cata.",
        "price 'dear' of Cata is not a number: write Cata 1.50",
    ),
    ("mixed", "Cata -1. Find min of categories Cata.", "price '-1' of Cata is not a number"),
    ("mixed", "Cata. Find min of categories Cata.", "price '' of Cata is not a number"),
    ("mixed", "Dog 1.00. Find min of categories Dog.", "'Dog' is not a category: write Cat and one letter"),
    ("mixed", "Cata 1. Find min of categories Catb.", "Catb is asked for and has no price: write Catb 1.50"),
    ("mixed", "Cata 1, Cata 2. Find min of categories Cata.", "there twice: write every category once"),
    ("mixed", "Cat+a 1. Find min of categories Cata.", "has a sign, and no price: write Cat.a alone"),
    ("mixed", "Cata 1. Find min of categories Cata.", "write categories=1, confusing=0, asked=1"),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD_INPUTS)
def test_inputs_that_cannot_be_read_are_refused_in_one_line(name, text, message):
    with pytest.raises(OrdinateError, match=message) as error:
        small(name).parse(text)
    assert "\n" not in str(error.value)
    assert "write" in str(error.value)


@pytest.mark.parametrize("name", ["bfs", "shortest-path", "spanning-tree"])
def test_a_graph_in_two_parts_is_refused_where_it_has_no_answer(name):
    with pytest.raises(OrdinateError, match="asks for a connected graph: write more edges"):
        TASKS[name](length=3).parse("0 1 0 / 1 0 0 / 0 0 0")
    assert TASKS["connectivity"](length=3).parse("0 1 0 / 1 0 0 / 0 0 0").target.sum() == 5


@every
def test_a_task_is_a_value(name):
    task = small(name)
    assert task == small(name)
    assert hash(task) == hash(small(name))
    assert task != small(name, 6)
    assert TASKS[name](**dict(task)) == task
    written = task.model_dump(mode="json")
    assert written.pop("name") == name
    assert TASKS[name](**written) == task


@pytest.mark.parametrize("name", sorted(set(NUMBERS) - {"min-sum", "path"}))
def test_scalar_tasks_have_one_field_and_score_everything(name):
    coordinates = TASKS[name]().coordinates(3)
    assert coordinates.fields == ("number",)
    assert coordinates.ordinate == (0, 1, 2)
    assert TASKS[name]().scored(coordinates).all()


def test_min_sum_has_two_fields_and_scores_one_output():
    coordinates = TASKS["min-sum"]().coordinates(2)
    assert coordinates.fields == ("first", "second")
    assert coordinates.field == (0, 0, 1, 1)
    assert coordinates.ordinate == (0, 1, 0, 1)
    assert TASKS["min-sum"]().scored(coordinates).flatten().tolist() == [True, False, False, False]


def test_path_names_its_tokens_vertices():
    assert TASKS["path"]().coordinates(3).label(2) == "vertex 2"
