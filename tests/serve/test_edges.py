"""What an attacker or a broken client would try at the edges of the server, and what a broken store does to it."""

import asyncio
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from shirube.caller import LOCAL, Caller, Confidentiality, claimed
from shirube.errors import Unauthenticated
from shirube.serve import connections
from shirube.serve.guard import depth
from shirube.serve.identity import KeySet
from shirube.serve.logs import Pretty
from shirube.serve.settings import Rate
from shirube.store.audit import calls, record_call
from shirube.store.journal import Journal
from shirube.store.keys import create_key
from shirube.store.tables import audit
from tests.serve.test_tokens import AUDIENCE, ISSUER, JWKS, RSA, SECRET, claims, jwk, signed
from tests.serve.web import Web, office, serving

BOT = Caller("local", "bot", clearance=Confidentiality.internal)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, dict[str, str]]]:
    """A server that asks for tokens, and the headers of somebody who may use the knowledge bases."""
    application, _ = office(tmp_path_factory.mktemp("office"))
    with application.workspace().database.write() as connection:
        _, secret = create_key(connection, "検索", BOT, ["knowledge"], None)
    with serving(application, anonymous_rate=Rate(1000, 1000), origins=("https://app.example.jp",)) as web:
        yield web, {"Authorization": f"Bearer {secret}"}


def _recorded(name: str, connection: Connection) -> None:
    record_call(connection, LOCAL, name, "ok", 1.0)


def _is_closed_before(connection: socket.socket, lines: int) -> bool:
    """Whether the server ends the connection before it has read so many long lines of a head."""
    try:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        for _ in range(lines):
            connection.sendall(b"X-A: " + b"x" * 8000 + b"\r\n")
        return connection.recv(1) == b""
    except OSError:
        return True


