"""The verbs for publications, in processes of their own."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.toolsets.patents.conftest import ROWS


@pytest.fixture
def filled(shirube: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("SHIRUBE_EMBEDDER", "none")
    path = tmp_path / "公報.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS) + "{\n")
    done = shirube("patents", "import", str(path))
    assert done.code == 0, done.err
    assert "追加 6、変更 0、変更なし 0" in done.out
    assert "7 行目" in done.err
    return shirube


def test_search_fuse_and_get(filled: Run) -> None:
    shown = filled("patents", "search", "(顔認証 OR 顔識別) AND マスク", "--fi", "G06V10")
    assert "顔認証装置" in shown.out
    assert "2 件" in shown.out
    runs = [filled("patents", "search", query, "--json").json()["run_id"] for query in ("顔認証", "遮蔽")]
    fused = filled("patents", "fuse", *runs, "--fi", "G06V10/82=1.0")
    assert "1. 顔認証装置" in fused.out
    assert "LAS" in fused.out
    assert filled("patents", "fuse", *runs, "--json").json()["total_docs"] == 2
    assert "特願2022-000001" in filled("patents", "get", "特許第7123456号").out


def test_a_search_as_json_has_its_hits(filled: Run) -> None:
    body = filled("patents", "search", "顔", "--json", "-n", "2").json()
    assert {"run_id", "lane", "run_id_lane", "hit_count", "top_k", "meta"} <= body.keys()
    assert [each["rank"] for each in body["snippets"]] == [1, 2]
    assert body["hit_count"] == 4


def test_taking_in_nothing_of_what_was_given_is_a_failure(shirube: Run, tmp_path: Path) -> None:
    path = tmp_path / "公報.csv"
    path.write_text("番号,内容\n1,x\n")
    done = shirube("patents", "import", str(path))
    assert done.code == 1
    assert "2 行目" in done.err
    assert "番号, 内容" in done.err
    path.write_text("pub_id,title\n")
    assert shirube("patents", "import", str(path)).code == 0


def test_what_cannot_be_written_is_refused_without_a_traceback(filled: Run) -> None:
    for arguments in (("patents", "get", "\udcff"), ("patents", "search", "顔\udcff")):
        wrong = filled(*arguments)
        assert wrong.code == 1
        assert "Traceback" not in wrong.err


def test_what_is_wrong_is_said(filled: Run) -> None:
    wrong = filled("patents", "search", "(顔")
    assert wrong.code == 1
    assert "閉じられていません" in wrong.err
    assert filled("patents", "get", "特開2099-1").code == 1
    assert filled("patents", "fuse", "fulltext-0").code == 1
    failed = filled("call", "rrf_search_fulltext_raw", "--args", '{"query":"AND"}')
    assert failed.code == 1
    assert failed.json()["error"]["code"] == "INVALID_QUERY"


def test_json_says_what_went_wrong_as_a_call_does(filled: Run) -> None:
    unknown = filled("patents", "get", "特開2099-1", "--json")
    assert unknown.code == 1
    assert unknown.out == filled("call", "get_publication", "--args", '{"id":"特開2099-1"}').out
    assert "番号 特開2099-1 の公報はありません" in unknown.err
    assert filled("patents", "search", "(", "--json").json()["error"]["code"] == "INVALID_QUERY"
    assert filled("patents", "get", "特開2099-1").out == "", "without --json there is no JSON"
