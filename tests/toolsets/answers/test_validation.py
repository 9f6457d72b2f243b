"""What kb_answer refuses by itself, without asking anybody."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shirube.toolsets.answers.schema import AnswerInput
from tests.toolsets.answers.conftest import QUESTION, TEXT, Bedrock, serve_bedrock

# Unicode's White_Space.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f"
    "\u205f\u3000"
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bedrock]:
    """One for all examples; none of them may reach it."""
    with serve_bedrock(tmp_path_factory.mktemp("asked")) as bedrock:
        yield bedrock


@pytest.fixture
def untouched(asked: Bedrock) -> Iterator[Bedrock]:
    yield asked
    assert asked.requests == []


@settings(max_examples=200)
@given(st.text(" \t\n\r", max_size=20) | st.text(WHITE_SPACE, max_size=20))
@example("")
@example("\u3000")
@example("\x85")
@example("\u2003")
@example(" \t\r\n" * 500)
def test_a_question_of_white_space_is_refused_and_never_sent(asked: Bedrock, query: str) -> None:
    """**Feature: mcp-bedrock-kb, Property 5: 空白のみのクエリを拒否**"""
    assert "query" in asked.error("ValidationError", query)
    assert asked.requests == []


@settings(max_examples=200)
@given(st.text(WHITE_SPACE, max_size=20))
def test_a_blank_question_is_a_value_error(query: str) -> None:
    with pytest.raises(ValueError, match="query"):
        AnswerInput(query=query)


@pytest.mark.parametrize("query", list(WHITE_SPACE), ids=lambda character: f"U+{ord(character):04X}")
def test_every_white_space_of_unicode_alone_is_blank(untouched: Bedrock, query: str) -> None:
    message = untouched.error("ValidationError", query * 3)
    assert "query must not be blank" in message
    assert "query が空です" in message


def test_an_empty_question_is_refused_as_a_blank_one_is(untouched: Bedrock) -> None:
    assert untouched.ask("") == untouched.ask("\u3000")
    assert "query must not be blank" in untouched.error("ValidationError", "")


@pytest.mark.parametrize("query", [None, 5, ["副業"], {"text": "副業"}, True, "\ud800", "問" * 2001])
def test_a_question_that_is_no_text_to_send_is_refused(untouched: Bedrock, query: Any) -> None:
    assert "query" in untouched.error("ValidationError", query)


def test_a_question_that_is_not_there_is_refused(untouched: Bedrock) -> None:
    for arguments in ({}, None, {"max_results": 4}):
        body = untouched.call(arguments)
        assert (body["error"], body["error_type"]) == (True, "ValidationError")
        assert "query" in body["message"]


def test_a_question_longer_than_bedrock_takes_is_refused_before_it_is_sent(untouched: Bedrock) -> None:
    assert "1000" in untouched.error("ValidationError", "問" * 1001)


@given(st.integers().filter(lambda number: not 1 <= number <= 100))
@example(0)
@example(101)
@example(-(2**70))
@example(2**70)
def test_a_number_of_results_outside_one_to_a_hundred_is_refused(asked: Bedrock, max_results: int) -> None:
    message = asked.error("ValidationError", max_results=max_results)
    assert "max_results" in message
    assert "1 to 100" in message
    assert asked.requests == []


@pytest.mark.parametrize("max_results", [True, "4", 4.5, None, [4]])
def test_a_number_of_results_that_is_no_integer_is_refused(untouched: Bedrock, max_results: Any) -> None:
    assert "max_results" in untouched.error("ValidationError", max_results=max_results)


def test_a_parameter_that_there_is_not_is_refused_by_name(untouched: Bedrock) -> None:
    assert "threshold" in untouched.error("ValidationError", threshold=0.5)


def test_the_input_is_checked_before_the_settings(untouched: Bedrock) -> None:
    with pytest.MonkeyPatch.context() as environ:
        environ.delenv("BEDROCK_KB_ID")
        assert "query must not be blank" in untouched.error("ValidationError", " ")


@pytest.mark.parametrize("max_results", [1, 100])
def test_one_result_and_a_hundred_can_be_asked_for(bedrock: Bedrock, max_results: int) -> None:
    assert bedrock.ask(max_results=max_results)["answer"] == TEXT
    [sent] = bedrock.requests
    base = sent.body["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]
    assert base["retrievalConfiguration"]["vectorSearchConfiguration"] == {"numberOfResults": max_results}


@pytest.mark.parametrize("query", [f"\u3000{QUESTION}\n", "a", "問" * 1000, "葛\U000e0100飾区", "👩‍👧"])
def test_a_question_that_says_anything_is_sent_as_it_is(bedrock: Bedrock, query: str) -> None:
    assert bedrock.ask(query)["answer"] == TEXT
    [sent] = bedrock.requests
    assert sent.body["input"] == {"text": query}


def test_an_input_that_is_right_has_the_documented_default() -> None:
    assert AnswerInput(query=QUESTION).max_results == 4
    with pytest.raises(ValidationError):
        AnswerInput.model_validate({"query": QUESTION, "max_results": 0})
