"""normalize_ocr_text as a tool: the examples of its specification, and what it refuses."""

import time
from typing import Any

import pytest

from tests.toolsets.knowledge.conftest import Served

EXAMPLES = [
    (
        "マイナビキャリ-では、キャリアコンサルティングを提供しています。",
        "マイナビキャリアでは、キャリアコンサルティングを提供しています。",
    ),
    ("マネ-ジャ-", "マネージャー"),
    ("ユ-ザ-", "ユーザー"),
    ("self-service", "self-service"),
    ("e-mail", "e-mail"),
    ("サ-ビス（service）のガイドライン", "サービス（service）のガイドライン"),
]


@pytest.mark.parametrize(("given", "wanted"), EXAMPLES)
def test_the_examples_of_the_specification_hold(company: Served, given: str, wanted: str) -> None:
    answer = company.call("normalize_ocr_text", {"text": given})
    assert answer.ok
    body = dict(answer.body)
    changes = body.pop("changes")
    assert body == {"original_text": given, "normalized_text": wanted, "status": "success"}
    rebuilt = list(given)
    for change in changes:
        assert set(change) == {"offset", "from", "to", "reason"}
        assert given[change["offset"]] == change["from"]
        rebuilt[change["offset"]] = change["to"]
    assert "".join(rebuilt) == wanted


def test_a_text_may_have_ten_thousand_characters_and_no_more(company: Served) -> None:
    longest = "マネ-ジャ-、" * 1428 + "です。。"
    assert len(longest) == 10_000
    answer = company.call("normalize_ocr_text", {"text": longest})
    assert answer.ok
    assert answer.body["normalized_text"] == "マネージャー、" * 1428 + "です。。"
    refused = company.call("normalize_ocr_text", {"text": longest + "。"})
    assert refused.body["status"] == 422
    assert refused.body["detail"] == "Text too long (max 10000 chars)"


@pytest.mark.parametrize(
    "arguments", [{}, {"text": None}, {"text": 5}, {"text": ["マネ-ジャ-"]}, {"text": "a", "b": 1}]
)
def test_a_call_without_a_text_or_with_something_else_is_refused(
    company: Served, arguments: dict[str, Any]
) -> None:
    answer = company.call("normalize_ocr_text", arguments)
    assert not answer.ok
    assert answer.body["status"] == 422


def test_the_longest_text_takes_less_than_the_specified_time(company: Served) -> None:
    text = ("エンジニア-リングマネ-ジャ-は10-20名のチ-ムを率いる。" * 400)[:10_000]
    company.call("normalize_ocr_text", {"text": "ウォ-ムアップ"})
    started = time.process_time()
    answer = company.call("normalize_ocr_text", {"text": text})
    assert time.process_time() - started < 0.5
    assert "マネージャー" in answer.body["normalized_text"]


def test_an_empty_text_is_a_text(company: Served) -> None:
    answer = company.call("normalize_ocr_text", {"text": ""})
    assert answer.body["normalized_text"] == ""
    assert answer.body["changes"] == []
