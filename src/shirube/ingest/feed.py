"""What an index is made from: the passages of a base as entries, and its change log."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from sqlalchemy import Connection

from shirube.index.contract import Change, Entry
from shirube.store import changes, passages
from shirube.store.database import Database
from shirube.store.passages import StoredPassage

# Makes entries of passages, as a toolset sees them.
Entries = Callable[[Connection, Sequence[StoredPassage]], Iterable[Entry]]
_DOCUMENTS = 100


class PassageFeed:
    """The passages of one base. It reads for the index, not for a caller: results are checked again."""

    def __init__(self, database: Database, base_id: str, entries: Entries) -> None:
        self._database = database
        self._base_id = base_id
        self._entries = entries

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
        for start in range(0, len(groups), _DOCUMENTS):
            with self._database.read() as connection:
                held = list(passages.passages_of(connection, groups[start : start + _DOCUMENTS]))
                made = list(self._entries(connection, held))
            yield from made

    def entries_by_key(self, keys: Sequence[int]) -> Iterator[Entry]:
        with self._database.read() as connection:
            yield from self._entries(connection, list(passages.passages_by_id(connection, keys)))
