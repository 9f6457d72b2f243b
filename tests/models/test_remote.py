"""Models behind HTTP, against servers that speak the wire format: what is sent, what is taken, and every fault."""

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from shirube.models import registry
from shirube.models.breaker import FAILURES, Breaker
from shirube.models.contract import Embedder, Generator
from shirube.models.deadline import Timeouts
from shirube.models.errors import ModelError
from shirube.models.guarded import GuardedEmbedder, GuardedGenerator
from shirube.models.remote import (
    ANSWER_BYTES,
    ollama_embedder,
    ollama_generator,
    openai_embedder,
    openai_generator,
)
from tests.models.wire import Reply, Request, Wire, as_json, serve

TEXTS = ["副業には会社の許可が必要です。", "有給休暇は年に20日あります。", "通勤手当の申請は総務へ。"]
KEY = "sk-とても秘密".encode().hex()
QUICK = Timeouts(connect=0.2, query=0.2, batch=0.2, generate=0.2)


def vector(text: str) -> list[float]:
    """Another for each text, so that a mix-up is seen."""
    return [float(len(text)), float(sum(map(ord, text)) % 997), 1.0]


def unit(texts: list[str]) -> Any:
    rows = np.array([vector(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ollama_vectors(request: Request) -> Reply:
    assert request.path == "/api/embed"
    return as_json({"model": "bge-m3", "embeddings": [vector(text) for text in request.body["input"]]})


def openai_vectors(request: Request) -> Reply:
    assert request.path == "/v1/embeddings"
    rows = [{"index": index, "embedding": vector(text)} for index, text in enumerate(request.body["input"])]
    return as_json({"object": "list", "data": rows[::-1], "model": "日本語"})


def ollama_prose(request: Request) -> Reply:
    assert request.path == "/api/generate"
    return as_json({"response": f"答え: {request.body['prompt']}", "done": True})


def openai_prose(request: Request) -> Reply:
    assert request.path == "/v1/chat/completions"
    [message] = request.body["messages"]
    return as_json(
        {"choices": [{"message": {"role": message["role"], "content": f"答え: {message['content']}"}}]}
    )


@dataclass(frozen=True)
class Kind:
    """One kind of server: how it answers, and the models that ask it."""

    vectors: Callable[[Request], Reply]
    prose: Callable[[Request], Reply]
    form: str
    embedder: Callable[[str, str, Timeouts], Any]
    generator: Callable[[str, str, Timeouts], Any]

    def setting(self, wire: Wire) -> str:
        return self.form.format(wire.url)


KINDS = {
    "ollama": Kind(
        ollama_vectors,
        ollama_prose,
        "ollama:bge-m3@{}",
        lambda setting, url, timeouts: ollama_embedder(setting, "bge-m3", url, timeouts),
        lambda setting, url, timeouts: ollama_generator(setting, "bge-m3", url, timeouts),
    ),
    "openai": Kind(
        openai_vectors,
        openai_prose,
        "openai:日本語@{}/v1",
        lambda setting, url, timeouts: openai_embedder(setting, "日本語", url + "/v1", KEY, timeouts),
        lambda setting, url, timeouts: openai_generator(setting, "日本語", url + "/v1", KEY, timeouts),
    ),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.fixture
def wire(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    monkeypatch.setenv("SHIRUBE_OPENAI_API_KEY", KEY)
    # Nobody listens there: a model on this machine must not be asked for through it.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with serve(kind.vectors) as wire:
        yield wire


def embedder(kind: Kind, wire: Wire) -> Embedder:
    found = registry.embedder(kind.setting(wire))
    assert found is not None
    return found


def generator(kind: Kind, wire: Wire) -> Generator:
    found = registry.generator(kind.setting(wire))
    assert found is not None
    return found


def test_texts_become_vectors_in_their_order(kind: Kind, wire: Wire) -> None:
    model = embedder(kind, wire)
    assert model.embed(TEXTS) == pytest.approx(unit(TEXTS), abs=1e-6)
    assert model.embed_query("副業") == pytest.approx(unit(["副業"])[0], abs=1e-6)
    assert [request.body["input"] for request in wire.requests] == [TEXTS, ["副業"]]
    assert model.name == model.setting == kind.setting(wire)


def test_many_texts_go_in_batches_of_moderate_size(kind: Kind, wire: Wire) -> None:
    texts = [f"第{number}条 副業の許可" for number in range(100)]
    assert embedder(kind, wire).embed(texts) == pytest.approx(unit(texts), abs=1e-6)
    assert [len(request.body["input"]) for request in wire.requests] == [32, 32, 32, 4]


def test_prose_is_asked_for_in_one_piece(kind: Kind, wire: Wire) -> None:
    wire.answer = kind.prose
    assert generator(kind, wire).generate("副業の規程は?") == "答え: 副業の規程は?"
    assert wire.requests[0].body["stream"] is False


def test_the_key_goes_to_the_openai_kind_alone(kind: Kind, wire: Wire) -> None:
    embedder(kind, wire).embed_query("副業")
    expected = f"Bearer {KEY}" if kind is KINDS["openai"] else None
    assert wire.requests[0].headers.get("Authorization") == expected


def test_the_general_key_is_used_where_there_is_no_own_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHIRUBE_OPENAI_API_KEY", raising=False)
    kind = KINDS["openai"]
    with serve(kind.vectors) as wire:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
        embedder(kind, wire).embed_query("副業")
        monkeypatch.delenv("OPENAI_API_KEY")
        embedder(kind, wire).embed_query("副業")
    assert [request.headers.get("Authorization") for request in wire.requests] == ["Bearer sk-other", None]


def replies(kind: Kind, rows: Any) -> Callable[[Request], Reply]:
    if kind is KINDS["ollama"]:
        return lambda request: as_json({"embeddings": rows})
    return lambda request: as_json(
        {"data": [{"index": index, "embedding": row} for index, row in enumerate(rows)]}
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[1, 2]] * 2, "2 vectors for 3 texts"),
        ([[1, 2]] * 4, "4 vectors for 3 texts"),
        ([[1, 2], [1, 2], [1, 2, 3]], "rows of different lengths"),
        ([[1, 2], [1, 2], [1, float("nan")]], "not finite"),
        ([[1, 2], [1, 2], [0, 0]], "without a direction"),
        ([[1, 2], [1, 2], "副業"], "rows of different lengths"),
    ],
)
def test_wrong_vectors_are_model_errors(kind: Kind, wire: Wire, rows: Any, said: str) -> None:
    wire.answer = replies(kind, rows)
    assert_fault(lambda: embedder(kind, wire).embed(TEXTS), said)


def test_another_dimension_than_before_is_a_model_error(kind: Kind, wire: Wire) -> None:
    model = embedder(kind, wire)
    model.embed(TEXTS)
    wire.answer = replies(kind, [[1, 2, 3, 4]])
    assert_fault(lambda: model.embed_query("副業"), "vectors of 4 dimensions, 3 before")


def test_a_batch_too_long_does_not_make_up_for_one_too_short(kind: Kind, wire: Wire) -> None:
    counts = iter([33, 31])
    wire.answer = lambda request: replies(kind, [[1.0, 2.0]] * next(counts))(request)
    assert_fault(lambda: embedder(kind, wire).embed(["副業"] * 64), "33 vectors for 32 texts")


@pytest.mark.parametrize("indices", [[0, 0, 1], [1, 2, 3], [0, 1, "2"], [0, 1, None]])
def test_vectors_that_do_not_belong_to_one_text_each_are_an_error(indices: list[Any]) -> None:
    kind = KINDS["openai"]
    data = [{"index": index, "embedding": [1.0, 2.0]} for index in indices]
    with serve(lambda request: as_json({"data": data})) as wire:
        assert_fault(lambda: embedder(kind, wire).embed(TEXTS), "the answer has no")


REFUSALS = {
    400: "refused the request (HTTP 400)",
    401: "access was refused (HTTP 401)",
    404: "no such model or path (HTTP 404)",
    429: "asked too often (HTTP 429)",
    500: "the server failed (HTTP 500)",
}


@pytest.mark.parametrize("status", REFUSALS)
def test_a_refusal_is_said_once_without_the_servers_words(kind: Kind, wire: Wire, status: int) -> None:
    wire.answer = lambda request: as_json({"error": f"{KEY} {request.body}"}, status)
    assert_fault(lambda: embedder(kind, wire).embed(TEXTS), REFUSALS[status])
    assert_fault(lambda: generator(kind, wire).generate(TEXTS[0]), REFUSALS[status])
    assert len(wire.requests) == 2


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>\xe5\x89\xaf\xe6\xa5\xad</html>", "the answer is not JSON"),
        (b"", "the answer is not JSON"),
        (b"\xff\xfe\xff", "the answer is not JSON"),
        (b"[" * 200_000, "the answer is not JSON"),
        (b"[]", "the answer has no"),
        (b'{"other": 1}', "the answer has no"),
        (b"null", "the answer has no"),
    ],
)
def test_an_answer_of_another_form_is_a_model_error(kind: Kind, wire: Wire, body: bytes, said: str) -> None:
    wire.answer = lambda request: Reply(body)
    assert_fault(lambda: embedder(kind, wire).embed(TEXTS), said)
    assert_fault(lambda: generator(kind, wire).generate("副業"), said)


