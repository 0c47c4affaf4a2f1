"""Attention with split heads over a relation: what the scores may depend on is the only difference between kinds.

With q, k, v of size d from the tokens and a_c the encoding's vector of class c, for the attended pairs of a head

    content x (content + class):   score_ij = q_i . (k_j + a_{c(i, j)}) / sqrt(d)      (eq. 2.1 of arXiv 2406.01895)
    content x class:               score_ij = q_i . a_{c(i, j)} / sqrt(d)
    class only:                    score_ij = u . a_{c(i, j)} / sqrt(d)                one learned u a head

Without class vectors the first is standard attention, `content x content`. Values always come from the tokens.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from typing_extensions import override

from ordinate.attention.classes import Plan, attend, plan
from ordinate.attention.dot_product import (
    QKV,
    Heads,
    attention_scores,
    attention_weights,
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

    def __init__(self, width: int, heads: int, layer: int, maps: int) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width must be a multiple of heads, got width {width} and {heads} heads")
        self.width, self.heads, self.layer = width, heads, layer
        self.head_dim = width // heads
        self.project = nn.Linear(width, maps * width)
        self.to_output = nn.Linear(width, width)
        self.query, self.key, self.scores, self.weights = Hook(), Hook(), Hook(), Hook()
        self.values, self.output = Hook(), Hook()
        self._hooks = (self.query, self.key, self.scores, self.weights, self.values)

    @abstractmethod
    def split(self, x: Tokens) -> QKV:
        """Queries, keys and values of all heads."""

    def heads_of(self, x: Tokens) -> tuple[Heads, ...]:
        """Project, and split into heads."""
        parts: Tensor = rearrange(
            self.project(x), "b t (map h d) -> map b h t d", h=self.heads, d=self.head_dim
        )
        return parts.unbind()

    def forward(self, x: Tokens, coordinates: Coordinates, encoding: Encoding) -> Tokens:
        """Project, rotate, plan, compute."""
        query, key, value = self.split(x)
        if query is not None and key is not None:
            query, key = encoding.rotate(query, key, coordinates)
        qkv = QKV(query, key, value)

        pairs, bias = encoding.pairs(coordinates, self.layer), encoding.bias(coordinates, self.layer)
        self._check_classes(pairs)
        plans = self._plans(qkv, pairs, bias, encoding)

        if plans[0].path == "explicit":
            mixed = self._explicit(qkv, pairs, bias, encoding, coordinates)
        elif plans[0].path == "fused":
            mixed = self._fused(qkv, bias)
        else:
            mixed = self._by_groups(qkv, pairs, bias)
        output: Tensor = self.output(self.to_output(rearrange(mixed, "b h t d -> b t (h d)")))
        return output

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

    def _by_groups(self, qkv: QKV, pairs: tuple[Pairs, ...], bias: Bias) -> Heads:
        """Each group of heads by its own plan."""
        mixed, first = [], 0
        for group in pairs:
            heads = slice(first, first + group.heads)
            first += group.heads
            mixed.append(
                self.attend(qkv.part(heads), group, bias if bias is None or len(bias) == 1 else bias[heads])
            )
        return torch.cat(mixed, dim=1) if len(mixed) > 1 else mixed[0]

    def attend(self, qkv: QKV, group: Pairs, bias: Bias) -> Heads:
        """One group of heads."""
        scale = self.head_dim**-0.5
        return attend(*qkv, group.pattern, vectors=group.vectors, scores_bias=bias, scale=scale)


class ContentKeys(MultiHead):
    """content x content; with class vectors content x (content + class)."""

    needs_classes = False

    def __init__(self, width: int, heads: int, layer: int = 0) -> None:
        super().__init__(width, heads, layer, maps=3)

    @override
    def split(self, x: Tokens) -> QKV:
        return QKV(*self.heads_of(x))


class ClassKeys(MultiHead):
    """content x class: what to look for depends on the token, where it can be does not."""

    needs_classes = True

    def __init__(self, width: int, heads: int, layer: int = 0) -> None:
        super().__init__(width, heads, layer, maps=2)

    @override
    def split(self, x: Tokens) -> QKV:
        query, value = self.heads_of(x)
        return QKV(query, None, value)


class ClassOnly(MultiHead):
    """class only: the weights depend on positions and on nothing else; one learned query a head."""

    needs_classes = True

    def __init__(self, width: int, heads: int, layer: int = 0) -> None:
        super().__init__(width, heads, layer, maps=1)
        self.looked_for = nn.Parameter(torch.randn(heads, 1, self.head_dim))

    @override
    def split(self, x: Tokens) -> QKV:
        (value,) = self.heads_of(x)
        return QKV(self.looked_for.to(value.dtype).expand_as(value), None, value)

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

    @abstractmethod
    def build(self, width: int, heads: int, layer: int) -> MultiHead:
        """Make one layer."""


class Content(Form):
    """content x content, or content x (content + class) where the encoding has class vectors."""

    name: ClassVar[str] = "content"
    summary: ClassVar[str] = "scores from content, and from the pair's class where the encoding has vectors"

    @override
    def build(self, width: int, heads: int, layer: int) -> ContentKeys:
        return ContentKeys(width, heads, layer)


class ContentClass(Form):
    """content x class."""

    name: ClassVar[str] = "content-class"
    summary: ClassVar[str] = "the token decides which class of positions it looks for; keys have no content"

    @override
    def build(self, width: int, heads: int, layer: int) -> ClassKeys:
        return ClassKeys(width, heads, layer)


class Class(Form):
    """class only."""

    name: ClassVar[str] = "class"
    summary: ClassVar[str] = "weights depend on the classes of positions only"

    @override
    def build(self, width: int, heads: int, layer: int) -> ClassOnly:
        return ClassOnly(width, heads, layer)


FORMS: dict[str, type[Form]] = {form.name: form for form in (Content, ContentClass, Class)}
