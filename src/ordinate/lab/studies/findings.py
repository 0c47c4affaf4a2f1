"""What a study found: every recipe over its seeds at every point, and comparisons of recipes; all of it as tables."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ordinate.lab.evaluation.claims import seeds_note
from ordinate.lab.evaluation.comparisons import Comparison, Measured, compare
from ordinate.lab.evaluation.points import metric_of_task, score_of
from ordinate.lab.evaluation.statistics import Summary, summarise
from ordinate.lab.report.numbers import show_interval, show_number
from ordinate.lab.report.runs import Seeds, runs_frame
from ordinate.lab.report.style import ROLES
from ordinate.lab.report.tables import Frame
from ordinate.lab.runs import Run, environment
from ordinate.lab.studies.plan import BUDGETS, StudyPlan, points_of
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


SUMMARY = (
    *("recipe", "task", "model", *BUDGETS, "point", "in_distribution", "metric"),
    *("median", "low", "high", "level", "success", "seeds", "failed", "failed_seeds"),
)
"""One row a recipe and point: the median over seeds with its interval, and the share of seeds that succeeded."""

COMPARISONS = (
    *("point", "a", "b", "error_a", "error_b", "difference", "low", "high", "level"),
    *("p", "corrected", "alone", "better", "reason"),
)
"""One row a pair and point: by how much the error of a is lower, and which is better."""


@dataclass(frozen=True)
class Findings:
    """A study that was conducted."""

    plan: StudyPlan
    study: Study

    @cached_property
    def spent(self) -> dict[str, dict[str, int]]:
        """What a seed of each recipe spends, by the names of the budgets."""
        return {
            recipe.name: {name: kind().spent(recipe) for name, kind in BUDGETS.items()}
            for recipe in self.study.recipes
        }

    @cached_property
    def points(self) -> list[PointSummary]:
        """Statistics over seeds."""
        return summaries(self.plan, self.study)

    @cached_property
    def pairs(self) -> list[PointComparison]:
        """Recipes compared."""
        return comparisons(self.plan, self.study)

    @cached_property
    def failed(self) -> list[dict[str, Any]]:
        """Runs that failed, and why."""
        return [
            {"recipe": recipe.name, "seed": run.seed, "error": run.record().get("error")}
            for recipe in self.study.recipes
            for run in self.study.runs(recipe)
            if run.status != "done"
        ]

    @property
    def best(self) -> dict[str, str] | None:
        """What a search found best, and by which score."""
        for point in self.plan.recipes.needs:
            if name := best(self.study, point):
                return {"recipe": name, "by": point}
        return None

    @property
    def notes(self) -> list[str]:
        """What a reader must know."""
        few = seeds_note(len(self.plan.seeds))
        notes = [few] if few else []
        if self.best is not None:
            notes.append(
                f"best by {self.best['by']}: {self.best['recipe']}. It was chosen by this score, which therefore "
                "flatters it: train it with other seeds before you believe the number"
            )
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        _, summary, pairs = self.frames()
        return {
            "store": str(self.study.store),
            "seeds": list(self.plan.seeds),
            "budget": self.plan.budget.model_dump(),
            "success": self.plan.success,
            "recipes": [
                {"name": recipe.name, "spent": self.spent[recipe.name], "recipe": recipe.to_dict()}
                for recipe in self.study.recipes
            ],
            "failed": self.failed,
            "points": summary.as_dicts(),
            "comparisons": pairs.as_dicts(),
            "best": self.best,
            "notes": self.notes,
            "environment": environment(),
        }

    def frames(self) -> list[Frame]:
        """All tables, in full."""
        return [self._runs(), self._summary(), self._comparisons()]

    def _runs(self) -> Frame:
        looks = list(ROLES)
        groups = [
            Seeds(recipe.name, looks[place % len(looks)], self.study.runs(recipe))
            for place, recipe in enumerate(self.study.recipes)
        ]
        return runs_frame(groups)

    def _summary(self) -> Frame:
        recipes = {recipe.name: recipe for recipe in self.study.recipes}
        rows: list[list[object]] = []
        for found in self.points:
            recipe, interval = recipes[found.recipe], found.score.interval.to_dict()
            rows.append(
                [
                    *(found.recipe, recipe.task.name, recipe.model.name, *self.spent[found.recipe].values()),
                    *(found.point, found.in_distribution, metric_of_task(recipe.task.name)),
                    *(interval[key] for key in ("estimate", "low", "high", "level")),
                    *(found.success, found.score.count, len(found.failed), " ".join(map(str, found.failed))),
                ]
            )
        caption = f"Median over seeds with its interval; success: at least {self.plan.success:g} right."
        return Frame("summary", SUMMARY, rows, caption)

    def _comparisons(self) -> Frame:
        rows: list[list[object]] = []
        for pair in self.pairs:
            found = pair.found
            interval = found.difference.to_dict()
            errors = (error if error == error else None for error in found.errors)
            rows.append(
                [
                    *(pair.point, found.a, found.b, *errors),
                    *(interval[key] for key in ("estimate", "low", "high", "level")),
                    *(found.p, found.corrected, found.alone, found.better, found.reason),
                ]
            )
        return Frame("comparisons", COMPARISONS, rows, "By how much the error of a is lower than that of b.")

    def shown(self) -> list[tuple[list[str], list[list[object]], str]]:
        """Tables for a terminal: headers, rows, title."""
        spent = self.plan.budget.name
        points: list[list[object]] = [
            [
                *(found.recipe, self.spent[found.recipe]["parameters"], self.spent[found.recipe]["samples"]),
                *(found.point, show_interval(found.score.interval), f"{100 * found.success:.0f}%"),
                *(found.score.count, " ".join(map(str, found.failed)) or "none"),
            ]
            for found in self.points
        ]
        headers = [
            *("recipe", "parameters", "samples", "point", "median [95 % interval]"),
            *(f"seeds with {self.plan.success:g} right", "seeds", "failed"),
        ]
        tables = [(headers, points, f"{self.plan.name}, equal {spent}: {self._metric()}")]
        if self.pairs:
            headers = ["at", "a", "b", "error of a less by", "p", "corrected", "finding"]
            tables.append((headers, [_pair_row(pair) for pair in self.pairs], "comparisons"))
        return tables

    def _metric(self) -> str:
        return " / ".join(dict.fromkeys(metric_of_task(recipe.task.name) for recipe in self.study.recipes))


def _pair_row(pair: PointComparison) -> list[object]:
    found = pair.found
    numbers = (show_number(found.p), show_number(found.corrected))
    return [pair.point, found.a, found.b, show_interval(found.difference), *numbers, found.reason]
