"""The one family of errors that callers see: code, HTTP status, message in Japanese and English, what to do next.

Toolsets render them in the shape their specification gives; nothing else about a failure reaches a caller.
"""

import math
from collections.abc import Mapping
from typing import Any


class ShirubeError(Exception):
    """An error a caller can act on. Subclasses fix code and status."""

    code = "INTERNAL_ERROR"
    status = 500

    def __init__(
        self, message: str, ja: str, *, hint: str | None = None, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.ja = ja
        self.hint = hint
        self.details = dict(details or {})


class InvalidInput(ShirubeError):
    code, status = "INVALID_INPUT", 422


class NotFound(ShirubeError):
    code, status = "NOT_FOUND", 404


class Unauthenticated(ShirubeError):
    """Whoever asks is not known; the reason is for their hint, the message is the same for all."""

    code, status = "UNAUTHENTICATED", 401

    def __init__(self, hint: str) -> None:
        super().__init__("Invalid authentication credentials", "認証情報が正しくありません。", hint=hint)


class AccessDenied(ShirubeError):
    code, status = "ACCESS_DENIED", 403


class Unavailable(ShirubeError):
    code, status = "UNAVAILABLE", 503


class TooManyRequests(ShirubeError):
    """A caller asks more often than they may; `seconds` from now they may again."""

    code, status = "RATE_LIMITED", 429

    def __init__(self, seconds: float) -> None:
        wait = max(1, math.ceil(seconds))
        super().__init__(
            f"Too many requests; try again in {wait} s",
            f"リクエストが多すぎます。{wait} 秒後にやり直してください。",
            details={"retry_after": wait},
        )


class Overloaded(ShirubeError):
    """More is being worked on than there is room for."""

    code, status = "OVERLOADED", 503

    def __init__(self) -> None:
        super().__init__(
            "The server is busy; try again in 1 s",
            "混み合っています。1 秒後にやり直してください。",
            details={"retry_after": 1},
        )


class Internal(ShirubeError):
    """What is left when something unforeseen failed; the cause goes to the log, never to the caller."""

    def __init__(self) -> None:
        super().__init__(
            "Internal error",
            "内部エラーが発生しました。",
            hint="ログを確認してください。 See the server's log.",
        )
