"""`torch.vmap` over functions with a backward pass of their own: one call for each member of an ensemble."""

from typing import Any

import torch


def map_members(
    function: type[torch.autograd.Function], info: Any, in_dims: tuple[int | None, ...], args: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Call the function for every member and stack what it returns.

    Of a tuple only the first is: the others are what a call keeps for its own backward pass.
    """
    calls = [
        function.apply(
            *(a if dim is None else a.select(dim, k) for a, dim in zip(args, in_dims, strict=True))
        )
        for k in range(info.batch_size)
    ]
    if isinstance(calls[0], tuple):
        return (torch.stack([call[0] for call in calls]),), (0,)
    return torch.stack(calls), 0
