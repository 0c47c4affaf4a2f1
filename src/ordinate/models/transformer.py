"""`od.Transformer`: a whole model over a declared structure, for data of one's own."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from ordinate.attention.layer import Declared, Relations, Trained, check_heads, form
from ordinate.coordinates import Coordinates
from ordinate.encodings import Encoding
from ordinate.kinds import choose
from ordinate.models.encoder import ResidualEncoder
from ordinate.models.inputs import Inputs


@dataclass(frozen=True)
class _Sizes:
    """What a model asks of a task, said by a user."""

    features: int
    outputs: int
    layouts: tuple[Coordinates, ...]

    def lengths(self) -> tuple[int, ...]:
        return tuple(sorted(map(len, self.layouts)))

    def trained(self) -> tuple[Coordinates, ...]:
        return self.layouts


class Transformer(nn.Module):
    """A pre-norm Transformer encoder whose attention looks where a relation says, at any length.

    `inputs` is how many symbols there are, or how many numbers a token has; `outputs` how many numbers an answer has.
    Positions are said as for `od.Attention`, by a `relation` or an `encoding`, and what a score is made of by `scores`.
    With `loops` the layers are gone through several times with the same weights.

    >>> import ordinate as od, torch
    >>> model = od.Transformer(inputs=10, outputs=10, layers=2, relation=od.aligned() * od.window(back=4))
    >>> model(torch.zeros(1, 30, dtype=torch.long)).shape
    torch.Size([1, 30, 10])
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        layers: int = 4,
        dim: int = 64,
        heads: int = 4,
        hidden: int | None = None,
        relation: Relations | None = None,
        encoding: Encoding | None = None,
        scores: str = "content",
        loops: int = 1,
        dropout: float = 0.0,
        trained: Trained | None = None,
    ) -> None:
        super().__init__()
        self.declared = Declared.of(relation, encoding)
        check_heads(dim, heads)
        sizes = {"layers": layers, "width": dim, "heads": heads, "hidden": hidden or 4 * dim}
        parts = {"encoding": self.declared.encoding, "attention": form(scores)}
        given = {"kind": "encoder", **sizes, **parts, "loops": loops, "dropout": dropout}
        settings = choose(given, {"encoder": ResidualEncoder}, "od.Transformer")
        self.encoder = settings.build(_Sizes(inputs, outputs, self.declared.trained(trained)))

    def forward(self, x: Inputs, layout: Coordinates | None = None) -> Float[Tensor, "batch token out"]:
        """The outputs of all tokens; without a layout they are one field, numbered from 0."""
        out: Tensor = self.encoder(x, self.declared.layout(x.shape[1], layout))
        return out
