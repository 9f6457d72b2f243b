"""Files of programmes and rules: JSON, JSONL or CSV with the record's names or Japanese headings, or as jGrants has it.

A row is told by its keys. What each kind of source says of a programme is a layer of its record.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from io import StringIO
from pathlib import Path
from typing import Any, Literal

from shirube.errors import InvalidInput, NotFound
from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.encoding import decode
from shirube.ingest.readers.html import read as read_html
from shirube.ingest.refused import Refused
from shirube.text.invisible import visible
from shirube.text.normalize import fold
from shirube.toolsets.programs.record import DETAILS, PROGRAM, areas, in_japan, read_record
from shirube.toolsets.programs.rules import read_rule

Layer = Literal["table", "record", "details", "jgrants"]
# Of two layers that both say something the first is believed: a table is what somebody here wrote or corrected.
LAYERS: tuple[Layer, ...] = ("table", "record", "details", "jgrants")
LARGEST = 512 * 1024 * 1024

_HEADINGS = {
    "ID": "unified_id",
    "制度ID": "unified_id",
    "制度名": "primary_name",
    "別名": "aliases",
    "Tier": "tier",
    "ティア": "tier",
    "制度区分": "program_kind",
    "提供主体": "authority_name",
    "実施機関": "authority_name",
    "都道府県": "prefecture",
    "市区町村": "municipality",
    "支援金額": "amount",
    "上限額（万円）": "amount_max_man_yen",
    "下限額（万円）": "amount_min_man_yen",
    "補助率": "subsidy_rate",
    "対象者": "target_types",
    "資金用途": "funding_purpose",
    "受付開始日": "start_date",
    "締切日": "end_date",
    "募集周期": "cycle",
    "公式URL": "official_url",
    "出典URL": "source_url",
    "取得日": "source_fetched_at",
    "source_fetched": "source_fetched_at",
}
# What the record has no field for, and what its figures are read from.
_IN_PROSE = {"A_basics": ("業種", "jsic"), "B_money": ("支援金額", "補助率")}
_PLAIN = re.compile(r"[0-9.]+")
_JGRANTS = frozenset(
    {"acceptance_start_datetime", "acceptance_end_datetime", "target_area_search", "subsidy_max_limit"}
)
_PORTAL = "https://www.jgrants-portal.go.jp/subsidy/"
_LISTS = ("programs", "results", "result", "rules")
_SURPLUS = "\0"
_RECORD = (*PROGRAM, *DETAILS, "start_date", "end_date", "cycle", "amount")
_RULE = ("rule_id", "kind", "severity", "program_a", "program_b", "program_a_group", "program_b_group")
_KNOWN = frozenset(
    {*_HEADINGS, *_RECORD, *_RULE, *_JGRANTS, "description", "source_notes", "source_urls", "extra"}
    | {name for names in _IN_PROSE.values() for name in names}
    | {"id", "title", "name", "detail", "use_purpose", "institution_name", "cached_at"}
)
_SPELLINGS = {fold(name): name for name in (*sorted(_KNOWN), *_HEADINGS)}
# What the portal writes where there is no limit.
_UNLIMITED_YEN = 10**12


@dataclass(frozen=True)
class Programme:
    layer: Layer
    fields: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.fields["unified_id"])


@dataclass(frozen=True)
class Rule:
    rule: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.rule["rule_id"])


@dataclass(frozen=True)
class Unusable:
    """A row that was refused, and why."""

    id: str | None
    reason: str
    ja: str


@dataclass(frozen=True)
class Unread:
    """Columns of a table that mean nothing here."""

    headings: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """What the row at `place` (counted from 1; 0 is the headings) of a file is."""

    place: int
    content: Programme | Rule | Unusable | Unread


def read_file(path: Path) -> Iterator[Row]:
    """The rows of a file; InvalidInput where it is no file of rows at all."""
    is_table = path.suffix.lower() in (".csv", ".tsv")
    text = _text(path)
    if is_table:
        headings, rows = _separated(path, text)
        if unread := tuple(each for each in headings if each and each not in _KNOWN):
            yield Row(0, Unread(unread))
    else:
        rows = _raw_rows(path, text)
    place = 0
    for place, raw in enumerate(rows, start=1):
        try:
            yield Row(place, _content(raw, is_table=is_table))
        except Refused as refused:
            said = (
                raw.get("unified_id") or raw.get("rule_id") or raw.get("id")
                if isinstance(raw, dict)
                else None
            )
            yield Row(place, Unusable(visible(str(said))[:200] if said else None, refused.reason, refused.ja))
    if not place:
        raise InvalidInput(
            f"{path.name} holds no rows",
            f"{path.name} に行がありません。",
            hint="取得に失敗していないか確認してください。 See whether it was fetched whole.",
        )


def _content(raw: Any, *, is_table: bool) -> Programme | Rule:
    if not isinstance(raw, dict):
        raise Refused("a row must be an object", "行はオブジェクトで指定してください。")
    if _SURPLUS in raw:
        raise Refused("more values than headings", "見出しより多くの値があります。")
    if "rule_id" in raw:
        return Rule(read_rule(raw))
    if not _JGRANTS.isdisjoint(raw) and ("title" in raw or "name" in raw):
        return Programme("jgrants", read_record(_from_jgrants(raw)))
    if not raw.keys().isdisjoint(_HEADINGS):
        return Programme("table" if is_table else "details", read_record(_from_headings(raw)))
    if "unified_id" in raw:
        return Programme("table" if is_table else "record", read_record(raw))
    raise Refused(
        "neither a programme (unified_id) nor a rule (rule_id)",
        "制度（unified_id）でも排他ルール（rule_id）でもありません。",
    )


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise InvalidInput(f"{path.name} is too large", f"{path.name} が大きすぎます。")
        return decode(path.read_bytes())
    except Unreadable as error:
        raise _unreadable(path, str(error)) from None
    except OSError as error:
        raise NotFound(
            f"{path.name} cannot be read: {error.strerror}",
            f"{path.name} を読めません（{error.strerror}）。",
            hint="ファイルの場所と権限を確認してください。 Check its place and permissions.",
        ) from None


def _raw_rows(path: Path, text: str) -> Iterator[Any]:
    try:
        whole = _parsed(text)
    except (ValueError, RecursionError):
        yield from _lines(path, text)
        return
    yield from _rows_of(whole)


def _parsed(text: str) -> Any:
    """JSON, and null for what is no number (NaN)."""
    return json.loads(text, parse_constant=lambda _: None)


def _rows_of(whole: Any) -> list[Any]:
    """The lists in a document: itself, or under the names they have in files of rules and in answers of the portal."""
    if isinstance(whole, list):
        return whole
    named = [whole.get(name) for name in _LISTS] if isinstance(whole, dict) else []
    if not any(isinstance(each, list | dict) for each in named):
        return [whole]
    rows = [row for each in named if isinstance(each, list) for row in each]
    if isinstance(rules := whole.get("rules"), dict):
        rows += [{"rule_id": key, **rule} if isinstance(rule, dict) else rule for key, rule in rules.items()]
    return rows


def _lines(path: Path, text: str) -> Iterator[Any]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield _parsed(line)
            except (ValueError, RecursionError) as error:
                raise _unreadable(path, f"line {number}: {error}") from None


def _separated(path: Path, text: str) -> tuple[list[str], Iterator[dict[str, str]]]:
    """The headings of a table as they are known here, and its rows without empty values."""
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        found = list(csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error as error:
        raise _unreadable(path, str(error)) from None
    headings = [_heading(each) for each in found[0]] if found else []
    return headings, (_row(headings, values) for values in found[1:] if any(map(str.strip, values)))


def _row(headings: list[str], values: list[str]) -> dict[str, str]:
    row = {name: value for name, value in zip(headings, values, strict=False) if name and value.strip()}
    return row if len(values) <= len(headings) else {**row, _SURPLUS: ""}


def _heading(written: str) -> str:
    """A heading in the spelling that is known, whichever width it has."""
    name = written.strip()
    return name if name in _KNOWN else _SPELLINGS.get(fold(name), name)


def _unreadable(path: Path, reason: str) -> InvalidInput:
    return InvalidInput(
        f"{path.name} is not JSON, JSONL or CSV: {reason}",
        f"{path.name} は JSON・JSONL・CSV として読めません（{reason}）。",
        hint="unified_id か rule_id を持つ行の一覧にしてください。 Give a list of rows with unified_id or rule_id.",
    )


def _from_headings(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A row with Japanese headings in the record's names; what was read from prose is kept in its words besides."""
    row = {_HEADINGS.get(key, key): value for key, value in raw.items() if value not in (None, "")}
    prose = {
        part: {name: raw[name] for name in names if raw.get(name) and not _PLAIN.fullmatch(str(raw[name]))}
        for part, names in _IN_PROSE.items()
    }
    return {**row, "enriched": {part: said for part, said in prose.items() if said} or None}