def test_a_huge_answer_is_not_read_to_its_end(kind: Kind, wire: Wire) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 4 * ANSWER_BYTES:
            sent += 1 << 20
            yield b" " * (1 << 20)

    wire.answer = lambda request: Reply(endless())
    assert_fault(lambda: embedder(kind, wire).embed(TEXTS), f"more than {ANSWER_BYTES} bytes")
    assert sent < 2 * ANSWER_BYTES


def test_a_server_that_is_down_is_said_to_be(kind: Kind, wire: Wire) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        wire.url = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert_fault(lambda: embedder(kind, wire).embed(TEXTS), "cannot be reached")
    assert_fault(lambda: generator(kind, wire).generate("副業"), "cannot be reached")


def test_a_server_that_hangs_up_is_a_model_error(kind: Kind, wire: Wire) -> None:
    wire.answer = lambda request: Reply(iter([b"{}"]), 200, {"Content-Length": "1000"})
    assert_fault(lambda: embedder(kind, wire).embed(TEXTS), "the connection failed with")


@pytest.mark.parametrize("way", ["silent", "dripping"])
def test_a_slow_server_is_left_when_the_whole_call_takes_too_long(kind: Kind, wire: Wire, way: str) -> None:
    wire.answer = getattr(wire, way)
    vectors = GuardedEmbedder(kind.embedder(kind.setting(wire), wire.url, QUICK))
    prose = GuardedGenerator(kind.generator(kind.setting(wire), wire.url, QUICK))
    for call in (
        lambda: vectors.embed(TEXTS),
        lambda: vectors.embed_query("副業"),
        lambda: prose.generate("副業"),
    ):
        started = time.monotonic()
        assert_fault(call, "no answer within 0.2 s")
        assert time.monotonic() - started < 3


