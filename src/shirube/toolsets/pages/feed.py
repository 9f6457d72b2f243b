"""What the index of a folder of pages is made from: their sections."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection

from shirube.index.contract import Entry, Layout, Weight
from shirube.ingest.feed import PassageFeed
from shirube.store.database import Database
from shirube.store.pages import doc_types
from shirube.store.passages import StoredPassage
from shirube.text.invisible import visible

LAYOUT = Layout(texts=("title", "body"), keywords=("doc_type",), phrases=True)
TITLE = "title"
BODY = "body"
# As for knowledge bases, where they were learned.
WEIGHTS = {"title": Weight(0.5, 0.2), "body": Weight(1.0, 0.3)}
# A sequence of characters is looked for in what a section shows.
SHOWN = {"title": Weight(0.0, 0.0), "body": Weight(1.0, 1.0)}


class PagesFeed(PassageFeed):
    def __init__(self, database: Database, base_id: str) -> None:
        super().__init__(database, base_id, _entries)


def _entries(connection: Connection, found: Sequence[StoredPassage]) -> Iterator[Entry]:
    kinds = doc_types(connection, {passage.document_id for passage in found})
    for passage in found:
        yield Entry(
            key=passage.id,
            group=passage.document_id,
            texts={"title": passage.document_title, "body": shown_text(passage)},
            keywords={"doc_type": [kinds.get(passage.document_id, "other")]},
        )


def shown_text(passage: StoredPassage) -> str:
    """What a section is searched by: its text, the heading it stands under, and in a page's first section the title."""
    above = passage.heading_path[:1] if len(passage.heading_path) > 1 else ()
    named = (passage.document_title,) if passage.chunk_index == 0 else ()
    return "\n".join([*(name for name in (*named, *above) if name not in passage.text), passage.text])


def heading_of(passage: StoredPassage) -> str | None:
    """The heading that a section stands under; None above the first one."""
    return visible(passage.heading_path[-1]) if passage.heading_path else None
