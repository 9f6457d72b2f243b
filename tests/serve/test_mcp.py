"""The server as an agent meets it: the official client over stdio, and the bytes on the wire."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

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
        "kb_answer",
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
    assert len(answers[3]["result"]["tools"]) == 21


def test_a_profile_offers_what_it_names(served: tuple[dict[str, str], str]) -> None:
    def offered(**environ: str) -> set[str]:
        async def use(client: Any) -> Any:
            return {tool.name for tool in (await client.list_tools()).tools}

        found: set[str] = asyncio.run(_with_client({**served[0], **environ}, use))
        return found

    assert offered(SHIRUBE_TOOLSETS="knowledge,answers") == {
        "list_knowledge_bases",
        "search_documents",
        "get_knowledge_base_summary",
        "normalize_ocr_text",
        "kb_answer",
    }
    assert {"search_fulltext", "search_semantic"} <= offered(SHIRUBE_TOOLSETS="patents", SHIRUBE_HUMAN="1")
    assert not {"search_fulltext", "search_semantic"} & offered(SHIRUBE_TOOLSETS="patents")


def test_a_tool_that_is_not_offered_cannot_be_called(served: tuple[dict[str, str], str]) -> None:
    async def use(client: Any) -> Any:
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("get_meta", {})

    asyncio.run(_with_client({**served[0], "SHIRUBE_TOOLSETS": "knowledge"}, use))


def test_a_toolset_that_there_is_not_is_named(served: tuple[dict[str, str], str]) -> None:
    done = subprocess.run(
        [SHIRUBE, "serve", "--toolsets", "knowlege"],
        env=served[0],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "knowlege" in done.stderr


def test_resources_tell_what_their_tools_tell(served: tuple[dict[str, str], str]) -> None:
    environ, base = served

    async def use(client: Any) -> Any:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        read = await client.read_resource(f"shirube://kb/{base}")
        told = await client.call_tool("get_knowledge_base_summary", {"knowledge_base_id": base})
        found = await client.call_tool(
            "search_documents", {"query": "通勤手当", "knowledge_base_id": base, "threshold": 0}
        )
        document = found.structured_content["results"][0]["metadata"]["document_id"]
        text = await client.read_resource(f"shirube://doc/{document}")
        return listed, templates, read, told, text

    listed, templates, read, told, text = asyncio.run(_with_client(environ, use))
    assert [str(each.uri) for each in listed] == [f"shirube://kb/{base}"]
    assert {each.uri_template.split("{")[0] for each in templates} == {
        "shirube://kb/",
        "shirube://doc/",
        "shirube://run/",
    }, "pages are not served here"
    assert json.loads(read.contents[0].text)["statistics"] == told.structured_content["statistics"]
    assert "通勤手当は月額5万円です。" in text.contents[0].text


@pytest.mark.parametrize(
    "uri",
    [
        "shirube://kb/nothing",
        "shirube://doc/nothing",
        "shirube://run/x",
        "shirube://page/x.md",
        "file:///etc/passwd",
    ],
)
def test_what_is_not_there_is_no_resource(served: tuple[dict[str, str], str], uri: str) -> None:
    async def use(client: Any) -> Any:
        with pytest.raises(MCPError, match="Resource not found") as refused:
            await client.read_resource(uri)
        return refused.value.error

    error = asyncio.run(_with_client(served[0], use))
    assert error.code == -32602
    assert error.data == {"uri": uri}


def test_an_answer_too_long_for_an_agent_is_cut_between_items_and_the_rest_can_be_read(
    tmp_path: Path,
) -> None:
    """A hundred publications of 1,500 characters: more than an agent's client would take in one answer."""
    environ = {**os.environ, "SHIRUBE_HOME": str(tmp_path / "home"), "SHIRUBE_EMBEDDER": "none"}
    rows = [
        {
            "pub_id": f"特開2020-{number:06}",
            "title": "顔認証",
            "abst": f"顔認証装置{number}の説明です。" * 100,
        }
        for number in range(1, 61)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    subprocess.run(
        [SHIRUBE, "patents", "import", str(tmp_path / "rows.jsonl"), "--no-vectors"], env=environ, check=True
    )

    async def use(client: Any) -> Any:
        ids = [row["pub_id"] for row in rows]
        answer = await client.call_tool("get_snippets", {"ids": ids, "fields": ["abst"]})
        found = [each["pub_id"] for each in answer.structured_content["snippets"]]
        assert len(answer.content[0].text) < 25_000 * 1.2
        link = answer.content[1].uri
        while link:
            rest = json.loads((await client.read_resource(link)).contents[0].text)
            found += [each["pub_id"] for each in rest["snippets"]]
            link = rest.get("truncated", {}).get("rest")
        return found, answer

    found, answer = asyncio.run(_with_client(environ, use))
    assert len(found) == len(set(found)) == 60
    assert answer.structured_content["truncated"]["fields"]["snippets"] > 0


def test_whoever_asks_is_told_that_long_work_goes_on(tmp_path: Path) -> None:
    """A question to a service that takes its time."""
    from tests.models.wire import Reply, Request, as_json, serve

    asked = threading.Event()

    def slow(_request: Request) -> Reply:
        asked.wait(2.5)
        return as_json({"output": {"text": "はい"}, "citations": []})

    told: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def use(client: Any) -> Any:
        return await client.call_tool("kb_answer", {"query": "副業は？"}, progress_callback=note)

    with serve(slow) as wire:
        environ = {
            **os.environ,
            "SHIRUBE_HOME": str(tmp_path),
            "SHIRUBE_ANSWERS": "bedrock",
            "BEDROCK_KB_ID": "KB",
            "BEDROCK_MODEL_ARN": "m",
            "BEDROCK_ENDPOINT_URL": wire.url,
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "y",
        }
        answer = asyncio.run(_with_client(environ, use))
    assert answer.structured_content["answer"] == "はい"
    assert told[:2] == [1, 2]
