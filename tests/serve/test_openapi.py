"""The server keeps to its own OpenAPI document: whatever is sent, what comes back is what the document says."""

import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from sqlalchemy import select

from shirube.caller import LOCAL
from shirube.serve.examples import EXAMPLES
from shirube.serve.settings import Rate
from shirube.store.keys import create_key
from shirube.store.tables import audit
from shirube.toolsets.patents.importing import import_files as import_publications
from shirube.toolsets.programs.imports import import_files
from tests.serve.web import Web, office, serving
from tests.toolsets.knowledge.conftest import SAMPLES

# What schemathesis imports only when it is needed would be compiled while a server's threads compile too, which
# Python 3.11 does not bear (its count of the parser's depth is one for all threads).
for found in pkgutil.walk_packages(schemathesis.__path__, "schemathesis."):
    with suppress(Exception):
        importlib.import_module(found.name)

FEW, MANY = 3, 150
CHECKS: list[Any] = [
    status_code_conformance,
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
]
PUBLICATION, PROGRAM, PAGE = "特開2023-900001", "UNI-3e5d574ffc", "a.md"
# Strings that some parser or encoder on the way has been known to stumble over.
NASTY: tuple[Any, ...] = (
    "\ud800", "\udc00x", "\u0000", "\u202e", "\U0010ffff", "\ufffe", "e\u0301" * 50, "' OR 1=1 --", "../../etc/passwd",
    "%2e%2e%2f", "${jndi:ldap://x}", "{{7*7}}", "a" * 20_000, 10**400, -(10**30), 2**63, 1e308, float("nan"),
    float("inf"), -0.0, True, None, [], {}, [None], {"\ud800": 1}, {"": ""}, "9" * 5000,
)  # fmt: skip


@dataclass(frozen=True)
class Served:
    web: Web
    document: dict[str, Any]
    schema: Any
    session: requests.Session
    known: Mapping[str, Any]
    """A good value for each argument that is an id of something."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("openapi")
    with serving(*stocked(folder), insecure_local=True) as web:
        document = web.get("/openapi.json").json()
        schema = schemathesis.openapi.from_dict(document)
        schema.config.update(base_url=web.url)
        base = web.get("/v1/knowledge-bases").json()["knowledge_bases"][0]["knowledge_base_id"]
        lanes = [
            web.call("rrf_search_fulltext_raw", {"query": "顔認証"}).json()["run_id"],
            web.call("rrf_search_semantic_raw", {"text": "マスクで隠れた顔"}).json()["run_id"],
        ]
        runs = [
            {"lane": lane, "run_id_lane": run}
            for lane, run in zip(("fulltext", "semantic"), lanes, strict=True)
        ]
        fusion = web.call("rrf_blend_frontier", {"runs": runs}).json()["run_id"]
        known = {
            "knowledge_base_id": base,
            "kb_id": base,
            "run_id": fusion,
            "base_run_id": fusion,
            "runs": runs,
            "id": PUBLICATION,
            "ids": [PUBLICATION],
            "pub_ids": [PUBLICATION],
            "unified_id": PROGRAM,
            "unified_ids": [PROGRAM],
            "filepath": PAGE,
            "center": PAGE,
        }
        with requests.Session() as session:
            yield Served(web, document, schema, session, known)


def stocked(folder: Path) -> tuple[Any]:
    """An application with something for every toolset, vectors too."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    (docs / "a.md").write_text("---\ntitle: 残業\n---\n\n残業の計算。[[b]]\n")
    (docs / "b.md").write_text("# 手当\n\n手当の一覧。\n")
    application, _ = office(folder, SHIRUBE_DOCS=str(docs), SHIRUBE_EMBEDDER="use")
    database = application.workspace().database
    import_publications(database, LOCAL, sorted((SAMPLES.parent / "patents").iterdir()))
    import_files(database, LOCAL, sorted((SAMPLES.parent / "programs").iterdir()), strict=True)
    application.patents().library.complete()
    application.knowledge().complete_vectors()
    return (application,)


def operations(served: Served, name: str) -> list[Any]:
    """The operation at its own path and under /v1/call."""
    found = [
        (path, method)
        for path, methods in served.document["paths"].items()
        for method, described in methods.items()
        if described["operationId"] in (name, f"call_{name}")
    ]
    assert len(found) == 2
    return [served.schema[path][method] for path, method in found]


def checked(served: Served, case: Case[Any]) -> int:
    exempt: list[Any] = [negative_data_rejection] if may_be_taken(case) else []
    answer = case.call_and_validate(session=served.session, checks=CHECKS, excluded_checks=exempt, timeout=30)
    said = strict(answer.content) if "json" in answer.headers["content-type"][0] else None
    assert answer.status_code < 500 or is_unavailable(case, said), (case.as_curl_command(), answer.text)
    return answer.status_code


def may_be_taken(case: Case[Any]) -> bool:
    """No body and null are no arguments, as MCP has it; a lane that is none says so itself, beside the others."""
    lanes = case.body.get("lanes") if isinstance(case.body, dict) else None
    return not isinstance(case.body, dict | list | str | int | float) or isinstance(lanes, list)


def is_unavailable(case: Case[Any], said: Any) -> bool:
    """There is no language model here, and whoever insists on one is told so; nothing else may fail."""
    body: Any = case.body if isinstance(case.body, dict) else {}
    asked = body.get("arguments", body)
    return asked.get("engine") == "llm" and bool(said["detail"] == "LLM service unavailable")


