"""Passages as they are found again, with what an index entry and a citation need."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Row, bindparam, func, select

from shirube.caller import Caller
from shirube.store.access import base_in_reach, document_open
from shirube.store.tables import documents, knowledge_bases, passages

# SQLite takes 32,766 variables a statement; stay far below.
_BATCH = 500
T = TypeVar("T", str, int)


class StoredPassage(NamedTuple):
    """A passage as it is found again, with what its index entry and its citation need; `_passages` has this order."""

    id: int
    chunk_index: int
    text: str
    start: int
    end: int
    heading_path: tuple[str, ...]
    page: int | None
    columns: tuple[str, ...]
    document_id: str
    document_title: str
    source: str
    filename: str
    collection_id: str
    department: str | None
    confidentiality: int


class PassageText(NamedTuple):
    """A passage as far as ranking looks at it; `_texts` has this order."""

    id: int
    text: str
    document_title: str
    source: str
    chunk_index: int


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
    statement = _visible_passages(caller)
    found: dict[int, StoredPassage] = {}
    for batch in _batches(ids):
        for row in connection.execute(statement, {"base": base_id, "ids": batch}).all():
            found[row[0]] = _stored(row)
    return found


def visible_texts(
    connection: Connection, caller: Caller, base_id: str, ids: Sequence[int]
) -> Iterator[PassageText]:
    """The same with what ranking needs alone: a search reads a hundred of them and shows ten."""
    statement = _visible_texts(caller)
    for batch in _batches(ids):
        rows = connection.execute(statement, {"base": base_id, "ids": batch})
        yield from map(PassageText._make, rows.all())  # at once: one by one takes twice as long


def _visible(statement: Any, caller: Caller) -> Any:
    return statement.where(
        passages.c.id.in_(bindparam("ids", expanding=True)),
        # Not as an equation, or SQLite would go through all documents of the base and not by the passages' ids.
        (documents.c.knowledge_base_id != bindparam("base")).is_(False),
        base_in_reach(caller),
        document_open(caller),
    )


@lru_cache(64)
def _visible_passages(caller: Caller) -> Any:
    return _visible(_passages(), caller)


@lru_cache(64)
def _visible_texts(caller: Caller) -> Any:
    return _visible(_texts(), caller)


@cache
def _texts() -> Any:
    return _joined(
        select(passages.c.id, passages.c.text, documents.c.title, documents.c.source, passages.c.chunk_index)
    )


@cache
def _passages() -> Any:
    return _joined(
        select(
            passages.c.id,
            passages.c.chunk_index,
            passages.c.text,
            passages.c.start,
            passages.c.end,
            passages.c.heading_path,
            passages.c.page,
            passages.c.columns,
            passages.c.document_id,
            documents.c.title,
            documents.c.source,
            documents.c.filename,
            documents.c.collection_id,
            documents.c.department,
            documents.c.confidentiality,
        )
    )


def _joined(statement: Any) -> Any:
    return statement.join(documents, documents.c.id == passages.c.document_id).join(
        knowledge_bases, knowledge_bases.c.id == documents.c.knowledge_base_id
    )


_HEADINGS, _COLUMNS = map(StoredPassage._fields.index, ("heading_path", "columns"))


def _stored(row: Row[Any]) -> StoredPassage:
    values = list(row)
    values[_HEADINGS] = tuple(values[_HEADINGS])
    values[_COLUMNS] = tuple(values[_COLUMNS] or ())
    return StoredPassage._make(values)


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    rest = list(items)
    for start in range(0, len(rest), _BATCH):
        yield rest[start : start + _BATCH]
