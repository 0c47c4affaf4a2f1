"""Models: Transformers assembled from parts."""

from ordinate.models.settings import (
    ABLATION,
    MODELS,
    Hybrid,
    ModelSettings,
    Positional,
    Standard,
    build_model,
)
from ordinate.models.transformer import ConcatBlock, Transformer

__all__ = [
    "ABLATION",
    "MODELS",
    "ConcatBlock",
    "Hybrid",
    "ModelSettings",
    "Positional",
    "Standard",
    "Transformer",
    "build_model",
]
