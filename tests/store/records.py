"""Small documents for the tests of the store and of what stands on it."""

from sqlalchemy import Connection, insert

from shirube.caller import Caller, Confidentiality
from shirube.store import bases, documents
from shirube.store.bases import DEFAULT_COLLECTION, KnowledgeBase
from shirube.store.documents import Document, Passage
from shirube.store.tables import members


def document(
    source: str,
    *texts: str,
    title: str | None = None,
    department: str | None = None,
    confidentiality: Confidentiality = Confidentiality.internal,
) -> Document:
    """A document of these passages, one a line, with their true spans."""
    passages = []
    start = 0
    for text in texts:
        passages.append(Passage(text, start, start + len(text)))
        start += len(text) + 1
    whole = "\n".join(texts)
    return Document(
        source=source,
        filename=source,
        title=title or source,
        text=whole,
        content_hash=str(hash(whole)),
        passages=tuple(passages),
        department=department,
        confidentiality=confidentiality,
    )


def put(
    connection: Connection, base: KnowledgeBase, *wanted: Document, collection: str = DEFAULT_COLLECTION
) -> list[int]:
    """Put the documents into the base; the ids of all their passages."""
    collection_id = bases.open_collection(connection, base, collection)
    ids: list[int] = []
    for each in wanted:
        ids += documents.put_document(connection, base.id, collection_id, each)
    return ids


def remove(
    connection: Connection, base: KnowledgeBase, source: str, collection: str = DEFAULT_COLLECTION
) -> bool:
    collection_id = bases.open_collection(connection, base, collection)
    return documents.remove_document(connection, base.id, collection_id, source)


def document_id(
    connection: Connection, base: KnowledgeBase, source: str, collection: str = DEFAULT_COLLECTION
) -> str:
    return documents.document_id(base.id, bases.open_collection(connection, base, collection), source)


def join(connection: Connection, base: KnowledgeBase, caller: Caller) -> None:
    """Make the caller a member of the base."""
    connection.execute(insert(members).values(knowledge_base_id=base.id, subject=caller.subject))
