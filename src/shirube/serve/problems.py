"""Refusals of the server itself, as RFC 9457 writes them. Operations have error shapes of their own."""

import json
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from shirube.errors import ShirubeError

PROBLEM = "application/problem+json"


def problem(error: ShirubeError, headers: Mapping[str, str] | None = None) -> Response:
    if error.status == HTTPStatus.NO_CONTENT:
        return Response(status_code=error.status, headers=headers)
    body = {
        "type": "about:blank",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "detail": error.message,
        "code": error.code,
        "message_ja": error.ja,
        **({"hint": error.hint} if error.hint else {}),
    }
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(content, error.status, {**retry_after(error), **(headers or {})}, PROBLEM)


def retry_after(error: ShirubeError) -> dict[str, str]:
    seconds = error.details.get("retry_after")
    return {"Retry-After": str(seconds)} if seconds is not None else {}


class Refused(ShirubeError):
    """A request that is turned away before anybody looks at what it asks."""

    def __init__(
        self, status: int, code: str, message: str, ja: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, ja)
        self.status, self.code, self.headers = status, code, headers or {}