class TestWithoutToken:
    def test_a_text_that_does_not_end_is_looked_at_once(self) -> None:
        started = time.perf_counter()
        assert depth(b"[" * 65 + b'"' + b'\\"' * 500_000) == 65
        assert depth(b"[" * 65 + b'"' + b"\\" * 1_000_001) == 65
        assert time.perf_counter() - started < 2

    @pytest.mark.parametrize("path", ["/healthz", "/readyz", "/.well-known/oauth-protected-resource"])
    def test_where_everybody_may_look_nobody_may_leave_anything(
        self, guarded: tuple[Web, dict[str, str]], path: str
    ) -> None:
        web, _ = guarded
        answer = web.post(path, {"big": "x" * 100_000})
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
        assert web.get(path).status_code == 200

    def test_health_is_told_under_any_name(self, guarded: tuple[Web, dict[str, str]]) -> None:
        web, _ = guarded
        assert web.get("/healthz", {"Host": "10.0.0.7:8000"}).status_code == 200
        assert web.get("/openapi.json", {"Host": "10.0.0.7:8000"}).status_code == 421

    def test_connections_that_say_nothing_or_too_much_are_closed(
        self, guarded: tuple[Web, dict[str, str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
        web, _ = guarded
        port = int(web.url.rpartition(":")[2])
        silent = [socket.create_connection(("127.0.0.1", port), 5) for _ in range(20)]
        slow = socket.create_connection(("127.0.0.1", port), 5)
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")
        again = socket.create_connection(("127.0.0.1", port), 5)
        again.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"200 OK" in again.recv(4096)
        again.sendall(b"GET /hea")
        for each in (*silent, slow, again):
            assert each.recv(1) == b"", "closed by the server"
            each.close()
        long = socket.create_connection(("127.0.0.1", port), 5)
        assert _is_closed_before(long, 1000)
        long.close()

    def test_paths_make_no_names_of_figures_and_no_lines_of_logs(
        self, guarded: tuple[Web, dict[str, str]]
    ) -> None:
        web, _ = guarded
        for number in range(3):
            web.get(f"/mcp-{number}")
        record = logging.LogRecord("x", logging.INFO, "", 0, "a\n22:00:00 info    forged\x1b[31m", (), None)
        record.__dict__["subject"] = "b\r\nc"
        assert Pretty().format(record).count("\n") == 0
        assert "\x1b" not in Pretty().format(record)

    def test_whoever_asks_too_often_still_learns_where_tokens_are(self, tmp_path: Path) -> None:
        application, _ = office(tmp_path)
        with serving(application, anonymous_rate=Rate(0.1, 1)) as web:
            answers = [web.get("/v1/knowledge-bases") for _ in range(2)]
        assert [each.status_code for each in answers] == [401, 429]
        assert all("resource_metadata" in each.headers["www-authenticate"] for each in answers)


class TestBrowsers:
    def test_a_page_of_an_allowed_origin_may_ask_and_read(self, guarded: tuple[Web, dict[str, str]]) -> None:
        import httpx2

        web, token = guarded
        origin = {"Origin": "https://app.example.jp"}
        asked = {**origin, "Access-Control-Request-Method": "POST"}
        before = httpx2.request("OPTIONS", f"{web.url}/v1/knowledge-bases", headers=asked)
        assert before.status_code == 204
        assert "Authorization" in before.headers["access-control-allow-headers"]
        assert before.headers["access-control-allow-origin"] == origin["Origin"]
        answer = web.get("/v1/knowledge-bases", {**token, **origin})
        assert (answer.status_code, answer.headers["vary"]) == (200, "Origin")
        assert answer.headers["access-control-allow-origin"] == origin["Origin"]

    def test_a_page_of_another_origin_may_not(self, guarded: tuple[Web, dict[str, str]]) -> None:
        import httpx2

        web, token = guarded
        origin = {"Origin": "https://evil.example"}
        asked = {**origin, "Access-Control-Request-Method": "POST"}
        for answer in (
            httpx2.request("OPTIONS", f"{web.url}/v1/knowledge-bases", headers=asked),
            web.get("/v1/knowledge-bases", {**token, **origin}),
        ):
            assert answer.status_code == 403
            assert "access-control-allow-origin" not in answer.headers


class TestCounting:
    def test_requests_are_counted_before_they_are_read_and_whatever_they_ask(self, tmp_path: Path) -> None:
        application, _ = office(tmp_path)
        database = application.workspace().database
        with database.write() as connection:
            _, secret = create_key(connection, "検索", BOT, ["patents"], None)
        token = {"Authorization": f"Bearer {secret}"}
        with serving(application, rate=Rate(0.1, 2)) as web:
            seen = [web.get("/v1/knowledge-bases", token).status_code for _ in range(4)]
            assert seen == [403, 403, 429, 429], "a scope that is missing costs as much"
            large = web.post("/v1/call/search_documents", {"query": "x" * 500_000}, token)
            assert (large.status_code, "retry-after" in large.headers) == (429, True)
            application.workspace().journal.flush()
        with database.read() as connection:
            outcomes = [each.outcome for each in calls(connection, LOCAL)]
        assert sorted(set(outcomes)) == ["ACCESS_DENIED", "RATE_LIMITED"]
        assert len(outcomes) <= 4, "a refusal is written down once a second"

    def test_a_streamed_answer_takes_a_place(self, tmp_path: Path) -> None:
        application, base = office(tmp_path)
        entered, leave = threading.Event(), threading.Event()
        knowledge = application.knowledge()
        search = knowledge.search

        def slow(*asked: Any) -> Any:
            entered.set()
            leave.wait(10)
            return search(*asked)

        knowledge.search = slow  # type: ignore[method-assign,assignment]
        body = {"message": "副業の規程は？", "knowledge_base_id": base.id, "stream": True}
        with (
            serving(application, insecure_local=True, concurrency=1, queue=0) as web,
            ThreadPoolExecutor(1) as pool,
        ):
            first = pool.submit(web.post, "/v1/chat", body)
            assert entered.wait(10)
            second = web.post("/v1/chat", body)
            leave.set()
            assert first.result().status_code == 200
            assert "event: done" in first.result().text
            assert (second.status_code, second.headers["retry-after"]) == (503, "1")
            assert web.post("/v1/chat", body).status_code == 200, "the place is free again"

    def test_the_toolsets_do_not_wait_for_one_another(self, tmp_path: Path) -> None:
        application, _ = office(tmp_path)
        entered, leave = threading.Event(), threading.Event()

        def slow(*_asked: Any) -> Any:
            entered.set()
            leave.wait(10)
            raise RuntimeError("asked to leave")

        application.programs().meta = slow  # type: ignore[method-assign,assignment]
        with (
            serving(application, insecure_local=True, concurrency=1, queue=0) as web,
            ThreadPoolExecutor(1) as pool,
        ):
            first = pool.submit(web.get, "/v1/meta")
            assert entered.wait(10)
            assert web.get("/v1/meta").status_code == 503
            assert web.get("/v1/knowledge-bases").status_code == 200
            leave.set()
            assert first.result().status_code == 500


class TestBrokenStore:
    def test_without_the_store_a_key_is_not_known_and_that_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        application, _ = office(tmp_path)
        database = application.workspace().database
        with database.write() as connection:
            _, secret = create_key(connection, "検索", BOT, ["knowledge"], None)

        def broken(_connection: Any, _token: str) -> Any:
            raise OperationalError("SELECT 極秘", {"query": "極秘の発明"}, Exception("/var/run/pg.sock"))

        with serving(application) as web:
            monkeypatch.setattr("shirube.serve.identity.find_key", broken)
            answer = web.get("/v1/knowledge-bases", {"Authorization": f"Bearer {secret}"})
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
        assert "極秘" not in answer.text
        assert "pg.sock" not in answer.text

    def test_what_fails_inside_is_not_told_to_an_agent(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        application, _ = office(tmp_path)

        def broken(*_asked: Any) -> Any:
            raise OperationalError("SELECT 極秘", {"query": "極秘の発明"}, Exception("/var/run/pg.sock"))

        monkeypatch.setattr("shirube.serve.resources.get_run", broken)
        read = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "shirube://rest/x"}}
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        with serving(application, insecure_local=True) as web:
            answer = web.post("/mcp", read, {**headers, "MCP-Protocol-Version": "2025-11-25"})
        assert "Failed to connect to the database" in answer.text
        assert "極秘" not in answer.text
        assert "pg.sock" not in answer.text

    def test_a_store_that_does_not_answer_keeps_nobody_waiting_who_hands_something_over(self) -> None:
        answers = threading.Event()

        def never() -> Any:
            answers.wait(20)
            raise OperationalError("", {}, Exception())

        started = time.perf_counter()
        journal = Journal(never)
        for _ in range(100):
            journal.write(lambda _connection: None)
        journal.flush(0.2)
        assert time.perf_counter() - started < 5
        answers.set()

    def test_what_was_handed_over_while_the_store_was_away_is_stored_when_it_is_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from shirube.store import journal as module

        monkeypatch.setattr(module, "_AGAIN_SECONDS", 0.05)
        application, _ = office(tmp_path)
        database = application.workspace().database
        away = True

        def opened() -> Any:
            if away:
                raise OperationalError("", {}, Exception())
            return database

        journal = Journal(opened)
        for number in range(5):
            journal.write(partial(_recorded, f"call-{number}"))
        journal.flush(1)
        away = False
        deadline = time.monotonic() + 10
        found: list[str] = []
        while len(found) < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
            with database.read() as connection:
                found = [each.operation for each in calls(connection, LOCAL)]
        assert found == [f"call-{number}" for number in range(5)]

    def test_parameters_stay_out_of_the_texts_of_errors(self, tmp_path: Path) -> None:
        application, _ = office(tmp_path)
        with application.workspace().database.read() as connection, pytest.raises(Exception) as failed:  # noqa: PT011
            connection.execute(text("SELECT * FROM nowhere WHERE a = :a"), {"a": "極秘の発明"})
        assert "極秘" not in str(failed.value)


class TestTokens:
    @pytest.mark.parametrize(
        "held", ["{}", "[]", '{"keys":null}', '{"keys":[1]}', '{"keys":[{"kty":"RSA"}]}', "x"]
    )
    def test_a_key_set_that_is_none_opens_nothing(self, tmp_path: Path, held: str) -> None:
        path = tmp_path / "keys.json"
        path.write_text(held)
        assert KeySet(str(path)).find("rsa") is None

    def test_of_a_private_key_the_public_half_is_used(self, tmp_path: Path) -> None:
        import jwt

        path = tmp_path / "keys.json"
        private = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA)), "kid": "rsa"}
        path.write_text(json.dumps({"keys": [private]}))
        found = KeySet(str(path)).find("rsa")
        assert found is not None
        assert jwt.decode(signed(), found[0], ["RS256"], audience=AUDIENCE)["sub"] == "hanako"

    def test_a_key_that_is_at_hand_waits_for_nobody_who_asks_for_another(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked, go_on = threading.Event(), threading.Event()
        fetched = [json.dumps(JWKS).encode()]

        def slow(_url: str) -> bytes:
            if len(fetched) > 1:
                asked.set()
                go_on.wait(10)
            fetched.append(b"")
            return fetched[0]

        monkeypatch.setattr("shirube.serve.identity._fetched", slow)
        monkeypatch.setattr("shirube.serve.identity._RETRY_SECONDS", 0.0)
        keys = KeySet("https://login.example.jp/keys")
        assert keys.find("rsa")
        with ThreadPoolExecutor(1) as pool:
            unknown = pool.submit(keys.find, "unknown")
            assert asked.wait(5)
            started = time.perf_counter()
            assert keys.find("rsa")
            assert time.perf_counter() - started < 1
            go_on.set()
            assert unknown.result() is None

    @pytest.mark.parametrize("keys", [1, 2])
    def test_with_a_secret_and_a_key_set_both_are_used(self, tmp_path: Path, keys: int) -> None:
        from shirube.serve.settings import JwtSettings

        path = tmp_path / "keys.json"
        held = [jwk(RSA, "RS256", "rsa"), JWKS["keys"][1]][:keys]
        path.write_text(json.dumps({"keys": held}))
        application, _ = office(tmp_path / "office")
        with serving(application, jwt=JwtSettings(AUDIENCE, ISSUER, str(path), SECRET)) as web:
            for token in (signed(), signed(SECRET, "HS256", None)):
                answer = web.get("/v1/knowledge-bases", {"Authorization": f"Bearer {token}"})
                assert answer.status_code == 200, token

    @pytest.mark.parametrize("longer", [{"sub": "x" * 201}, {"tenant_id": "x" * 101}])
    def test_a_name_that_the_store_has_no_room_for_is_refused(self, longer: dict[str, str]) -> None:
        given = {name: value for name, value in claims(**longer).items() if name != "exp"}
        with pytest.raises(Unauthenticated):
            claimed(given)


def test_a_call_that_is_cancelled_is_written_down(tmp_path: Path) -> None:
    application, base = office(tmp_path)
    knowledge = application.knowledge()
    entered, leave = threading.Event(), threading.Event()

    def slow(*_asked: Any) -> Any:
        entered.set()
        leave.wait(10)

    knowledge.search = slow  # type: ignore[method-assign,assignment]

    async def cancelled() -> None:
        asked = {"query": "副業", "knowledge_base_id": base.id}
        task = asyncio.create_task(
            application.registry.call("search_documents", replace(LOCAL, subject="x"), asked)
        )
        await asyncio.to_thread(entered.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        leave.set()

    asyncio.run(cancelled())
    application.workspace().journal.flush()
    with application.workspace().database.read() as connection:
        rows = connection.execute(audit.select().where(audit.c.subject == "x")).all()
    assert [row.outcome for row in rows] == ["CANCELLED"]


def test_half_a_surrogate_pair_is_no_failure(guarded: tuple[Web, dict[str, str]]) -> None:
    web, token = guarded
    answer = web.post("/mcp/call_tool", {"name": "\ud800", "arguments": {}}, token)
    assert answer.status_code in (400, 404, 422)
    json.loads(answer.content)


def test_a_head_carries_what_a_get_would(guarded: tuple[Web, dict[str, str]]) -> None:
    import httpx2

    web, token = guarded
    read = web.get("/v1/knowledge-bases", token)
    head = httpx2.head(f"{web.url}/v1/knowledge-bases", headers=token)
    assert head.headers["etag"] == read.headers["etag"]


def test_the_names_of_a_server_are_not_a_matter_of_capitals(tmp_path: Path) -> None:
    application, _ = office(tmp_path)
    with serving(application, hosts=("Shirube.Example.JP",), insecure_local=True) as web:
        assert web.get("/v1/knowledge-bases", {"Host": "shirube.example.jp"}).status_code == 200


def test_white_space_around_the_value_of_a_header_is_no_part_of_it(
    guarded: tuple[Web, dict[str, str]],
) -> None:
    web, token = guarded
    with socket.create_connection(("127.0.0.1", int(web.url.rpartition(":")[2])), 5) as connection:
        head = f"Host:  127.0.0.1 \t\r\nAuthorization: {token['Authorization']}  \r\n"
        connection.sendall(f"GET /v1/knowledge-bases HTTP/1.1\r\n{head}\r\n".encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
