"""How soon the server answers an MCP client that has just started it."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from benchmarks.datasets import load, with_distractors
from benchmarks.ours import Searcher

ROUNDS = 7
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


@dataclass
class StartupResult:
    passages: int
    listed: list[float] = field(default_factory=list)
    first_search: list[float] = field(default_factory=list)
    later_search: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)


def measure_startup(passages: int) -> StartupResult:
    print("startup")
    corpus = with_distractors(load("jaquad-dev"), load("jaquad-train")).corpus[:passages]
    with tempfile.TemporaryDirectory() as home:
        searcher = Searcher(Path(home), corpus)
        base = searcher.base.id
        searcher.close()
        result = StartupResult(len(corpus))
        for _ in range(ROUNDS):
            _round(home, base, result)
    return result


def _round(home: str, base: str, result: StartupResult) -> None:
    started = time.perf_counter()
    server = subprocess.Popen(
        [str(Path(sys.executable).with_name("shirube")), "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "SHIRUBE_HOME": home},
    )
    assert server.stdin is not None
    assert server.stdout is not None
    _ask(server.stdin, server.stdout, 1, "initialize", HELLO)
    _send(server.stdin, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    _ask(server.stdin, server.stdout, 2, "tools/list", {})
    result.listed.append(time.perf_counter() - started)
    for number, seconds in ((3, result.first_search), (4, result.later_search)):
        asked = {"query": "奈良の大仏の高さ", "knowledge_base_id": base}
        before = time.perf_counter()
        call = {"name": "search_documents", "arguments": asked}
        answer = _ask(server.stdin, server.stdout, number, "tools/call", call)
        seconds.append(time.perf_counter() - before)
        assert not answer["result"].get("isError"), answer
    before = time.perf_counter()
    server.stdin.close()
    server.wait(30)
    result.ended.append(time.perf_counter() - before)
    server.stdout.close()


def _ask(
    stdin: IO[bytes], stdout: IO[bytes], number: int, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    _send(stdin, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    answer: dict[str, Any] = json.loads(stdout.readline())
    return answer


def _send(stdin: IO[bytes], message: dict[str, Any]) -> None:
    stdin.write((json.dumps(message) + "\n").encode())
    stdin.flush()
