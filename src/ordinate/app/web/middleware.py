"""What every request and every answer passes: who may ask, how much, and the form of answers.

A browser on this machine that shows this page may ask, and nobody else. The page listens on 127.0.0.1 only. That
keeps other machines out, but not other pages in the same browser: a page from elsewhere can send requests to
127.0.0.1, and can give its own name this address (DNS rebinding). The first carries a foreign `Origin`, the second a
foreign `Host`; both are refused before anything is read.
"""

import re
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordinate.app.web.limits import BODY
from ordinate.lab.runs.plain import to_json

_HOST = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE)

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Scripts, styles and data from this page only, nothing inline, in no other page's frame."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def refused(host: str | None, origin: str | None, port: int) -> str | None:
    """Why a request is not answered; None where it is from this page.

    >>> refused("127.0.0.1:8765", None, 8765), refused("localhost:8765", "http://localhost:8765", 8765)
    (None, None)
    >>> refused("example.org", None, 8765)
    "host 'example.org' is not this machine: open http://127.0.0.1:8765"
    >>> refused("127.0.0.1:8765", "https://example.org", 8765)
    "requests from 'https://example.org' are not answered: open http://127.0.0.1:8765"
    """
    if host is None or not _is_here(host, port):
        return f"host {host!r} is not this machine: open http://127.0.0.1:{port}"
    if origin is not None and not (origin.startswith("http://") and _is_here(origin[7:], port)):
        return f"requests from {origin!r} are not answered: open http://127.0.0.1:{port}"
    return None


def _is_here(host: str, port: int) -> bool:
    match = _HOST.fullmatch(host)
    return match is not None and int(match["port"] or 80) == port


class Guard:
    """Refuses foreign requests with 403 and puts the safety headers on every answer."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app, self.port = app, port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        hosts, origins = (Headers(scope=scope).getlist(name) for name in ("host", "origin"))
        several = len(hosts) > 1 or len(origins) > 1
        host, origin = (None if several or not given else given[0] for given in (hosts, origins))
        reason = refused(host, origin, self.port)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message.get("headers", []),
                    *((name.lower().encode(), value.encode()) for name, value in HEADERS.items()),
                ]
            await send(message)

        if reason is not None:
            await refusal(reason, 403)(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)


class BodyLimit:
    """Refuses a request whose body is too large with 413, also where its length is not announced."""

    def __init__(self, app: ASGIApp, most: int = BODY) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body up to the limit, then pass it on."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        body, more = b"", True
        too_large = not announced.isdecimal() or int(announced) > self.most
        while more and not too_large:
            message = await receive()
            if message["type"] != "http.request":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            too_large = len(body) > self.most
        if too_large:
            await refusal(f"a request may have {self.most} bytes at most: ask for less", 413)(
                scope, receive, send
            )
            return
        given = False

        async def whole() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, whole, send)


class Json(Response):
    """A JSON document, never kept by the browser without asking again."""

    media_type = "application/json"

    def __init__(self, content: Any = None, status_code: int = 200, tag: str | None = None) -> None:
        headers = {"Cache-Control": "no-cache", **({"ETag": tag} if tag else {})}
        super().__init__(to_json(content), status_code=status_code, headers=headers)


def refusal(reason: str, status: int) -> Json:
    """The one line that the page shows instead of an answer."""
    return Json({"error": " ".join(reason.split())}, status_code=status)


def unchanged(request: Request, tag: str) -> bool:
    """Whether the browser has this version already."""
    return request.headers.get("if-none-match") == tag
