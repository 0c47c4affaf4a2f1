"""Figures of the second paper that are curves of trained models."""

from collections.abc import Callable

from ordinate.papers.aims import Aim
from ordinate.papers.extrapolation import Extrapolation, Scale
from ordinate.papers.measured import Curve
from ordinate.papers.symmetry.differences import differences
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
    ) -> None:
        self.name, self.title, self.summary = f"symmetry/{name}", title, summary  # type: ignore[misc]
        self.axes = axes  # type: ignore[misc]
        self.scales = described(minutes, at)  # type: ignore[misc]
        self.curves, self.aims = curves, aims

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        sizes = SCALES[name]
        curves, published = self.curves(sizes), self.curves(SCALES["paper"])
        told = differences([curve.recipe for curve in curves], [curve.recipe for curve in published])
        return Scale(curves, self.aims(sizes), dict(told))
