"""What one call of attention says beyond the tokens: masks, other tokens to attend to, keys of earlier calls.

Masks say True where a pair is attended, here and everywhere behind `od.Attention`, whose masks are torch's.
"""

from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from ordinate.attention.dot_product import QKV, Heads, present_weights
from ordinate.attention.tables import dense_tables
from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding, Pairs
from ordinate.errors import OrdinateError

LOW = -3e4
"""The score of padding where -inf cannot be used: its weight is exactly 0 beside any score above -29 000."""

Memory = tuple[Float[Tensor, "batch key key_dim"], Float[Tensor, "batch key value_dim"]]
Mask = Bool[Tensor, "#batch #head #query #key"]
Added = Float[Tensor, "#batch #head #query #key"]


@dataclass(frozen=True)
class HeadOptions:
    """How heads are made, besides how wide they are."""

    key_value_heads: int | None = None
    """Heads of keys and values, which equally many heads of queries share; as many as of queries where not given."""
    key_dim: int | None = None
    value_dim: int | None = None
    """Widths of the tokens that keys and values are made of, where they are others."""
    bias: bool = True
    dropout: float = 0.0
    """Share of the weights that training drops."""

    def key_heads(self, heads: int) -> int:
        """Heads of keys and values beside so many of queries."""
        return self.key_value_heads or heads


@dataclass
class KeyCache:
    """Keys and values of all tokens so far: one for each layer of attention, empty before the first call.

    They are kept as they were made; what an encoding does to keys is done anew in every call.
    """

    key: Heads | None = None
    value: Heads | None = None
    seen: Coordinates | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return 0 if self.value is None else self.value.shape[2]

    def extend(self, qkv: QKV, coordinates: Coordinates) -> QKV:
        """Put the new keys and values behind those of before, whose places must be what they were."""
        past = len(self)
        if self.seen is not None and not coordinates.starts_with(self.seen):
            raise OrdinateError(
                f"the first {past} tokens stood elsewhere when their keys were cached: give a layout that only adds "
                "tokens at its end, or no cache"
            )
        query, key, value = qkv
        if self.value is not None:
            value = torch.cat([self.value, value], dim=2)
            key = None if key is None or self.key is None else torch.cat([self.key, key], dim=2)
        self.key, self.value, self.seen = key, value, coordinates
        return QKV(query, key, value)


@dataclass(frozen=True)
class Call:
    """One call: who is attended to, and what masks say."""

    memory: Memory | None = None
    """What keys and values are made of, where that is not the tokens themselves."""
    mask: Mask | None = None
    """True where a pair is attended."""
    added: Added | None = None
    """Numbers added to scores, minus infinity where a pair is absent."""
    cache: KeyCache | None = None
    weights: bool = False
    """Whether the weights are returned too."""

    @property
    def says_more_than_padding(self) -> bool:
        """Whether the masks depend on the query or on the head."""
        return self.added is not None or (self.mask is not None and self.mask.shape[1:3] != (1, 1))

    def terms(
        self, bias: Float[Tensor, "#head token token"] | None, queries: int, keys: int, like: Tensor
    ) -> tuple[Added | None, Mask | None]:
        """What is added to the scores of these queries and keys, and which pairs are attended."""
        added, attended = self.added, self.mask
        if added is not None:
            present = added > float("-inf")
            attended = present if attended is None else attended & present
            added = added.masked_fill(~present, 0.0).to(like.dtype)
        if bias is not None:
            there = bias[None, :, -queries:, :keys]
            present = there > float("-inf")
            attended = present if attended is None else attended & present
            there = there.masked_fill(~present, 0.0).to(like.dtype)
            added = there if added is None else added + there
        return added, attended


def rotated(qkv: QKV, coordinates: Coordinates, encoding: Encoding) -> QKV:
    """Queries and keys turned by their places; fewer queries than keys are the last ones."""
    query, key, value = qkv
    if query is None or key is None or not encoding.rotates:
        return qkv
    before = key.shape[2] - query.shape[2]
    if key.shape[2] != len(coordinates):
        raise OrdinateError(
            f"{type(encoding).__name__} turns queries and keys of one sequence, and here are two: "
            "give a relation between their fields, such as od.aligned()"
        )
    turned, key = encoding.rotate(nn.functional.pad(query, (0, 0, before, 0)), key, coordinates)
    return QKV(turned[:, :, before:], key, value)


def repeated(qkv: QKV, heads: int) -> QKV:
    """Keys and values of grouped queries, once for every head."""
    query, key, value = qkv
    times = heads // value.shape[1]
    key = None if key is None else key.repeat_interleave(times, dim=1)
    return QKV(query, key, value.repeat_interleave(times, dim=1))


