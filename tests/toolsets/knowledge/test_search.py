"""search_documents: what is found, in which shape, and how threshold and max_results cut it."""

import asyncio
import json
import math
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from shirube.caller import LOCAL
from shirube.ingest.embedding import embed_missing
from shirube.ingest.sync import Options, add_files, find_files
from shirube.models.contract import Embedder
from shirube.query.filters import Filters
from shirube.settings import load_settings
from shirube.store.documents import document_text
from shirube.store.runs import get_run
from shirube.store.tables import documents
from shirube.toolsets.knowledge.feed import BODY, TITLE
from shirube.toolsets.knowledge.service import KnowledgeService
from shirube.toolsets.registry import Application
from tests.retrieval.ranking import Letters
from tests.store.records import document, put, remove
from tests.toolsets.knowledge.conftest import Served, serve

RESPONSE = {"query", "knowledge_base_id", "threshold", "results", "count"}
ADDED = {"run_id", "took_ms"}
STAGE_SCORES = ("sparse_score", "dense_score", "rrf_score", "bm25_score", "cross_encoder_score")
METADATA = {"chunk_id", "document_id", "chunk_index", "collection_id", *STAGE_SCORES}
ADDED_METADATA = {"document_title", "source", "heading_path", "span"}
ALUMNI = (
    "マイナビのアルムナイサービスについて。マイナビアルムナイは、退職者と企業をつなぐプラットフォームです。"
)


def headings(body: dict[str, Any]) -> list[str]:
    return [result["metadata"]["heading_path"][-1] for result in body["results"]]


# What is found


def test_an_amount_is_found_by_asking_for_it(company: Served) -> None:
    body = company.found("リモートワーク手当の金額は？")
    first = body["results"][0]
    assert "リモートワーク手当として月額5,000円を支給する" in first["content"]
    assert first["metadata"]["source"]["file"] == "company/就業規則/在宅勤務規程.md"


def test_several_words_find_the_rules_the_application_and_the_approval(company: Served) -> None:
    assert headings(company.found("副業 許可 条件"))[0] == "第3条（許可の条件）"
    wide = headings(company.found("副業 許可 条件", threshold=0.0))
    assert {"第3条（許可の条件）", "第5条（申請方法）", "第6条（承認基準及び回答）"} <= set(wide)


@pytest.mark.parametrize("query", ["副業の申請方法は？", "副業について", "副業"])
def test_questions_and_keywords_are_all_accepted(company_with_vectors: Served, query: str) -> None:
    body = company_with_vectors.found(query)
    assert body["count"] > 0
    assert any("副業" in result["content"] for result in body["results"])


@pytest.mark.parametrize(
    ("query", "file"),
    [
        ("有給休暇は何日もらえますか", "年次有給休暇規程.md"),
        ("パスワードは何文字以上ですか", "パスワード管理規程.md"),
        ("ｻｰﾊﾞのバックアップ", "バックアップ規程.md"),
    ],
)
def test_a_query_in_japanese_finds_its_document(company: Served, query: str, file: str) -> None:
    results = company.found(query, threshold=0.0)["results"]
    assert file in [result["metadata"]["source"]["file"].rpartition("/")[2] for result in results]


@pytest.mark.parametrize("query", ["😀", "、", "？？？", "!!!---", "…"])
def test_signs_alone_find_nothing(company_with_vectors: Served, query: str) -> None:
    answer = company_with_vectors.found(query, threshold=0.01)
    assert (answer["count"], answer["notice"]) == (0, "No results found")


def test_a_query_in_english_finds_its_document(company_with_vectors: Served) -> None:
    first = company_with_vectors.found("How do I apply for paid leave?")["results"][0]
    assert first["metadata"]["document_title"] == "FAQ for English-speaking employees"
    assert "leave" in first["metadata"]["heading_path"][-1]


JAPANESE_RULES = """# 休暇規程

## 第10条（年次有給休暇）
勤続6か月以上の社員に、年10日の年次有給休暇を付与する。翌年度に限り繰り越すことができる。

## 第12条（育児休業）
子が1歳に達するまで育児休業を取得できる。申請は開始予定日の1か月前までに行う。
"""
ENGLISH_RULES = """# Handbook

## Travel
Receipts must be submitted within two weeks after a business trip.

## Overtime
Overtime is paid at 125 percent of the hourly wage and approved by the manager.
"""


