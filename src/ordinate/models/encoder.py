"""A Transformer encoder with residuals and LayerNorm in front (pre-norm), over any attention and encoding.

    x <- x + attention(norm(x)),    x <- x + perceptron(norm(x)),    y = decode(norm(x))

Whether a token sees only what is before it, as in a decoder, is up to the encoding's pairs.

With `loops` the layers are passed several times with the same weights, but for the `unlooped_layers` in front of the
loops and behind them. Training may draw the number of loops for every batch, repeat the encoding of the loop before
(`repeat_loop_prob`), and insert null loops (`null_loop_prob`), whose encoding is that of a loop so late that a leap
finds nothing: the layers then cannot tell how far they are, and what they have learned to do in some loops they do in
more of them. With `inject_input` every loop adds to the input of the first loop, not to the output of the last one:

    x_{t+1} = y + perceptron(norm(y)),    y = x_0 + attention(norm(x_t))

A token then keeps something only by attending to itself, and a state that does not change stays as it is in any number
of loops, where sums would grow.
"""

from collections.abc import Sequence
from typing import Annotated

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import BeforeValidator, ConfigDict, Field, SerializeAsAny, model_validator
from torch import Tensor, nn
from typing_extensions import override

from ordinate.attention import FORMS, Content, Form
from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding, Shaw
from ordinate.kinds import choose
from ordinate.models.inputs import Inputs, Problem, as_features
from ordinate.models.settings import Encodings, Model, ModelSettings

NULL_LOOP = 40  # offset 2**40 exceeds any sequence, so the relation is empty
DROPOUT_LEVELS = 1 << 16


