"""A Transformer encoder with residuals and LayerNorm in front (pre-norm), over any attention and encoding.

    x <- x + attention(norm(x)),    x <- x + perceptron(norm(x)),    y = decode(norm(x))

Whether a token sees only what is before it, as in a decoder, is up to the encoding's pairs.

With `loops` the layers are gone through several times with the same weights, but for those `once` names: so many in
front of the loops and so many behind them. Training may draw the number of loops anew for every batch, let some of them
`stay` at the encoding of the loop before, and some be `idle`, with the encoding of a loop so late that a leap finds
nothing: the layers then cannot tell how far they are, and what they have learned to do in some loops they do in more of
them. Loops that start `anew` add what they attend to to what entered the
first loop, not to what the last one left:

    x_{t+1} = y + perceptron(norm(y)),    y = x_0 + attention(norm(x_t))

A token then keeps something only by attending to itself, and a state that does not change stays as it is in any number
of loops, where sums would grow.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from ordinate.attention import ConcatAttention, MultiHead
from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding
from ordinate.models.dropout import Dropout
from ordinate.models.inputs import Inputs, as_features

IDLE = 40
"""The number of an idle loop: 2^40 places back there is nothing."""


class Perceptron(nn.Module):
    """One hidden layer: W_2 gelu(W_1 x)."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: Float[Tensor, "batch token width"]) -> Float[Tensor, "batch token width"]:
        """Transform every token."""
        return self.down(F.gelu(self.up(x)))  # type: ignore[no-any-return]


class GatedPerceptron(nn.Module):
    """One hidden layer of products: W_2 (gelu(V x) * U x), arXiv 2002.05202.

    A hidden unit can hold the product of two things that attention has brought together, which a plain
    perceptron has to put together from many units.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * hidden), nn.Linear(hidden, width)

    def forward(self, x: Float[Tensor, "batch token width"]) -> Float[Tensor, "batch token width"]:
        """Transform every token."""
        gate, up = self.up(x).chunk(2, -1)
        return self.down(F.gelu(gate) * up)  # type: ignore[no-any-return]


class ResidualBlock(nn.Module):
    """Attention and a perceptron, each added to its input."""

    def __init__(self, attention: MultiHead | ConcatAttention, perceptron: nn.Module, dropout: float) -> None:
        super().__init__()
        width = attention.width
        self.attention, self.perceptron = attention, perceptron
        self.norm_attention, self.norm_perceptron = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

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


class Encoder(nn.Module):
    """Numbers or symbols in, one output a token out, at every length that the encoding can reach."""

    vectorised = False
    """Its kernels cannot be mapped over the members of an ensemble."""

    def __init__(
        self,
        features: int,
        outputs: int,
        hidden: int,
        attentions: Sequence[MultiHead | ConcatAttention],
        encoding: Encoding,
        *,
        embed_positions: bool = True,
        gated: bool = False,
        dropout: float = 0.0,
        loops: int = 1,
        trained_loops: tuple[int, int] | None = None,
        once: tuple[int, int] = (0, 0),
        stay: float = 0.0,
        idle: float = 0.0,
        anew: bool = False,
    ) -> None:
        super().__init__()
        width = attentions[0].width
        self.features, self.encoding, self.embed_positions = features, encoding, embed_positions
        self.loops, self.trained_loops, self.once = loops, trained_loops, once
        self.stay, self.idle, self.anew = stay, idle, anew
        self.encode = nn.Linear(features + (encoding.extra_features if embed_positions else 0), width)
        perceptron = GatedPerceptron if gated else Perceptron
        self.layers = nn.ModuleList(
            ResidualBlock(attention, perceptron(width, hidden), dropout) for attention in attentions
        )
        self.norm = nn.LayerNorm(width)
        self.decode = nn.Linear(width, outputs)

    def _loops(self) -> list[int]:
        """The loops to go through, by number; in training drawn where the recipe says so."""
        if not self.training:
            return list(range(self.loops))
        fewest, most = self.trained_loops or (self.loops, self.loops)
        count = int(torch.randint(fewest, most + 1, ()))
        if not self.stay and not self.idle:
            return list(range(count))
        busy = torch.rand(count) >= self.idle
        moves = (torch.rand(count) >= self.stay) & busy
        moves[busy.nonzero()[:1]] = False  # the first busy loop is number 0
        numbers: list[int] = torch.where(busy, moves.cumsum(0), IDLE).tolist()
        return numbers

    def forward(self, x: Inputs, coordinates: Coordinates) -> Float[Tensor, "batch token out"]:
        """Compute the outputs of all tokens."""
        x = as_features(x, self.features, self.encode.weight.dtype)
        x = self.encode(self.encoding.embed(x, coordinates) if self.embed_positions else x)
        front, behind = self.once[0], len(self.layers) - self.once[1]
        for layer in self.layers[:front]:
            x = layer(x, coordinates, self.encoding)
        start = x if self.anew else None
        for loop in self._loops():
            encoding = self.encoding.at_loop(loop)
            for number, layer in enumerate(self.layers[front:behind]):
                x = layer(x, coordinates, encoding, None if number else start)
        for layer in self.layers[behind:]:
            x = layer(x, coordinates, self.encoding)
        return self.decode(self.norm(x))  # type: ignore[no-any-return]
