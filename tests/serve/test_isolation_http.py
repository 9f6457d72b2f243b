"""Several companies behind one server: what each may see is what a model that knows nothing of the server says.

Every byte that comes back is looked through for marks of documents and names of bases; a mark that its caller may not
see is a leak wherever it stands.
"""

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import jwt
import pytest
from mcp.shared.inbound import encode_header_value

from shirube.caller import LOCAL, Caller, Confidentiality
from shirube.operations import Answer
from shirube.serve.settings import JwtSettings, Rate
from shirube.settings import load_settings
from shirube.store import bases
from shirube.store.clock import now
from shirube.store.keys import create_key
from shirube.toolsets.patents.importing import import_files as import_publications
from shirube.toolsets.programs.imports import import_files as import_programs
from shirube.toolsets.registry import Application
from tests.serve.web import Web, serving
from tests.store.records import document, document_id, put
from tests.toolsets.knowledge.conftest import Served
from tests.toolsets.knowledge.test_isolation import (
    DEPARTMENTS,
    MOST_DOCUMENTS,
    SUBJECTS,
    TENANTS,
    Base,
    World,
    may_read,
    visible,
)

STEPS, MANY = 600, 5_000
AUDIENCE, ISSUER, SECRET = "https://shirube.example.jp", "https://login.example.jp", "長い秘密" * 12
LEGACY, MODERN = "2025-11-25", "2026-07-28"
MARK, NAME = re.compile(r"印[0-9a-f]{12}"), re.compile(r"規程[0-9]+")
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")
_META = "io.modelcontextprotocol/"
# What differs from one call to the next.
VOLATILE = frozenset({"run_id", "took_ms", "generated_at", "duration_ms", "date", "content-length", "etag"})


# How a caller speaks to the server


@dataclass(frozen=True)
class Said:
    """What came back: the status, what counts of the head, and the body."""

    status: int
    headers: Mapping[str, str]
    body: Any
    text: str


@dataclass(frozen=True)
class Wire:
    """A connection to the server, on which anybody may speak."""

    client: httpx2.Client
    web: Web

    def token(self, caller: Caller, scopes: str = "*") -> str:
        return token_of(self.web.application, caller, scopes)

    def post(self, path: str, body: Any, caller: Caller, scopes: str = "*") -> Said:
        return self._said(self.client.post(path, json=body, headers=self._headers(caller, scopes)))

    def get(self, path: str, caller: Caller, scopes: str = "*", **query: Any) -> Said:
        given = {name: value for name, value in query.items() if value is not None}
        return self._said(self.client.get(path, params=given, headers=self._headers(caller, scopes)))

    def rpc(
        self, method: str, params: Mapping[str, Any], caller: Caller, modern: bool = False, scopes: str = "*"
    ) -> Said:
        """A message of MCP as either revision writes it; the body is its result or its error."""
        headers = {**self._headers(caller, scopes), **MCP_ACCEPT}
        if modern:
            meta = {f"{_META}protocolVersion": MODERN, f"{_META}clientCapabilities": {}}
            params = {**params, "_meta": meta}
            headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
            if name := params.get("name") or params.get("uri"):
                headers["Mcp-Name"] = encode_header_value(str(name))
        else:
            headers["MCP-Protocol-Version"] = LEGACY
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self.client.post("/mcp", json=message, headers=headers)
        [body] = messages(answer.headers.get("content-type", ""), answer.text)
        return Said(
            answer.status_code, dict(answer.headers), body.get("result", body.get("error")), answer.text
        )

    def tool(self, name: str, arguments: Any, caller: Caller, modern: bool = False, scopes: str = "*") -> Any:
        """What a tool says, or the error of the protocol in the same shape as in a body."""
        said = self.rpc("tools/call", {"name": name, "arguments": arguments}, caller, modern, scopes).body
        return {"error": said} if "content" not in said else json.loads(said["content"][0]["text"])

    def _headers(self, caller: Caller, scopes: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token(caller, scopes)}"}

    @staticmethod
    def _said(answer: httpx2.Response) -> Said:
        streamed = answer.headers.get("content-type", "").startswith("text/event-stream")
        body = answer.text if streamed else answer.json()
        return Said(answer.status_code, dict(answer.headers), body, answer.text)


MCP_ACCEPT = {"Accept": "application/json, text/event-stream"}


def messages(kind: str, text: str) -> list[Any]:
    """The messages of an answer, as one JSON text or as events."""
    if kind.startswith("text/event-stream"):
        # Lines end with CR and LF alone there: U+2028 and its like are letters.
        data = [line.removeprefix("data:") for line in re.split(r"[\r\n]+", text) if line.startswith("data:")]
        return [json.loads(each) for each in data if each.strip()]
    return [json.loads(text)] if text else []


