"""HTTP as a client meets it: REST made from the registry, health, what is refused before anybody looks."""

import gzip
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from shirube.serve.examples import EXAMPLES
from shirube.serve.guard import BODY_LIMIT, depth
from shirube.serve.openapi import openapi_document
from shirube.serve.settings import Rate, ServeSettings
from shirube.store.bases import KnowledgeBase
from tests.serve.web import Web, office, serving


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, KnowledgeBase]]:
    application, base = office(tmp_path_factory.mktemp("office"))
    with serving(application, insecure_local=True) as web:
        yield web, base


@pytest.fixture
def web(opened: tuple[Web, KnowledgeBase]) -> Web:
    return opened[0]


@pytest.fixture
def base(opened: tuple[Web, KnowledgeBase]) -> str:
    return opened[1].id


class TestRest:
    def test_a_search_is_answered_with_japanese_as_it_is(self, web: Web, base: str) -> None:
        answer = web.post(
            "/v1/knowledge-bases/search", {"query": "副業", "knowledge_base_id": base, "threshold": 0}
        )
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert "副業には会社の許可が必要です。" in answer.text

    def test_a_name_in_the_path_is_an_argument(self, web: Web, base: str) -> None:
        assert web.get(f"/v1/knowledge-bases/{base}/summary").json()["statistics"]["total_documents"] == 2

    def test_a_query_string_has_the_types_of_the_operation(self, web: Web) -> None:
        asked = {"q": "農業", "limit": "3", "tier": ["S", "A"], "include_excluded": "true"}
        assert web.get("/v1/programs/search", params=asked).json()["limit"] == 3
        wrong = web.get("/v1/programs/search", params={"limit": "three"})
        assert wrong.status_code == 422
        assert "limit" in wrong.text

    def test_a_name_with_a_slash_reaches_the_operation(self, web: Web) -> None:
        answer = web.get("/v1/patents/publications/WO2023%2F123456")
        assert answer.status_code == 404
        assert "WO2023/123456" in answer.text

    def test_the_paths_of_the_original_services_answer(self, web: Web, base: str) -> None:
        found = web.post("/admin/search/hybrid", {"query": "副業", "kb_id": base, "threshold": 0}).json()
        assert found["count"] >= 1
        assert {each["name"] for each in web.get("/mcp/tools").json()["tools"]} >= {
            "search_documents",
            "kb_answer",
        }
        called = web.post("/mcp/call_tool", {"name": "list_knowledge_bases", "arguments": {}}).json()
        assert called["count"] == 1

    def test_every_operation_can_be_called_by_name(self, web: Web) -> None:
        assert web.call("list_knowledge_bases", {}).json()["count"] == 1
        assert web.call("nothing", {}).status_code == 404

    @pytest.mark.parametrize("body", ["{", "", "[]", "null", "3", '"x"'])
    def test_a_body_that_is_no_object_is_an_error_of_the_operation(self, web: Web, body: str) -> None:
        answer = web.post("/v1/knowledge-bases/search", content=body)
        assert answer.status_code == 422
        assert answer.json()["code"] == "INVALID_INPUT"
        assert answer.headers["content-type"] == "application/problem+json"

    def test_what_is_unchanged_is_not_sent_again(self, web: Web) -> None:
        first = web.get("/v1/knowledge-bases")
        again = web.get("/v1/knowledge-bases", {"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        other = web.get("/v1/knowledge-bases", {"If-None-Match": '"other"'})
        assert other.content == first.content

    def test_long_answers_are_compressed_for_those_who_can_read_them(self, web: Web) -> None:
        with httpx2.stream("GET", f"{web.url}/openapi.json", headers={"Accept-Encoding": "gzip"}) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
        assert json.loads(gzip.decompress(raw))["openapi"] == "3.1.0"

    def test_chat_is_answered_and_streamed(self, web: Web, base: str) -> None:
        asked = {"message": "このKBについて", "knowledge_base_id": base}
        assert web.post("/v1/chat", asked).json()["tool_name"] == "get_knowledge_base_summary"
        for streamed in (
            web.post("/v1/chat", {**asked, "stream": True}),
            web.post("/v1/chat", asked, {"Accept": "text/event-stream"}),
        ):
            assert streamed.headers["content-type"].startswith("text/event-stream")
            events = [line for line in streamed.text.splitlines() if line.startswith("event:")]
            assert events[-1] == "event: done"
        plain = web.post("/v1/chat", {**asked, "stream": False}, {"Accept": "text/event-stream"})
        assert plain.headers["content-type"].startswith("application/json")

    @pytest.mark.parametrize(
        ("method", "path", "status"), [("GET", "/nothing", 404), ("PUT", "/v1/meta", 405)]
    )
    def test_what_is_not_there_is_a_problem(self, web: Web, method: str, path: str, status: int) -> None:
        answer = httpx2.request(method, web.url + path)
        assert answer.status_code == status
        assert answer.json()["status"] == status
        assert answer.headers["content-type"] == "application/problem+json"


class TestHealth:
    def test_health_and_readiness(self, web: Web) -> None:
        assert web.get("/healthz").json() == {"status": "ok"}
        assert web.get("/readyz").json() == {"status": "ok"}

    def test_figures_count_calls_and_name_nobody(self, web: Web) -> None:
        web.call("list_knowledge_bases", {})
        shown = web.get("/metrics").text
        assert 'shirube_calls_total{operation="list_knowledge_bases",outcome="ok"}' in shown
        assert "local" not in shown

    def test_a_store_that_cannot_be_asked_is_not_ready(
        self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        application, _ = office(tmp_path)
        with serving(application, insecure_local=True) as web:
            assert web.get("/readyz").status_code == 200

            def refuse() -> Any:
                raise OSError("gone")

            monkeypatch.setattr(application.workspace().database, "read", refuse)
            assert web.get("/readyz").status_code == 503
            assert web.get("/healthz").status_code == 200


class TestOpenApi:
    def test_every_operation_has_an_example_that_it_takes(self, web: Web) -> None:
        for operation in web.application.registry:
            operation.input.model_validate(EXAMPLES[operation.name])

    def test_the_document_names_every_operation_and_every_reference_leads_somewhere(self, web: Web) -> None:
        document = web.get("/openapi.json").json()
        text = json.dumps(document)
        named = {each["operationId"] for path in document["paths"].values() for each in path.values()}
        names = {operation.name for operation in web.application.registry}
        assert named == names | {f"call_{name}" for name in names} | {"chat"}
        for reference in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
            assert reference in document["components"]["schemas"]

    def test_tokens_are_asked_for_where_they_are_needed(self, web: Web) -> None:
        closed = openapi_document(web.application.registry, ServeSettings())
        assert closed["security"] == [{"bearer": []}]


class TestRefusals:
    @pytest.mark.parametrize(
        "host",
        [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost@evil.example",
            "evil.example@localhost",
            "[",
            "[::1",
            "evil",
        ],
    )
    def test_another_host_is_not_answered(self, web: Web, host: str) -> None:
        answer = web.get("/v1/knowledge-bases", {"Host": host})
        assert answer.status_code == 421
        assert "knowledge" not in answer.text

    @pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example", "x"])
    def test_a_page_of_another_origin_is_not_answered(self, web: Web, origin: str) -> None:
        assert web.post("/mcp", {}, {"Origin": origin}).status_code == 403
        assert web.get("/v1/knowledge-bases", {"Origin": origin}).status_code == 403

    def test_a_page_of_this_machine_is(self, web: Web) -> None:
        assert web.get("/v1/knowledge-bases", {"Origin": "http://localhost:3000"}).status_code == 200

    @pytest.mark.parametrize("path", ["/v1/answer", "/mcp", "/v1/chat"])
    def test_a_body_of_5_mb_is_refused(self, web: Web, path: str) -> None:
        answer = web.post(path, content=b" " * 5_000_000)
        assert answer.status_code == 413

    def test_a_body_that_does_not_say_how_long_it_is_is_cut_off(self, web: Web) -> None:
        def pieces() -> Iterator[bytes]:
            for _ in range(BODY_LIMIT // 65536 + 2):
                yield b" " * 65536

        assert web.post("/v1/answer", content=pieces()).status_code == 413

    @pytest.mark.parametrize("path", ["/v1/answer", "/mcp"])
    @pytest.mark.parametrize(
        "body", ["[" * 100_000, '{"a":' * 100_000, '{"query":' + "[" * 70 + "]" * 70 + "}"]
    )
    def test_json_that_nests_too_deeply_is_refused(self, web: Web, path: str, body: str) -> None:
        answer = web.post(path, content=body)
        assert answer.status_code == 400
        assert answer.json()["code"] == "TOO_DEEP"

    def test_brackets_inside_texts_are_not_counted(self) -> None:
        assert depth(json.dumps({"query": "[[[{{{" * 100 + '"\\'}).encode()) == 1
        assert depth(b"[[]]") == 2
        assert depth(b"") == 0

    def test_two_hundred_slow_sockets_stop_nobody(self, web: Web) -> None:
        port = int(web.url.rpartition(":")[2])
        slow = []
        try:
            for number in range(200):
                each = socket.create_connection(("127.0.0.1", port))
                # Half of them send a part of a head, the others a part of a body.
                each.sendall(
                    b"POST /v1/answer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
                    if number % 2
                    else b"GET /v1/meta HTTP/1.1\r\nHo"
                )
                slow.append(each)
            started = time.perf_counter()
            assert web.get("/v1/knowledge-bases").status_code == 200
            assert time.perf_counter() - started < 5
        finally:
            for each in slow:
                each.close()


class TestLimits:
    def test_more_than_there_is_room_for_is_told_to_come_again(self, tmp_path: Any) -> None:
        import threading

        application, _ = office(tmp_path)
        entered, leave = threading.Barrier(2), threading.Event()

        def slow(*_: Any) -> Any:
            entered.wait(10)
            leave.wait(10)
            raise RuntimeError("asked to leave")

        with serving(application, insecure_local=True, concurrency=1, queue=0) as web:
            application.knowledge().list_bases = slow  # type: ignore[method-assign,assignment]
            first = threading.Thread(target=lambda: web.call("list_knowledge_bases", {}))
            first.start()
            entered.wait(10)
            answer = web.call("list_knowledge_bases", {})
            leave.set()
            first.join(10)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert answer.json()["code"] == "OVERLOADED"

    def test_strangers_who_knock_too_often_are_told_to_wait(self, tmp_path: Any) -> None:
        application, _ = office(tmp_path)
        with serving(application, anonymous_rate=Rate(0.1, 3)) as web:
            seen = [web.get("/v1/knowledge-bases").status_code for _ in range(5)]
            assert seen == [401, 401, 401, 429, 429]
            assert int(web.get("/v1/knowledge-bases").headers["retry-after"]) >= 1
            assert web.get("/healthz").status_code == 200
