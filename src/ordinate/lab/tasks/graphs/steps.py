"""Breadth-first search, all graphs of a batch at once."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def steps_from_first(graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex"]:
    """d_i = the fewest edges between vertex 0 and vertex i, infinite where no edges lead there.

    All graphs of a batch in step: the vertices next to those reached in d - 1 steps, and not reached before, are
    reached in d.

    >>> steps_from_first(torch.tensor([[[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])).tolist()
    [[0.0, 1.0, 2.0]]
    """
    edges = (graph != 0).to(graph.dtype)
    steps = torch.full_like(graph[:, 0], torch.inf)
    steps[:, 0] = 0
    for step in range(1, graph.shape[1]):
        front = (steps == step - 1).to(graph.dtype)
        if not front.any():
            break
        near = (front[:, None] @ edges)[:, 0] > 0
        steps = torch.where(near & steps.isinf(), float(step), steps)
    return steps


def longest_of_shortest(graph: Float[Tensor, "batch vertex vertex"]) -> Int[Tensor, " batch"]:
    """The largest over connected vertices i, j of the fewest edges between them.

    >>> longest_of_shortest(torch.tensor([[[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])).tolist()
    [2]
    """
    edges = (graph != 0).to(graph.dtype)
    reached = torch.eye(graph.shape[1], dtype=torch.bool, device=graph.device).expand(graph.shape)
    longest = torch.zeros(len(graph), dtype=torch.long, device=graph.device)
    for step in range(1, graph.shape[1]):
        further = reached | (reached.to(graph.dtype) @ edges > 0)
        new = (further != reached).any((1, 2))
        if not new.any():
            break
        longest, reached = longest.masked_fill(new, step), further
    return longest
