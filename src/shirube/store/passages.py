"""Passages as they are found again, with what an index entry and a citation need."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, func, select

from shirube.caller import Caller
from shirube.store.access import base_in_reach, document_open
from shirube.store.tables import documents, knowledge_bases, passages

# SQLite takes 32,766 variables a statement; stay far below.
_BATCH = 500
T = TypeVar("T", str, int)


@dataclass(frozen=True)
class StoredPassage:
    """A passage as it is found again, with what its index entry and its citation need."""

    id: int
    chunk_index: int
    text: str
    start: int
    end: int
    heading_path: tuple[str, ...]
    page: int | None
    document_id: str
    document_title: str
    source: str
    filename: str
    collection_id: str
    department: str | None
    confidentiality: int


def passage_ids(connection: Connection, base_id: str) -> list[int]:
    """The ids of every passage of the base, ascending."""
    rows = connection.execute(
        select(passages.c.id)
        .join(documents, documents.c.id == passages.c.document_id)
        .where(documents.c.knowledge_base_id == base_id)
        .order_by(passages.c.id)
    )
    return [row.id for row in rows]


def count_passages(connection: Connection, base_id: str) -> int:
    """How many passages the base has, from its documents' own counts."""
    total = select(func.sum(documents.c.chunk_count)).where(documents.c.knowledge_base_id == base_id)
    return int(connection.execute(total).scalar() or 0)


def passages_of(connection: Connection, document_ids: Sequence[str]) -> Iterator[StoredPassage]:
    """The passages of these documents, for whoever builds an index."""
    for batch in _batches(document_ids):
        statement = _passages().where(documents.c.id.in_(batch))
        yield from map(
            _stored, connection.execute(statement.order_by(documents.c.id, passages.c.chunk_index))
        )


def passages_by_id(connection: Connection, ids: Sequence[int]) -> Iterator[StoredPassage]:
    """These passages, for whoever builds an index."""
    for batch in _batches(ids):
        yield from map(_stored, connection.execute(_passages().where(passages.c.id.in_(batch))))


def visible_passages(
    connection: Connection, caller: Caller, base_id: str, ids: Sequence[int]
) -> dict[int, StoredPassage]:
    """Those of the passages `ids` that the caller may read in this base, by id."""
    found: dict[int, StoredPassage] = {}
    for batch in _batches(ids):
        statement = _passages().where(
            passages.c.id.in_(batch),
            # Wrapped, so that the planner goes by the passages' ids and not through all documents of the base.
            func.coalesce(documents.c.knowledge_base_id, "") == base_id,
            base_in_reach(caller),
            document_open(caller),
        )
        for row in connection.execute(statement):
            found[row.id] = _stored(row)
    return found


def _passages() -> Any:
    return (
        select(
            passages,
            documents.c.title.label("document_title"),
            documents.c.source,
            documents.c.filename,
            documents.c.collection_id,
            documents.c.department,
            documents.c.confidentiality,
        )
        .join(documents, documents.c.id == passages.c.document_id)
        .join(knowledge_bases, knowledge_bases.c.id == documents.c.knowledge_base_id)
    )


def _stored(row: Row[Any]) -> StoredPassage:
    return StoredPassage(
        id=row.id,
        chunk_index=row.chunk_index,
        text=row.text,
        start=row.start,
        end=row.end,
        heading_path=tuple(row.heading_path),
        page=row.page,
        document_id=row.document_id,
        document_title=row.document_title,
        source=row.source,
        filename=row.filename,
        collection_id=row.collection_id,
        department=row.department,
        confidentiality=row.confidentiality,
    )


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    rest = list(items)
    for start in range(0, len(rest), _BATCH):
        yield rest[start : start + _BATCH]
