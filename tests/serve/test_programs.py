"""The programme tools as an agent meets them: the official client over stdio."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.toolsets.programs.conftest import ROWS, RULES, Programs

TOOLS = (
    *("search_programs", "get_program", "batch_get_programs"),
    *("list_exclusion_rules", "check_exclusions", "get_meta"),
)


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("served")
    programs = Programs(folder)
    programs.take(*ROWS, *RULES, strict=True)
    return {**os.environ, "SHIRUBE_HOME": str(folder / "home"), "SHIRUBE_EMBEDDER": "none"}


def used(environ: dict[str, str], use: Any, *command: str) -> Any:
    async def run() -> Any:
        program, *arguments = command or (str(Path(sys.executable).with_name("shirube")), "serve")
        parameters = StdioServerParameters(command=program, args=arguments, env=environ)
        async with Client(stdio_client(parameters)) as client:
            return await use(client)

    return asyncio.run(run())


def test_the_six_tools_are_published_and_answer(environ: dict[str, str]) -> None:
    arguments: dict[str, dict[str, Any]] = {
        "search_programs": {"q": "補助金"},
        "get_program": {"unified_id": "keiei-kaishi-shikin"},
        "batch_get_programs": {"unified_ids": ["keiei-kaishi-shikin", "UNI-typo-1"]},
        "list_exclusion_rules": {},
        "check_exclusions": {"program_ids": ["keiei-kaishi-shikin", "koyo-shuno-shikin"]},
        "get_meta": {},
    }

    async def use(client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert [name for name in names if name in TOOLS] == list(TOOLS)
        for name in TOOLS:
            answer = await client.call_tool(name, arguments[name])
            assert not answer.is_error
            sent = json.loads(answer.content[0].text)  # type: ignore[union-attr]
            if name == "list_exclusion_rules":
                assert len(sent) == 35
                assert answer.structured_content == {"result": sent}
            else:
                assert answer.structured_content == sent

    used(environ, use)


def test_an_error_is_a_result_with_the_specified_text(environ: dict[str, str]) -> None:
    async def use(client: Client) -> None:
        for name, arguments, text in (
            ("get_program", {"unified_id": "x"}, "program not found"),
            ("batch_get_programs", {"unified_ids": []}, "unified_ids required"),
            ("batch_get_programs", {"unified_ids": ["x"] * 60}, "unified_ids cap is 50, got 60"),
            ("check_exclusions", {"program_ids": []}, "program_ids required"),
        ):
            answer = await client.call_tool(name, arguments)
            assert answer.is_error
            assert json.loads(answer.content[0].text)["error"] == text  # type: ignore[union-attr]

    used(environ, use)


def test_the_server_starts_as_a_command_and_as_a_module(environ: dict[str, str]) -> None:
    async def use(client: Client) -> int:
        return len((await client.list_tools()).tools)

    assert used(environ, use) == used(environ, use, sys.executable, "-m", "shirube", "serve") > 6


def test_the_revision_of_the_specification_is_spoken_over_stdio(environ: dict[str, str]) -> None:
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "get_meta", "arguments": {}}},
    ]
    answers = []
    with subprocess.Popen(
        [sys.executable, "-m", "shirube", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env=environ,
    ) as serving:
        assert serving.stdin is not None
        assert serving.stdout is not None
        for message in messages:
            serving.stdin.write(json.dumps(message) + "\n")
            serving.stdin.flush()
            if "id" in message:
                answers.append(json.loads(serving.stdout.readline()))
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert answers[1]["result"]["structuredContent"]["total_programs"] == len(ROWS)
