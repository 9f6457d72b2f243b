"""Programmes for other programs: a table that Excel opens, and deadlines for a calendar."""

import csv
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from io import StringIO
from typing import Any

_COLUMNS = {
    "unified_id": "ID",
    "primary_name": "制度名",
    "tier": "Tier",
    "program_kind": "制度区分",
    "authority_name": "提供主体",
    "prefecture": "都道府県",
    "municipality": "市区町村",
    "amount_min_man_yen": "下限額（万円）",
    "amount_max_man_yen": "上限額（万円）",
    "subsidy_rate": "補助率",
    "funding_purpose": "資金用途",
    "target_types": "対象者",
    "start_date": "受付開始日",
    "end_date": "締切日",
    "cycle": "募集周期",
    "official_url": "公式URL",
}
# What a spreadsheet would run or take for a number if it stood first.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r")
# RFC 5545: lines are of at most 75 octets.
_OCTETS = 75


def separated(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """CSV with the mark that tells Excel it is UTF-8; the headings are those that an import reads."""
    text = StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_COLUMNS.values())
    for row in rows:
        known = {**row, **(row["application_window"] or {})}
        writer.writerow([_cell(known.get(name)) for name in _COLUMNS])
    return b"\xef\xbb\xbf" + text.getvalue().encode()


def _cell(value: Any) -> str:
    if isinstance(value, list):
        value = "、".join(value)
    if value is None or isinstance(value, int | float):
        return "" if value is None else str(value)
    return f"'{value}" if value.startswith(_FORMULA) else str(value)


def calendar(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """The deadlines of those that have one as an iCalendar feed (RFC 5545), a whole day each."""
    made = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Shirube//programs//JA", "CALSCALE:GREGORIAN"]
    lines.append(f"X-WR-CALNAME:{_escaped('制度の締切')}")
    for row in rows:
        end = (row["application_window"] or {}).get("end_date")
        if end is None:
            continue
        day = date.fromisoformat(end)
        lines += [
            "BEGIN:VEVENT",
            f"UID:{_escaped(row['unified_id'])}@shirube",
            f"DTSTAMP:{made}",
            f"DTSTART;VALUE=DATE:{day.isoformat().replace('-', '')}",
            f"SUMMARY:{_escaped('締切: ' + row['primary_name'])}",
        ]
        if row["official_url"]:
            lines.append(f"URL:{row['official_url']}")
        lines.append("END:VEVENT")
    lines.append("END:VCALENDAR")
    return "".join(_folded(line) + "\r\n" for line in lines).encode()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")


def _folded(line: str) -> str:
    """Continued on lines that begin with a space, never within a character."""
    parts, size = [""], 0
    for character in line:
        octets = len(character.encode())
        if size + octets > _OCTETS:
            parts.append("")
            size = 1
        parts[-1] += character
        size += octets
    return "\r\n ".join(parts)
