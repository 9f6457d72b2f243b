"""Documents: what a user puts in. One document, one transaction; each change is noted in the change log."""

import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from shirube.caller import Caller, Confidentiality
from shirube.errors import NotFound
from shirube.store.access import base_in_reach, document_open
from shirube.store.changes import record_change
from shirube.store.clock import now
from shirube.store.tables import document_counts, document_texts, documents, knowledge_bases, passages

# Made once: building a statement costs more than running it.
_BEFORE = select(
    documents.c.version,
    documents.c.created_at,
    documents.c.department,
    documents.c.confidentiality,
    documents.c.chunk_count,
).where(documents.c.id == bindparam("document"))
_COUNT = (
    update(document_counts)
    .where(
        document_counts.c.knowledge_base_id == bindparam("base"),
        document_counts.c.department == bindparam("whose"),
        document_counts.c.confidentiality == bindparam("level"),
    )
    .values(
        documents=document_counts.c.documents + bindparam("more"),
        chunks=document_counts.c.chunks + bindparam("pieces"),
    )
)
_INSERT_COUNT = insert(document_counts)
_INSERT_DOCUMENT = insert(documents)
_INSERT_TEXT = insert(document_texts)
_INSERT_PASSAGES = insert(passages)
_PASSAGE_IDS = (
    select(passages.c.id)
    .where(passages.c.document_id == bindparam("document"))
    .order_by(passages.c.chunk_index)
)


@dataclass(frozen=True)
class Passage:
    """A stretch of a document: text[start:end] of the document's text."""

    text: str
    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    columns: tuple[str, ...] = ()
    """What the columns of the table are called whose rows it begins with, where the head stands further up."""


@dataclass(frozen=True)
class Document:
    """What is put in: a readable text with its passages and who may see it."""

    source: str
    filename: str
    title: str
    text: str
    content_hash: str
    passages: tuple[Passage, ...]
    department: str | None = None
    confidentiality: Confidentiality = Confidentiality.internal
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Known:
    """A document that is already in: the hash of its file, where it came from, and who was to read it."""

    content_hash: str
    root: str | None
    given_department: str | None = None
    given_confidentiality: Confidentiality | None = None
    scanned_in: str | None = None
    """The languages that Tesseract read it in."""
    is_open: bool = True
    """Whether whoever asks may read it."""


def known_documents(connection: Connection, caller: Caller, collection_id: str) -> dict[str, Known]:
    """What is in a collection, by source."""
    rows = connection.execute(
        select(
            documents.c.source,
            documents.c.content_hash,
            documents.c.metadata,
            document_open(caller).label("is_open"),
        ).where(documents.c.collection_id == collection_id)
    )
    return {row.source: _known(row.content_hash, row.metadata, row.is_open) for row in rows}


def _known(content_hash: str, metadata: Mapping[str, Any], is_open: bool) -> Known:
    given = metadata.get("given") or {}
    level = given.get("confidentiality")
    return Known(
        content_hash,
        metadata.get("root"),
        given.get("department"),
        Confidentiality[level] if level else None,
        metadata.get("scanned_in"),
        bool(is_open),
    )


def document_id(base_id: str, collection_id: str, source: str) -> str:
    """The same file in the same collection keeps its id for ever."""
    return str(uuid.uuid5(uuid.UUID(base_id), f"{collection_id}\0{source}"))


def put_document(connection: Connection, base_id: str, collection_id: str, document: Document) -> list[int]:
    """Put `document` in place of what stood under its source; the ids of its passages."""
    doc_id = document_id(base_id, collection_id, document.source)
    moment = now()
    # First: its lock on the base's row lets one writer at a time count.
    record_change(connection, base_id, collection_id, doc_id)
    before = connection.execute(_BEFORE, {"document": doc_id}).first()
    values = {
        "id": doc_id,
        "knowledge_base_id": base_id,
        "collection_id": collection_id,
        "source": document.source,
        "filename": document.filename,
        "title": document.title,
        "status": "processed",
        "department": document.department,
        "confidentiality": int(document.confidentiality),
        "version": before.version + 1 if before else 1,
        "content_hash": document.content_hash,
        "chunk_count": len(document.passages),
        "metadata": dict(document.metadata),
        "created_at": before.created_at if before else moment,
        "updated_at": moment,
    }
    if before:
        _remove(connection, base_id, doc_id, before)
    connection.execute(_INSERT_DOCUMENT, values)
    connection.execute(
        _INSERT_TEXT, {"document_id": doc_id, "text": zlib.compress(document.text.encode(), 1)}
    )
    rows = [
        {
            "document_id": doc_id,
            "chunk_index": index,
            "text": passage.text,
            "start": passage.start,
            "end": passage.end,
            "heading_path": list(passage.heading_path),
            "page": passage.page,
            "columns": list(passage.columns) or None,
        }
        for index, passage in enumerate(document.passages)
    ]
    if rows:
        connection.execute(_INSERT_PASSAGES, rows)
    _count(connection, base_id, document.department, document.confidentiality, 1, len(document.passages))
    return list(connection.execute(_PASSAGE_IDS, {"document": doc_id}).scalars())


def move_document(connection: Connection, base_id: str, collection_id: str, source: str, root: Path) -> None:
    """Note that the folder of an unchanged document is `root` now. Whoever searches sees no difference."""
    here = documents.c.id == document_id(base_id, collection_id, source)
    metadata = connection.execute(select(documents.c.metadata).where(here)).scalar_one()
    connection.execute(update(documents).where(here).values(metadata={**metadata, "root": str(root)}))


def remove_document(connection: Connection, base_id: str, collection_id: str, source: str) -> bool:
    doc_id = document_id(base_id, collection_id, source)
    before = connection.execute(_BEFORE, {"document": doc_id}).first()
    if before:
        _remove(connection, base_id, doc_id, before)
        record_change(connection, base_id, collection_id, doc_id)
    return bool(before)


def _remove(connection: Connection, base_id: str, doc_id: str, before: Any) -> None:
    connection.execute(delete(documents).where(documents.c.id == doc_id))
    _count(connection, base_id, before.department, before.confidentiality, -1, -before.chunk_count)


def _count(
    connection: Connection, base_id: str, department: str | None, level: int, more: int, pieces: int
) -> None:
    """Keep the counts of those who may see a document in step with it."""
    place = {"base": base_id, "whose": department or "", "level": int(level)}
    if not connection.execute(_COUNT, {**place, "more": more, "pieces": pieces}).rowcount:
        connection.execute(
            _INSERT_COUNT,
            {
                "knowledge_base_id": base_id,
                "department": department or "",
                "confidentiality": int(level),
                "documents": more,
                "chunks": pieces,
            },
        )


def document_text(connection: Connection, caller: Caller, document_id: str) -> str:
    """The whole text of a document the caller may read."""
    row = connection.execute(
        select(document_texts.c.text)
        .join(documents, documents.c.id == document_texts.c.document_id)
        .join(knowledge_bases, knowledge_bases.c.id == documents.c.knowledge_base_id)
        .where(
            documents.c.id == document_id,
            base_in_reach(caller),
            document_open(caller),
        )
    ).first()
    if row is None:
        raise NotFound("Document not found", "文書が見つかりません。")
    return zlib.decompress(row.text).decode()
