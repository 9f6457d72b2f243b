"""Bedrock through boto3, against a local endpoint: requests as its models want them, and every fault."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

from shirube.errors import InvalidInput
from shirube.models import registry
from shirube.models.bedrock import bedrock_embedder, bedrock_generator
from shirube.models.contract import Embedder, Generator
from shirube.models.deadline import Timeouts
from shirube.models.errors import ModelError
from shirube.models.guarded import GuardedEmbedder, GuardedGenerator
from shirube.models.remote import ANSWER_BYTES
from tests.models.wire import Reply, Request, Wire, as_json, serve

TITAN = "amazon.titan-embed-text-v2:0"
COHERE = "cohere.embed-multilingual-v3"
CLAUDE = "jp.anthropic.claude-sonnet-4-5-20250929-v1:0"
TEXTS = ["副業には会社の許可が必要です。", "有給休暇は年に20日あります。", "通勤手当の申請は総務へ。"]
SECRET = "aws-very-secret"
QUICK = Timeouts(connect=0.2, query=0.2, batch=0.2, generate=0.2)


def vector(text: str) -> list[float]:
    return [float(len(text)), float(sum(map(ord, text)) % 997), 1.0]


def unit(texts: list[str]) -> Any:
    rows = np.array([vector(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def answer(request: Request) -> Reply:
    """As the two families of embedders and the conversation interface answer."""
    path = unquote(request.path)
    if path == f"/model/{TITAN}/invoke":
        return as_json({"embedding": vector(request.body["inputText"]), "inputTextTokenCount": 9})
    if path == f"/model/{COHERE}/invoke":
        rows = [vector(text) for text in request.body["texts"]]
        return as_json({"embeddings": rows, "response_type": "embeddings_floats"})
    assert path == f"/model/{CLAUDE}/converse"
    [message] = request.body["messages"]
    content = [
        {"reasoningContent": {"reasoningText": {"text": "考え中"}}},
        {"text": "答え: "},
        {"text": message["content"][0]["text"]},
    ]
    return as_json(
        {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": "end_turn",
            "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
            "metrics": {"latencyMs": 1},
        }
    )


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    for name in ("AWS_PROFILE", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "dummy")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "ap-northeast-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with serve(answer) as wire:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", wire.url)
        yield wire


def embedder(model: str) -> Embedder:
    found = registry.embedder(f"bedrock:{model}")
    assert found is not None
    return found


def generator() -> Generator:
    found = registry.generator(f"bedrock:{CLAUDE}")
    assert found is not None
    return found


def test_titan_is_asked_text_by_text(wire: Wire) -> None:
    model = embedder(TITAN)
    assert model.embed(TEXTS) == pytest.approx(unit(TEXTS), abs=1e-6)
    assert model.embed_query("副業") == pytest.approx(unit(["副業"])[0], abs=1e-6)
    assert [request.body for request in wire.requests] == [{"inputText": text} for text in [*TEXTS, "副業"]]
    assert model.name == model.setting == f"bedrock:{TITAN}"


def test_cohere_is_told_queries_from_passages(wire: Wire) -> None:
    model = embedder(COHERE)
    assert model.embed(TEXTS) == pytest.approx(unit(TEXTS), abs=1e-6)
    assert model.embed_query("副業") == pytest.approx(unit(["副業"])[0], abs=1e-6)
    assert [request.body for request in wire.requests] == [
        {"texts": TEXTS, "input_type": "search_document", "truncate": "END"},
        {"texts": ["副業"], "input_type": "search_query", "truncate": "END"},
    ]


def test_cohere_gets_no_text_and_no_batch_that_it_would_refuse(wire: Wire) -> None:
    texts = [f"第{number}条" * 1000 for number in range(100)]
    embedder(COHERE).embed(texts)
    sent = [request.body["texts"] for request in wire.requests]
    assert max(map(len, sent)) <= 96
    assert [text for batch in sent for text in batch] == [text[:2048] for text in texts]


def test_a_conversation_gives_its_text_without_its_thoughts(wire: Wire) -> None:
    assert generator().generate("副業の規程は?") == "答え: 副業の規程は?"


def test_only_known_families_are_asked_for_vectors(wire: Wire) -> None:
    with pytest.raises(InvalidInput, match=r"titan-embed-text and cohere\.embed") as caught:
        registry.embedder(f"bedrock:{CLAUDE}")
    assert "モデルだけ" in caught.value.ja


REFUSALS = {
    403: "access was refused (HTTP 403)",
    429: "asked too often (HTTP 429)",
    500: "the server failed (HTTP 500)",
}


@pytest.mark.parametrize("status", REFUSALS)
def test_a_refusal_is_said_once_without_the_servers_words(wire: Wire, status: int) -> None:
    wire.answer = lambda request: as_json({"message": f"{SECRET} {request.body}"}, status)
    assert_fault(lambda: embedder(TITAN).embed_query(TEXTS[0]), REFUSALS[status])
    assert_fault(lambda: generator().generate(TEXTS[0]), REFUSALS[status])
    assert len(wire.requests) == 2


@pytest.mark.parametrize(
    ("body", "said"),
    [
        # boto3 takes these two for objects without what they should hold.
        (b"", "the answer has no output.message.content"),
        (b"<html></html>", "the answer has no output.message.content"),
        (b"\xff\xfe", "the answer cannot be read"),
    ],
)
def test_an_answer_that_is_not_json_is_a_model_error(wire: Wire, body: bytes, said: str) -> None:
    wire.answer = lambda request: Reply(body)
    assert_fault(lambda: embedder(COHERE).embed(TEXTS), "the answer is not JSON")
    assert_fault(lambda: generator().generate("副業"), said)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "the answer has no output.message.content"),
        ([1], "the answer cannot be read"),
        ({"output": {"message": {"role": "assistant", "content": []}}}, "an answer without text"),
    ],
)
def test_a_conversation_without_text_is_a_model_error(wire: Wire, body: Any, said: str) -> None:
    wire.answer = lambda request: as_json(body)
    assert_fault(lambda: generator().generate("副業"), said)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"other": 1}, "the answer has no embeddings"),
        ({"embeddings": [[1, 2]] * 2}, "2 vectors for 3 texts"),
        ({"embeddings": [[1, 2], [1, 2], [1, 2, 3]]}, "rows of different lengths"),
        ({"embeddings": [[1, 2], [1, 2], [1, float("nan")]]}, "not finite"),
        ({"embeddings": {"float": [[1, 2]] * 3}}, "not a list of vectors"),
    ],
)
def test_wrong_vectors_are_model_errors(wire: Wire, body: Any, said: str) -> None:
    wire.answer = lambda request: Reply(json.dumps(body).encode())
    assert_fault(lambda: embedder(COHERE).embed(TEXTS), said)


def test_another_dimension_than_before_is_a_model_error(wire: Wire) -> None:
    model = embedder(TITAN)
    model.embed(TEXTS)
    wire.answer = lambda request: as_json({"embedding": [1, 2]})
    assert_fault(lambda: model.embed_query("副業"), "vectors of 2 dimensions, 3 before")


def test_a_huge_answer_is_not_taken(wire: Wire) -> None:
    wire.answer = lambda request: Reply(b" " * (ANSWER_BYTES + 10))
    assert_fault(lambda: embedder(TITAN).embed_query("副業"), f"more than {ANSWER_BYTES} bytes")


def test_a_server_that_is_down_is_said_to_be(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", url)
    assert_fault(lambda: embedder(TITAN).embed_query("副業"), "cannot be reached")


@pytest.mark.parametrize("way", ["silent", "dripping"])
def test_a_slow_server_is_left_when_the_whole_call_takes_too_long(wire: Wire, way: str) -> None:
    wire.answer = getattr(wire, way)
    vectors = GuardedEmbedder(bedrock_embedder(f"bedrock:{TITAN}", TITAN, QUICK))
    prose = GuardedGenerator(bedrock_generator(f"bedrock:{CLAUDE}", CLAUDE, QUICK))
    for call in (
        lambda: vectors.embed(TEXTS),
        lambda: vectors.embed_query("副業"),
        lambda: prose.generate("副業"),
    ):
        started = time.monotonic()
        assert_fault(call, "no answer within 0.2 s")
        assert time.monotonic() - started < 3


@pytest.mark.parametrize("missing", ["AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID"])
def test_what_is_missing_of_aws_is_said(wire: Wire, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.delenv(missing)
    assert_fault(
        lambda: embedder(TITAN).embed_query("資格情報なし"),
        "AWS credentials or a region are missing; set AWS_DEFAULT_REGION",
    )
    # A call that another test left behind may still come in; this one must not.
    assert not [request for request in wire.requests if "資格情報なし" in str(request.body)]


def assert_fault(call: Callable[[], object], said: str) -> None:
    with pytest.raises(ModelError) as caught:
        call()
    message = str(caught.value)
    assert said in message
    assert message.startswith("bedrock:")
    assert SECRET not in message
    assert not any(text in message for text in TEXTS)