def test_the_times_are_those_of_the_specification() -> None:
    assert Timeouts() == Timeouts(connect=3, query=10, batch=120, generate=60)


def test_a_query_and_a_batch_have_times_of_their_own(kind: Kind, wire: Wire) -> None:
    wire.answer = wire.silent
    timeouts = Timeouts(query=0.1, batch=0.2)
    model = GuardedEmbedder(kind.embedder(kind.setting(wire), wire.url, timeouts))
    assert_fault(lambda: model.embed_query("副業"), "no answer within 0.1 s")
    assert_fault(lambda: model.embed(["副業"]), "no answer within 0.2 s")


def test_no_redirect_is_followed(kind: Kind, wire: Wire) -> None:
    with serve(kind.vectors) as other:
        wire.answer = lambda request: Reply(b"", 307, {"Location": other.url + request.path})
        assert_fault(lambda: embedder(kind, wire).embed(TEXTS), "the server points elsewhere (HTTP 307)")
        assert other.requests == []


def test_a_model_that_keeps_failing_is_left_alone_until_a_try_succeeds(kind: Kind, wire: Wire) -> None:
    now = 0.0
    raw = kind.embedder(kind.setting(wire), wire.url, Timeouts())
    model = GuardedEmbedder(raw, Breaker(lambda: now))
    wire.answer = lambda request: as_json({}, 500)
    for _ in range(FAILURES):
        assert_fault(lambda: model.embed_query("副業"), "the server failed")
    assert_fault(lambda: model.embed_query("副業"), "left out after 5 failures in a row")
    assert len(wire.requests) == FAILURES
    now = 30.0
    wire.answer = kind.vectors
    assert model.embed_query("副業") == pytest.approx(unit(["副業"])[0], abs=1e-6)
    assert model.embed(TEXTS) == pytest.approx(unit(TEXTS), abs=1e-6)


def assert_fault(call: Callable[[], object], said: str) -> None:
    """A `ModelError` that names the model and the reason, and neither key nor text."""
    with pytest.raises(ModelError) as caught:
        call()
    message = str(caught.value)
    assert said in message
    assert message.startswith(("ollama:bge-m3@", "openai:日本語@"))
    assert KEY not in message
    assert not any(text in message for text in TEXTS)
