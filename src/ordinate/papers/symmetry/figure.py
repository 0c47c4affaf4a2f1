"""Figures of the second paper that are curves of trained models."""

from collections.abc import Callable
from typing import Any

from ordinate.papers.aims import Aim
from ordinate.papers.extrapolation import Extrapolation, Scale
from ordinate.papers.measured import Curve
from ordinate.papers.symmetry.sizes import SCALES, Sizes, described

Curves = Callable[[Sizes], tuple[Curve, ...]]
Aims = Callable[[Sizes], tuple[Aim, ...]]


class TrainedCurves(Extrapolation):
    """A figure from its curves and aims, both functions of the sizes of a scale."""

    def __init__(
        self,
        name: str,
        title: str,
        summary: str,
        curves: Curves,
        aims: Aims,
        *,
        minutes: int,
        axes: tuple[str, ...] = ("length",),
        at: tuple[str, ...] = tuple(SCALES),
        multiplier: int = 1,
    ) -> None:
        self.name, self.title, self.summary = f"symmetry/{name}", title, summary  # type: ignore[misc]
        self.axes = axes  # type: ignore[misc]
        self.scales = described(minutes, at)  # type: ignore[misc]
        self.curves, self.aims, self.multiplier = curves, aims, multiplier

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        sizes = SCALES[name]
        return Scale(self.curves(sizes), self.aims(sizes), differences(name, self.multiplier))


def differences(name: str, multiplier: int = 1) -> dict[str, Any]:
    """How a scale differs from the published setting, for multipliers of this many digits."""
    sizes, paper = SCALES[name], SCALES["paper"]
    if sizes is paper:
        return {
            "differs from the paper": "LayerNorm before attention, not after it; epochs are not published"
        }
    long = f", {sizes.long} for {paper.long}"
    if multiplier > 1:
        sizes, paper, long = sizes.three_digits, paper.three_digits, ""
    said = [
        f"{sizes.layers} layers, {sizes.heads} heads and width {sizes.width} for {paper.layers}, {paper.heads} and "
        f"{paper.width}",
        f"numbers padded to {sizes.places} places for {paper.places}{long}",
        f"fresh samples instead of a set of {paper.training.samples}",
        "LayerNorm before attention",
        f"pairwise vectors start at a standard deviation of {sizes.std:g}, one table a head",
    ]
    if sizes.sparse is not None:
        said.append(
            f"in training {sizes.sparse:.0%} of the multipliers have zeros for about half of their digits"
        )
    if sizes.uniform != paper.uniform:
        said.append("in upe the sign acts alike on every place too")
    if sizes.words != paper.words:
        said.append(f"at most {sizes.words} letters for {paper.words} where numbers stand in text")
    if sizes.gated:
        said.append("gated hidden units")
    return {"differs from the paper": "; ".join(said)}
