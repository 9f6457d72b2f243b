"""What a knowledge base's index is made from: its passages, with the document's title and headings."""

from collections.abc import Iterator, Sequence

from shirube.index.contract import Change, Entry, Layout, Weight
from shirube.store import changes, passages
from shirube.store.database import Database
from shirube.store.passages import StoredPassage

LAYOUT = Layout(texts=("title", "body"), keywords=("collection", "department"), numbers=("confidentiality",))
TITLE = "title"
BODY = "body"
# Learned: benchmarks/fit_weights.py finds them.
WEIGHTS = {"title": Weight(0.5, 0.2), "body": Weight(1.0, 0.3)}
# Stands for "every department", so that a filter can ask for it.
NO_DEPARTMENT = "-"


class KnowledgeFeed:
    """The passages of one knowledge base. It reads for the index, not for a caller: results are checked again."""

    def __init__(self, database: Database, base_id: str) -> None:
        self._database = database
        self._base_id = base_id

    def revision(self) -> int:
        with self._database.read() as connection:
            return changes.revision_of(connection, self._base_id)

    def count(self) -> int:
        with self._database.read() as connection:
            return passages.count_passages(connection, self._base_id)

    def keys(self) -> Sequence[int]:
        with self._database.read() as connection:
            return passages.passage_ids(connection, self._base_id)

    def changes(self, since: int) -> Sequence[Change]:
        with self._database.read() as connection:
            found = changes.changed_documents(connection, self._base_id, since)
        return [Change(*each) for each in found]

    def entries(self, groups: Sequence[str]) -> Iterator[Entry]:
        for start in range(0, len(groups), 100):
            with self._database.read() as connection:
                yield from map(entry, list(passages.passages_of(connection, groups[start : start + 100])))

    def entries_by_key(self, keys: Sequence[int]) -> Iterator[Entry]:
        with self._database.read() as connection:
            yield from map(entry, passages.passages_by_id(connection, keys))


def entry(passage: StoredPassage) -> Entry:
    headings = [name for name in passage.heading_path if name != passage.document_title]
    # A heading is often the question that the text below answers: it is searched as part of the text.
    return Entry(
        key=passage.id,
        group=passage.document_id,
        texts={"title": passage.document_title, "body": "\n".join([*headings, passage.text])},
        keywords={
            "collection": [passage.collection_id],
            "department": [passage.department or NO_DEPARTMENT],
        },
        numbers={"confidentiality": passage.confidentiality},
    )
