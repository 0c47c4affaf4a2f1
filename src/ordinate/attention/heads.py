"""Attention with split heads over a relation: what the scores may depend on is the only difference between kinds.

With q, k, v of size d from the tokens and a_c the encoding's vector of class c, for the attended pairs of a head

    content x (content + class):   score_ij = q_i . (k_j + a_{c(i, j)}) / sqrt(d)      (eq. 2.1 of arXiv 2406.01895)
    content x class:               score_ij = q_i . a_{c(i, j)} / sqrt(d)
    class only:                    score_ij = u . a_{c(i, j)} / sqrt(d)                one learned u a head

Without class vectors the first is standard attention, `content x content`. Values always come from the tokens.
"""

from abc import ABC
from collections.abc import Callable
from functools import partial
from typing import ClassVar

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from typing_extensions import override

from ordinate.attention.call import (
    Call,
    HeadOptions,
    Memory,
    fused,
    repeated,
    rotated,
    weights_of,
    within,
    without_padding,
)
from ordinate.attention.classes import Plan, attend, plan
from ordinate.attention.dot_product import (
    QKV,
    Heads,
    attention_scores,
    attention_weights,
    isolate,
    isolate_groups,
    known_finite,
    mix,
    with_nan,
    without_empty_rows,
)
from ordinate.attention.flex import takes
from ordinate.attention.hooks import Hook
from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding, Pairs
from ordinate.errors import OrdinateError
from ordinate.kinds import Kind
from ordinate.relations import Pattern

Tokens = Float[Tensor, "batch token width"]
Bias = Float[Tensor, "#head query key"] | None


