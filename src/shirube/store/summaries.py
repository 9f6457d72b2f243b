"""What a collection's summary is made from, and the summary itself, with the revision that it was made at."""

from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, func, or_, select, update

from shirube.caller import Confidentiality
from shirube.store.tables import collections, documents, passages

# A summary is made from what everybody with this clearance may see: it must not tell others of more.
SUMMARISED = Confidentiality.internal


@dataclass(frozen=True)
class Unsummarised:
    """A collection whose documents changed since its summary was made, or whose vector another model made."""

    id: str
    name: str
    description: str
    revision: int


class Opening(NamedTuple):
    """How a document begins."""

    title: str
    heading_path: tuple[str, ...]
    text: str


class Summary(NamedTuple):
    """A collection with the vector of its summary, where it has one by this model that is not out of date."""

    collection_id: str
    vector: bytes | None


def unsummarised(connection: Connection, base_id: str, model: str) -> list[Unsummarised]:
    rows = connection.execute(
        select(collections).where(
            collections.c.knowledge_base_id == base_id,
            or_(
                collections.c.summary_revision != collections.c.revision, collections.c.summary_model != model
            ),
        )
    )
    return [Unsummarised(row.id, row.name, row.description, row.revision) for row in rows]


def openings(connection: Connection, collection_id: str, limit: int) -> list[Opening]:
    """The beginnings of some of its documents: the first by their ids, which say nothing of what is in them.

    Only of those that are open to every department.
    """
    rows = connection.execute(
        select(documents.c.title, passages.c.heading_path, passages.c.text)
        .join(passages, passages.c.document_id == documents.c.id)
        .where(
            documents.c.collection_id == collection_id,
            documents.c.department.is_(None),
            documents.c.confidentiality <= int(SUMMARISED),
            passages.c.chunk_index == 0,
        )
        .order_by(documents.c.id)
        .limit(limit)
    )
    return [Opening(row.title, tuple(row.heading_path), row.text) for row in rows]


def save_summary(
    connection: Connection, made_for: Unsummarised, text: str, model: str, vector: bytes | None
) -> None:
    connection.execute(
        update(collections)
        .where(collections.c.id == made_for.id)
        .values(summary=text, summary_revision=made_for.revision, summary_model=model, summary_vector=vector)
    )


def count_collections(connection: Connection, base_id: str) -> int:
    of_base = collections.c.knowledge_base_id == base_id
    return int(connection.execute(select(func.count()).where(of_base)).scalar_one())


def summaries(connection: Connection, base_id: str, model: str) -> list[Summary]:
    """Every collection of the base."""
    rows = connection.execute(select(collections).where(collections.c.knowledge_base_id == base_id))
    return [
        Summary(
            row.id,
            row.summary_vector
            if (row.summary_revision, row.summary_model) == (row.revision, model)
            else None,
        )
        for row in rows
    ]
