"""The bundled sample data keeps the promises that its README makes."""

from __future__ import annotations

import datetime as dt
import json
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import shirube

SAMPLES = Path(shirube.__file__).parent / "samples"
COMPANY = SAMPLES / "company"
STATUTES = SAMPLES / "statutes"
COLLECTIONS = {"就業規則", "経費・旅費", "情報セキュリティ", "社内FAQ"}
LEVELS = {"public", "internal", "confidential", "secret"}
STATUTES_LIMIT = 1_200_000

COMPANY_FILES = sorted(COMPANY.rglob("*.md"))
STATUTE_FILES = sorted(STATUTES.glob("*.md"))


def split(path: Path) -> tuple[dict[str, Any], str]:
    """The frontmatter of a file and the Markdown below it."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("---\n"), path
    header, separator, body = text[4:].partition("\n---\n")
    assert separator, path
    loaded = yaml.safe_load(header)
    assert isinstance(loaded, dict), path
    return loaded, body.lstrip("\n")


def questions() -> list[dict[str, str | None]]:
    lines = (SAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def name(path: Path) -> str:
    return path.relative_to(SAMPLES).as_posix()


def test_the_company_has_four_collections_and_at_least_44_documents() -> None:
    assert {entry.name for entry in COMPANY.iterdir()} == COLLECTIONS
    assert len(COMPANY_FILES) >= 44
    assert {path.parent.name for path in COMPANY_FILES} == COLLECTIONS


def test_the_company_folder_holds_nothing_but_markdown() -> None:
    assert [path for path in COMPANY.rglob("*") if path.is_file() and path.suffix != ".md"] == []


def test_access_rules_have_enough_documents_to_act_on() -> None:
    headers = [split(path)[0] for path in COMPANY_FILES]
    levels = Counter(header["confidentiality"] for header in headers)
    assert sum("department" in header for header in headers) >= 4
    assert levels["confidential"] + levels["secret"] >= 4
    assert levels["secret"] >= 1
    assert levels["public"] >= 4


@pytest.mark.parametrize("path", COMPANY_FILES, ids=name)
def test_a_company_document_has_valid_frontmatter(path: Path) -> None:
    header, _ = split(path)
    assert {"title", "confidentiality", "updated"} <= set(header)
    assert set(header) <= {"title", "department", "confidentiality", "updated"}
    assert header["title"] == path.stem
    assert header["confidentiality"] in LEVELS
    assert isinstance(header["updated"], dt.date)
    if "department" in header:
        assert isinstance(header["department"], str)
        assert header["department"].endswith("部")


@pytest.mark.parametrize("path", COMPANY_FILES, ids=name)
def test_a_company_document_opens_with_its_title_and_has_four_to_twelve_sections(path: Path) -> None:
    header, body = split(path)
    lines = body.splitlines()
    assert lines[0] == f"# {header['title']}"
    assert 4 <= sum(line.startswith("## ") for line in lines) <= 12


@pytest.mark.parametrize("path", COMPANY_FILES + STATUTE_FILES, ids=name)
def test_a_sample_path_is_nfc(path: Path) -> None:
    assert unicodedata.is_normalized("NFC", name(path))


def test_the_spelling_variants_meant_for_search_are_present() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in COMPANY_FILES)
    variants = ["サーバー", "ファイルサーバ、", "引越", "引っ越し", "１０万円", "10万円", "2/3", "50%"]
    variants += ["ミチシルベポータル", "ﾐﾁｼﾙﾍﾞ ﾎﾟｰﾀﾙ", "令和8年4月1日", "2026年4月1日"]
    assert [variant for variant in variants if variant not in text] == []


def test_there_are_five_or_six_statutes_within_the_size_limit() -> None:
    assert len(STATUTE_FILES) in (5, 6)
    assert sum(path.stat().st_size for path in STATUTE_FILES) < STATUTES_LIMIT
    assert sorted(STATUTES.iterdir()) == STATUTE_FILES


@pytest.mark.parametrize("path", STATUTE_FILES, ids=name)
def test_a_statute_names_its_source(path: Path) -> None:
    header, body = split(path)
    assert header["title"] == path.stem
    assert header["confidentiality"] == "public"
    assert "法律第" in header["law_number"]
    assert header["source"].startswith("https://")
    assert ".e-gov.go.jp/" in header["source"]
    assert body.startswith(f"# {path.stem}\n")
    assert "\n## 第1条" in body


def test_the_readme_names_the_licences_and_every_statute_source() -> None:
    readme = (SAMPLES / "README.md").read_text(encoding="utf-8")
    assert "Apache-2.0" in readme
    assert "CC BY 4.0" in readme
    assert [path for path in STATUTE_FILES if split(path)[0]["source"] not in readme] == []


def test_there_are_at_least_60_answered_and_10_unanswerable_questions() -> None:
    rows = questions()
    assert all(set(row) == {"query", "document", "answer"} for row in rows)
    assert sum(row["document"] is not None for row in rows) >= 60
    assert sum(row["document"] is None for row in rows) >= 10


def test_no_question_is_asked_twice() -> None:
    asked = Counter(row["query"] for row in questions())
    assert [query for query, times in asked.items() if times > 1] == []


def test_each_answer_is_an_exact_substring_of_its_document() -> None:
    for row in questions():
        document, answer = row["document"], row["answer"]
        if document is None:
            assert answer is None, row
            continue
        assert answer, row
        assert answer in (COMPANY / document).read_text(encoding="utf-8"), row


def test_every_company_document_answers_a_question() -> None:
    asked = {row["document"] for row in questions()}
    assert [path for path in COMPANY_FILES if path.relative_to(COMPANY).as_posix() not in asked] == []
