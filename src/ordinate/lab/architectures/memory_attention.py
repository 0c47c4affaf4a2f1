"""The attention layer of arXiv 2402.00522: every head mixes whole tokens, with a value map of its own.

    Attn_t(X) = W_O sum_h W_V^h sum_{s >= 0} w^h_{t,s} x_{t-s},      w^h_{t,s} = exp(score), or their softmax over s

What a score is made of, besides the encoding's bias R_s (for the paper's own encodings p phi(s)), is a kind:

    dp-free    score = R_s                                   a fixed convolution
    dp         score = <W_Q^h x_t, W_K^h x_{t-s}> + R_s      no factor 1 / sqrt(d)
    hard       as dp, and of all weights only the largest, as 1: every query copies one token
    tmx        score = p phi(s) + p <w^h, x_t>               "t minus x": D instead of D^2 numbers a head

As written, the last is p (phi(s) - phi(<w, x_t>)), where for phi_log the stream holds log g already; with <w, x_t>
= g or log g it is the same. Its second term is equal for all keys, and would cancel in a softmax.

Maps have no biases, and values of all heads are as wide as tokens, so that heads need not divide the width.
"""

from abc import abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn
from typing_extensions import override

from ordinate.attention.dot_product import present_weights
from ordinate.attention.hooks import Hook
from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding, SlopeBias
from ordinate.errors import OrdinateError
from ordinate.kinds import Kind
from ordinate.lab.architectures.decay import by_lag, content_decay_attention, decay_attention, lag_attention

Tokens = Float[Tensor, "batch token width"]


def hard_weights(scores: Float[Tensor, "*batch head query key"]) -> Float[Tensor, "*batch head query key"]:
    """Hard retrieval (Xu et al. 2020, arXiv 2009.14658): 1 for the key with the highest score, the first of several.

    Its gradient is that of the softmax, straight through; rows without any key are zeros.

    >>> hard_weights(torch.tensor([[[0.0, 2.0, 1.0]]])).tolist()
    [[[0.0, 1.0, 0.0]]]
    """
    soft = present_weights(scores, normalised=True)
    place = scores.argmax(-1, keepdim=True)
    one = torch.zeros_like(scores).scatter(-1, place, 1.0)
    hard = torch.where(scores.gather(-1, place) > float("-inf"), one, 0.0)
    return hard + soft - soft.detach()


class Looking(nn.Module):
    """What scores are made of besides the bias: nothing. Kinds override what they need."""

    hard: ClassVar[bool] = False
    """Whether a query takes the one key with the highest score."""

    def scores(
        self, x: Tokens, coordinates: Coordinates, encoding: Encoding
    ) -> Float[Tensor, "batch head query key"] | None:
        """A number for every pair, or None."""
        return None

    def gain(self, x: Tokens, encoding: Encoding, layer: int) -> Float[Tensor, "batch head token"] | None:
        """A number for every query that all its keys share, or None."""
        return None

    def looks(self, encoding: Encoding) -> Float[Tensor, "width look"] | None:
        """G with scores x_t^T G^h x_s, heads side by side; None where scores are made otherwise or listened to."""
        return None


class DotProducts(Looking):
    """<W_Q x_t, W_K x_s>; at first of variance about 1 where features have variance 1."""

    def __init__(self, width: int, heads: int, dim: int) -> None:
        super().__init__()
        std = width**-0.5 * dim**-0.25
        self.w_q = nn.Parameter(std * torch.randn(heads, dim, width))
        self.w_k = nn.Parameter(std * torch.randn(heads, dim, width))
        self.query, self.key = Hook(), Hook()

    @override
    def scores(
        self, x: Tokens, coordinates: Coordinates, encoding: Encoding
    ) -> Float[Tensor, "batch head query key"]:
        """q_t . k_s, turned by the encoding where it rotates."""
        query, key = (torch.einsum("btw,hdw->bhtd", x, w) for w in (self.w_q, self.w_k))
        query, key = encoding.rotate(query, key, coordinates)
        products: Tensor = self.query(query) @ self.key(key).transpose(-1, -2)
        return products

    @override
    def looks(self, encoding: Encoding) -> Float[Tensor, "width look"] | None:
        """W_Q^T W_K of every head, unless tokens are so much wider than queries that this takes longer."""
        dim, width = self.w_q.shape[-2:]
        if self.hard or encoding.rotates or self.query.patch or self.key.patch or width > 2 * dim:
            return None
        return torch.einsum("hdw,hdv->whv", self.w_q, self.w_k).flatten(1)


class HardProducts(DotProducts):
    """The same scores, for retrieval of one token."""

    hard: ClassVar[bool] = True


