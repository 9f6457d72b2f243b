"""The change log: which document each revision of a knowledge base touched."""

from sqlalchemy import Connection, bindparam, func, insert, select, update

from shirube.store.clock import now
from shirube.store.tables import changes, collections, documents, knowledge_bases

_NEXT_REVISION = (
    update(knowledge_bases)
    .where(knowledge_bases.c.id == bindparam("base"))
    .values(revision=knowledge_bases.c.revision + 1)
    .returning(knowledge_bases.c.revision)
)
_INSERT_CHANGE = insert(changes)
_TOUCH = update(collections).where(collections.c.id == bindparam("collection"))


def record_change(connection: Connection, base_id: str, collection_id: str, doc_id: str) -> int:
    """Note that a document changed; the base's new revision. Its row lock keeps revisions in commit order."""
    revision = connection.execute(_NEXT_REVISION, {"base": base_id}).scalar_one()
    connection.execute(_TOUCH, {"collection": collection_id, "revision": revision})
    connection.execute(
        _INSERT_CHANGE,
        {"knowledge_base_id": base_id, "revision": revision, "document_id": doc_id, "at": now()},
    )
    return int(revision)


def revision_of(connection: Connection, base_id: str) -> int:
    """The base's revision, 0 when there is no such base."""
    found = connection.execute(
        select(knowledge_bases.c.revision).where(knowledge_bases.c.id == base_id)
    ).scalar()
    return int(found or 0)


def changed_documents(connection: Connection, base_id: str, since: int) -> list[tuple[str, int, int]]:
    """The documents touched after revision `since`: id, latest revision, passages now; oldest first."""
    latest = func.max(changes.c.revision).label("latest")
    rows = connection.execute(
        select(
            changes.c.document_id, latest, func.coalesce(func.max(documents.c.chunk_count), 0).label("size")
        )
        .outerjoin(documents, documents.c.id == changes.c.document_id)
        .where(changes.c.knowledge_base_id == base_id, changes.c.revision > since)
        .group_by(changes.c.document_id)
        .order_by(latest)
    )
    return [(row.document_id, int(row.latest), int(row.size)) for row in rows]
