"""A folder of pages in use: its store, its index and its graph, each brought up to the one before it.

folder ─ sync ─ store ─┬─ text index, vectors
                       └─ graph in memory
"""

import logging
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from shirube.caller import LOCAL
from shirube.index.contract import Progress
from shirube.index.embedded.space import EmbeddedSpace
from shirube.ingest.embedding import embed_missing
from shirube.ingest.indexing import Indexing
from shirube.models.contract import Embedder
from shirube.store import bases, changes, pages
from shirube.store.database import Database, open_database
from shirube.store.pages import StoredPage
from shirube.store.passages import passages_by_id
from shirube.text.invisible import visible
from shirube.toolsets.pages.feed import BODY, LAYOUT, TITLE, PagesFeed, shown_text
from shirube.toolsets.pages.folder import Folder, open_folder, prepare_state
from shirube.toolsets.pages.graph import Graph
from shirube.toolsets.pages.staleness import Sources, Staleness
from shirube.toolsets.pages.sync import Place, Report, sync
from shirube.toolsets.pages.vocabulary import Vocabulary
from shirube.toolsets.pages.watch import Watcher

log = logging.getLogger(__name__)

SUMMARY = 500
# The same everywhere, so that a page has one id in every copy of its folder.
_BASE, _COLLECTION = (
    str(uuid.uuid5(uuid.NAMESPACE_URL, f"shirube:pages/{name}")) for name in ("base", "collection")
)
# Reading Markdown keeps one core busy, so the other begins soon to index what was read.
_EVERY = 6000
# A caller waits so long for the first reading of a folder; what is there by then answers.
_FIRST_SECONDS = 10.0
# So many sections are embedded at once for a single call, some seconds; more are left to whoever serves the folder.
_AT_ONCE = 2000


