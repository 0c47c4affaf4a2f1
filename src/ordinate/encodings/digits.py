"""Learned vectors for a digit's place in its number: Abacus and position coupling, and which fields are numbers."""

from abc import abstractmethod
from collections.abc import Iterable

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import BuildSpec, Encoding
from ordinate.encodings.helpers import Cache
from ordinate.encodings.vectors import DUMMY, append
from ordinate.errors import OrdinateError

TEXT = "text"
"""Field of words; their ordinates are places in the text."""

SIGN = "sign"
"""Field of operators between numbers."""


def known_fields(given: Iterable[str], trained: Iterable[Coordinates], kind: str) -> tuple[str, ...]:
    """Return the given fields, all of which must be in training."""
    given, known = tuple(given), _fields(trained)
    for field in given:
        if field not in known:
            raise OrdinateError(
                f"encoding {kind!r}: there is no field {field!r} in these sequences: write fields = [...] with some "
                f"of {', '.join(name for name in known if name != DUMMY)}, or choose another encoding"
            )
    return given


def number_fields(
    given: Iterable[str] | None, trained: Iterable[Coordinates], kind: str, without: Iterable[str] = (TEXT,)
) -> tuple[str, ...]:
    """Return the given fields, or where none are given all of training but some and the model's dummy.

    >>> number_fields(None, [Coordinates.of(first=range(2), text=range(3), dummy=range(1))], "abacus")
    ('first',)
    """
    if given is not None:
        return known_fields(given, trained, kind)
    left_out = {DUMMY, *without}
    found = tuple(field for field in _fields(trained) if field not in left_out)
    if not found:
        raise OrdinateError(
            f"encoding {kind!r} needs a field of numbers, these sequences have {', '.join(_fields(trained))}: "
            "write fields = [...] or choose another encoding"
        )
    return found


def _fields(trained: Iterable[Coordinates]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(field for coordinates in trained for field in coordinates.fields))


class PlaceEncoding(Encoding):
    """Row ordinate + 1 for tokens in fields of numbers, row 0 for all others.

    In training all numbers of a sequence are moved by one random offset, so that rows of longer numbers are trained
    too.
    """

    random = True

    @abstractmethod
    def draw(self, room: int, batch: int) -> Int[Tensor, "#batch 1"]:
        """The offsets of a batch in training, where there is room for offsets 0 .. room."""

    def has_places(self, fields: Iterable[str], rows: int, width: int, std: float) -> None:
        """Make the table for tokens in these fields."""
        self.inside, self.extra_features = frozenset(fields), width
        self.table = nn.Parameter(std * torch.randn(rows, width))
        self._places = Cache[tuple[Tensor, int]]()

    def places(self, coordinates: Coordinates) -> list[int]:
        """The row of every token before any offset."""
        inside = [coordinates.fields[field] in self.inside for field in coordinates.field]
        places = [o + 1 if number else 0 for o, number in zip(coordinates.ordinate, inside, strict=True)]
        furthest = len(self.table) - 1
        for token, place in enumerate(places):
            if inside[token] and not 1 <= place <= furthest:
                raise OrdinateError(
                    f"{coordinates.label(token)!r} at {len(coordinates)} tokens: {self.name} has vectors for places "
                    f"0 to {furthest - 1} of a field: write model.encoding.furthest = {max(places)} or more and "
                    "train again, or evaluate shorter numbers"
                )
        return places

    def vectors(self, coordinates: Coordinates, batch: int) -> Float[Tensor, "#batch token width"]:
        """P; in training with offsets from the global generator of the CPU."""
        device = self.table.device

        def find() -> tuple[Tensor, int]:
            places = self.places(coordinates)
            return torch.tensor(places).to(device), len(self.table) - 1 - max(places)

        places, room = self._places((coordinates, device), find)
        if not self.training:
            return self.table[places[None]]
        return self.table[torch.where(places > 0, places + self.draw(room, batch).to(device), 0)]

    @override
    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        return append(x, self.vectors(coordinates, len(x)))


class Abacus(
    PlaceEncoding,
    name="abacus",
    summary="a learned vector for a digit's place in its number, moved at random in training",
    extrapolation="defined: up to `furthest` digits, trained by random offsets; refused above",
    source="McLeish et al. 2024, arXiv 2405.17399",
):
    """P[i] = a_{1 + ordinate + k}, the digit's place inside its own number; a_0 for tokens that are no digits.

    The offset k is uniform on 0 .. spread in training (one for each batch, and no more than `furthest` has room for)
    and 0 outside of it. Places count from the least significant digit, where the paper reverses its numbers.

    Example: `encoding = {kind = "abacus", furthest = 128, spread = 99}`.
    """

    furthest: int = Field(default=128, ge=1, le=10**6, description="digits of the longest number")
    spread: int = Field(default=99, ge=0, description="largest offset in training")
    width: int = Field(default=16, ge=1, le=4096, description="columns appended to a token")
    std: float = Field(default=1.0, gt=0, description="standard deviation of the first values")
    fields: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="fields of numbers; all but `text` and `sign` where not given"
    )

    @override
    def setup(self, spec: BuildSpec) -> None:
        fields = number_fields(self.fields, spec.trained, self.name, without=(TEXT, SIGN))
        self.has_places(fields, self.furthest + 1, self.width, self.std)
        for coordinates in reversed(spec.trained):
            self.places(coordinates)

    @override
    def draw(self, room: int, batch: int) -> Int[Tensor, "#batch 1"]:
        return torch.randint(0, min(self.spread, room) + 1, (1, 1), device="cpu")


class Coupling(
    PlaceEncoding,
    name="coupling",
    summary="tokens of equal significance share a learned vector, ids start at random in training",
    extrapolation="defined: up to `furthest` places, trained by random starts; refused above",
    source="Cho et al. 2024, arXiv 2405.20671",
):
    """P[i] = a_{s + ordinate}: tokens of equal significance share one position id, in whatever field they are.

    In training the first id s is uniform over all that leave room for the longest number of the sequence below
    `furthest` (one for each sequence); outside of it s = 1. Operators take part with their ordinate, text and a model's
    dummy have the id 0.

    Example: `encoding = {kind = "coupling", furthest = 128}`.
    """

    furthest: int = Field(default=128, ge=1, le=10**6, description="largest position id")
    width: int = Field(default=16, ge=1, le=4096, description="columns appended to a token")
    std: float = Field(default=1.0, gt=0, description="standard deviation of the first values")
    fields: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="fields that are coupled; all but `text` where not given"
    )

    @override
    def setup(self, spec: BuildSpec) -> None:
        fields = number_fields(self.fields, spec.trained, self.name, without=(TEXT,))
        self.has_places(fields, self.furthest + 1, self.width, self.std)
        for coordinates in reversed(spec.trained):
            self.places(coordinates)

    @override
    def draw(self, room: int, batch: int) -> Int[Tensor, "#batch 1"]:
        return torch.randint(0, room + 1, (batch, 1), device="cpu")
