"""Encodings: the table of names, and the interface that all of them share."""

from ordinate.encodings.bias import T5, Alibi, Fire, KerpleLog, KerplePower
from ordinate.encodings.class_vectors import ClassVectorEncoding, Pairwise, Shaw, Significance, Upe
from ordinate.encodings.combine import Combined, NoPosition
from ordinate.encodings.dape import Dape
from ordinate.encodings.digits import Abacus, Coupling
from ordinate.encodings.encoding import BuildSpec, Encoding, EncodingSettings, Pairs
from ordinate.encodings.flex import Scored
from ordinate.encodings.rotary import Rope
from ordinate.encodings.rpe import RpeLin, RpeLog, SlopeBias
from ordinate.encodings.vectors import (
    DUMMY,
    Binary,
    Learned,
    OneHot,
    Randomized,
    Sinusoidal,
    TableEncoding,
    VectorEncoding,
)
from ordinate.kinds import Table

_VECTORS = (NoPosition, OneHot, Binary, Sinusoidal, Learned, Randomized, Abacus, Coupling)
_ROTATIONS = (Rope,)
_PAIRS = (Shaw, Upe, Significance, Pairwise)
_BIASES = (T5, Alibi, KerpleLog, KerplePower, Fire, RpeLin, RpeLog, Dape)

ENCODINGS: Table[EncodingSettings] = Table(
    EncodingSettings, [kind.Settings for kind in (*_VECTORS, *_ROTATIONS, *_PAIRS, *_BIASES)]
)
"""The settings of every encoding that a recipe can name, by where it enters: tokens, rotations, pairs, scores."""

__all__ = [
    "DUMMY",
    "ENCODINGS",
    "T5",
    "Abacus",
    "Alibi",
    "Binary",
    "BuildSpec",
    "ClassVectorEncoding",
    "Combined",
    "Coupling",
    "Dape",
    "Encoding",
    "EncodingSettings",
    "Fire",
    "KerpleLog",
    "KerplePower",
    "Learned",
    "NoPosition",
    "OneHot",
    "Pairs",
    "Pairwise",
    "Randomized",
    "Rope",
    "RpeLin",
    "RpeLog",
    "Scored",
    "Shaw",
    "Significance",
    "Sinusoidal",
    "SlopeBias",
    "TableEncoding",
    "Upe",
    "VectorEncoding",
]