def within(attended: Mask | None, pairs: tuple[Pairs, ...], queries: int, keys: int, like: Tensor) -> Mask:
    """The pairs that masks and relations attend."""
    if attended is None:
        attended = torch.ones(1, 1, 1, keys, dtype=torch.bool, device=like.device)
    absent = [dense_tables(group.pattern, like.device).absent for group in pairs]
    if all(none is None for none in absent):
        return attended
    parts = [
        torch.ones(group.heads, queries, keys, dtype=torch.bool, device=like.device)
        if none is None
        else ~none[-queries:, :keys].expand(group.heads, -1, -1)
        for group, none in zip(pairs, absent, strict=True)
    ]
    return attended & torch.cat(parts)[None]


def without_padding(
    qkv: QKV, pairs: tuple[Pairs, ...], present: Mask | None, scale: float
) -> tuple[QKV, tuple[Pairs, ...]]:
    """Padding as one more column, which every kernel can take.

    (q_i, 1 / s) . (k_j, LOW) = q_i . k_j + LOW / s, where classes have a 0. Padded keys and values are 0: they are
    never read, and queries without any other key receive 0.
    """
    if present is None:
        return qkv, pairs
    query, key, value = qkv
    assert query is not None
    padded = ~present.mT
    column = padded.to(query.dtype).expand(len(query), query.shape[1], -1, 1) * LOW
    key = torch.zeros_like(query) if key is None else key.masked_fill(padded, 0.0)
    wider = tuple(
        group if group.vectors is None else group._replace(vectors=nn.functional.pad(group.vectors, (0, 1)))
        for group in pairs
    )
    ones = query.new_full((*query.shape[:3], 1), 1 / scale)
    return (
        QKV(torch.cat([query, ones], -1), torch.cat([key, column], -1), value.masked_fill(padded, 0.0)),
        wider,
    )


def weights_of(scores: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
    """The softmax, in float32 at least; a query whose keys are all absent has weights of 0."""
    half = scores.dtype in (torch.bfloat16, torch.float16)
    return present_weights(scores.float() if half else scores, normalised=True)


def fused(
    qkv: QKV, added: Added | None, attended: Mask | None, dropout: float = 0.0, scale: float | None = None
) -> Heads:
    """PyTorch's kernel; a query whose keys are all absent receives 0."""
    query, key, value = qkv
    assert query is not None
    assert key is not None
    if added is None and attended is None:
        return scaled_dot_product_attention(query, key, value, dropout_p=dropout, scale=scale)
    mask = (
        added if attended is None else torch.where(attended, 0.0 if added is None else added, float("-inf"))
    )
    assert mask is not None
    empty = mask.detach().amax(-1, keepdim=True) == float("-inf")
    mask = mask.masked_fill(empty, 0.0).to(query.dtype).expand(-1, -1, query.shape[2], key.shape[2])
    mixed = scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout, scale=scale)
    return mixed.masked_fill(empty, 0.0)


def read_masks(
    shape: tuple[int, int, int, int],
    key_padding_mask: Shaped[Tensor, "..."] | None,
    attn_mask: Shaped[Tensor, "..."] | None,
    *,
    is_causal: bool,
    device: torch.device,
) -> tuple[Mask | None, Added | None]:
    """Masks of `torch.nn.MultiheadAttention`, True where a pair is left out, as True where it is attended.

    >>> padding = torch.tensor([[False, True]])
    >>> read_masks((1, 1, 2, 2), padding, None, is_causal=False, device=padding.device)[0].tolist()
    [[[[True, False]]]]
    """
    batch, heads, queries, keys = shape
    attended, added = None, None
    if key_padding_mask is not None:
        if key_padding_mask.dtype != torch.bool or key_padding_mask.shape != (batch, keys):
            raise OrdinateError(
                f"key_padding_mask is {key_padding_mask.dtype} {list(key_padding_mask.shape)}: give torch.bool "
                f"[{batch}, {keys}], True where a token is padding"
            )
        attended = ~key_padding_mask[:, None, None]
    if attn_mask is not None:
        four = attn_mask[(None,) * (4 - attn_mask.dim())] if 2 <= attn_mask.dim() <= 4 else attn_mask
        if four.dim() != 4 or any(
            size not in (1, full) for size, full in zip(four.shape, shape, strict=True)
        ):
            raise OrdinateError(
                f"attn_mask has the shape {list(attn_mask.shape)}: give [{queries}, {keys}], "
                f"[{heads}, {queries}, {keys}] or [{batch}, {heads}, {queries}, {keys}]"
            )
        if attn_mask.dtype == torch.bool:
            attended = ~four if attended is None else attended & ~four
        elif attn_mask.is_floating_point():
            added = four
        else:
            raise OrdinateError(
                f"attn_mask is {attn_mask.dtype}: write attn_mask.bool(), True where a pair is left out"
            )
    if is_causal and queries > 1:
        back = torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)[None, None]
        attended = back if attended is None else attended & back
    return attended, added
