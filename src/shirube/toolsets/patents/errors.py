"""The errors of the patent tools, with the codes of their specification."""

from collections.abc import Iterable, Mapping
from typing import Any

from shirube.errors import ShirubeError
from shirube.query.errors import FilterError, QuerySyntaxError


class PatentError(ShirubeError):
    status = 422


class InvalidQuery(PatentError):
    code = "INVALID_QUERY"


class InvalidFilter(PatentError):
    code = "FILTER_ERROR"


class InvalidParameter(PatentError):
    code = "INVALID_PARAMETER"


class RunNotFound(PatentError):
    code, status = "RUN_NOT_FOUND", 404

    def __init__(self) -> None:
        super().__init__(
            "No such run: it is unknown, expired or somebody else's",
            "そのような run はありません（未知、期限切れ、または他の人のものです）。",
            hint="検索からやり直してください。 Search again.",
        )


def invalid(name: str, expected: str, ja: str) -> InvalidParameter:
    return InvalidParameter(
        f"{name} must be {expected}", f"{name} は {ja} にしてください。", details={"parameter": name}
    )


def unknown_key(name: str, key: str, allowed: Iterable[str]) -> InvalidParameter:
    listed = ", ".join(dict.fromkeys(allowed))
    return InvalidParameter(
        f"{name} has no {key}; it takes {listed or 'nothing here'}",
        f"{name} に {key} はありません（使えるもの: {listed or 'なし'}）。",
        details={"parameter": f"{name}.{key}"},
    )


def wrong_query(error: QuerySyntaxError) -> InvalidQuery:
    details = {"position": error.position, "expected": error.expected}
    return InvalidQuery(error.message_en, error.message_ja, details=details)


def wrong_filter(error: FilterError) -> InvalidFilter:
    details = {"index": error.index, "field": error.field, "key": error.key}
    return InvalidFilter(error.message_en, error.message_ja, details=details)


# Errors that every toolset knows, in this one's terms.
_CODES = {
    "INVALID_INPUT": "INVALID_PARAMETER",
    "UNAVAILABLE": "BACKEND_ERROR",
    "INTERNAL_ERROR": "BACKEND_ERROR",
}


def render_error(error: ShirubeError) -> dict[str, Any]:
    details: Mapping[str, Any] = {
        **error.details,
        "message_ja": error.ja,
        **({"hint": error.hint} if error.hint else {}),
    }
    return {
        "error": {
            "code": _CODES.get(error.code, error.code),
            "message": error.message,
            "details": dict(details),
        }
    }
