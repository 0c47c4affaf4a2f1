"""Encodings: the table of names, and the interface that all of them share."""

from ordinate.positions.encodings.combine import Combined, NoPosition
from ordinate.positions.encodings.encoding import ClassVectors, Encoding, EncodingSettings
from ordinate.positions.encodings.rope import Rope, RotaryEncoding
from ordinate.positions.encodings.vectors import (
    DUMMY,
    Binary,
    Learned,
    OneHot,
    Sinusoidal,
    VectorEncoding,
)

ENCODINGS: dict[str, type[EncodingSettings]] = {
    kind.name: kind for kind in (NoPosition, OneHot, Binary, Sinusoidal, Learned, Rope)
}

__all__ = [
    "DUMMY",
    "ENCODINGS",
    "Binary",
    "ClassVectors",
    "Combined",
    "Encoding",
    "EncodingSettings",
    "Learned",
    "NoPosition",
    "OneHot",
    "Rope",
    "RotaryEncoding",
    "Sinusoidal",
    "VectorEncoding",
]
