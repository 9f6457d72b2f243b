"""What RetrieveAndGenerate answers, in our form: nothing lost, nothing made up."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.toolsets.answers.bedrock import parsed_response

LOCATIONS = {
    "S3": ("s3Location", "uri"),
    "WEB": ("webLocation", "url"),
    "CONFLUENCE": ("confluenceLocation", "url"),
    "SALESFORCE": ("salesforceLocation", "url"),
    "SHAREPOINT": ("sharePointLocation", "url"),
    "CUSTOM": ("customDocumentLocation", "id"),
    "KENDRA": ("kendraDocumentLocation", "uri"),
    "SQL": ("sqlLocation", "query"),
}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
SCORES = st.floats(0, 1) | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def locations(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(list(LOCATIONS)))
    holder, member = LOCATIONS[kind]
    return {"type": kind, holder: {member: draw(st.text(max_size=10))}}


@st.composite
def references(draw: st.DrawFn) -> dict[str, Any]:
    reference: dict[str, Any] = {
        "content": {"text": draw(st.text(max_size=10)), **draw(st.sampled_from([{}, {"type": "TEXT"}]))},
        "location": draw(locations()),
    }
    if draw(st.booleans()):
        reference["score"] = draw(st.none() | SCORES)
    if draw(st.booleans()):
        reference["metadata"] = draw(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=3))
    return reference


def identity(reference: dict[str, Any]) -> str:
    return json.dumps([reference["content"]["text"], reference["location"]], sort_keys=True)


@st.composite
def responses(draw: st.DrawFn) -> dict[str, Any]:
    """A valid response, in which the same reference is often used more than once."""
    pool = draw(st.lists(references(), min_size=1, max_size=5, unique_by=identity))
    groups = []
    for _ in range(draw(st.integers(0, 5))):
        group: dict[str, Any] = {"retrievedReferences": draw(st.lists(st.sampled_from(pool), max_size=4))}
        if draw(st.booleans()):
            start = draw(st.integers(0, 50))
            span = {"start": start, "end": start + draw(st.integers(0, 50))}
            group["generatedResponsePart"] = {"textResponsePart": {"text": draw(st.text()), "span": span}}
        groups.append(group)
    response: dict[str, Any] = {"output": {"text": draw(st.text())}, "citations": groups}
    if draw(st.booleans()):
        response |= {
            "sessionId": "0f3c7a52",
            "guardrailAction": "NONE",
            "ResponseMetadata": {"HTTPStatusCode": 200},
        }
    return response


@settings(max_examples=300)
@given(responses())
def test_an_answer_is_parsed_with_every_reference(response: dict[str, Any]) -> None:
    """**Feature: mcp-bedrock-kb, Property 3: レスポンスパースで全フィールドを抽出**"""
    parsed = parsed_response(response)
    assert parsed.answer == response["output"]["text"]

    expected: dict[str, dict[str, Any]] = {}
    spans: dict[str, list[tuple[int, int]]] = {}
    for group in response["citations"]:
        part = group.get("generatedResponsePart", {}).get("textResponsePart", {}).get("span")
        for reference in group["retrievedReferences"]:
            name = identity(reference)
            expected.setdefault(name, reference)
            spans.setdefault(name, []).extend([(part["start"], part["end"])] if part else [])
    assert [(each.content, each.location, each.score) for each in parsed.citations] == [
        (reference["content"]["text"], reference["location"], reference.get("score"))
        for reference in expected.values()
    ]
    assert [list(dict.fromkeys(each.spans)) for each in parsed.citations] == [
        list(dict.fromkeys(each)) for each in spans.values()
    ]


def without_some(value: Any, draw: Callable[[st.SearchStrategy[int]], int]) -> Any:
    """`value` with any of its members left out, or null."""
    if isinstance(value, dict):
        kept = {name: without_some(each, draw) for name, each in value.items() if draw(st.integers(0, 3))}
        return {name: each if draw(st.integers(0, 3)) else None for name, each in kept.items()}
    return [without_some(each, draw) for each in value] if isinstance(value, list) else value


@given(responses(), st.data())
def test_whatever_is_missing_the_rest_is_parsed(response: dict[str, Any], data: st.DataObject) -> None:
    left = without_some(response, data.draw)
    parsed = parsed_response(left)
    assert parsed.answer == ((left.get("output") or {}).get("text") or "")
    for citation in parsed.citations:
        assert isinstance(citation.content, str)
        assert isinstance(citation.location, dict)
        assert citation.score is None or isinstance(citation.score, float)
    used = [
        (reference.get("content") or {}).get("text")
        for group in left.get("citations") or ()
        for reference in group.get("retrievedReferences") or ()
    ]
    assert {each or "" for each in used} == {citation.content for citation in parsed.citations}


def test_the_documented_response_is_parsed_completely() -> None:
    location = {"s3Location": {"uri": "s3://規程/副業.md"}, "type": "S3"}
    parsed = parsed_response(
        {
            "output": {"text": "生成された回答..."},
            "citations": [
                {
                    "retrievedReferences": [
                        {"content": {"text": "ソースチャンク..."}, "location": location, "score": 0.85}
                    ]
                }
            ],
        }
    )
    assert parsed.answer == "生成された回答..."
    [citation] = parsed.citations
    assert (citation.content, citation.location, citation.score) == ("ソースチャンク...", location, 0.85)
    assert citation.spans == []
    assert parsed.intervened is False


@pytest.mark.parametrize(
    "rest",
    [
        {},
        {"citations": []},
        {"citations": None},
        {"citations": [{}]},
        {"citations": [{"retrievedReferences": []}]},
        {"citations": [{"generatedResponsePart": {"textResponsePart": {"span": {"start": 0, "end": 3}}}}]},
    ],
)
def test_an_answer_without_references_has_no_citations(rest: dict[str, Any]) -> None:
    parsed = parsed_response({"output": {"text": "分かりません。"}, **rest})
    assert parsed.answer == "分かりません。"
    assert parsed.citations == []


@pytest.mark.parametrize("response", [{}, {"output": {}}, {"output": None}, {"output": {"text": None}}])
def test_a_response_without_a_text_has_an_empty_answer(response: dict[str, Any]) -> None:
    assert parsed_response(response).answer == ""


@pytest.mark.parametrize(
    "reference",
    [
        {"content": {"text": "本文"}, "location": {"type": "S3"}},
        {"content": {"text": "本文"}, "location": {"type": "S3"}, "score": None},
    ],
)
def test_a_score_that_is_not_given_is_null(reference: dict[str, Any]) -> None:
    [citation] = parsed_response({"citations": [{"retrievedReferences": [reference]}]}).citations
    assert citation.score is None


def test_a_score_of_zero_is_a_score() -> None:
    reference = {"content": {"text": "本文"}, "location": {"type": "S3"}, "score": 0.0}
    [citation] = parsed_response({"citations": [{"retrievedReferences": [reference]}]}).citations
    assert citation.score == 0.0
    assert citation.score is not None


def test_the_same_text_at_two_places_is_two_references() -> None:
    places = [{"type": "S3", "s3Location": {"uri": f"s3://規程/{name}.md"}} for name in ("副業", "手当")]
    group = {"retrievedReferences": [{"content": {"text": "許可"}, "location": place} for place in places]}
    assert [each.location for each in parsed_response({"citations": [group]}).citations] == places


def test_the_order_of_members_does_not_make_two_references_of_one() -> None:
    one = {"content": {"text": "許可"}, "location": {"type": "S3", "s3Location": {"uri": "s3://a"}}}
    same = {"location": {"s3Location": {"uri": "s3://a"}, "type": "S3"}, "content": {"text": "許可"}}
    assert len(parsed_response({"citations": [{"retrievedReferences": [one, same]}]}).citations) == 1


def test_references_without_text_stay_apart_where_their_content_differs() -> None:
    """The rows of one SQL query have one location, and no text."""
    location = {"type": "SQL", "sqlLocation": {"query": "SELECT 氏名 FROM 社員"}}
    rows = [
        {
            "content": {
                "type": "ROW",
                "row": [{"columnName": "氏名", "columnValue": name, "type": "STRING"}],
            },
            "location": location,
        }
        for name in ("山田", "佐藤")
    ]
    citations = parsed_response({"citations": [{"retrievedReferences": rows}]}).citations
    assert [citation.location for citation in citations] == [location, location]


def test_an_intervening_guardrail_is_known() -> None:
    assert parsed_response(
        {"output": {"text": "答えられません。"}, "guardrailAction": "INTERVENED"}
    ).intervened


def test_a_response_is_not_changed_by_being_parsed() -> None:
    response = {
        "output": {"text": "答え"},
        "citations": [
            {"retrievedReferences": [{"content": {"text": "許可"}, "location": {"type": "WEB"}}]},
        ],
    }
    before = json.dumps(response)
    parsed = parsed_response(response)
    parsed.citations[0].location["type"] = "S3"
    assert json.dumps(response) == before
