"""Documents: one document is one transaction, passage ids are never used twice, and every change has a number."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from shirube.caller import LOCAL, Caller, Confidentiality
from shirube.errors import NotFound
from shirube.store import bases, changes, documents, passages, tables
from shirube.store.bases import KnowledgeBase
from shirube.store.database import Database, open_database
from tests.store.records import document, document_id, put, remove
from tests.stores import store_url


def everything(connection: Connection) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    return {
        table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
        for table in tables.metadata.sorted_tables
    }


def test_what_was_put_in_is_found_again(database: Database, base: KnowledgeBase) -> None:
    with database.write() as connection:
        ids = put(connection, base, document("副業.md", "許可が必要です。", "届け出ます。", title="副業規程"))
    with database.read() as connection:
        found = passages.visible_passages(connection, LOCAL, base.id, ids)
        whole = documents.document_text(connection, LOCAL, document_id(connection, base, "副業.md"))
    assert [found[each].text for each in ids] == ["許可が必要です。", "届け出ます。"]
    assert [found[each].chunk_index for each in ids] == [0, 1]
    assert {each.document_title for each in found.values()} == {"副業規程"}
    assert whole == "許可が必要です。\n届け出ます。"
    assert all(whole[each.start : each.end] == each.text for each in found.values())


def test_a_document_put_again_takes_the_place_of_the_old_one(database: Database, base: KnowledgeBase) -> None:
    def row() -> tuple[str, int, datetime, datetime]:
        with database.read() as connection:
            found = connection.execute(select(tables.documents)).one()
        return found.id, found.version, found.created_at, found.updated_at

    with database.write() as connection:
        old = put(connection, base, document("副業.md", "一", "二", "三"))
    first = row()
    with database.write() as connection:
        new = put(connection, base, document("副業.md", "四"))
    second = row()
    assert (second[0], second[1], second[2]) == (first[0], first[1] + 1, first[2])
    assert second[3] > first[3]
    with database.read() as connection:
        assert passages.passage_ids(connection, base.id) == new
        assert passages.count_passages(connection, base.id) == 1
        assert passages.visible_passages(connection, LOCAL, base.id, old) == {}


def test_the_same_source_in_two_collections_is_two_documents(database: Database, base: KnowledgeBase) -> None:
    with database.write() as connection:
        put(connection, base, document("副業.md", "旧"), collection="旧版")
        put(connection, base, document("副業.md", "新"), collection="新版")
        assert remove(connection, base, "副業.md", "旧版")
    with database.read() as connection:
        ids = passages.passage_ids(connection, base.id)
        assert [each.text for each in passages.passages_by_id(connection, ids)] == ["新"]


def test_thousands_of_passages_keep_their_order(database: Database, base: KnowledgeBase) -> None:
    texts = [f"第{number}条" for number in range(1201)]
    with database.write() as connection:
        ids = put(connection, base, document("長い.md", *texts))
    assert ids == sorted(set(ids))
    with database.read() as connection:
        found = passages.visible_passages(connection, LOCAL, base.id, ids)
    assert [found[each].text for each in ids] == texts


@pytest.mark.parametrize(
    "change",
    [
        lambda connection, base: put(connection, base, document("新規.md", "一", "二")),
        lambda connection, base: put(connection, base, document("既存.md", "三"), collection="別"),
        lambda connection, base: put(connection, base, document("既存.md", "三")),
        lambda connection, base: remove(connection, base, "既存.md"),
        lambda connection, base: bases.remove_base(connection, LOCAL, base.id),
        lambda connection, base: bases.create_base(connection, LOCAL, "もう一つ"),
    ],
    ids=["put", "put in a new collection", "replace", "remove", "remove the base", "create a base"],
)
def test_a_failure_in_the_transaction_leaves_everything_as_it_was(
    database: Database, base: KnowledgeBase, change: Callable[[Connection, KnowledgeBase], object]
) -> None:
    with database.write() as connection:
        put(connection, base, document("既存.md", "一", "二"))
    with database.read() as connection:
        before = everything(connection)

    def interrupted() -> None:
        with database.write() as connection:
            change(connection, base)
            assert everything(connection) != before, "the change itself must do something"
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        interrupted()
    with database.read() as connection:
        assert everything(connection) == before


def test_removing_what_is_not_there_changes_nothing(database: Database, base: KnowledgeBase) -> None:
    with database.write() as connection:
        put(connection, base, document("副業.md", "一"))
        assert remove(connection, base, "無い.md") is False
    with database.read() as connection:
        assert changes.revision_of(connection, base.id) == 1


def test_removing_a_base_removes_all_that_was_in_it(database: Database, base: KnowledgeBase) -> None:
    with database.write() as connection:
        other = bases.create_base(connection, LOCAL, "残る")
        kept = put(connection, other, document("副業.md", "残る"))
        put(connection, base, document("副業.md", "消える"))
        bases.remove_base(connection, LOCAL, base.id)
    with database.read() as connection:
        assert [row.id for row in connection.execute(select(tables.passages))] == kept
        for table in (tables.collections, tables.documents, tables.changes):
            owners = {row.knowledge_base_id for row in connection.execute(select(table))}
            assert owners == {other.id}
        with pytest.raises(NotFound):
            bases.get_base(connection, LOCAL, base.id)


def test_known_documents_are_those_of_the_collection(database: Database, base: KnowledgeBase) -> None:
    with database.write() as connection:
        put(connection, base, document("甲.md", "一"), document("乙.md", "二"))
        put(connection, base, document("丙.md", "三"), collection="別")
        collection = bases.open_collection(connection, base, "default")
        known = documents.known_documents(connection, LOCAL, collection)
        put(connection, base, document("秘.md", "四", confidentiality=Confidentiality.secret))
        cleared = Caller(LOCAL.tenant, "somebody", clearance=Confidentiality.internal)
        seen = documents.known_documents(connection, cleared, collection)
    assert set(known) == {"甲.md", "乙.md"}
    assert {source: each.is_open for source, each in seen.items()} == {
        "甲.md": True,
        "乙.md": True,
        "秘.md": False,
    }


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """One database for all examples: ids must not come again from one to the next either."""
    return open_database(store_url(tmp_path_factory.mktemp("shared") / "shirube.db"))


# A step: a source, and how many passages it has from now on; 0 removes it.
STEPS = st.lists(st.tuples(st.sampled_from("甲乙丙丁"), st.integers(0, 4)), max_size=12)
SEEN: set[int] = set()


@settings(max_examples=40)
@given(steps=STEPS)
def test_revisions_ids_and_the_change_log_follow_every_sequence_of_changes(
    shared: Database, steps: list[tuple[str, int]]
) -> None:
    with shared.write() as connection:
        base = bases.create_base(connection, LOCAL, f"{len(SEEN)}-{datetime.now()}")
    held: dict[str, int] = {}
    touched: list[str] = []
    for source, size in steps:
        with shared.write() as connection:
            before = changes.revision_of(connection, base.id)
            if size:
                ids = put(connection, base, document(source, *["文"] * size))
                assert len(ids) == size
                assert SEEN.isdisjoint(ids)
                SEEN.update(ids)
                held[source] = size
            else:
                assert remove(connection, base, source) is (source in held)
                if held.pop(source, None) is None:
                    assert changes.revision_of(connection, base.id) == before
                    continue
            touched.append(document_id(connection, base, source))
            assert changes.revision_of(connection, base.id) == before + 1 == len(touched)
    with shared.read() as connection:
        sizes = {document_id(connection, base, source): size for source, size in held.items()}
        for since in range(len(touched) + 1):
            latest = {each: at for at, each in enumerate(touched, 1) if at > since}
            wanted = sorted((at, each, sizes.get(each, 0)) for each, at in latest.items())
            found = changes.changed_documents(connection, base.id, since)
            assert found == [(each, at, size) for at, each, size in wanted]
        assert passages.count_passages(connection, base.id) == sum(held.values())
        assert len(passages.passage_ids(connection, base.id)) == sum(held.values())


def test_an_id_is_not_used_again_when_the_newest_passage_is_gone(
    database: Database, base: KnowledgeBase
) -> None:
    with database.write() as connection:
        first = put(connection, base, document("甲.md", "一", "二"))
    with database.write() as connection:
        remove(connection, base, "甲.md")
    with database.write() as connection:
        second = put(connection, base, document("乙.md", "三"))
    assert min(second) > max(first)


def test_times_are_kept_in_utc(database: Database, base: KnowledgeBase) -> None:
    with database.write() as connection:
        put(connection, base, document("甲.md", "一"))
    with database.read() as connection:
        written = connection.execute(select(tables.documents.c.created_at)).scalar_one()
    assert abs(datetime.now(UTC) - written.replace(tzinfo=UTC)) < timedelta(minutes=1)
