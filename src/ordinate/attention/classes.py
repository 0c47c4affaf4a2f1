"""Attention over classes of pairs: which path computes it, and the public functions.

    score_ij = scale (q_i . k_j + q_i . a_c) + b_c + s_ij,  c = class(i, j);    out_i = sum_j softmax_j(score)_ij v_j

Sums run over the pairs that a pattern attends. `plan` alone decides how they are computed, and says why:

| path | what |
|---|---|
| explicit | scores, weights and mixing one after the other, for those who read or replace them |
| fused | PyTorch's own kernel, where no relation says anything |
| dense | the scores of all pairs at once |
| chunked | the same in parts that stay in the cache |
| blocked | blocks of queries and the stretches of keys that they attend to: tokens x window |
| flex | PyTorch's FlexAttention, compiled for a GPU, where there is a compiler, and heads have 16 numbers or more |
| sparse | slices of keys: tokens x keys of a query, where these are few |

**Absent pairs have no influence.** Numbers that are not finite, in a query, key or value, make NaN of the rows that
attend to that token, and nothing of any other row, nor of its gradients; rows of NaN pass no gradient on.

**A query without any key** is refused: by its pattern on every device; by its mask or by scores of minus infinity on
the CPU. Elsewhere, and inside of `torch.compile` and `torch.vmap`, finding out would mean to wait: there it receives 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from ordinate.attention import blocked, dense, flex, sparse
from ordinate.attention.costs import costs
from ordinate.attention.dot_product import (
    QKV,
    Heads,
    Reached,
    isolate,
    known_finite,
    with_nan,
    without_empty_rows,
)
from ordinate.attention.kernels import autocast_dtype
from ordinate.attention.tables import CPU, blocked_tables, dense_tables, sparse_tables
from ordinate.coordinates import ordinary_tensors
from ordinate.errors import OrdinateError
from ordinate.relations.pattern import Pattern

Kernel = Callable[..., Tensor]
is_exporting = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)
"""Whether `torch.export` looks on; the older versions of torch do not tell it from `torch.compile`."""

BLOCKED_FROM = 8
"""Keys of a query from which on blocks are looked for: finding them takes time, and with fewer slots are faster."""

_PARTS: "WeakKeyDictionary[Pattern, tuple[int, int]]" = WeakKeyDictionary()
_CHECKED: "WeakKeyDictionary[Pattern, bool]" = WeakKeyDictionary()


@dataclass(frozen=True)
class Plan:
    """How attention is computed, and why.

    >>> from ordinate.coordinates import Coordinates
    >>> from ordinate.relations import BoundRelation, window
    >>> here = Coordinates.of(number=range(2000))
    >>> pattern = BoundRelation(window(back=2), [here]).pattern(here)
    >>> print(plan(pattern, rows=32, device=torch.device("cpu")))  # doctest: +ELLIPSIS
    sparse: 3 keys a query of 2000 tokens cost as much as 34... columns of all pairs
    """

    path: str
    why: str

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


def plan(
    pattern: Pattern | None,
    *,
    rows: int,
    device: torch.device,
    bias: bool = False,
    content: bool = False,
    reads_scores: bool = False,
    explicit: str = "",
) -> Plan:
    """The path for a pattern; None is the absence of any relation.

    `rows` are batch times heads, `bias` says that every pair has one of its own, `content` that queries and keys are
    such as FlexAttention takes, `reads_scores` that an encoding reads the scores of all pairs, `explicit` names another
    reason why scores and weights must be at hand.
    """
    if is_exporting():
        return Plan("explicit", "an exported graph holds torch's own operators alone")
    chosen = "dense" if pattern is None else path_of(pattern)
    if reads_scores:
        if pattern is not None and chosen == "sparse":
            raise OrdinateError(
                f"this encoding reads the scores of all pairs, and the relation has {pattern.keys_per_query:.3g} "
                f"keys a query of {pattern.tokens} tokens, which sparse attention is for: write a bias "
                'instead, such as encoding = "kerple-log", or evaluate shorter sequences'
            )
        return Plan("explicit", "the encoding reads the scores of all pairs")
    if explicit:
        return Plan("explicit", explicit)
    if pattern is None:
        return Plan("fused", "no relation")
    keys, tokens, scores = pattern.keys_per_query, pattern.tokens, rows * pattern.tokens**2
    if content and flex.compiles(device):
        return Plan("flex", f"{keys:.3g} keys a query of {tokens} tokens, compiled for {device.type}")
    if chosen != "dense" and not bias:
        cost = costs_of(pattern)[chosen]
        return Plan(
            chosen,
            f"{keys:.3g} keys a query of {tokens} tokens cost as much as {cost:.3g} columns of all pairs",
        )
    why = f"{keys:.3g} keys a query of {tokens} tokens"
    if chosen != "dense":
        why = "every pair has a bias of its own"
    most = dense.chunk_size(device)
    if scores <= most:
        return Plan("dense", f"{why}, {scores} scores fit into one chunk of {most}")
    return Plan("chunked", f"{why}, {scores} scores in chunks of {most}")


def path_of(pattern: Pattern) -> str:
    """The path that takes the least time on a CPU: dense, sparse or blocked.

    The pattern alone decides: a sample has the same numbers in whatever batch, and in whatever order.
    """
    found = costs_of(pattern)
    return min(found, key=lambda path: found[path])


def is_sparse(pattern: Pattern) -> bool:
    """Whether slots and runs are few enough for sparse attention to be the fastest."""
    return path_of(pattern) == "sparse"


def costs_of(pattern: Pattern) -> dict[str, float]:
    """What every path of a pattern costs, in columns of dense scores for each query; see `Costs`."""
    measured, tokens, keys = costs(), pattern.tokens, pattern.keys_per_query
    found = {"dense": float(tokens)}
    if measured.sparse_token + measured.sparse_slot * keys < tokens:  # before slots are worked out
        slots, runs = slots_and_runs(pattern)
        found["sparse"] = (
            measured.sparse_token + (measured.sparse_slot * slots + measured.sparse_run * runs) / tokens
        )
    if keys >= BLOCKED_FROM and measured.blocked_score * keys < min(found.values()):
        tables = blocked_tables(pattern, CPU)
        if tables is not None:
            scores, blocks = tables.pairs, len(tables.blocks)
            found["blocked"] = (measured.blocked_score * scores + measured.blocked_block * blocks) / tokens
    return found


def slots_and_runs(pattern: Pattern) -> tuple[int, int]:
    """What sparse attention has to compute, and in how many pieces."""
    if pattern not in _PARTS:
        slots = sum(len(block.classes) * (block.last - block.first) for block in pattern.blocks)
        _PARTS[pattern] = slots, sum(len(block.runs) for block in pattern.blocks)
    return _PARTS[pattern]


def attend(
    query: Float[Tensor, "batch head token dim"] | None,
    key: Float[Tensor, "batch head token dim"] | None,
    value: Float[Tensor, "batch head token dim_v"],
    pattern: Pattern,
    *,
    vectors: Float[Tensor, "#head cls dim_c"] | None = None,
    bias: Float[Tensor, "#head cls"] | None = None,
    scores_bias: Float[Tensor, "#head token token"] | None = None,
    look: Float[Tensor, "batch head token dim_c"] | None = None,
    scale: float | int = 1.0,
) -> Float[Tensor, "batch head token dim_v"]:
    """The path that `plan` takes for the pattern.

    `look` is what class vectors are multiplied with, where that is not the query: score_ij = scale (q_i . k_j +
    look_i . a_c). The logits of the Inkling model are of this form, with a short look.
    """
    rows = value.shape[0] * value.shape[1]
    content = flex.takes(query, key, value)
    chosen = plan(pattern, rows=rows, device=value.device, bias=scores_bias is not None, content=content)
    if chosen.path == "flex":
        assert query is not None  # `content` says so
        assert key is not None
        return flex_attend(
            query,
            key,
            value,
            pattern,
            vectors=vectors,
            bias=bias,
            scores_bias=scores_bias,
            look=look,
            scale=scale,
        )
    if chosen.path == "blocked":
        return blocked_attention(
            query, key, value, pattern, vectors=vectors, bias=bias, look=look, scale=scale
        )
    if look is not None:
        query, key, vectors = _side_by_side(query, key, vectors, look)
    if chosen.path == "sparse":
        return sparse_attention(query, key, value, pattern, vectors=vectors, bias=bias, scale=scale)
    return dense_attention(
        query, key, value, pattern, vectors=vectors, bias=bias, scores_bias=scores_bias, scale=scale
    )


def _side_by_side(
    query: Tensor | None, key: Tensor | None, vectors: Tensor | None, look: Tensor
) -> tuple[Tensor, Tensor | None, Tensor]:
    """[q, look], [k, 0] and [0, a]: their products are q . k and look . a."""
    _check_look(query, key, vectors)
    assert vectors is not None
    if query is None or key is None:
        return look, None, vectors
    none = key.new_zeros(*key.shape[:-1], look.shape[-1])
    wider = F.pad(vectors, (query.shape[-1], 0))
    return torch.cat([query, look], -1), torch.cat([key, none], -1), wider


def _check_look(query: Tensor | None, key: Tensor | None, vectors: Tensor | None) -> None:
    if vectors is None:
        raise OrdinateError("look is multiplied with class vectors, and there are none: give vectors")
    if (query is None) != (key is None):
        raise OrdinateError("with a look, queries are there for keys alone: give both, or neither")


def dense_attention(
    query: Float[Tensor, "batch head token dim"] | None,
    key: Float[Tensor, "batch head token dim"] | None,
    value: Float[Tensor, "batch head token dim_v"],
    pattern: Pattern,
    *,
    vectors: Float[Tensor, "#head cls dim"] | None = None,
    bias: Float[Tensor, "#head cls"] | None = None,
    scores_bias: Float[Tensor, "#head token token"] | None = None,
    scale: float | int = 1.0,
) -> Float[Tensor, "batch head token dim_v"]:
    """score_ij = scale (q_i . k_j + q_i . a_c) + b_c + s_ij, c = class(i, j); out_i = sum_j softmax_j(score)_ij v_j.

    Sums run over the attended pairs. Without `key`, `vectors` (a), `bias` (b) or `scores_bias` (s) that term is
    left out; plain pairs have a = 0 and b = 0. Without `query` the weights have no batch axis and are made once.

    >>> query, key = torch.tensor([0, 1, 1, 2, 2]), torch.tensor([0, 0, 1, 1, 2])
    >>> back = Pattern(3, 2, query, key, query - key, (0, 3))  # the token itself, and the one before
    >>> value = torch.tensor([1.0, 2.0, 4.0]).view(1, 1, 3, 1)
    >>> dense_attention(None, None, value, back, bias=torch.zeros(1, 2)).flatten()
    tensor([1.0000, 1.5000, 3.0000])
    """
    vectors, bias, scores_bias = _checked(pattern, query, key, value, vectors, bias, scores_bias)
    if not value.numel():
        return value.clone()
    tables, empty = dense_tables(pattern, value.device), None
    if scores_bias is not None and not known_finite(scores_bias):
        scores_bias, empty = without_empty_rows(scores_bias, tables.absent)
    kernel = partial(
        dense.dense, tables=tables, vectors=vectors, bias=bias, scores_bias=scores_bias, scale=scale
    )
    reached = partial(dense.reached, tables=tables)
    out = _apart(kernel, QKV(query, key, value), pattern, reached)
    return out if empty is None else out.masked_fill(empty, 0.0)


def sparse_attention(
    query: Float[Tensor, "batch head token dim"] | None,
    key: Float[Tensor, "batch head token dim"] | None,
    value: Float[Tensor, "batch head token dim_v"],
    pattern: Pattern,
    *,
    vectors: Float[Tensor, "#head cls dim"] | None = None,
    bias: Float[Tensor, "#head cls"] | None = None,
    scale: float | int = 1.0,
) -> Float[Tensor, "batch head token dim_v"]:
    """The numbers of `dense_attention`, in time that grows with tokens x keys of a query.

    >>> query, key = torch.tensor([0, 1, 1, 2, 2]), torch.tensor([0, 0, 1, 1, 2])
    >>> back = Pattern(3, 2, query, key, query - key, (0, 3))  # the token itself, and the one before
    >>> value = torch.tensor([1.0, 2.0, 4.0]).view(1, 1, 3, 1)
    >>> sparse_attention(None, None, value, back, bias=torch.zeros(1, 2)).flatten()
    tensor([1.0000, 1.5000, 3.0000])
    """
    vectors, bias, _ = _checked(pattern, query, key, value, vectors, bias)
    if not value.numel():
        return value.clone()
    tables = sparse_tables(pattern, value.device)
    kernel = partial(sparse.sparse, tables=tables, vectors=vectors, bias=bias, scale=scale)
    return _apart(kernel, QKV(query, key, value), pattern, partial(sparse.reached, tables=tables))


def blocked_attention(
    query: Float[Tensor, "batch head token dim"] | None,
    key: Float[Tensor, "batch head token dim"] | None,
    value: Float[Tensor, "batch head token dim_v"],
    pattern: Pattern,
    *,
    vectors: Float[Tensor, "#head cls dim_c"] | None = None,
    bias: Float[Tensor, "#head cls"] | None = None,
    look: Float[Tensor, "batch head token dim_c"] | None = None,
    scale: float | int = 1.0,
) -> Float[Tensor, "batch head token dim_v"]:
    """The numbers of `dense_attention`, in time that grows with tokens x window; `look` as in `attend`.

    For patterns in which, inside of a block of queries and a field of keys, the offset decides the class.

    >>> query, key = torch.tensor([0, 1, 1, 2, 2]), torch.tensor([0, 0, 1, 1, 2])
    >>> back = Pattern(3, 2, query, key, query - key, (0, 3))  # the token itself, and the one before
    >>> value = torch.tensor([1.0, 2.0, 4.0]).view(1, 1, 3, 1)
    >>> blocked_attention(None, None, value, back, bias=torch.zeros(1, 2)).flatten()
    tensor([1.0000, 1.5000, 3.0000])
    """
    joined = _with_look(query, key, vectors, look)
    vectors, bias, _ = _checked(pattern, joined, key, value, vectors, bias)
    if not value.numel():
        return value.clone()
    tables = blocked_tables(pattern, value.device)
    if tables is None:
        raise OrdinateError(
            "offsets do not decide the classes of this pattern: use attend(...), which finds a path"
        )

    def kernel(joined: Tensor | None, key: Tensor | None, value: Tensor) -> Tensor:
        query, apart = _without_look(joined, key, look)
        return blocked.blocked(query, key, value, tables, vectors, bias, scale, apart)

    return _apart(kernel, QKV(joined, key, value), pattern, partial(blocked.reached, tables=tables))


def flex_attend(
    query: Float[Tensor, "batch head token dim"],
    key: Float[Tensor, "batch head token dim"],
    value: Float[Tensor, "batch head token dim_v"],
    pattern: Pattern,
    *,
    vectors: Float[Tensor, "#head cls dim_c"] | None = None,
    bias: Float[Tensor, "#head cls"] | None = None,
    scores_bias: Float[Tensor, "#head token token"] | None = None,
    look: Float[Tensor, "batch head token dim_c"] | None = None,
    scale: float | int = 1.0,
) -> Float[Tensor, "batch head token dim_v"]:
    """The numbers of `dense_attention` by FlexAttention, of content; `look` as in `attend`. No gradients on a CPU."""
    joined = _with_look(query, key, vectors, look)
    vectors, bias, scores_bias = _checked(pattern, joined, key, value, vectors, bias, scores_bias)
    if not value.numel():
        return value.clone()
    tables, empty = dense_tables(pattern, value.device), None
    if scores_bias is not None and not known_finite(scores_bias):
        scores_bias, empty = without_empty_rows(scores_bias, tables.absent)

    def kernel(joined: Tensor | None, key: Tensor | None, value: Tensor) -> Tensor:
        query, apart = _without_look(joined, key, look)
        assert query is not None
        assert key is not None
        return flex.flex(query, key, value, pattern, vectors, bias, scores_bias, scale, apart)

    out = _apart(kernel, QKV(joined, key, value), pattern, partial(dense.reached, tables=tables))
    return out if empty is None else out.masked_fill(empty, 0.0)


def _with_look(
    query: Tensor | None, key: Tensor | None, vectors: Tensor | None, look: Tensor | None
) -> Tensor | None:
    """[q, look], of which numbers that are not finite are found together."""
    if look is None:
        return query
    _check_look(query, key, vectors)
    return look if query is None else torch.cat([query, look], -1)


def _without_look(
    joined: Tensor | None, key: Tensor | None, look: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    """Both apart again."""
    if look is None or joined is None:
        return joined, None
    if key is None:
        return None, joined
    return joined[..., : -look.shape[-1]], joined[..., -look.shape[-1] :]


def _apart(kernel: Kernel, qkv: QKV, pattern: Pattern, reached: Reached) -> Heads:
    """The kernel's output, without influence of what is absent."""
    if len(pattern.query) == pattern.tokens**2 or known_finite(*qkv):
        return kernel(*qkv)
    finite, rows = isolate(qkv, reached)
    return with_nan(kernel(*finite), rows)


