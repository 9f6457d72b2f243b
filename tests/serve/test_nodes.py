"""Two nodes over one store: each answers from an index of its own, and what one takes in the other finds."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from shirube.caller import LOCAL
from shirube.settings import load_settings
from shirube.store import bases
from shirube.toolsets.registry import Application
from tests.serve.web import free_port
from tests.store.records import document, put
from tests.stores import is_postgres, store_url

SHIRUBE = str(Path(sys.executable).with_name("shirube"))
FOUND_WITHIN = 2.0


class Node:
    """A server process with a data folder of its own over a store that others use too."""

    def __init__(self, home: Path, store: str) -> None:
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        environ = {
            **os.environ,
            "SHIRUBE_HOME": str(home),
            "SHIRUBE_STORE": store,
            "SHIRUBE_EMBEDDER": "none",
        }
        command = [SHIRUBE, "serve", "--http", "--insecure-local", "--port", str(port)]
        self.process = subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL)
        while True:
            try:
                httpx2.get(f"{self.url}/readyz").raise_for_status()
                return
            except httpx2.HTTPError:
                assert self.process.poll() is None, "the node did not start"
                time.sleep(0.05)

    def found(self, base: str, query: str) -> list[str]:
        asked = {"query": query, "knowledge_base_id": base, "threshold": 0}
        answer = httpx2.post(f"{self.url}/v1/knowledge-bases/search", json=asked, timeout=30)
        return [each["metadata"]["document_title"] for each in answer.raise_for_status().json()["results"]]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)


@pytest.fixture
def shared(tmp_path: Path) -> tuple[Application, str, str]:
    """A store with an empty base, and how whoever takes documents in opens it."""
    store = store_url(tmp_path / "shared.db")
    application = Application(
        load_settings(
            {"SHIRUBE_HOME": str(tmp_path / "writer"), "SHIRUBE_STORE": store, "SHIRUBE_EMBEDDER": "none"}
        )
    )
    with application.workspace().database.write() as connection:
        base = bases.create_base(connection, LOCAL, "規程")
    return application, store, base.id


@pytest.fixture
def nodes(shared: tuple[Application, str, str], tmp_path: Path) -> Iterator[tuple[Node, Node]]:
    pair = Node(tmp_path / "one", shared[1]), Node(tmp_path / "two", shared[1])
    yield pair
    for each in pair:
        if each.process.poll() is None:
            each.process.terminate()
            each.process.wait(20)


def take_in(application: Application, base: str, title: str, text: str) -> None:
    with application.workspace().database.write() as connection:
        put(connection, bases.get_base(connection, LOCAL, base), document(f"{title}.md", text, title=title))


def test_what_is_taken_in_is_found_on_every_node(
    shared: tuple[Application, str, str], nodes: tuple[Node, Node]
) -> None:
    application, _, base = shared
    for number in range(5):
        take_in(application, base, f"規程{number}", f"副業{number}号には会社の許可が必要です。")
        taken = time.perf_counter()
        for node in nodes:
            while f"規程{number}" not in node.found(base, f"副業{number}号"):
                assert time.perf_counter() - taken < FOUND_WITHIN


def test_a_node_that_is_killed_takes_nothing_with_it(
    shared: tuple[Application, str, str], nodes: tuple[Node, Node], tmp_path: Path
) -> None:
    application, store, base = shared
    first, second = nodes
    for number in range(20):
        take_in(application, base, f"規程{number}", f"手当{number}号は月額5,000円です。")
        if number == 10:
            first.kill()
    assert "規程3" in second.found(base, "手当3号")
    assert "規程19" in second.found(base, "手当19号")
    again = Node(tmp_path / "one", store)
    try:
        assert "規程3" in again.found(base, "手当3号")
        assert "規程19" in again.found(base, "手当19号")
    finally:
        again.process.terminate()
        again.process.wait(20)


def test_a_server_asked_to_end_ends_in_order(nodes: tuple[Node, Node]) -> None:
    for node in nodes:
        node.process.terminate()
        assert node.process.wait(15) in (0, -signal.SIGTERM)


def test_the_stores_of_these_tests_are_the_ones_asked_for(shared: tuple[Application, str, str]) -> None:
    assert shared[1].startswith("postgresql" if is_postgres() else "sqlite")
