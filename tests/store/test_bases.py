"""Knowledge bases: their counts, their names, and that an unknown one cannot be told from somebody else's."""

import uuid
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from shirube.caller import LOCAL, Caller
from shirube.errors import InvalidInput, NotFound, ShirubeError
from shirube.store import bases, documents
from shirube.store.bases import KnowledgeBase, Statistics
from shirube.store.database import Database, open_database
from tests.store.records import document, put
from tests.stores import store_url

ELSEWHERE = Caller(tenant="other", subject="local", roles=frozenset({"admin"}))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return open_database(store_url(tmp_path_factory.mktemp("shared") / "shirube.db"))


# Collections by name, each a list of documents' sizes.
CONTENTS = st.dictionaries(st.sampled_from("甲乙丙丁"), st.lists(st.integers(0, 5), max_size=4), max_size=4)


@settings(max_examples=25)
@given(contents=st.lists(CONTENTS, min_size=1, max_size=3))
def test_statistics_count_each_collection_document_and_passage_once(
    shared: Database, contents: list[dict[str, list[int]]]
) -> None:
    owner = replace(LOCAL, tenant=str(uuid.uuid4()))
    wanted = {}
    with shared.write() as connection:
        for at, held in enumerate(contents):
            base = bases.create_base(connection, owner, f"規程{at}")
            for collection, sizes in held.items():
                bases.open_collection(connection, base, collection)
                for number, size in enumerate(sizes):
                    put(connection, base, document(str(number), *["文"] * size), collection=collection)
            every = [size for sizes in held.values() for size in sizes]
            wanted[base.id] = Statistics(len(every), len(held), sum(every))
    with shared.read() as connection:
        assert {base.id: counts for base, counts in bases.list_bases(connection, owner)} == wanted
        for base_id, counts in wanted.items():
            assert bases.summarise_base(connection, owner, base_id)[1] == counts


def test_bases_are_listed_by_name(database: Database) -> None:
    with database.write() as connection:
        for name in ("b", "a", "c"):
            bases.create_base(connection, LOCAL, name)
    with database.read() as connection:
        assert [base.name for base, _ in bases.list_bases(connection, LOCAL)] == ["a", "b", "c"]


def test_a_base_is_found_by_name_within_the_tenant_only(database: Database, base: KnowledgeBase) -> None:
    with database.read() as connection:
        assert bases.find_base(connection, LOCAL, base.name) == base
        assert bases.find_base(connection, LOCAL, "無い") is None
        assert bases.find_base(connection, ELSEWHERE, base.name) is None


def test_two_tenants_may_use_the_same_name(database: Database, base: KnowledgeBase) -> None:
    with database.write() as connection:
        other = bases.create_base(connection, ELSEWHERE, base.name)
        assert other.id != base.id
        assert bases.find_base(connection, ELSEWHERE, base.name) == other


@pytest.mark.parametrize("name", ["", "  ", "　", "x" * 201])
def test_a_name_must_have_1_to_200_characters(database: Database, name: str) -> None:
    with database.write() as connection, pytest.raises(InvalidInput):
        bases.create_base(connection, LOCAL, name)


def test_opening_a_collection_twice_gives_the_same_one(database: Database, base: KnowledgeBase) -> None:
    with database.write() as connection:
        first = bases.open_collection(connection, base, "就業規則")
        assert bases.open_collection(connection, base, "就業規則") == first
        assert bases.open_collection(connection, base, "経費") != first


def shown(error: ShirubeError) -> tuple[object, ...]:
    """All that a caller could see of an error."""
    return type(error), error.code, error.status, error.message, error.ja, error.hint, error.details


@pytest.mark.parametrize(
    "ask",
    [
        bases.get_base,
        bases.summarise_base,
        bases.remove_base,
    ],
)
def test_an_unknown_base_and_another_tenants_are_the_same_answer(
    database: Database, base: KnowledgeBase, ask: Callable[[Connection, Caller, str], object]
) -> None:
    answers = []
    for base_id in (base.id, str(uuid.uuid4()), "no uuid at all", ""):
        with database.write() as connection, pytest.raises(NotFound) as caught:
            ask(connection, ELSEWHERE, base_id)
        answers.append(shown(caught.value))
    assert set(map(repr, answers)) == {repr(answers[0])}
    assert answers[0][3] == "Knowledge base not found"


def test_an_unknown_document_and_another_tenants_are_the_same_answer(
    database: Database, base: KnowledgeBase
) -> None:
    with database.write() as connection:
        put(connection, base, document("甲.md", "秘密"))
        collection = bases.open_collection(connection, base, "default")
        doc_id = documents.document_id(base.id, collection, "甲.md")
    answers = []
    for each in (doc_id, str(uuid.uuid4())):
        with database.read() as connection, pytest.raises(NotFound) as caught:
            documents.document_text(connection, ELSEWHERE, each)
        answers.append(shown(caught.value))
    assert answers[0] == answers[1]
