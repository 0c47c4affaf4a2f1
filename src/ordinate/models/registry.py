"""The one table of model kinds. A new kind is a class of its own and a name in `MODELS`."""

import torch

from ordinate.models.decoder import Decoder, PositionalDecoder
from ordinate.models.inputs import Problem
from ordinate.models.memory_settings import Memory
from ordinate.models.settings import Hybrid, Model, ModelSettings, Positional, ResidualEncoder, Standard

MODELS: dict[str, type[ModelSettings]] = {
    kind.name: kind
    for kind in (Positional, Standard, Hybrid, ResidualEncoder, Decoder, PositionalDecoder, Memory)
}


def build_model(settings: ModelSettings, task: Problem, *, seed: int) -> Model:
    """Build a model whose first weights depend on the seed alone; the global generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return settings.build(task)
