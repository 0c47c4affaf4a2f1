"""The part of the page about runs: the list, one run, its curves as they grow, and two of them side by side."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from ordinate.app.web.limits import MODELS
from ordinate.app.web.middleware import Json, unchanged
from ordinate.app.web.store import Listing, last_row, read_after, run_folder
from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.points import metric_of_task
from ordinate.lab.runs import Run, status_now
from ordinate.lab.runs.store import flatten, side_by_side

FACTS = ("status", "step", "steps", "parameters", "samples_seen", "seconds", "averaged", "error")
MAX_ID = 300


def routes(listing: Listing) -> APIRouter:
    """Everything under /api that reads the store."""
    router = APIRouter(prefix="/api")
    store = listing.store
    Id = Annotated[str, Query(max_length=MAX_ID)]  # noqa: N806

    @router.get("/runs")
    def runs(request: Request) -> Response:
        document, tag = listing.read()
        return (
            Response(status_code=304, headers={"ETag": tag})
            if unchanged(request, tag)
            else Json(document, tag=tag)
        )

    @router.get("/run")
    def run(run: Id) -> Response:
        return Json(run_facts(Run(run_folder(store, run))))

    @router.get("/metrics")
    def metrics(run: Id, mark: Annotated[str | None, Query(max_length=64)] = None) -> Response:
        return Json(vars(read_after(run_folder(store, run) / "metrics.jsonl", mark)))

    @router.get("/compare")
    def compare(run: Annotated[list[str], Query(max_length=MODELS)]) -> Response:
        return Json(compared([Run(run_folder(store, each)) for each in run]))

    return router


def run_facts(run: Run) -> dict[str, Any]:
    """What is known of a run: facts, settings under dotted names, scores."""
    recipe, record = run.recipe, run.record()
    if record.get("status") == "running":
        record["status"] = status_now(run.path, "running")
        record["step"] = last_row(run.path / "metrics.jsonl").get("step", record.get("step"))
    settings = flatten(recipe)
    return {
        "id": run.id,
        "seed": run.seed,
        **{key: record.get(key) for key in FACTS},
        "metric": metric_of_task(str(settings.get("task.name"))),
        "settings": {key: _plain(value) for key, value in settings.items()},
        "scores": record.get("scores") or {},
    }


def compared(runs: list[Run]) -> dict[str, Any]:
    """Settings that differ, and all facts and scores, side by side."""
    if len(runs) != MODELS:
        raise OrdinateError("two runs are compared: choose a first and a second one")
    facts = [run_facts(run) for run in runs]
    return {
        "runs": [each["id"] for each in facts],
        "metrics": [each["metric"] for each in facts],
        "facts": side_by_side([{key: each[key] for key in ("seed", *FACTS)} for each in facts]),
        "settings": side_by_side([each["settings"] for each in facts], differing=True),
        "scores": side_by_side([each["scores"] for each in facts]),
    }


def _plain(value: Any) -> Any:
    """Short values as they are, tables and lists as text."""
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)
