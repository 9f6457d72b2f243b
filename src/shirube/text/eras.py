"""Dates in Japanese prose, in any notation, and the eras they are counted in.

A year or month of an era ends where the era does: 平成31年 is 2019-01-01..04-30, 令和元年 2019-05-01..12-31. Days an
era does not hold (平成35年, 昭和64年2月, 令和元年4月1日) are read as the plain year and marked `outside_era`. Years
before 明治6年 are refused: the calendar was another one, and its months and years are not those of 1868 to 1872.
Two parts without 年 (2026/4, R8.4) or a year alone (R8, 2026) are dates only as a whole text: in prose they may be
anything. A day that does not exist is no date, and neither is a year given twice that disagrees (令和8年(2025年)).
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from shirube.text.normalize import Folded
from shirube.text.numerals import fold_figures, number


@dataclass(frozen=True)
class Era:
    name: str
    letter: str
    first: date
    last: date
    first_year: int


# 改元の詔書 of 1912 and 1926, 元号を改める政令 (昭和64年政令第1号, 平成31年政令第143号). A day of change belongs to the
# new era. The Gregorian calendar begins with 明治6年1月1日.
ERAS = (
    Era("明治", "m", date(1873, 1, 1), date(1912, 7, 29), 1868),
    Era("大正", "t", date(1912, 7, 30), date(1926, 12, 24), 1912),
    Era("昭和", "s", date(1926, 12, 25), date(1989, 1, 7), 1926),
    Era("平成", "h", date(1989, 1, 8), date(2019, 4, 30), 1989),
    Era("令和", "r", date(2019, 5, 1), date.max, 2019),
)
_ERA = {key: era for era in ERAS for key in (era.name, era.letter)}
# Four digits before 年 outside these are a count of years, not a year.
_YEARS = range(1600, 2200)
# The fiscal year begins on 1 April since 1886 (明治19年度).
_FISCAL_YEARS = range(1886, 2200)
_APRIL = 4

_NAMES = "|".join(era.name for era in ERAS)
_LETTERS = "(?<![a-z0-9])[mtshr]"
_KANJI = "〇零一二三四五六七八九十百千"
_SMALL = f"(?:[0-9]{{1,2}}|[{_KANJI}]{{1,4}})"


def _year(suffix: str) -> str:
    return (
        rf"(?:(?P<era{suffix}>{_NAMES}|{_LETTERS})\ ?(?P<count{suffix}>元|{_SMALL}(?![0-9{_KANJI}]))|"
        rf"(?<![0-9{_KANJI}万])(?P<year{suffix}>[0-9]{{4}}|[{_KANJI}]{{2,8}})(?![0-9{_KANJI}]))"
    )


_WRITTEN = re.compile(
    rf"{_year('')}\ ?(?:\(\ ?{_year('_a')}\ ?\)\ ?)?年"
    rf"(?:(?P<fiscal>度)|(?![代間])(?:\ ?\(\ ?{_year('_b')}\ ?年?\ ?\))?"
    rf"(?:\ {{0,2}}(?P<month>{_SMALL})\ ?月(?:\ {{0,2}}(?P<day>{_SMALL})\ ?日)?)?)"
)
_NUMERIC = re.compile(
    rf"(?<![0-9a-z./-]){_year('')}(?P<sign>[./-])\ ?(?P<month>[0-9]{{1,2}})(?P=sign)\ ?(?P<day>[0-9]{{1,2}})"
    r"(?![0-9]|(?P=sign)\ ?[0-9])"
)
_ALONE = re.compile(
    rf"{_year('')}(?:(?P<sign>[./-])\ ?(?P<month>[0-9]{{1,2}})(?:(?P=sign)\ ?(?P<day>[0-9]{{1,2}}))?)?"
)


@dataclass(frozen=True)
class Period:
    """The days from `first` to `last` that the characters `span` name."""

    first: date
    last: date
    span: tuple[int, int]
    fiscal: bool = False
    outside_era: bool = False


def find_dates(text: str) -> list[Period]:
    """The dates named in `text`, in order; days without a year (4月1日) are not among them."""
    folded = fold_figures(text)
    return sorted(_found(folded), key=lambda period: period.span)


def parse_date(text: str) -> Period | None:
    """The date that `text` is, or None."""
    folded = fold_figures(text)
    start, end = len(folded.text) - len(folded.text.lstrip()), len(folded.text.rstrip())
    for form in (_WRITTEN, _ALONE):
        if found := form.fullmatch(folded.text, start, end):
            return _period(found, folded)
    return None


def to_wareki(day: date) -> str:
    """令和8年4月1日, 令和元年5月1日. ValueError before 1873, when the months were not those of this calendar."""
    day = date(day.year, day.month, day.day)
    for era in ERAS:
        if era.first <= day <= era.last:
            count = day.year - era.first_year + 1
            return f"{era.name}{'元' if count == 1 else count}年{day.month}月{day.day}日"
    raise ValueError("no era for days before 1873-01-01")


def fiscal_year(day: date) -> int:
    """The 年度 of a day, from 1 April to 31 March."""
    return day.year if day.month >= _APRIL else day.year - 1


def _found(folded: Folded) -> Iterator[Period]:
    for form in (_WRITTEN, _NUMERIC):
        for found in form.finditer(folded.text):
            # S3-1-2 is an address or a part number.
            if form is _NUMERIC and found["sign"] == "-" and len(found["era"] or "") == 1:
                continue
            if period := _period(found, folded):
                yield period


def _period(found: re.Match[str], folded: Folded) -> Period | None:
    groups = found.groupdict()
    year, era = _reading(groups, "")
    given = [suffix for suffix in ("_a", "_b") if groups.get(f"count{suffix}") or groups.get(f"year{suffix}")]
    others = {_reading(groups, suffix)[0] for suffix in given}
    # 1869年(明治2年) is a year, but the month of 1872年(明治5年)5月 is of the old calendar.
    if year is None or others - {year, None} or (None in others and groups["month"]):
        return None
    fiscal = bool(groups.get("fiscal"))
    days = _fiscal_days(year) if fiscal else _days(year, groups["month"], groups["day"])
    if days is None:
        return None
    first, last = days
    outside = era is not None and (last < era.first or first > era.last)
    if era and not fiscal and not outside:
        first, last = max(first, era.first), min(last, era.last)
    return Period(first, last, folded.origin(*found.span()), fiscal, outside)


def _reading(groups: dict[str, str | None], suffix: str) -> tuple[int | None, Era | None]:
    """The Gregorian year, None where it can't be one, and the era it was counted in."""
    era = _ERA.get(groups[f"era{suffix}"] or "")
    if era is None:
        year = _whole(groups[f"year{suffix}"] or "")
        return (year if year in _YEARS else None), None
    written = groups[f"count{suffix}"] or ""
    count = 1 if written == "元" else _whole(written)
    year = era.first_year + count - 1
    return (year if count and year >= era.first.year else None), era


def _fiscal_days(year: int) -> tuple[date, date] | None:
    if year not in _FISCAL_YEARS:
        return None
    return date(year, _APRIL, 1), date(year + 1, _APRIL, 1) - timedelta(1)


def _days(year: int, month: str | None, day: str | None) -> tuple[date, date] | None:
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    in_year = _whole(month)
    if in_year not in range(1, 13):
        return None
    length = monthrange(year, in_year)[1]
    if day is None:
        return date(year, in_year, 1), date(year, in_year, length)
    in_month = _whole(day)
    if in_month not in range(1, length + 1):
        return None
    return date(year, in_year, in_month), date(year, in_year, in_month)


def _whole(text: str) -> int:
    """The number, 0 where it is none: no year, month or day is 0."""
    value = number(text)
    return int(value) if value is not None else 0
