"""Biases that read the scores (Zheng et al. 2024, arXiv 2405.14722; V2: arXiv 2410.04798).

    S = A + B + f(A, B),      A = the scores without the bias, B = a relative bias, both of all heads
    f = W_2 * leaky_relu(W_1 * [A, B] + b_1)

At one pair f maps the 2 H numbers of all heads to H numbers. With a kernel of 1 the products * are plain maps, a
perceptron at every pair; with a kernel of k they are convolutions over the k keys around a pair, which is V2.
"""

from typing import TYPE_CHECKING, Annotated, Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from pydantic import AfterValidator, BeforeValidator, Field, SerializeAsAny
from torch import Tensor, nn
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.encodings.bias import T5, Alibi, Fire, KerpleLog, KerplePower
from ordinate.encodings.encoding import BuildSpec, Encoding, EncodingSettings
from ordinate.encodings.rpe import RpeLin
from ordinate.kinds import choose

BASES = {base.name: base.Settings for base in (KerpleLog, KerplePower, Alibi, Fire, T5, RpeLin)}
"""Biases that B can be."""

PAIRS_AT_ONCE = 2**17
"""Pairs whose hidden units are laid out together where nothing is learned: they stay in the cache at any length."""


class ScoreFunction(nn.Module):
    """f of one layer. It has no b_2: a number that all keys share cancels in the softmax."""

    def __init__(self, heads: int, hidden: int, kernel: int) -> None:
        super().__init__()
        around = {"kernel_size": (1, kernel), "padding": (0, kernel // 2)}
        self.up = nn.Conv2d(2 * heads, hidden, **around)  # type: ignore[arg-type]
        self.down = nn.Conv2d(hidden, heads, bias=False, **around)  # type: ignore[arg-type]

    def forward(
        self, both: Float[Tensor, "batch pair_of_heads query key"], present: Bool[Tensor, "batch 1 query key"]
    ) -> Float[Tensor, "batch head query key"]:
        """Numbers to add to the scores; hidden units of absent pairs are 0, as those beyond the last key are.

        So a query cannot tell keys that it may not see from the end of the sequence.
        """
        out: Tensor = self.down(F.leaky_relu(self.up(both)) * present)
        return out


def _base(value: Any) -> EncodingSettings:
    return choose(value, BASES, "model.encoding.base")


def _is_odd(kernel: int) -> int:
    if kernel % 2 == 0:
        raise ValueError(f"must be odd, as many keys on both sides, got {kernel}")
    return kernel


if TYPE_CHECKING:
    Base = Encoding | EncodingSettings
else:
    Base = Annotated[SerializeAsAny[EncodingSettings], BeforeValidator(_base)]
    """A relative bias: settings at first, and the encoding once it is built."""


class Dape(
    Encoding,
    name="dape",
    summary="a bias that a small network works out from scores and distance, across heads",
    extrapolation="defined: as far as its base is; the network meets larger biases than in training",
    source="Zheng et al. 2024, arXiv 2405.14722 and 2410.04798",
):
    """score[i, j] += f(A, B), a small network of the scores A and the relative bias B of all heads.

    `kernel = 1` is DAPE, a perceptron at every pair; `kernel = 3` is V2, where f also reads the keys at j - 1 and
    j + 1 in each of its two maps. Pairs that are absent, such as later keys in causal models, enter as 0 before both
    maps: nothing of them is seen. Where all pairs are attended the last keys can tell that the sequence ends. Every
    pair is laid out, so relations that need sparse attention are refused.

    Example: `encoding = {kind = "dape", base = "kerple-log", kernel = 3}`.
    """

    reads_scores = True

    base: Base = Field(default=KerpleLog().settings, description="the relative bias B")
    hidden: int = Field(default=32, ge=1, le=4096, description="width of the network's hidden layer")
    kernel: Annotated[int, AfterValidator(_is_odd)] = Field(
        default=1, ge=1, le=63, description="keys around a pair that each map reads, an odd number"
    )

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.base = self.base.build(spec)
        self.functions = nn.ModuleList(
            ScoreFunction(spec.heads, self.hidden, self.kernel) for _ in range(spec.layers)
        )

    @override
    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"] | None:
        assert isinstance(self.base, Encoding)
        return self.base.bias(coordinates, layer)

    @override
    def scores(
        self, scores: Float[Tensor, "*batch head query key"], coordinates: Coordinates, layer: int
    ) -> Float[Tensor, "*batch head query key"]:
        """S from A + B. Absent pairs enter as 0, and stay absent."""
        bias = self.bias(coordinates, layer)
        assert bias is not None  # all of `BASES` have one
        flat = scores.reshape(-1, *scores.shape[-3:])
        at_once = len(flat)
        if not torch.is_grad_enabled():
            at_once = max(1, PAIRS_AT_ONCE // (flat.shape[-1] * flat.shape[-2]))
        parts = [self._added(part, bias.to(scores.dtype), layer) for part in flat.split(at_once)]
        return scores + torch.cat(parts).view(scores.shape).to(scores.dtype)

    def _added(
        self,
        scores: Float[Tensor, "batch head query key"],
        bias: Float[Tensor, "#head query key"],
        layer: int,
    ) -> Float[Tensor, "batch head query key"]:
        """f(A, B)."""
        absent = scores.isneginf()
        known = scores.masked_fill(absent, 0.0)
        added = bias.expand_as(scores).masked_fill(absent, 0.0)
        both = torch.cat([known - added, added], dim=-3)
        found: Tensor = self.functions[layer](both, (~absent).any(-3, keepdim=True))
        return found
