"""Which runs a report can read: one that is damaged is named with its cause, and the others are reported."""

import re
from collections.abc import Iterable
from typing import Any

from ordinate.app.cli.run_panels import MEASURES
from ordinate.errors import OrdinateError
from ordinate.lab.runs import Run
from ordinate.lab.runs.plain import is_number
from ordinate.lab.runs.record import check_seed


def readable(runs: Iterable[Run]) -> tuple[list[Run], list[str]]:
    """Return the runs whose files are all as they must be, and a line for every other one."""
    found, damaged = [], []
    for run in runs:
        try:
            _check(run)
            found.append(run)
        except OrdinateError as error:
            damaged.append(f"{run.id}: {error}")
    return found, damaged


def _check(run: Run) -> None:
    check_seed(run.seed)
    recipe = run.recipe
    for table, key in (("task", "name"), ("model", "kind")):
        inner = recipe.get(table)
        if not isinstance(inner, dict) or not _is_word(inner.get(key)):
            raise OrdinateError(
                f"{run.path / 'recipe.toml'} is not the recipe of a run: it has no {table}.{key}"
            )
    run.record()
    run.metrics()
    points = run.read_result("evaluation") if "evaluation" in run.results() else []
    if not isinstance(points, list) or not all(map(_is_point, points)):
        raise OrdinateError(f"{run.path / 'results' / 'evaluation.json'} is not a list of points")


def _is_point(point: Any) -> bool:
    return (
        isinstance(point, dict)
        and _is_word(point.get("axis"))
        and isinstance(point.get("in_distribution"), bool)
        and is_number(point.get("accuracy"))
        and all(is_number(point[key]) for key in ("value", "count", *MEASURES) if key in point)
    )


def _is_word(value: object) -> bool:
    """Whether this can stand in a figure as it is."""
    return isinstance(value, str) and re.fullmatch(r"[\w .-]+", value) is not None
