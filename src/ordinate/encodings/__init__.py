"""Encodings: the table of names, and the interface that all of them share."""

from ordinate.encodings.abacus import Abacus
from ordinate.encodings.alibi import Alibi
from ordinate.encodings.combine import Combined, NoPosition
from ordinate.encodings.coupling import Coupling
from ordinate.encodings.dape import Dape
from ordinate.encodings.encoding import BuildSpec, Encoding, EncodingSettings, NoPlaceError, Pairs, Terms
from ordinate.encodings.fire import Fire
from ordinate.encodings.kerple import KerpleLog, KerplePower
from ordinate.encodings.pairwise import Pairwise, PairwiseEncoding
from ordinate.encodings.randomized import Randomized
from ordinate.encodings.rope import Rope, RotaryEncoding
from ordinate.encodings.rpe import RpeLin, RpeLog, SlopeBias
from ordinate.encodings.shaw import Shaw
from ordinate.encodings.significance import Significance
from ordinate.encodings.sinusoidal import Sinusoidal
from ordinate.encodings.t5 import T5
from ordinate.encodings.upe import Upe
from ordinate.encodings.vectors import (
    DUMMY,
    Binary,
    Learned,
    OneHot,
    TableEncoding,
    VectorEncoding,
)
from ordinate.kinds import Table

_VECTORS = (NoPosition, OneHot, Binary, Sinusoidal, Learned, Randomized, Abacus, Coupling)
_ROTATIONS = (Rope,)
_PAIRS = (Shaw, Upe, Significance, Pairwise)
_BIASES = (T5, Alibi, KerpleLog, KerplePower, Fire, RpeLin, RpeLog, Dape)

ENCODINGS: Table[EncodingSettings] = Table(
    EncodingSettings,  # type: ignore[type-abstract]
    (*_VECTORS, *_ROTATIONS, *_PAIRS, *_BIASES),
)
"""Every encoding that a recipe can name, by where it enters: tokens, queries and keys, pairs, scores."""

__all__ = [
    "DUMMY",
    "ENCODINGS",
    "T5",
    "Abacus",
    "Alibi",
    "Binary",
    "BuildSpec",
    "Combined",
    "Coupling",
    "Dape",
    "Encoding",
    "EncodingSettings",
    "Fire",
    "KerpleLog",
    "KerplePower",
    "Learned",
    "NoPlaceError",
    "NoPosition",
    "OneHot",
    "Pairs",
    "Pairwise",
    "PairwiseEncoding",
    "Randomized",
    "Rope",
    "RotaryEncoding",
    "RpeLin",
    "RpeLog",
    "Shaw",
    "Significance",
    "Sinusoidal",
    "SlopeBias",
    "TableEncoding",
    "Terms",
    "Upe",
    "VectorEncoding",
]
