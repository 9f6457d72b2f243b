"""get_knowledge_base_summary and list_knowledge_bases: names and counts, from the database alone."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event

from shirube.caller import LOCAL
from shirube.store import bases
from tests.store.records import document, put
from tests.toolsets.knowledge.conftest import Served

EMPTY = {"total_documents": 0, "total_collections": 0, "total_chunks": 0}


def test_the_summary_has_the_documented_shape(served: Served) -> None:
    base = served.create(
        "マイナビサービス概要",
        document("甲.md", "一", "二"),
        description="マイナビが提供する各種サービスの説明資料",
    )
    answer = served.summary(base.id)
    assert answer.ok
    assert set(answer.body) == {"knowledge_base_id", "summary", "statistics", "generated_at"}
    assert answer.body["knowledge_base_id"] == base.id
    assert answer.body["summary"] == "マイナビサービス概要: マイナビが提供する各種サービスの説明資料"
    assert answer.body["statistics"] == {"total_documents": 1, "total_collections": 1, "total_chunks": 2}


def test_the_summary_of_a_base_without_description_is_its_name(served: Served) -> None:
    assert served.summary(served.create("名前だけ").id).body["summary"] == "名前だけ"


def test_documents_collections_and_chunks_are_each_counted_once(served: Served) -> None:
    base = served.create("数える", document("甲.md", "一", "二"), document("乙.md", "三"))
    with served.database.write() as connection:
        put(connection, base, document("甲.md", *"四五六七"), collection="別")
        bases.open_collection(connection, base, "空")
    assert served.summary(base.id).body["statistics"] == {
        "total_documents": 3,
        "total_collections": 3,
        "total_chunks": 7,
    }


def test_a_base_without_collections_is_a_success_with_warnings(served: Served) -> None:
    answer = served.summary()
    assert answer.ok
    assert answer.body["statistics"] == EMPTY
    assert answer.body["warnings"] == ["No collections found", "No documents found"]


def test_an_empty_collection_counts_and_only_the_documents_are_missed(served: Served) -> None:
    with served.database.write() as connection:
        bases.open_collection(connection, served.base, "空")
    answer = served.summary()
    assert answer.ok
    assert answer.body["statistics"] == {**EMPTY, "total_collections": 1}
    assert answer.body["warnings"] == ["No documents found"]


def test_the_time_is_utc_with_microseconds(served: Served) -> None:
    written = served.summary().body["generated_at"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", written)
    assert abs(datetime.now(UTC) - datetime.fromisoformat(written)) < timedelta(minutes=1)


@pytest.fixture
def statements(company: Served) -> Iterator[list[str]]:
    """What is asked of the database from now on."""
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        asked.append(statement)

    engine = company.database.engine
    event.listen(engine, "before_cursor_execute", note)
    yield asked
    event.remove(engine, "before_cursor_execute", note)


def test_the_figures_come_from_one_statement(company: Served, statements: list[str]) -> None:
    company.application.workspace().journal.flush()
    statements.clear()
    assert company.application.knowledge().summary(LOCAL, company.base.id).statistics.total_documents == 58
    assert sum("count(" in statement for statement in statements) == 1
    assert not any("FROM passages" in statement for statement in statements)


def test_a_summary_needs_no_index(served: Served) -> None:
    base = served.create("索引なし", document("甲.md", "一"))
    assert served.summary(base.id).ok
    assert not served.application.settings.index_folder.exists()


def test_a_summary_takes_less_than_the_specified_time(company: Served) -> None:
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        assert company.summary().ok
        seconds.append(time.perf_counter() - started)
    assert min(seconds) < 0.05


def test_the_list_gives_every_base_with_its_counts(served: Served) -> None:
    base = served.create("数える", document("甲.md", "一", "二"), description="説明")
    answer = served.call("list_knowledge_bases", {})
    assert answer.ok
    assert answer.body["count"] == 2
    by_name = {item["name"]: item for item in answer.body["knowledge_bases"]}
    assert by_name["数える"] == {
        "knowledge_base_id": base.id,
        "name": "数える",
        "description": "説明",
        "statistics": {"total_documents": 1, "total_collections": 1, "total_chunks": 2},
    }
    assert by_name[served.base.name]["statistics"] == EMPTY


def test_the_id_from_the_list_opens_the_other_tools(company: Served) -> None:
    [item] = company.call("list_knowledge_bases", None).body["knowledge_bases"]
    assert company.summary(item["knowledge_base_id"]).body["statistics"] == item["statistics"]
