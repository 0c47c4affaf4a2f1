"""How graphs are drawn: a random tree, or nothing, and every other pair with the same probability."""

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor

Adjacency = Bool[Tensor, "batch vertex vertex"]


def draw_tree(count: int, vertices: int, generator: Generator) -> Adjacency:
    """Trees in which vertex k hangs on a random earlier one, then named at random.

    >>> bool((draw_tree(3, 5, torch.Generator()).sum((1, 2)) == 2 * 4).all())
    True
    """
    device = generator.device
    earlier = torch.rand(count, vertices - 1, generator=generator, device=device)
    child = torch.arange(1, vertices, device=device).expand(count, -1)
    # rand is below 1, but its product with a large k can round up to k.
    parent = (earlier * child).long().clamp(max=child - 1)
    name = torch.rand(count, vertices, generator=generator, device=device).argsort(-1)
    tree = torch.zeros(count, vertices, vertices, dtype=torch.bool, device=device)
    tree[torch.arange(count, device=device)[:, None], name.gather(1, child), name.gather(1, parent)] = True
    return tree | tree.mT


def draw_pairs(count: int, vertices: int, density: float, generator: Generator) -> Adjacency:
    """Every pair of vertices is an edge with probability `density`.

    >>> draw_pairs(2, 4, 1.0, torch.Generator()).sum((1, 2)).tolist()
    [12, 12]
    """
    drawn = torch.rand(count, vertices, vertices, generator=generator, device=generator.device) < density
    upper = drawn.triu(1)
    return upper | upper.mT


def either_end(adjacency: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex vertex"]:
    """The undirected graph that rows describe: an edge is there if either end says so, with the larger weight.

    >>> either_end(torch.tensor([[[7.0, 2.0], [0.0, 0.0]]])).tolist()
    [[[0.0, 2.0], [2.0, 0.0]]]
    """
    both = torch.maximum(adjacency, adjacency.mT)
    return both - torch.diag_embed(both.diagonal(dim1=-2, dim2=-1))