class MultiHead(nn.Module, ABC):
    """One layer of attention over [batch, token, width]; kinds say what queries, keys and values are.

    All paths of `plan` give the same numbers. The explicit one has named hooks, and is taken when one is listened to.
    """

    needs_classes: ClassVar[bool]
    """Whether there must be class vectors."""
    made: ClassVar[tuple[str, ...]]
    """Which of queries, keys and values are made of the tokens, in this order."""

    def __init__(self, width: int, heads: int, layer: int = 0, options: HeadOptions | None = None) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width must be a multiple of heads, got width {width} and {heads} heads")
        self.width, self.heads, self.layer = width, heads, layer
        self.head_dim = width // heads
        self.options = options = options or HeadOptions()
        self.sources = nn.ModuleDict()
        """Maps of keys and values where they are made of tokens of other widths."""
        sizes = {"query": width, "key": options.key_heads(heads) * self.head_dim}
        sizes["value"] = sizes["key"]
        self.sizes = [sizes[name] for name in self.made]
        if options.key_dim is not None or options.value_dim is not None:
            widths = {"key": options.key_dim or width, "value": options.value_dim or width}
            for name in self.made:
                if name != "query":
                    self.sources[name] = nn.Linear(widths[name], sizes[name], bias=options.bias)
            self.sizes = [size for name, size in zip(self.made, self.sizes, strict=True) if name == "query"]
        if self.sizes:
            self.project = nn.Linear(width, sum(self.sizes), bias=options.bias)
        self.to_output = nn.Linear(width, width, bias=options.bias)
        self.query, self.key, self.scores, self.weights = Hook(), Hook(), Hook(), Hook()
        self.values, self.output = Hook(), Hook()
        self._hooks = (self.query, self.key, self.scores, self.weights, self.values)

    def split(self, x: Tokens, memory: Memory | None = None) -> QKV:
        """Queries of all heads from x; keys and values from it too, or from the two of a memory."""
        if memory is None and not self.sources:
            parts = dict(zip(self.made, self.project(x).split(self.sizes, dim=-1), strict=True))
        else:
            keys, values = memory or (x, x)
            given = {"query": x, "key": keys, "value": values}
            parts = {name: self._made(name, given[name]) for name in self.made}
        heads = {
            name: rearrange(part, "b t (h d) -> b h t d", d=self.head_dim) for name, part in parts.items()
        }
        return QKV(heads.get("query"), heads.get("key"), heads["value"])

    def _made(self, name: str, x: Float[Tensor, "batch token source"]) -> Float[Tensor, "batch token made"]:
        """One of them alone: rows of the common map, or a map of its own."""
        if name in self.sources:
            return self.sources[name](x)  # type: ignore[no-any-return]
        place = self.made.index(name)
        rows = slice(sum(self.sizes[:place]), sum(self.sizes[: place + 1]))
        bias = self.project.bias
        return nn.functional.linear(x, self.project.weight[rows], None if bias is None else bias[rows])

    def forward(
        self, x: Tokens, coordinates: Coordinates, encoding: Encoding, call: Call | None = None
    ) -> Tokens | tuple[Tokens, Float[Tensor, "batch head query key"]]:
        """Project, rotate, plan, compute; a `call` brings masks, other tokens to attend to, or cached keys."""
        qkv = self.split(x, None if call is None else call.memory)
        if call is not None and call.cache is not None:
            qkv = call.cache.extend(qkv, coordinates)
        qkv = rotated(qkv, coordinates, encoding)
        if self.options.key_heads(self.heads) != self.heads:
            qkv = repeated(qkv, self.heads)

        pairs, bias = encoding.pairs(coordinates, self.layer), encoding.bias(coordinates, self.layer)
        self._check_classes(pairs)
        dropped = self.training and self.options.dropout > 0
        if call is not None or dropped:
            mixed, weights = self._called(qkv, pairs, bias, encoding, coordinates, call or Call(), dropped)
        else:
            mixed, weights = self._planned(qkv, pairs, bias, encoding, coordinates), None
        output: Tensor = self.output(self.to_output(rearrange(mixed, "b h t d -> b t (h d)")))
        return output if weights is None else (output, weights)

    def _planned(
        self, qkv: QKV, pairs: tuple[Pairs, ...], bias: Bias, encoding: Encoding, coordinates: Coordinates
    ) -> Heads:
        """All tokens attend to all others that the pairs name: the fastest way there is."""
        plans = self._plans(qkv, pairs, bias, encoding)
        if plans[0].path == "explicit":
            return self._explicit(qkv, pairs, bias, encoding, coordinates)
        if plans[0].path == "fused":
            return self._fused(qkv, bias)
        return self._by_groups(qkv, pairs, bias)

    def _called(
        self,
        qkv: QKV,
        pairs: tuple[Pairs, ...],
        bias: Bias,
        encoding: Encoding,
        coordinates: Coordinates,
        call: Call,
        dropped: bool,
    ) -> tuple[Heads, Float[Tensor, "batch head query key"] | None]:
        """With masks, a memory or cached keys: padding alone is left to the kernels, all else is laid out."""
        query, key, value = qkv
        queries, keys = (value if query is None else query).shape[2], value.shape[2]
        square = queries == keys == len(coordinates)
        listened = any(hook.patch for hook in self._hooks)
        simple = square and not (dropped or listened or call.weights or encoding.reads_scores)
        if simple and not call.says_more_than_padding and bias is None and pairs:
            found = without_padding(qkv, pairs, call.mask, self.head_dim**-0.5)
            # The scores of classes alone are no bias any more: padding is a column of queries and keys.
            return self._by_groups(*found, None, partial(MultiHead.attend, self)), None
        terms = call.terms(bias, queries, keys, value)
        if not (pairs or listened or call.weights or encoding.reads_scores):
            rate = self.options.dropout if dropped else 0.0
            return fused(qkv, *terms, rate), None
        added, attended = terms
        attended = within(attended, pairs, queries, keys, value)
        if not known_finite(*(x for x in qkv if x is not None)):
            qkv, rows = isolate(qkv, lambda bad: (bad[:, :, None] @ attended.to(bad.dtype).mT)[:, :, 0])
        else:
            rows = None
        query, key, value = qkv
        assert query is not None
        query, key = self.query(query), None if key is None else self.key(key)
        scores = attention_scores(query, key, pairs=pairs, keys=keys)
        scores = (scores if added is None else scores + added).masked_fill(~attended, float("-inf"))
        if encoding.reads_scores:
            scores = encoding.scores(scores, coordinates, self.layer)
        weights = self.weights(weights_of(self.scores(scores)).to(value.dtype))
        kept = nn.functional.dropout(weights, self.options.dropout) if dropped else weights
        return with_nan(mix(kept, self.values(value)), rows), weights if call.weights else None

    def plans(self, x: Tokens, coordinates: Coordinates, encoding: Encoding) -> tuple[Plan, ...]:
        """How every group of heads would be computed, and why; one plan where there are no groups."""
        pairs, bias = encoding.pairs(coordinates, self.layer), encoding.bias(coordinates, self.layer)
        return self._plans(self.split(x), pairs, bias, encoding)

    def _plans(self, qkv: QKV, pairs: tuple[Pairs, ...], bias: Bias, encoding: Encoding) -> tuple[Plan, ...]:
        groups: list[tuple[int, Pattern | None]] = [(group.heads, group.pattern) for group in pairs]
        explicit = "a hook is listened to" if any(hook.patch for hook in self._hooks) else ""
        return tuple(
            plan(
                pattern,
                rows=len(qkv.value) * heads,
                device=qkv.value.device,
                bias=bias is not None,
                content=takes(*qkv),
                reads_scores=encoding.reads_scores,
                explicit=explicit,
            )
            for heads, pattern in groups or [(self.heads, None)]
        )

    def _check_classes(self, pairs: tuple[Pairs, ...]) -> None:
        if self.needs_classes and (not pairs or any(group.vectors is None for group in pairs)):
            raise OrdinateError(
                f"{type(self).__name__} looks for classes of pairs, and this encoding has none: "
                'write encoding = {kind = "pairwise", relation = ...}'
            )

    def _explicit(
        self,
        qkv: QKV,
        pairs: tuple[Pairs, ...],
        bias: Bias,
        encoding: Encoding,
        coordinates: Coordinates,
    ) -> Heads:
        """Scores, weights and mixing one after the other, each with its hook."""
        (query, key, value), rows = isolate_groups(qkv, pairs)
        assert query is not None
        query, key = self.query(query), None if key is None else self.key(key)
        scores = attention_scores(query, key, pairs=pairs, bias=bias)
        if encoding.reads_scores:
            scores = encoding.scores(scores, coordinates, self.layer)
        weights = self.weights(attention_weights(self.scores(scores)))
        mixed = mix(weights, self.values(value))
        return with_nan(mixed, rows)

    def _fused(self, qkv: QKV, bias: Bias) -> Heads:
        """PyTorch's kernel."""
        query, key, value = qkv
        assert query is not None
        assert key is not None
        if bias is None:
            return nn.functional.scaled_dot_product_attention(query, key, value)
        # With an axis for the batch: the fast kernel takes no mask of three axes.
        mask, empty = bias.to(value.dtype).expand(1, self.heads, -1, -1), None
        if not known_finite(mask):
            mask, empty = without_empty_rows(mask)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return mixed if empty is None else mixed.masked_fill(empty, 0.0)

    def _by_groups(
        self,
        qkv: QKV,
        pairs: tuple[Pairs, ...],
        bias: Bias,
        attend: Callable[[QKV, Pairs, Bias], Heads] | None = None,
    ) -> Heads:
        """Each group of heads by its own plan."""
        attend = attend or self.attend
        mixed, first = [], 0
        for group in pairs:
            heads = slice(first, first + group.heads)
            first += group.heads
            mixed.append(
                attend(qkv.part(heads), group, bias if bias is None or len(bias) == 1 else bias[heads])
            )
        return torch.cat(mixed, dim=1) if len(mixed) > 1 else mixed[0]

    def attend(self, qkv: QKV, group: Pairs, bias: Bias) -> Heads:
        """One group of heads."""
        scale = self.head_dim**-0.5
        return attend(*qkv, group.pattern, vectors=group.vectors, scores_bias=bias, scale=scale)


