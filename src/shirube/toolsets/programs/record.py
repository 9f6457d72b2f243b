"""A programme's record, read from what sources write and put together from several of them.

What cannot be read stays unknown, and is left out here; what is plainly wrong is refused with the reason.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, Literal

from shirube.ingest.refused import Refused
from shirube.text.amounts import Amount, find_amounts, find_rates, parse_amount, parse_rate
from shirube.text.eras import parse_date
from shirube.text.invisible import visible
from shirube.text.normalize import fold
from shirube.text.places import (
    PREFECTURES,
    authority_level,
    find_prefectures,
    nearest_prefectures,
    prefecture,
)

JST = timezone(timedelta(hours=9))
TIERS = ("S", "A", "B", "C", "X")
# The fields of a programme in the order they are shown, then those that only its details have.
PROGRAM = (
    *("unified_id", "primary_name", "aliases", "tier", "authority_level", "authority_name"),
    *("prefecture", "prefectures", "municipality", "program_kind", "amount_min_man_yen"),
    *("amount_max_man_yen", "subsidy_rate", "funding_purpose", "target_types", "application_window"),
    *("official_url", "trust_level", "excluded", "exclusion_reason"),
)
DETAILS = ("enriched", "source_mentions", "source_url", "source_fetched_at", "source_checksum")
_LINEAGE = ("source_fetched_at", "source_checksum")
_LISTS = ("aliases", "funding_purpose", "target_types")

LONGEST_ID = 200
_LONGEST_NAME, _LONGEST_RECORD, _DEEPEST = 1000, 1_000_000, 50
# 万円; more is no money.
_MOST = 10**12
_TOTALS = ("", "総額", "合計", "定額", "一律", "金")
_SEPARATOR = re.compile(r"[、，,;；|\n]+")
_AREA_SEPARATOR = re.compile(r"\s*[/／、，,;；|\n]\s*")
_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")
_ADDRESS = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
# Hosts that only bodies of government may have: the first two by their registry's rules, the others by locality.
_OFFICIAL = re.compile(
    r"https?://(?:[^/@]*\.)?(?:[^/.@]+\.(?:go|lg)\.jp|(?:pref|city|town|vill)\.[a-z0-9.-]+\.jp)(?:[:/]|$)"
)
_MUNICIPALITY = re.compile(r"[^\s()（）]{1,20}?[市区町村](?=$|[\s(（])")
_NATIONWIDE = frozenset({"全国", "日本全国", "全国対象", "国"})
# The regions of the jGrants portal.
_REGIONS = {
    "北海道地方": range(1, 2),
    "東北地方": range(2, 8),
    "関東・甲信越地方": (*range(8, 16), 19, 20),
    "東海・北陸地方": (*range(16, 19), *range(21, 25)),
    "近畿地方": range(25, 31),
    "中国地方": range(31, 36),
    "四国地方": range(36, 40),
    "九州・沖縄地方": range(40, 48),
}


def read_record(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What a row with the record's names says; only what it does say. Refused without an id."""
    found: dict[str, Any] = {name: read(raw.get(name), name) for name, read in _READERS.items()}
    found["prefectures"] = _prefectures(raw.get("prefectures") or raw.get("prefecture"))
    found |= _amounts(raw)
    found["application_window"] = _window(raw)
    authority = found["authority_name"]
    if found["authority_level"] is None and authority:
        found["authority_level"] = authority_level(authority)
    if authority and found["authority_level"] in (None, "prefecture", "municipality"):
        named = {mention.prefecture.name for mention in find_prefectures(authority)}
        if found["prefectures"] is None and len(named) == 1:
            found["prefectures"] = sorted(named)
        if found["municipality"] is None and found["authority_level"] == "municipality":
            found["municipality"] = _municipality(authority)
    if not found["unified_id"]:
        raise Refused("unified_id is missing", "unified_id がありません。")
    kept = {name: value for name, value in found.items() if value is not None}
    check_size(kept)
    return kept