@cache
def token_of(application: Application, caller: Caller, scopes: str) -> str:
    """A key for some callers and a JWT for the others; who a caller is decides."""
    if Random(repr((caller.subject, sorted(caller.departments), int(caller.clearance)))).random() < 0.1:
        with application.workspace().database.write() as connection:
            return create_key(connection, "試験", caller, scopes.split(), None)[1]
    at = int(time.time())
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": caller.subject,
        "tenant_id": caller.tenant,
        "clearance": caller.clearance.name,
        "departments": sorted(caller.departments),
        "roles": sorted(caller.roles),
        "scope": scopes,
        "exp": at + 3600,
    }
    return jwt.encode(claims, SECRET, algorithm="HS256")


def admin(tenant: str, subject: str = "管理") -> Caller:
    return Caller(tenant, subject, frozenset(DEPARTMENTS), Confidentiality.top_secret, frozenset({"admin"}))


def stock(application: Application, folder: Path, tenant: str, number: int) -> None:
    """Publications and programmes of one company: some that only it has, and one that all have."""
    publications = [
        {
            "pub_id": f"特開2023-{number}0000{each}",
            "app_id": f"特願2022-{number}0000{each}",
            "exam_id": f"特許第7{number}0000{each}号",
            "title": f"{tenant}の顔認証装置{each}",
            "abst": "マスクで遮蔽された顔を認証する。",
            "fi": ["G06V10/82"],
            "publication_date": "2023-09-05",
        }
        for each in range(3)
    ]
    shared = [
        {
            "pub_id": f"特開2020-90000{each}",
            "title": f"共通の顔認証{each}",
            "abst": "顔認証。" * (each + 1),
            "fi": ["G06V10/82"],
        }
        for each in range(3)
    ]
    programs = [
        {
            "unified_id": f"UNI-{number}-{each}",
            "primary_name": f"{tenant}補助金{each}",
            "tier": "A",
            "source_url": "https://example.jp/",
            "source_fetched_at": "2026-04-20",
        }
        for each in range(2)
    ]
    for name, rows in (("publications", [*publications, *shared]), ("programs", programs)):
        path = folder / f"{name}-{number}.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    database = application.workspace().database
    report = import_publications(database, admin(tenant), [folder / f"publications-{number}.jsonl"])
    assert not report.refused
    import_programs(database, admin(tenant), [folder / f"programs-{number}.jsonl"], strict=True)
    application.patents().library.catch_up(tenant)


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    folder = tmp_path_factory.mktemp("companies")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "残業.md").write_text("# 残業\n\n残業の計算。\n")
    application = Application(
        load_settings(
            {
                "SHIRUBE_HOME": str(folder / "home"),
                "SHIRUBE_EMBEDDER": "none",
                "SHIRUBE_DOCS": str(docs),
                "SHIRUBE_DOCS_TENANT": TENANTS[0],
            }
        )
    )
    for number, tenant in enumerate(TENANTS, 1):
        stock(application, folder, tenant, number)
    generous = Rate(100_000, 100_000)
    settings = JwtSettings(AUDIENCE, ISSUER, None, SECRET)
    with (
        serving(application, jwt=settings, rate=generous, anonymous_rate=generous, queue=1000) as web,
        httpx2.Client(base_url=web.url, timeout=60) as client,
    ):
        yield Wire(client, web)
    application.workspace().database.close()


# The model


@dataclass(frozen=True)
class HttpServed(Served):
    """The calls of the model's world, each by one of the ways that there are to it."""

    wire: Wire
    chance: Random
    heard: Callable[[Caller, str], None] = field(compare=False)

    def call(self, operation: str, arguments: Any, caller: Caller = LOCAL) -> Answer:
        ways: list[Callable[[], Said | Any]] = [
            lambda: self.wire.post(f"/v1/call/{operation}", arguments, caller),
            lambda: self.wire.post("/mcp/call_tool", {"name": operation, "arguments": arguments}, caller),
            lambda: self.wire.rpc("tools/call", {"name": operation, "arguments": arguments}, caller),
            lambda: self.wire.rpc("tools/call", {"name": operation, "arguments": arguments}, caller, True),
            lambda: self._own_path(operation, arguments, caller),
        ]
        said: Said = self.chance.choice(ways)()
        self.heard(caller, said.text)
        body = said.body
        if isinstance(body, dict) and "content" in body and "structuredContent" in body:
            assert json.loads(body["content"][0]["text"]) == body["structuredContent"]
            body = body["structuredContent"]
        elif isinstance(body, dict) and "status" in body:
            assert said.status == body["status"]
        return Answer(body)

    def _own_path(self, operation: str, arguments: Any, caller: Caller) -> Said:
        match operation:
            case "search_documents":
                names = {"knowledge_base_id": "kb_id", "max_results": "top_k"}
                return self.wire.post(
                    "/admin/search/hybrid",
                    {names.get(name, name): value for name, value in arguments.items()},
                    caller,
                )
            case "get_knowledge_base_summary":
                return self.wire.get(f"/v1/knowledge-bases/{arguments['knowledge_base_id']}/summary", caller)
            case "list_knowledge_bases":
                return self.wire.get("/v1/knowledge-bases", caller)
        return self.wire.post(f"/v1/call/{operation}", arguments, caller)


