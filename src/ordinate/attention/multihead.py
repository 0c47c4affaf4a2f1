"""Attention with split heads over a relation: what the scores may depend on is the only difference between kinds.

With q, k, v of size d from the tokens and a_c the encoding's vector of class c, for the attended pairs of a head

    content x (content + class):   score_ij = q_i . (k_j + a_{c(i, j)}) / sqrt(d)      (eq. 2.1 of arXiv 2406.01895)
    content x class:               score_ij = q_i . a_{c(i, j)} / sqrt(d)
    class only:                    score_ij = u . a_{c(i, j)} / sqrt(d)                one learned u a head

Without class vectors the first is standard attention, `content x content`. Values always come from the tokens.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn

from ordinate.attention.choose import attend, is_sparse
from ordinate.attention.dot_product import attention_scores, attention_weights, mix
from ordinate.attention.hooks import Hook
from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding, Pairs
from ordinate.errors import OrdinateError

Heads = Float[Tensor, "batch head token dim"]
Bias = Float[Tensor, "#head query key"] | None
Scores = Float[Tensor, "batch head query key"]
Process = Callable[[Scores], Scores]


class Looked(NamedTuple):
    """What looks, what is looked at (None where only classes are looked for), and what is taken."""

    query: Heads
    key: Heads | None
    values: Heads

    def part(self, heads: slice) -> "Looked":
        """Some of the heads."""
        return Looked(
            self.query[:, heads], None if self.key is None else self.key[:, heads], self.values[:, heads]
        )


class MultiHead(nn.Module, ABC):
    """One layer of attention over [batch, token, width]; kinds say what is looked for, and in what.

    Two ways to compute the same numbers: with named hooks, or fused (dense or sparse, whichever is faster for the
    pattern), which is taken when nobody listens to a hook.
    """

    def __init__(self, width: int, heads: int, layer: int, maps: int) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width must be a multiple of heads, got width {width} and {heads} heads")
        self.width, self.heads, self.layer = width, heads, layer
        self.project = nn.Linear(width, maps * width)
        self.to_output = nn.Linear(width, width)
        self.query, self.key, self.scores, self.weights = Hook(), Hook(), Hook(), Hook()
        self.values, self.output = Hook(), Hook()
        self._hooks = (self.query, self.key, self.scores, self.weights, self.values)

    @abstractmethod
    def split(self, x: Float[Tensor, "batch token width"]) -> Looked:
        """Queries, keys and values of all heads."""

    @abstractmethod
    def needs_classes(self) -> bool:
        """Whether there must be class vectors."""

    def heads_of(self, x: Float[Tensor, "batch token width"]) -> tuple[Heads, ...]:
        """Project, and split into heads."""
        parts: Tensor = rearrange(
            self.project(x), "b t (map h d) -> map b h t d", h=self.heads, d=self.width // self.heads
        )
        return parts.unbind()

    def forward(
        self, x: Float[Tensor, "batch token width"], coordinates: Coordinates, encoding: Encoding
    ) -> Float[Tensor, "batch token width"]:
        """Mix values by the weights."""
        looked = self.split(x)
        pairs, bias = encoding.pairs(coordinates, self.layer), encoding.bias(coordinates, self.layer)
        if self.needs_classes() and (not pairs or any(group.vectors is None for group in pairs)):
            raise OrdinateError(
                f"{type(self).__name__} looks for classes of pairs, and this encoding has none: "
                'write encoding = {kind = "pairwise", relation = ...}'
            )
        if looked.key is not None:
            looked = Looked(*encoding.rotate(looked.query, looked.key, coordinates), looked.values)
        if encoding.reads_scores:
            _check_dense(pairs)
            mixed = self._in_the_open(
                looked, pairs, bias, lambda scores: encoding.scores(scores, coordinates, self.layer)
            )
        elif any(hook.patch for hook in self._hooks):
            mixed = self._in_the_open(looked, pairs, bias)
        elif pairs:
            mixed = self._fused(looked, pairs, bias)
        else:
            assert looked.key is not None
            # With an axis for the batch: the fast kernel takes no mask of three axes.
            mask = None if bias is None else bias.to(x.dtype).expand(1, self.heads, -1, -1)
            mixed = nn.functional.scaled_dot_product_attention(
                looked.query, looked.key, looked.values, attn_mask=mask
            )
        output: Tensor = self.output(self.to_output(rearrange(mixed, "b h t d -> b t (h d)")))
        return output

    def _in_the_open(
        self, looked: Looked, pairs: tuple[Pairs, ...], bias: Bias, process: Process | None = None
    ) -> Heads:
        query, key = self.query(looked.query), None if looked.key is None else self.key(looked.key)
        scores = attention_scores(query, key, pairs=pairs, bias=bias)
        scores = self.scores(scores if process is None else process(scores))
        return mix(self.weights(attention_weights(scores)), self.values(looked.values))

    def _fused(self, looked: Looked, pairs: tuple[Pairs, ...], bias: Bias) -> Heads:
        mixed, first = [], 0
        for group in pairs:
            heads = slice(first, first + group.heads)
            first += group.heads
            added = bias if bias is None or len(bias) == 1 else bias[heads]
            mixed.append(self._attend(looked.part(heads), group, added))
        return torch.cat(mixed, dim=1) if len(mixed) > 1 else mixed[0]

    def _attend(self, looked: Looked, group: Pairs, bias: Bias) -> Heads:
        """One group of heads."""
        scale = looked.query.shape[-1] ** -0.5
        return attend(*looked, group.pattern, vectors=group.vectors, scores_bias=bias, scale=scale)


def _check_dense(pairs: tuple[Pairs, ...]) -> None:
    """Refuse an encoding that reads scores where so few pairs are attended that they are not laid out."""
    for group in pairs:
        if is_sparse(group.pattern):
            raise OrdinateError(
                f"this encoding reads the scores of all pairs, and the relation has {group.pattern.keys_per_query:.3g} "
                f"keys a query of {group.pattern.tokens} tokens, which sparse attention is for: write a bias "
                'instead, such as encoding = "kerple-log", or evaluate shorter sequences'
            )


class ContentKeys(MultiHead):
    """content x content; with class vectors content x (content + class)."""

    def __init__(self, width: int, heads: int, layer: int = 0) -> None:
        super().__init__(width, heads, layer, maps=3)

    def needs_classes(self) -> bool:
        """Content is enough."""
        return False

    def split(self, x: Float[Tensor, "batch token width"]) -> Looked:
        """All from the tokens."""
        query, key, values = self.heads_of(x)
        return Looked(query, key, values)


class ClassKeys(MultiHead):
    """content x class: what to look for depends on the token, where it can be does not."""

    def __init__(self, width: int, heads: int, layer: int = 0) -> None:
        super().__init__(width, heads, layer, maps=2)

    def needs_classes(self) -> bool:
        """They are the keys."""
        return True

    def split(self, x: Float[Tensor, "batch token width"]) -> Looked:
        """Queries and values from the tokens."""
        query, values = self.heads_of(x)
        return Looked(query, None, values)


class ClassOnly(MultiHead):
    """class only: the weights depend on positions and on nothing else."""

    def __init__(self, width: int, heads: int, layer: int = 0) -> None:
        super().__init__(width, heads, layer, maps=1)
        self.looked_for = nn.Parameter(torch.randn(heads, 1, width // heads))

    def needs_classes(self) -> bool:
        """They are all there is."""
        return True

    def split(self, x: Float[Tensor, "batch token width"]) -> Looked:
        """The same query everywhere."""
        (values,) = self.heads_of(x)
        return Looked(self.looked_for.to(values.dtype).expand_as(values), None, values)

    def _attend(self, looked: Looked, group: Pairs, bias: Bias) -> Heads:
        """The scores are those of the classes: computed once, not for every sample and token."""
        assert group.vectors is not None
        once = looked.query[0, :, :1] * looked.query.shape[-1] ** -0.5
        scores = (once @ group.vectors.to(once.dtype).transpose(-1, -2))[:, 0]
        return attend(None, None, looked.values, group.pattern, bias=scores, scores_bias=bias)
