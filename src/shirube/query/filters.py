"""Filters on document fields: entries `{lop, field, op, value}` to conditions, and what conditions mean.

All `and` entries hold, none of the `not` entries, and at least one of the `or` entries if there are any.

    keyword   in  =  !=  prefix               a value ending in * means everything that starts with it
    number    in  =  !=  >=  <=  range
    date      in  =  !=  >=  <=  range  prefix     2023 and 2023-04 mean the whole year and month

`eq` and `neq` are = and !=. `in` takes a list or one value, `range` a list of two where null leaves an end
open, the others one value. Ends are included.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from shirube.query.errors import FilterError
from shirube.query.values import (
    Between,
    Exact,
    Period,
    Prefix,
    Test,
    ValueProblem,
    holds,
    keyword,
    normal,
    number,
    period,
)

Kind: TypeAlias = Literal["keyword", "number", "date"]

KEYS = ("lop", "field", "op", "value")
LOPS = ("and", "or", "not")
ALIASES = {"eq": "=", "neq": "!="}
OPS: Mapping[Kind, tuple[str, ...]] = {
    "keyword": ("in", "=", "!=", "prefix"),
    "number": ("in", "=", "!=", ">=", "<=", "range"),
    "date": ("in", "=", "!=", ">=", "<=", "range", "prefix"),
}
EVERY_OP = OPS["date"]
MOST_ENTRIES, MOST_VALUES = 200, 1_000
_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Field:
    """What a caller may filter on. `normal` brings a keyword to the form the records hold.

    `below` are the beginnings that a whole keyword stands for where it is the name of all below it.
    """

    kind: Kind
    normal: Callable[[str], str] = normal
    below: Callable[[str], Sequence[str]] = lambda _: ()


Schema: TypeAlias = Mapping[str, Field]


@dataclass(frozen=True)
class Condition:
    """Holds when a value of the field passes one of the tests; with `!=`, when no value does."""

    field: str
    op: str
    tests: tuple[Test, ...]


@dataclass(frozen=True)
class Filters:
    all_of: tuple[Condition, ...] = ()
    any_of: tuple[Condition, ...] = ()
    none_of: tuple[Condition, ...] = ()


def parse_filters(entries: object, schema: Schema) -> Filters:
    """Raises FilterError, and nothing else, for the first entry that is wrong."""
    if not isinstance(entries, list | tuple):
        raise FilterError(
            None,
            None,
            None,
            "filters は {lop, field, op, value} のリストで指定してください。",
            "filters must be a list of {lop, field, op, value}.",
        )
    if len(entries) > MOST_ENTRIES:
        raise FilterError(
            None,
            None,
            None,
            f"filters は {MOST_ENTRIES} 件までです。",
            f"filters takes {MOST_ENTRIES} entries at most.",
        )
    by_lop: dict[str, list[Condition]] = {lop: [] for lop in LOPS}
    for index, entry in enumerate(entries):
        lop, condition = _parsed(index, entry, schema)
        by_lop[lop].append(condition)
    return Filters(tuple(by_lop["and"]), tuple(by_lop["or"]), tuple(by_lop["not"]))


def matches(filters: Filters, record: Mapping[str, object]) -> bool:
    """The plain meaning of the filters over one record, whose keywords are in normal form.

    A field may hold one value or a list; absent, null and an empty list are alike.
    """
    return (
        all(_met(condition, record) for condition in filters.all_of)
        and not any(_met(condition, record) for condition in filters.none_of)
        and (not filters.any_of or any(_met(condition, record) for condition in filters.any_of))
    )


def _met(condition: Condition, record: Mapping[str, object]) -> bool:
    stored = record.get(condition.field)
    values = stored if isinstance(stored, list | tuple | set | frozenset) else [stored]
    found = any(holds(test, value) for value in values for test in condition.tests)
    return found != (condition.op == "!=")


def _parsed(index: int, entry: object, schema: Schema) -> tuple[str, Condition]:
    if _is_unreadable(entry):
        raise FilterError(
            index,
            None,
            None,
            f"filters[{index}]: 文字として読めない値があります。",
            f"filters[{index}]: holds half of a character (a lone surrogate).",
        )
    if not isinstance(entry, Mapping):
        raise FilterError(
            index,
            None,
            None,
            f"filters[{index}]: {{lop, field, op, value}} の形で指定してください。",
            f"filters[{index}]: an object with lop, field, op and value is needed.",
        )
    named = entry.get("field")
    where = _Entry(index, named if isinstance(named, str) else None)
    for key in KEYS:
        if key not in entry:
            raise where.error(key, f"{key} がありません。", f"{key} is missing.")
    for key in entry:
        if key not in KEYS:
            raise where.error(str(key), f"{key} は使えません。", f"{key} is not a key of a filter.")
    lop = where.choice("lop", entry["lop"], LOPS)
    name = where.choice("field", entry["field"], schema)
    op = where.choice("op", entry["op"], (*EVERY_OP, *ALIASES))
    op = ALIASES.get(op, op)
    field = schema[name]
    if op not in OPS[field.kind]:
        ops = ", ".join(OPS[field.kind])
        raise where.error(
            "op", f"{name} に {op} は使えません（{ops}）。", f"{name} does not take {op} ({ops})."
        )
    try:
        return lop, Condition(name, op, _tests(op, field, entry["value"]))
    except ValueProblem as problem:
        raise where.error("value", problem.ja, problem.en) from None


@dataclass(frozen=True)
class _Entry:
    index: int
    field: str | None

    def error(self, key: str, ja: str, en: str) -> FilterError:
        about = f"filters[{self.index}]" + (f" ({self.field})" if self.field else "")
        return FilterError(self.index, self.field, key, f"{about}: {ja}", f"{about}: {en}")

    def choice(self, key: str, value: object, allowed: Iterable[str]) -> str:
        """One of the allowed names, in any case and width."""
        names = {normal(name).casefold(): name for name in allowed}
        found = names.get(normal(value).casefold()) if isinstance(value, str) else None
        if found is None:
            listed = ", ".join(names.values())
            raise self.error(
                key, f"{key} は次のどれかにしてください: {listed}", f"{key} must be one of {listed}."
            )
        return found


def _tests(op: str, field: Field, value: object) -> tuple[Test, ...]:
    if op == "in":
        values = value if isinstance(value, list | tuple) else [value]
        if not values:
            raise ValueProblem("value に値を1つ以上入れてください。", "value needs at least one entry.")
        if len(values) > MOST_VALUES:
            raise ValueProblem(
                f"value の値は {MOST_VALUES} 個までです。", f"value takes {MOST_VALUES} entries at most."
            )
        return tuple(dict.fromkeys(test for each in values for test in _meant(op, field, each)))
    if op != "range":
        return _meant(op, field, value)
    if not isinstance(value, list | tuple) or len(value) != 2 or (value[0] is None and value[1] is None):
        raise ValueProblem(
            "range の value は [下限, 上限] で指定してください（片方は null にできます）。",
            "the value of range must be [low, high], of which one may be null.",
        )
    low, high = value
    test = _interval(field, low, high)
    if _empty(test):
        raise ValueProblem("下限が上限より大きくなっています。", "the low end is above the high end.")
    return (test,)


def _meant(op: str, field: Field, value: object) -> tuple[Test, ...]:
    test = _test(op, field, value)
    below = field.below(test.text) if isinstance(test, Exact) else ()
    return tuple(map(Prefix, below)) or (test,)


def _test(op: str, field: Field, value: object) -> Test:
    if isinstance(value, list | tuple):
        raise ValueProblem(
            "value は1つの値にしてください。複数の値には in を使います。",
            "value must be a single value; use in for several.",
        )
    if field.kind == "keyword":
        return keyword(value, field.normal, as_prefix=op == "prefix")
    if value is None:
        raise ValueProblem("value が空です。", "value is empty.")
    return _interval(field, None if op == "<=" else value, None if op == ">=" else value)


def _interval(field: Field, low: object, high: object) -> Between | Period:
    if field.kind == "number":
        return Between(None if low is None else number(low), None if high is None else number(high))
    return Period(None if low is None else period(low)[0], None if high is None else period(high)[1])


def _empty(test: Between | Period) -> bool:
    if isinstance(test, Between):
        return test.low is not None and test.high is not None and test.low > test.high
    return test.first is not None and test.last is not None and test.first > test.last


def _is_unreadable(entry: object) -> bool:
    """Whether a text in it is none that could be written down or looked for."""
    waiting = [entry]
    while waiting:
        match waiting.pop():
            case str() as text if _HALVES.search(text):
                return True
            case Mapping() as named:
                waiting += [*named.keys(), *named.values()]
            case list() | tuple() as several:
                waiting += several
    return False
