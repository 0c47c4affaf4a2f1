"""Who may ask: a browser on this machine that shows this page, and nobody else.

The page listens on 127.0.0.1 only. That keeps other machines out, but not other pages in the same browser: a page
from elsewhere can send requests to 127.0.0.1, and can give its own name this address (DNS rebinding). The first
carries a foreign `Origin`, the second a foreign `Host`; both are refused before anything is read.
"""

import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordinate.app.web.replies import refusal

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
