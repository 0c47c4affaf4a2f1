"""The Transformer of arXiv 2410.01686: concatenation instead of an additive residual, no LayerNorm, a dummy node.

F_l(X) = MLP_l( X | (concat_h A_{l,h} X W_V^{l,h}) W_O^l ),     Y = decode(F_L( ... F_1(encode(X)) ... ))
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from ordinate.attention import ConcatAttention, hooks
from ordinate.coordinates import Coordinates
from ordinate.encodings import DUMMY, Encoding, VectorEncoding
from ordinate.models.inputs import Inputs, as_features
from ordinate.models.merged import Merged, can_merge, merged_forward

T = TypeVar("T", bound="ConcatTransformer")


class ConcatBlock(nn.Module):
    """x -> MLP(x | attention(x)): the concatenation is the residual path."""

    def __init__(self, attention: ConcatAttention, hidden: int) -> None:
        super().__init__()
        self.attention = attention
        self.up = nn.Linear(2 * attention.width, hidden)
        self.down = nn.Linear(hidden, attention.width)

    def forward(
        self, x: Float[Tensor, "batch token width"], coordinates: Coordinates, encoding: Encoding
    ) -> Float[Tensor, "batch token width"]:
        """Attend, concatenate, transform every token."""
        attended = self.attention(x, coordinates, encoding)
        return self.down(F.relu(self.up(torch.cat([x, attended], dim=-1))))  # type: ignore[no-any-return]


class ConcatTransformer(nn.Module):
    """Tokens in, one output a token out, at every length that the encoding can reach.

    Two ways to compute the same numbers: layer by layer with named hooks, or with neighbouring linear maps
    merged (`ordinate.models.merged`), which is taken when nobody listens to a hook.
    """

    vectorised = True
    """Members of an ensemble can be computed in one pass."""

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

    def forward(self, x: Inputs, coordinates: Coordinates) -> Float[Tensor, "batch token out"]:
        """Compute the outputs of all tokens but the dummy."""
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
