"""Dense attention over classes of pairs: scores of all pairs, but never a [query, key, dim] tensor.

The class term is one product of the queries with the table of class vectors, followed by a lookup. Large inputs are
computed in chunks (`chunked.py`).
"""

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.attention import chunked
from ordinate.attention.layout import Layout, check, layout_of, with_plain
from ordinate.relations.pattern import Pattern


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
    check(pattern, query, key, value, (vectors, bias), scores_bias)
    layout = layout_of(pattern)
    added = _added(layout, bias, scores_bias, value.dtype)
    if query is None:
        assert added is not None  # `check` saw a bias
        return _mix_for_all(torch.softmax(added, -1), value)
    table = None if vectors is None else with_plain(vectors) * scale
    batch, heads, tokens, _ = value.shape
    small = batch * heads * tokens**2 <= chunked.CHUNK
    if table is not None and layout.diagonals is not None and not small:
        table = table.index_select(1, layout.diagonals)
    apart = any(shared is not None and len(shared) > 1 for shared in (table, added))
    full = heads * tokens**2 >= chunked.CHUNK // 2

    def rows(x: Tensor) -> Tensor:
        """[group, row, token, dim]: a group is a head; or where heads share all, a sample that fills chunks, or all."""
        if apart:
            return x.transpose(0, 1)
        return x if full else x.reshape(1, batch * heads, tokens, -1)

    operands = (rows(query), None if key is None else rows(key), rows(value), table, added)
    if small:
        out = _attend(*operands, layout, scale)
    else:
        device = value.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else value.dtype
        cast = [None if operand is None else operand.to(dtype) for operand in operands]
        with torch.autocast(device, enabled=False):  # which would not reach the backward pass
            out = chunked.Chunked.apply(*cast, layout, scale, torch.is_grad_enabled())[0]  # type: ignore[no-untyped-call]
    return out.transpose(0, 1) if apart else out.reshape(batch, heads, tokens, -1)


def _added(
    layout: Layout, bias: Tensor | None, scores_bias: Tensor | None, dtype: torch.dtype
) -> Float[Tensor, "head query key"] | None:
    """The terms of the scores that no sample changes; minus infinity where a pair is not attended."""
    terms = [] if scores_bias is None else [scores_bias]
    if bias is not None:
        looked_up = with_plain(bias).index_select(1, layout.classes.flatten())
        terms.append(looked_up.view(-1, *layout.classes.shape))
    if layout.mask is not None:
        terms.append(layout.mask.to(dtype)[None])
    return sum(terms[1:], terms[0]) if terms else None


def _mix_for_all(
    weights: Float[Tensor, "group token token"], value: Float[Tensor, "batch head token dim_v"]
) -> Float[Tensor, "batch head token dim_v"]:
    """One product for all samples, and for all heads that share their weights."""
    parts = value.unflatten(1, (len(weights), -1)).permute(1, 3, 0, 2, 4)
    mixed = torch.bmm(weights, parts.flatten(2)).view(parts.shape)
    return mixed.permute(2, 0, 3, 1, 4).flatten(1, 2)


def _attend(
    query: Tensor,
    key: Tensor | None,
    value: Tensor,
    table: Tensor | None,
    added: Tensor | None,
    layout: Layout,
    scale: float,
) -> Float[Tensor, "group row token dim_v"]:
    """All at once in ordinary operations: faster than one chunk with a backward pass of its own."""
    group, row, token, _ = query.shape
    scores = None
    if table is not None:
        by_class = torch.bmm(query.flatten(1, 2), table.expand(group, -1, -1).mT).reshape(group * row, -1)
        scores = by_class.index_select(1, layout.index).view(-1, token, token)
    if added is not None:
        shared = added[:, None].expand(group, row, -1, -1).flatten(0, 1)
        scores = shared if scores is None else scores + shared
    if key is not None:
        scores = chunked.add_product(scores, query.flatten(0, 1), key.flatten(0, 1).mT, scale)
    assert scores is not None  # a query comes with keys or vectors
    mixed = torch.bmm(torch.softmax(scores, -1), value.flatten(0, 1))
    return mixed.view(group, row, token, -1)
