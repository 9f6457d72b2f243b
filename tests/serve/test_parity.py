"""Every operation says the same by every way to it: MCP over stdio and HTTP, REST, and the command line, errors too."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from typer.testing import CliRunner

from shirube.caller import LOCAL
from shirube.cli.app import app
from shirube.operations import Operation
from shirube.serve.examples import EXAMPLES
from shirube.toolsets.patents.importing import import_files as import_publications
from shirube.toolsets.programs.imports import import_files
from tests.serve.web import Web, office, serving
from tests.toolsets.knowledge.conftest import SAMPLES

FEW, MANY = 4, 50
# What differs from one call to the next, and between processes.
VOLATILE = frozenset({"run_id", "run_id_lane", "took_ms", "generated_at", "duration_ms", "last_synced_at"})
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 10**12, 0.5, -3.5, 1e300, "", " ", "　", "手当", "ﾃﾚﾜｰｸ", "a" * 3000, "\u0000",
    "😀", "x\u202ey", "00000000-0000-0000-0000-000000000000", "not-a-uuid", "顔認証 AND (", '"', "*",
    "../../etc/passwd", [], [1], ["S", "A"], ["手当"], {}, {"a": 1}, [[]], [{"lop": "and"}], {"title": 3},
    "2024-01-01", "design/x.md",
)  # fmt: skip


@dataclass(frozen=True)
class Ways:
    """The four ways to an operation over one data folder."""

    web: Web
    home: Path
    docs: Path
    base: str


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    folder = tmp_path_factory.mktemp("parity")
    docs = folder / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("---\ntitle: 残業\n---\n\n残業の計算。[[b]]\n")
    (docs / "b.md").write_text("# 手当\n\n手当の一覧。\n")
    application, base = office(folder, SHIRUBE_DOCS=str(docs))
    database = application.workspace().database
    import_publications(database, LOCAL, sorted((SAMPLES.parent / "patents").iterdir()))
    import_files(database, LOCAL, sorted((SAMPLES.parent / "programs").iterdir()), strict=True)
    application.patents().library.catch_up(LOCAL.tenant)
    with serving(application, insecure_local=True) as web:
        yield Ways(web, folder / "home", docs, base.id)


def inputs(operation: Operation[Any], base: str, count: int) -> list[dict[str, Any]]:
    """The example, and the same with one or two arguments odd, missing or unknown."""
    random = Random(operation.name)
    example = json.loads(
        json.dumps(EXAMPLES[operation.name]).replace("2f1c8f0e-3a43-4c8e-9d0e-6f6b1c0f2a11", base)
    )
    names = [*operation.input_schema().get("properties", {}), "unknown"]
    made = [example, {}]
    while len(made) < count:
        given = dict(example)
        for name in random.sample(names, min(len(names), random.choice((1, 1, 2)))):
            if random.random() < 0.15:
                given.pop(name, None)
            else:
                given[name] = random.choice(ODD)
        made.append(given)
    return made[:count]


def canonical(body: Any) -> str:
    def masked(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: "…" if key in VOLATILE and value else masked(value) for key, value in node.items()}
        return [masked(each) for each in node] if isinstance(node, list) else node

    return json.dumps(masked(body), ensure_ascii=False)


async def by_mcp(client: Client, name: str, given: dict[str, Any]) -> Any:
    try:
        answer = await client.call_tool(name, given)
    except MCPError as error:
        data = error.error
        return {"error": {"code": data.code, "message": data.message, "data": data.data}}
    text = answer.content[0]
    assert text.type == "text"
    return json.loads(text.text)


def by_command(ways: Ways, name: str, given: dict[str, Any]) -> Any:
    environ = {"SHIRUBE_HOME": str(ways.home), "SHIRUBE_EMBEDDER": "none"}
    arguments = ["call", name, "--args", json.dumps(given), "--docs", str(ways.docs)]
    return json.loads(CliRunner().invoke(app, arguments, env=environ).stdout)


def errors_alike(body: Any) -> Any:
    """An error of the protocol is the same as one in a body; what JSON-RPC leaves out is null."""
    if (
        isinstance(body, dict)
        and isinstance(body.get("error"), dict)
        and isinstance(body["error"].get("code"), int)
    ):
        return {"error": {"data": None, **body["error"]}}
    return body


async def compare(ways: Ways, count: int) -> int:
    compared = 0
    command = str(Path(sys.executable).with_name("shirube"))
    environ = {**os.environ, "SHIRUBE_HOME": str(ways.home), "SHIRUBE_EMBEDDER": "none"}
    parameters = StdioServerParameters(command=command, args=["serve", "--docs", str(ways.docs)], env=environ)
    registry = ways.web.application.registry
    async with (
        Client(stdio_client(parameters)) as stdio,
        Client(streamable_http_client(f"{ways.web.url}/mcp")) as http,
    ):
        for operation in registry:
            for number, given in enumerate(inputs(operation, ways.base, count)):
                said = {"rest": ways.web.call(operation.name, given).json()}
                if operation.is_tool:
                    said["stdio"] = await by_mcp(stdio, operation.name, given)
                    said["http"] = await by_mcp(http, operation.name, given)
                if number < FEW or count == MANY:  # a process's worth of work each
                    said["command"] = await asyncio.to_thread(by_command, ways, operation.name, given)
                forms = {canonical(errors_alike(each)) for each in said.values()}
                assert len(forms) == 1, (operation.name, given, said)
                compared += 1
    return compared


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.soak)])
def test_every_way_to_an_operation_says_the_same(ways: Ways, count: int) -> None:
    operations = len(list(ways.web.application.registry))
    assert asyncio.run(compare(ways, count)) == operations * count
