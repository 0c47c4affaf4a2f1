"""Figures of the second paper that are curves of trained models."""

from collections.abc import Callable
from typing import Any, ClassVar

from ordinate.papers.aims import Aim
from ordinate.papers.extrapolation import Extrapolation, Scale
from ordinate.papers.measured import Curve
from ordinate.papers.symmetry.sizes import SCALES, Sizes

Curves = Callable[[Sizes], tuple[Curve, ...]]
Aims = Callable[[Sizes], tuple[Aim, ...]]


class TrainedCurves(Extrapolation):
    """A figure from its curves and aims, both functions of the sizes of a scale."""

    scales: ClassVar[dict[str, str]] = {name: sizes.description for name, sizes in SCALES.items()}

    def __init__(
        self,
        name: str,
        title: str,
        summary: str,
        curves: Curves,
        aims: Aims,
        axes: tuple[str, ...] = ("length",),
    ) -> None:
        self.name, self.title, self.summary = f"symmetry/{name}", title, summary  # type: ignore[misc]
        self.axes = axes  # type: ignore[misc]
        self.curves, self.aims = curves, aims

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        sizes = SCALES[name]
        return Scale(self.curves(sizes), self.aims(sizes), differences(name))


def differences(name: str) -> dict[str, Any]:
    """How a scale differs from the published setting."""
    sizes, paper = SCALES[name], SCALES["paper"]
    if sizes is paper:
        return {
            "differs from the paper": "LayerNorm before attention, not after it; epochs are not published"
        }
    return {
        "differs from the paper": (
            f"{sizes.layers} layers, {sizes.heads} heads and width {sizes.width} for {paper.layers}, {paper.heads} and "
            f"{paper.width}; numbers padded to {sizes.places} places for {paper.places}, {sizes.long} for "
            f"{paper.long}; fresh samples instead of a set of {paper.training.samples}; LayerNorm before attention; "
            f"pairwise vectors start at a standard deviation of {sizes.std:g}, one table a head"
        )
    }
