"""Graphs as adjacency matrices, all of a batch at once: how they are drawn, and exact answers."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from ordinate.lab.tasks.sampling import chances

Adjacency = Bool[Tensor, "batch vertex vertex"]


def draw_tree(count: int, vertices: int, generator: Generator) -> Adjacency:
    """Trees in which vertex k hangs on a random earlier one, then named at random.

    >>> bool((draw_tree(3, 5, torch.Generator()).sum((1, 2)) == 2 * 4).all())
    True
    """
    device = generator.device
    earlier = chances((count, vertices - 1), generator)
    child = torch.arange(1, vertices, device=device).expand(count, -1)
    # rand is below 1, but its product with a large k can round up to k.
    parent = (earlier * child).long().clamp(max=child - 1)
    name = chances((count, vertices), generator).argsort(-1)
    tree = torch.zeros(count, vertices, vertices, dtype=torch.bool, device=device)
    tree[torch.arange(count, device=device)[:, None], name.gather(1, child), name.gather(1, parent)] = True
    return tree | tree.mT


def draw_pairs(count: int, vertices: int, density: float, generator: Generator) -> Adjacency:
    """Every pair of vertices is an edge with probability `density`.

    >>> draw_pairs(2, 4, 1.0, torch.Generator()).sum((1, 2)).tolist()
    [12, 12]
    """
    drawn = chances((count, vertices, vertices), generator) < density
    upper = drawn.triu(1)
    return upper | upper.mT


def either_end(adjacency: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex vertex"]:
    """The undirected graph that rows describe: an edge is there if either end says so, with the larger weight.

    >>> either_end(torch.tensor([[[7.0, 2.0], [0.0, 0.0]]])).tolist()
    [[[0.0, 2.0], [2.0, 0.0]]]
    """
    both = torch.maximum(adjacency, adjacency.mT)
    return both - torch.diag_embed(both.diagonal(dim1=-2, dim2=-1))


def steps_from_first(graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex"]:
    """d_i = the fewest edges between vertex 0 and vertex i, infinite where no edges lead there.

    >>> steps_from_first(torch.tensor([[[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])).tolist()
    [[0.0, 1.0, 2.0]]
    """
    return distances_from_first((graph != 0).to(graph.dtype))


def longest_of_shortest(graph: Float[Tensor, "batch vertex vertex"]) -> Int[Tensor, " batch"]:
    """The largest over connected vertices i, j of the fewest edges between them.

    >>> longest_of_shortest(torch.tensor([[[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])).tolist()
    [2]
    """
    steps = all_pairs_distances((graph != 0).to(graph.dtype))
    return steps.masked_fill(steps.isinf(), 0).amax((1, 2)).long()


def connected(graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex vertex"]:
    """r_ij = 1 where edges lead from i to j, else 0; r_ii = 1.

    Walks of up to 2^s edges after s squarings: log2 n of them reach everything.

    >>> connected(torch.tensor([[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]])).tolist()
    [[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]
    """
    vertices = graph.shape[-1]
    reached = (graph != 0).to(graph.dtype) + torch.eye(vertices, dtype=graph.dtype, device=graph.device)
    for _ in range(max(1, (vertices - 1).bit_length())):
        reached = (reached @ reached > 0).to(graph.dtype)
    return reached


def distances_from_first(graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex"]:
    """d_i = the least total weight of a path from vertex 0 to i (Bellman-Ford), infinite where there is none.

    Weights are positive and 0 means no edge. In every round d_i <- min(d_i, min_j d_j + w_ji), at most n - 1 rounds.

    >>> distances_from_first(torch.tensor([[[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]]])).tolist()
    [[0.0, 1.0, 3.0]]
    """
    weights = graph.masked_fill(graph == 0, torch.inf)
    distances = torch.full_like(graph[:, 0], torch.inf)
    distances[:, 0] = 0
    for _ in range(graph.shape[1] - 1):
        shorter = torch.minimum(distances, (distances[..., None] + weights).amin(1))
        if torch.equal(shorter, distances):
            break
        distances = shorter
    return distances


def spanning_weight(graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, " batch"]:
    """The least total weight of edges that connect all vertices (Prim), infinite where none do.

    Weights are positive and 0 means no edge. All graphs of a batch in step: n - 1 times, the vertex that is cheapest to
    reach joins the tree, and its edges are offered to the others.

    >>> spanning_weight(torch.tensor([[[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]]])).tolist()
    [3.0]
    """
    weights = graph.masked_fill(graph == 0, torch.inf)
    price, outside = weights[:, 0].clone(), torch.ones_like(graph[:, 0], dtype=torch.bool)
    outside[:, 0] = False
    row = torch.arange(len(graph), device=graph.device)
    total = graph.new_zeros(len(graph))
    for _ in range(graph.shape[1] - 1):
        # Where the rest cannot be reached all prices outside are infinite, and so is the total from then on.
        least, vertex = price.masked_fill(~outside, torch.inf).min(-1)
        total = total + least
        outside[row, vertex] = False
        price = torch.minimum(price, weights[row, vertex])
    return total


def all_pairs_distances(
    adjacency: Float[Tensor, "batch vertex vertex"],
) -> Float[Tensor, "batch vertex vertex"]:
    """D_ij = the least total weight of a walk from i to j (Floyd-Warshall); infinite where there is none.

    Weights are positive and 0 means no edge. Vertex k is let in after vertices 0, ..., k - 1:
    D_ij <- min(D_ij, D_ik + D_kj).

    >>> all_pairs_distances(torch.tensor([[[0.0, 5.0, 7.0], [5.0, 0.0, 0.0], [7.0, 0.0, 0.0]]])).tolist()
    [[[0.0, 5.0, 7.0], [5.0, 0.0, 12.0], [7.0, 12.0, 0.0]]]
    """
    distances = adjacency.masked_fill(adjacency == 0, torch.inf)
    distances.diagonal(dim1=-2, dim2=-1).zero_()
    for k in range(adjacency.shape[-1]):
        distances = torch.minimum(distances, distances[:, :, k : k + 1] + distances[:, k : k + 1, :])
    return distances


def path_adjacency(
    weights: Float[Tensor, "batch edge"], order: Int[Tensor, "batch vertex"]
) -> Float[Tensor, "batch vertex vertex"]:
    """A[order_k, order_{k+1}] = A[order_{k+1}, order_k] = weight_k, zero elsewhere.

    >>> path_adjacency(torch.tensor([[5.0, 7.0]]), torch.tensor([[1, 0, 2]])).tolist()
    [[[0.0, 5.0, 7.0], [5.0, 0.0, 0.0], [7.0, 0.0, 0.0]]]
    """
    count, size = order.shape
    adjacency = weights.new_zeros(count, size, size)
    row = torch.arange(count, device=order.device).unsqueeze(1)
    tail, head = order[:, :-1], order[:, 1:]
    adjacency[row, tail, head] = weights
    adjacency[row, head, tail] = weights
    return adjacency
