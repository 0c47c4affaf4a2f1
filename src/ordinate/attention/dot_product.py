"""Dot-product attention step by step, as pure functions: scores, weights, mixing."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ordinate.attention.tables import dense_tables
from ordinate.encodings import Pairs
from ordinate.errors import OrdinateError

Heads = Float[Tensor, "batch head token dim"]
Reached = Callable[[Float[Tensor, "batch head key"]], Float[Tensor, "batch head query"]]
"""How many of the keys marked by 1 every query attends to."""


class QKV(NamedTuple):
    """Queries, keys and values of all heads; without keys a query looks for classes, without queries a bias decides."""

    query: Heads | None
    key: Heads | None
    value: Heads

    def part(self, heads: slice) -> "QKV":
        """Some of the heads."""
        query, key = (x if x is None else x[:, heads] for x in self[:2])
        return QKV(query, key, self.value[:, heads])


def attention_scores(
    query: Float[Tensor, "*batch head query dim"],
    key: Float[Tensor, "*batch head key dim"] | None,
    *,
    pairs: Sequence[Pairs] = (),
    bias: Float[Tensor, "#head query key"] | None = None,
    keys: int | None = None,
) -> Float[Tensor, "*batch head query key"]:
    """score[i, j] = q_i . (k_j + a_{class(i, j)}) / sqrt(d) + bias[i, j], and -inf where a pair is absent.

    Without keys the classes alone are looked for. Fewer queries than the patterns have tokens are those of the last
    tokens, fewer `keys` those of the first. The class term is computed as one product with the table of vectors
    followed by a lookup, so that no [query, key, dim] tensor is ever made.
    """
    parts = []
    sizes = [group.heads for group in pairs] or [query.shape[-3]]
    by_group = [None] * len(sizes) if key is None else key.split(sizes, dim=-3)
    for place, (q, k) in enumerate(zip(query.split(sizes, dim=-3), by_group, strict=True)):
        found = None if k is None else q @ k.transpose(-1, -2)
        if pairs:
            found = _with_classes(q, found, pairs[place], keys)
        assert found is not None, "without keys there must be classes to look for"
        parts.append(found)
    scores: Tensor = torch.cat(parts, dim=-3) if len(parts) > 1 else parts[0]
    scores = scores * query.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    return scores


def _with_classes(
    query: Float[Tensor, "*batch head query dim"],
    scores: Float[Tensor, "*batch head query key"] | None,
    group: Pairs,
    keys: int | None,
) -> Float[Tensor, "*batch head query key"]:
    tables, part = (
        dense_tables(group.pattern, query.device),
        (slice(-query.shape[-2] or None, None), slice(keys)),
    )
    classes = tables.classes[part]
    shape = (*query.shape[:-1], classes.shape[-1])
    if group.vectors is not None:
        by_class = query @ group.vectors.to(query.dtype).transpose(-1, -2)
        plain = by_class.new_zeros(*by_class.shape[:-1], 1)
        found = torch.cat([by_class, plain], dim=-1).gather(-1, classes.expand(shape))
        scores = found if scores is None else scores + found
    elif scores is None:
        scores = query.new_zeros(shape)
    return scores if tables.absent is None else scores.masked_fill(tables.absent[part], float("-inf"))


LANES = 16 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 8
"""Numbers in a vector of this processor: a softmax over a last axis that is shorter takes them one by one."""


def attention_weights(
    scores: Float[Tensor, "*batch head query key"],
    mask: Bool[Tensor, "*#mask query key"] | None = None,
) -> Float[Tensor, "*batch head query key"]:
    """weights = softmax over keys; where the mask is False a key is absent.

    A query without any key, by the mask or by scores of minus infinity, is an error; on another device than the CPU,
    and inside of `torch.compile` and `torch.vmap`, it has weights of 0.
    """
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    scores, empty = without_empty_rows(scores)
    weights = softmax_over_keys(scores)
    return weights if empty is None else weights.masked_fill(empty, 0.0)


def softmax_over_keys(
    scores: Float[Tensor, "*batch head query key"],
) -> Float[Tensor, "*batch head query key"]:
    """The softmax alone, of rows that have a key."""
    if scores.shape[-1] < LANES and scores.device.type == "cpu":
        return torch.softmax(scores.mT, dim=-2).mT
    return torch.softmax(scores, dim=-1)


def without_empty_rows(
    scores: Float[Tensor, "*row query key"], absent: Bool[Tensor, "query key"] | None = None
) -> tuple[Float[Tensor, "*row query key"], Bool[Tensor, "*row query 1"] | None]:
    """Rows that have no score but minus infinity: refused where the CPU can look, else zeros, and which they are."""
    if not scores.numel():
        if scores.shape[-1] == 0 and scores.shape[:-1].numel():
            raise OrdinateError(f"{scores.shape[-2]} queries and no key: give at least one")
        return scores, None
    reach = scores.detach() if absent is None else scores.detach().masked_fill(absent, float("-inf"))
    empty = reach.amax(-1, keepdim=True) == float("-inf")
    if not _can_look(scores):
        return scores.masked_fill(empty, 0.0), empty
    if bool(empty.any()):
        query = int(empty.nonzero()[0, -2])
        raise OrdinateError(
            f"query {query} has no key to attend to: one of its scores must be above minus infinity"
        )
    return scores, None


def _can_look(x: Tensor) -> bool:
    """Whether Python may ask for a number without waiting for a device or leaving a compiled function."""
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return False
    return not torch._C._functorch.is_functorch_wrapped_tensor(x)


def present_weights(
    scores: Float[Tensor, "*batch head query key"], *, normalised: bool
) -> Float[Tensor, "*batch head query key"]:
    """Weights of scores where queries may have no key, as the first ones of causal decay: their rows are zeros.

    Without `normalised` they are exp(score).

    >>> absent = float("-inf")
    >>> present_weights(torch.tensor([[[absent, absent], [0.0, absent]]]), normalised=True)
    tensor([[[0., 0.],
             [1., 0.]]])
    """
    if not normalised:
        return scores.exp()
    some = (scores.detach() != -torch.inf).any(-1, keepdim=True)
    return torch.where(some, scores, 0.0).softmax(-1) * some


def mix(
    weights: Float[Tensor, "*#batch head query key"], values: Float[Tensor, "*batch head key dim"]
) -> Float[Tensor, "*batch head query dim"]:
    """output_i = sum_j weights[i, j] values_j. Weights without a batch axis are shared by the batch."""
    return weights @ values


def isolate(qkv: QKV, reached: Reached) -> tuple[QKV, Bool[Tensor, "batch head query"]]:
    """Zeros in tokens that are not finite, and the queries that attend to such a token, or are one.

    A weight of 0 times infinity is not 0: with zeros, what is absent stays out of all products, also backward.
    """
    query, key, value = qkv
    bad = _not_finite(value) if key is None else _not_finite(key) | _not_finite(value)
    rows = reached(bad.float()) > 0
    value = value.masked_fill(bad[..., None], 0.0)
    if key is not None:
        key = key.masked_fill(bad[..., None], 0.0)
    if query is not None:
        bad = _not_finite(query)
        query, rows = query.masked_fill(bad[..., None], 0.0), rows | bad
    return QKV(query, key, value), rows


def _not_finite(x: Heads) -> Bool[Tensor, "batch head token"]:
    return (x.detach() * 0).sum(-1) != 0


def known_finite(*tensors: Tensor | None) -> bool:
    """Whether there is nothing but finite numbers, by one look at a sum; False where looking would mean to wait."""
    given = [x for x in tensors if x is not None]
    return _can_look(given[-1]) and math.isfinite(sum(float(x.detach().sum()) for x in given))


def with_nan(out: Heads, rows: Bool[Tensor, "batch head token"] | None) -> Heads:
    """NaN in these rows, which pass no gradient on."""
    return out if rows is None else out.masked_fill(rows[..., None], float("nan"))


def isolate_groups(
    qkv: QKV, pairs: Sequence[Pairs], mask: Bool[Tensor, "#batch #head #query key"] | None = None
) -> tuple[QKV, Bool[Tensor, "batch head query"] | None]:
    """The same for groups of heads, and a mask; as it is, and None, where there is nothing to isolate."""
    query, _, value = qkv
    everything = mask is None and all(len(group.pattern.query) == group.pattern.tokens**2 for group in pairs)
    if everything or known_finite(*qkv):
        return qkv, None
    queries = (value if query is None else query).shape[2]

    def reached(bad: Float[Tensor, "batch head key"]) -> Float[Tensor, "batch head query"]:
        attended = torch.cat(
            [
                dense_tables(group.pattern, bad.device).attended[:, -queries:].expand(group.heads, -1, -1)
                for group in pairs
            ]
        )
        if mask is None:
            return (bad[:, :, None] @ attended)[:, :, 0]
        return (bad[:, :, None] @ (attended * mask.mT))[:, :, 0]

    return isolate(qkv, reached)
