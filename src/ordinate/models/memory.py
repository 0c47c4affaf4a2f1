"""The causal Transformer of arXiv 2402.00522, section 2: relative bias, no LayerNorm, the last FFN is the readout.

    x^(0) = W_E x + b_E
    x^(l-1/2) = x^(l-1) + Attn^(l)(x^(l-1)),     x^(l) = x^(l-1/2) + FFN^(l)(x^(l-1/2)),     l < L
    y = FFN^(L)( x^(L-1) + Attn^(L)(x^(L-1)) ),  FFN(x) = sum_k a_k relu(<b_k, x> + c_k),     k = 1 .. m

Without FFNs the layers are attention alone, and the readout is linear. FFNs of all layers but the last may round what
they write (`precision`, equation 15). LayerNorm is none as published, or in front of every part (pre), or behind every
sum (post).
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from ordinate.attention import MemoryAttention
from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding
from ordinate.kinds import Kind
from ordinate.models.inputs import Inputs, as_features
from ordinate.models.precision import Precision

Tokens = Float[Tensor, "batch token width"]


class Ffn(nn.Module):
    """sum_k a_k relu(<b_k, x> + c_k), rounded where a precision is given.

    `up` holds the b_k as rows and the c_k, `down` the a_k as columns.
    """

    def __init__(self, width: int, hidden: int, outputs: int, precision: Precision | None = None) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, outputs, bias=False)
        self.precision = precision

    def forward(self, x: Tokens) -> Float[Tensor, "batch token out"]:
        """Transform every token."""
        out: Tensor = self.down(F.relu(self.up(x)))
        return out if self.precision is None else self.precision.apply(out)


Part = Callable[[Tokens], Tokens]


class Join(nn.Module):
    """x + part(x): how a part of a layer meets the stream. Kinds put a LayerNorm somewhere."""

    def forward(self, x: Tokens, part: Part) -> Tokens:
        """The stream behind the part."""
        return x + part(x)


class JoinPre(Join):
    """x + part(norm(x))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tokens, part: Part) -> Tokens:
        """The part reads a normalised stream."""
        return x + part(self.norm(x))


class JoinPost(Join):
    """norm(x + part(x))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tokens, part: Part) -> Tokens:
        """The stream is normalised."""
        return self.norm(x + part(x))  # type: ignore[no-any-return]


class Norm(Kind):
    """Where LayerNorm stands."""

    @abstractmethod
    def build(self, width: int) -> Join:
        """Make that of one part of a layer."""

    def before_readout(self, width: int) -> nn.Module:
        """What the readout reads through."""
        return nn.Identity()


class NoNorm(Norm):
    """Nowhere, as published."""

    name: ClassVar[str] = "none"
    summary: ClassVar[str] = "no LayerNorm, as published"

    def build(self, width: int) -> Join:
        """A plain sum."""
        return Join()


class PreNorm(Norm):
    """In front of attention, FFNs and the readout."""

    name: ClassVar[str] = "pre"
    summary: ClassVar[str] = "LayerNorm in front of every part"

    def build(self, width: int) -> Join:
        """A norm of its own."""
        return JoinPre(width)

    def before_readout(self, width: int) -> nn.Module:
        """The stream itself was never normalised."""
        return nn.LayerNorm(width)


class PostNorm(Norm):
    """Behind every sum."""

    name: ClassVar[str] = "post"
    summary: ClassVar[str] = "LayerNorm behind every sum"

    def build(self, width: int) -> Join:
        """A norm of its own."""
        return JoinPost(width)


NORMS: dict[str, type[Norm]] = {norm.name: norm for norm in (NoNorm, PreNorm, PostNorm)}


class MemoryLayer(nn.Module):
    """Attention, and an FFN in all layers but the last, where it is the readout."""

    def __init__(self, attention: MemoryAttention, ffn: Ffn | None, norm: Norm) -> None:
        super().__init__()
        self.attention, self.ffn = attention, ffn
        self.join_attention = norm.build(attention.width)
        if ffn is not None:
            self.join_ffn = norm.build(attention.width)

    def forward(self, x: Tokens, coordinates: Coordinates, encoding: Encoding) -> Tokens:
        """Attend, then transform every token."""
        x = self.join_attention(x, lambda read: self.attention(read, coordinates, encoding))
        return x if self.ffn is None else self.join_ffn(x, self.ffn)


class MemoryTransformer(nn.Module):
    """Tokens in, one output a token out, from what is at or before it.

    Parameters: `encode` (W_E, b_E); in layer l `attention.w_v`, `attention.w_o`, `attention.looking` and `ffn`;
    `readout`; slopes of layer l in `encoding.slopes[l]`, which `encoding.set_slopes(l, slopes)` replaces.
    """

    vectorised = True
    """Members of an ensemble can be computed in one pass."""

    def __init__(
        self,
        features: int,
        attentions: Sequence[MemoryAttention],
        encoding: Encoding,
        ffns: Sequence[Ffn | None],
        readout: nn.Module,
        norm: Norm,
    ) -> None:
        super().__init__()
        width = attentions[0].width
        self.features, self.encoding = features, encoding
        self.encode = nn.Linear(features + encoding.extra_features, width)
        self.layers = nn.ModuleList(
            MemoryLayer(attention, ffn, norm) for attention, ffn in zip(attentions, ffns, strict=True)
        )
        self.norm = norm.before_readout(width)
        self.readout = readout

    def forward(self, x: Inputs, coordinates: Coordinates) -> Float[Tensor, "batch token out"]:
        """Compute the outputs of all tokens."""
        x = as_features(x, self.features, self.encode.weight.dtype)
        x = self.encode(self.encoding.embed(x, coordinates))
        for layer in self.layers:
            x = layer(x, coordinates, self.encoding)
        return self.readout(self.norm(x))  # type: ignore[no-any-return]
