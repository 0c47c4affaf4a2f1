"""Verdicts of the papers, from stored results."""

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import FileResponse, Response

from ordinate.app.web.middleware import Json
from ordinate.app.web.store import inside
from ordinate.errors import OrdinateError
from ordinate.lab.runs import read_json
from ordinate.papers import FIGURES

LARGEST = 8 << 20
"""Bytes of a result that is read."""


def routes(results: Path | None) -> APIRouter:
    """The list of figures with their claims, and a figure's picture."""
    router = APIRouter(prefix="/api")

    @router.get("/verdicts")
    def verdicts() -> Response:
        return Json({"folder": str(results) if results else None, "figures": figures_of(results)})

    @router.get("/picture")
    def picture(figure: Annotated[str, Query(max_length=200)]) -> Response:
        if results is None:
            raise OrdinateError("there are no results here: start the page with --results DIR")
        file = inside(results, *figure.split("/"), f"{figure.rsplit('/', 1)[-1]}.png")
        if not file.is_file():
            raise OrdinateError(f"figure {figure!r} has no picture")
        return FileResponse(file, media_type="image/png", headers={"Cache-Control": "no-cache"})

    return router


def figures_of(results: Path | None) -> list[dict[str, Any]]:
    """One entry a figure `<paper>/<name>/result.json`; one that cannot be read says why."""
    if results is None or not results.is_dir():
        return []
    return [_figure(results, file) for file in sorted(results.glob("*/*/result.json"))]


def _figure(results: Path, file: Path) -> dict[str, Any]:
    name = file.parent.relative_to(results).as_posix()
    try:
        inside(results, *name.split("/"), file.name)
        if file.stat().st_size > LARGEST:
            raise OrdinateError(f"{file.name} is larger than {LARGEST >> 20} MB")
        result = read_json(file)
        claims = [_claim(claim) for claim in result["claims"]]
        facts = {key: result.get(key) for key in ("scale", "command", "note")}
    except (OrdinateError, OSError, KeyError, TypeError, AttributeError) as error:
        return {"name": name, "error": str(error) or type(error).__name__, "claims": []}
    picture = file.parent / f"{file.parent.name}.png"
    return {
        "name": name,
        "title": FIGURES[name].title if name in FIGURES else None,
        **facts,
        "claims": claims,
        "picture": picture.is_file() and not picture.is_symlink(),
    }


def _claim(claim: dict[str, Any]) -> dict[str, Any]:
    measured = claim["measured"]
    return {
        "sentence": str(claim["sentence"]),
        "verdict": str(claim["verdict"]),
        "reason": str(claim["reason"]),
        "estimate": measured["estimate"],
        "low": measured["low"],
        "high": measured["high"],
        "asked": claim["predicate"]["text"],
        "published": claim.get("published"),
        "seeds": claim.get("seeds"),
        "failed": claim.get("failed"),
        "exact": bool(claim.get("exact")),
    }
