"""The kind of model behind the memories paper (arXiv 2402.00522), as a recipe describes it."""

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import nn

from ordinate.attention import LOOKS, Dp, DpFree, Hard, Look, MemoryAttention, Tmx
from ordinate.encodings import ClassVectorEncoding, Dape, Fire, RpeLin, SlopeBias
from ordinate.kinds import choose
from ordinate.models.inputs import Problem
from ordinate.models.memory import NORMS, Ffn, MemoryTransformer, NoNorm, Norm
from ordinate.models.precision import PRECISIONS, Precision
from ordinate.models.settings import Encodings, ModelSettings


class Memory(ModelSettings):
    """Depth L, heads H, FFN width m, and where scores come from.

    Heads are as wide as the model, so that they need not divide it. Any encoding that embeds, rotates or biases fits;
    `rpe-lin` and `rpe-log` are those of the paper.
    """

    name: ClassVar[str] = "memory"
    summary: ClassVar[str] = (
        "causal; heads that decay with the lag at trained slopes, with or without dot products"
    )

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
    ] = Field(None, description="how FFNs but the readout round, lin or log; not at all without")

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

    def build(self, task: Problem) -> MemoryTransformer:
        """Assemble the model."""
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
