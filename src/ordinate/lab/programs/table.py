"""Positional attention whose weights are known beforehand: a table of sources instead of queries and keys.

A head that looks at one token and lets the rest of its weight rest on the dummy, the last token, needs no n x n matrix:

    output_i = w_i v_{s_i} + (1 - w_i) v_dummy.

It is computed as a gather, which makes thousands of tokens cheap.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor
from typing_extensions import override

from ordinate.attention.dot_product import mix
from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding, VectorEncoding
from ordinate.errors import OrdinateError
from ordinate.lab.architectures.concat_attention import ConcatAttention, PositionalAttention

DUMMY_SOURCE = -1


class TableAttention(ConcatAttention):
    """Every token of every head has one source, with a weight between 0 and 1; source -1 is the dummy.

    `source` and `weight` have a row a head and a column a token, the dummy left out: it looks at itself.
    """

    source: Tensor
    weight: Tensor

    def __init__(
        self,
        width: int,
        source: Int[Tensor, "head place"],
        weight: Float[Tensor, "head place"],
        layer: int = 0,
    ) -> None:
        super().__init__(width, len(source), layer)
        self.register_buffer("source", source)
        self.register_buffer("weight", weight)
        self.whole = bool((weight == 1).all())
        self.furthest: list[int] = source.cpu().amax(0).cummax(0).values.tolist() if source.numel() else []
        """The furthest source of the first 1, 2, ... places: known beforehand, no device is waited for."""

    def rows(self, tokens: int) -> tuple[Int[Tensor, "head token"], Float[Tensor, "head token"]]:
        """Sources and weights of a sequence of so many tokens, the dummy included; all sources must be there."""
        given = tokens - 1
        source = self.source[:, :given]
        if given > len(self.furthest) or (given and self.furthest[given - 1] >= given):
            raise OrdinateError(
                f"{given} tokens, but these tables of sources were made for {self.source.shape[1]}: "
                f"give {self.source.shape[1]} tokens"
            )
        source = torch.cat([source, source.new_full((self.heads, 1), DUMMY_SOURCE)], dim=1)
        weight = torch.cat([self.weight[:, :given], self.weight.new_ones(self.heads, 1)], dim=1)
        return torch.where(source < 0, given, source), weight

    def dense(self, tokens: int) -> Float[Tensor, "head token token"]:
        """The table as a matrix of weights."""
        source, weight = self.rows(tokens)
        dense = weight.new_zeros(*source.shape, source.shape[1])
        dense.scatter_(-1, source[..., None], weight[..., None])
        dense[..., -1] += (1 - weight) * (source < source.shape[1] - 1)
        return dense

    @override
    def mixed(
        self,
        values: Float[Tensor, "batch head token dim"],
        x: Float[Tensor, "batch token width"],
        coordinates: Coordinates,
        encoding: Encoding,
    ) -> Float[Tensor, "batch head token dim"]:
        if self.weights.patch is not None:
            return mix(self.weights(self.dense(values.shape[2])), values)
        source, weight = self.rows(values.shape[2])
        taken = values.gather(2, source[None, :, :, None].expand_as(values))
        if self.whole:
            return taken
        return weight[..., None] * taken + (1 - weight)[..., None] * values[:, :, -1:]


def sharpness(dtype: torch.dtype) -> float:
    """How far a score must lie below the best one for its softmax weight to be exactly 0 in this number format.

    The softmax of scores with maximum m gives token j the weight e^{s_j - m} / Z, with Z >= 1. Let t = tiny * eps be
    the smallest positive number of the format. A result below t / 2 is rounded to 0, so e^{s_j - m} <= t / 4 is 0
    whatever the last bit of the exponential is, and all such weights together are 0 for any number of tokens N:
    Z is then a sum over the wanted tokens alone, and a single one of them gets the weight 1 exactly. (In exact
    arithmetic the unwanted weights sum to at most N t / 4.) Hence s_j - m <= -ln(4 / t). A score is a product with
    two roundings, of relative error below 3 eps, which a factor of 1 + 4 eps covers.

    >>> round(sharpness(torch.float32), 2), round(sharpness(torch.float64), 2)
    (104.67, 745.83)
    """
    info = torch.finfo(dtype)
    return (math.log(4) - math.log(info.tiny) - math.log(info.eps)) * (1 + 4 * info.eps)


def densify(table: TableAttention, positions: VectorEncoding) -> PositionalAttention:
    """The same layer with query and key weights, for P = I.

    Keys are the position itself, k_j = p_j, and the query of token i is its row of wanted scores times sqrt(d),
    which the attention divides by: 0 (or ln w) at the source, ln(1 - w) at the dummy, -sharpness elsewhere. Scores that
    differ from 0 are shifted so that the largest of a row is 0.
    """
    capacity = table.source.shape[1] + 1
    if positions.width != capacity:
        raise OrdinateError(f"one-hot positions of width {capacity} are needed, got width {positions.width}")
    dtype = table.to_values.weight.dtype
    dense = PositionalAttention(table.width, table.heads, positions, table.layer)
    dense = dense.to(table.weight.device, dtype)
    source, weight = (part.double() if part.is_floating_point() else part for part in table.rows(capacity))
    scores = torch.full(
        (table.heads, capacity, capacity), -math.inf, dtype=torch.float64, device=source.device
    )
    scores.scatter_(-1, source[..., None], weight.log()[..., None])
    rest = torch.where(source < capacity - 1, (1 - weight).log(), scores[..., -1])
    scores[..., -1] = rest
    scores = scores - scores.amax(-1, keepdim=True)
    scores = scores.clamp(min=-sharpness(dtype)) * math.sqrt(capacity)
    eye = torch.eye(capacity, dtype=torch.float64, device=source.device).expand(table.heads, -1, -1)
    with torch.no_grad():
        both = torch.stack([scores.transpose(1, 2), eye])  # two head dim token
        dense.query_key.weight.copy_(both.reshape(-1, capacity))
        dense.query_key.bias.zero_()
        dense.to_values.load_state_dict(table.to_values.state_dict())
        dense.to_output.load_state_dict(table.to_output.state_dict())
    return dense
