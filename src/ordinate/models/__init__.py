"""Models: Transformers assembled from parts, and the one table of their kinds."""

import torch

from ordinate.models.concat import (
    ABLATION,
    MIXED_TYPES,
    ConcatBlock,
    ConcatTransformer,
    Hybrid,
    Positional,
    Standard,
)
from ordinate.models.decoder import Decoder, PositionalDecoder
from ordinate.models.encoder import Encoder, ResidualEncoder
from ordinate.models.inputs import Problem
from ordinate.models.memory import Ffn, Memory, MemoryTransformer, NoNorm, PostNorm, PreNorm
from ordinate.models.precision import LogsOfWholeNumbers, Precision, WholeNumbers
from ordinate.models.scan import Scan, ScanSettings, Signs
from ordinate.models.settings import Model, ModelSettings
from ordinate.models.transformer import Transformer

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


def build_model(settings: ModelSettings, task: Problem, *, seed: int) -> Model:
    """Build a model whose first weights depend on the seed alone; the global generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return settings.build(task)


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
    "Scan",
    "ScanSettings",
    "Signs",
    "Standard",
    "Transformer",
    "WholeNumbers",
    "build_model",
]
