"""What a knowledge base's index is made from: its passages, with the document's title and headings."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from shirube.index.contract import Entry, Layout, Weight
from shirube.ingest.feed import PassageFeed
from shirube.store.database import Database
from shirube.store.passages import StoredPassage

LAYOUT = Layout(texts=("title", "body"), keywords=("collection", "department"), numbers=("confidentiality",))
TITLE = "title"
BODY = "body"
# Learned: benchmarks/fit_weights.py finds them.
WEIGHTS = {"title": Weight(0.5, 0.2), "body": Weight(1.0, 0.3)}
# Stands for "every department", so that a filter can ask for it.
NO_DEPARTMENT = "-"


class KnowledgeFeed(PassageFeed):
    def __init__(self, database: Database, base_id: str) -> None:
        super().__init__(database, base_id, _entries)


def _entries(_connection: Connection, found: Sequence[StoredPassage]) -> Iterable[Entry]:
    return map(entry, found)


def entry(passage: StoredPassage) -> Entry:
    headings = [name for name in passage.heading_path if name != passage.document_title]
    columns = [" ".join(passage.columns)] if passage.columns else []
    # A heading is often the question that the text below answers: it is searched as part of the text.
    return Entry(
        key=passage.id,
        group=passage.document_id,
        texts={"title": passage.document_title, "body": "\n".join([*headings, *columns, passage.text])},
        keywords={
            "collection": [passage.collection_id],
            "department": [passage.department or NO_DEPARTMENT],
        },
        numbers={"confidentiality": passage.confidentiality},
    )
