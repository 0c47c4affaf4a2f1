"""The Transformer of arXiv 2410.01686: concatenation instead of an additive residual, no LayerNorm, a dummy node.

F_l(X) = MLP_l( X | (concat_h A_{l,h} X W_V^{l,h}) W_O^l ),     Y = decode(F_L( ... F_1(encode(X)) ... ))
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, TypeVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn
from typing_extensions import override

from ordinate.attention import hooks
from ordinate.coordinates import Coordinates
from ordinate.encodings import DUMMY, Encoding, EncodingSettings, NoPosition, Rope, VectorEncoding
from ordinate.lab.architectures.concat_attention import (
    ConcatAttention,
    ContentAttention,
    HybridAttention,
    PositionalAttention,
)
from ordinate.lab.architectures.merged import Merged, can_merge, merged_forward
from ordinate.models.inputs import Inputs, Problem, as_features
from ordinate.models.settings import Model, ModelSettings

T = TypeVar("T", bound="ConcatTransformer")


class ConcatBlock(nn.Module):
    """x -> MLP(x | attention(x)): the concatenation is the residual path."""

    def __init__(self, attention: ConcatAttention, hidden: int) -> None:
        super().__init__()
        self.attention = attention
        self.up = nn.Linear(2 * attention.width, hidden)
        self.down = nn.Linear(hidden, attention.width)

    @override
    def forward(
        self, x: Float[Tensor, "batch token width"], coordinates: Coordinates, encoding: Encoding
    ) -> Float[Tensor, "batch token width"]:
        attended = self.attention(x, coordinates, encoding)
        return self.down(F.relu(self.up(torch.cat([x, attended], dim=-1))))  # type: ignore[no-any-return]


class ConcatTransformer(Model):
    """Tokens in, one output a token out, at every length that the encoding can reach.

    Two ways to compute the same numbers: layer by layer with named hooks, or with neighbouring linear maps
    merged (`ordinate.lab.architectures.merged`), which is taken when nobody listens to a hook.
    """

    vectorised = True

    def __init__(
        self,
        features: int,
        outputs: int,
        hidden: int,
        attentions: Sequence[ConcatAttention],
        encoding: Encoding,
        *,
        embed_positions: bool,
    ) -> None:
        super().__init__()
        width = attentions[0].width
        self.features, self.encoding, self.embed_positions = features, encoding, embed_positions
        self.encode = nn.Linear(features + (encoding.extra_features if embed_positions else 0), width)
        self.layers = nn.ModuleList(ConcatBlock(attention, hidden) for attention in attentions)
        self.decode = nn.Linear(width, outputs)
        self._hooks = tuple(hooks(self).values())
        self.merge = can_merge(self)
        self.kept: tuple[tuple[object, ...], Merged] | None = None

    @override
    def train(self: T, mode: bool = True) -> T:
        """Change the mode and forget the merged maps: fused optimizers change parameters without counting versions."""
        self.kept = None
        return super().train(mode)

    @property
    def blocks(self) -> list[ConcatBlock]:
        """The layers, first to last."""
        return [layer for layer in self.layers if isinstance(layer, ConcatBlock)]

    def with_dummy(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> tuple[Float[Tensor, "batch token+1 wider"], Coordinates]:
        """Append the dummy node, a token of zeros that no output is read from, and embed positions."""
        x = F.pad(x, (0, 0, 0, 1))
        coordinates = append_dummy(coordinates)
        return (self.encoding.embed(x, coordinates) if self.embed_positions else x), coordinates

    def encoded(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> tuple[Float[Tensor, "batch token+1 width"], Coordinates]:
        """Encode the tokens and the dummy: E x + W p + b, where W p is computed once for all samples."""
        if not (self.embed_positions and isinstance(self.encoding, VectorEncoding)):
            x, coordinates = self.with_dummy(x, coordinates)
            return self.encode(x), coordinates
        coordinates = append_dummy(coordinates)
        own, positions = self.encode.weight.split([self.features, self.encoding.width], dim=1)
        places = self.encoding.vectors(coordinates).to(x.dtype) @ positions.T + self.encode.bias
        return F.linear(F.pad(x, (0, 0, 0, 1)), own) + places, coordinates

    @override
    def forward(self, x: Inputs, coordinates: Coordinates) -> Float[Tensor, "batch token out"]:
        x = as_features(x, self.features, self.encode.weight.dtype)
        if self.merge and not any(hook.patch for hook in self._hooks):
            return merged_forward(self, *self.with_dummy(x, coordinates))
        x, coordinates = self.encoded(x, coordinates)
        for layer in self.layers:
            x = layer(x, coordinates, self.encoding)
        return self.decode(x)[:, :-1]  # type: ignore[no-any-return]


@lru_cache(maxsize=1024)
def append_dummy(coordinates: Coordinates) -> Coordinates:
    """The coordinates with the dummy node behind them."""
    return coordinates + Coordinates.of(**{DUMMY: range(1)})


def needs_vectors(encodings: Sequence[EncodingSettings]) -> None:
    """Refuse encodings that positional attention cannot read."""
    if len(encodings) != 1 or not issubclass(encodings[0].builds, VectorEncoding):
        raise ValueError(
            "must have one encoding with position vectors: one-hot, binary, sinusoidal or learned"
        )


class ConcatSettings(ModelSettings):
    """Kinds of the first paper's Transformer (arXiv 2410.01686)."""

    embed_positions: ClassVar[bool] = True

    @abstractmethod
    def attention(self, encoding: Encoding, layer: int) -> ConcatAttention:
        """One layer of this kind's attention."""

    def _embeds(self) -> bool:
        return self.embed_positions

    @override
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


class Positional(ConcatSettings, name="positional", summary="attention weights depend on positions only"):
    """Positional attention: weights depend on positions only. Tokens carry no position unless asked (M5, M1)."""

    input_positions: bool = Field(False, description="also append P to the tokens (ablation M1)")

    @model_validator(mode="after")
    def _has_vectors(self) -> "Positional":
        needs_vectors(self.encoding)
        return self

    @override
    def _embeds(self) -> bool:
        return self.input_positions

    @override
    def attention(self, encoding: Encoding, layer: int) -> PositionalAttention:
        assert isinstance(encoding, VectorEncoding)
        return PositionalAttention(self.width, self.heads, encoding, layer)


class Standard(
    ConcatSettings,
    name="standard",
    summary="attention weights depend on content; positions enter through the encoding",
):
    """Standard attention; positions enter as the encoding says (M0, M2, M4)."""

    @override
    def attention(self, encoding: Encoding, layer: int) -> ContentAttention:
        return ContentAttention(self.width, self.heads, layer)


class Hybrid(
    ConcatSettings, name="hybrid", summary="attention weights depend on content and positions, in every layer"
):
    """Attention from tokens and positions in every layer; tokens carry no position (M3)."""

    embed_positions: ClassVar[bool] = False

    @model_validator(mode="after")
    def _has_vectors(self) -> "Hybrid":
        needs_vectors(self.encoding)
        return self

    @override
    def attention(self, encoding: Encoding, layer: int) -> HybridAttention:
        assert isinstance(encoding, VectorEncoding)
        return HybridAttention(self.width, self.heads, encoding, layer)


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
