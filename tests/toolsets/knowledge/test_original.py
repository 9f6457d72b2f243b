"""The HTTP forms of the original services: the same search under their names, and the tools by name."""

from typing import Any

import pytest

from shirube.caller import claimed
from tests.toolsets.knowledge.conftest import Served

SEEDS_REQUEST: dict[str, Any] = {"query": "副業の規定を教えて", "threshold": 0.3}


def told(body: Any) -> dict[str, Any]:
    """An answer without what differs from call to call."""
    return {key: value for key, value in body.items() if key not in ("run_id", "took_ms", "generated_at")}


def test_the_hybrid_search_is_the_search_of_the_tool(company: Served) -> None:
    given = {**SEEDS_REQUEST, "kb_id": company.base.id, "top_k": 3}
    answer = company.call("search_hybrid", given)
    assert answer.ok, answer.body
    assert answer.body["count"] == 3
    wanted = company.found(SEEDS_REQUEST["query"], threshold=0.3, max_results=3)
    assert told(answer.body) == told(wanted)


def test_the_hybrid_search_has_the_defaults_of_the_tool(company: Served) -> None:
    answer = company.call("search_hybrid", {"query": "副業", "kb_id": company.base.id})
    assert told(answer.body) == told(company.found("副業"))


@pytest.mark.parametrize(
    ("wrong", "detail"),
    [
        ({"threshold": 1.5}, "threshold out of range (0.0-1.0)"),
        ({"top_k": 51}, "top_k exceeds limit (50)"),
        ({"top_k": 0}, "top_k must be an integer from 1 to 50"),
        ({"kb_id": "x"}, "kb_id must be a UUID"),
        ({"knowledge_base_id": "x"}, "knowledge_base_id is not a parameter"),
        ({"query": ""}, "query must not be empty"),
    ],
)
def test_what_is_wrong_is_named_as_it_was_asked(company: Served, wrong: dict[str, Any], detail: str) -> None:
    answer = company.call("search_hybrid", {"query": "副業", "kb_id": company.base.id, **wrong})
    assert (answer.body["status"], answer.body["detail"]) == (422, detail)


def test_the_hybrid_search_sees_what_its_caller_may_see(company: Served) -> None:
    given = {"query": "副業", "kb_id": company.base.id}
    stranger = claimed({"tenant_id": "乙社", "sub": "hanako", "roles": ["admin"]})
    assert company.call("search_hybrid", given, stranger).body["detail"] == "Knowledge base not found"


def test_the_tools_are_listed_with_their_input_schemas(company: Served) -> None:
    tools = {tool["name"]: tool for tool in company.call("list_tools", {}).body["tools"]}
    assert {"search_documents", "get_knowledge_base_summary", "normalize_ocr_text"} <= set(tools)
    assert not {"search_hybrid", "list_tools", "call_tool"} & set(tools)
    search = tools["search_documents"]["inputSchema"]
    assert search["required"] == ["query", "knowledge_base_id"]
    assert search["properties"]["max_results"]["maximum"] == 50


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search_documents", {"query": "副業"}),
        ("get_knowledge_base_summary", {}),
        ("normalize_ocr_text", {"text": "マネ-ジャ-"}),
    ],
)
def test_a_tool_is_called_by_name(company: Served, name: str, arguments: dict[str, Any]) -> None:
    if name != "normalize_ocr_text":
        arguments = {**arguments, "knowledge_base_id": company.base.id}
    answer = company.call("call_tool", {"name": name, "arguments": arguments})
    assert answer.ok, answer.body
    assert told(answer.body) == told(company.call(name, arguments).body)


@pytest.mark.parametrize("name", ["", "rm", "call_tool", "search_hybrid"])
def test_what_is_no_tool_is_not_called(company: Served, name: str) -> None:
    answer = company.call("call_tool", {"name": name, "arguments": {}})
    assert (answer.body["status"], answer.body["detail"]) == (404, f"Unknown tool: {name}")


def test_an_error_of_the_tool_comes_as_it_is(company: Served) -> None:
    given = {"query": "副業", "knowledge_base_id": company.base.id, "threshold": 2}
    answer = company.call("call_tool", {"name": "search_documents", "arguments": given})
    assert answer.body == company.call("search_documents", given).body
    assert answer.body["status"] == 422


@pytest.mark.parametrize(
    "wrong", [{}, {"name": 5}, {"name": "x", "arguments": []}, {"name": "x", "y": 1}, []]
)
def test_a_call_that_is_none_is_a_typed_error(company: Served, wrong: Any) -> None:
    assert company.call("call_tool", wrong).body["status"] == 422
