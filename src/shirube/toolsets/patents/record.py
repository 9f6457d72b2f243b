"""A publication's record, read from what sources write: the names of the record, or those of J-PlatPat."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from shirube.ingest.refused import Refused
from shirube.text.eras import parse_date
from shirube.text.invisible import visible
from shirube.text.sentences import sentences
from shirube.toolsets.patents.codes import fi_norm, listed, normal_symbol
from shirube.toolsets.patents.headings import named
from shirube.toolsets.patents.numbers import application_in_japanese, read_number

TEXTS = ("title", "abst", "claim", "desc")
_LONGEST_ID, _LONGEST = 60, 20_000_000
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
# Tags that exports have in their texts, with attributes that are some; a < of a formula is none.
_TAG = re.compile(
    r"</?(?:br|sub|sup|b|i|u|s|p|em|strong|small|big|span|div|font|center|a|img|hr|pre|tt|ul|ol|li|table|thead|tbody|"
    r"tr|td|th|h[1-6])(?:\s+[a-z-]{1,20}\s*=\s*(?:\"[^\"<>]{0,200}\"|'[^'<>]{0,200}'|[^\s\"'<>]{1,200}))*\s*/?>",
    re.IGNORECASE,
)
_HEAD = re.compile(r"^\s*[(（]57[)）]\s*【要約】\s*")
_SEVERAL = re.compile(r"[;；、\n]+")
# J-PlatPat joins names with a comma; 、 and ， stand inside the names of foreign companies.
_SEVERAL_OF_JPLATPAT = re.compile(r"[,;；\n]+")
_CLAIM = re.compile(r"【請求項[ 　]*[0-9０-９]+】\s*")
_REFERS = re.compile("請求項[ 　]*[0-9０-９一二三四五六七八九十]|(?:of|to|in) claims? [0-9]", re.IGNORECASE)
_SECTION = re.compile(r"【([^【】\n]{1,40})】")
# Paragraphs and what is set in them: 【０００１】, 【数１】, 【表２】.
_INSIDE = re.compile(r"\s*(?:数|化|表|図|式|外)?\s*[0-9０-９]+\s*")
# 20240105, and what programs write behind a day: 2024-01-05T00:00:00Z, 2021/6/20 0:00:00.
_FIGURES = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")
_TIME = re.compile(
    r"(?<=[0-9])[T ](?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?\Z"
)
_BACKGROUND = ("背景技術", "発明が解決しようとする課題", "発明の効果")


def read_publication(raw: Any, *, is_marked_up: bool = True) -> dict[str, Any]:
    """The record of a row. Where it is not marked up (a gazette, read already), a tag is text like any other."""
    if not isinstance(raw, dict):
        raise Refused("a row must be an object", "行はオブジェクトで指定してください。")
    row = _from_jplatpat(named(raw))
    read = _marked_up if is_marked_up else _plain
    record: dict[str, Any] = _numbers(row)
    claims = _claims(row, read)
    fi = _codes(row, "fi_full") or _codes(row, "fi")
    record |= {
        "title": read(row, "title"),
        "abst": read(row, "abst"),
        "claims": claims,
        "claim": "\n".join(claims),
        "desc": read(row, "desc"),
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
    try:
        content_hash(record)
    except UnicodeEncodeError:
        raise Refused(
            "holds half of a character (a lone surrogate)", "文字として読めない部分（サロゲート）があります。"
        ) from None
    return record


def content_hash(record: Mapping[str, Any]) -> str:
    written = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()


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
        end = next((head.start() for head in heads[at + 1 :] if not _INSIDE.fullmatch(head[1])), len(desc))
        parts.append(desc[heads[at].end() : end].strip())
    return "\n".join(parts)


def cut(text: str, characters: int) -> str:
    """So many characters at most; at the end of a sentence where one lies in the last fifth."""
    if len(text) <= characters:
        return text
    ends = [end for _, end in sentences(text[:characters]) if characters * 0.8 <= end < characters]
    return text[: ends[-1]].rstrip() if ends else text[:characters]


def _from_jplatpat(row: Mapping[str, Any]) -> dict[str, Any]:
    """What has J-PlatPat's names in the form of the others."""
    read = dict(row)
    abstract = row.get("abstract")
    if isinstance(abstract, str):
        # Lines are broken where the gazette's were, in the middle of words.
        abstract = _HEAD.sub("", _BREAK.sub("", abstract))
    read["abst"] = row.get("abst") or abstract
    for name, several in (("applicant", "applicants"), ("inventor", "inventors")):
        names = row.get(several)
        read[name] = row.get(name) or (_SEVERAL_OF_JPLATPAT.split(names) if isinstance(names, str) else names)
    return read


def _numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a publication in the form of records, by what each is and not by the name it came under."""
    found: dict[str, Any] = {"app_id": None, "app_doc_id": None, "pub_id": None, "exam_id": None}
    for name in ("app_doc_id", "app_id", "pub_id", "exam_id", "doc_id"):
        written = row.get(name)
        if written in (None, ""):
            continue
        if not isinstance(written, str) or max(len(written), len(normal_symbol(written))) > _LONGEST_ID:
            raise Refused(f"{name} must be a number as text", f"{name} は番号の文字列で指定してください。")
        number = read_number(written, name)
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
    given, japanese = row.get("app_id"), application_in_japanese(found["app_doc_id"] or "")
    # A bare 2022-000001 is told in full.
    found["app_id"] = given if given and (read_number(given) or not japanese) else japanese
    return {**found, "doc_id": doc_id}


def _plain(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name) or ""
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise Refused(f"{name} must be text", f"{name} は文字列で指定してください。")
    return visible(value).strip()


def _marked_up(row: Mapping[str, Any], name: str) -> str:
    return _TAG.sub("", _BREAK.sub("\n", _plain(row, name))).strip()


def _claims(row: Mapping[str, Any], read: Callable[[Mapping[str, Any], str], str]) -> list[str]:
    value = row.get("claims") or row.get("claim")
    if isinstance(value, list):
        return [text for each in value if (text := read({"claim": each}, "claim"))]
    return [text for each in _CLAIM.split(read({"claim": value}, "claim")) if (text := each.strip())]


def _codes(row: Mapping[str, Any], name: str) -> list[str]:
    value = row.get(name) or []
    if isinstance(value, str):
        value = listed(value)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Refused(f"{name} must be a list of codes", f"{name} はコードの配列で指定してください。")
    return list(dict.fromkeys(each.strip() for each in value if each.strip()))


def _names(row: Mapping[str, Any], name: str) -> list[str]:
    value = row.get(name) or []
    if isinstance(value, str):
        value = _SEVERAL.split(value)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise Refused(f"{name} must be a list of names", f"{name} は名前の配列で指定してください。")
    return list(dict.fromkeys(shown for each in value if (shown := visible(each).strip())))


def _country(row: Mapping[str, Any], doc_id: str) -> str:
    written = row.get("country")
    return normal_symbol(written) if isinstance(written, str) and written else doc_id[:2]


def _day(row: Mapping[str, Any], name: str) -> str | None:
    written = row.get(name)
    if written in (None, ""):
        return None
    day = _iso(str(written))
    if day is None:
        raise Refused(f"{name} must be a day", f"{name} は日付で指定してください。")
    return day


@lru_cache(10_000)
def _iso(written: str) -> str | None:
    day = _TIME.sub("", unicodedata.normalize("NFKC", written).strip())
    figures = _FIGURES.fullmatch(day)
    period = parse_date("-".join(figures.groups()) if figures else day)
    return period.first.isoformat() if period and period.first == period.last else None