@pytest.fixture(scope="module")
def two_languages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A few rules in each language, and notes in English that are about neither."""
    folder = tmp_path_factory.mktemp("two-languages")
    (folder / "休暇.md").write_text(JAPANESE_RULES)
    (folder / "handbook.md").write_text(ENGLISH_RULES)
    for number, subject in enumerate(("deployment", "testing", "releases", "planning", "reviews", "hiring")):
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n\nA note of the project on {subject}.\n")
    served = serve(tmp_path_factory.mktemp("two-languages-home"), "use")
    add_files(served.database, LOCAL, served.base, find_files([folder]), Options())
    service = KnowledgeService(served.application.workspace())
    service.space(served.base.id).catch_up()
    service.complete_vectors()
    yield served
    served.database.close()


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("有給は何日もらえる？", "第10条（年次有給休暇）"),
        ("休みを翌年に持ち越せますか", "第10条（年次有給休暇）"),
        ("When do I submit receipts?", "Travel"),
        ("How much is overtime paid?", "Overtime"),
    ],
)
def test_in_a_base_of_two_languages_each_is_found_by_its_own(
    two_languages: Served, query: str, heading: str
) -> None:
    first = two_languages.found(query)["results"][0]
    assert first["metadata"]["heading_path"][-1] == heading


# Shape


def test_a_row_far_below_the_head_of_its_table_is_found_by_the_name_of_its_column(
    served: Served, tmp_path: Path
) -> None:
    rows = "".join(f"| 品番{n:03} | {n},000円 | 倉庫{n % 7} |\n" for n in range(120))
    for file, price in (("甲.md", "販売価格"), ("乙.md", "仕入単価"), ("丙.md", "廃棄費用")):
        table = f"# 部品\n\n| 品番 | {price} | 置場 |\n|---|---|---|\n{rows}"
        (tmp_path / file).write_text(table, encoding="utf-8")
    add_files(served.database, LOCAL, served.base, find_files(sorted(tmp_path.glob("*.md"))), Options())
    first = served.found("品番097 仕入単価", threshold=0.0)["results"][0]
    assert "| 品番097 | 97,000円 |" in first["content"]
    assert first["metadata"]["source"]["file"].endswith("/乙.md")
    assert first["metadata"]["columns"] == ["品番", "仕入単価", "置場"]
    top = served.found("品番003 仕入単価", threshold=0.0)["results"][0]
    assert top["content"].startswith("| 品番 | 仕入単価 | 置場 |")
    assert "columns" not in top["metadata"]


def test_the_documented_request_is_answered_in_the_documented_shape(served: Served) -> None:
    base = served.create("マイナビ", document("アルムナイ.md", ALUMNI, "別の話です。"))
    query = "マイナビのアルムナイサービスについて教えて"
    body = served.found(query, knowledge_base_id=base.id, threshold=0.7, max_results=5)
    assert set(body) == RESPONSE | ADDED
    assert (body["query"], body["knowledge_base_id"], body["threshold"]) == (query, base.id, 0.7)
    assert body["count"] == len(body["results"]) == 1
    [result] = body["results"]
    assert set(result) == {"content", "score", "metadata"}
    assert result["content"] == ALUMNI
    assert 0.7 <= result["score"] <= 1
    assert set(result["metadata"]) == METADATA | ADDED_METADATA


def test_every_result_names_where_it_is_from(company: Served) -> None:
    body = company.found("通勤手当の上限", threshold=0.0)
    assert body["results"]
    with company.database.read() as connection:
        rows = {row.id: row for row in connection.execute(select(documents))}
        for result in body["results"]:
            metadata = result["metadata"]
            row = rows[metadata["document_id"]]
            text = document_text(connection, LOCAL, metadata["document_id"])
            span = metadata["span"]
            assert text[span["start"] : span["end"]] == result["content"]
            assert metadata["chunk_id"] == f"{row.id}-{metadata['chunk_index']}"
            assert isinstance(metadata["chunk_index"], int)
            assert 0 <= metadata["chunk_index"] < row.chunk_count
            assert metadata["collection_id"] == row.collection_id
            assert metadata["document_title"] == row.title
            assert metadata["source"]["file"] == row.source
            assert metadata["heading_path"][0] == row.title
            uuid.UUID(metadata["document_id"])


def test_the_response_repeats_what_was_asked(company: Served) -> None:
    body = company.found("副業", threshold=0.25, max_results=3)
    assert body["query"] == "副業"
    assert body["knowledge_base_id"] == company.base.id
    assert body["threshold"] == 0.25
    assert body["count"] == len(body["results"]) == 3
    assert body["took_ms"] > 0


def test_explain_adds_stages_ranks_and_the_recipe_and_changes_nothing_else(company: Served) -> None:
    plain = company.found("副業の許可", threshold=0.0)
    body = company.found("副業の許可", threshold=0.0, explain=True)
    assert [stage["stage"] for stage in body["explain"]["stages"]] == [
        "sparse",
        "fusion",
        "bm25",
        "rerank",
        "calibrate",
    ]
    assert all(stage["count"] > 0 and stage["ms"] >= 0 for stage in body["explain"]["stages"])
    assert body["explain"]["recipe"]["query"] == "副業の許可"
    for with_ranks, without in zip(body["results"], plain["results"], strict=True):
        ranks = with_ranks["metadata"].pop("ranks")
        assert set(ranks) == {"sparse", "rrf", "bm25"}
        assert with_ranks == without
    assert "explain" not in plain


def test_a_run_is_kept_for_whoever_searched(company: Served) -> None:
    body = company.found("副業", threshold=0.0)
    company.application.workspace().journal.flush()
    with company.database.read() as connection:
        run = get_run(connection, LOCAL, body["run_id"])
    assert run.kind == "knowledge"
    assert run.recipe["query"] == "副業"
    scores = [round(result["score"], 4) for result in run.results]
    assert scores[: body["count"]] == [result["score"] for result in body["results"]]


# Scores


@settings(max_examples=15)
@given(
    query=st.sampled_from(
        ["副業", "手当の金額", "休暇の日数は？", "パスワード 変更", "leave", "社員教育について"]
    )
)
def test_scores_are_within_0_and_1_and_in_falling_order(company: Served, query: str) -> None:
    results = company.found(query, threshold=0.0, max_results=50)["results"]
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    by_stage = [result["metadata"]["cross_encoder_score"] for result in results]
    assert by_stage == sorted(by_stage, reverse=True), "the last stage decides the order"
    for result in results:
        stages = {name: result["metadata"][name] for name in STAGE_SCORES}
        assert all(0 <= score <= 1 for score in stages.values() if score is not None)
        assert stages["dense_score"] is None, "a stage that was not run has no score"
    assert max(result["metadata"]["sparse_score"] for result in results) == 1


def test_with_vectors_every_stage_gives_its_score(vectored: Served) -> None:
    body = vectored.found("会社の許可なく兼業できますか", threshold=0.0, explain=True)
    stages = [stage["stage"] for stage in body["explain"]["stages"]]
    assert stages == ["sparse", "dense", "fusion", "bm25", "rerank", "calibrate"]
    assert set(body["results"][0]["metadata"]) == METADATA | ADDED_METADATA | {"ranks"}
    assert "兼業" in body["results"][0]["content"]
    for result in body["results"]:
        stage_scores = {name: result["metadata"][name] for name in STAGE_SCORES}
        assert None not in (
            stage_scores["dense_score"],
            stage_scores["rrf_score"],
            stage_scores["bm25_score"],
        )
        assert all(0 <= score <= 1 for score in stage_scores.values() if score is not None)
    assert "warnings" not in body


def test_a_concept_is_found_in_what_belongs_to_it(vectored: Served) -> None:
    """社員教育 is written in none of them."""
    wanted = {
        "研修制度": "新入社員研修、管理職研修など、従業員の教育のための研修を毎年行う。",
        "キャリアパス": "従業員は、育成計画に沿って主任、課長へと成長する道筋を選ぶ。",
        "スキル開発": "業務に必要な技能を学ぶ講座の受講料を補助し、人材の育成を図る。",
    }
    others = {
        "駐車場": "社用車は地下の駐車場に止める。",
        "備品": "文房具は総務課の棚から取る。",
        "名刺": "名刺は百枚ごとに注文する。",
        "郵便": "郵便物は午後三時に集める。",
    }
    documents = [document(f"{title}.md", text, title=title) for title, text in {**wanted, **others}.items()]
    base = vectored.create("教育", *documents)
    embedder = vectored.application.workspace().embedder
    assert embedder is not None
    embed_missing(vectored.application.knowledge().space(base.id), embedder, BODY, TITLE)
    body = vectored.found("社員教育について", knowledge_base_id=base.id, threshold=0.0, max_results=3)
    assert {result["metadata"]["document_title"] for result in body["results"]} == set(wanted)


def test_meaning_is_found_across_languages_with_vectors(vectored: Served) -> None:
    body = vectored.found("How many days of paid holiday?", threshold=0.0)
    best = max(body["results"], key=lambda result: result["metadata"]["dense_score"])
    assert "有給休暇" in best["content"]


def test_vectors_that_are_not_ready_yet_are_said_to_be_missing(vectored: Served) -> None:
    base = vectored.create("新しい", document("新しい.md", "新しい規程です。"))
    body = vectored.found("新しい規程", knowledge_base_id=base.id, threshold=0.0)
    assert body["count"] == 1
    [warning] = body["warnings"]
    assert "incomplete" in warning


@pytest.fixture(scope="module")
def vectored(tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A few passages with vectors of the default embedder."""
    served = serve(tmp_path_factory.mktemp("vectored"), embedder="use")
    texts = ["兼業には会社の許可が必要です。", "年次有給休暇は20日です。", "会議室は予約してください。"]
    base = served.create("小さい", document("規程.md", *texts))
    embedder = served.application.workspace().embedder
    assert embedder is not None
    embed_missing(served.application.knowledge().space(base.id), embedder, BODY)
    return Served(served.application, base)


