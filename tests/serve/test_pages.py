"""A folder of pages as an agent meets it: the official client over stdio, the lock, and edits while it is served."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from tests.toolsets.pages.conftest import SITE, write

SHIRUBE = str(Path(sys.executable).with_name("shirube"))
TOOLS = [
    "ubp_search",
    "ubp_get_page",
    "ubp_get_context",
    "ubp_fulltext_search",
    "ubp_list_pages",
    "ubp_get_graph",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "search.py").write_text("print('検索')\n")
    write(tmp_path / "docs", SITE)
    return tmp_path


def environ(project: Path) -> dict[str, str]:
    return {**os.environ, "SHIRUBE_HOME": str(project / "home"), "SHIRUBE_EMBEDDER": "none"}


def served(project: Path, use: Callable[[Client], Awaitable[Any]], *options: str) -> Any:
    async def run() -> Any:
        parameters = StdioServerParameters(
            command=SHIRUBE, args=["serve", "--docs", str(project / "docs"), *options], env=environ(project)
        )
        async with Client(stdio_client(parameters)) as client:
            return await use(client)

    return asyncio.run(run())


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error
    structured: dict[str, Any] = result.structured_content or {}
    assert json.loads(result.content[0].text) == structured  # type: ignore[union-attr]
    return structured


def test_the_six_tools_are_offered_beside_the_others(project: Path) -> None:
    async def use(client: Client) -> list[Any]:
        return list((await client.list_tools()).tools)

    tools = {tool.name: tool for tool in served(project, use)}
    assert set(TOOLS) <= set(tools)
    assert "search_documents" in tools
    for name in TOOLS:
        assert tools[name].output_schema
        assert tools[name].annotations.read_only_hint
        assert "instructions" in tools[name].description or name in ("ubp_list_pages", "ubp_get_graph")


def test_the_pattern_of_gathering_context(project: Path) -> None:
    async def use(client: Client) -> None:
        found = await call(client, "ubp_search", query="検索の順位付け")
        best = found["results"][0]["filepath"]
        assert best == "design/検索アルゴリズム.md"
        context = await call(client, "ubp_get_context", filepath=best, depth=2)
        assert "ベクトルの類似度" in context["center"]["content"]
        assert {each["filepath"] for each in context["related"]} >= {"design/データベース.md", "spec/api.md"}
        assert context["total_size"] <= 50_000

    served(project, use)


def test_the_pattern_of_exploring(project: Path) -> None:
    async def use(client: Client) -> None:
        listed = await call(client, "ubp_list_pages", doc_type="design")
        assert [each["title"] for each in listed["pages"]] == ["データベース", "検索アルゴリズム"]
        path = listed["pages"][1]["filepath"]
        page = await call(client, "ubp_get_page", filepath=path)
        graph = await call(client, "ubp_get_graph", center=path)
        edges = {(each["source"], each["target"], each["type"]) for each in graph["edges"]}
        for link in page["outlinks"]:
            assert (page["doc_id"], link["doc_id"], link["link_type"]) in edges

    served(project, use)


def test_the_pattern_of_checking_freshness(project: Path) -> None:
    async def use(client: Client) -> None:
        before = await call(client, "ubp_get_page", filepath="design/検索アルゴリズム.md")
        assert (before["staleness"], before["stale_refs"]) == ("fresh", [])
        (project / "src" / "search.py").write_text("print('変えた')\n")
        after = await call(client, "ubp_get_page", filepath="design/検索アルゴリズム.md")
        assert (after["staleness"], after["stale_refs"]) == ("possibly_stale", ["src/search.py"])
        page = project / "docs" / "design" / "検索アルゴリズム.md"
        page.write_text(page.read_text() + "\n元のコードに合わせて直した。\n")
        await _until(
            client, "ubp_fulltext_search", {"query": "合わせて直した"}, lambda found: found["total_found"]
        )
        fixed = await call(client, "ubp_get_page", filepath="design/検索アルゴリズム.md")
        assert (fixed["staleness"], fixed["stale_refs"]) == ("fresh", [])

    served(project, use)


async def _until(client: Client, tool: str, arguments: dict[str, Any], holds: Callable[[Any], Any]) -> float:
    """Ask until it holds; the seconds that took, which must not be many."""
    started = time.monotonic()
    while not holds(await call(client, tool, **arguments)):
        assert time.monotonic() - started < 20, "it never came"
        await asyncio.sleep(0.02)
    return time.monotonic() - started


def test_an_edit_a_new_page_a_move_and_a_removal_are_seen_without_a_restart(project: Path) -> None:
    docs = project / "docs"

    async def use(client: Client) -> list[float]:
        await call(client, "ubp_list_pages")
        took = []
        (docs / "notes" / "離れ島.md").write_text("書き換えた内容。[[データベース|extends]]\n")
        took.append(
            await _until(client, "ubp_fulltext_search", {"query": "書き換えた"}, lambda f: f["total_found"])
        )
        (docs / "新設.md").write_text("# 存在しないページ\n\n新設した。\n")
        took.append(
            await _until(client, "ubp_fulltext_search", {"query": "新設した"}, lambda f: f["total_found"])
        )
        page = await call(client, "ubp_get_page", filepath="新設.md")
        assert [each["filepath"] for each in page["backlinks"]] == ["notes/会議.md"], (
            "a dangling link came alive"
        )
        (docs / "archive").mkdir()
        (docs / "design" / "データベース.md").rename(docs / "archive" / "データベース.md")
        moved = {"query": "表と列を定める"}
        took.append(
            await _until(
                client,
                "ubp_fulltext_search",
                moved,
                lambda f: [each["filepath"] for each in f["results"]] == ["archive/データベース.md"],
            )
        )
        page = await call(client, "ubp_get_page", filepath="archive/データベース.md")
        assert {each["filepath"] for each in page["backlinks"]} == {
            *("design/検索アルゴリズム.md", "notes/会議.md", "notes/離れ島.md"),
        }
        (docs / "新設.md").unlink()
        took.append(
            await _until(client, "ubp_fulltext_search", {"query": "新設した"}, lambda f: not f["total_found"])
        )
        return took

    print("seconds until seen:", [round(each, 2) for each in served(project, use)])  # noqa: T201


def test_the_folder_is_followed_from_the_first_call_on_and_when_it_was_gone_for_a_while(
    project: Path,
) -> None:
    docs = project / "docs"

    async def use(client: Client) -> None:
        await call(client, "ubp_get_page", filepath="index.md")
        (docs / "一.md").write_text("# 一枚目\n")
        await _until(client, "ubp_fulltext_search", {"query": "一枚目"}, lambda found: found["total_found"])
        shutil.rmtree(docs)
        await _until(client, "ubp_list_pages", {}, lambda found: found["total"] == 0)
        write(docs, {"戻った.md": "# 戻った頁\n"})
        await _until(client, "ubp_fulltext_search", {"query": "戻った頁"}, lambda found: found["total_found"])
        (docs / "二.md").write_text("# 二枚目\n")
        await _until(client, "ubp_fulltext_search", {"query": "二枚目"}, lambda found: found["total_found"])

    served(project, use)


def test_errors_are_those_of_json_rpc(project: Path) -> None:
    async def use(client: Client) -> None:
        for name, arguments in (
            ("ubp_search", {}),
            ("ubp_search", {"query": "x", "limit": 99}),
            ("ubp_get_page", {"filepath": "../src/search.py"}),
            ("ubp_get_page", {"filepath": "無い.md"}),
            ("ubp_get_graph", {"center": "/etc/passwd"}),
        ):
            with pytest.raises(MCPError) as caught:
                await client.call_tool(name, arguments)
            assert caught.value.error.code == -32602
            assert "Traceback" not in str(caught.value)

    served(project, use)


def start(project: Path, *options: str) -> "subprocess.Popen[bytes]":
    """A server that somebody has begun to talk to, so that it holds its lock."""
    process = subprocess.Popen(
        [SHIRUBE, "serve", "--docs", str(project / "docs"), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ(project),
    )
    assert process.stdin
    assert process.stdout
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        },
    }
    process.stdin.write(json.dumps(asked).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["result"]
    return process


def refused(project: Path) -> str:
    done = subprocess.run(
        [SHIRUBE, "serve", "--docs", str(project / "docs")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environ(project),
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == b""
    return done.stderr.decode()


class TestLock:
    def test_a_second_server_is_refused_with_the_name_of_the_first(self, project: Path) -> None:
        first = start(project)
        try:
            lock = project / ".shirube" / "serve.lock"
            assert json.loads(lock.read_text())["pid"] == first.pid
            said = refused(project)
            assert f"pid {first.pid}" in said
            assert "Traceback" not in said
        finally:
            first.terminate()
            first.communicate()
        assert not lock.exists()

    def test_with_no_lock_several_read(self, project: Path) -> None:
        first, second = start(project), start(project, "--no-lock")
        for process in (second, first):
            process.communicate(timeout=10)
            assert process.returncode == 0

    def test_the_lock_of_a_killed_server_is_taken_over(self, project: Path) -> None:
        first = start(project)
        first.kill()
        first.communicate()
        lock = project / ".shirube" / "serve.lock"
        assert lock.exists()
        second = start(project)
        assert json.loads(lock.read_text())["pid"] == second.pid
        second.communicate(timeout=10)
        assert not lock.exists()

    @pytest.mark.parametrize("name", ["serve.lock", "serving"])
    def test_a_link_in_place_of_the_lock_is_not_written_through(self, project: Path, name: str) -> None:
        victim = project / "victim"
        victim.write_text("unharmed")
        (project / ".shirube").mkdir()
        (project / ".shirube" / name).symlink_to(victim)
        done = subprocess.run(
            [SHIRUBE, "serve", "--docs", str(project / "docs")],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environ(project),
            timeout=30,
            check=False,
        )
        assert victim.read_text() == "unharmed"
        assert b"Traceback" not in done.stderr

    @pytest.mark.parametrize("options", [[], ["--no-lock"]])
    @pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
    def test_a_server_that_is_told_to_end_leaves_no_lock(
        self, project: Path, told: signal.Signals, options: list[str]
    ) -> None:
        process = start(project, *options)
        process.send_signal(told)
        process.wait(timeout=10)
        process.communicate()
        assert not (project / ".shirube" / "serve.lock").exists()
