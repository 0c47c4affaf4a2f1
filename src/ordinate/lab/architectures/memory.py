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
from typing import Annotated

import torch.nn.functional as F
from jaxtyping import Float
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Tensor, nn
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.encodings import ClassVectorEncoding, Dape, Encoding, Fire, RpeLin, SlopeBias
from ordinate.kinds import Kind, choose
from ordinate.lab.architectures.memory_attention import LOOKS, Dp, DpFree, Hard, Look, MemoryAttention, Tmx
from ordinate.lab.architectures.precision import PRECISIONS, Precision
from ordinate.models.inputs import Inputs, Problem, as_features
from ordinate.models.settings import Encodings, Model, ModelSettings

Tokens = Float[Tensor, "batch token width"]


class Ffn(nn.Module):
    """sum_k a_k relu(<b_k, x> + c_k), rounded where a precision is given.

    `up` holds the b_k as rows and the c_k, `down` the a_k as columns.
    """

    def __init__(self, width: int, hidden: int, outputs: int, precision: Precision | None = None) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, outputs, bias=False)
        self.precision = precision

    @override
    def forward(self, x: Tokens) -> Float[Tensor, "batch token out"]:
        out: Tensor = self.down(F.relu(self.up(x)))
        return out if self.precision is None else self.precision.apply(out)


Part = Callable[[Tokens], Tokens]


class Join(nn.Module):
    """x + part(x): how a part of a layer meets the stream. Kinds put a LayerNorm somewhere."""

    @override
    def forward(self, x: Tokens, part: Part) -> Tokens:
        return x + part(x)


class JoinPre(Join):
    """x + part(norm(x))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    @override
    def forward(self, x: Tokens, part: Part) -> Tokens:
        return x + part(self.norm(x))


class JoinPost(Join):
    """norm(x + part(x))."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    @override
    def forward(self, x: Tokens, part: Part) -> Tokens:
        return self.norm(x + part(x))  # type: ignore[no-any-return]


class Norm(Kind):
    """Where LayerNorm stands."""

    @abstractmethod
    def build(self, width: int) -> Join:
        """Make that of one part of a layer."""

    def before_readout(self, width: int) -> nn.Module:
        """What the readout reads through."""
        return nn.Identity()


class NoNorm(Norm, name="none", summary="no LayerNorm, as published"):
    """Nowhere, as published."""

    @override
    def build(self, width: int) -> Join:
        return Join()


class PreNorm(Norm, name="pre", summary="LayerNorm in front of every part"):
    """In front of attention, FFNs and the readout."""

    @override
    def build(self, width: int) -> Join:
        return JoinPre(width)

    @override
    def before_readout(self, width: int) -> nn.Module:
        """The stream itself was never normalised."""
        return nn.LayerNorm(width)


class PostNorm(Norm, name="post", summary="LayerNorm behind every sum"):
    """Behind every sum."""

    @override
    def build(self, width: int) -> Join:
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

    @override
    def forward(self, x: Tokens, coordinates: Coordinates, encoding: Encoding) -> Tokens:
        x = self.join_attention(x, lambda read: self.attention(read, coordinates, encoding))
        return x if self.ffn is None else self.join_ffn(x, self.ffn)


class MemoryTransformer(Model):
    """Tokens in, one output a token out, from what is at or before it.

    Parameters: `encode` (W_E, b_E); in layer l `attention.w_v`, `attention.w_o`, `attention.looking` and `ffn`;
    `readout`; slopes of layer l in `encoding.slopes[l]`, which `encoding.set_slopes(l, slopes)` replaces.
    """

    vectorised = True

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

    @override
    def forward(self, x: Inputs, coordinates: Coordinates) -> Float[Tensor, "batch token out"]:
        x = as_features(x, self.features, self.encode.weight.dtype)
        x = self.encode(self.encoding.embed(x, coordinates))
        for layer in self.layers:
            x = layer(x, coordinates, self.encoding)
        return self.readout(self.norm(x))  # type: ignore[no-any-return]


