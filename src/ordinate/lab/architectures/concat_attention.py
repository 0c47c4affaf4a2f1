"""Attention layers of arXiv 2410.01686: what the weights may depend on is the only difference between the kinds.

    positional:  A = softmax((P W_Q)(P W_K)^T / sqrt(d_P))          position only
    standard:    A = softmax((X W_Q)(X W_K)^T / sqrt(d))            content only
    hybrid:      A = softmax(([X, P] W_Q)([X, P] W_K)^T / sqrt(d + d_P))

Values always come from X. As published: queries and keys are full-width in every head unless a size is given, values
are split, all maps have biases, weights start Xavier-uniform (queries and keys stacked), biases at zero.
"""

from abc import ABC, abstractmethod

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from typing_extensions import override

from ordinate.attention.dot_product import (
    QKV,
    attention_scores,
    attention_weights,
    isolate_groups,
    mix,
    with_nan,
)
from ordinate.attention.hooks import Hook
from ordinate.coordinates import Coordinates
from ordinate.encodings import Combined, Encoding, VectorEncoding


class ConcatAttention(nn.Module, ABC):
    """One layer of attention over [batch, token, width]; kinds say where the weights come from."""

    def __init__(self, width: int, heads: int, layer: int, query_key: nn.Linear | None = None) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width must be a multiple of heads, got width {width} and {heads} heads")
        self.width, self.heads, self.layer = width, heads, layer
        if query_key is not None:
            self.query_key = query_key
        self.to_values = nn.Linear(width, width)
        self.to_output = nn.Linear(width, width)
        for linear in (query_key, self.to_values, self.to_output):
            if linear is not None:
                nn.init.xavier_uniform_(linear.weight)
                nn.init.zeros_(linear.bias)
        self.weights, self.values, self.output = Hook(), Hook(), Hook()

    @abstractmethod
    def mixed(
        self,
        values: Float[Tensor, "batch head token dim"],
        x: Float[Tensor, "batch token width"],
        coordinates: Coordinates,
        encoding: Encoding,
    ) -> Float[Tensor, "batch head token dim"]:
        """The values that every token receives."""

    def forward(
        self, x: Float[Tensor, "batch token width"], coordinates: Coordinates, encoding: Encoding
    ) -> Float[Tensor, "batch token width"]:
        """Mix values by the weights."""
        values = rearrange(
            self.to_values(x), "batch token (head dim) -> batch head token dim", head=self.heads
        )
        mixed = self.mixed(self.values(values), x, coordinates, encoding)
        output: Tensor = self.output(
            self.to_output(rearrange(mixed, "batch head token dim -> batch token (head dim)"))
        )
        return output


class ScoredAttention(ConcatAttention):
    """Weights from the scores of queries and keys; kinds say where these come from."""

    def __init__(self, width: int, heads: int, source_width: int, layer: int, dim: int | None = None) -> None:
        super().__init__(width, heads, layer, nn.Linear(source_width, 2 * heads * (dim or source_width)))
        self.query, self.key, self.scores = Hook(), Hook(), Hook()

    @abstractmethod
    def source(
        self, x: Float[Tensor, "batch token width"], coordinates: Coordinates, encoding: Encoding
    ) -> Float[Tensor, "*batch token source"]:
        """What queries and keys are made of."""

    @override
    def mixed(
        self,
        values: Float[Tensor, "batch head token dim"],
        x: Float[Tensor, "batch token width"],
        coordinates: Coordinates,
        encoding: Encoding,
    ) -> Float[Tensor, "batch head token dim"]:
        query, key = rearrange(
            self.query_key(self.source(x, coordinates, encoding)),
            "... token (two head dim) -> two ... head token dim",
            two=2,
            head=self.heads,
        )
        query, key = encoding.rotate(query, key, coordinates)
        pairs = encoding.pairs(coordinates, self.layer)
        if query.dim() == values.dim():
            (query, key, values), rows = isolate_groups(QKV(query, key, values), pairs)
        else:  # of positions, which are finite
            (_, _, values), rows = isolate_groups(QKV(None, None, values), pairs)
        assert query is not None
        assert key is not None
        scores = attention_scores(
            self.query(query), self.key(key), pairs=pairs, bias=encoding.bias(coordinates, self.layer)
        )
        if encoding.reads_scores:
            scores = encoding.scores(scores, coordinates, self.layer)
        mixed = mix(self.weights(attention_weights(self.scores(scores))), values)
        return with_nan(mixed, rows)


class ContentAttention(ScoredAttention):
    """Standard attention: queries and keys from the tokens."""

    def __init__(self, width: int, heads: int, layer: int = 0) -> None:
        super().__init__(width, heads, source_width=width, layer=layer)

    @override
    def source(
        self, x: Float[Tensor, "batch token width"], coordinates: Coordinates, encoding: Encoding
    ) -> Float[Tensor, "batch token width"]:
        return x


class PositionalAttention(ScoredAttention):
    """Queries and keys from positions only: the weights have no batch axis, so one set serves all samples.

    `dim` is the size of queries and keys in a head, as wide as the position vectors where it is not given.
    """

    def __init__(
        self, width: int, heads: int, positions: VectorEncoding, layer: int = 0, dim: int | None = None
    ) -> None:
        super().__init__(width, heads, source_width=positions.width, layer=layer, dim=dim)

    @override
    def source(
        self, x: Tensor, coordinates: Coordinates, encoding: Encoding
    ) -> Float[Tensor, "token position"]:
        return _vectors(encoding, coordinates).to(self.query_key.weight.dtype)


class HybridAttention(ScoredAttention):
    """Queries and keys from tokens and positions together, in every layer."""

    def __init__(self, width: int, heads: int, positions: VectorEncoding, layer: int = 0) -> None:
        super().__init__(width, heads, source_width=width + positions.width, layer=layer)

    @override
    def source(
        self, x: Float[Tensor, "batch token width"], coordinates: Coordinates, encoding: Encoding
    ) -> Float[Tensor, "batch token source"]:
        return torch.cat([x, _vectors(encoding, coordinates).to(x.dtype).expand(len(x), -1, -1)], dim=-1)


def _vectors(encoding: Encoding, coordinates: Coordinates) -> Float[Tensor, "token position"]:
    parts = encoding.parts if isinstance(encoding, Combined) else [encoding]
    found = [part for part in parts if isinstance(part, VectorEncoding)]
    if len(found) != 1:
        raise TypeError(f"this attention reads position vectors, {type(encoding).__name__} has {len(found)}")
    return found[0].vectors(coordinates)