class Site:
    def __init__(self, docs: Path) -> None:
        self.folder: Folder = open_folder(docs)
        self.place = Place(_BASE, _COLLECTION)
        self.sources = Sources(self.folder)
        self.refused: dict[str, str] = {}
        self._guard = threading.RLock()
        self._database: Database | None = None
        self._space: EmbeddedSpace | None = None
        self._syncing = threading.Lock()
        self._graph = Graph()
        self._owners: dict[int, str] = {}
        self._sections: dict[str, list[int]] = {}
        self._revision = 0
        self._vocabulary: Vocabulary | None = None
        self._watcher: Watcher | None = None
        self._is_read = False

    @property
    def database(self) -> Database:
        with self._guard:
            if self._database is None:
                self._database = self._opened()
            return self._database

    def _opened(self) -> Database:
        database = open_database(f"sqlite:///{prepare_state(self.folder) / 'pages.db'}")
        with database.write() as connection:
            base = bases.find_base(connection, LOCAL, "pages") or bases.create_base(
                connection, LOCAL, "pages", base_id=_BASE
            )
            bases.open_collection(connection, base, "pages", _COLLECTION)
        return database

    @property
    def space(self) -> EmbeddedSpace:
        with self._guard:
            if self._space is None:
                feed = PagesFeed(self.database, self.place.base_id)
                self._space = EmbeddedSpace(self.folder.state / "index", LAYOUT, feed)
            return self._space

    # Keeping up

    def read(self, progress: Callable[[int, int], None] | None = None) -> Report:
        """Bring store and text index up to the folder."""
        with self._syncing:
            space = self.space
            with Indexing(space, _EVERY) as indexing:

                def stored(done: int, total: int, report: Report) -> None:
                    indexing.stored(report.passages)
                    if progress:
                        progress(done, total)

                report = sync(self.database, self.folder, self.place, self.sources, stored)
                if report.moved:
                    self.database.flush()
                indexing.finish()
            self.refused = report.refused
            with self._guard:
                self._is_read = True
                self._catch_up(report.touched)
        return report

    def embed(self, embedder: Embedder | None, progress: Progress | None = None, *, workers: int = 2) -> int:
        """Give every section its vector."""
        if embedder is None or (self.space.refresh() and self.space.vectors_current(embedder.name)):
            return 0
        return embed_missing(self.space, embedder, BODY, TITLE, progress, workers=workers)

    def embed_few(self, embedder: Embedder | None) -> None:
        """Give every section its vector if that takes no more than some seconds."""
        if embedder and len(self.space.missing_vectors(embedder.name)) <= _AT_ONCE:
            self.embed(embedder)

    def follow(self, embedder: Callable[[], Embedder | None]) -> None:
        """From now on keep up with the folder in the background."""
        with self._guard:
            if self._watcher is None:
                self._watcher = Watcher(
                    self.folder.docs,
                    self._read_again,
                    lambda: self._complete(embedder()),
                )
                self._watcher.start()

    def _read_again(self) -> None:
        self.read()

    def _complete(self, embedder: Embedder | None) -> None:
        self.check_sources()
        self.learn_words()
        self.embed(embedder, workers=1)

    def check_sources(self) -> None:
        """Look at the sources of all pages, so that nobody has to wait for it."""
        with self.database.read() as connection:
            ids = pages.pages_with_sources(connection, self.place.base_id)
        with self.graph() as graph:
            named = [graph.pages[each] for each in ids if each in graph.pages]
        self.staleness(named)

    def close(self) -> None:
        if self._watcher:
            self._watcher.stop()

    def make_current(self, embedder: Callable[[], Embedder | None]) -> None:
        """For a call: wait for the first reading where the folder is followed, else read it now."""
        if self._watcher:
            self._watcher.ready.wait(_FIRST_SECONDS)
            return
        if not self._is_read:
            self.read()
            self.embed_few(embedder())

    # Looking

    @contextmanager
    def graph(self) -> Iterator[Graph]:
        """The pages and their links as the store has them now; nobody changes them meanwhile."""
        with self._guard:
            self._catch_up()
            yield self._graph

    def owner(self, section: int) -> str:
        """The page of a section; "" where it is gone."""
        return self._owners.get(section, "")

    def sections(self, page_id: str) -> Sequence[int]:
        return self._sections.get(page_id, ())

    def learn_words(self) -> None:
        """Know the Latin words of all pages from now on: parts of words are then found at once."""
        with self._guard:
            if self._vocabulary is not None:
                return
            self._catch_up()
            sections = list(self._owners)
        words = Vocabulary()
        self._learn(words, sections)
        with self._guard:
            self._learn(words, list(self._owners.keys() - set(sections)))  # what has come meanwhile
            self._vocabulary = words

    def words_holding(self, letters: str) -> tuple[str, ...] | None:
        """The words of the pages that hold these Latin letters; None where they are not known, or are many."""
        return self._vocabulary.holding(letters) if self._vocabulary else None

    def _learn(self, words: Vocabulary, sections: Sequence[int]) -> None:
        with self.database.read() as connection:
            words.add(shown_text(each) for each in passages_by_id(connection, sections))

    def summaries(self, page_ids: Sequence[str]) -> dict[str, str]:
        """The first characters of each page's body."""
        with self.database.read() as connection:
            first = pages.beginnings(connection, page_ids, SUMMARY * 2)
        return {page_id: visible(text).strip()[:SUMMARY] for page_id, text in first.items()}

    def staleness(self, chosen: Sequence[StoredPage]) -> dict[str, Staleness]:
        """How these pages stand to their sources now."""
        with self.database.read() as connection:
            noted = pages.sources_of(connection, [page.id for page in chosen])
        return {
            page.id: self.sources.check(page.filepath, page.mtime_ns, noted.get(page.id, ()))
            for page in chosen
        }

    def _catch_up(self, touched: Sequence[str] = ()) -> None:
        """Let the graph see what changed in the store since, by this process or another."""
        with self.database.read() as connection:
            revision = changes.revision_of(connection, self.place.base_id)
            ids: list[str] = []
            if revision == self._revision and not touched:
                return
            if self._revision == 0:
                self._graph.update(pages.all_pages(connection, self.place.base_id))
                self._own(pages.sections_of(connection, self.place.base_id))
            else:
                changed = changes.changed_documents(connection, self.place.base_id, self._revision)
                ids = list({*(each[0] for each in changed), *map(self.place.id_of, touched)})
                held = list(pages.pages_by_id(connection, ids))
                self._graph.update(held, removed=set(ids) - {page.id for page in held})
                for page_id in ids:
                    for section in self._sections.pop(page_id, ()):
                        self._owners.pop(section, None)
                self._own(pages.sections_of(connection, self.place.base_id, ids))
        self._revision = revision
        if self._vocabulary and ids:
            self._learn(self._vocabulary, [section for page_id in ids for section in self.sections(page_id)])

    def _own(self, sections: Iterator[tuple[int, str]]) -> None:
        for section, page_id in sections:
            self._owners[section] = page_id
            self._sections.setdefault(page_id, []).append(section)
