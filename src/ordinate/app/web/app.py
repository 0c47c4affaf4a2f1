"""The application: routes, limits and the guard put together."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from ordinate.app.web import playground, relations, runs, verdicts
from ordinate.app.web.guard import Guard
from ordinate.app.web.limits import BodyLimit
from ordinate.app.web.listing import Listing
from ordinate.app.web.models import Players
from ordinate.app.web.replies import refusal
from ordinate.app.web.worker import BusyError, GoneError, Worker
from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store

STATIC = Path(__file__).parent / "static"


class Files(StaticFiles):
    """The page itself; a browser asks again whether a file has changed."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Serve a file of the package."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


def make_app(store: Path, results: Path | None, port: int) -> FastAPI:
    """The page over a store of runs and a folder of results, for a browser at this port of this machine."""
    worker = Worker()
    listing = Listing(Store(store))

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        worker.close()

    app = FastAPI(lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(runs.routes(listing))
    app.include_router(playground.routes(Players(listing), worker))
    app.include_router(relations.routes(worker))
    app.include_router(verdicts.routes(results))
    app.mount("/", Files(directory=STATIC, html=True))
    app.add_middleware(BodyLimit)
    app.add_middleware(Guard, port=port)

    @app.exception_handler(OrdinateError)
    async def bad_input(request: Request, error: OrdinateError) -> Response:
        return refusal(str(error), 400)

    @app.exception_handler(RequestValidationError)
    async def not_understood(request: Request, error: RequestValidationError) -> Response:
        return refusal("; ".join(_line(detail) for detail in error.errors()), 400)

    @app.exception_handler(HTTPException)
    async def not_there(request: Request, error: HTTPException) -> Response:
        return refusal(str(error.detail), error.status_code)

    @app.exception_handler(BusyError)
    async def busy(request: Request, error: BusyError) -> Response:
        return refusal(str(error), 503)

    @app.exception_handler(GoneError)
    async def gone(request: Request, error: GoneError) -> Response:
        return refusal(str(error), 499)

    @app.exception_handler(Exception)
    async def fault(request: Request, error: Exception) -> Response:
        return refusal(f"the page has a fault: {type(error).__name__}", 500)

    return app


def _line(detail: dict[str, object]) -> str:
    where = detail["loc"]
    assert isinstance(where, tuple)
    place = ".".join(str(part) for part in where[1:]) or "the request"
    return f"{place} is not allowed: {str(detail['msg'])[:200]}"