def _checked(
    pattern: Pattern,
    query: Tensor | None,
    key: Tensor | None,
    value: Tensor,
    vectors: Tensor | None,
    bias: Tensor | None,
    scores_bias: Tensor | None = None,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Refuse what has no answer; the tables in the precision of the values, unless autocast decides it."""
    if (query is None) != (key is None and vectors is None):
        raise OrdinateError("a query needs keys or class vectors, and they need a query")
    if query is None and bias is None and scores_bias is None:
        raise OrdinateError("attention without scores: give a query with keys or class vectors, or a bias")
    if value.shape[2] != pattern.tokens:
        raise OrdinateError(f"the pattern has {pattern.tokens} tokens, the values have {value.shape[2]}")
    for table in (vectors, bias):
        if table is not None and table.shape[1] != pattern.classes:
            raise OrdinateError(f"the pattern has {pattern.classes} classes, the table has {table.shape[1]}")
    check_queries(pattern)
    if autocast_dtype(value) != value.dtype:
        return vectors, bias, scores_bias
    for name, x in (("query", query), ("key", key)):
        if x is not None and x.dtype != value.dtype:
            raise OrdinateError(
                f"{name} is {x.dtype} and value is {value.dtype}: write {name}.to(value.dtype)"
            )
    vectors, bias, scores_bias = (x if x is None else x.to(value.dtype) for x in (vectors, bias, scores_bias))
    return vectors, bias, scores_bias


def check_queries(pattern: Pattern) -> None:
    """Refuse a query without a key, whose weights would be 0 / 0."""
    if pattern in _CHECKED:
        return
    with ordinary_tensors():
        counts = torch.bincount(pattern.query, minlength=pattern.tokens)
        if not bool(counts.all()):
            raise OrdinateError(f"query {int(counts.argmin())} has no key to attend to: give it at least one")
    _CHECKED[pattern] = True
