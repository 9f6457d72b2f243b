"""Pages: documents of a folder of Markdown, with their links and the files that they describe."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, insert, select, update

from shirube.store.tables import documents, page_links, page_sources, pages, passages

_INSERT_PAGE, _INSERT_LINKS, _INSERT_SOURCES = insert(pages), insert(page_links), insert(page_sources)
_BATCH = 500


class StoredLink(NamedTuple):
    """A link as it is written; the columns of `page_links` in order."""

    target: str
    is_path: bool
    line: int
    link_type: str
    heading: str | None
    alias: str | None
    is_embed: bool


@dataclass(frozen=True)
class StoredPage:
    """What is known of a page besides its text."""

    id: str
    filepath: str
    title: str
    doc_type: str
    aliases: tuple[str, ...]
    headings: tuple[str, ...]
    mtime_ns: int
    links: tuple[StoredLink, ...] = ()


class FileState(NamedTuple):
    """A file as it was when it was read."""

    mtime_ns: int
    ctime_ns: int
    size: int
    content_hash: str


class Source(NamedTuple):
    """A file that a page describes, and its hash when the page last changed, if that is known."""

    path: str
    content_hash: str | None


def known_files(connection: Connection, base_id: str) -> dict[str, FileState]:
    """What is in, by path."""
    rows = connection.execute(
        select(documents.c.source, pages.c.mtime_ns, pages.c.ctime_ns, pages.c.size, documents.c.content_hash)
        .join(pages, pages.c.document_id == documents.c.id)
        .where(documents.c.knowledge_base_id == base_id)
    )
    return {row[0]: FileState._make(row[1:]) for row in rows}


def put_page(
    connection: Connection,
    document_id: str,
    *,
    doc_type: str,
    tags: Sequence[str],
    aliases: Sequence[str],
    headings: Sequence[str],
    warnings: Sequence[str],
    state: FileState,
    links: Sequence[StoredLink],
    sources: Sequence[Source],
) -> None:
    """Say of a document that was just put in what it is as a page."""
    connection.execute(
        _INSERT_PAGE,
        {
            "document_id": document_id,
            "doc_type": doc_type,
            "tags": list(tags),
            "aliases": list(aliases),
            "headings": list(headings),
            "warnings": list(warnings),
            "mtime_ns": state.mtime_ns,
            "ctime_ns": state.ctime_ns,
            "size": state.size,
        },
    )
    if links:
        connection.execute(_INSERT_LINKS, _numbered(document_id, [link._asdict() for link in links]))
    if sources:
        connection.execute(_INSERT_SOURCES, _numbered(document_id, [source._asdict() for source in sources]))


def _numbered(document_id: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"document_id": document_id, "position": at, **row} for at, row in enumerate(rows)]


def touch_page(connection: Connection, document_id: str, state: FileState) -> None:
    """The file was written again as it was."""
    connection.execute(
        update(pages)
        .where(pages.c.document_id == document_id)
        .values(mtime_ns=state.mtime_ns, ctime_ns=state.ctime_ns, size=state.size)
    )


def sections_of(
    connection: Connection, base_id: str, ids: Sequence[str] | None = None
) -> Iterator[tuple[int, str]]:
    """The number of every section and the page it belongs to; of these pages, or of all."""
    wanted = select(passages.c.id, passages.c.document_id).order_by(
        passages.c.document_id, passages.c.chunk_index
    )
    if ids is None:
        of_base = documents.c.knowledge_base_id == base_id
        statements = [wanted.join(documents, documents.c.id == passages.c.document_id).where(of_base)]
    else:
        batches = [ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)]
        statements = [wanted.where(passages.c.document_id.in_(batch)) for batch in batches]
    for statement in statements:
        yield from ((row.id, row.document_id) for row in connection.execute(statement))


def all_pages(connection: Connection, base_id: str) -> Iterator[StoredPage]:
    """Every page of the folder with its links."""
    of_base = documents.c.knowledge_base_id == base_id
    yield from _pages(connection, _PAGES.where(of_base), _LINKS.where(of_base))


def pages_by_id(connection: Connection, ids: Sequence[str]) -> Iterator[StoredPage]:
    for start in range(0, len(ids), _BATCH):
        chosen = documents.c.id.in_(ids[start : start + _BATCH])
        yield from _pages(connection, _PAGES.where(chosen), _LINKS.where(chosen))


def sources_of(connection: Connection, document_ids: Sequence[str]) -> dict[str, list[Source]]:
    """The files that these pages describe, by page; pages without any are left out."""
    found: dict[str, list[Source]] = {}
    for start in range(0, len(document_ids), _BATCH):
        rows = connection.execute(_SOURCES, {"ids": list(document_ids[start : start + _BATCH])})
        for row in rows:
            found.setdefault(row.document_id, []).append(Source(row.path, row.content_hash))
    return found


def pages_with_sources(connection: Connection, base_id: str) -> list[str]:
    rows = connection.execute(
        select(page_sources.c.document_id)
        .distinct()
        .join(documents, documents.c.id == page_sources.c.document_id)
        .where(documents.c.knowledge_base_id == base_id)
    )
    return [row.document_id for row in rows]


def beginnings(connection: Connection, ids: Sequence[str], characters: int) -> dict[str, str]:
    """The beginning of these pages, some characters or more."""
    found: dict[str, str] = {}
    for start in range(0, len(ids), _BATCH):
        for row in connection.execute(_BEGINNINGS, {"ids": list(ids[start : start + _BATCH])}):
            known = found.get(row.document_id, "")
            if len(known) < characters:
                found[row.document_id] = known + row.text
    return found


def page_warnings(connection: Connection, base_id: str) -> dict[str, list[str]]:
    """What is wrong with pages, by path."""
    rows = connection.execute(
        select(documents.c.source, pages.c.warnings)
        .join(documents, documents.c.id == pages.c.document_id)
        .where(documents.c.knowledge_base_id == base_id)
        .order_by(documents.c.source)
    )
    return {row.source: list(row.warnings) for row in rows if row.warnings}


def page_warnings_of(connection: Connection, document_id: str) -> list[str]:
    found = connection.execute(select(pages.c.warnings).where(pages.c.document_id == document_id)).scalar()
    return list(found or [])


def iso_time(mtime_ns: int) -> str:
    """The time of a file, to the second."""
    moment = datetime.fromtimestamp(max(0, min(mtime_ns // 10**9, 253402300799)), UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


_PAGES: Select[Any] = select(
    documents.c.id,
    documents.c.source,
    documents.c.title,
    pages.c.doc_type,
    pages.c.aliases,
    pages.c.headings,
    pages.c.mtime_ns,
).join(pages, pages.c.document_id == documents.c.id)
_LINKS: Select[Any] = (
    select(page_links.c.document_id, *(page_links.c[name] for name in StoredLink._fields))
    .join(documents, documents.c.id == page_links.c.document_id)
    .order_by(page_links.c.document_id, page_links.c.position)
)
_BEGINNINGS = (
    select(passages.c.document_id, passages.c.text)
    .where(passages.c.document_id.in_(bindparam("ids", expanding=True)), passages.c.chunk_index < 30)
    .order_by(passages.c.document_id, passages.c.chunk_index)
)
_SOURCES = (
    select(page_sources.c.document_id, page_sources.c.path, page_sources.c.content_hash)
    .where(page_sources.c.document_id.in_(bindparam("ids", expanding=True)))
    .order_by(page_sources.c.document_id, page_sources.c.position)
)


def _pages(connection: Connection, chosen: Select[Any], linked: Select[Any]) -> Iterator[StoredPage]:
    links: Mapping[str, tuple[StoredLink, ...]] = {
        document_id: tuple(StoredLink._make(row[1:]) for row in rows)
        for document_id, rows in groupby(connection.execute(linked).all(), key=lambda row: str(row[0]))
    }
    for row in connection.execute(chosen):
        yield StoredPage(
            row.id,
            row.source,
            row.title,
            row.doc_type,
            tuple(row.aliases),
            tuple(row.headings),
            row.mtime_ns,
            links.get(row.id, ()),
        )


def doc_types(connection: Connection, ids: Collection[str]) -> dict[str, str]:
    """The kind of each of these pages."""
    found: dict[str, str] = {}
    wanted = list(ids)
    for start in range(0, len(wanted), _BATCH):
        chosen = pages.c.document_id.in_(wanted[start : start + _BATCH])
        rows = connection.execute(select(pages.c.document_id, pages.c.doc_type).where(chosen))
        found.update((row.document_id, row.doc_type) for row in rows)
    return found