def check_size(row: Mapping[str, Any]) -> None:
    """Refuse what cannot be kept: rows that are too large, and half characters."""
    try:
        size = len(json.dumps(row, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:
        raise Refused("the row holds half characters", "壊れた文字が含まれています。") from None
    if size > _LONGEST_RECORD:
        raise Refused("the row is too large", "1 件が大きすぎます。")


def merged(layers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One record of what several sources say: the first that says something of a field is believed."""
    said: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            said.setdefault(name, value)
    record: dict[str, Any] = dict.fromkeys(PROGRAM)
    record |= {name: said.get(name, []) for name in _LISTS}
    record |= {name: said[name] for name in (*PROGRAM, *DETAILS) if said.get(name) is not None}
    names = [layer["primary_name"] for layer in layers if "primary_name" in layer]
    aliases = [*names[1:], *(alias for layer in layers for alias in layer.get("aliases", ()))]
    record["aliases"] = [alias for alias in dict.fromkeys(aliases) if alias != names[0]] if names else aliases
    areas = record["prefectures"] = said.get("prefectures") or []
    record["prefecture"] = " / ".join(areas) if areas else None
    low, high = record["amount_min_man_yen"], record["amount_max_man_yen"]
    if low is not None and high is not None and low > high:  # two sources of different years, say
        record["amount_min_man_yen"] = None
    record["excluded"] = bool(said.get("excluded"))
    enriched: dict[str, Any] = {}
    for layer in layers:
        for part, value in (layer.get("enriched") or {}).items():
            enriched.setdefault(part, value)
    record["enriched"] = enriched or None
    mentions = {mention["url"]: mention for layer in layers for mention in layer.get("source_mentions", ())}
    record["source_mentions"] = list(mentions.values())
    record["source_url"] = said.get("source_url") or said.get("official_url")
    if record["official_url"] is None and _OFFICIAL.match(record["source_url"] or ""):
        record["official_url"] = record["source_url"]
    if not record["primary_name"]:
        raise Refused("primary_name is missing", "primary_name がありません。")
    return {name: record.get(name) for name in (*PROGRAM, *DETAILS)}


def checksum(record: Mapping[str, Any]) -> str:
    """The first 16 hexadecimal digits of SHA-256 over the canonical JSON of all but when things were fetched."""
    content = {name: value for name, value in record.items() if name not in _LINEAGE}
    content["source_mentions"] = [{**each, "fetched_at": None} for each in record["source_mentions"]]
    canonical = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def japanese_day(moment: datetime) -> date:
    """The day in Japan; a time that names no zone is Japanese time."""
    return in_japan(moment).date()


def in_japan(moment: datetime) -> datetime:
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=JST)).astimezone(JST)
    except OverflowError:  # the last day of the calendar, which stands for none
        return moment.replace(tzinfo=JST)


def in_utc(written: str) -> datetime:
    """A time as it was noted; one that names no zone is taken for UTC."""
    moment = datetime.fromisoformat(written)
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        return moment.replace(tzinfo=UTC)


def read_text(value: Any, name: str, longest: int = _LONGEST_NAME) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise Refused(f"{name} must be text", f"{name} は文字列で指定してください。")
    text = " ".join(visible(value).split())
    if len(text) > longest:
        raise Refused(
            f"{name} is longer than {longest:,} characters", f"{name} が {longest:,} 文字を超えています。"
        )
    return text or None


def _identifier(value: Any, name: str) -> str | None:
    return read_text(value, name, LONGEST_ID)


def read_texts(value: Any, name: str) -> list[str] | None:
    if isinstance(value, str):
        value = _parsed(value, name) if value.lstrip().startswith("[") else _SEPARATOR.split(value)
    if value is None:
        return None
    if not isinstance(value, list):
        raise Refused(f"{name} must be a list of texts", f"{name} は文字列の配列で指定してください。")
    return list(dict.fromkeys(text for each in value if (text := read_text(each, name)))) or None


def _tier(value: Any, name: str) -> str | None:
    text = read_text(value, name)
    if text is None:
        return None
    tier = fold(text).upper()
    if tier not in TIERS:
        raise Refused(
            f"{name} must be one of {' '.join(TIERS)}", f"{name} は {' '.join(TIERS)} のどれかです。"
        )
    return tier


def _level(value: Any, name: str) -> str | None:
    text = read_text(value, name)
    if text and (level := authority_level(text)):
        return level
    if text:
        raise Refused(
            f"{name} must be national, prefecture, municipality or financial",
            f"{name} は national・prefecture・municipality・financial のどれかです。",
        )
    return None


def areas(written: str) -> list[str]:
    """The prefectures that a list such as 東京都 / 大阪府 names; [] for the whole country."""
    parts = [part for part in _AREA_SEPARATOR.split(written.strip()) if part]
    if any(fold(part) in _NATIONWIDE for part in parts):
        return []
    codes: set[int] = set()
    for part in parts:
        if part in _REGIONS:
            codes |= set(_REGIONS[part])
        elif known := prefecture(part):
            codes.add(known.code)
        else:
            near = "、".join(nearest_prefectures(part))
            raise Refused(
                f"no prefecture is called {part[:40]}" + (f" (nearest: {near})" if near else ""),
                f"{part[:40]} という都道府県はありません。" + (f"近い名前: {near}" if near else ""),
            )
    return [] if len(codes) == len(PREFECTURES) else [PREFECTURES[code - 1].name for code in sorted(codes)]


def _prefectures(value: Any) -> list[str] | None:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, list):
        value = " / ".join(filter(None, (read_text(each, "prefectures") for each in value)))
    text = read_text(value, "prefecture")
    return None if text is None else areas(text)


def _level_of_trust(value: Any, name: str) -> str | float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if abs(value) < _MOST else None
    return read_text(value, name)


def _boolean(value: Any, name: str) -> bool | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return value
    words = {"true": True, "1": True, "はい": True, "false": False, "0": False, "いいえ": False}
    known = words.get(fold(str(value)).strip())
    if known is None:
        raise Refused(f"{name} must be true or false", f"{name} は true か false で指定してください。")
    return known


def _amount(value: Any, name: str, end: Literal["low", "high"]) -> float | None:
    """万円. A programme that gives nothing is none: sources write 0 for an amount they do not know."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str) and _NUMBER.fullmatch(fold(value).strip()):
        value = float(fold(value).replace(",", ""))
    if isinstance(value, str):
        read = _prose_amount(value)
        yen = getattr(read, end) if read else None
        return _whole(yen / 10_000) or None if yen else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST:
        raise Refused(f"{name} must be a number of 万円", f"{name} は 0 以上の数（万円）で指定してください。")
    return _whole(value) or None


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def _prose_amount(text: str) -> Amount | None:
    """The amount that a text is or, where it says more, the only one that it names."""
    read = [whole] if (whole := parse_amount(text)) else find_amounts(text)
    stated = [each for each in read if (each.low, each.high) != (None, None)]
    # So much a month or a head is no upper amount.
    return stated[0] if len(stated) == 1 and stated[0].qualifier in _TOTALS else None


def _amounts(raw: Mapping[str, Any]) -> dict[str, float | None]:
    """Both ends; `amount` is a text that may name both (3万円～30万円)."""
    low = _amount(raw.get("amount_min_man_yen"), "amount_min_man_yen", "low")
    high = _amount(raw.get("amount_max_man_yen"), "amount_max_man_yen", "high")
    said = raw.get("amount")
    read = _prose_amount(said) if isinstance(said, str) else None
    if read and high is None and read.high:
        high = _whole(read.high / 10_000)
    if read and low is None and read.low and read.low != read.high:
        low = _whole(read.low / 10_000)
    if low is not None and high is not None and low > high:
        raise Refused(
            "amount_min_man_yen is greater than amount_max_man_yen",
            "amount_min_man_yen が amount_max_man_yen を超えています。",
        )
    return {"amount_min_man_yen": low, "amount_max_man_yen": high}


def _rate(value: Any, name: str) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str) and _NUMBER.fullmatch(fold(value).strip()):
        value = float(fold(value).replace(",", ""))
    if isinstance(value, str):
        named = find_rates(value)
        read = parse_rate(value) or (named[0] if len(named) == 1 else None)
        share = None if read is None else (read.high if read.high is not None else read.low)
        return None if share is None or share > 1 else float(share)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Refused(
            f"{name} must be a share from 0 to 1", f"{name} は 0 から 1 までの数で指定してください。"
        )
    return float(value)


def _day(value: Any, name: str) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise Refused(f"{name} must be a date", f"{name} は日付で指定してください。")
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        period = parse_date(value)
        return period.first.isoformat() if period and period.first == period.last else None
    return japanese_day(moment).isoformat()


def _window(raw: Mapping[str, Any]) -> dict[str, str | None] | None:
    said = raw.get("application_window")
    if isinstance(said, str):
        said = _parsed(said, "application_window") if said.strip() else None
    if said is None:
        said = raw
    if not isinstance(said, Mapping):
        raise Refused(
            "application_window must be an object", "application_window はオブジェクトで指定してください。"
        )
    start, end = _day(said.get("start_date"), "start_date"), _day(said.get("end_date"), "end_date")
    cycle = read_text(said.get("cycle"), "cycle")
    if start and end and start > end:
        raise Refused("start_date is after end_date", "start_date が end_date より後です。")
    return {"start_date": start, "end_date": end, "cycle": cycle} if start or end or cycle else None


def read_url(value: Any, name: str) -> str | None:
    text = read_text(value, name, 4000)
    if text is None:
        return None
    if not _ADDRESS.fullmatch(text):
        raise Refused(
            f"{name} must begin with https:// or http://", f"{name} は http(s):// で始めてください。"
        )
    return text


def _moment(value: Any, name: str) -> str | None:
    """As it is written where it is ISO 8601."""
    text = read_text(value, name)
    if text is None:
        return None
    try:
        datetime.fromisoformat(text)
    except ValueError:
        day = _day(text, name)
        if day is None:
            raise Refused(
                f"{name} must be a time", f"{name} は ISO 8601 の日時で指定してください。"
            ) from None
        return day
    return text.replace(" ", "T", 1)


def _mentions(value: Any, name: str) -> list[dict[str, Any]] | None:
    if isinstance(value, str):
        value = _parsed(value, name) if value.strip() else None
    if value is None:
        return None
    if not isinstance(value, list):
        raise Refused(f"{name} must be a list", f"{name} は配列で指定してください。")
    found = []
    for each in value:
        said = {"url": each} if isinstance(each, str) else each
        if not isinstance(said, Mapping) or not (url := read_url(said.get("url"), f"{name}.url")):
            raise Refused(f"{name} must name an url each", f"{name} には url が必要です。")
        found.append(
            {
                **_cleaned(dict(said), name, 0),
                "url": url,
                "fetched_at": _moment(said.get("fetched_at"), f"{name}.fetched_at"),
            }
        )
    return found or None


def read_object(value: Any, name: str) -> dict[str, Any] | None:
    if isinstance(value, str):
        value = _parsed(value, name) if value.strip() else None
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Refused(f"{name} must be an object", f"{name} はオブジェクトで指定してください。")
    return _cleaned(value, name, 0) or None


def _cleaned(value: Any, name: str, depth: int) -> Any:
    """A value as it is kept: without controls, and no deeper than anybody could read."""
    if depth > _DEEPEST:
        raise Refused(f"{name} is nested too deeply", f"{name} の入れ子が深すぎます。")
    if isinstance(value, dict):
        return {visible(str(key)): _cleaned(each, name, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each, name, depth + 1) for each in value]
    return visible(value) if isinstance(value, str) else value


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise Refused(f"{name} is not valid JSON", f"{name} が正しい JSON ではありません。") from None


def _municipality(authority: str) -> str | None:
    """神戸市 of 兵庫県神戸市 (兵庫県); the mere word 市町村 is none."""
    rest = authority
    for one in PREFECTURES:
        rest = rest.removeprefix(one.name)
    found = _MUNICIPALITY.match(rest.strip())
    return found.group() if found and found.group() not in ("市町村", "市区町村", "区市町村") else None


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "unified_id": _identifier,
    "primary_name": read_text,
    "aliases": read_texts,
    "tier": _tier,
    "authority_level": _level,
    "authority_name": read_text,
    "municipality": read_text,
    "program_kind": read_text,
    "subsidy_rate": _rate,
    "funding_purpose": read_texts,
    "target_types": read_texts,
    "official_url": read_url,
    "trust_level": _level_of_trust,
    "excluded": _boolean,
    "exclusion_reason": read_text,
    "enriched": read_object,
    "source_mentions": _mentions,
    "source_url": read_url,
    "source_fetched_at": _moment,
}
