"""Models: Transformers assembled from parts."""

from ordinate.models.concat import ConcatBlock, ConcatTransformer
from ordinate.models.decoder import Decoder, PositionalDecoder
from ordinate.models.encoder import Encoder
from ordinate.models.memory import Ffn, MemoryTransformer, NoNorm, PostNorm, PreNorm
from ordinate.models.memory_settings import Memory
from ordinate.models.precision import LogsOfWholeNumbers, Precision, WholeNumbers
from ordinate.models.registry import MODELS, build_model
from ordinate.models.settings import (
    ABLATION,
    MIXED_TYPES,
    Hybrid,
    Model,
    ModelSettings,
    Positional,
    ResidualEncoder,
    Standard,
)

__all__ = [
    "ABLATION",
    "MIXED_TYPES",
    "MODELS",
    "ConcatBlock",
    "ConcatTransformer",
    "Decoder",
    "Encoder",
    "Ffn",
    "Hybrid",
    "LogsOfWholeNumbers",
    "Memory",
    "MemoryTransformer",
    "Model",
    "ModelSettings",
    "NoNorm",
    "Positional",
    "PositionalDecoder",
    "PostNorm",
    "PreNorm",
    "Precision",
    "ResidualEncoder",
    "Standard",
    "WholeNumbers",
    "build_model",
]
