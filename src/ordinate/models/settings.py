"""Model kinds: the part of a recipe that describes a model, and assembles it from the parts."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from ordinate.attention import (
    FORMS,
    ConcatAttention,
    Content,
    ContentAttention,
    Form,
    HybridAttention,
    PositionalAttention,
)
from ordinate.coordinates import Coordinates
from ordinate.encodings import (
    ENCODINGS,
    BuildSpec,
    Combined,
    Encoding,
    EncodingSettings,
    NoPosition,
    OneHot,
    Rope,
    Shaw,
    VectorEncoding,
)
from ordinate.kinds import Kind, choose
from ordinate.models.concat import ConcatTransformer, append_dummy
from ordinate.models.encoder import Encoder
from ordinate.models.inputs import Problem
from ordinate.models.memory import MemoryTransformer

Model = ConcatTransformer | Encoder | MemoryTransformer
"""Whatever maps (inputs, coordinates) to outputs and has parameters."""


def _encodings(value: Any) -> tuple[EncodingSettings, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(choose(v, ENCODINGS, "model.encoding") for v in values)


Encodings = Annotated[tuple[SerializeAsAny[EncodingSettings], ...], BeforeValidator(_encodings)]
"""One encoding by name, or a list of several that work together."""


class ModelSettings(Kind):
    """Sizes that all kinds share, as published for the first paper: width 64, 2 heads, MLP 64, log2(n) + 1 layers."""

    layers: int | None = Field(None, ge=1, le=256, description="log2(length) + 1 where not given")
    heads: int = Field(2, ge=1, le=256)
    width: int = Field(64, ge=1, le=65536)
    hidden: int = Field(64, ge=1, le=65536)
    encoding: Encodings = (OneHot().settings,)

    @model_validator(mode="after")
    def _fits(self) -> "ModelSettings":
        self.check_sizes()
        return self

    def check_sizes(self) -> None:
        """Refuse sizes that do not go together: heads divide the width unless a kind says otherwise."""
        if self.width % self.heads:
            raise ValueError(
                f"must have a width that is a multiple of heads, got {self.width} and {self.heads}"
            )

    @abstractmethod
    def build(self, task: Problem) -> Model:
        """Assemble the model for a task; first weights come from the global generator."""

    def sizes(self, tokens: int) -> tuple[int, int]:
        """Estimates: how many parameters there are, and how many numbers a training step keeps for every token."""
        layers, source = self.layers or tokens.bit_length(), self.width + tokens
        parameters = layers * (2 * self.heads * source**2 + 2 * self.width**2 + 3 * self.width * self.hidden)
        a_token = layers * (4 * self.heads * source + 4 * self.width + 2 * self.hidden + self.heads * tokens)
        return parameters, a_token

    def build_encoding(self, trained: Sequence[Coordinates], layers: int, head_dim: int) -> Encoding:
        """One encoding, or several that work together."""
        spec = BuildSpec(tuple(trained), layers, self.heads, head_dim)
        built = [settings.build(spec) for settings in self.encoding]
        return built[0] if len(built) == 1 else Combined(*built)


class ConcatSettings(ModelSettings):
    """Kinds of the first paper's Transformer (arXiv 2410.01686)."""

    embed_positions: ClassVar[bool] = True

    @abstractmethod
    def attention(self, encoding: Encoding, layer: int) -> ConcatAttention:
        """One layer of this kind's attention."""

    def _embeds(self) -> bool:
        return self.embed_positions

    def build(self, task: Problem) -> ConcatTransformer:
        """Assemble the model, with a dummy node behind the task's tokens."""
        layers = self.layers or int(math.log2(max(task.lengths()))) + 1
        trained = [append_dummy(coordinates) for coordinates in task.trained()]
        encoding = self.build_encoding(trained, layers, head_dim=self.width)
        return ConcatTransformer(
            task.features,
            task.outputs,
            self.hidden,
            [self.attention(encoding, layer) for layer in range(layers)],
            encoding,
            embed_positions=self._embeds(),
        )


class Positional(ConcatSettings):
    """Positional attention: weights depend on positions only. Tokens carry no position unless asked (M5, M1)."""

    name: ClassVar[str] = "positional"
    summary: ClassVar[str] = "attention weights depend on positions only"

    input_positions: bool = Field(False, description="also append P to the tokens (ablation M1)")

    @model_validator(mode="after")
    def _has_vectors(self) -> "Positional":
        needs_vectors(self.encoding)
        return self

    def _embeds(self) -> bool:
        return self.input_positions

    def attention(self, encoding: Encoding, layer: int) -> PositionalAttention:
        """Queries and keys from P."""
        assert isinstance(encoding, VectorEncoding)
        return PositionalAttention(self.width, self.heads, encoding, layer)


