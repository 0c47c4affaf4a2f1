"""Places: the coordinates of queries and keys as tensors that broadcast against each other."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ordinate.coordinates import Coordinates

_NAMES: dict[int, str] = {}


@lru_cache(maxsize=1024)
def field_code(name: str) -> int:
    """A number that stands for a field's name, the same in every process and layout."""
    code = int.from_bytes(sha256(name.encode()).digest()[:4], "big")
    _NAMES[code] = name
    return code


def field_name(code: int) -> str:
    """The name that a code stands for."""
    return _NAMES[code]


@dataclass(frozen=True)
class Places:
    """Fields, ordinates and indices of some tokens; queries stand in a column, keys in a row.

    >>> places = Places.of(Coordinates.of(first=range(2), second=range(2)))
    >>> (places.column().ordinate - places.row().ordinate).tolist()
    [[0, -1, 0, -1], [1, 0, 1, 0], [0, -1, 0, -1], [1, 0, 1, 0]]
    """

    field: Int[Tensor, "..."]
    """Codes of the fields, see `inside`."""
    ordinate: Int[Tensor, "..."]
    index: Int[Tensor, "..."]
    """Place in the sequence."""
    tokens: int
    """Length of the whole sequence."""

    @classmethod
    def of(cls, coordinates: Coordinates) -> "Places":
        """All tokens of a sequence."""
        codes = torch.tensor([field_code(name) for name in coordinates.fields], dtype=torch.long)
        tokens = len(coordinates)
        return cls(codes[coordinates.field_tensor], coordinates.ordinate_tensor, torch.arange(tokens), tokens)

    def inside(self, *fields: str) -> Bool[Tensor, "..."]:
        """Whether a token is in one of these fields."""
        codes = torch.tensor([field_code(name) for name in fields], dtype=torch.long)
        return torch.isin(self.field, codes)

    def along(self, coordinate: str) -> Int[Tensor, "..."]:
        """The ordinate, or the index."""
        return self.index if coordinate == "index" else self.ordinate

    def part(self, chosen: Int[Tensor, " token"] | slice) -> "Places":
        """Some of the tokens."""
        return Places(self.field[chosen], self.ordinate[chosen], self.index[chosen], self.tokens)

    def column(self) -> "Places":
        """As queries: [token, 1]."""
        return Places(self.field[:, None], self.ordinate[:, None], self.index[:, None], self.tokens)

    def row(self) -> "Places":
        """As keys: [1, token]."""
        return Places(self.field[None], self.ordinate[None], self.index[None], self.tokens)
