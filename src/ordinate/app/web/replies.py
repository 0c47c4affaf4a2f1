"""Answers of the page: strict JSON, numbers that are not finite as text, and errors as one line."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ordinate.lab.runs.plain import to_json


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