# Threshold and max_results


def test_the_default_threshold_is_0_6(company: Served) -> None:
    body = company.found("副業")
    assert body["threshold"] == 0.6
    assert body["results"] == company.found("副業", threshold=0.6)["results"]


def shown(body: dict[str, Any]) -> list[tuple[str, float]]:
    return [(result["metadata"]["chunk_id"], result["score"]) for result in body["results"]]


@settings(max_examples=15)
@given(
    query=st.sampled_from(["副業", "副業 許可 条件", "手当", "休暇の申請方法"]),
    thresholds=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
)
def test_a_higher_threshold_only_takes_away_from_the_end(
    company: Served, query: str, thresholds: Sequence[float]
) -> None:
    low, high = (shown(company.found(query, threshold=each, max_results=50)) for each in thresholds)
    assert high == low[: len(high)]
    assert all(score >= thresholds[0] for _, score in low)
    assert all(score < thresholds[1] for _, score in low[len(high) :])


def test_a_result_is_not_shown_below_the_threshold_by_rounding(company: Served) -> None:
    """Scores are shown with four digits: the comparison is with what is shown."""
    for _, score in shown(company.found("副業 許可 条件", threshold=0.0)):
        kept = company.found("副業 許可 条件", threshold=score)["results"]
        assert score in [result["score"] for result in kept]
        above = company.found("副業 許可 条件", threshold=min(1.0, score + 0.00001))["results"]
        assert all(result["score"] >= min(1.0, score + 0.00001) for result in above)


