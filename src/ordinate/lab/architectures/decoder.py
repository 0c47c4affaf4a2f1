"""Decoders of the k-hop experiment (arXiv 2410.01686): the residual encoder whose tokens see what is before them.

    standard:    x = E token + p_i,   queries and keys from the tokens
    positional:  x = E token,         queries and keys from trained position vectors, which all layers share

Both have LayerNorm in front, additive residuals, GELU perceptrons and split heads, and start as GPT-2 does: weights
from N(0, 0.02^2), those that write into the residual stream of L layers from N(0, 0.02^2 / 2L), biases at zero.
"""

from abc import abstractmethod
from typing import ClassVar

from pydantic import Field, model_validator
from torch import nn
from typing_extensions import override

from ordinate.attention import ContentKeys, MultiHead
from ordinate.encodings import BuildSpec, Combined, Encoding, Learned, OneHot, Pairwise, VectorEncoding
from ordinate.errors import OrdinateError
from ordinate.lab.architectures.concat import needs_vectors
from ordinate.lab.architectures.concat_attention import ConcatAttention, PositionalAttention
from ordinate.models.encoder import Encoder, ResidualEncoder
from ordinate.models.inputs import Problem
from ordinate.models.settings import Encodings, ModelSettings
from ordinate.relations import causal

STD = 0.02
"""Standard deviation of the first weights."""


class DecoderSettings(ModelSettings):
    """Sizes as published: width 60, 3 heads, perceptrons four times as wide; 3 layers of the 1 to 8 that were tried."""

    embed_positions: ClassVar[bool]

    layers: int | None = Field(3, ge=1, le=256)
    heads: int = Field(3, ge=1, le=256)
    width: int = Field(60, ge=1, le=65536)
    hidden: int = Field(240, ge=1, le=65536)
    causal: bool = Field(True, description="false to let every token see all others")

    @abstractmethod
    def attention(self, encoding: Encoding, layer: int) -> MultiHead | ConcatAttention:
        """One layer of this kind's attention."""

    @override
    def build(self, task: Problem) -> Encoder:
        layers, dim = self.layers or 3, self.width // self.heads
        positions = self.build_encoding(task.trained(), layers, dim)
        encoding = positions
        if self.causal:
            if positions.relates:
                raise OrdinateError(
                    "model: a decoder relates every token to those before it, so its encoding cannot have a relation: "
                    'write kind = "encoder" with a relation {kind = "product", of = [..., "causal"]}'
                )
            back = Pairwise(relation=(causal(),)).build(BuildSpec(task.trained(), layers, self.heads, dim))
            encoding = Combined(positions, back)
        model = Encoder(
            task,
            ResidualEncoder(layers=layers, heads=self.heads, width=self.width, hidden=self.hidden),
            [self.attention(positions, layer) for layer in range(layers)],
            encoding,
            embed_positions=self.embed_positions,
        )
        start_as_gpt(model)
        return model


class Decoder(
    DecoderSettings,
    name="decoder",
    summary="tokens see what is before them; queries and keys from tokens that carry positions",
):
    """The standard twin. One-hot positions beside a one-hot token are a trained vector for each, and their sum."""

    embed_positions: ClassVar[bool] = True

    encoding: Encodings = (OneHot().settings,)

    @override
    def attention(self, encoding: Encoding, layer: int) -> ContentKeys:
        return ContentKeys(self.width, self.heads, layer)


class PositionalDecoder(
    DecoderSettings,
    name="positional-decoder",
    summary="tokens see what is before them; queries and keys from trained positions only",
):
    """Queries and keys from position vectors only; tokens carry no position."""

    embed_positions: ClassVar[bool] = False

    encoding: Encodings = (Learned(width=60, std=STD).settings,)

    @model_validator(mode="after")
    def _has_vectors(self) -> "PositionalDecoder":
        needs_vectors(self.encoding)
        return self

    @override
    def attention(self, encoding: Encoding, layer: int) -> PositionalAttention:
        assert isinstance(encoding, VectorEncoding)
        return PositionalAttention(self.width, self.heads, encoding, layer, self.width // self.heads)


def start_as_gpt(model: Encoder) -> None:
    """Draw the first weights of all linear maps again, as GPT-2 does."""
    into_stream = STD / (2 * len(model.layers)) ** 0.5
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            writes = name.endswith(("attention.to_output", "perceptron.down"))
            nn.init.normal_(module.weight, std=into_stream if writes else STD)
            nn.init.zeros_(module.bias)
