"""Attention over classes of pairs as a function that `transformers` calls, with the masks that it hands over.

With q, k, v of the host, a_c the vectors of a layer and s the host's scaling, for the attended pairs

    content x (content + class):   score_ij = s q_i . (k_j + a_{c(i, j)})
    content x class:               score_ij = s q_i . a_{c(i, j)}

A key that is padding is absent. A query whose keys are all absent receives 0.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import (
    bidirectional_mask_function,
    causal_mask_function,
    prepare_padding_mask,
    sdpa_mask,
)

from ordinate.attention import attend, attention_scores, mix
from ordinate.attention.dot_product import QKV, isolate_groups, present_weights, with_nan
from ordinate.coordinates import Coordinates
from ordinate.encodings import ClassVectorEncoding, Pairs
from ordinate.encodings.helpers import Cache
from ordinate.errors import OrdinateError

NAME = "ordinate"
"""Of this attention among those of `transformers`."""

LOW = -3e4
"""The score of padding where -inf cannot be used: its weight is exactly 0 beside any score above -29 000."""

Heads = Float[Tensor, "batch head token dim"]
Present = Bool[Tensor, "batch 1 1 key"]


class Standing:
    """Where the tokens of a sequence stand, by their number; asked once for every number."""

    def __init__(self, coordinates: Callable[[int], Coordinates]) -> None:
        self.coordinates = coordinates
        self._kept = Cache[Coordinates]()

    def __call__(self, tokens: int, past: int = 0) -> Coordinates:
        """Coordinates of so many tokens; those of the first `past` must not change with the number of tokens."""
        found = self._kept(tokens, lambda: self._ask(tokens))
        if past and _labels(found)[:past] != _labels(self(past)):
            raise OrdinateError(
                f"the first {past} tokens have other coordinates in a sequence of {tokens}, and their keys are cached: "
                "write use_cache=False"
            )
        return found

    def _ask(self, tokens: int) -> Coordinates:
        found = self.coordinates(tokens)
        if len(found) != tokens:
            raise OrdinateError(
                f"coordinates({tokens}) gives {len(found)} tokens: give a function of the number of all tokens, "
                "special ones and padding included"
            )
        return found


def _labels(coordinates: Coordinates) -> list[tuple[str, int]]:
    return [
        (coordinates.fields[field], ordinate)
        for field, ordinate in zip(coordinates.field, coordinates.ordinate, strict=True)
    ]


class ClassVectors(nn.Module):
    """What one layer of a host looks for: relations that all layers share, and class vectors of its own."""

    def __init__(
        self, encoding: ClassVectorEncoding, layer: int, standing: Standing, *, content: bool
    ) -> None:
        super().__init__()
        self.heads, self.bound = encoding.heads, encoding.bound
        self.standing, self.content = standing, content
        self.tables = nn.ParameterList(table.detach().clone() for table in encoding.vectors(layer))

    def pairs(self, tokens: int, past: int = 0) -> tuple[Pairs, ...]:
        """One for each group of heads."""
        coordinates, vectors = self.standing(tokens, past), iter(self.tables)
        return tuple(
            Pairs(heads, bound.pattern(coordinates), next(vectors) if bound.classes else None)
            for heads, bound in zip(self.heads, self.bound, strict=True)
        )


def class_attention(
    module: nn.Module,
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch head key dim"],
    value: Float[Tensor, "batch head key dim"],
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float | int = 0.0,
    **ignored: Any,
) -> tuple[Float[Tensor, "batch query head dim"], None]:
    """Attend over the classes of a layer.

    Weights must be at hand to drop some of them, for a mask that says more than what is padding, and for queries that
    follow on cached keys; otherwise `plan` decides for each group of heads.
    """
    layer = getattr(module, "class_vectors", None)
    if not isinstance(layer, ClassVectors):
        raise OrdinateError(
            f"{type(module).__name__} has no class vectors: write put_attention(model, Shaw(clip=16))"
        )
    tokens, past = key.shape[2], key.shape[2] - query.shape[2]
    pairs = layer.pairs(tokens, past)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    qkv = QKV(query, key if layer.content else None, value)
    padding = attention_mask is None or (attention_mask.dtype == torch.bool and attention_mask.shape[2] == 1)
    if padding and not past and not dropout:
        mixed = _by_groups(qkv, pairs, attention_mask, scale)
    else:
        mixed = _explicit(qkv, pairs, attention_mask, scale, dropout)
    return mixed.transpose(1, 2), None


def _by_groups(qkv: QKV, pairs: tuple[Pairs, ...], present: Present | None, scale: float) -> Heads:
    """Each group of heads by its own plan.

    Padding is one more column: (q_i, 1 / s) . (k_j, LOW) = q_i . k_j + LOW / s, where classes have a 0. Padded keys and
    values are 0: they are never read, and queries without any other key receive 0.
    """
    if present is not None:
        query, key, value = qkv
        assert query is not None
        padded = ~present.transpose(2, 3)
        column = padded.to(query.dtype).expand(*query.shape[:3], 1) * LOW
        key = torch.zeros_like(query) if key is None else key.masked_fill(padded, 0.0)
        qkv = QKV(
            torch.cat([query, query.new_full((*query.shape[:3], 1), 1 / scale)], -1),
            torch.cat([key, column], -1),
            value.masked_fill(padded, 0.0),
        )
        pairs = tuple(
            group
            if group.vectors is None
            else group._replace(vectors=nn.functional.pad(group.vectors, (0, 1)))
            for group in pairs
        )
    mixed, first = [], 0
    for group in pairs:
        part = qkv.part(slice(first, first + group.heads))
        mixed.append(attend(*part, group.pattern, vectors=group.vectors, scale=scale))
        first += group.heads
    return torch.cat(mixed, dim=1) if len(mixed) > 1 else mixed[0]


def _explicit(
    qkv: QKV, pairs: tuple[Pairs, ...], mask: Tensor | None, scale: float, dropout: float | int
) -> Float[Tensor, "batch head query dim"]:
    """Scores, weights and mixing one after the other; the mask is true where attended, or a number to add."""
    (query, key, value), rows = isolate_groups(qkv, pairs, _attended(mask))
    assert query is not None
    scores = attention_scores(query * (scale * query.shape[-1] ** 0.5), key, pairs=pairs)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
    weights = nn.functional.dropout(present_weights(scores, normalised=True), dropout)
    mixed = mix(weights.to(value.dtype), value)
    return with_nan(mixed, rows)


def _attended(mask: Tensor | None) -> Tensor | None:
    """Where a mask lets queries look; -inf or the lowest number of the format is not."""
    if mask is None or mask.dtype == torch.bool:
        return mask
    return mask > torch.finfo(mask.dtype).min


def class_mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int | Tensor = 0,
    kv_offset: int = 0,
    mask_function: Callable[..., Any] = causal_mask_function,
    attention_mask: Tensor | None = None,
    **rest: Any,
) -> Tensor | None:
    """What is padding, [batch, 1, 1, key], and nothing where nothing is: the causal part of a mask is in the relation.

    Masks of other kinds, such as for several texts in one sequence, are laid out in full. Without a function of this
    name `transformers` would hand over no mask at all.
    """
    if int(q_offset) + q_length != kv_length + kv_offset:
        raise OrdinateError(
            f"{q_length} queries do not end the {kv_length} keys: "
            "this attention needs a cache that grows, write cache_implementation='dynamic'"
        )
    if mask_function not in (causal_mask_function, bidirectional_mask_function):
        rest |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
        full: Tensor = sdpa_mask(
            batch_size, q_length, kv_length, q_offset, kv_offset, mask_function, attention_mask, **rest
        )
        return full
    present = prepare_padding_mask(attention_mask, kv_length, kv_offset)
    if present is None or (present.device.type == "cpu" and bool(present.all())):  # no device is waited for
        return None
    padded: Tensor = present[:, None, None, kv_offset : kv_offset + kv_length].bool()
    return padded


AttentionInterface.register(NAME, class_attention)
AttentionMaskInterface.register(NAME, class_mask)