@pytest.mark.parametrize("threshold", [0, 0.0, 1, 1.0])
def test_both_ends_of_the_threshold_are_accepted(company: Served, threshold: float) -> None:
    assert company.found("副業", threshold=threshold)["threshold"] == threshold


@pytest.mark.parametrize("size", [1, 3, 5, 10, 20, 50])
def test_every_recommended_size_is_accepted_and_never_exceeded(company: Served, size: int) -> None:
    body = company.found("会社の規程", threshold=0.0, max_results=size)
    assert body["count"] == len(body["results"]) == size


def test_ten_results_are_the_default(company: Served) -> None:
    assert company.found("会社の規程", threshold=0.0)["count"] == 10


@pytest.mark.parametrize(
    "threshold", [-0.1, 1.1, -1e-9, 2, math.nan, math.inf, -math.inf, True, False, "0.5", None, [], {}]
)
def test_a_threshold_outside_0_and_1_is_the_specified_error(company: Served, threshold: object) -> None:
    answer = company.search("副業", threshold=threshold)
    assert not answer.ok
    assert (answer.body["status"], answer.body["detail"]) == (422, "threshold out of range (0.0-1.0)")
    assert answer.body["code"] == "INVALID_INPUT"


@pytest.mark.parametrize("size", [51, 1000, 10**30])
def test_more_than_50_results_is_the_specified_error(company: Served, size: int) -> None:
    answer = company.search("副業", max_results=size)
    assert (answer.body["status"], answer.body["detail"]) == (422, "max_results exceeds limit (50)")


