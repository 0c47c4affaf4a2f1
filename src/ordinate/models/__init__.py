"""Models: what all of them share, the residual encoder, and `od.Transformer`, a whole model over a declared structure.

The kinds that recipes name, those of the papers among them, are listed in `ordinate.lab.architectures`.
"""

import torch

from ordinate.models.encoder import Encoder, ResidualEncoder
from ordinate.models.inputs import Problem
from ordinate.models.settings import Model, ModelSettings
from ordinate.models.transformer import Transformer


def build_model(settings: ModelSettings, task: Problem, *, seed: int) -> Model:
    """Build a model whose first weights depend on the seed alone; the global generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return settings.build(task)


__all__ = [
    "Encoder",
    "Model",
    "ModelSettings",
    "Problem",
    "ResidualEncoder",
    "Transformer",
    "build_model",
]
