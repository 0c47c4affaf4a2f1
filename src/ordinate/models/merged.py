"""The published Transformer with neighbouring linear maps merged: the same function, about half the arithmetic.

Between two ReLUs everything except the attention weights is linear. With R the activations after a ReLU,
x = R W_2 + b_2 the next layer's input and rows of A summing to one,

    up(x | attention(x)) = R U_0 + sum_h A_h R U_h + c
    U_0 = W_2 W_up^x,    U_h = W_2 W_V^h W_O^h W_up^a,
    c   = b_2 W_up^x + sum_h (b_2 W_V^h + b_V^h) W_O^h W_up^a + b_O W_up^a + b_up.

The encoder plays W_2 of the first layer and the decoder joins W_2 of the last. Merging costs a few small products
per step, not per sample; gradients flow to the original parameters.
"""

from typing import TYPE_CHECKING, NamedTuple

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from ordinate.attention import Attention, ContentAttention, PositionalAttention
from ordinate.attention.kernels import content_layer, positional_layer
from ordinate.coordinates import Coordinates
from ordinate.positions.encodings import NoPosition, VectorEncoding

if TYPE_CHECKING:
    from ordinate.models.transformer import ConcatBlock, Transformer


class Affine(NamedTuple):
    """x -> x @ weight + bias."""

    weight: Float[Tensor, "in out"]
    bias: Float[Tensor, " out"]

    def then(self, weight: Float[Tensor, "out next"], bias: Tensor | float = 0.0) -> "Affine":
        """Follow by another map."""
        return Affine(self.weight @ weight, self.bias @ weight + bias)


def can_merge(model: "Transformer") -> bool:
    """Whether every layer is positional, or every layer is plain content attention without rotation or bias."""
    attentions = [layer.attention for layer in model.layers]
    plain = isinstance(model.encoding, VectorEncoding) or type(model.encoding) is type(NoPosition().build(1))
    return plain and (
        all(isinstance(a, PositionalAttention) for a in attentions)
        or all(isinstance(a, ContentAttention) for a in attentions)
    )


def merged_forward(
    model: "Transformer", x: Float[Tensor, "batch token feature"], coordinates: Coordinates
) -> Float[Tensor, "batch token out"]:
    """Compute the model's outputs, the dummy's included."""
    device = x.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x.dtype
    with torch.autocast(device, enabled=False):
        before = _affine(model.encode)
        positional = isinstance(model.layers[0].attention, PositionalAttention)
        rows = (x.transpose(0, 1) if positional else x).to(dtype)
        for layer in model.layers:
            maps, shift = _merge_values(before, layer)  # type: ignore[arg-type]
            attention = layer.attention
            if isinstance(attention, PositionalAttention):
                weights = attention.find_weights(x, coordinates, model.encoding)
                rows = positional_layer(rows, weights.to(dtype), maps.to(dtype), shift.to(dtype))
            else:
                looks = _merge_looks(before, attention)  # type: ignore[arg-type]
                rows = content_layer(
                    rows, looks.weight.to(dtype), looks.bias.to(dtype), maps.to(dtype), shift.to(dtype)
                )
            before = _affine(layer.down)  # type: ignore[arg-type]
        last = before.then(model.decode.weight.T, model.decode.bias)
        out = (rows @ last.weight.to(dtype)).to(x.dtype) + last.bias
        return out.transpose(0, 1) if positional else out


def _affine(linear: nn.Linear) -> Affine:
    return Affine(linear.weight.T, linear.bias)


def _merge_values(
    before: Affine, layer: "ConcatBlock"
) -> tuple[Float[Tensor, "map in hidden"], Float[Tensor, " hidden"]]:
    """U and c of the module's formula."""
    attention, up = layer.attention, layer.up
    up_own, up_attended = up.weight.T.split(attention.width)
    out = attention.to_output.weight.T @ up_attended
    own = before.then(up_own)
    values = before.then(attention.to_values.weight.T, attention.to_values.bias)
    by_head = rearrange(values.weight, "i (h d) -> h i d", h=attention.heads)
    maps = by_head @ rearrange(out, "(h d) o -> h d o", h=attention.heads)
    shift = own.bias + values.bias @ out + attention.to_output.bias @ up_attended + up.bias
    return torch.cat([own.weight[None], maps]), shift


def _merge_looks(before: Affine, attention: Attention) -> Affine:
    """G_h = W_Q^h (W_K^h)^T and g_h = W_K^h b_Q^h of `content_layer`, scaled, heads side by side."""
    query_key = before.then(attention.query_key.weight.T, attention.query_key.bias)
    query, key = rearrange(query_key.weight, "i (two h d) -> two h i d", two=2, h=attention.heads)
    query_bias, _ = rearrange(query_key.bias, "(two h d) -> two h d", two=2, h=attention.heads)
    scale = attention.source_width**-0.5
    looks = query @ key.transpose(1, 2) * scale
    shift = torch.einsum("hid,hd->hi", key, query_bias) * scale
    return Affine(rearrange(looks, "h i j -> i (h j)"), shift.reshape(-1))