class HttpWorld(World):
    """The companies of the model behind HTTP, with what only a server has: chat, resources, completion, runs."""

    def __init__(self, wire: Wire, chance: Random) -> None:
        with wire.web.application.workspace().database.write() as connection:
            first = bases.create_base(connection, admin("戊社"), f"規程{chance.getrandbits(40)}")
        served = HttpServed(wire.web.application, first, wire, chance, self.heard)
        super().__init__(served, chance)
        self.wire = wire
        self.marks: dict[str, tuple[Base, str]] = {}
        self.marked: dict[tuple[str, str], str] = {}
        self.documents: dict[str, tuple[Base, str]] = {}
        self.runs: list[tuple[str, Caller]] = []
        self.asking: str | None = None

    def step(self) -> None:
        own = [self.answer] * 2 + [self.chat] * 2 + [self.read_base] * 2 + [self.read_document] * 3
        own += [self.search_patents, self.read_run, self.read_run, self.complete, self.list_resources]
        if self.chance.random() < 0.6 and self.bases:
            self.chance.choice(own)()
        else:
            super().step()

    # What changes

    def put(self) -> None:
        base = self.some_base()
        if base is None:
            return
        source = f"{self.chance.randrange(MOST_DOCUMENTS)}.md"
        department = self.chance.choice([None, *DEPARTMENTS])
        level = self.chance.choice(list(Confidentiality))
        mark = f"印{self.chance.getrandbits(48):012x}"
        texts = [f"手当の第{n}条、{source}、{mark}。" for n in range(self.chance.randint(1, 3))]
        with self.served.database.write() as connection:
            given = document(source, *texts, department=department, confidentiality=level)
            put(connection, base.stored, given, collection="規則")
            self.documents[document_id(connection, base.stored, source, "規則")] = base, source
        base.documents[source] = (department, level, len(texts))
        self.marks[mark] = base, source
        self.marked[base.stored.id, source] = mark
        self.changed(base)

    # What is heard

    def heard(self, caller: Caller, text: str) -> None:
        """No mark of a document and no name of a base that the caller may not see, anywhere."""
        text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
        for mark in set(MARK.findall(text)):
            base, source = self.marks[mark]
            assert self.is_open(caller, base, source), (caller, mark)
            assert self.marked[base.stored.id, source] == mark, "nothing that was replaced"
        names = {base.stored.name for base in self.bases if may_read(caller, base)}
        assert set(NAME.findall(text)) <= names, caller

    def is_open(self, caller: Caller, base: Base, source: str) -> bool:
        return base in self.bases and may_read(caller, base) and source in visible(caller, base)

    def said(self, caller: Caller, said: Said) -> Any:
        self.heard(caller, said.text)
        return said.body

    # What is asked beside the tools of the model

    def answer(self) -> None:
        caller, base_id, base = self.asked()
        everywhere = self.chance.random() < 0.3
        asked = {"query": self.chance.choice(["手当の第1条は？", "手当の第0条は何ですか"])}
        if not everywhere:
            asked["knowledge_base_id"] = base_id
        body = self.served.call("kb_answer", asked, caller).body
        body = {"message": body["detail"]} if "detail" in body else body  # by the original's own way
        message = None if everywhere else self.refused(caller, base_id, base)
        if message:
            assert message in body["message"]
            self.seen["answer refused"] += 1
            return
        assert "message" not in body, body
        for each in body["citations"]:
            assert self.is_open(caller, *self.documents[each["location"]["document_id"]])
        self.seen["answered" if body["supported"] else "not answered"] += 1

    def chat(self) -> None:
        caller, base_id, base = self.asked()
        tool = self.chance.choice([None, "search_documents", "get_knowledge_base_summary"])
        asked = {"message": "手当の第1条", "knowledge_base_id": base_id, "force_tool": tool}
        stream = self.chance.random() < 0.5
        answer = self.wire.post("/v1/chat", {**asked, "stream": stream}, caller)
        body = self.said(caller, answer)
        if stream:
            last = body.strip().split("\n\n")[-1].splitlines()
            assert last[0] in ("event: done", "event: error")
            body = json.loads(last[1].removeprefix("data: "))
        if not self.agrees(body, caller, base_id, base):
            assert stream or answer.status == body["status"]
            return
        assert base is not None
        cited = {each["source"]["file"] for each in body["citations"]}
        assert cited <= set(visible(caller, base))
        self.seen["chat"] += 1

    def read(self, uri: str, caller: Caller) -> Any:
        said = self.wire.rpc("resources/read", {"uri": uri}, caller, self.chance.random() < 0.5)
        return self.said(caller, said)

    def check_unknown(self, body: Any, uri: str, unknown: str, caller: Caller) -> None:
        """What may not be read is answered as what there is not."""
        assert "contents" not in body
        other = self.read(unknown, caller)
        assert json.dumps(body).replace(uri, "…") == json.dumps(other).replace(unknown, "…")

    def read_base(self) -> None:
        caller, base_id, base = self.asked()
        uri = f"shirube://kb/{base_id}"
        body = self.read(uri, caller)
        if self.refused(caller, base_id, base):
            self.check_unknown(body, uri, f"shirube://kb/{self.gone[0]}", caller)
            self.seen["base refused"] += 1
        else:
            assert base is not None
            told = json.loads(body["contents"][0]["text"])
            assert told["statistics"]["total_documents"] == len(visible(caller, base))
            self.seen["base read"] += 1

    def read_document(self) -> None:
        if not self.documents:
            return
        identifier = self.chance.choice(sorted(self.documents))
        base, source = self.documents[identifier]
        caller = self.caller()
        if self.chance.random() < 0.7:
            caller = replace(caller, tenant=base.tenant)
        uri = f"shirube://doc/{identifier}"
        body = self.read(uri, caller)
        if self.is_open(caller, base, source):
            assert self.marked[base.stored.id, source] in body["contents"][0]["text"]
            self.seen["document read"] += 1
        else:
            self.check_unknown(body, uri, f"shirube://doc/{self.unknown(identifier)}", caller)
            self.seen["document refused"] += 1

    def unknown(self, like: str) -> str:
        """An id of the same form that nobody has."""
        return re.sub(r"[0-9a-f]", lambda _: self.chance.choice("0123456789abcdef"), like)

    def search_patents(self) -> None:
        caller = self.caller()
        body = self.served.call("rrf_search_fulltext_raw", {"query": "顔認証"}, caller).body
        assert body["hit_count"] == 6, "three of their own and three that all have"
        self.runs.append((body["run_id"], caller))
        peeked = self.served.call("peek_snippets", {"run_id": body["run_id"]}, caller).body
        shown = json.dumps(peeked, ensure_ascii=False)
        assert f"{caller.tenant}の顔認証" in shown
        assert all(tenant == caller.tenant or f"{tenant}の顔認証" not in shown for tenant in TENANTS)
        self.seen["patents"] += 1

    def read_run(self) -> None:
        if not self.runs:
            return
        run_id, owner = self.chance.choice(self.runs)
        caller = owner if self.chance.random() < 0.4 else self.caller()
        uri = f"shirube://run/{run_id}"
        body = self.read(uri, caller)
        if (caller.tenant, caller.subject) == (owner.tenant, owner.subject):
            assert json.loads(body["contents"][0]["text"])["run_id"] == run_id
            self.seen["run read"] += 1
        else:
            self.check_unknown(body, uri, f"shirube://run/fulltext-{self.unknown('0' * 12)}", caller)
            self.seen["run refused"] += 1

    def complete(self) -> None:
        caller = self.caller()
        written = self.chance.choice(["", "規程", self.chance.choice(self.bases).stored.id[:2]])
        params = {
            "ref": {"type": "ref/resource", "uri": "shirube://kb/{id}"},
            "argument": {"name": "id", "value": written},
        }
        said = self.said(caller, self.wire.rpc("completion/complete", params, caller))
        due = {
            base.stored.id
            for base in self.bases
            if may_read(caller, base) and (base.stored.id.startswith(written) or written in base.stored.name)
        }
        assert set(said["completion"]["values"]) == due
        self.seen["completed"] += 1

    def list_resources(self) -> None:
        caller = self.caller()
        said = self.said(caller, self.wire.rpc("resources/list", {}, caller, self.chance.random() < 0.5))
        due = {f"shirube://kb/{base.stored.id}" for base in self.bases if may_read(caller, base)}
        assert {each["uri"] for each in said["resources"]} == due
        self.seen["resources"] += 1