class TimeMinusToken(Looking):
    """p <w, x_t>, with the slopes p of the encoding; w starts at zero, since a score is not bounded here."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.zeros(heads, width))

    @override
    def gain(self, x: Tokens, encoding: Encoding, layer: int) -> Float[Tensor, "batch head token"]:
        """The same for all keys of a query."""
        if not isinstance(encoding, SlopeBias):
            raise OrdinateError(
                'tmx reads the slopes of the encoding: write encoding = "rpe-lin" or "rpe-log"'
            )
        return torch.einsum("btw,hw->bht", x, encoding.slopes[layer][:, None] * self.w)


class Look(Kind):
    """The part of a recipe that says what scores are made of."""

    @abstractmethod
    def build(self, width: int, heads: int) -> Looking:
        """Make that of one layer."""

    def size(self, width: int) -> int:
        """Of queries and keys, where there are any."""
        return width


class DpFree(Look):
    """The lag alone."""

    name: ClassVar[str] = "dp-free"
    summary: ClassVar[str] = "scores depend on the lag alone: every head is a fixed kernel"

    @override
    def build(self, width: int, heads: int) -> Looking:
        return Looking()


class Dp(Look):
    """Content x content, and the lag."""

    name: ClassVar[str] = "dp"
    summary: ClassVar[str] = "dot products of queries and keys, and the bias of the lag"

    dim: int | None = Field(None, ge=1, le=65536, description="size of queries and keys; the width without")

    @override
    def size(self, width: int) -> int:
        return self.dim or width

    @override
    def build(self, width: int, heads: int) -> DotProducts:
        return DotProducts(width, heads, self.size(width))


class Hard(Dp):
    """Content x content, and the lag; one token a head."""

    name: ClassVar[str] = "hard"
    summary: ClassVar[str] = "as dp, but a query copies the one token that scores highest; trained by softmax"

    @override
    def build(self, width: int, heads: int) -> HardProducts:
        return HardProducts(width, heads, self.size(width))


class Tmx(Look):
    """The lag minus a linear function of the query."""

    name: ClassVar[str] = "tmx"
    summary: ClassVar[str] = "the lag minus a linear function of the token that looks; not under a softmax"

    @override
    def build(self, width: int, heads: int) -> TimeMinusToken:
        return TimeMinusToken(width, heads)


LOOKS: dict[str, type[Look]] = {look.name: look for look in (DpFree, Dp, Hard, Tmx)}


class MemoryAttention(nn.Module):
    """One layer. Heads of fixed kernels run as convolutions, by FFT where that is faster.

    Parameters: `w_v` [head, width, width] and `w_o` [width, width], both [..., to, from], those of `looking`, and the
    slopes in the encoding.
    """

    def __init__(
        self, width: int, heads: int, layer: int, looking: Looking, *, normalised: bool = True
    ) -> None:
        super().__init__()
        self.width, self.heads, self.layer = width, heads, layer
        self.looking, self.normalised = looking, normalised
        self.w_v = nn.Parameter((width * heads) ** -0.5 * torch.randn(heads, width, width))
        self.w_o = nn.Parameter(width**-0.5 * torch.randn(width, width))
        self.scores, self.weights, self.values, self.output = Hook(), Hook(), Hook(), Hook()
        self._hooks = (self.scores, self.weights, self.values)

    def forward(self, x: Tokens, coordinates: Coordinates, encoding: Encoding) -> Tokens:
        """Mix tokens by the weights, map them, and add up the heads."""
        lags = self._lags(coordinates, encoding)
        listened = any(hook.patch for hook in self._hooks)
        maps = self.w_o @ self.w_v
        looks = None if listened or encoding.reads_scores else self.looking.looks(encoding)
        if looks is not None:
            bias = self._scores(coordinates, encoding, lags)
            inside = content_decay_attention(x, x @ looks, bias, normalised=self.normalised)
            return self.output(inside @ maps.transpose(1, 2).flatten(0, 1))  # type: ignore[no-any-return]
        products = self.looking.scores(x, coordinates, encoding)
        gain = self.looking.gain(x, encoding, self.layer)
        if listened or products is not None or lags is None:
            scores = self._scores(coordinates, encoding, lags)[None]
            if products is not None:
                scores = scores + products
            if encoding.reads_scores:
                scores = encoding.scores(scores, coordinates, self.layer)
            if listened:
                return self._explicit(x, scores if gain is None else scores + gain[..., None])
            mixed = (
                self._weights(scores) @ x[:, None]
                if self.looking.hard
                else decay_attention(x, scores, normalised=self.normalised)
            )
        else:
            mixed = lag_attention(x, lags, normalised=self.normalised)
        if gain is not None:
            mixed = mixed * gain.exp()[..., None]
        return self.output(torch.einsum("bhtw,hvw->btv", mixed, maps))  # type: ignore[no-any-return]

    def _lags(self, coordinates: Coordinates, encoding: Encoding) -> Float[Tensor, "head token"] | None:
        """The bias of every lag, zeros where the encoding has no bias; None where more than the lag decides."""
        lags = encoding.lags(coordinates, self.layer)
        if lags is None and encoding.bias(coordinates, self.layer) is None:
            lags = self.w_v.new_zeros(1, len(coordinates))
        return None if lags is None else lags.to(self.w_v.dtype).expand(self.heads, -1)

    def _scores(
        self, coordinates: Coordinates, encoding: Encoding, lags: Float[Tensor, "head token"] | None
    ) -> Float[Tensor, "head query key"]:
        """The bias of every pair, -inf where the key is ahead."""
        if lags is not None:
            return by_lag(lags)
        bias = encoding.bias(coordinates, self.layer)
        assert bias is not None
        ahead = torch.ones(bias.shape[-2:], dtype=torch.bool, device=bias.device).triu(1)
        return bias.to(self.w_v.dtype).masked_fill(ahead, float("-inf")).expand(self.heads, -1, -1)

    def _weights(
        self, scores: Float[Tensor, "#batch head query key"]
    ) -> Float[Tensor, "#batch head query key"]:
        """Of the largest score alone, or of all."""
        if self.looking.hard:
            return hard_weights(scores)
        return present_weights(scores, normalised=self.normalised)

    def _explicit(self, x: Tokens, scores: Float[Tensor, "#batch head query key"]) -> Tokens:
        """Step by step as the formula says, for those who listen to hooks."""
        weights = self.weights(self._weights(self.scores(scores)))
        values = self.values(torch.einsum("btw,hvw->bhtv", x, self.w_v))
        return self.output((weights @ values).sum(1) @ self.w_o.T)  # type: ignore[no-any-return]
