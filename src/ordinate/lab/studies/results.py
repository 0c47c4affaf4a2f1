"""What a study found: statistics over seeds at every point, and comparisons of recipes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ordinate.lab.evaluation.comparisons import Comparison, Measured, compare
from ordinate.lab.evaluation.points import score_of
from ordinate.lab.evaluation.statistics import Summary, summarise
from ordinate.lab.runs import Run
from ordinate.lab.studies.plan import StudyPlan, points_of
from ordinate.lab.studies.search import median_error
from ordinate.lab.studies.study import Study, errors_at
from ordinate.lab.training import Recipe


@dataclass(frozen=True)
class PointSummary:
    """One recipe at one point, over all its seeds."""

    recipe: str
    point: str
    in_distribution: bool | None
    """None where no seed was measured."""
    score: Summary
    succeeded: int
    """Seeds with at least the plan's share of right answers."""
    failed: tuple[int, ...]
    """The seeds that failed, or have not ended."""

    @property
    def success(self) -> float:
        """Share of all seeds, failed ones included, that succeeded."""
        return self.succeeded / self.score.count


@dataclass(frozen=True)
class PointComparison:
    """Two recipes at one point."""

    point: str
    found: Comparison


def summaries(plan: StudyPlan, study: Study) -> list[PointSummary]:
    """Statistics of every recipe at every point."""
    return [
        _summary(plan, recipe.name, point, place, study.runs(recipe))
        for recipe in study.recipes
        for place, point in enumerate(points_of(recipe))
    ]


def _summary(plan: StudyPlan, name: str, point: str, place: int, runs: Sequence[Run]) -> PointSummary:
    measured = [_point(run, place) for run in runs]
    scores = [score_of(found) if found else math.nan for found in measured]
    there = [found for found in measured if found]
    lost = [run.seed for run, score in zip(runs, scores, strict=True) if not math.isfinite(score)]
    return PointSummary(
        name,
        point,
        bool(there[0]["in_distribution"]) if there else None,
        summarise(scores),
        sum(found["accuracy"] >= plan.success for found in there),
        tuple(lost),
    )


def _point(run: Run, place: int) -> dict[str, Any] | None:
    """What a run has measured at a point; None where it did not end."""
    return run.read_result("evaluation")[place] if run.status == "done" else None


def comparisons(plan: StudyPlan, study: Study) -> list[PointComparison]:
    """Recipes compared at the points of the plan.

    Only recipes that are measured on the same task are compared; the correction counts all pairs at all points.
    """
    groups = [
        (point, recipes)
        for point in plan.points(list(study.recipes))
        for recipes in _alike([recipe for recipe in study.recipes if point in points_of(recipe)])
    ]
    measured = [
        [Measured(r.name, *errors_at(study.runs(r), point)) for r in group] for point, group in groups
    ]
    found = compare(*measured, baseline=plan.compare.baseline)
    return [
        PointComparison(point, pair)
        for (point, _), pairs in zip(groups, found, strict=True)
        for pair in pairs
    ]


def _alike(recipes: Sequence[Recipe]) -> list[list[Recipe]]:
    """Recipes in groups that are tested on the same samples."""
    groups: list[list[Recipe]] = []
    for recipe in recipes:
        for group in groups:
            if recipe.task.tested() == group[0].task.tested():
                group.append(recipe)
                break
        else:
            groups.append([recipe])
    return groups


def best(study: Study, point: str) -> str | None:
    """The recipe with the least median error at a point; None where all failed."""
    errors = {recipe.name: median_error(study.runs(recipe), point) for recipe in study.recipes}
    least = min(errors, key=errors.__getitem__)
    return least if math.isfinite(errors[least]) else None
