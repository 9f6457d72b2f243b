"""A publication's record, read from what sources write: the names of the record, or those of J-PlatPat."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from shirube.ingest.refused import Refused
from shirube.text.eras import parse_date
from shirube.text.invisible import visible
from shirube.text.sentences import sentences
from shirube.toolsets.patents.codes import fi_norm, normal_symbol
from shirube.toolsets.patents.numbers import application_in_japanese, read_number

TEXTS = ("title", "abst", "claim", "desc")
_LONGEST_ID, _LONGEST = 60, 20_000_000
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_HEAD = re.compile(r"^\s*[(（]57[)）]\s*【要約】\s*")
_SEVERAL = re.compile(r"[;；、\n]+")
# 【請求項1】 or "1." at the beginning of each claim of a text.
_CLAIM = re.compile(r"(?m)^\s*【請求項[ 　]*[0-9０-９]+】\s*")
_REFERS = re.compile("請求項[ 　]*[0-9０-９一二三四五六七八九十]|(?:of|to|in) claims? [0-9]", re.IGNORECASE)
_SECTION = re.compile(r"【([^【】\n]{1,40})】")
_BACKGROUND = ("背景技術", "発明が解決しようとする課題", "発明の効果")


def read_publication(raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise Refused("a row must be an object", "行はオブジェクトで指定してください。")
    row = _from_jplatpat(raw) if "application_number" in raw or "publication_number" in raw else raw
    record: dict[str, Any] = _numbers(row)
    claims = _claims(row)
    fi = _codes(row, "fi_full") or _codes(row, "fi")
    record |= {
        "title": _text(row, "title") or "",
        "abst": _text(row, "abst") or "",
        "claims": claims,
        "claim": "\n".join(claims),
        "desc": _text(row, "desc") or "",
        "fi_full": fi,
        "fi_norm": list(dict.fromkeys(map(fi_norm, fi))),
        **{name: list(dict.fromkeys(map(normal_symbol, _codes(row, name)))) for name in ("ft", "ipc", "cpc")},
        "country": _country(row, record["doc_id"]),
        "filing_date": _day(row, "filing_date"),
        "publication_date": _day(row, "publication_date"),
        "applicant": _names(row, "applicant"),
        "inventor": _names(row, "inventor"),
    }
    if url := row.get("url"):
        record["url"] = str(url)
    if not any(record[name] for name in TEXTS):
        raise Refused("the publication has no text", "公報に本文がありません。")
    return record


def content_hash(record: Mapping[str, Any]) -> str:
    written = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def scope_text(record: Mapping[str, Any], scope: str) -> str:
    """The part of a publication that a semantic lane looks at."""
    match scope:
        case "title_abst_claims":
            parts = [record["title"], record["abst"], record["claim"]]
        case "claims_only":
            parts = [record["claim"]]
        case "top_claim":
            parts = independent_claims(record["claims"])
        case "background_jp":
            parts = [background(record["desc"])]
        case _:
            parts = [record[name] for name in TEXTS]
    return "\n".join(part for part in parts if part)


def independent_claims(claims: list[str]) -> list[str]:
    """Those that refer to no other; the first where all do."""
    return [claim for claim in claims if not _REFERS.search(claim)] or claims[:1]


def background(desc: str) -> str:
    """What a description says of the state of the art, of the problem and of the effect."""
    heads = list(_SECTION.finditer(desc))
    named = [at for at, head in enumerate(heads) if head[1].strip() in _BACKGROUND]
    parts = []
    for at in named:
        end = next((head.start() for head in heads[at + 1 :] if not head[1].isdecimal()), len(desc))
        parts.append(desc[heads[at].end() : end].strip())
    return "\n".join(parts)


def cut(text: str, characters: int) -> str:
    """So many characters at most; at the end of a sentence where one lies in the last fifth."""
    if len(text) <= characters:
        return text
    ends = [end for _, end in sentences(text[:characters]) if characters * 0.8 <= end < characters]
    return text[: ends[-1]].rstrip() if ends else text[:characters]


def _from_jplatpat(raw: Mapping[str, Any]) -> dict[str, Any]:
    abstract = raw.get("abstract")
    return {
        **{name: raw.get(name) for name in ("title", "fi", "ft", "filing_date", "publication_date", "url")},
        "app_id": raw.get("application_number"),
        "pub_id": raw.get("publication_number") or raw.get("doc_id"),
        "exam_id": raw.get("registration_number") or None,
        # Lines are broken where the gazette's were, in the middle of words.
        "abst": _HEAD.sub("", _BREAK.sub("", abstract)) if isinstance(abstract, str) else None,
        "applicant": raw.get("applicants"),
        "inventor": raw.get("inventors"),
    }


def _numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a publication in the form of records, by what each is and not by the name it came under."""
    found: dict[str, Any] = {"app_id": None, "app_doc_id": None, "pub_id": None, "exam_id": None}
    for name in ("app_doc_id", "app_id", "pub_id", "exam_id", "doc_id"):
        written = row.get(name)
        if written in (None, ""):
            continue
        if not isinstance(written, str) or len(written) > _LONGEST_ID:
            raise Refused(f"{name} must be a number as text", f"{name} は番号の文字列で指定してください。")
        number = read_number(written)
        if number is not None:
            found[number.kind] = found[number.kind] or number.id
        elif name != "doc_id":
            kind = "app_doc_id" if name == "app_id" else name
            found[kind] = found[kind] or normal_symbol(written)
        else:
            found["doc_id"] = normal_symbol(written)
    doc_id = found["app_doc_id"] or found["pub_id"] or found.get("doc_id") or found["exam_id"]
    if not doc_id:
        raise Refused("the publication has no number", "公報に番号がありません。")
    given = row.get("app_id")
    found["app_id"] = (
        given if isinstance(given, str) and given else application_in_japanese(found["app_doc_id"] or "")
    )
    return {**found, "doc_id": doc_id}


def _text(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise Refused(f"{name} must be text", f"{name} は文字列で指定してください。")
    return visible(_TAG.sub("", _BREAK.sub("\n", value))).strip()


def _claims(row: Mapping[str, Any]) -> list[str]:
    value = row.get("claims") or row.get("claim")
    if isinstance(value, list):
        return [text for each in value if (text := _text({"claim": each}, "claim"))]
    text = _text({"claim": value}, "claim") or ""
    return [each.strip() for each in _CLAIM.split(text) if each.strip()]


def _codes(row: Mapping[str, Any], name: str) -> list[str]:
    value = row.get(name) or []
    if isinstance(value, str):
        value = re.split(r"[;；|\s]+", value)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Refused(f"{name} must be a list of codes", f"{name} はコードの配列で指定してください。")
    return list(dict.fromkeys(each.strip() for each in value if each.strip()))


def _names(row: Mapping[str, Any], name: str) -> list[str]:
    value = row.get(name) or []
    if isinstance(value, str):
        value = _SEVERAL.split(value)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Refused(f"{name} must be a list of names", f"{name} は名前の配列で指定してください。")
    return list(dict.fromkeys(visible(each).strip() for each in value if each.strip()))


def _country(row: Mapping[str, Any], doc_id: str) -> str:
    written = row.get("country")
    return normal_symbol(written) if isinstance(written, str) and written else doc_id[:2]


def _day(row: Mapping[str, Any], name: str) -> str | None:
    written = row.get(name)
    if written in (None, ""):
        return None
    period = parse_date(str(written))
    if period is None or period.first != period.last:
        raise Refused(f"{name} must be a day", f"{name} は日付で指定してください。")
    return period.first.isoformat()
