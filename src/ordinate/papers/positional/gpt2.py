"""GPT-2: which weights are on this machine, and what is made of them. Nothing is ever downloaded.

The environment variable `ORDINATE_GPT2` names a folder with weights (safetensors), config and tokenizer, as
`save_pretrained` of transformers writes it. Without it the published `gpt2-large` is looked for in the cache of the
Hugging Face hub, and taken where there is a GPU.
"""

import hashlib
import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, ClassVar, NoReturn

import torch
from pydantic import BeforeValidator, Field
from typing_extensions import override

from ordinate.encodings import Learned
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.runs import read_json
from ordinate.lab.tasks.mixed_types import MixedTypes
from ordinate.lab.training import AdamW, Linear, Recipe, Training
from ordinate.models import ModelSettings
from ordinate.models.inputs import Problem

VARIABLE = "ORDINATE_GPT2"
PUBLISHED = "gpt2-large"
REPOSITORIES = (PUBLISHED, f"openai-community/{PUBLISHED}")
"""The two names that the hub knows it by."""

EDGE = 2**20
"""Bytes at both ends of a file of weights that tell it from others."""

FINE_TUNING = Training(
    steps=3 * 50_000 // 16,
    batch=16,
    samples=50_000,
    optimizer=AdamW(learning_rate=2e-5),
    schedule=Linear(warmup=100 / (3 * 50_000 // 16)),
    precision="bfloat16",
    finish=0.0,
)
"""As published: three epochs of 50 000 prompts, 100 steps of warm-up. The precision is not known."""


class NotAtHandError(OrdinateError):
    """GPT-2 cannot be fine-tuned here, and nobody asked for it by name: a figure goes without it."""


class Gpt2(ModelSettings):
    """A GPT-2 with trained weights."""

    name: ClassVar[str] = "gpt2"
    summary: ClassVar[str] = "GPT-2, fine-tuned from its weights"

    weights: str = Field(description="fingerprint of the folder with the weights")

    @classmethod
    def of(cls, folder: Path) -> "Gpt2":
        """The model in a folder."""
        config = read_json(folder / "config.json")
        width = config.get("n_embd", 768)
        return cls(
            layers=config.get("n_layer", 12),
            heads=config.get("n_head", 12),
            width=width,
            hidden=config.get("n_inner") or 4 * width,
            encoding=(Learned(width=width, std=0.02),),
            weights=fingerprint(folder),
        )

    @override
    def build(self, task: Problem) -> NoReturn:
        """Refuse: a GPT-2 without its weights is none."""
        raise OrdinateError(
            "GPT-2 is not built but fine-tuned: write ordinate reproduce positional/mixed-type"
        )


class FineTuning(Recipe):
    """A recipe for a GPT-2 that reads samples as text."""

    task: Annotated[MixedTypes, BeforeValidator(lambda v: choose(v, {"mixed": MixedTypes}, "task", "name"))]
    model: Annotated[Gpt2, BeforeValidator(lambda v: choose(v, {"gpt2": Gpt2}, "model"))]
    training: Training = FINE_TUNING
    max_length: int = Field(102, ge=1, description="most tokens of a prompt with its answer")


def find_weights(*, by_name: bool) -> Path:
    """The folder of the weights: the one that is named, or else the published ones, unless `by_name` forbids it.

    A folder that is named and cannot be used is refused; what nobody asked for is `NotAtHandError`.
    """
    named = os.environ.get(VARIABLE)
    there = find_spec("transformers") is not None
    install = "transformers is not installed: write pip install 'ordinate[hf]'"
    if named:
        if not there:
            raise OrdinateError(f"{VARIABLE} names a GPT-2, but {install}")
        return _checked(Path(named).expanduser())
    if by_name:
        raise NotAtHandError(f"at this scale it is fine-tuned only where {VARIABLE} names a folder with it")
    if not there:
        raise NotAtHandError(install)
    folder = _cached()
    if folder is None:
        raise NotAtHandError(
            f"the weights of {PUBLISHED} are not on this machine: name a folder, {VARIABLE}=DIR"
        )
    if not torch.cuda.is_available():
        raise NotAtHandError(
            f"fine-tuning {PUBLISHED} needs a GPU: to try without, write {VARIABLE}={folder}"
        )
    return _checked(folder)


@lru_cache
def fingerprint(folder: Path) -> str:
    """Digits that tell weights, sizes and tokenizer from others, wherever the folder is.

    Files of weights count with their sizes and ends only: gigabytes take too long to read.
    """
    digest = hashlib.sha256()
    for name in ("config.json", "tokenizer.json", "vocab.json", "merges.txt"):
        if (folder / name).is_file():
            digest.update((folder / name).read_bytes())
    for path in _weights(folder):
        size = path.stat().st_size
        digest.update(str(size).encode())
        with path.open("rb") as file:
            digest.update(file.read(EDGE))
            file.seek(max(0, size - EDGE))
            digest.update(file.read(EDGE))
    return digest.hexdigest()[:16]


def _weights(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors"))


def _checked(folder: Path) -> Path:
    """The folder, if a GPT-2 with safe weights is in it."""
    if not (folder / "config.json").is_file() or not _weights(folder):
        raise OrdinateError(
            f"{folder} holds no GPT-2: {VARIABLE} must name a folder with config.json and *.safetensors"
        )
    config = read_json(folder / "config.json")
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != "gpt2":
        raise OrdinateError(
            f"{folder} holds a model of type {kind!r}: {VARIABLE} must name one of type 'gpt2'"
        )
    return folder


def _cached() -> Path | None:
    """The published weights in the cache of the hub."""
    from huggingface_hub import try_to_load_from_cache

    for repository in REPOSITORIES:
        config = try_to_load_from_cache(repository, "config.json")
        if isinstance(config, str) and _weights(Path(config).parent):
            return Path(config).parent
    return None
