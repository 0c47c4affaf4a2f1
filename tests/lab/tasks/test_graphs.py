"""Answers on graphs, against networkx."""

import math

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.adjacency import connected, distances_from_first, spanning_weight, steps_from_first

GRAPHS = ["bfs", "connectivity", "shortest-path", "spanning-tree"]


@st.composite
def batches(draw, max_size=8):
    """Three undirected graphs of one size, connected or not."""
    n = draw(st.integers(1, max_size))
    weight = st.just(0.0) | st.floats(0.01, 100)
    numbers = draw(st.lists(weight, min_size=3 * n * n, max_size=3 * n * n))
    upper = torch.tensor(numbers, dtype=torch.float64).view(3, n, n).triu(1)
    return upper + upper.mT


def networks(graphs):
    for matrix in graphs.numpy():
        network = nx.Graph()
        network.add_nodes_from(range(len(matrix)))
        edges = zip(*matrix.nonzero(), strict=True)
        network.add_weighted_edges_from((int(i), int(j), float(matrix[i, j])) for i, j in edges)
        yield network


def by_vertex(found, vertices):
    return [found.get(vertex, math.inf) for vertex in vertices]


@given(graphs=batches())
def test_steps_are_those_of_networkx(graphs):
    expected = [by_vertex(nx.single_source_shortest_path_length(g, 0), g) for g in networks(graphs)]
    assert steps_from_first(graphs).tolist() == expected


@given(graphs=batches())
def test_distances_are_those_of_networkx(graphs):
    expected = [by_vertex(nx.single_source_dijkstra_path_length(g, 0), g) for g in networks(graphs)]
    torch.testing.assert_close(distances_from_first(graphs), torch.tensor(expected, dtype=torch.float64))


@given(graphs=batches())
def test_connected_pairs_are_those_of_networkx(graphs):
    expected = [[[float(nx.has_path(g, i, j)) for j in g] for i in g] for g in networks(graphs)]
    assert connected(graphs).tolist() == expected


@given(graphs=batches())
def test_the_weight_of_a_spanning_tree_is_that_of_networkx(graphs):
    expected = [
        nx.minimum_spanning_tree(g).size(weight="weight") if nx.is_connected(g) else math.inf
        for g in networks(graphs)
    ]
    torch.testing.assert_close(spanning_weight(graphs), torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", ["bfs", "shortest-path", "spanning-tree"])
def test_graphs_are_connected_and_undirected(name, density, generator):
    batch = make_task(name, length=9).sample(50, generator=generator, density=density)
    assert torch.equal(batch.input, batch.input.mT)
    assert not batch.input.diagonal(dim1=1, dim2=2).any()
    assert batch.target.isfinite().all()
    edges = (batch.input != 0).sum((1, 2)) // 2
    assert edges.min() >= 8
    assert (density > 0) == bool(edges.max() > 8)
    assert density < 1 or bool((edges == 36).all())


def test_trees_are_of_every_shape_and_named_at_random(generator):
    inputs = make_task("bfs", length=3, density=0.0).sample(900, generator=generator).input
    counts = inputs.unique(dim=0, return_counts=True)[1]
    assert len(counts) == 3
    assert counts.min() > 250


def test_connectivity_is_asked_of_pairs_that_are_and_are_not(generator):
    task = make_task("connectivity")
    batch = task.sample(500, generator=generator)
    share = batch.target[:, task.scored(batch.coordinates)].mean()
    assert 0.3 < share < 0.7
    assert task.seen("density", 0.2)
    assert not task.seen("density", 0.3)


@pytest.mark.parametrize("name", ["shortest-path", "spanning-tree"])
def test_weights_grow_with_the_scale(name, generator):
    task = make_task(name)
    near, far = (task.sample(300, generator=generator, scale=c).input for c in (1.0, 10.0))
    assert 1.9 < near.max() <= 2
    assert 18 < far.max() <= 20
    assert (far.amax((1, 2)) > 2).float().mean() > 0.9
    assert task.seen("scale", 1.0)


@pytest.mark.parametrize("name", GRAPHS)
def test_rounds_are_the_steps_to_the_furthest_vertex_reached(name, generator):
    """From vertex 0, where answers start or end; connectivity asks of all pairs, so from any vertex."""
    task = make_task(name)
    batch = task.sample(50, generator=generator)
    expected = [
        max(
            max(nx.single_source_shortest_path_length(g, start).values())
            for start in (g if name == "connectivity" else [0])
        )
        for g in networks(batch.input)
    ]
    assert task.slice("rounds", batch).tolist() == expected
    with pytest.raises(OrdinateError, match="did you mean 'rounds'"):
        task.slice("round", batch)


def test_an_edge_is_there_if_either_end_says_so():
    rows = torch.tensor([[[0.0, 0.0, 0.0], [1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]])
    assert make_task("shortest-path", length=3).reference(rows).flatten().tolist() == [0, 1, 4]


@pytest.mark.parametrize("name", GRAPHS)
def test_a_matrix_that_is_not_square_is_refused(name):
    task = make_task(name, length=3)
    with pytest.raises(OrdinateError, match="square, got 3 rows of 4: write as many rows"):
        task.reference(torch.zeros(1, 3, 4))
    with pytest.raises(OrdinateError, match="these have 3: write length=5"):
        task.coordinates(5)


@pytest.mark.parametrize("matrix", ["0 1 0; 1 0 1; 0 1 0", "0 1 0\n1 0 1\n0 1 0\n"])
def test_rows_of_a_matrix_may_be_written_in_other_ways(matrix):
    task = make_task("bfs", length=3)
    assert torch.equal(task.parse(matrix).input, task.parse("0 1 0 / 1 0 1 / 0 1 0").input)


@pytest.mark.parametrize(
    ("name", "matrix", "target"),
    [
        ("bfs", "0 1 0 / 1 0 1 / 0 1 0", "0 / 1 / 2"),
        ("connectivity", "0 1 0 / 1 0 0 / 0 0 0", "1 0 / 0"),
        ("shortest-path", "0 1 5 / 1 0 2.50 / 5 2.50 0", "0 / 1 / 3.50"),
        ("spanning-tree", "0 1 5 / 1 0 2 / 5 2 0", "3"),
    ],
)
def test_samples_are_written_as_matrices(name, matrix, target):
    rows = torch.tensor([[float(x) for x in row.split()] for row in matrix.split("/")])
    task = make_task(name, length=3)
    assert task.show(task.answered(rows[None])) == [{"input": matrix, "target": target}]
