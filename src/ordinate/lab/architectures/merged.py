"""The published Transformer with neighbouring linear maps merged: the same function, about half the arithmetic.

Between two ReLUs everything except the attention weights is linear. With R the activations after a ReLU,
x = R B + b the next layer's input (B, b: the second map of the MLP, or the encoder) and rows of A summing to one,

    up(x | attention(x)) = R U_0 + sum_h A_h R U_h + c
    U_0 = B W_up^x,    U_h = B W_V^h W_O^h W_up^a,
    c   = b W_up^x + sum_h (b W_V^h + b_V^h) W_O^h W_up^a + b_O W_up^a + b_up,

and the scores of content attention are (R G_h + g_h) R^T with G_h = B W_Q^h (W_K^h)^T B^T and
g_h = B W_K^h (b W_Q^h + b_Q^h), up to terms that are equal for all keys and cancel in the softmax.

The encoder is merged too, unless its input is wider than its output: then it comes first, and B = I, b = 0.

Merging costs some small products per step, not per sample, for all layers at once; gradients flow to the
original parameters. Outside training the merged maps are kept until a parameter changes.
"""

from typing import TYPE_CHECKING, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ordinate.attention import attention_scores, attention_weights
from ordinate.attention.kernels import autocast_dtype, content_layer, positional_layer, without_autocast
from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding, NoPosition, VectorEncoding
from ordinate.lab.architectures.concat_attention import ContentAttention, PositionalAttention, ScoredAttention

if TYPE_CHECKING:
    from ordinate.lab.architectures.concat import ConcatTransformer


class Layer(NamedTuple):
    """One layer: U and c, with either the weights A of all heads or the G and g of content attention."""

    maps: Float[Tensor, " map in hidden"]
    shift: Float[Tensor, " hidden"]
    weights: Float[Tensor, "head token token"] | None = None
    looks: Float[Tensor, "in look"] | None = None
    look_shift: Float[Tensor, " look"] | None = None


class Merged(NamedTuple):
    """All layers, and the map from the last ReLU to the outputs."""

    layers: list[Layer]
    decode: Float[Tensor, "hidden out"]
    decode_shift: Float[Tensor, " out"]


def can_merge(model: "ConcatTransformer") -> bool:
    """Whether every layer is positional, or every layer is content attention without rotation, classes or bias."""
    attentions = [block.attention for block in model.blocks]
    plain = isinstance(model.encoding, VectorEncoding) or type(model.encoding) in (Encoding, NoPosition)
    return plain and any(
        all(type(attention) is kind for attention in attentions)
        for kind in (PositionalAttention, ContentAttention)
    )


def encodes_first(model: "ConcatTransformer") -> bool:
    """Whether tokens are narrower encoded than they come."""
    return model.encode.in_features > model.encode.out_features


def merged_forward(
    model: "ConcatTransformer", x: Float[Tensor, "batch token feature"], coordinates: Coordinates
) -> Float[Tensor, "batch token-1 out"]:
    """Compute the model's outputs from inputs with the dummy, which no output is read from."""
    dtype = autocast_dtype(x)
    with without_autocast(x):
        merged = _kept(model, coordinates)
        positional = merged.layers[0].weights is not None
        if encodes_first(model):
            x = model.encode(x)
        rows = (x.transpose(0, 1) if positional else x).to(dtype)
        for layer in merged.layers:
            maps, shift, *attention = (part.to(dtype) for part in layer if part is not None)
            if positional:
                read = slice(None, -1) if layer is merged.layers[-1] else slice(None)
                rows = positional_layer(rows, attention[0][:, read], maps, shift)
            else:
                rows = content_layer(rows, attention[0], attention[1], maps, shift)
        out = (rows @ merged.decode.to(dtype)).to(x.dtype) + merged.decode_shift
        return out.transpose(0, 1) if positional else out[:, :-1]


def _kept(model: "ConcatTransformer", coordinates: Coordinates) -> Merged:
    """The merged maps: made once a step in training, and once until a parameter changes in evaluation.

    Fused optimizers change parameters without counting versions, so a pass with gradients forgets what was kept.
    """
    if torch.is_grad_enabled():
        model.kept = None
        return merge(model, coordinates)
    key = (coordinates, *((p.data_ptr(), p._version) for p in model.parameters()))
    if model.kept is None or model.kept[0] != key:
        model.kept = (key, merge(model, coordinates))
    return model.kept[1]


def merge(model: "ConcatTransformer", coordinates: Coordinates) -> Merged:
    """Merge the maps of all layers, batched over layers."""
    attention = [block.attention for block in model.blocks if isinstance(block.attention, ScoredAttention)]
    width, heads = attention[0].width, attention[0].heads
    depth = len(attention)

    up, up_bias = _stack([block.up for block in model.blocks])
    up_own, up_attended = up.tensor_split(2, dim=1)
    to_output, output_bias = _stack([a.to_output for a in attention])
    to_values, value_bias = _stack([a.to_values for a in attention])
    out = to_output @ up_attended
    by_head = to_values.view(depth, width, heads, -1).transpose(1, 2) @ out.view(
        depth, heads, -1, out.shape[-1]
    )
    inner = torch.cat([up_own[:, None], by_head], dim=1)

    down, down_bias = _stack([block.down for block in model.blocks])
    encode: Tensor = model.encode.weight.T
    encode_bias: Tensor = model.encode.bias
    if encodes_first(model):
        encode, encode_bias = (
            torch.eye(width, dtype=encode.dtype, device=encode.device),
            torch.zeros_like(encode_bias),
        )
    bias = torch.cat([encode_bias[None], down_bias[:-1]])
    attended_bias = value_bias[:, None] @ out + output_bias[:, None] @ up_attended
    shifts = ((bias[:, None] @ inner.sum(1) + attended_bias)[:, 0] + up_bias).unbind()
    maps = [encode @ inner[0], *(down[:-1, None] @ inner[1:]).unbind()]

    query_key, query_key_bias = _stack([a.query_key for a in attention])
    if isinstance(attention[0], PositionalAttention):
        source = attention[0].source(torch.empty(0), coordinates, model.encoding)
        both = source @ query_key + query_key_bias[:, None]
        query, key = both.view(depth, len(source), 2, heads, -1).permute(2, 0, 3, 1, 4)
        weights = attention_weights(attention_scores(query, key)).unbind()
        layers = [Layer(*parts) for parts in zip(maps, shifts, weights, strict=True)]
    else:
        query, key = query_key.view(depth, width, 2, heads, width).permute(2, 0, 3, 1, 4)
        query_bias = query_key_bias.view(depth, 2, heads, 1, width)[:, 0]
        scale = width**-0.5
        products = query @ key.transpose(2, 3) * scale
        pulls = key @ (bias[:, None, None] @ query + query_bias).transpose(2, 3) * scale
        before = [encode, *down[:-1].unbind()]
        looks = [(b @ g @ b.T).transpose(0, 1).flatten(1) for b, g in zip(before, products, strict=True)]
        look_shifts = [(b @ g).flatten() for b, g in zip(before, pulls, strict=True)]
        layers = [
            Layer(u, c, None, g, pull) for u, c, g, pull in zip(maps, shifts, looks, look_shifts, strict=True)
        ]

    decode = model.decode.weight.T
    return Merged(layers, down[-1] @ decode, down_bias[-1] @ decode + model.decode.bias)


def _stack(linears: list[nn.Linear]) -> tuple[Float[Tensor, " layer in out"], Float[Tensor, " layer out"]]:
    weights = torch.stack([linear.weight for linear in linears])
    return weights.transpose(1, 2), torch.stack([linear.bias for linear in linears])
