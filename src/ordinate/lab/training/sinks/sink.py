"""What a sink is: it takes numbers of a seed at a step, and learns how the seed ended."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Subject:
    """What is trained: the name of the recipe, its settings under dotted keys, and the id of every seed's run."""

    name: str
    settings: Mapping[str, object] = field(default_factory=dict)
    ids: Mapping[int, str] = field(default_factory=dict)


class Sink(ABC):
    """A place that is told of a training. A seed is opened by its first numbers, so that nothing leaves no trace."""

    name: ClassVar[str]
    """What a person calls it."""

    @abstractmethod
    def log(self, seed: int, step: int, values: Mapping[str, float]) -> None:
        """Take the numbers of a seed at a step; names are `loss`, `rate` and `scores/POINT`."""

    @abstractmethod
    def end(self, seed: int, status: str) -> None:
        """Close a seed: done, failed, or running where training was stopped."""
