"""A few publications, with the codes and numbers of the specification's examples."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from shirube.caller import LOCAL, Caller
from shirube.operations import Answer
from shirube.settings import load_settings
from shirube.toolsets.patents.importing import Report, import_files
from shirube.toolsets.registry import Application

MASK = "マスク等により顔の一部が遮蔽されている場合でも、目の周辺の特徴から本人を認証する。"
ROWS: list[dict[str, Any]] = [
    {
        "pub_id": "JP2023-123456A",
        "app_id": "特願2022-000001",
        "exam_id": "特許第7123456号",
        "title": "顔認証装置",
        "abst": f"【課題】遮蔽に強い顔認証。【解決手段】{MASK}",
        "claims": [
            "マスクで遮蔽された顔を認証する顔認証装置。",
            "請求項1に記載の顔認証装置であって、目の特徴を用いるもの。",
            "顔画像から遮蔽領域を検出する方法。",
        ],
        "desc": "【技術分野】認証。\n【背景技術】従来の顔識別はマスクに弱い。\n"
        "【発明が解決しようとする課題】遮蔽。\n【発明の効果】高精度。\n【実施例】例1。",
        "fi": ["G06V10/82", "G06V40/16@A"],
        "ft": ["5B089AA01", "5B089CA13"],
        "filing_date": "2022-01-04",
        "publication_date": "2023-09-05",
        "applicant": ["標株式会社"],
        "inventor": ["山田太郎"],
    },
    {
        "pub_id": "特開2022-100001",
        "app_id": "特願2021-100001",
        "title": "顔識別システム",
        "abst": "マスクを着けた人の顔識別を行う。顔の下半分が隠れていても識別できる。",
        "claims": ["顔識別システム。"],
        "fi": ["G06V10/82A"],
        "ft": ["5B089AA01"],
        "publication_date": "2022-07-01",
    },
    {
        "pub_id": "特開2021-100002",
        "app_id": "特願2020-100002",
        "title": "入退室管理装置",
        "abst": "顔認証により扉を開く。遮蔽物があるときは暗証番号を求める。",
        "fi": ["G07C9/00", "G06K9/00"],
        "publication_date": "2021-06-10",
    },
    {
        "pub_id": "特開2020-100003",
        "app_id": "特願2019-100003",
        "title": "指紋照合方法",
        "abst": "指紋の特徴点を照合する方法。顔は用いない。",
        "fi": ["G06V40/12"],
        "publication_date": "2020-05-20",
    },
    {
        "pub_id": "US2021/0123456",
        "title": "Face recognition with occlusion",
        "abst": "A face covered by a mask is recognised by the region around the eyes.",
        "fi": ["G06V40/16"],
        "country": "US",
        "publication_date": "2021-04-29",
    },
    {
        "pub_id": "特開2019-100004",
        "app_id": "特願2018-100004",
        "title": "車線変更支援装置",
        "abst": "隣の車線の車両を検知して操舵を支援する。",
        "fi": ["B60W30/12,624", "B25J13/08@A"],
        "publication_date": "2019-07-04",
    },
]


class Patents:
    """An application with publications in it."""

    def __init__(self, folder: Path, embedder: str = "none") -> None:
        self.folder = folder
        environ = {"SHIRUBE_HOME": str(folder / "home"), "SHIRUBE_EMBEDDER": embedder}
        self.application = Application(load_settings(environ))
        self._files = 0

    def take(self, *rows: Any) -> Report:
        self._files += 1
        path = self.folder / f"rows{self._files}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return import_files(self.application.workspace().database, LOCAL, [path])

    def answer(self, name: str, caller: Caller = LOCAL, **arguments: Any) -> Answer:
        return asyncio.run(self.application.registry.call(name, caller, arguments))

    def call(self, name: str, caller: Caller = LOCAL, **arguments: Any) -> Any:
        answer = self.answer(name, caller, **arguments)
        assert answer.error is None, answer.body
        return json.loads(answer.json())

    def error(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = self.answer(name, **arguments)
        assert answer.error is not None
        said: dict[str, Any] = answer.body["error"]
        return said

    def found(self, query: str, **arguments: Any) -> list[str]:
        """The titles that a full-text search finds, in order."""
        handle = self.call("rrf_search_fulltext_raw", query=query, **arguments)
        return self.titles(handle["run_id"])

    def titles(self, run_id: str) -> list[str]:
        shown = self.call("peek_snippets", run_id=run_id, fields=["title"], limit=100)
        return [each["title"] for each in shown["snippets"]]


@pytest.fixture
def empty(tmp_path: Path) -> Patents:
    return Patents(tmp_path)


@pytest.fixture(scope="module")
def patents(tmp_path_factory: pytest.TempPathFactory) -> Patents:
    made = Patents(tmp_path_factory.mktemp("patents"))
    assert made.take(*ROWS).refused == []
    return made


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Patents:
    """The same with vectors."""
    made = Patents(tmp_path_factory.mktemp("dense"), "use")
    made.take(*ROWS)
    made.application.patents().library.embed("local")
    return made
