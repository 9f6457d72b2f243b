"""`shirube eval run` as a user types it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shirube.evaluate.datasets import Dataset, Passage, write_folder
from shirube.evaluate.measures import MEASURES
from tests.cli.conftest import Run

CORPUS = (
    Passage("commute", "通勤手当", "通勤手当は月額5万円を上限として支給する。"),
    Passage("side", "副業規程", "副業を行う者は、あらかじめ許可を受けなければならない。"),
    Passage("server", "運用手順", "サーバーを再起動するときは、情報システム部に連絡する。"),
)
DATASET = Dataset(
    "faq",
    CORPUS,
    {"q1": "通勤手当の上限", "q2": "副業の許可", "q3": "サーバの再起動"},
    {"q1": {"commute": 1}, "q2": {"side": 1}, "q3": {"server": 1}},
)
TEXT_ALONE = {"SHIRUBE_EMBEDDER": "none", "SHIRUBE_RERANKER": "none"}
NOBODY = "http://127.0.0.1:9"


@pytest.fixture
def faq(tmp_path: Path) -> Path:
    folder = tmp_path / "faq"
    write_folder(folder, DATASET)
    return folder


def test_every_stage_is_measured_with_the_models_in_the_settings(
    shirube: Run, faq: Path, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "scratch").mkdir()
    ran = shirube(
        "eval", "run", str(faq), "--json", SHIRUBE_RERANKER="none", TMPDIR=str(tmp_path / "scratch")
    )
    assert (ran.code, ran.err) == (0, "")
    body = ran.json()
    assert body["embedder"]["setting"] == "use"
    assert body["embedder"]["name"].startswith("use-")
    assert body["reranker"] is None
    assert (body["dataset"], body["passages"], body["queries"]) == ("faq", 3, 3)
    assert (body["skipped_queries"], body["unknown_passages"], body["unknown_queries"]) == (0, 0, 0)
    assert body["indexed_per_second"] > 0
    assert body["embedded_per_second"] > 0
    assert [stage["stage"] for stage in body["stages"]] == ["sparse", "dense", "fused", "bm25", "whole"]
    for stage in body["stages"]:
        assert stage["state"] == "measured"
        assert list(stage["measures"]) == list(MEASURES)
        assert 0 < stage["p50_ms"] <= stage["p95_ms"]
    assert body["stages"][0]["measures"] == dict.fromkeys(MEASURES, 1.0)
    assert not home.exists()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_table_shows_models_counts_rates_and_every_figure(shirube: Run, faq: Path) -> None:
    ran = shirube("eval", "run", str(faq), **TEXT_ALONE)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "faq: 箇所 passages 3、質問 queries 3"
    assert "embedder: none" in lines[1]
    assert "re-ranker: none" in lines[1]
    assert "/s" in lines[2]
    heads = next(line for line in lines if "段階" in line)
    assert heads.split() == ["段階", *MEASURES, "p50", "ms", "p95", "ms"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[-5:]}
    assert rows["sparse"][:5] == ["1.0000"] * 5
    assert rows["dense"] == ["なし"]
    assert [len(rows[stage]) for stage in ("sparse", "fused", "bm25", "whole")] == [7, 7, 7, 7]


def test_fewer_queries_are_asked_when_told_so(shirube: Run, faq: Path) -> None:
    assert shirube("eval", "run", str(faq), "--queries", "2", "--json", **TEXT_ALONE).json()["queries"] == 2
    assert shirube("eval", "run", str(faq), "--queries", "0").code == 2


def test_what_the_judgements_miss_is_counted_and_said_in_both_languages(shirube: Run, tmp_path: Path) -> None:
    queries = {**DATASET.queries, "q4": "退職金", "q5": "経費精算"}
    qrels = {**DATASET.qrels, "q1": {"commute": 1, "gone": 1}, "q5": {"gone": 1}, "q9": {"side": 1}}
    write_folder(tmp_path / "faq", Dataset("faq", CORPUS, queries, qrels))
    ran = shirube("eval", "run", str(tmp_path / "faq"), "--json", **TEXT_ALONE)
    assert ran.code == 0
    body = ran.json()
    assert (body["queries"], body["skipped_queries"]) == (3, 2)
    assert (body["unknown_passages"], body["unknown_queries"]) == (1, 1)
    assert body["stages"][0]["measures"]["recall@100"] == 1.0
    assert "飛ばす質問 / Skipped queries, for want of a relevant passage: 2" in ran.err
    assert "that corpus.jsonl lacks, left out: 1" in ran.err
    assert "that queries.jsonl lacks, left out: 1" in ran.err


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: folder.rename(folder.with_name("elsewhere")), ("No such folder", "がありません")),
        (lambda folder: (folder / "qrels.tsv").unlink(), ("qrels.tsv is missing", "qrels.tsv がありません")),
        (
            lambda folder: (folder / "queries.jsonl").write_text("\n{\n"),
            ("queries.jsonl, line 2: not valid JSON", "queries.jsonl の 2 行目"),
        ),
        (
            lambda folder: (folder / "corpus.jsonl").write_text(""),
            ("corpus.jsonl has no passages", "箇所が1つもありません"),
        ),
        (
            lambda folder: (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tgone\t1\n"),
            ("No query has a relevant passage", "正解の箇所がある質問が1つもありません"),
        ),
    ],
)
def test_bad_input_ends_with_1_and_a_reason(
    shirube: Run, faq: Path, spoil: Callable[[Path], object], said: tuple[str, str]
) -> None:
    spoil(faq)
    ran = shirube("eval", "run", str(faq), "--json", **TEXT_ALONE)
    assert ran.code == 1
    assert said[0] in json.loads(ran.out)["detail"]
    assert ran.err.startswith("エラー: ")
    assert "Traceback" not in ran.err
    for part in said:
        assert part in ran.err


def test_an_unknown_model_is_refused_before_the_work_begins(shirube: Run, faq: Path) -> None:
    ran = shirube("eval", "run", str(faq), SHIRUBE_EMBEDDER="wrong")
    assert (ran.code, ran.out) == (1, "")
    assert "SHIRUBE_EMBEDDER=wrong" in ran.err


@pytest.mark.parametrize("as_json", [False, True])
def test_a_model_that_cannot_be_reached_fails_its_stages_and_the_command(
    shirube: Run, faq: Path, as_json: bool
) -> None:
    words = ["eval", "run", str(faq), *(["--json"] if as_json else [])]
    ran = shirube(*words, SHIRUBE_EMBEDDER=f"ollama:bge-m3@{NOBODY}", SHIRUBE_RERANKER="none")
    assert ran.code == 1
    assert "dense: 測れませんでした。 Failed: ollama:bge-m3" in ran.err
    assert "Traceback" not in ran.err
    if as_json:
        states = {stage["stage"]: (stage["state"], stage["measures"] != {}) for stage in ran.json()["stages"]}
        failed = ("failed", False)
        assert states == {
            "sparse": ("measured", True),
            "dense": failed,
            "fused": failed,
            "bm25": failed,
            "whole": failed,
        }
    else:
        rows = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines()[-5:]}
        assert len(rows["sparse"]) == 7
        assert [rows[stage] for stage in ("dense", "fused", "bm25", "whole")] == [["失敗"]] * 4


def test_a_re_ranker_that_breaks_shows_no_traceback(shirube: Run, faq: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.onnx").write_bytes(b"not a model")
    (model / "tokenizer.json").write_text("{}")
    ran = shirube("eval", "run", str(faq), SHIRUBE_EMBEDDER="none", SHIRUBE_RERANKER=f"onnx:{model}")
    assert ran.code == 1
    assert ran.err.startswith("whole: 測れませんでした。 Failed: rerank failed: onnx:")
    assert "Traceback" not in ran.err
    assert ran.out.splitlines()[-1].split() == ["whole", "失敗"]


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Ninety questions about thirty rules."""
    subjects = [f"{place}の{thing}" for place in "東京 大阪 京都".split() for thing in "甲乙丙丁戊己庚辛壬癸"]
    corpus = tuple(
        Passage(str(n), "", f"{name}は{n}円を上限として支給する。") for n, name in enumerate(subjects)
    )
    asked = {
        f"{n}-{way}": f"{name}{way}" for n, name in enumerate(subjects) for way in ("の上限", "は何円", "")
    }
    qrels = {name: {name.partition("-")[0]: 1} for name in asked}
    write_folder(tmp_path / "many", Dataset("many", corpus, asked, qrels))
    return tmp_path / "many"