@pytest.mark.parametrize("size", [0, -1, 2.5, 10.0, True, "10", None, math.nan, []])
def test_a_size_that_is_no_number_from_1_is_a_typed_error(company: Served, size: object) -> None:
    answer = company.search("副業", max_results=size)
    assert (answer.body["status"], answer.body["detail"]) == (
        422,
        "max_results must be an integer from 1 to 50",
    )


# Nothing found


def test_nothing_found_is_a_success_that_says_so(company: Served) -> None:
    nothing = company.found("宇宙旅行の許可証", threshold=0.99)
    assert (nothing["count"], nothing["results"]) == (0, [])
    assert nothing["notice"] == "No results found"
    assert 0 < nothing["best_score_below_threshold"] < 0.99
    assert company.found("宇宙旅行の許可証", threshold=nothing["best_score_below_threshold"])["count"] > 0


def test_a_query_that_matches_nothing_at_all_has_no_best_score(company: Served) -> None:
    nothing = company.found("qwertyuiop")
    assert nothing["notice"] == "No results found"
    assert "best_score_below_threshold" not in nothing


def test_a_search_in_an_empty_base_finds_nothing(served: Served) -> None:
    assert served.found("副業")["notice"] == "No results found"


# Queries nobody foresaw


@pytest.mark.parametrize("query", ["", " ", "\n", "　 \t"])
def test_an_empty_query_is_a_typed_error(company: Served, query: str) -> None:
    answer = company.search(query)
    assert (answer.body["status"], answer.body["detail"]) == (422, "query must not be empty")
    assert "query" in answer.body["message_ja"]


@pytest.mark.parametrize("query", [5, None, True, ["副業"], {"q": 1}, b"x", "あ" * 2001])
def test_a_query_that_is_no_text_of_at_most_2000_characters_is_a_typed_error(
    company: Served, query: object
) -> None:
    answer = company.search(query)
    assert answer.body["status"] == 422
    assert answer.body["detail"] == "query must be a text of 1 to 2000 characters"


STRANGE = [
    "\ud800",
    "副業\udfff許可",
    "😀😀😀",
    "👨‍👩‍👧‍👦",
    "！？…。",
    "\x00",
    "\u202e\u200b",
    "a" * 2000,
    "副業" * 1000,
    "。" * 2000,
    "あ " * 1000,
    "\u0300" * 2000,
    "ﷺ" * 2000,
    "' OR 1=1 --",
    '"副業" AND (',
    "*",
    "../../etc/passwd",
]


@pytest.mark.parametrize("query", STRANGE, ids=range(len(STRANGE)))
def test_a_strange_query_is_answered_or_refused_and_never_a_crash(company: Served, query: str) -> None:
    answer = company.search(query, threshold=0.0, explain=True)
    assert answer.ok or answer.body["status"] == 422
    json.loads(answer.json().encode("utf-8"))


@settings(max_examples=25)
@given(query=st.text(max_size=60))
def test_any_text_is_answered_or_refused(company: Served, query: str) -> None:
    answer = company.search(query, threshold=0.0)
    assert answer.ok or answer.body["status"] == 422
    answer.json().encode("utf-8")


def test_what_a_reader_cannot_see_is_not_quoted(served: Served) -> None:
    base = served.create(
        "見えない", document("見えない.md", "副業は\u202e許可\u200b制です。", title="題\u2066名")
    )
    [result] = served.found("副業", knowledge_base_id=base.id, threshold=0.0)["results"]
    assert result["content"] == "副業は許可制です。"
    assert result["metadata"]["document_title"] == "題名"


# Stages, documents that change, time


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Served:
    """700 passages, with vectors of a model small enough for a test."""
    served = serve(tmp_path_factory.mktemp("many"))
    workspace = served.application.workspace()
    embedder: Embedder = Letters()
    workspace._embedders[workspace.settings.embedder] = embedder
    base = served.create("多い", document("多い.md", *[f"規程の第{number}条です。" for number in range(700)]))
    embed_missing(served.application.knowledge().space(base.id), embedder, BODY)
    return Served(served.application, base)


def test_each_lane_gives_500_and_the_fusion_keeps_600(many: Served) -> None:
    body = many.found("規程の第5条", threshold=0.0, explain=True)
    counts = {stage["stage"]: stage["count"] for stage in body["explain"]["stages"]}
    assert (counts["sparse"], counts["dense"]) == (500, 500)
    assert 500 < counts["fusion"] <= 600
    assert counts["bm25"] == counts["rerank"] == 50, "a passage holds every word"


