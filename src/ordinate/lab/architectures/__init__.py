"""Architectures: the models of the papers, and the one table of all kinds of model that a recipe can name.

What a model of one's own is built from, relations, encodings, attention and the residual encoder, is in front, in
`ordinate.models` and before it. Here are those that papers trained as they stand: `concat` of arXiv 2410.01686, which
`merged` makes fast, with the twins of its k-hop experiment in `decoder`; `memory` of arXiv 2402.00522, whose heads that
know the lag alone run as convolutions. Their layers of attention are `concat_attention` and `memory_attention`. `scan`
passes on rounded states, and can be proven.
"""

from ordinate.lab.architectures.concat import (
    ABLATION,
    MIXED_TYPES,
    ConcatBlock,
    ConcatTransformer,
    Hybrid,
    Positional,
    Standard,
)
from ordinate.lab.architectures.concat_attention import (
    ConcatAttention,
    ContentAttention,
    HybridAttention,
    PositionalAttention,
    ScoredAttention,
)
from ordinate.lab.architectures.decoder import Decoder, PositionalDecoder
from ordinate.lab.architectures.memory import Ffn, Memory, MemoryTransformer, NoNorm, PostNorm, PreNorm
from ordinate.lab.architectures.memory_attention import LOOKS, Dp, DpFree, Hard, Look, MemoryAttention, Tmx
from ordinate.lab.architectures.precision import LogsOfWholeNumbers, Precision, WholeNumbers
from ordinate.lab.architectures.scan import Scan, ScanSettings, Signs
from ordinate.models import ModelSettings, ResidualEncoder

MODELS: dict[str, type[ModelSettings]] = {
    kind.name: kind
    for kind in (
        Positional,
        Standard,
        Hybrid,
        ResidualEncoder,
        Decoder,
        PositionalDecoder,
        Memory,
        ScanSettings,
    )
}

__all__ = [
    "ABLATION",
    "LOOKS",
    "MIXED_TYPES",
    "MODELS",
    "ConcatAttention",
    "ConcatBlock",
    "ConcatTransformer",
    "ContentAttention",
    "Decoder",
    "Dp",
    "DpFree",
    "Ffn",
    "Hard",
    "Hybrid",
    "HybridAttention",
    "LogsOfWholeNumbers",
    "Look",
    "Memory",
    "MemoryAttention",
    "MemoryTransformer",
    "NoNorm",
    "Positional",
    "PositionalAttention",
    "PositionalDecoder",
    "PostNorm",
    "PreNorm",
    "Precision",
    "Scan",
    "ScanSettings",
    "ScoredAttention",
    "Signs",
    "Standard",
    "Tmx",
    "WholeNumbers",
]
