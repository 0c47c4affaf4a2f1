"""Serving the page: a socket on this machine, and uvicorn on it."""

import socket
from collections.abc import Callable
from pathlib import Path

import torch
import uvicorn

from ordinate.app.web.app import make_app
from ordinate.errors import OrdinateError

HOST = "127.0.0.1"
CONCURRENT = 400
"""Connections that are served at a time; more get a 503."""


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
