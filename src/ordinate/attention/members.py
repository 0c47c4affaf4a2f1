"""`torch.vmap` over functions with a backward pass of their own: one call for each member of an ensemble."""

from typing import Any

import torch


def map_members(
    function: type[torch.autograd.Function], info: Any, in_dims: tuple[int | None, ...], args: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Call the function for every member and stack what it returns, None and tuples included."""
    calls = [
        function.apply(
            *(a if dim is None else a.select(dim, k) for a, dim in zip(args, in_dims, strict=True))
        )
        for k in range(info.batch_size)
    ]
    if not isinstance(calls[0], tuple):
        return torch.stack(calls), 0
    outputs = [None if parts[0] is None else torch.stack(parts) for parts in zip(*calls, strict=True)]
    return tuple(outputs), tuple(None if out is None else 0 for out in outputs)
