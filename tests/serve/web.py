"""A server on a port of its own, as `shirube serve --http` makes it, and what a client of it needs."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from shirube.caller import LOCAL
from shirube.ingest.sync import Options, add_files, find_files
from shirube.serve.connections import Connection
from shirube.serve.http import build_app
from shirube.serve.settings import ServeSettings
from shirube.settings import load_settings
from shirube.store import bases
from shirube.store.bases import KnowledgeBase
from shirube.toolsets.registry import Application


@dataclass(frozen=True)
class Web:
    url: str
    application: Application

    def get(self, path: str, headers: Mapping[str, str] | None = None, **given: Any) -> httpx2.Response:
        return httpx2.get(self.url + path, headers=dict(headers or {}), timeout=30, **given)

    def post(
        self, path: str, body: Any = None, headers: Mapping[str, str] | None = None, **given: Any
    ) -> httpx2.Response:
        if "content" not in given:
            given["content"] = json.dumps(body)
        return httpx2.post(self.url + path, headers=dict(headers or {}), timeout=30, **given)

    def call(self, name: str, arguments: Any, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        return self.post(f"/v1/call/{name}", arguments, headers)


def free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        port: int = tried.getsockname()[1]
        return port


@contextmanager
def serving(application: Application, **settings: Any) -> Iterator[Web]:
    """The application behind a real socket until the block ends."""
    port = free_port()
    chosen = ServeSettings(host="127.0.0.1", port=port, **settings)
    config = uvicorn.Config(
        build_app(application, chosen),
        host="127.0.0.1",
        port=port,
        log_config=None,
        access_log=False,
        http=Connection,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.01)
    try:
        yield Web(f"http://127.0.0.1:{port}", application)
    finally:
        server.should_exit = True
        thread.join(15)


def office(home: Path, **environ: str) -> tuple[Application, KnowledgeBase]:
    """An application with two small rules in it."""
    folder = home / "規程"
    folder.mkdir(parents=True)
    (folder / "副業.md").write_text("# 副業規程\n\n副業には会社の許可が必要です。\n")
    (folder / "手当.md").write_text("# 通勤手当\n\n通勤手当は月額5万円までとします。\n")
    application = Application(
        load_settings({"SHIRUBE_HOME": str(home / "home"), "SHIRUBE_EMBEDDER": "none", **environ})
    )
    database = application.workspace().database
    with database.write() as connection:
        base = bases.create_base(connection, LOCAL, "規程")
    add_files(database, LOCAL, base, find_files([folder]), Options())
    application.knowledge().space(base.id).catch_up()
    return application, base
