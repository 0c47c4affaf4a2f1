"""The one attention of all hosts, as a function that `transformers` calls.

With q, k, v of the host, R the rotation, a_c the class vectors and b the bias of an encoding, and s the host's scaling,

    content x (content + class):   score_ij = s R_i q_i . (R_j k_j + a_{c(i, j)}) + b_ij
    content x class:               score_ij = s q_i . a_{c(i, j)}

for the pairs that the host and the relation attend. A query whose keys are all absent receives 0, and so do gradients.

Cached keys are those of the host: what an encoding does to them is done anew at every step, so that a cache and no
cache give the same numbers. Keys and values of grouped-query attention are repeated; every query head has its own
classes and biases.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import pad
from transformers import AttentionInterface, AttentionMaskInterface

from ordinate.attention import attend
from ordinate.attention.call import fused, rotated, weights_of, without_padding
from ordinate.attention.dot_product import QKV, isolate, known_finite, mix, with_nan
from ordinate.attention.tables import dense_tables
from ordinate.coordinates import Coordinates
from ordinate.encodings import ClassVectorEncoding, Encoding, NoPosition, Pairs
from ordinate.errors import OrdinateError
from ordinate.hub.hosts import CALLED, refuse_dropped
from ordinate.hub.places import Seen, Standing, at_places, class_mask, in_a_row, turn

NAME = "ordinate"
"""Of this attention among those of `transformers`."""


AT_ONCE = 64
"""Tokens ahead for which a pattern is worked out where queries follow on cached keys."""

Heads = Float[Tensor, "batch head token dim"]
Present = Bool[Tensor, "batch 1 1 key"]


class ClassVectors(nn.Module):
    """What one layer of a host looks for: relations that all layers share, and class vectors of its own."""

    def __init__(self, encoding: ClassVectorEncoding, layer: int, *, content: bool) -> None:
        super().__init__()
        self.heads, self.bound, self.content = encoding.heads, encoding.bound, content
        self.tables = nn.ParameterList(table.detach().clone() for table in encoding.vectors(layer))

    def pairs(self, coordinates: Coordinates) -> tuple[Pairs, ...]:
        """One for each group of heads."""
        vectors = iter(self.tables)
        return tuple(
            Pairs(heads, bound.pattern(coordinates), next(vectors) if bound.classes else None)
            for heads, bound in zip(self.heads, self.bound, strict=True)
        )


@dataclass(eq=False)
class Seat:
    """What a layer of a host was told; class vectors are parameters of the layer, all others of its stack."""

    heads: int
    causal: bool
    """Whether the host looks back only."""
    keep: bool
    """Whether a bias that the host hands over is added to the scores."""
    standing: Standing = field(default_factory=lambda: Standing(in_a_row))
    encoding: Encoding = field(default_factory=NoPosition)
    layer: int = 0
    """The number of the layer among those that share the encoding."""
    unread: frozenset[str] = frozenset(CALLED)
    """What the layer must not hand over, since nobody would read it."""

    @property
    def biases(self) -> bool:
        """Whether the encoding adds numbers to scores."""
        return type(self.encoding).bias is not Encoding.bias


def attention(
    module: nn.Module,
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch group key dim"],
    value: Float[Tensor, "batch group key dim_v"],
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float | int = 0.0,
    position_bias: Float[Tensor, "#batch #head #query #key"] | None = None,
    is_causal: bool | None = None,
    **passed: Any,
) -> tuple[Float[Tensor, "batch query head dim_v"], None]:
    """Attend as the encoding of a layer says.

    Class vectors go by groups of heads, each by its own plan, and everything else through PyTorch's kernel. Scores of
    all pairs are laid out where weights are dropped, and for class vectors with a mask of more than padding, with a
    bias of the host, or with queries that follow on cached keys.
    """
    seat = getattr(module, "seat", None)
    if not isinstance(seat, Seat):
        raise OrdinateError(
            f"{type(module).__name__} has no encoding of ours: write put_attention(model, Shaw(clip=16))"
        )
    _check(module, seat, query, is_causal)
    refuse_dropped(module, seat.unread, passed)
    if key.shape[1] < query.shape[1]:
        key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    seen = Seen.of(attention_mask, query, key)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    added = position_bias if seat.keep else None
    qkv, begin = QKV(query, key, value), None
    if added is None and seen.from_the_left(query.shape[2], key.shape[2]):
        assert seen.places is not None
        begin = seen.tokens - 1 - seen.places[:, -1]
        qkv, seen = _turned(qkv, begin), _turned_mask(seen, begin)
    mixed = _attend(module, seat, qkv, seen, scale, dropout, added)
    if begin is not None:
        mixed = turn(mixed, -begin)
    return mixed.transpose(1, 2), None


def _check(module: nn.Module, seat: Seat, query: Tensor, is_causal: bool | None) -> None:
    if query.shape[1] != seat.heads:
        raise OrdinateError(
            f"{type(module).__name__} has {query.shape[1]} heads of queries, and {seat.heads} were counted: "
            "put_attention reads num_heads of the layer, or num_attention_heads of its config"
        )
    if is_causal is not None and is_causal != seat.causal:
        raise OrdinateError(
            f"is_causal={is_causal} comes too late: write it into the config before put_attention, as config.is_causal"
        )


def _turned(qkv: QKV, begin: Int[Tensor, " batch"]) -> QKV:
    """Padding on the left brought to the right, so that tokens stand at 0, 1, ..."""
    query, key, value = (x if x is None else turn(x, begin) for x in qkv)
    assert value is not None
    return QKV(query, key, value)


def _turned_mask(seen: Seen, begin: Int[Tensor, " batch"]) -> Seen:
    assert seen.mask is not None
    return Seen(turn(seen.mask.mT, begin).mT, None, seen.tokens)


def _attend(
    module: nn.Module,
    seat: Seat,
    qkv: QKV,
    seen: Seen,
    scale: float,
    dropout: float | int,
    added: Float[Tensor, "#batch #head #query #key"] | None,
) -> Heads:
    query, key, value = qkv
    assert query is not None
    assert key is not None
    queries, keys = query.shape[2], key.shape[2]
    past, encoding = seen.tokens - queries, seat.encoding
    causal = seat.causal and seen.only_padding
    vectors = getattr(module, "class_vectors", None)
    if isinstance(vectors, ClassVectors):
        pairs = _pairs(vectors, seat.standing, seen.tokens, past)
        _check_width(pairs, query)
        qkv = QKV(query, key if vectors.content else None, value)
        if seen.only_padding and seen.places is None and not past and not dropout and added is None:
            return _by_groups(qkv, pairs, seen.mask, scale)
        return _explicit(qkv, pairs, seen, *_terms(seen, added, queries, keys, causal, query), scale, dropout)
    if encoding.rotates:
        # By their number among the keys: a rotation shows nothing but differences of places.
        qkv = rotated(qkv, seat.standing(keys, keys - queries), encoding)
    if seat.biases:
        bias = encoding.bias(seat.standing(seen.tokens, past), seat.layer)
        if bias is not None:
            bias = at_places(bias.to(query.dtype), seen, queries)
            added = bias if added is None else added + bias
    terms = _terms(seen, added, queries, keys, causal, query)
    return _explicit(qkv, (), seen, *terms, scale, dropout) if dropout else fused(qkv, *terms, scale=scale)


def _pairs(vectors: ClassVectors, standing: Standing, tokens: int, past: int) -> tuple[Pairs, ...]:
    """The pairs of at least so many tokens: word by word, the same pattern serves for a while."""
    if past and standing.coordinates is in_a_row:
        try:
            return vectors.pairs(standing(-(-tokens // AT_ONCE) * AT_ONCE))
        except OrdinateError:  # classes that were never trained, further on
            pass
    return vectors.pairs(standing(tokens, past))


def _check_width(pairs: tuple[Pairs, ...], query: Tensor) -> None:
    for group in pairs:
        if group.vectors is not None and group.vectors.shape[-1] != query.shape[-1]:
            raise OrdinateError(
                f"queries are {query.shape[-1]} wide, and class vectors {group.vectors.shape[-1]}: this host makes its "
                "heads in a way that put_attention does not know, use one that biases scores, such as Alibi()"
            )


def _terms(
    seen: Seen, added: Tensor | None, queries: int, keys: int, causal: bool, like: Tensor
) -> tuple[Float[Tensor, "#batch #head #query #key"] | None, Bool[Tensor, "#batch #head #query #key"] | None]:
    """What is added to the scores, and which pairs are attended."""
    attended = seen.mask
    if attended is not None and attended.dtype != torch.bool:
        numbers, attended = attended, attended > torch.finfo(attended.dtype).min
        numbers = numbers.masked_fill(~attended, 0.0).to(like.dtype)
        added = numbers if added is None else added + numbers
    if causal and queries > 1:
        back = torch.ones(queries, keys, dtype=torch.bool, device=like.device).tril(keys - queries)[
            None, None
        ]
        attended = back if attended is None else attended & back
    return added, attended


def _explicit(
    qkv: QKV,
    pairs: tuple[Pairs, ...],
    seen: Seen,
    added: Tensor | None,
    attended: Tensor | None,
    scale: float,
    dropout: float | int,
) -> Heads:
    """Scores, weights and mixing one after the other."""
    attended, rows = _attended(qkv, pairs, seen, attended), None
    if not known_finite(*qkv):
        qkv, rows = isolate(qkv, lambda bad: (bad[:, :, None] @ attended.float().mT)[:, :, 0])
    query, key, value = qkv
    assert query is not None
    scores = _scores(query * scale, key, pairs, seen)
    scores = scores if added is None else scores + added
    scores = scores.masked_fill(~attended, float("-inf"))
    weights = weights_of(scores).to(value.dtype)
    return with_nan(mix(nn.functional.dropout(weights, dropout), value), rows)


def _attended(
    qkv: QKV, pairs: tuple[Pairs, ...], seen: Seen, attended: Tensor | None
) -> Bool[Tensor, "#batch #head #query #key"]:
    """Pairs that the host and the relations attend."""
    query, _, value = qkv
    assert query is not None
    if attended is None:
        attended = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=value.device)
    if not pairs:
        return attended
    absent = [dense_tables(group.pattern, value.device).absent for group in pairs]
    if all(none is None for none in absent):
        return attended
    parts = [
        torch.ones(1, group.heads, query.shape[2], value.shape[2], dtype=torch.bool, device=value.device)
        if none is None
        else ~at_places(none[None], seen, query.shape[2]).expand(-1, group.heads, -1, -1)
        for group, none in zip(pairs, absent, strict=True)
    ]
    most = max(len(part) for part in parts)
    return attended & torch.cat([part.expand(most, -1, -1, -1) for part in parts], 1)


def _scores(
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch head key dim"] | None,
    pairs: tuple[Pairs, ...],
    seen: Seen,
) -> Float[Tensor, "batch head query key"]:
    """q . (k + a), by way of one product with the vectors and a lookup."""
    scores = None if key is None else query @ key.mT
    if all(group.vectors is None for group in pairs):
        assert scores is not None
        return scores
    found = []
    for group, part in zip(pairs, query.split([group.heads for group in pairs], 1), strict=True):
        classes = at_places(dense_tables(group.pattern, query.device).classes[None], seen, query.shape[2])
        shape = (*part.shape[:3], classes.shape[-1])
        if group.vectors is None:
            found.append(part.new_zeros(shape))
            continue
        by_class = pad(part @ group.vectors.to(part.dtype).mT, (0, 1))  # plain pairs have no vector
        found.append(by_class.gather(-1, classes.expand(shape)))
    by_pair = torch.cat(found, 1)
    return by_pair if scores is None else scores + by_pair


def _by_groups(qkv: QKV, pairs: tuple[Pairs, ...], present: Present | None, scale: float) -> Heads:
    """Each group of heads by its own plan."""
    qkv, pairs = without_padding(qkv, pairs, present, scale)
    mixed, first = [], 0
    for group in pairs:
        part = qkv.part(slice(first, first + group.heads))
        mixed.append(attend(*part, group.pattern, vectors=group.vectors, scale=scale))
        first += group.heads
    return torch.cat(mixed, dim=1) if len(mixed) > 1 else mixed[0]


AttentionInterface.register(NAME, attention)
AttentionMaskInterface.register(NAME, class_mask)
