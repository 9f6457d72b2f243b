"""The server as an agent meets it: the official client over stdio, and the bytes on the wire."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from shirube.caller import LOCAL
from shirube.ingest.sync import Options, add_files, find_files
from shirube.settings import load_settings
from shirube.store import bases
from shirube.toolsets.registry import Application

SHIRUBE = str(Path(sys.executable).with_name("shirube"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], str]:
    """The environment of a server with a small knowledge base, and the base's id."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "規程").mkdir()
    (folder / "規程" / "副業.md").write_text("# 副業規程\n\n副業には許可\u202eが必要です。\n")
    (folder / "規程" / "手当.md").write_text("# 通勤手当\n\n通勤手当は月額5万円です。\n")
    environ = {**os.environ, "SHIRUBE_HOME": str(folder / "home"), "SHIRUBE_EMBEDDER": "none"}
    application = Application(load_settings(environ))
    database = application.workspace().database
    with database.write() as connection:
        base = bases.create_base(connection, LOCAL, "規程")
    add_files(database, LOCAL, base, find_files([folder / "規程"]), Options())
    application.knowledge().space(base.id).catch_up()
    database.close()
    return environ, base.id


async def _with_client(environ: dict[str, str], use: Any) -> Any:
    parameters = StdioServerParameters(command=SHIRUBE, args=["serve"], env=environ)
    async with Client(stdio_client(parameters)) as client:
        return await use(client)


def test_tools_are_listed_with_schemas_and_annotations(served: tuple[dict[str, str], str]) -> None:
    async def use(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = asyncio.run(_with_client(served[0], use))
    assert [tool.name for tool in tools] == [
        "list_knowledge_bases",
        "search_documents",
        "get_knowledge_base_summary",
        "normalize_ocr_text",
        "rrf_search_fulltext_raw",
        "rrf_search_semantic_raw",
        "run_multilane_search",
        "rrf_blend_frontier",
        "rrf_mutate_run",
        "get_provenance",
        "peek_snippets",
        "get_snippets",
        "get_publication",
        "register_representatives",
        "search_programs",
        "get_program",
        "batch_get_programs",
        "list_exclusion_rules",
        "check_exclusions",
        "get_meta",
    ]
    for tool in tools:
        assert tool.input_schema["type"] == "object"
        assert tool.output_schema["properties"]
        assert tool.annotations.read_only_hint is (tool.name != "register_representatives")
        keeps_a_run = tool.name.startswith(("rrf_", "run_"))
        assert tool.annotations.idempotent_hint is not keeps_a_run
        assert tool.title
        assert "\n" in tool.description
        assert len(tool.name) <= 32
    [search] = [tool for tool in tools if tool.name == "search_documents"]
    assert "指示" in search.description
    assert "instructions" in search.description


def test_a_search_answers_with_unescaped_japanese_and_the_same_structure(
    served: tuple[dict[str, str], str],
) -> None:
    async def use(client: Client) -> Any:
        return await client.call_tool("search_documents", {"query": "副業", "knowledge_base_id": served[1]})

    answer = asyncio.run(_with_client(served[0], use))
    assert answer.is_error is False
    assert "副業には許可" in answer.content[0].text
    assert "\\u" not in answer.content[0].text
    assert json.loads(answer.content[0].text) == answer.structured_content
    [result] = answer.structured_content["results"]
    assert result["content"] == "副業には許可が必要です。", "invisible characters are taken out"
    assert result["metadata"]["heading_path"] == ["副業規程"]


def test_each_tool_of_the_specification_can_be_called(served: tuple[dict[str, str], str]) -> None:
    given = {"knowledge_base_id": served[1]}

    async def use(client: Client) -> Any:
        return [
            await client.call_tool("search_documents", {"query": "副業", **given}),
            await client.call_tool("get_knowledge_base_summary", given),
            await client.call_tool("normalize_ocr_text", {"text": "マネ-ジャ-"}),
        ]

    search, summary, normalised = asyncio.run(_with_client(served[0], use))
    assert not any(answer.is_error for answer in (search, summary, normalised))
    assert search.structured_content["count"] == 1
    assert summary.structured_content["statistics"]["total_documents"] == 2
    assert normalised.structured_content["normalized_text"] == "マネージャー"


def test_business_errors_are_results_and_unknown_tools_are_protocol_errors(
    served: tuple[dict[str, str], str],
) -> None:
    async def use(client: Client) -> Any:
        wrong = await client.call_tool(
            "search_documents", {"query": "副業", "knowledge_base_id": served[1], "threshold": 2}
        )
        try:
            await client.call_tool("no_such_tool", {})
        except Exception as error:
            return wrong, error
        return wrong, None

    wrong, error = asyncio.run(_with_client(served[0], use))
    assert wrong.is_error is True
    assert wrong.structured_content["detail"] == "threshold out of range (0.0-1.0)"
    assert error is not None
    assert "no_such_tool" in str(error)


def _talk(environ: dict[str, str], *messages: dict[str, Any]) -> tuple[list[dict[str, Any]], float]:
    """Send messages, close stdin, and give back every line of stdout parsed, and the time to the end."""
    text = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages)
    server = subprocess.Popen(
        [SHIRUBE, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(text.encode())
    server.stdin.flush()
    wanted = sum("id" in message for message in messages)
    lines = [server.stdout.readline() for _ in range(wanted)]
    started = time.monotonic()
    rest, _ = server.communicate(timeout=30)
    return [json.loads(line) for line in [*lines, *rest.splitlines()]], time.monotonic() - started


HELLO = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)


def test_stdout_carries_protocol_only_and_the_end_of_input_ends_the_server(
    served: tuple[dict[str, str], str],
) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {
            "name": "search_documents",
            "arguments": {"query": "手当", "knowledge_base_id": served[1]},
        },
    }
    lines, seconds = _talk(served[0], *HELLO, call)
    assert [line["id"] for line in lines] == [1, 2]
    assert all(line["jsonrpc"] == "2.0" for line in lines)
    assert lines[1]["result"]["structuredContent"]["count"] == 1
    assert seconds < 5, "the server outlives its input"


def test_a_malformed_message_does_not_end_the_server(served: tuple[dict[str, str], str]) -> None:
    listing = {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}
    broken = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": 5}}
    lines, _ = _talk(served[0], *HELLO, broken, listing)
    answers = {line["id"]: line for line in lines}
    assert "error" in answers[2]
    assert len(answers[3]["result"]["tools"]) == 20