def dropout(x: Float[Tensor, "..."], rate: float | int) -> Float[Tensor, "..."]:
    """x / (1 - p) with chance 1 - p, else 0, where p is `rate` to the nearest of 65 536 levels below 1.

    `torch.nn.functional.dropout` draws a number of 64 bits for every number on a CPU; four fit in one.

    >>> _ = torch.manual_seed(0)
    >>> dropout(torch.ones(8), 0.5)
    tensor([0., 0., 2., 0., 0., 0., 0., 0.])
    """
    dropped = min(round(rate * DROPOUT_LEVELS), DROPOUT_LEVELS - 1)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64, device=x.device).random_(-(1 << 63), None)
    bits = words.view(torch.int16)[: x.numel()].view(x.shape)
    kept = (bits >= dropped - DROPOUT_LEVELS // 2).to(x.dtype)
    return x * kept.mul_(DROPOUT_LEVELS / (DROPOUT_LEVELS - dropped))


class Dropout(nn.Dropout):
    """`dropout` in training on a CPU; elsewhere that of torch, which is fast there."""

    @override
    def forward(self, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        if self.training and self.p and x.device.type == "cpu":
            return dropout(x, self.p)
        return super().forward(x)


class Perceptron(nn.Module):
    """One hidden layer: W_2 gelu(W_1 x)."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    @override
    def forward(self, x: Float[Tensor, "batch token width"]) -> Float[Tensor, "batch token width"]:
        return self.down(F.gelu(self.up(x)))  # type: ignore[no-any-return]


class GatedPerceptron(nn.Module):
    """One hidden layer of products: W_2 (gelu(V x) * U x), arXiv 2002.05202.

    A hidden unit can hold the product of two things that attention has brought together, which a plain
    perceptron has to put together from many units.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * hidden), nn.Linear(hidden, width)

    @override
    def forward(self, x: Float[Tensor, "batch token width"]) -> Float[Tensor, "batch token width"]:
        gate, up = self.up(x).chunk(2, -1)
        return self.down(F.gelu(gate) * up)  # type: ignore[no-any-return]


class ResidualBlock(nn.Module):
    """Attention and a perceptron, each added to its input."""

    def __init__(self, width: int, attention: nn.Module, perceptron: nn.Module, dropout: float) -> None:
        super().__init__()
        self.attention, self.perceptron = attention, perceptron
        self.norm_attention, self.norm_perceptron = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

    @override
    def forward(
        self,
        x: Float[Tensor, "batch token width"],
        coordinates: Coordinates,
        encoding: Encoding,
        onto: Float[Tensor, "batch token width"] | None = None,
    ) -> Float[Tensor, "batch token width"]:
        """Attend, then transform every token; what was attended to is added to x, or `onto` something else."""
        attended = self.dropout(self.attention(self.norm_attention(x), coordinates, encoding))
        x = (x if onto is None else onto) + attended
        return x + self.dropout(self.perceptron(self.norm_perceptron(x)))  # type: ignore[no-any-return]


class Encoder(Model):
    """Numbers or symbols in, one output a token out, at every length that the encoding can reach."""

    vectorised = False  # its kernels cannot be mapped over the members of an ensemble

    def __init__(
        self,
        task: Problem,
        settings: "ResidualEncoder",
        attentions: Sequence[nn.Module],
        encoding: Encoding,
        *,
        embed_positions: bool = True,
    ) -> None:
        super().__init__()
        width, hidden = settings.width, settings.hidden
        self.features, self.settings = task.features, settings
        self.encoding, self.embed_positions = encoding, embed_positions
        self.encode = nn.Linear(task.features + (encoding.extra_features if embed_positions else 0), width)
        perceptron = GatedPerceptron if settings.gated else Perceptron
        self.layers = nn.ModuleList(
            ResidualBlock(width, attention, perceptron(width, hidden), settings.dropout)
            for attention in attentions
        )
        self.norm = nn.LayerNorm(width)
        self.decode = nn.Linear(width, task.outputs)

    def loops_of(self, layer: int) -> range:
        """The loops that pass a layer outside training; the first alone for a layer in front of them or behind."""
        front, behind = self.settings.unlooped_layers
        looped = front <= layer < len(self.layers) - behind
        return range(self.settings.loops if looped else 1)

    def _loops(self) -> list[int]:
        """The loops to pass, by number; in training drawn where the settings say so, on the CPU."""
        chosen = self.settings
        if not self.training:
            return list(range(chosen.loops))
        fewest, most = chosen.trained_loops or (chosen.loops, chosen.loops)
        count = int(torch.randint(fewest, most + 1, (), device="cpu"))
        if not chosen.repeat_loop_prob and not chosen.null_loop_prob:
            return list(range(count))
        real = torch.rand(count, device="cpu") >= chosen.null_loop_prob
        moves = (torch.rand(count, device="cpu") >= chosen.repeat_loop_prob) & real
        moves[real.nonzero()[:1]] = False  # the first that is not null is number 0
        numbers: list[int] = torch.where(real, moves.cumsum(0), NULL_LOOP).tolist()
        return numbers

    @override
    def forward(self, x: Inputs, coordinates: Coordinates) -> Float[Tensor, "batch token out"]:
        x = as_features(x, self.features, self.encode.weight.dtype)
        x = self.encode(self.encoding.embed(x, coordinates) if self.embed_positions else x)
        front, behind = self.settings.unlooped_layers[0], len(self.layers) - self.settings.unlooped_layers[1]
        for layer in self.layers[:front]:
            x = layer(x, coordinates, self.encoding)
        start = x if self.settings.inject_input else None
        for loop in self._loops():
            encoding = self.encoding.at_loop(loop)
            for number, layer in enumerate(self.layers[front:behind]):
                x = layer(x, coordinates, encoding, None if number else start)
        for layer in self.layers[behind:]:
            x = layer(x, coordinates, self.encoding)
        return self.decode(self.norm(x))  # type: ignore[no-any-return]


class ResidualEncoder(
    ModelSettings,
    name="encoder",
    summary="residuals and LayerNorm, split heads, any form of attention over a relation",
):
    """A pre-norm encoder with residuals and split heads, over any form of attention and any encoding.

    Four keys have had other names, in which recipes are still read, and stored: `once`, `stay`, `idle`, `anew`.
    """

    model_config = ConfigDict(
        validate_by_name=True, validate_by_alias=True, serialize_by_alias=True, loc_by_alias=False
    )

    layers: int | None = Field(4, ge=1, le=256)
    heads: int = Field(4, ge=1, le=256)
    hidden: int = Field(256, ge=1, le=65536)
    encoding: Encodings = (Shaw().settings,)
    attention: Annotated[
        SerializeAsAny[Form], BeforeValidator(lambda v: choose(v, FORMS, "model.attention"))
    ] = Content()
    gated: bool = Field(False, description="perceptrons whose hidden units are products (GEGLU)")
    dropout: float = Field(0.0, ge=0, lt=1)
    loops: int = Field(1, ge=1, le=1024, description="how often the layers are passed")
    trained_loops: tuple[int, int] | None = Field(
        None, description="fewest and most loops in training, drawn for every batch; `loops` where not given"
    )
    unlooped_layers: tuple[int, int] = Field(
        (0, 0), alias="once", description="layers in front of the loops and behind them, passed one time"
    )
    repeat_loop_prob: float = Field(
        0.0,
        alias="stay",
        ge=0,
        lt=1,
        description="share of loops in training that repeat the encoding of the one before",
    )
    null_loop_prob: float = Field(
        0.0, alias="idle", ge=0, lt=1, description="share of loops in training in which a leap finds nothing"
    )
    inject_input: bool = Field(
        False,
        alias="anew",
        description="every loop adds to the input of the first one: only what is attended to is carried over",
    )

    @model_validator(mode="after")
    def _loops_are_a_range(self) -> "ResidualEncoder":
        if self.trained_loops is not None and not 1 <= self.trained_loops[0] <= self.trained_loops[1] <= 1024:
            raise ValueError(f"must have trained_loops = [fewest, most], got {list(self.trained_loops)}")
        if min(self.unlooped_layers) < 0 or sum(self.unlooped_layers) >= (self.layers or 4):
            raise ValueError(
                "must have unlooped_layers = [in front, behind] with fewer layers than the model has, got "
                f"{list(self.unlooped_layers)}"
            )
        return self

    @override
    def build(self, task: Problem) -> Encoder:
        layers = self.layers or 4
        encoding = self.build_encoding(task.trained(), layers, head_dim=self.width // self.heads)
        attentions = [self.attention.build(self.width, self.heads, layer) for layer in range(layers)]
        return Encoder(task, self, attentions, encoding)
