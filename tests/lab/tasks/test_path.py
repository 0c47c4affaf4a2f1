"""Distances on a path: the reference, the way a path is drawn, padding."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import Batch
from ordinate.lab.tasks.adjacency import all_pairs_distances, path_adjacency
from ordinate.lab.tasks.path import Path

from . import brute_force

weights = st.floats(0.01, 100)


@st.composite
def paths(draw, max_size=12):
    """The adjacency matrix of a path, as a batch of one."""
    n = draw(st.integers(2, max_size))
    edges = draw(st.lists(weights, min_size=n - 1, max_size=n - 1))
    order = draw(st.permutations(range(n)))
    return path_adjacency(torch.tensor([edges], dtype=torch.float64), torch.tensor([order]))


@st.composite
def graphs(draw, max_size=7):
    """The adjacency matrix of any undirected graph, connected or not, as a batch of one."""
    n = draw(st.integers(1, max_size))
    half = draw(st.lists(st.just(0.0) | weights, min_size=n * n, max_size=n * n))
    upper = torch.tensor(half, dtype=torch.float64).view(1, n, n).triu(1)
    return upper + upper.mT


@given(adjacency=paths())
def test_distances_are_those_of_a_walk_along_the_path(adjacency):
    expected = torch.tensor([brute_force.walk(adjacency[0].tolist())], dtype=torch.float64)
    torch.testing.assert_close(all_pairs_distances(adjacency), expected)


@given(adjacency=graphs())
def test_distances_are_shortest_in_any_graph(adjacency):
    expected = torch.tensor([brute_force.floyd_warshall(adjacency[0].tolist())], dtype=torch.float64)
    torch.testing.assert_close(all_pairs_distances(adjacency), expected)


@given(adjacency=paths(), factor=st.floats(0.1, 10))
def test_a_factor_passes_through(adjacency, factor):
    torch.testing.assert_close(
        all_pairs_distances(factor * adjacency), factor * all_pairs_distances(adjacency)
    )


@given(adjacency=paths(), data=st.data())
def test_new_names_rename_the_distances(adjacency, data):
    names = torch.tensor(data.draw(st.permutations(range(adjacency.shape[-1]))))
    renamed = all_pairs_distances(adjacency[:, names][:, :, names])
    torch.testing.assert_close(renamed, all_pairs_distances(adjacency)[:, names][:, :, names])


@pytest.mark.parametrize("length", [2, 3, 5, 8])
def test_what_is_drawn_is_a_path(length, generator):
    adjacency = Path(length=length).sample(200, generator=generator, scale=4.0).input
    assert torch.equal(adjacency, adjacency.mT)
    assert (adjacency >= 0).all()
    degree = (adjacency > 0).sum(-1)
    assert degree.sort(-1).values.tolist() == [[1, 1] + [2] * (length - 2)] * 200
    assert all_pairs_distances(adjacency).isfinite().all()


def test_weights_are_the_absolute_values_of_the_sampling_range(generator):
    adjacency = Path(length=4, low=-3.0, high=1.0).sample(2000, generator=generator, scale=2.0).input
    assert adjacency.max() <= 6
    assert adjacency.max() > 5


def test_names_are_random(generator):
    adjacency = Path(length=3).sample(3000, generator=generator).input
    middle = ((adjacency > 0).sum(-1) == 2).int().argmax(-1)
    assert torch.bincount(middle) / 3000 == pytest.approx([1 / 3] * 3, abs=0.04)


def test_only_distances_above_the_diagonal_are_scored():
    assert Path(length=3).scored(Path(length=3).coordinates(3)).int().tolist() == [
        [0, 1, 1],
        [0, 0, 1],
        [0, 0, 0],
    ]


def test_shorter_paths_are_padded_with_zeros(generator):
    task = Path(length=6, variable=True)
    batch = task.sample(50, generator=generator, length=4)
    assert batch.input.shape == batch.target.shape == (50, 4, 6)
    assert not batch.input[..., 4:].any()
    assert not batch.target[..., 4:].any()
    assert torch.equal(batch.target[..., :4], all_pairs_distances(batch.input[..., :4]))
    assert task.scored(task.coordinates(4)).shape == (4, 6)
    assert int(task.scored(task.coordinates(4)).sum()) == math.comb(4, 2)
    assert task.lengths() == (2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("length", "message"), [(7, "make the task with length=7"), (1, "length must be 2 to")]
)
def test_lengths_that_do_not_fit_are_refused(length, message, generator):
    with pytest.raises(OrdinateError, match=message):
        Path(length=6).sample(1, generator=generator, length=length)
    with pytest.raises(OrdinateError, match=message):
        Path(length=6).coordinates(length)


def test_matrices_are_shown_without_their_padding():
    task = Path(length=4)
    inputs = torch.tensor([[[0.0, 5.0, 7.0, 0.0], [5.0, 0.0, 0.0, 0.0], [7.0, 0.0, 0.0, 0.0]]])
    assert task.show(Batch(inputs, task.reference(inputs), task.coordinates(3))) == [
        {
            "input": "0.00 5.00 7.00 / 5.00 0.00 0.00 / 7.00 0.00 0.00",
            "target": "0.00 5.00 7.00 / 5.00 0.00 12.00 / 7.00 12.00 0.00",
        }
    ]
