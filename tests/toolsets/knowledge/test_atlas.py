"""Stage 1: the collections that a query is about."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from shirube.caller import LOCAL, Confidentiality
from shirube.models.contract import Embedder
from shirube.store.bases import KnowledgeBase
from shirube.store.summaries import Summary
from shirube.store.tables import collections
from shirube.toolsets.knowledge.atlas import FEW, near_collections, summarise_collections
from tests.store.records import document, put, remove
from tests.toolsets.knowledge.conftest import Served, serve

SUBJECTS = {
    "休暇": ("年次有給休暇は年20日とする。", "慶弔休暇は5日以内とする。"),
    "経費": ("出張旅費は実費を精算する。", "交際費は事前に申請する。"),
    "情報": ("パスワードは12文字以上とする。", "ウイルス対策ソフトを入れる。"),
    "採用": ("新卒採用の面接は3回行う。", "内定者には通知書を送る。"),
    "安全": ("避難訓練は年2回行う。", "消火器の場所を確かめる。"),
    "車両": ("社用車の鍵は総務が管理する。", "給油はカードで払う。"),
    "食堂": ("食堂は11時半に開く。", "定食は500円とする。"),
}


def summary(name: str, *vector: float) -> Summary:
    return Summary(name, np.array(vector, np.float32).tobytes() if vector else None)


def asked(*vector: float) -> Any:
    return np.array(vector, np.float32)


FAR = [summary(f"遠い{number}", 0.0, 1.0) for number in range(FEW)]


def test_only_near_collections_are_searched() -> None:
    found = [summary("近い", 1.0, 0.1), *FAR, summary("やや近い", 0.8, 0.5)]
    assert near_collections(found, asked(1.0, 0.0)) == ["近い", "やや近い"]


def test_at_most_five_are_chosen() -> None:
    found = [summary(f"近い{number}", 1.0, number / 100) for number in range(8)]
    assert near_collections(found, asked(2.0, 0.0)) == [f"近い{number}" for number in range(FEW)]


@pytest.mark.parametrize(
    "found",
    [
        [summary("近い", 1.0, 0.0), *FAR[:-1]],
        FAR + FAR,
        [summary("未作成") for _ in range(9)],
        [summary("近い", 1.0, 0.0), *(summary("未作成") for _ in range(9))],
        [summary("別の長さ", 1.0, 0.0, 0.0) for _ in range(9)],
        [summary("零", 0.0, 0.0) for _ in range(9)],
        [],
    ],
    ids=["few", "none near", "no vectors", "others unknown", "other model", "no direction", "empty"],
)
def test_otherwise_all_are_searched(found: Sequence[Summary]) -> None:
    assert near_collections(found, asked(1.0, 0.0)) is None


def test_one_without_a_summary_is_never_left_out() -> None:
    found = [summary("近い", 1.0, 0.0), *FAR, summary("新しい")]
    assert near_collections(found, asked(1.0, 0.0)) == ["近い", "新しい"]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, KnowledgeBase]]:
    """A base with more collections than are all searched, with vectors and summaries."""
    served = serve(tmp_path_factory.mktemp("many"), "use")
    base = served.create("多い", document("全般.md", "会社は従業員の福利に努める。"))
    with served.database.write() as connection:
        for name, texts in SUBJECTS.items():
            put(connection, base, document(f"{name}.md", *texts, title=f"{name}の規程"), collection=name)
    knowledge = served.application.knowledge()
    knowledge.space(base.id).catch_up()
    knowledge.complete_vectors()
    yield served, base
    served.database.close()


def held(served: Served, base: KnowledgeBase) -> dict[str, Any]:
    with served.database.read() as connection:
        rows = connection.execute(select(collections).where(collections.c.knowledge_base_id == base.id))
        return {row.name: row for row in rows}


def embedder(served: Served) -> Embedder:
    found = served.application.workspace().embedder
    assert found is not None
    return found


def test_a_summary_names_what_is_in_the_collection(many: tuple[Served, KnowledgeBase]) -> None:
    served, base = many
    rows = held(served, base)
    assert len(rows) == len(SUBJECTS) + 1
    for name, texts in SUBJECTS.items():
        assert f"{name}の規程" in rows[name].summary
        assert texts[0].rstrip("。") in rows[name].summary
        assert rows[name].summary_revision == rows[name].revision > 0


def test_all_stages_are_explained_in_their_order(many: tuple[Served, KnowledgeBase]) -> None:
    served, base = many
    body = served.found("有給休暇の日数", knowledge_base_id=base.id, threshold=0.0, explain=True)
    stages = [stage["stage"] for stage in body["explain"]["stages"]]
    assert stages == ["atlas", "sparse", "dense", "fusion", "bm25", "rerank", "calibrate"]
    assert 1 <= body["explain"]["stages"][0]["count"] <= len(SUBJECTS) + 1
    assert "有給休暇" in body["results"][0]["content"]


def narrow_to(monkeypatch: pytest.MonkeyPatch, *chosen: str) -> None:
    def near(found: Sequence[Summary], vector: object) -> list[str]:
        return list(chosen)

    monkeypatch.setattr("shirube.toolsets.knowledge.atlas.near_collections", near)


def test_vectors_are_searched_in_the_chosen_collections_alone(
    many: tuple[Served, KnowledgeBase], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No word of the question stands in any document."""
    served, base = many
    chosen = held(served, base)["経費"].id
    narrow_to(monkeypatch, chosen)
    body = served.found("holidays and trips", knowledge_base_id=base.id, threshold=0.0, max_results=50)
    assert body["count"] == 2
    assert {result["metadata"]["collection_id"] for result in body["results"]} == {chosen}


