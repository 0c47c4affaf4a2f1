"""The page as a process: routes, limits and the guard put together, and a socket on this machine to serve them at."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import h11
import torch
import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

from ordinate.app.web import playground, relations, runs, verdicts
from ordinate.app.web.middleware import BodyLimit, Guard, refusal
from ordinate.app.web.models import ModelCache
from ordinate.app.web.store import Listing
from ordinate.app.web.worker import BusyError, GoneError, Worker
from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store

STATIC = Path(__file__).parent / "static"
HOST = "127.0.0.1"
CONCURRENT = 1000
"""Connections that are open at a time; more get a 503."""
PATIENCE = 5.0
"""Seconds until a request has to be whole, head and body, from its first byte or the opening of the connection on."""


class Files(StaticFiles):
    """The page itself; a browser asks again whether a file has changed."""

    @override
    async def get_response(self, path: str, scope: Scope) -> Response:
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
    app.include_router(playground.routes(ModelCache(listing), worker))
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


class Deadline(H11Protocol):
    """HTTP, but a connection whose request is not whole in time is closed: it would hold its place for ever."""

    _end: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._set_deadline()

    @override
    def data_received(self, data: bytes) -> None:
        self._set_deadline()
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._drop_deadline()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._drop_deadline()
        super().connection_lost(exc)

    def _set_deadline(self) -> None:
        if self._end is None:
            self._end = self.loop.call_later(PATIENCE, self.transport.close)

    def _drop_deadline(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None


def bind(port: int) -> socket.socket:
    """Take a port of this machine, a free one for 0, or say that it is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise OrdinateError(
            f"port {port} cannot be used ({(error.strerror or str(error)).lower()}): write --port 0 for a free one"
        ) from None
    return listener


def serve(store: Path, results: Path | None, port: int, ready: Callable[[str], None]) -> None:
    """Serve the page until it is interrupted; `ready` is called with its address."""
    torch.set_num_threads(1)
    listener = bind(port)
    taken = listener.getsockname()[1]
    app = make_app(store, results, taken)
    config = uvicorn.Config(
        app,
        http=Deadline,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=CONCURRENT,
        timeout_graceful_shutdown=2,
        ws="none",
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready(f"http://{HOST}:{taken}")

    Server(config).run(sockets=[listener])