class Memory(
    ModelSettings,
    name="memory",
    summary="causal; heads that decay with the lag at trained slopes, with or without dot products",
):
    """Depth L, heads H, FFN width m, and where scores come from.

    Heads are as wide as the model, so that they need not divide it. Any encoding that embeds, rotates or biases fits;
    `rpe-lin` and `rpe-log` are those of the paper.
    """

    layers: int | None = Field(1, ge=1, le=256, description="L; 1 where not given")
    heads: int = Field(8, ge=1, le=4096, description="H")
    width: int = Field(8, ge=1, le=65536, description="D")
    hidden: int = Field(64, ge=1, le=65536, description="m, units of an FFN")
    encoding: Encodings = (RpeLin().settings,)
    attention: Annotated[
        SerializeAsAny[Look], BeforeValidator(lambda v: choose(v, LOOKS, "model.attention"))
    ] = DpFree()
    normalised: bool = Field(True, description="false to leave the sum of the softmax out")
    ffn: bool = Field(True, description="false for attention alone and a linear readout")
    norm: Annotated[SerializeAsAny[Norm], BeforeValidator(lambda v: choose(v, NORMS, "model.norm"))] = (
        NoNorm()
    )
    precision: Annotated[
        SerializeAsAny[Precision] | None,
        BeforeValidator(lambda v: None if v is None else choose(v, PRECISIONS, "model.precision")),
    ] = Field(None, description="how all FFNs except the readout round, lin or log; default no rounding")

    @override
    def check_sizes(self) -> None:
        """Any, but tmx has needs of its own, and classes of pairs are not read."""
        if any(issubclass(e.builds, ClassVectorEncoding) for e in self.encoding):
            raise ValueError(
                "must have an encoding that embeds, rotates or biases, such as rpe-lin: it reads no classes"
            )
        if self.precision is not None and not (self.ffn and (self.layers or 1) > 1):
            raise ValueError(
                "must have 2 layers or more, and FFNs, with precision: it rounds FFNs, and not the readout"
            )
        if isinstance(self.attention, Hard) and not self.normalised:
            raise ValueError("must have normalised = true with hard: the one weight is 1")
        if isinstance(self.attention, Tmx):
            if self.normalised:
                raise ValueError(
                    "must have normalised = false with tmx: its term is equal for all keys, and cancels"
                )
            if len(self.encoding) != 1 or not issubclass(self.encoding[0].builds, SlopeBias):
                raise ValueError("must have encoding rpe-lin or rpe-log with tmx: it reads their slopes")

    @override
    def sizes(self, tokens: int) -> tuple[int, int]:
        """Pairs are laid out only where scores depend on more than the lag, or for short sequences."""
        layers, heads = self.layers or 1, self.heads
        square = self.attention.size(self.width) * self.width
        parameters = layers * (
            heads * (2 * square + self.width**2) + self.width * (self.width + 2 * self.hidden)
        )
        laid_out = isinstance(self.attention, Dp) or any(
            issubclass(e.builds, Fire | Dape) for e in self.encoding
        )
        pairs = 3 * heads * tokens if laid_out else 0
        # A transform is twice as long as the sequence, and of complex numbers.
        a_token = layers * (8 * heads * self.width + 4 * self.width + 2 * self.hidden + pairs)
        return parameters, a_token

    @override
    def build(self, task: Problem) -> MemoryTransformer:
        layers = self.layers or 1
        encoding = self.build_encoding(task.trained(), layers, self.attention.size(self.width))
        attentions = [
            MemoryAttention(
                self.width,
                self.heads,
                layer,
                self.attention.build(self.width, self.heads),
                normalised=self.normalised,
            )
            for layer in range(layers)
        ]
        inner = [
            Ffn(self.width, self.hidden, self.width, self.precision) if self.ffn else None
            for _ in range(layers - 1)
        ]
        last: nn.Module = (
            Ffn(self.width, self.hidden, task.outputs) if self.ffn else nn.Linear(self.width, task.outputs)
        )
        return MemoryTransformer(task.features, attentions, encoding, [*inner, None], last, self.norm)
