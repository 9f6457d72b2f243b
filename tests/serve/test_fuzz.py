"""Thousands of broken messages, over stdio and over HTTP: the server answers them within the protocol, and goes on."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import mcp_types
import pytest

from tests.serve.test_isolation_http import messages
from tests.serve.test_openapi import stocked
from tests.serve.web import Web, serving

# Together 5,000 in the suite and 50,000 in the long version.
STDIO, HTTP = 3_000, 2_000
LONG_STDIO, LONG_HTTP = 30_000, 20_000
BATCH = 60
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
# What JSON-RPC has, and what revision 2026-07-28 adds for requests that contradict themselves. Not here: −32603
# (nothing that a client sends may make something fail inside), −32000 and −32001 (the SDK's own, never sent by a
# server), −32042 (asks the client for something; Shirube never does).
CODES = frozenset(
    {
        mcp_types.PARSE_ERROR,
        mcp_types.INVALID_REQUEST,
        mcp_types.METHOD_NOT_FOUND,
        mcp_types.INVALID_PARAMS,
        mcp_types.HEADER_MISMATCH,
        mcp_types.MISSING_REQUIRED_CLIENT_CAPABILITY,
        mcp_types.UNSUPPORTED_PROTOCOL_VERSION,
    }
)
STATUSES = frozenset(
    {200, 202, 204, 304, 400, 401, 403, 404, 405, 406, 408, 413, 415, 421, 422, 429, 502, 503}
)
# What tells of the inside: tracebacks, files of the package or of Python, names of exceptions' modules.
INSIDE = re.compile(
    r'Traceback|site-packages|File \\?"|src/shirube|shirube/[a-z]+/[a-z]+\.py|\.venv|pydantic_core'
)
FAILED = re.compile(r"Internal error|内部エラー|INTERNAL_ERROR")
SHIRUBE = str(Path(sys.executable).with_name("shirube"))
_META = "io.modelcontextprotocol/"
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**31, 2**63, 2**64, 10**30, -(10**30), 0.1, -0.0, 1e308, "", " ", "\u0000", "\u202e手当",
    "\U0010ffff", "\ufeff", "e\u0301", "a" * 5000, "../../etc/passwd", "shirube://kb/", "shirube://doc/%00",
    "shirube://page/..%2f..%2fetc/passwd", "shirube://run/%FF", "file:///etc/passwd", "http://127.0.0.1/", [], {}, [[]],
    [None], {"": None}, ["a"] * 200, {"a": {"b": {"c": []}}}, "2.0", "1.0", "initialize", "tools/call",
    "rpc.discover", "notifications/cancelled", "2025-06-18", "2026-07-28", "1999-01-01",
)  # fmt: skip
JUNK: tuple[bytes, ...] = (
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\r", b"\x0b",
    b"\xe2\x80\xa8", b"{", b"}", b"[", b"]", b'"', b",", b":", b"NaN", b"Infinity", b"-Infinity", b"1e400",
    b"9" * 5000, b"1" + b"0" * 400, b"null", b"//", b"/*", b"\\", b"\\x41", b"[" * 300, b'{"a":' * 300, b"undefined",
    b"0x1F", b"+1", b".5", b"01", b"\x7f", b"'", b"\xf0\x9f\x98\x80",
)  # fmt: skip


def good(base: str) -> list[dict[str, Any]]:
    """Messages as the three revisions write them."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("list_knowledge_bases", {}),
        ("search_documents", {"query": "副業", "knowledge_base_id": base}),
        ("get_knowledge_base_summary", {"knowledge_base_id": base}),
        ("normalize_ocr_text", {"text": "マネ-ジャ-"}),
        ("rrf_search_fulltext_raw", {"query": '顔認証 AND *N10"マスク 遮蔽"', "filters": [], "top_k": 5}),
        ("run_multilane_search", {"lanes": [{"lane_name": "fulltext_recall", "query": "顔"}]}),
        ("rrf_blend_frontier", {"runs": [{"lane": "fulltext", "run_id_lane": "fulltext-0123456789ab"}]}),
        ("peek_snippets", {"run_id": "fusion-0123456789ab", "per_field_chars": {"title": 5}}),
        ("get_publication", {"id": "特開2023-900001", "fields": ["title"]}),
        ("search_programs", {"q": "農業", "tier": ["S"], "open_on": "2026-04-01", "limit": 2}),
        ("check_exclusions", {"program_ids": ["経営開始資金", "雇用就農資金"]}),
        ("kb_answer", {"query": "副業に許可は必要ですか"}),
        ("ubp_get_page", {"filepath": "a.md"}),
        ("ubp_search", {"query": "残業", "limit": 1}),
    ]
    plain: list[tuple[str, dict[str, Any] | None]] = [
        *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls),
        ("ping", None),
        ("tools/list", {}),
        ("tools/list", {"cursor": "x"}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": f"shirube://kb/{base}"}),
        ("resources/read", {"uri": "shirube://page/a.md"}),
        ("prompts/list", {}),
        ("prompts/get", {"name": "patent_search", "arguments": {"invention": "マスク"}}),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "shirube://kb/{id}"},
                "argument": {"name": "id", "value": ""},
            },
        ),
        ("logging/setLevel", {"level": "info"}),
        ("server/discover", {}),
    ]
    made: list[dict[str, Any]] = []
    for revision in REVISIONS:
        hello = {
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": {"name": "fuzz", "version": "1"},
        }
        made.append({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        for method in ("notifications/initialized", "notifications/cancelled", "notifications/progress"):
            about = {"requestId": 99, "progressToken": "t", "progress": 1}
            made.append({"jsonrpc": "2.0", "method": method, "params": about})
        for number, (method, params) in enumerate(plain):
            message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
            if params is not None or revision == REVISIONS[-1]:
                message["params"] = dict(params or {})
            if revision == REVISIONS[-1]:
                message["params"]["_meta"] = {
                    f"{_META}protocolVersion": revision,
                    f"{_META}clientCapabilities": {},
                    f"{_META}clientInfo": {"name": "fuzz", "version": "1"},
                }
            made.append(message)
    return made


class Fuzz:
    """Broken messages, made from good ones; the same for the same seed."""

    def __init__(self, base: str, seed: int) -> None:
        self.chance = Random(seed)
        self.messages = good(base)

    def message(self) -> bytes:
        chance = self.chance
        message: Any = json.loads(json.dumps(chance.choice(self.messages)))
        for _ in range(chance.choice((0, 1, 1, 2, 4))):
            message = self._changed(message)
        if chance.random() < 0.06:
            others = [chance.choice(self.messages) for _ in range(chance.choice((0, 1, 2, 5)))]
            message = [message, *others] if chance.random() < 0.8 else [[message], *others]
        data = json.dumps(message, ensure_ascii=chance.random() < 0.3).encode("utf-8", "surrogatepass")
        for _ in range(chance.choice((0, 0, 0, 1, 1, 3))):
            data = self._damaged(data)
        return data

    def _changed(self, message: Any) -> Any:
        """One place of the message with another value, another name, or none."""
        if not isinstance(message, dict | list) or self.chance.random() < 0.03:
            return self._odd()
        places: list[tuple[Any, Any]] = []
        nodes: list[Any] = [message]
        while nodes and len(places) < 200:
            node = nodes.pop(0)
            keys = list(node) if isinstance(node, dict) else range(len(node))
            places += [(node, key) for key in keys]
            nodes += [node[key] for key in keys if isinstance(node[key], dict | list)]
        if not places:
            return message
        node, key = self.chance.choice(places)
        kind = self.chance.randrange(6)
        if kind == 0:
            del node[key]
        elif kind == 1 and isinstance(node, dict):
            node[self.chance.choice(["", "ID", "params", "\u202e", "__proto__", "x" * 300, key + " "])] = (
                node.pop(key)
            )
        elif kind == 2:
            value = node[key]
            for _ in range(self.chance.choice((1, 3, 30, 62, 70, 200))):
                value = [value] if self.chance.random() < 0.5 else {"a": value}
            node[key] = value
        elif kind == 3 and isinstance(node, dict):
            node[self.chance.choice(["extra", "_meta", "id", "error", "result", "cursor"])] = self._odd()
        else:
            node[key] = self._odd()
        return message

    def _odd(self) -> Any:
        return json.loads(json.dumps(self.chance.choice(ODD)))

    def _damaged(self, data: bytes) -> bytes:
        chance = self.chance
        at = chance.randrange(len(data) + 1)
        match chance.randrange(7):
            case 0:
                return data[:at]
            case 1:
                return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            case 2:
                return data[:at] + chance.choice(JUNK) + data[at:]
            case 3:
                end = min(len(data), at + chance.choice((1, 5, 50)))
                return data[:at] + data[end:]
            case 4:  # a key twice
                return re.sub(rb'"(id|method|params|name)":', rb'"\1": 0, "\1":', data, count=1)
            case 5:
                return data + data[at:]
            case _:
                return re.sub(rb"[0-9]+", chance.choice(JUNK).replace(b"\\", rb"\\"), data, count=1)

    def headers(self) -> dict[str, str]:
        """Mostly those of a client, now and then others."""
        chance = self.chance
        revision = chance.choice(REVISIONS)
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": revision,
        }
        if revision == REVISIONS[-1]:
            headers |= {"Mcp-Method": chance.choice(self.messages)["method"], "Mcp-Name": "search_documents"}
        odd = (
            "",
            "x",
            "*/*",
            "text/html",
            "application/json",
            "1999-01-01",
            "null",
            "=?base64?!!?=",
            "a" * 2000,
            "\x80",
        )
        names = (
            "Content-Type Accept MCP-Protocol-Version Mcp-Session-Id Mcp-Method Mcp-Name Last-Event-ID Origin "
            "Content-Encoding Accept-Encoding If-None-Match Authorization X-Forwarded-Host Range Expect"
        ).split()
        for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
            name = chance.choice(names)
            if chance.random() < 0.3:
                headers.pop(name, None)
            else:
                headers[name] = chance.choice(odd)
        if chance.random() < 0.03:
            headers["Host"] = chance.choice(("evil.example", "localhost", "127.0.0.1:1", "[::1]", "a b"))
        return headers


def modern_headers(data: bytes, headers: dict[str, str]) -> dict[str, str]:
    """The headers that the message itself asks for, where it can be read."""
    try:
        message = json.loads(data)
        method, params = str(message["method"]), message["params"]
        name = params.get("name") or params.get("uri")
        version = params["_meta"][f"{_META}protocolVersion"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return headers
    given = {"Mcp-Method": method, "Mcp-Name": name, "MCP-Protocol-Version": version}
    fitting = {key: value for key, value in given.items() if isinstance(value, str) and value.isascii()}
    return {**headers, **{key: value for key, value in fitting.items() if value.isprintable()}}


@dataclass(frozen=True)
class Target:
    web: Web
    base: str
    environ: Mapping[str, str]
    docs: Path


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("fuzz")
    [application] = stocked(folder)
    environ = {**os.environ, "SHIRUBE_HOME": str(folder / "home"), "SHIRUBE_EMBEDDER": "none"}
    with serving(application, insecure_local=True) as web:
        base = web.get("/v1/knowledge-bases").json()["knowledge_bases"][0]["knowledge_base_id"]
        yield Target(web, base, environ, folder / "docs")


def check_message(message: Any, sent: Any) -> str:
    """A message of the protocol that tells nothing of the inside; what it is."""
    assert isinstance(message, dict), (sent, message)
    assert message["jsonrpc"] == "2.0", (sent, message)
    written = json.dumps(message, ensure_ascii=False)
    assert not INSIDE.search(written), (sent, written[:500])
    assert not FAILED.search(written), (sent, written[:500])
    if "error" in message:
        assert "result" not in message
        assert message["error"]["code"] in CODES, (sent, message)
        assert isinstance(message["error"]["message"], str)
        return str(message["error"]["code"])
    assert "method" in message or "id" in message, (sent, message)
    return "result" if "result" in message else str(message["method"])


# stdio


class Stdio:
    """`shirube serve`, spoken to by bytes."""

    def __init__(self, target: Target) -> None:
        self.process = subprocess.Popen(
            [SHIRUBE, "serve", "--docs", str(target.docs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(target.environ),
        )
        self.seen: Counter[str] = Counter()
        self.marks = 0

    def send(self, *lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def until_answered(self, sent: Any) -> Any:
        """Send a good request, and read until its answer comes; every line before it is checked."""
        assert self.process.stdout is not None
        self.marks += 1
        mark = f"mark-{self.marks}"
        self.send(json.dumps({"jsonrpc": "2.0", "id": mark, "method": "tools/list", "params": {}}).encode())
        while True:
            line = self.process.stdout.readline()
            assert line, ("the server is gone", self.process.poll(), sent)
            message = json.loads(line)
            self.seen[check_message(message, sent)] += 1
            if message.get("id") == mark:
                return message["result"]


@pytest.mark.parametrize("count", [STDIO, pytest.param(LONG_STDIO, marks=pytest.mark.soak)])
def test_over_stdio_broken_messages_are_answered_within_the_protocol(target: Target, count: int) -> None:
    fuzz, server = Fuzz(target.base, 1000 + count), Stdio(target)
    with server.process as process:
        hello = next(each for each in fuzz.messages if each["method"] == "initialize")
        server.send(json.dumps({**hello, "id": "hello"}).encode())
        server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        before = server.until_answered("hello")
        for start in range(0, count, BATCH):
            broken = [fuzz.message() for _ in range(min(BATCH, count - start))]
            server.send(*broken)
            assert server.until_answered(broken) == before, "as good as new"
        assert process.poll() is None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        for line in process.stdout:
            last = json.loads(line)
            # What was not answered by then is told so.
            if last.get("error", {}).get("code") != mcp_types.CONNECTION_CLOSED:
                check_message(last, "after the end")
        assert process.wait(30) == 0
    assert {"result", "-32602", "-32601"} <= set(server.seen), server.seen
    assert server.seen["result"] > count // 20, server.seen


def test_over_stdio_what_cannot_be_read_leaves_the_next_message_as_it_is(target: Target) -> None:
    """Half a line, half a character, a mark of byte order, lines that end otherwise: the next line is a message."""
    server = Stdio(target)
    with server.process as process:
        hello = next(each for each in good(target.base) if each["method"] == "initialize")
        server.send(json.dumps({**hello, "id": "hello"}).encode())
        server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        first = server.until_answered("hello")
        for broken in (
            b"{",
            b"nothing",
            b"\xff\xfe",
            b"\xef\xbb\xbf",
            b"\xe3\x81",
            b"[" * 100_000,
            b"\r\r",
            b"\x00",
            b"",
        ):
            server.send(broken)
            assert server.until_answered(broken) == first
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0


# HTTP


PATHS = (
    *("/mcp/x", "//mcp", "/mcp%00", "/MCP", "/v1", "/v1/call/%FF"),
    *("/v1/knowledge-bases/%2e%2e/summary", "/.well-known/oauth-protected-resource/x", "/openapi.json"),
    *("/v1/patents/publications/%00", "/v1/programs/%F0%9F", "/admin", "/metrics", "/healthz?x=%ff", "/docs"),
)
# What uvicorn says of a head that is none, and the SDK of a header before it looks at the message.
PLAIN = frozenset({"Invalid HTTP request received.", "Invalid Content-Type header"})


def check_answer(status: int, kind: str, text: str, sent: Any) -> list[str]:
    assert status in STATUSES, (status, sent, text[:500])
    assert not INSIDE.search(text), (sent, text[:800])
    assert not FAILED.search(text), (sent, text[:800])
    said: list[str] = [str(status)]
    if kind.startswith("text/event-stream"):
        said += [check_message(each, sent) for each in messages(kind, text)]
    elif text and "json" not in kind:
        assert text in PLAIN or "shirube_calls_total" in text, (status, kind, sent, text[:800])
    elif text:
        body = json.loads(text)
        if isinstance(body, dict) and "jsonrpc" in body:
            said.append(check_message(body, sent))
    return said


class Browser:
    """A client that sends what it is told, and reads no stream that has no end."""

    def __init__(self, client: httpx2.Client) -> None:
        self.client = client
        self.seen: Counter[str] = Counter()

    def send(self, method: str, path: str, data: bytes, headers: Mapping[str, str]) -> None:
        written = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        sent = (method, path, data[:2000], headers)
        try:
            with self.client.stream(method, path, content=data, headers=written) as answer:
                kind = answer.headers.get("content-type", "")
                endless = method == "GET" and kind.startswith("text/event-stream")
                text = "" if endless or method == "HEAD" else answer.read().decode()
        except httpx2.RemoteProtocolError as error:
            raise AssertionError(f"the connection broke off: {sent}") from error
        self.seen.update(check_answer(answer.status_code, kind, text, sent))


@pytest.mark.parametrize("count", [HTTP, pytest.param(LONG_HTTP, marks=pytest.mark.soak)])
def test_over_http_broken_messages_are_answered_within_the_protocol(target: Target, count: int) -> None:
    fuzz = Fuzz(target.base, 2000 + count)
    chance = fuzz.chance
    names = [operation.name for operation in target.web.application.registry]
    before = target.web.call("list_knowledge_bases", {}).json()
    with httpx2.Client(base_url=target.web.url, timeout=60) as client:
        browser = Browser(client)
        for number in range(count):
            data, headers = fuzz.message(), fuzz.headers()
            if chance.random() < 0.6:
                headers = modern_headers(data, headers)
            where = chance.random()
            if where < 0.72:
                browser.send("POST", "/mcp", data, headers)
            elif where < 0.87:
                path = chance.choice([f"/v1/call/{chance.choice(names)}", "/v1/chat", "/mcp/call_tool"])
                browser.send("POST", path, arguments_of(data), headers)
            elif where < 0.95:
                method = chance.choice(("GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "FOO"))
                path = chance.choice(("/mcp", "/v1/chat", f"/v1/call/{names[0]}", "/v1/knowledge-bases"))
                browser.send(method, path, b"" if method in ("GET", "HEAD") else data, headers)
            else:
                browser.send(chance.choice(("GET", "POST", "DELETE")), chance.choice(PATHS), b"", headers)
            if number % 100 == 99:
                assert target.web.call("list_knowledge_bases", {}).json() == before, "as good as new"
    assert {"200", "202", "400", "404", "405", "406", "422", "result", "-32602"} <= set(browser.seen), (
        browser.seen
    )


def arguments_of(data: bytes) -> bytes:
    """What a REST body would be: the arguments of a call where they can be read, else the message itself."""
    try:
        return json.dumps(json.loads(data)["params"]["arguments"]).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return data


@pytest.mark.parametrize(
    "data",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800","arguments":{}}}',
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\\udfff"}',
        b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"shirube://kb/\\ud800"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_knowledge_bases",'
        b'"arguments":{"\\ud800":1}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource",'
        b'"uri":"shirube://kb/{id}"},"argument":{"name":"id","value":"\\ud800"}}}',
    ],
)
def test_half_of_a_character_is_refused_and_breaks_nothing(target: Target, data: bytes) -> None:
    with httpx2.Client(base_url=target.web.url, timeout=30) as client:
        for revision in REVISIONS[:2]:
            headers = {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": revision,
            }
            Browser(client).send("POST", "/mcp", data, headers)


@pytest.mark.parametrize("path", ["/mcp/", "/v1/meta/", "/v1/chat/", "/v1/knowledge-bases/", "/healthz/"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_path_with_a_slash_too_many_is_not_there(target: Target, method: str, path: str) -> None:
    """No status that the document does not have, and no redirect to an address made of the Host header."""
    answer = httpx2.request(method, target.web.url + path, follow_redirects=False)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("last", ["1", "text/html", "0" * 64, "\x80"])
@pytest.mark.parametrize("method", ["GET", "DELETE", "POST"])
def test_a_client_that_asks_for_events_after_one_is_answered(target: Target, method: str, last: str) -> None:
    """Nothing is kept between requests, so there is nothing to resume; that is no failure of the server."""
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    data = b'{"jsonrpc":"2.0","id":1,"method":"ping"}' if method == "POST" else b""
    given = {**headers, "Content-Type": "application/json", "Last-Event-ID": last}
    with httpx2.Client(base_url=target.web.url, timeout=30) as client:
        Browser(client).send(method, "/mcp", data, given)
