"""What Abacus and position coupling share: a learned vector for a digit's place in its number."""

from collections.abc import Iterable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.encodings.cache import Cache
from ordinate.encodings.encoding import Encoding
from ordinate.encodings.vectors import append
from ordinate.errors import OrdinateError


class PlaceEncoding(Encoding):
    """Row ordinate + 1 for tokens in fields of numbers, row 0 for all others.

    In training all numbers of a sequence are moved by one random offset, so that rows of longer numbers are trained
    too: one for all of a batch, or one for `each` sequence.
    """

    random: bool = True

    def __init__(
        self,
        kind: str,
        fields: Iterable[str],
        *,
        furthest: int,
        spread: int,
        each: bool,
        width: int,
        std: float,
    ) -> None:
        super().__init__()
        self.kind, self.fields, self.each = kind, frozenset(fields), each
        self.furthest, self.spread, self.extra_features = furthest, spread, width
        self.table = nn.Parameter(std * torch.randn(furthest + 1, width))
        self._places = Cache[tuple[Tensor, int]]()

    def places(self, coordinates: Coordinates) -> Int[Tensor, " token"]:
        """The row of every token before any offset."""
        inside = [coordinates.fields[field] in self.fields for field in coordinates.field]
        places = [o + 1 if number else 0 for o, number in zip(coordinates.ordinate, inside, strict=True)]
        for token, place in enumerate(places):
            if inside[token] and not 1 <= place <= self.furthest:
                raise OrdinateError(
                    f"{coordinates.label(token)!r} at {len(coordinates)} tokens: {self.kind} has vectors for places "
                    f"0 to {self.furthest - 1} of a field: write model.encoding.furthest = {max(places)} or more and "
                    "train again, or evaluate shorter numbers"
                )
        return torch.tensor(places, dtype=torch.long)

    def vectors(self, coordinates: Coordinates, batch: int) -> Float[Tensor, "#batch token width"]:
        """P; in training with offsets from the global generator."""
        device = self.table.device

        def find() -> tuple[Tensor, int]:
            places = self.places(coordinates)
            return places.to(device), min(self.spread, self.furthest - int(places.max()))

        places, room = self._places((coordinates, device), find)
        if not self.training:
            return self.table[places[None]]
        offsets = torch.randint(0, room + 1, (batch if self.each else 1, 1)).to(device)
        return self.table[torch.where(places > 0, places + offsets, 0)]

    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        """X | P."""
        return append(x, self.vectors(coordinates, len(x)))
