"""The schemas of the knowledge tools are the specification's."""

from typing import Any

import pytest

from tests.toolsets.knowledge.conftest import Served

# The input schemas as the specification prints them.
SEARCH: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "description": "検索クエリ（日本語・英語対応）"},
    "knowledge_base_id": {"type": "string", "format": "uuid", "description": "対象ナレッジベースのUUID"},
    "threshold": {
        "type": "number",
        "minimum": 0.0,
        "maximum": 1.0,
        "default": 0.6,
        "description": "類似度閾値（0.0〜1.0、推奨: 0.6〜0.8）",
    },
    "max_results": {
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "default": 10,
        "description": "最大返却件数（1〜50）",
    },
}
SUMMARY = {"knowledge_base_id": SEARCH["knowledge_base_id"]}


def schema(company: Served, name: str) -> dict[str, Any]:
    operation = company.application.registry.get(name)
    assert operation is not None
    return operation.input_schema()


def check(found: dict[str, Any], specified: dict[str, dict[str, Any]]) -> None:
    for name, wanted in specified.items():
        for key, value in wanted.items():
            if key == "description":
                assert found["properties"][name][key].startswith(value)
            else:
                assert found["properties"][name][key] == value
                assert type(found["properties"][name][key]) is type(value)


def test_search_takes_the_specified_parameters(company: Served) -> None:
    found = schema(company, "search_documents")
    assert found["type"] == "object"
    assert found["additionalProperties"] is False
    check(found, SEARCH)


def test_search_adds_only_what_may_be_left_out(company: Served) -> None:
    found = schema(company, "search_documents")
    assert set(found["properties"]) == {*SEARCH, "explain"}
    assert found["properties"]["explain"]["default"] is False
    assert found["required"] == ["query", "knowledge_base_id"]


def test_summary_takes_the_knowledge_base_and_nothing_else(company: Served) -> None:
    found = schema(company, "get_knowledge_base_summary")
    assert found["type"] == "object"
    assert set(found["properties"]) == set(SUMMARY)
    assert found["required"] == ["knowledge_base_id"]
    check(found, SUMMARY)


def test_normalising_takes_a_text_and_adds_only_what_may_be_left_out(company: Served) -> None:
    found = schema(company, "normalize_ocr_text")
    assert found["type"] == "object"
    assert set(found["properties"]) == {"text", "engine"}
    assert found["properties"]["engine"]["default"] == "auto"
    assert found["properties"]["text"]["type"] == "string"
    assert found["properties"]["text"]["description"] == "正規化対象のOCRテキスト"
    assert found["required"] == ["text"]


def test_the_list_of_bases_takes_nothing(company: Served) -> None:
    assert schema(company, "list_knowledge_bases")["properties"] == {}


@pytest.mark.parametrize("name", ["list_knowledge_bases", "search_documents", "get_knowledge_base_summary"])
def test_what_an_operation_answers_fits_its_output_schema(company: Served, name: str) -> None:
    operation = company.application.registry.get(name)
    assert operation is not None
    given: dict[str, Any] = {"knowledge_base_id": company.base.id, "query": "副業", "explain": True}
    wanted = operation.input_schema()["properties"]
    answer = company.call(name, {key: value for key, value in given.items() if key in wanted})
    assert answer.ok
    output = operation.output_schema()
    assert set(output["required"]) <= set(answer.body) <= set(output["properties"])
    operation.output.model_validate(answer.body)