def _from_jgrants(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A subsidy of the jGrants API in the record's names: yen in 万円, moments in days of Japan."""
    said = {key: value for key, value in raw.items() if value not in (None, "")}
    given = {**_details(raw.get("detail_json")), **said}
    name, key = given.get("title") or given.get("name"), given.get("id")
    if not isinstance(key, str) or not key.strip():
        raise Refused("id is missing", "id がありません。")
    area = given.get("target_area_search")
    url = given.get("front_subsidy_detail_page_url") or _PORTAL + key.strip()
    opens, closes = _moment(given, "acceptance_start_datetime"), _moment(given, "acceptance_end_datetime")
    parts = {
        "A_basics": {"detail": _plain(given.get("detail")), **_some(given, "title", "subsidy_catch_phrase")},
        "B_target": _some(
            given, "industry", "target_industry", "target_number_of_employees", "target_area_detail"
        ),
        "B_money": _some(given, "subsidy_max_limit", "subsidy_rate"),
        "C_schedule": _some(
            given, "acceptance_start_datetime", "acceptance_end_datetime", "project_end_deadline"
        ),
    }
    purposes = given.get("use_purpose")
    return {
        "unified_id": f"jgrants-{key.strip()}",
        "primary_name": name,
        "program_kind": "subsidy",
        "authority_name": given.get("institution_name"),
        "prefectures": areas(area) if isinstance(area, str) else None,
        "amount_max_man_yen": _man_yen(given.get("subsidy_max_limit")),
        "subsidy_rate": given.get("subsidy_rate"),
        "funding_purpose": purposes.split(" / ") if isinstance(purposes, str) else None,
        "start_date": opens and opens.date().isoformat(),
        "end_date": closes and _last_day(closes),
        "official_url": url,
        "source_url": url,
        "source_fetched_at": given.get("cached_at"),
        "enriched": {
            part: {name: value for name, value in said.items() if value} or None
            for part, said in parts.items()
        },
    }


def _some(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: given.get(name) for name in names}


def _details(written: Any) -> dict[str, Any]:
    if not isinstance(written, str):
        return {}
    try:
        found = _parsed(written)
    except (ValueError, RecursionError):
        raise Refused("detail_json is not valid JSON", "detail_json が正しい JSON ではありません。") from None
    return found if isinstance(found, dict) else {}


def _man_yen(yen: Any) -> float | None:
    if yen is None:
        return None
    if isinstance(yen, bool) or not isinstance(yen, int | float) or yen < 0:
        raise Refused("subsidy_max_limit must be yen", "subsidy_max_limit は円の数で指定してください。")
    return None if yen >= _UNLIMITED_YEN else yen / 10_000


def _moment(given: Mapping[str, Any], name: str) -> datetime | None:
    written = given.get(name)
    if written is None:
        return None
    try:
        return in_japan(datetime.fromisoformat(written))
    except (TypeError, ValueError):
        raise Refused(f"{name} must be a time", f"{name} は ISO 8601 の日時で指定してください。") from None


def _last_day(closes: datetime) -> str:
    """The last day one can apply on: what closes at midnight is closed on the day that begins then."""
    last = closes - timedelta(microseconds=1) if closes.time() == time(0) else closes
    return last.date().isoformat()


def _plain(html: Any) -> str | None:
    if not isinstance(html, str) or not html.strip():
        return None
    try:
        return read_html(f"<meta charset=utf-8><body>{html}".encode()).text.strip() or None
    except Unreadable:
        return html
