"""k-hop: answers by the definition, the published data, unseen letters, what is refused."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.hops import BLANK, KHop

from . import brute_force


def symbols_of(task, k, letters):
    """The tokens of a hop count and some letters."""
    places = [task.first_letter + ord(letter) - ord("a") for letter in letters]
    return torch.tensor([[2 + k, *places]])


@given(letters=st.text("abcdef", min_size=5, max_size=30), k=st.integers(0, 3))
def test_answers_are_those_of_the_definition(letters, k):
    """Whatever the letters, equal neighbours included."""
    task = KHop(length=max(5, len(letters)), alphabet=3)
    inputs = symbols_of(task, k, letters)
    batch = task.sample(1, generator=torch.Generator())._replace(input=inputs, target=task.reference(inputs))
    assert task.show(batch) == [{"input": f"{k} {letters}", "target": brute_force.hop(letters, k)}]
    assert batch.target[0, 0] == BLANK


def test_every_sample_has_its_own_hops(generator):
    task = KHop(length=20)
    for row in task.show(task.sample(200, generator=generator)):
        k, letters = row["input"].split()
        assert row["target"] == brute_force.hop(letters, int(k))


def test_the_defaults_are_those_of_the_paper(generator):
    task = KHop()
    batch = task.sample(400, generator=generator)
    assert (task.features, task.outputs) == (16, 16)
    assert batch.input.shape == batch.target.shape == (400, 99)
    assert batch.input[:, 0].unique().tolist() == [2, 3, 4, 5]
    assert batch.input[:, 1:].unique().tolist() == list(range(6, 11))  # a to e
    assert (batch.input.diff(dim=1) != 0).all()
    assert task.scored(batch.coordinates).tolist() == [[True]] * 99
    assert batch.coordinates.label(0) == "hops 0"
    assert batch.coordinates.label(98) == "letter 97"


@pytest.mark.parametrize(("unseen", "letters"), [(0, "abcde"), (2, "cdefg"), (5, "fghij")])
def test_unseen_letters_replace_those_of_training(unseen, letters, generator):
    task = KHop(length=30)
    rows = task.show(task.sample(50, generator=generator, unseen=unseen))
    assert set("".join(row["input"][2:] for row in rows)) == set(letters)
    assert task.seen("unseen", float(unseen)) is (unseen == 0)


def test_hops_are_an_axis_and_a_slice(generator):
    task = KHop(length=30)
    assert task.slice("hops", task.sample(9, generator=generator, hops=2.0)).tolist() == [2] * 9
    assert set(task.slice("hops", task.sample(200, generator=generator)).tolist()) == {0, 1, 2, 3}
    assert task.seen("hops", 3.0)
    assert task.seen("length", 30.0)
    assert not task.seen("length", 31.0)
    with pytest.raises(OrdinateError, match="did you mean 'hops'"):
        task.slice("hop", task.sample(2, generator=generator))


def test_as_many_hops_as_the_sequence_allows_can_be_made():
    """Each hop goes back one letter at least, and the first letter is behind none."""
    letters = "ababab"
    assert brute_force.hop(letters, 4)[-1] != "~"
    assert brute_force.hop(letters, 5)[-1] == "~"
    assert make_task("k-hop", length=6, hops=4).hops == 4


def test_letters_are_uniform_among_those_whose_neighbours_differ(generator):
    inputs = KHop(length=3, hops=1, alphabet=3).sample(12_000, generator=generator).input[:, 1:]
    counts = inputs.unique(dim=0, return_counts=True)[1]
    assert len(counts) == 12
    assert (counts - 1000).abs().max() < 150


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"hops": 5, "length": 6}, "5 hops need at least 7 letters, got 6: write hops=4, or length=7"),
        ({"alphabet": 1}, "task.alphabet = 1 is not allowed, it should be greater than or equal to 2"),
        ({"alphabet": 27}, "task.alphabet = 27 is not allowed, it should be less than or equal to 26"),
        ({"hops": -1}, "task.hops = -1 is not allowed"),
    ],
)
def test_bad_options_are_refused_in_one_line(options, line):
    with pytest.raises(OrdinateError) as error:
        make_task("k-hop", **options)
    assert line in str(error.value)
    assert "\n" not in str(error.value)
