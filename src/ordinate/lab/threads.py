"""How many threads PyTorch computes with, for a while: small matrices lose on many."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Compute with that many threads inside the block.

    >>> with threads(1):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