class Standard(ConcatSettings):
    """Standard attention; positions enter as the encoding says (M0, M2, M4)."""

    name: ClassVar[str] = "standard"
    summary: ClassVar[str] = "attention weights depend on content; positions enter through the encoding"

    def attention(self, encoding: Encoding, layer: int) -> ContentAttention:
        """Queries and keys from X."""
        return ContentAttention(self.width, self.heads, layer)


class Hybrid(ConcatSettings):
    """Attention from tokens and positions in every layer; tokens carry no position (M3)."""

    name: ClassVar[str] = "hybrid"
    summary: ClassVar[str] = "attention weights depend on content and positions, in every layer"
    embed_positions: ClassVar[bool] = False

    @model_validator(mode="after")
    def _has_vectors(self) -> "Hybrid":
        needs_vectors(self.encoding)
        return self

    def attention(self, encoding: Encoding, layer: int) -> HybridAttention:
        """Queries and keys from X | P."""
        assert isinstance(encoding, VectorEncoding)
        return HybridAttention(self.width, self.heads, encoding, layer)


def needs_vectors(encodings: Sequence[EncodingSettings]) -> None:
    """Refuse encodings that positional attention cannot read."""
    if len(encodings) != 1 or not issubclass(encodings[0].builds, VectorEncoding):
        raise ValueError(
            "must have one encoding with position vectors: one-hot, binary, sinusoidal or learned"
        )


class ResidualEncoder(ModelSettings):
    """A pre-norm encoder with residuals and split heads, over any form of attention and any encoding."""

    name: ClassVar[str] = "encoder"
    summary: ClassVar[str] = "residuals and LayerNorm, split heads, any form of attention over a relation"

    layers: int | None = Field(4, ge=1, le=256)
    heads: int = Field(4, ge=1, le=256)
    hidden: int = Field(256, ge=1, le=65536)
    encoding: Encodings = (Shaw().settings,)
    attention: Annotated[
        SerializeAsAny[Form], BeforeValidator(lambda v: choose(v, FORMS, "model.attention"))
    ] = Content()
    gated: bool = Field(False, description="perceptrons whose hidden units are products (GEGLU)")
    dropout: float = Field(0.0, ge=0, lt=1)
    loops: int = Field(1, ge=1, le=1024, description="how often the layers are gone through")
    trained_loops: tuple[int, int] | None = Field(
        None, description="fewest and most loops in training, drawn for every batch; `loops` where not given"
    )
    once: tuple[int, int] = Field(
        (0, 0), description="layers in front of the loops and behind them that are gone through once"
    )
    stay: float = Field(
        0.0, ge=0, lt=1, description="share of loops in training that stay at the encoding of the one before"
    )

    idle: float = Field(
        0.0, ge=0, lt=1, description="share of loops in training in which a leap finds nothing"
    )
    anew: bool = Field(
        False,
        description="every loop adds to what entered the first one: only what is attended to is carried over",
    )

    @model_validator(mode="after")
    def _loops_are_a_range(self) -> "ResidualEncoder":
        if self.trained_loops is not None and not 1 <= self.trained_loops[0] <= self.trained_loops[1] <= 1024:
            raise ValueError(f"must have trained_loops = [fewest, most], got {list(self.trained_loops)}")
        if min(self.once) < 0 or sum(self.once) >= (self.layers or 4):
            raise ValueError(
                f"must have once = [in front, behind] with fewer layers than the model has, got {list(self.once)}"
            )
        return self

    def build(self, task: Problem) -> Encoder:
        """Assemble the model."""
        layers = self.layers or 4
        encoding = self.build_encoding(task.trained(), layers, head_dim=self.width // self.heads)
        return Encoder(
            task.features,
            task.outputs,
            self.hidden,
            [self.attention.build(self.width, self.heads, layer) for layer in range(layers)],
            encoding,
            gated=self.gated,
            dropout=self.dropout,
            loops=self.loops,
            trained_loops=self.trained_loops,
            once=self.once,
            stay=self.stay,
            idle=self.idle,
            anew=self.anew,
        )


ABLATION: dict[str, ModelSettings] = {
    "M0": Standard(),
    "M1": Positional(input_positions=True),
    "M2": Standard(encoding=(NoPosition(),)),
    "M3": Hybrid(),
    "M4": Standard(encoding=(Rope(),)),
    "M5": Positional(),
}
"""The six models of the paper's ablation."""

MIXED_TYPES: dict[str, ModelSettings] = {
    "positional": Positional(layers=3, width=32, hidden=32),
    "standard": Standard(layers=3, width=32, hidden=32),
}
"""The two models of the paper's mixed-type experiment.

Symbols and prices of a mixed input share one linear map, which is an embedding of the symbols beside a map of the
price; one-hot positions appended to it are a trained vector for every position, added to the standard model's tokens.
"""
