"""What depends on positions only is computed once and kept."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import torch

V = TypeVar("V")


class Cache(Generic[V]):
    """A few results by key, normally the coordinates; the oldest is forgotten.

    >>> squares = Cache[int](most=2)
    >>> [squares(n, lambda: n * n) for n in (1, 2, 3)], len(squares)
    ([1, 4, 9], 2)
    """

    def __init__(self, most: int = 32) -> None:
        self.most = most
        self._kept: dict[Hashable, V] = {}

    def __call__(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return what is kept under the key, made now if it is not there, as tensors that can be trained with."""
        if key not in self._kept:
            with torch.inference_mode(False):
                made = make()
            if len(self._kept) >= self.most:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = made
        return self._kept[key]

    def __len__(self) -> int:
        return len(self._kept)
