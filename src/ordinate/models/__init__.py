"""Models: Transformers assembled from parts."""

from ordinate.models.encoder import Encoder
from ordinate.models.settings import (
    ABLATION,
    MODELS,
    Hybrid,
    Model,
    ModelSettings,
    Positional,
    ResidualEncoder,
    Standard,
    build_model,
)
from ordinate.models.transformer import ConcatBlock, Transformer

__all__ = [
    "ABLATION",
    "MODELS",
    "ConcatBlock",
    "Encoder",
    "Hybrid",
    "Model",
    "ModelSettings",
    "Positional",
    "ResidualEncoder",
    "Standard",
    "Transformer",
    "build_model",
]
