"""What RetrieveAndGenerate is asked: everything it needs, as the service's own model has it."""

import boto3
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.toolsets.answers.bedrock import query_knowledge_base, request
from shirube.toolsets.answers.config import KBConfig
from tests.toolsets.answers.conftest import (
    CONFIGS,
    KB_ID,
    MAX_RESULTS,
    MODEL_ARN,
    QUERIES,
    QUESTION,
    TEXT,
    Bedrock,
    assert_fits,
    request_shape,
)

SHAPE = request_shape()


@settings(max_examples=300)
@given(CONFIGS, QUERIES, MAX_RESULTS)
def test_a_request_carries_all_that_was_asked_and_set(config: KBConfig, query: str, max_results: int) -> None:
    """**Feature: mcp-bedrock-kb, Property 4: リクエスト構築で全パラメータを含む**"""
    built = request(config, query, max_results)
    assert built["input"]["text"] == query
    chosen = built["retrieveAndGenerateConfiguration"]
    assert chosen["type"] == "KNOWLEDGE_BASE"
    base = chosen["knowledgeBaseConfiguration"]
    assert base["knowledgeBaseId"] == config.kb_id
    assert base["modelArn"] == config.model_arn
    retrieval = base["retrievalConfiguration"]["vectorSearchConfiguration"]
    assert retrieval["numberOfResults"] == max_results
    assert type(retrieval["numberOfResults"]) is int
    assert_fits(SHAPE, built)


@given(CONFIGS, QUERIES, MAX_RESULTS, st.integers(1, 100))
def test_no_request_shares_anything_with_another(
    config: KBConfig, query: str, max_results: int, other: int
) -> None:
    first = request(config, query, max_results)
    second = request(config, query + "？", other)
    assert first == request(config, query, max_results)
    assert second["input"]["text"] != first["input"]["text"]


def test_four_results_are_asked_for_where_nothing_is_said(bedrock: Bedrock) -> None:
    client = boto3.client(
        "bedrock-agent-runtime", region_name="ap-northeast-1", endpoint_url=bedrock.wire.url
    )
    config = KBConfig("ap-northeast-1", KB_ID, MODEL_ARN)
    assert query_knowledge_base(client, config, QUESTION).answer == TEXT
    [sent] = bedrock.requests
    assert sent.body == request(config, QUESTION, 4)
