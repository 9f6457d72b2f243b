"""Which tool a message asks for: the table of the specification, and messages written to measure it."""

from pathlib import Path

import pytest

from shirube.toolsets.knowledge.choice import chosen_tool

TOOLS = {
    "search": "search_documents",
    "summary": "get_knowledge_base_summary",
    "ocr": "normalize_ocr_text",
}
LABELLED = [
    line.split("\t")
    for line in Path(__file__).with_name("tool_choices.tsv").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize(
    ("message", "tool"),
    [
        ("リモートワーク手当は？", "search_documents"),
        ("このKBについて", "get_knowledge_base_summary"),
        ("副業の規定を教えて", "search_documents"),
        ("このKBには何件のドキュメントがある？", "get_knowledge_base_summary"),
        ("OCR結果: マネ-ジャ-", "normalize_ocr_text"),
    ],
)
def test_every_row_of_the_specification_is_right(message: str, tool: str) -> None:
    assert chosen_tool(message).tool == tool


@pytest.mark.parametrize("half", ["looked at", "held back"])
def test_nineteen_of_twenty_messages_are_understood(half: str) -> None:
    """The rules were made looking at every other message; the rest only measure."""
    asked = LABELLED[0 if half == "looked at" else 1 :: 2]
    wrong = [(label, message) for label, message in asked if chosen_tool(message).tool != TOOLS[label]]
    assert len(LABELLED) >= 200
    assert len(wrong) / len(asked) <= 0.05, wrong


def test_full_width_and_half_width_make_no_difference() -> None:
    assert chosen_tool("このＫＢについて").tool == "get_knowledge_base_summary"
    assert chosen_tool("ﾅﾚｯｼﾞﾍﾞｰｽの概要").tool == "get_knowledge_base_summary"
    assert chosen_tool("ＯＣＲ結果：ユ-ザ-").tool == "normalize_ocr_text"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("OCR結果: マネ-ジャ-", "マネ-ジャ-"),
        ("「サ-バ-」を長音に直して", "サ-バ-"),
        ("この文書「規程」のOCR結果：ユ-ザ-は\n次のとおり", "ユ-ザ-は\n次のとおり"),
        ("マネ-ジャ- を正規化して", "マネ-ジャ-"),
        ("OCR結果：ﾕ-ｻﾞ-", "ﾕ-ｻﾞ-"),
        ("OCRの誤りを直して：デ一タ", "デ一タ"),
    ],
)
def test_what_is_to_be_corrected_is_given_without_the_request(message: str, text: str) -> None:
    assert chosen_tool(message).text == text


@pytest.mark.parametrize(
    "message",
    [
        "このKBの要約をお願いします",
        "このナレッジベースにはどのような情報が含まれていますか？",
        "このナレッジベースで何がわかりますか？",
        "what can you tell me about this knowledge base",
    ],
)
def test_a_polite_question_about_the_base_is_one_about_the_base(message: str) -> None:
    assert chosen_tool(message).tool == "get_knowledge_base_summary"


@pytest.mark.parametrize("message", ["", "　", "？？？", "🍣", "-", "ア-", "\ud800", "a" * 2000])
def test_anything_else_is_searched_for(message: str) -> None:
    choice = chosen_tool(message)
    assert choice.tool == "search_documents"
    assert choice.text == message
