"""Serving the page: a socket on this machine, and uvicorn on it."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

import h11
import torch
import uvicorn
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

from ordinate.app.web.app import make_app
from ordinate.errors import OrdinateError

HOST = "127.0.0.1"
CONCURRENT = 1000
"""Connections that are open at a time; more get a 503."""
PATIENCE = 5.0
"""Seconds until a request has to be whole, head and body, from its first byte or the opening of the connection on."""


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
