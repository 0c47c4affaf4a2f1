"""Encodings: the table of names, and the interface that all of them share."""

from ordinate.plugins import Table
from ordinate.positions.encodings.abacus import Abacus
from ordinate.positions.encodings.alibi import Alibi
from ordinate.positions.encodings.combine import Combined, NoPosition
from ordinate.positions.encodings.coupling import Coupling
from ordinate.positions.encodings.dape import Dape
from ordinate.positions.encodings.encoding import Encoding, EncodingSettings, Pairs, Site
from ordinate.positions.encodings.fire import Fire
from ordinate.positions.encodings.kerple import KerpleLog, KerplePower
from ordinate.positions.encodings.pairwise import Pairwise, PairwiseEncoding
from ordinate.positions.encodings.randomized import Randomized
from ordinate.positions.encodings.rope import Rope, RotaryEncoding
from ordinate.positions.encodings.rpe import RpeLin, RpeLog, SlopeBias
from ordinate.positions.encodings.shaw import Shaw
from ordinate.positions.encodings.significance import Significance
from ordinate.positions.encodings.sinusoidal import Sinusoidal
from ordinate.positions.encodings.t5 import T5
from ordinate.positions.encodings.upe import Upe
from ordinate.positions.encodings.vectors import (
    DUMMY,
    Binary,
    Learned,
    OneHot,
    TableEncoding,
    VectorEncoding,
)

_VECTORS = (NoPosition, OneHot, Binary, Sinusoidal, Learned, Randomized, Abacus, Coupling)
_ROTATIONS = (Rope,)
_PAIRS = (Shaw, Upe, Significance, Pairwise)
_BIASES = (T5, Alibi, KerpleLog, KerplePower, Fire, RpeLin, RpeLog, Dape)

ENCODINGS: Table[EncodingSettings] = Table(
    EncodingSettings,  # type: ignore[type-abstract]
    "ordinate.encodings",
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
    "PairwiseEncoding",
    "Randomized",
    "Rope",
    "RotaryEncoding",
    "RpeLin",
    "RpeLog",
    "Shaw",
    "Significance",
    "Sinusoidal",
    "Site",
    "SlopeBias",
    "TableEncoding",
    "Upe",
    "VectorEncoding",
]
