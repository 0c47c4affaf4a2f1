"""Breadth-first search, all graphs of a batch at once."""

import torch
from jaxtyping import Float
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
