"""What one process shares: the database, the models, the indexes. Each is opened when it is first needed."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from filelock import FileLock, Timeout

from shirube.index.contract import Feed, Layout
from shirube.index.embedded.space import EmbeddedSpace
from shirube.models import registry
from shirube.models.contract import Embedder, Generator, Reranker
from shirube.models.ranker.reranker import LearnedReranker
from shirube.retrieval.calibration import Calibration, Standing, Uncalibrated, saved
from shirube.settings import Settings
from shirube.store.database import Database, open_database
from shirube.store.journal import Journal

_EMBEDDING = "embedding.lock"


class Workspace:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._spaces: dict[str, EmbeddedSpace] = {}
        self._embedders: dict[str, Embedder | None] = {}
        self._guard = threading.RLock()

    @cached_property
    def database(self) -> Database:
        with self._guard:
            return open_database(self.settings.database_url)

    @cached_property
    def journal(self) -> Journal:
        return Journal(lambda: self.database)

    @property
    def embedder(self) -> Embedder | None:
        return self.embedder_of(self.settings.embedder)

    def embedder_of(self, setting: str) -> Embedder | None:
        """The embedder of a setting: the one in use, or one whose vectors are still searched."""
        with self._guard:
            if setting not in self._embedders:
                self._embedders[setting] = registry.embedder(setting)
            return self._embedders[setting]

    @cached_property
    def reranker(self) -> Reranker | None:
        return registry.reranker(self.settings.reranker)

    @cached_property
    def generator(self) -> Generator | None:
        return registry.generator(self.settings.llm)

    @cached_property
    def calibration(self) -> Calibration:
        """The map fitted for the re-ranker in use: one that was fitted here, else the one it came with."""
        if self.reranker and (fitted := saved(self.settings.calibrations, self.reranker.name)):
            return fitted
        if isinstance(self.reranker, LearnedReranker):
            return Standing(*self.reranker.calibration)
        return Uncalibrated()

    def space(self, name: str, layout: Layout, feed: Feed) -> EmbeddedSpace:
        """The index of one space; the same object for every caller in this process."""
        with self._guard:
            if name not in self._spaces:
                self._spaces[name] = EmbeddedSpace(self.space_folder(name), layout, feed)
            return self._spaces[name]

    @contextmanager
    def embedding(self) -> Iterator[bool]:
        """While inside, other processes over this folder leave making vectors to this one; False if one has begun."""
        self.settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(self.settings.home / _EMBEDDING)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def drop_space(self, name: str) -> None:
        with self._guard:
            space = self._spaces.pop(name, None)
        if space:
            space.remove()

    def space_folder(self, name: str) -> Path:
        return self.settings.index_folder / name
