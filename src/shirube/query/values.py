"""The values of filters: reading them, and testing a stored value against them."""

import math
import re
import unicodedata
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeAlias

from shirube.text.eras import parse_date

# Longer than any name or symbol; of patterns much longer than this the index knows none.
LONGEST = 200
# Fifteen digits are exact in a float.
NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")
DATE = re.compile(
    r"(?P<year>[0-9]{4})(?:[-/.](?P<month>[0-9]{1,2})(?:[-/.](?P<day>[0-9]{1,2}))?)?|"
    r"(?P<year_>[0-9]{4})(?P<month_>[0-9]{2})(?P<day_>[0-9]{2})?"
)


@dataclass(frozen=True)
class Exact:
    text: str


@dataclass(frozen=True)
class Prefix:
    text: str


@dataclass(frozen=True)
class Between:
    """Numbers from `low` to `high`, both included; None leaves an end open."""

    low: int | float | None
    high: int | float | None


@dataclass(frozen=True)
class Period:
    """Days from `first` to `last`, both included; None leaves an end open."""

    first: date | None
    last: date | None


Test: TypeAlias = Exact | Prefix | Between | Period


class ValueProblem(Exception):
    """Becomes a FilterError where the entry is known."""

    def __init__(self, ja: str, en: str) -> None:
        super().__init__(en)
        self.ja = ja
        self.en = en


def normal(text: str) -> str:
    """Width folded and trimmed; case is kept, since codes and names differ in what it means."""
    return unicodedata.normalize("NFKC", text).strip()


def keyword(value: object, form: Callable[[str], str], as_prefix: bool) -> Exact | Prefix:
    """A trailing * asks for everything that starts with the value; `form` sees it without."""
    if not isinstance(value, str):
        raise ValueProblem("value は文字列で指定してください。", "value must be a string.")
    trimmed = normal(value[: LONGEST + 1])
    text = form(trimmed.rstrip("*"))
    if not text:
        raise ValueProblem("value が空です。", "value is empty.")
    if max(len(value), len(text)) > LONGEST:
        raise ValueProblem(f"value は {LONGEST} 文字までです。", f"value takes {LONGEST} characters at most.")
    return Prefix(text) if as_prefix or trimmed.endswith("*") else Exact(text)


def number(value: object) -> int | float:
    """A finite number, or a text that spells one in either width."""
    if isinstance(value, str) and NUMBER.fullmatch(text := normal(value)):
        return float(text) if "." in text else int(text)
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueProblem("value は数値で指定してください。", "value must be a number.")


def period(value: object) -> tuple[date, date]:
    """The first and the last day of a year, a month or a day, in figures or as dates are written in Japanese."""
    if isinstance(value, datetime):
        return value.date(), value.date()
    if isinstance(value, date):
        return value, value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**8:
        value = str(value)
    found = DATE.fullmatch(normal(value).rstrip("*")) if isinstance(value, str) else None
    try:
        if found is not None:
            return _days(*(found[name] or found[name + "_"] for name in ("year", "month", "day")))
    except ValueError:
        pass  # a month or a day that the calendar does not have
    else:
        if isinstance(value, str) and len(value) <= LONGEST and (written := parse_date(value)):
            return written.first, written.last
    raise ValueProblem(
        "value は 2023-04-01、2023-04、2023、令和5年4月1日 のような日付で指定してください。",
        "value must be a date such as 2023-04-01, 2023-04, 2023 or 令和5年4月1日.",
    )


def holds(test: Test, stored: object) -> bool:
    """Whether one stored value passes; a value of another kind never does."""
    match test:
        case Exact(text):
            return stored == text
        case Prefix(text):
            return isinstance(stored, str) and stored.startswith(text)
        case Between(low, high):
            return (
                isinstance(stored, int | float)
                and not isinstance(stored, bool)
                and (low is None or low <= stored)
                and (high is None or stored <= high)
            )
        case Period(first, last):
            day = _stored_day(stored)
            return day is not None and (first is None or first <= day) and (last is None or day <= last)


def _days(year: str, month: str | None, day: str | None) -> tuple[date, date]:
    first = date(int(year), int(month or 1), int(day or 1))
    if day:
        return first, first
    if month:
        return first, first.replace(day=monthrange(first.year, first.month)[1])
    return first, date(first.year, 12, 31)


def _stored_day(stored: object) -> date | None:
    if isinstance(stored, datetime):
        return stored.date()
    if isinstance(stored, date):
        return stored
    try:
        return date.fromisoformat(stored) if isinstance(stored, str) else None
    except ValueError:
        return None
