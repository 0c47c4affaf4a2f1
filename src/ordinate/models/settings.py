"""Model kinds: the part of a recipe that describes a model, and assembles it from the parts."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import torch
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from ordinate.attention import Attention, ContentAttention, HybridAttention, PositionalAttention
from ordinate.kinds import Kind, choose
from ordinate.models.transformer import Transformer
from ordinate.positions.encodings import (
    ENCODINGS,
    Combined,
    Encoding,
    EncodingSettings,
    NoPosition,
    OneHot,
    Rope,
    VectorEncoding,
)
from ordinate.tasks.task import Task


def _encodings(value: Any) -> tuple[EncodingSettings, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(choose(v, ENCODINGS, "model.encoding") for v in values)


Encodings = Annotated[tuple[SerializeAsAny[EncodingSettings], ...], BeforeValidator(_encodings)]
"""One encoding by name, or a list of several that work together."""


class ModelSettings(Kind):
    """Sizes that all kinds share, as published: width 64, 2 heads, MLP 64, log2(n) + 1 layers."""

    layers: int | None = Field(None, ge=1, le=256, description="log2(length) + 1 where not given")
    heads: int = Field(2, ge=1, le=256)
    width: int = Field(64, ge=1, le=65536)
    hidden: int = Field(64, ge=1, le=65536)
    encoding: Encodings = (OneHot(),)

    @model_validator(mode="after")
    def _fits(self) -> "ModelSettings":
        if self.width % self.heads:
            raise ValueError(
                f"must have a width that is a multiple of heads, got {self.width} and {self.heads}"
            )
        return self

    @abstractmethod
    def attention(self, encoding: Encoding) -> Attention:
        """One layer of this kind's attention."""

    embed_positions: ClassVar[bool] = True

    def _embeds(self) -> bool:
        return self.embed_positions

    def build(self, task: Task) -> Transformer:
        """Assemble the model for a task; first weights come from the global generator."""
        length = max(task.lengths())
        encodings = [settings.build(len(task.coordinates(length)) + 1) for settings in self.encoding]
        encoding = encodings[0] if len(encodings) == 1 else Combined(*encodings)
        layers = self.layers or int(math.log2(length)) + 1
        return Transformer(
            task.features,
            task.outputs,
            self.hidden,
            [self.attention(encoding) for _ in range(layers)],
            encoding,
            embed_positions=self._embeds(),
        )


class Positional(ModelSettings):
    """Positional attention: weights depend on positions only. Tokens carry no position unless asked (M5, M1)."""

    name: ClassVar[str] = "positional"
    summary: ClassVar[str] = "attention weights depend on positions only"

    input_positions: bool = Field(False, description="also append P to the tokens (ablation M1)")

    @model_validator(mode="after")
    def _has_vectors(self) -> "Positional":
        _needs_vectors(self.encoding)
        return self

    def _embeds(self) -> bool:
        return self.input_positions

    def attention(self, encoding: Encoding) -> PositionalAttention:
        """Queries and keys from P."""
        assert isinstance(encoding, VectorEncoding)
        return PositionalAttention(self.width, self.heads, encoding)


class Standard(ModelSettings):
    """Standard attention; positions enter as the encoding says (M0, M2, M4)."""

    name: ClassVar[str] = "standard"
    summary: ClassVar[str] = "attention weights depend on content; positions enter through the encoding"

    def attention(self, encoding: Encoding) -> ContentAttention:
        """Queries and keys from X."""
        return ContentAttention(self.width, self.heads)


class Hybrid(ModelSettings):
    """Attention from tokens and positions in every layer; tokens carry no position (M3)."""

    name: ClassVar[str] = "hybrid"
    summary: ClassVar[str] = "attention weights depend on content and positions, in every layer"
    embed_positions: ClassVar[bool] = False

    @model_validator(mode="after")
    def _has_vectors(self) -> "Hybrid":
        _needs_vectors(self.encoding)
        return self

    def attention(self, encoding: Encoding) -> HybridAttention:
        """Queries and keys from X | P."""
        assert isinstance(encoding, VectorEncoding)
        return HybridAttention(self.width, self.heads, encoding)


def _needs_vectors(encodings: Sequence[EncodingSettings]) -> None:
    if len(encodings) != 1 or not isinstance(encodings[0].build(2), VectorEncoding):
        raise ValueError(
            "must have one encoding with position vectors: one-hot, binary, sinusoidal or learned"
        )


MODELS: dict[str, type[ModelSettings]] = {kind.name: kind for kind in (Positional, Standard, Hybrid)}

ABLATION: dict[str, ModelSettings] = {
    "M0": Standard(),
    "M1": Positional(input_positions=True),
    "M2": Standard(encoding=(NoPosition(),)),
    "M3": Hybrid(),
    "M4": Standard(encoding=(Rope(),)),
    "M5": Positional(),
}
"""The six models of the paper's ablation."""


def build_model(settings: ModelSettings, task: Task, *, seed: int) -> Transformer:
    """Build a model whose first weights depend on the seed alone; the global generator is left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return settings.build(task)