def test_full_text_finds_what_stands_elsewhere(
    many: tuple[Served, KnowledgeBase], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where something of the chosen collection passes."""
    served, base = many
    narrow_to(monkeypatch, held(served, base)["食堂"].id)
    body = served.found("年次有給休暇は何日ですか", knowledge_base_id=base.id, threshold=0.0)
    assert "有給休暇" in body["results"][0]["content"]
    assert body["count"] > 1


def test_who_may_see_less_than_the_summaries_say_is_told_nothing_of_them(
    many: tuple[Served, KnowledgeBase],
) -> None:
    served, base = many
    for level in Confidentiality:
        caller = replace(LOCAL, clearance=level)
        body = served.found("休暇", caller, knowledge_base_id=base.id, threshold=0.0, explain=True)
        stages = {stage["stage"] for stage in body["explain"]["stages"]}
        assert ("atlas" in stages) == (level >= Confidentiality.internal)


def test_a_summary_is_made_of_what_everybody_may_see(tmp_path_factory: pytest.TempPathFactory) -> None:
    served = serve(tmp_path_factory.mktemp("open"), "use")
    base = served.create(
        "混ざる",
        document("開.md", "給与は月末に払う。", title="給与"),
        document("秘.md", "合併の交渉を始める。", title="合併", confidentiality=Confidentiality.secret),
        document("部.md", "採点表を配る。", title="採点", department="人事"),
    )
    with served.database.write() as connection:
        secret = document("役.md", "役員の報酬。", confidentiality=Confidentiality.top_secret)
        put(connection, base, secret, collection="役員")
    assert summarise_collections(served.database, base.id, embedder(served)) == 2
    rows = held(served, base)
    assert "給与" in rows["default"].summary
    assert not {"合併", "採点"} & set(rows["default"].summary.split("。"))
    assert (rows["役員"].summary, rows["役員"].summary_vector) == ("", None), "it is always searched"
    assert summarise_collections(served.database, base.id, embedder(served)) == 0
    served.database.close()


def test_a_query_that_cannot_be_embedded_is_tried_once(
    many: tuple[Served, KnowledgeBase], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, base = many
    asked = []

    def fail(model: Embedder, query: str) -> None:
        asked.append(query)
        raise RuntimeError("out of order")

    monkeypatch.setattr("shirube.toolsets.knowledge.service.embedded_query", fail)
    monkeypatch.setattr("shirube.retrieval.pipeline.embedded_query", fail)
    body = served.found("有給休暇", knowledge_base_id=base.id, threshold=0.0)
    assert "有給休暇" in body["results"][0]["content"]
    assert any("Vectors failed" in warning for warning in body["warnings"])
    assert asked == ["有給休暇"]


def test_an_answer_elsewhere_is_not_lost(
    many: tuple[Served, KnowledgeBase], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, base = many
    narrow_to(monkeypatch, held(served, base)["食堂"].id)
    body = served.found("年次有給休暇は何日ですか", knowledge_base_id=base.id)
    assert "有給休暇" in body["results"][0]["content"]


def test_a_base_of_few_collections_is_not_asked_about(many: tuple[Served, KnowledgeBase]) -> None:
    served, _ = many
    base = served.create("少ない", document("全般.md", "会社は従業員の福利に努める。"))
    body = served.found("福利", knowledge_base_id=base.id, threshold=0.0, explain=True)
    assert "atlas" not in {stage["stage"] for stage in body["explain"]["stages"]}


def test_summaries_are_made_anew_when_documents_change(tmp_path_factory: pytest.TempPathFactory) -> None:
    served = serve(tmp_path_factory.mktemp("changing"), "use")
    base = served.create("変わる", document("一.md", "給与は月末に払う。", title="給与"))
    model = embedder(served)
    assert summarise_collections(served.database, base.id, model) == 1
    assert summarise_collections(served.database, base.id, model) == 0, "nothing has changed"
    with served.database.write() as connection:
        put(connection, base, document("二.md", "賞与は年2回払う。", title="賞与"))
    assert summarise_collections(served.database, base.id, model) == 1
    assert "賞与" in held(served, base)["default"].summary
    with served.database.write() as connection:
        remove(connection, base, "二.md")
    assert summarise_collections(served.database, base.id, model) == 1
    assert "賞与" not in held(served, base)["default"].summary
    served.database.close()


class Writer:
    """A language model that sums up, or is out of order."""

    name = "writer"

    def __init__(self, answer: str | None) -> None:
        self.answer = answer

    def generate(self, prompt: str) -> str:
        if self.answer is None:
            raise RuntimeError("out of order")
        assert "給与は月末に払う" in prompt
        return self.answer


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("賃金の支払いの決まり", "賃金の支払いの決まり"),
        ("<think>何だろう</think>賃金の決まり", "default。賃金の決まり"),
        ("半分\ud800の字", "半分?の字"),
        (None, "給与は月末に払う"),
        (" ", "給与は月末に払う"),
    ],
)
def test_a_language_model_writes_the_summary_where_there_is_one(
    tmp_path_factory: pytest.TempPathFactory, answer: str | None, wanted: str
) -> None:
    served = serve(tmp_path_factory.mktemp("written"), "use")
    base = served.create("書く", document("一.md", "給与は月末に払う。", title="給与"))
    summarise_collections(served.database, base.id, embedder(served), Writer(answer))
    assert wanted in held(served, base)["default"].summary
    served.database.close()
