"""Figures of the second paper that are curves of trained models."""

from collections.abc import Callable
from typing import Any

from ordinate.papers.aims import Aim
from ordinate.papers.extrapolation import Extrapolation, Scale
from ordinate.papers.measured import Curve
from ordinate.papers.symmetry.sizes import SCALES, Sizes, described

Curves = Callable[[Sizes], tuple[Curve, ...]]
Aims = Callable[[Sizes], tuple[Aim, ...]]


def whole(sizes: Sizes) -> Sizes:
    """The sizes as they are."""
    return sizes


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
        part: Callable[[Sizes], Sizes] = whole,
    ) -> None:
        self.name, self.title, self.summary = f"symmetry/{name}", title, summary  # type: ignore[misc]
        self.axes = axes  # type: ignore[misc]
        self.scales = described(minutes, at)  # type: ignore[misc]
        self.curves, self.aims, self.part = curves, aims, part

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        sizes = SCALES[name]
        return Scale(self.curves(sizes), self.aims(sizes), differences(name, self.part))


def differences(name: str, part: Callable[[Sizes], Sizes] = whole) -> dict[str, Any]:
    """How a scale differs from the published setting, in the sizes that a figure takes of it."""
    sizes, paper = part(SCALES[name]), part(SCALES["paper"])
    if name == "paper":
        return {
            "differs from the paper": "LayerNorm before attention, not after it; epochs are not published"
        }
    long = "" if sizes.long == sizes.places else f", {sizes.long} for {paper.long}"
    said = [
        f"{sizes.layers} layers, {sizes.heads} heads and width {sizes.width} for {paper.layers}, {paper.heads} and "
        f"{paper.width}",
        f"numbers padded to {sizes.places} places for {paper.places}{long}",
        f"fresh samples instead of a set of {paper.training.samples}",
        "LayerNorm before attention",
    ]
    if sizes.std != paper.std:
        said.append(f"pairwise vectors start at a standard deviation of {sizes.std:g}, one table a head")
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