class ContentKeys(MultiHead):
    """content x content; with class vectors content x (content + class)."""

    needs_classes = False
    made = ("query", "key", "value")


class ClassKeys(MultiHead):
    """content x class: what to look for depends on the token, where it can be does not."""

    needs_classes = True
    made = ("query", "value")


class ClassOnly(MultiHead):
    """class only: the weights depend on positions and on nothing else; one learned query a head."""

    needs_classes = True
    made = ("value",)

    def __init__(self, width: int, heads: int, layer: int = 0, options: HeadOptions | None = None) -> None:
        super().__init__(width, heads, layer, options)
        self.looked_for = nn.Parameter(torch.randn(heads, 1, self.head_dim))

    @override
    def split(self, x: Tokens, memory: Memory | None = None) -> QKV:
        value = super().split(x, memory).value
        query = self.looked_for.to(value.dtype).expand(len(x), -1, x.shape[1], -1)
        return QKV(query, None, value)

    @override
    def attend(self, qkv: QKV, group: Pairs, bias: Bias) -> Heads:
        """The scores of the classes are a bias: computed once, not for every sample and token."""
        assert qkv.query is not None
        assert group.vectors is not None
        once = qkv.query[0, :, :1] * self.head_dim**-0.5
        scores = (once @ group.vectors.to(once.dtype).transpose(-1, -2))[:, 0]
        return attend(None, None, qkv.value, group.pattern, bias=scores, scores_bias=bias)


class Form(Kind):
    """The part of a recipe that says what the scores may depend on."""

    layer: ClassVar[type[MultiHead]]

    def build(self, width: int, heads: int, layer: int, options: HeadOptions | None = None) -> MultiHead:
        """Make one layer."""
        return self.layer(width, heads, layer, options)


class Content(
    Form,
    name="content",
    summary="scores from content, and from the pair's class where the encoding has vectors",
    layer=ContentKeys,
):
    """content x content, or content x (content + class) where the encoding has class vectors."""


class ContentClass(
    Form,
    name="content-class",
    summary="the token decides which class of positions it looks for; keys have no content",
    layer=ClassKeys,
):
    """content x class."""


class Class(Form, name="class", summary="weights depend on the classes of positions only", layer=ClassOnly):
    """class only."""


FORMS: dict[str, type[Form]] = {form.name: form for form in (Content, ContentClass, Class)}
