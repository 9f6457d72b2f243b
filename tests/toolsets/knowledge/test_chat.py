"""A message, the tool it leads to, and the answer with where it stands."""

import asyncio
from typing import Any

import pytest

from shirube.caller import LOCAL
from shirube.errors import InvalidInput, NotFound
from shirube.toolsets.knowledge.chat import Reply, reply
from tests.toolsets.knowledge.conftest import Served


def chat(served: Served, message: str, base: Any = None, tool: str | None = None) -> Reply:
    return asyncio.run(reply(served.application.registry, LOCAL, message, base or served.base.id, tool))


def test_a_question_is_answered_by_quotations_that_say_where_they_stand(company: Served) -> None:
    given = chat(company, "リモートワーク手当は？")
    assert given.tool_name == "search_documents"
    assert given.arguments["threshold"] == 0.5
    assert given.arguments["max_results"] == 5
    assert 1 <= len(given.citations) <= 5
    assert [citation.number for citation in given.citations] == list(range(1, len(given.citations) + 1))
    for citation, result in zip(given.citations, given.result["results"], strict=True):
        assert f"[{citation.number}] {result['content'].strip()}" in given.answer
        assert citation.source == result["metadata"]["source"]
        assert citation.span == result["metadata"]["span"]


@pytest.mark.parametrize(
    "message",
    [
        "このナレッジベースについて教えて",
        "このKBにはいくつのドキュメントがありますか？",
        "このKBには何件のドキュメントがある？",
    ],
)
def test_a_question_about_the_base_is_answered_by_its_counts(company: Served, message: str) -> None:
    given = chat(company, message)
    assert given.tool_name == "get_knowledge_base_summary"
    counts = given.result["statistics"]
    assert f"文書 {counts['total_documents']} 件" in given.answer
    assert f"コレクション {counts['total_collections']} 個" in given.answer
    assert f"チャンク {counts['total_chunks']} 個" in given.answer
    assert given.citations == []


def test_without_a_language_model_nobody_else_writes(company: Served) -> None:
    given = chat(company, "リモートワーク手当は？")
    assert (given.engine, given.model, given.warnings) == ("builtin", None, [])


def test_the_warnings_of_the_tool_are_those_of_the_reply(served: Served) -> None:
    assert chat(served, "このKBについて").warnings == ["No collections found", "No documents found"]


def test_a_scan_is_corrected(company: Served) -> None:
    given = chat(company, "OCR結果: マネ-ジャ-")
    assert given.answer == "マネージャー"
    assert given.arguments == {"text": "マネ-ジャ-"}


def test_a_tool_that_is_forced_is_called(company: Served) -> None:
    given = chat(company, "マイナビのサービスは？", tool="search_documents")
    assert given.tool_name == "search_documents"
    assert given.arguments["query"] == "マイナビのサービスは？"
    assert chat(company, "リモートワーク手当は？", tool="get_knowledge_base_summary").citations == []


def test_what_nothing_answers_is_declined(company: Served) -> None:
    given = chat(company, "火星の衛星フォボスの公転周期は？")
    assert given.citations == []
    assert "見つかりませんでした" in given.answer


def test_an_unknown_tool_or_base_is_an_error(company: Served) -> None:
    with pytest.raises(InvalidInput, match="force_tool must be one of"):
        chat(company, "手当", tool="drop_tables")
    with pytest.raises(NotFound, match="Knowledge base not found"):
        chat(company, "手当", base="00000000-0000-0000-0000-000000000000")