def test_a_hundred_go_on_where_no_passage_holds_a_word_of_the_query(many: Served) -> None:
    body = many.found("火星", threshold=0.0, explain=True)
    counts = {stage["stage"]: stage["count"] for stage in body["explain"]["stages"]}
    assert (counts["sparse"], counts["fusion"]) == (0, 500)
    assert counts["bm25"] == counts["rerank"] == 100


def test_the_last_stage_keeps_ten_by_default(many: Served) -> None:
    body = many.found("規程の第5条", threshold=0.0)
    assert body["count"] == 10
    order = [result["metadata"]["cross_encoder_score"] for result in body["results"]]
    assert order == sorted(order, reverse=True)


def test_a_cosine_below_0_is_shown_as_0(many: Served) -> None:
    texts = ["副業の届出", "会議室の予約", "通勤の経路", "健康診断の日", "名刺の注文", "社宅の家賃"]
    base = many.create("ばらばら", document("ばらばら.md", *texts))
    space = many.application.knowledge().space(base.id)
    embed_missing(space, Letters(), BODY)
    query = "副業"
    cosines = space.search_vectors("letters", Letters().embed_query(query), Filters(), 10)
    assert min(hit.score for hit in cosines) < 0, "the test needs one"
    results = many.found(query, knowledge_base_id=base.id, threshold=0.0)["results"]
    shown_scores = sorted(result["metadata"]["dense_score"] for result in results)
    assert shown_scores == sorted(max(0.0, round(hit.score, 4)) for hit in cosines)


def test_a_failing_stage_is_named_and_the_rest_answers(many: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    space = many.application.knowledge().space(many.base.id)
    monkeypatch.setattr(space.vectors("letters"), "search", fail)
    answer = many.search("規程の第5条", threshold=0.0, explain=True)
    assert answer.ok
    assert answer.body["count"] == 10
    [warning] = answer.body["warnings"]
    assert "Vectors failed" in warning
    assert "secret detail" not in answer.json()


def test_changes_are_found_at_once(served: Served) -> None:
    base = served.create("変わる", document("甲.md", "古い規程です。"))

    def texts() -> list[str]:
        body = served.found("規程", knowledge_base_id=base.id, threshold=0.0)
        return [result["content"] for result in body["results"]]

    assert texts() == ["古い規程です。"]
    with served.database.write() as connection:
        put(connection, base, document("甲.md", "新しい規程です。"))
    assert texts() == ["新しい規程です。"]
    with served.database.write() as connection:
        remove(connection, base, "甲.md")
    assert texts() == []


def test_a_search_takes_far_less_than_the_specified_time(company: Served) -> None:
    company.found("副業")
    seconds = []
    for query in ("リモートワーク手当の金額は？", "社員教育について", "副業 許可 条件"):
        started = time.perf_counter()
        body = company.found(query)
        seconds.append(time.perf_counter() - started)
        assert body["took_ms"] / 1000 <= seconds[-1]
    assert max(seconds) < 2.7


def test_ids_of_runs_cannot_be_guessed(company: Served) -> None:
    runs = {company.found("副業")["run_id"] for _ in range(3)}
    assert len(runs) == 3
    assert all(re.fullmatch(r"knowledge-[0-9a-f]{16}", run) for run in runs)


@pytest.mark.sqlite
def test_a_database_that_cannot_be_reached_is_503(tmp_path: Path) -> None:
    served = serve(tmp_path / "home")
    assert served.search("副業").ok
    with served.database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE knowledge_bases RENAME TO gone")
    for answer in (served.search("副業"), served.summary(), served.call("list_knowledge_bases", {})):
        assert answer.body["status"] == 503
        assert answer.body["detail"] == "Failed to connect to the database"
        assert "gone" not in answer.json()
    served.database.close()


@pytest.mark.sqlite
def test_a_file_that_is_no_database_is_503(tmp_path: Path) -> None:
    (tmp_path / "shirube.db").write_bytes(b"no database at all" * 100)
    application = Application(load_settings({"SHIRUBE_HOME": str(tmp_path), "SHIRUBE_EMBEDDER": "none"}))
    given = {"query": "副業", "knowledge_base_id": str(uuid.uuid4())}
    answer = asyncio.run(application.registry.call("search_documents", LOCAL, given))
    assert (answer.body["status"], answer.body["detail"]) == (503, "Failed to connect to the database")