def strict(content: bytes) -> Any:
    """JSON as RFC 8259 has it, which knows no NaN."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no JSON")

    return json.loads(content, parse_constant=refuse) if content else None


def with_known(case: Case[Any], known: Mapping[str, Any]) -> Case[Any]:
    """The case with ids of things that there are."""
    for place in (case.path_parameters, case.query, case.body):
        if isinstance(place, dict):
            place.update({name: value for name, value in known.items() if name in place})
    return case


def explored(served: Served, operation: Any, mode: GenerationMode, count: int) -> None:
    @seed(Random(operation.label).getrandbits(64))
    @settings(
        max_examples=count,
        phases=[Phase.explicit, Phase.generate] if count == FEW else [Phase.generate, Phase.shrink],
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode), st.booleans())
    def check(case: Case[Any], known: bool) -> None:
        checked(served, with_known(case, served.known) if known and mode.is_positive else case)

    check()


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_whatever_fits_the_document_is_answered_as_it_says(served: Served, name: str, count: int) -> None:
    for operation in operations(served, name):
        explored(served, operation, GenerationMode.POSITIVE, count)


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_whatever_does_not_fit_the_document_is_refused_as_it_says(
    served: Served, name: str, count: int
) -> None:
    for operation in operations(served, name):
        if operation.body or list(operation.iter_parameters()):
            explored(served, operation, GenerationMode.NEGATIVE, count)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_example_with_real_ids_is_answered_as_the_document_says(served: Served, name: str) -> None:
    """What succeeds is held against the schema of what succeeds."""
    example = {key: served.known.get(key, value) for key, value in EXAMPLES[name].items()}
    for operation in operations(served, name):
        in_path = {each.name for each in operation.path_parameters}
        rest = {key: value for key, value in example.items() if key not in in_path}
        given: dict[str, Any] = {"body": rest} if operation.method.upper() == "POST" else {"query": rest}
        case = operation.Case(path_parameters={key: example[key] for key in in_path}, **given)
        assert checked(served, case) == 200, (name, operation.label)


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.soak)])
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_chat_answers_as_the_document_says(served: Served, mode: GenerationMode, count: int) -> None:
    chat = served.schema["/v1/chat"]["post"]
    explored(served, chat, mode, count)
    for stream in (False, True):
        body = {
            "message": "副業の規程は？",
            "knowledge_base_id": served.known["knowledge_base_id"],
            "stream": stream,
        }
        answer = chat.Case(body=body).call_and_validate(session=served.session, checks=CHECKS, timeout=30)
        assert answer.status_code == 200
        assert answer.headers["content-type"][0].startswith(
            "text/event-stream" if stream else "application/json"
        )


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_argument_that_no_parser_likes_is_no_failure_of_the_server(served: Served, name: str) -> None:
    """Every argument of the example in turn, an unknown one, and a name that cannot be written down."""
    example = {key: served.known.get(key, value) for key, value in EXAMPLES[name].items()}
    operation = next(each for each in operations(served, name) if each.path.startswith("/v1/call/"))
    random = Random(name)
    documented = {int(status) for status in served.document["paths"][operation.path]["post"]["responses"]}
    known = served.web.application.registry.get(name)
    assert known is not None
    names = [*known.input_schema().get("properties", {}), "x", "\ud800"]
    for argument in names:
        for nasty in random.sample(NASTY, 4):
            sent = json.dumps({**example, argument: nasty})
            answer = served.session.post(
                f"{served.web.url}{operation.path}",
                data=sent.encode(),
                headers={"Content-Type": "application/json"},
                timeout=30,
            )
            assert answer.status_code in documented - {500}, (argument, sent[:300], answer.text[:300])
            assert answer.status_code < 500 or answer.status_code == 503, (argument, sent[:300], answer.text)
            strict(answer.content)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
def test_a_method_that_a_path_does_not_know_is_a_problem(served: Served, method: str) -> None:
    for path in served.document["paths"]:
        answer = served.session.request(method, served.web.url + path.replace("{", "").replace("}", ""))
        assert answer.status_code == 405, (method, path)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "METHOD_NOT_ALLOWED"
        assert "allow" in answer.headers, "RFC 9110: a 405 names the methods that there are"


def test_chat_is_limited_and_logged_like_every_operation(tmp_path: Path) -> None:
    """07: 429 with Retry-After; denials are in the audit log."""
    application, base = office(tmp_path)
    database = application.workspace().database
    with database.write() as connection:
        _, slow = create_key(connection, "遅い", replace(LOCAL, subject="slow"), ["knowledge"], None)
        _, other = create_key(connection, "他", replace(LOCAL, subject="other"), ["patents"], None)
    asked = {"message": "副業", "knowledge_base_id": base.id}
    with serving(application, rate=Rate(0.001, 5)) as web:
        statuses = [
            web.post("/v1/chat", asked, {"Authorization": f"Bearer {slow}"}).status_code for _ in range(2)
        ]
        refused = web.post("/v1/chat", asked, {"Authorization": f"Bearer {slow}"})
        denied = web.post("/v1/chat", asked, {"Authorization": f"Bearer {other}"})
    assert statuses == [200, 429]
    assert refused.status_code == 429
    assert denied.status_code == 403
    application.workspace().journal.flush()
    with database.read() as connection:
        outcomes = {tuple(row) for row in connection.execute(select(audit.c.subject, audit.c.outcome))}
    assert {("slow", "RATE_LIMITED"), ("other", "ACCESS_DENIED")} <= outcomes
    assert int(refused.headers["retry-after"]) >= 1