@pytest.mark.parametrize("steps", [STEPS, pytest.param(MANY, marks=pytest.mark.soak)])
def test_every_answer_over_http_is_what_the_caller_may_see(wire: Wire, steps: int) -> None:
    world = HttpWorld(wire, Random(20261117 + steps))
    for _ in range(50):
        world.create()
        world.put()
    for _ in range(steps):
        world.step()
    wanted = {
        *("found", "summary", "list", "Knowledge base not found", "Access denied to this knowledge base"),
        *("answer refused", "answered", "not answered", "chat", "base read", "base refused", "document read"),
        *("document refused", "patents", "run read", "run refused", "completed", "resources"),
    }
    # Some are rare: the walk goes on for them, but not for ever.
    for _ in range(steps):
        if all(world.seen[each] >= steps // 200 for each in wanted):
            break
        world.step()
    assert not {each: world.seen[each] for each in wanted if world.seen[each] < steps // 200}


# Ids of others


@dataclass(frozen=True)
class Theirs:
    """What a company has, by what names it."""

    base: str
    document: str
    lane: str
    fusion: str
    search: str
    publication: str
    application: str
    examined: str
    program: str


UNKNOWN = Theirs(
    base="9d3c1a52-0000-4000-8000-7f1e5a0b9c21",
    document="9d3c1a52-0000-5000-8000-7f1e5a0b9c21",
    lane="fulltext-0123456789ab",
    fusion="fusion-0123456789ab",
    search="knowledge-0123456789abcdef",
    publication="特開2023-800000",
    application="特願2022-800000",
    examined="特許第7800000号",
    program="UNI-8-0",
)
OWN_LANE = "own"
# Each operation that takes an id, with what names the id and the arguments that hold it.
CALLS: Sequence[tuple[str, str, Callable[[str], dict[str, Any]]]] = (
    ("search_documents", "base", lambda each: {"query": "手当", "knowledge_base_id": each, "threshold": 0}),
    ("search_documents", "base", lambda each: {"query": " ", "knowledge_base_id": each}),
    ("search_documents", "base", lambda each: {"query": "手当", "knowledge_base_id": each, "explain": True}),
    ("search_documents", "base", lambda each: {"query": "手当", "knowledge_base_id": each.upper()}),
    ("search_hybrid", "base", lambda each: {"query": "手当", "kb_id": each}),
    ("get_knowledge_base_summary", "base", lambda each: {"knowledge_base_id": each}),
    ("kb_answer", "base", lambda each: {"query": "手当はいくらですか", "knowledge_base_id": each}),
    (
        "call_tool",
        "base",
        lambda each: {"name": "get_knowledge_base_summary", "arguments": {"knowledge_base_id": each}},
    ),
    ("call_tool", "lane", lambda each: {"name": "peek_snippets", "arguments": {"run_id": each}}),
    ("call_tool", "program", lambda each: {"name": "get_program", "arguments": {"unified_id": each}}),
    ("get_provenance", "lane", lambda each: {"run_id": each}),
    ("get_provenance", "fusion", lambda each: {"run_id": each}),
    ("get_provenance", "search", lambda each: {"run_id": each}),
    ("peek_snippets", "lane", lambda each: {"run_id": each}),
    ("peek_snippets", "fusion", lambda each: {"run_id": each, "offset": 2, "fields": ["title"]}),
    ("peek_snippets", "search", lambda each: {"run_id": each}),
    ("rrf_blend_frontier", "lane", lambda each: {"runs": [{"lane": "fulltext", "run_id_lane": each}]}),
    ("rrf_blend_frontier", "fusion", lambda each: {"runs": [{"lane": "fulltext", "run_id_lane": each}]}),
    (
        "rrf_blend_frontier",
        "lane",
        lambda each: {
            "runs": [
                {"lane": "fulltext", "run_id_lane": OWN_LANE},
                {"lane": "semantic", "run_id_lane": each},
            ]
        },
    ),
    ("rrf_mutate_run", "fusion", lambda each: {"base_run_id": each, "mutate_delta": {"rrf_k": 10}}),
    ("rrf_mutate_run", "lane", lambda each: {"base_run_id": each, "mutate_delta": {}}),
    (
        "register_representatives",
        "lane",
        lambda each: {"pub_ids": ["特開2020-900000"], "category": "A", "run_id": each},
    ),
    (
        "register_representatives",
        "fusion",
        lambda each: {"pub_ids": ["特開2020-900000"], "category": "B", "run_id": each},
    ),
    ("register_representatives", "publication", lambda each: {"pub_ids": [each], "category": "A"}),
    ("get_snippets", "publication", lambda each: {"ids": [each]}),
    ("get_snippets", "application", lambda each: {"ids": [each, "特開2020-900000"], "fields": ["title"]}),
    ("get_publication", "publication", lambda each: {"id": each}),
    ("get_publication", "application", lambda each: {"id": each, "id_type": "app_id"}),
    ("get_publication", "application", lambda each: {"id": each, "id_type": "app_doc_id"}),
    ("get_publication", "examined", lambda each: {"id": each, "id_type": "exam_id"}),
    ("get_program", "program", lambda each: {"unified_id": each}),
    ("get_program", "program", lambda each: {"unified_id": f" {each} ", "fields": "full"}),
    ("batch_get_programs", "program", lambda each: {"unified_ids": [each, "UNI-1-0"]}),
    ("list_exclusion_rules", "program", lambda each: {"program_id": each}),
    ("check_exclusions", "program", lambda each: {"program_ids": [each, "UNI-1-0"]}),
)
# Arguments that name something; the pages' are of the one folder that all see.
IDS = frozenset(
    "knowledge_base_id kb_id run_id base_run_id runs id ids pub_ids unified_id unified_ids program_id program_ids "
    "arguments".split()
)


@dataclass(frozen=True)
class Companies:
    wire: Wire
    caller: Caller
    """Of the first company; no admin, but cleared for everything there."""
    others: Mapping[str, Theirs]
    own_lane: str


@pytest.fixture(scope="module")
def companies(wire: Wire) -> Companies:
    everything = frozenset(DEPARTMENTS)
    caller = Caller(TENANTS[0], SUBJECTS[0], everything, Confidentiality.top_secret)
    theirs = {
        "another company's": owned(wire, replace(caller, tenant=TENANTS[1]), 2),
        "another company's of an admin": owned(wire, admin(TENANTS[2]), 3),
    }
    theirs["a colleague's"] = owned(wire, replace(caller, subject=SUBJECTS[1]), 1)
    own = wire.tool("rrf_search_fulltext_raw", {"query": "顔認証"}, caller)["run_id"]
    return Companies(wire, caller, theirs, own)


def owned(wire: Wire, caller: Caller, number: int) -> Theirs:
    database = wire.web.application.workspace().database
    with database.write() as connection:
        base = bases.create_base(connection, caller, f"規程{uuid.uuid4().int}", is_public=True)
        put(connection, base, document("手当.md", "手当は月額5万円です。"))
        stored = document_id(connection, base, "手当.md")
    wire.web.application.knowledge().space(base.id).catch_up()
    found = wire.post("/v1/knowledge-bases/search", {"query": "手当", "knowledge_base_id": base.id}, caller)
    lane = wire.tool("rrf_search_fulltext_raw", {"query": "顔認証"}, caller)["run_id"]
    fusion = wire.tool("rrf_blend_frontier", {"runs": [{"lane": "fulltext", "run_id_lane": lane}]}, caller)[
        "run_id"
    ]
    wire.web.application.workspace().journal.flush()
    return Theirs(
        base.id, stored, lane, fusion, found.body["run_id"], f"特開2023-{number}00000",
        f"特願2022-{number}00000", f"特許第7{number}00000号", f"UNI-{number}-0",
    )  # fmt: skip


def masked(said: Said, identifier: str) -> Any:
    """What somebody could tell two answers apart by, without the id itself."""
    written = (
        json.dumps(said.body, ensure_ascii=False).replace(identifier, "…").replace(identifier.upper(), "…")
    )

    def cleared(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: "…" if key in VOLATILE else cleared(value) for key, value in node.items()}
        return [cleared(each) for each in node] if isinstance(node, list) else node

    heads = {name: value for name, value in said.headers.items() if name.lower() not in VOLATILE}
    return said.status, heads, cleared(json.loads(written))


def ways(companies: Companies, name: str, arguments: dict[str, Any]) -> dict[str, Said]:
    """The same call by every way to it."""
    wire, caller = companies.wire, companies.caller
    operation = wire.web.application.registry.get(name)
    assert operation is not None
    method, path = operation.rest
    rest = {key: value for key, value in arguments.items() if f"{{{key}}}" not in path}
    own = path
    for key, value in arguments.items():
        if f"{{{key}}}" in own:
            own = own.replace(f"{{{key}}}", httpx2.URL(f"http://x/{value}").raw_path.decode()[1:])
    said = {
        "call": wire.post(f"/v1/call/{name}", arguments, caller),
        "rest": wire.post(own, rest, caller) if method == "POST" else wire.get(own, caller, **rest),
    }
    if operation.is_tool:
        params = {"name": name, "arguments": arguments}
        said["mcp"] = wire.rpc("tools/call", params, caller)
        said["mcp, the newest"] = wire.rpc("tools/call", params, caller, modern=True)
    return said


OWNERS = ("another company's", "another company's of an admin", "a colleague's")
# Publications and programmes are a company's; a colleague's base is denied, not unknown. Runs are everybody's own.
OF_COLLEAGUES = ("lane", "fusion", "search")


@pytest.mark.parametrize("number", range(len(CALLS)), ids=lambda each: f"{CALLS[each][0]}-{CALLS[each][1]}")
def test_the_id_of_somebody_else_is_answered_as_one_that_nobody_has(
    companies: Companies, number: int
) -> None:
    name, kind, arguments = CALLS[number]

    def asked(identifier: str) -> dict[str, Any]:
        written = json.dumps(arguments(identifier)).replace(f'"{OWN_LANE}"', json.dumps(companies.own_lane))
        return dict(json.loads(written))

    unknown = getattr(UNKNOWN, kind)
    nobodys = ways(companies, name, asked(unknown))
    for whose in OWNERS if kind in OF_COLLEAGUES else OWNERS[:2]:
        theirs = getattr(companies.others[whose], kind)
        assert len(theirs) == len(unknown)
        for way, said in ways(companies, name, asked(theirs)).items():
            assert masked(said, theirs) == masked(nobodys[way], unknown), (name, way, whose)
            assert len(said.text) == len(nobodys[way].text) or "took_ms" in said.text, (name, way, whose)


def test_every_operation_that_takes_an_id_is_among_those_that_were_tried(wire: Wire) -> None:
    taking = {
        operation.name
        for operation in wire.web.application.registry
        if IDS & set(operation.input_schema().get("properties", {}))
    }
    assert taking == {name for name, _, _ in CALLS}


@pytest.mark.parametrize("whose", OWNERS[:2])
@pytest.mark.parametrize("kind", ["base", "document", "lane", "fusion", "search"])
def test_a_resource_of_somebody_else_is_one_that_nobody_has(
    companies: Companies, whose: str, kind: str
) -> None:
    wire, caller = companies.wire, companies.caller
    prefix = {"base": "kb", "document": "doc"}.get(kind, "run")
    theirs, unknown = getattr(companies.others[whose], kind), getattr(UNKNOWN, kind)
    for modern in (False, True):
        said, nobodys = (
            wire.rpc("resources/read", {"uri": f"shirube://{prefix}/{each}"}, caller, modern)
            for each in (theirs, unknown)
        )
        assert masked(said, theirs) == masked(nobodys, unknown)
        assert said.body["code"] == -32602


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("tool", [None, "search_documents", "get_knowledge_base_summary"])
def test_chat_about_somebody_elses_base_is_chat_about_none(
    companies: Companies, stream: bool, tool: str | None
) -> None:
    theirs = companies.others["another company's"].base
    said, nobodys = (
        companies.wire.post(
            "/v1/chat",
            {"message": "手当は？", "knowledge_base_id": each, "force_tool": tool, "stream": stream},
            companies.caller,
        )
        for each in (theirs, UNKNOWN.base)
    )
    assert masked(said, theirs) == masked(nobodys, UNKNOWN.base)
    assert "Knowledge base not found" in said.text


def test_representatives_of_one_caller_move_nothing_for_another(companies: Companies) -> None:
    wire = companies.wire

    def ranking(caller: Caller) -> Any:
        lane = wire.tool("rrf_search_fulltext_raw", {"query": "顔認証", "sort": "pub_id"}, caller)["run_id"]
        runs = [{"lane": "fulltext", "run_id_lane": lane}]
        blended = wire.tool("rrf_blend_frontier", {"runs": runs}, caller)
        return [(each["doc_id"], each["score"]) for each in blended["ranked_docs"]]

    others = [replace(companies.caller, tenant=TENANTS[3]), replace(companies.caller, subject=SUBJECTS[2])]
    before = [ranking(each) for each in others]
    own = ranking(companies.caller)
    given = {"pub_ids": ["特開2020-900002"], "category": "A"}
    assert wire.tool("register_representatives", given, companies.caller)["registered_count"] == 1
    assert ranking(companies.caller) != own
    assert [ranking(each) for each in others] == before


def test_a_company_named_like_the_folder_of_another_finds_nothing_of_it(companies: Companies) -> None:
    """Indexes of publications stand in folders named after their company."""
    named = uuid.uuid5(uuid.NAMESPACE_URL, TENANTS[0]).hex
    stranger = replace(companies.caller, tenant=named)
    said = companies.wire.tool("rrf_search_fulltext_raw", {"query": "顔認証"}, stranger)
    assert said["hit_count"] == 0
    assert (
        companies.wire.tool("rrf_search_fulltext_raw", {"query": "顔認証"}, companies.caller)["hit_count"]
        == 6
    )


# Scopes

PER_SCOPE = {
    "knowledge": ("list_knowledge_bases", {}),
    "patents": ("rrf_search_fulltext_raw", {"query": "顔認証"}),
    "programs": ("get_meta", {}),
    "answers": ("kb_answer", {"query": "手当"}),
    "pages": ("ubp_list_pages", {}),
}


@pytest.mark.parametrize("scope", sorted(PER_SCOPE))
@pytest.mark.parametrize("wanted", sorted(PER_SCOPE))
def test_a_token_opens_its_toolset_and_no_other_by_any_way(
    companies: Companies, scope: str, wanted: str
) -> None:
    wire, caller = companies.wire, companies.caller
    name, arguments = PER_SCOPE[wanted]
    params = {"name": name, "arguments": arguments}
    statuses = {
        "call": wire.post(f"/v1/call/{name}", arguments, caller, scope).status,
        "mcp": 403 if "does not open" in wire.rpc("tools/call", params, caller, scopes=scope).text else 200,
        "original": wire.post("/mcp/call_tool", params, caller, scope).status,
    }
    opened = scope == wanted
    # The original's way in needs the scope of what it leads to.
    assert set(statuses.values()) == {200 if opened else 403}


def test_pages_are_those_of_one_company(companies: Companies) -> None:
    """For others it is as if there were no folder."""
    wire, caller = companies.wire, companies.caller
    other = replace(caller, tenant=TENANTS[1])
    assert wire.post("/v1/call/ubp_list_pages", {}, caller).status == 200
    for name, arguments in (("ubp_list_pages", {}), ("ubp_get_page", {"filepath": "残業.md"})):
        refused = wire.post(f"/v1/call/{name}", arguments, other)
        assert refused.status == 422
        assert "残業" not in refused.text
        assert "No folder of pages was given" in refused.text


def test_without_the_scope_a_page_that_is_there_is_as_one_that_is_not(companies: Companies) -> None:
    wire, caller = companies.wire, companies.caller
    for name in ("ubp_get_page", "ubp_get_context"):
        there, gone = (
            wire.post(f"/v1/call/{name}", {"filepath": path}, caller, "knowledge")
            for path in ("残業.md", "無い.md")
        )
        assert masked(there, "残業.md") == masked(gone, "無い.md")
        assert there.status == 403
    for modern in (False, True):
        there, gone = (
            wire.rpc("resources/read", {"uri": f"shirube://page/{path}"}, caller, modern, "knowledge")
            for path in ("%E6%AE%8B%E6%A5%AD.md", "%E6%AE%8B%E6%A5%AC.md")
        )
        assert there.body["message"] == gone.body["message"] == "Resource not found"
    params = {
        "ref": {"type": "ref/resource", "uri": "shirube://page/{+path}"},
        "argument": {"name": "path", "value": ""},
    }
    assert (
        wire.rpc("completion/complete", params, caller, scopes="knowledge").body["completion"]["values"] == []
    )
    assert wire.rpc("completion/complete", params, caller).body["completion"]["values"]


def test_a_token_that_has_ended_reads_no_resource_and_no_run(companies: Companies) -> None:
    """A run's id and a base's are no authority without the caller they belong to."""
    wire = companies.wire
    with wire.web.application.workspace().database.write() as connection:
        _, ended = create_key(connection, "古い", companies.caller, ["*"], now())
    base = companies.others["another company's"].base
    for path in (
        f"/v1/patents/runs/{companies.own_lane}/provenance",
        f"/v1/knowledge-bases/{base}/summary",
    ):
        answer = wire.client.get(path, headers={"Authorization": f"Bearer {ended}"})
        assert answer.status_code == 401
        assert companies.own_lane not in answer.text