def test_scores_are_calibrated_to_a_set_and_used_from_then_on(
    shirube: Run, many: Path, home: Path, tmp_path: Path
) -> None:
    ran = shirube("eval", "calibrate", str(many), "--json", SHIRUBE_EMBEDDER="none")
    assert ran.code == 0, ran.err
    body = ran.json()
    assert (body["dataset"], body["queries"]) == ("many", 90)
    assert body["saved"] == (body["after"] < body["before"])
    assert body["saved"] == (home / "calibrations.json").exists()
    assert body["saved"], "ten of the same words in a row are no probabilities yet"
    rules = tmp_path / "規程"
    rules.mkdir()
    (rules / "a.md").write_text("東京の甲は5円を上限として支給する。")
    added = shirube("kb", "add", str(rules), "--kb", "規程", "--json", "--no-vectors")
    asked = {"query": "東京の甲", "knowledge_base_id": added.json()["knowledge_base_id"], "explain": True}
    found = shirube("call", "search_documents", "--args", json.dumps(asked), SHIRUBE_EMBEDDER="none")
    assert found.json()["explain"]["recipe"]["calibration"] == "fitted to many"


def test_too_few_questions_are_not_fitted_to(shirube: Run, faq: Path, home: Path) -> None:
    ran = shirube("eval", "calibrate", str(faq))
    assert ran.code == 1
    assert "60" in ran.err
    assert not (home / "calibrations.json").exists()
