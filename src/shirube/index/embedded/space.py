"""One space on disk: its current generation of full text, its vectors, and how both keep up with the feed.

    <folder>/current.json     which generation is in use, and the layout and tokens it was made with
    <folder>/text-N/          Tantivy's files
    <folder>/vectors/NAME/    vectors of one model: vectors.json says which generation is in use, vectors-N/ its rows
    <folder>/*.lock           one writer at a time, in any process

Whatever is missing, damaged or made by another version is built anew from the feed.
"""

import hashlib
import json
import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from filelock import FileLock, Timeout
from sqlalchemy.exc import SQLAlchemyError

from shirube.errors import ShirubeError, Unavailable
from shirube.index.contract import (
    Embedded,
    Entry,
    Feed,
    Hits,
    Kind,
    Layout,
    Progress,
    Query,
    Similarity,
    Terms,
    Vectors,
    Weight,
)
from shirube.index.embedded.files import replace_text
from shirube.index.embedded.slices import applied
from shirube.index.embedded.text import TantivySpace
from shirube.index.embedded.vectors import UsearchSpace, stored_models
from shirube.query.filters import Filters
from shirube.text import synonyms
from shirube.text.tokenize import VERSION

log = logging.getLogger(__name__)
T = TypeVar("T")

_CURRENT = "current.json"
_VECTORS = "vectors"
_LOCK_SECONDS = 120
# What a search does itself before it answers: some tenths of a second of indexing, or the first build.
_QUICK = 300
_FIRST_SECONDS = 60


class EmbeddedSpace:
    """Search one space. Opening it is cheap; what has to be caught up with is caught up with on request."""

    def __init__(self, folder: Path, layout: Layout, feed: Feed) -> None:
        self.layout = layout
        self._folder = folder
        self._feed = feed
        self._guard = threading.RLock()
        folder.mkdir(parents=True, exist_ok=True)
        self._made_with = _made_with(layout)
        self._generation: str | None = None
        self._text: TantivySpace | None = None
        self._catching_up: threading.Thread | None = None
        self._vectors: dict[str, UsearchSpace] = {}

    # Reading

    @property
    def revision(self) -> int:
        with self._guard:
            return self._text.revision if self._text else 0

    def count(self) -> int:
        return self._reading(lambda text: text.count())

    def search(self, query: Query, weights: Mapping[str, Weight], filters: Filters, limit: int) -> Hits:
        return self._reading(lambda text: text.search(query, weights, filters, limit))

    def find(
        self, query: Query, weights: Mapping[str, Weight], filters: Filters, limit: int
    ) -> tuple[Hits, int]:
        return self._reading(lambda text: text.find(query, weights, filters, limit))

    def matches(self, query: Query, filters: Filters) -> int:
        return self._reading(lambda text: text.matches(query, filters))

    def facets(self, field: str, filters: Filters, limit: int) -> dict[str, int]:
        return self._reading(lambda text: text.facets(field, filters, limit))

    def rarity(self, tokens: Sequence[str], text: str, kind: Kind = "words") -> dict[str, float]:
        return self._reading(lambda space: space.rarity(tokens, text, kind))

    def terms(self, keys: Sequence[int]) -> Terms:
        return self._reading(lambda text: text.terms(keys))

    def search_vectors(self, model: str, vector: Vectors, filters: Filters, limit: int) -> Hits:
        return self.vectors(model).search(vector, filters, limit)

    def similarity(self, model: str, vectors: Vectors, keys: Sequence[int]) -> Similarity:
        return self.vectors(model).similarity(vectors, keys)

    def has_vectors(self, model: str) -> bool:
        return len(self.vectors(model).rows) > 0

    def vectors_current(self, model: str) -> bool:
        """Whether every entry at the text's revision has a vector of this model."""
        return self.vectors(model).revision == self.revision

    def vectors_complete(self, model: str) -> bool:
        """Whether, at some revision, every entry had a vector of this model."""
        return self.vectors(model).revision is not None

    def vectors(self, model: str) -> UsearchSpace:
        with self._guard:
            if model not in self._vectors:
                name = hashlib.sha256(model.encode()).hexdigest()[:16]
                self._vectors[model] = UsearchSpace(self._folder / _VECTORS / name, self.layout)
            return self._vectors[model]

    def held_models(self) -> dict[str, str]:
        """The models whose vectors are here, and the settings that name them."""
        return stored_models(self._folder / _VECTORS)

    # Keeping up

    def refresh(self) -> bool:
        """See what other processes wrote. Whether the text now holds everything in the feed."""
        with self._guard:
            for vectors in self._vectors.values():
                vectors.reload()
            if not self._open():
                return False
            assert self._text is not None
            wanted = self._feed.revision()
            if self._text.revision != wanted and not self._reloaded():
                return False
            return self._text.revision == wanted

    def catch_up(self, progress: Progress | None = None, *, wait: float = _LOCK_SECONDS) -> bool:
        """Bring the text up to the feed's revision; False when another process is at it for longer than `wait`."""
        if self.refresh() and self._whole():
            return True
        with self._writing("text.lock", wait) as held:
            if not held:
                return False
            if not (self._open() and self._whole() and self._applied(progress)):
                self._start_afresh(progress)
        return True

    def catch_up_soon(self) -> bool:
        """Catch up at once where that is quick or there is nothing to answer from yet, else in the background.

        Whether the text now holds everything in the feed.
        """
        pending = sum(change.entries for change in self._feed.changes(self.revision))
        if not self.revision:
            return self.catch_up(wait=_FIRST_SECONDS)
        if pending <= _QUICK:
            return self.catch_up(wait=0)
        with self._guard:
            if self._catching_up is None or not self._catching_up.is_alive():
                self._catching_up = threading.Thread(target=self._try_catch_up, name="catch up", daemon=True)
                self._catching_up.start()
        return False

    def _try_catch_up(self) -> None:
        try:
            self.catch_up(wait=0)
        except Exception:
            log.warning("the index could not catch up", exc_info=True)

    def rebuild(self, progress: Progress | None = None, *, damaged: TantivySpace | None = None) -> None:
        """Build the text anew beside the one in use, then put it in its place; not if `damaged` is no longer in use."""
        with self._writing("text.lock", _LOCK_SECONDS) as held:
            if not held:
                raise Unavailable(
                    "Another process is writing this index",
                    "別のプロセスがこの索引に書き込んでいます。",
                    hint="終わってからもう一度実行してください。 Try again when it has finished.",
                )
            if damaged is None or self._text is damaged:
                self._start_afresh(progress)

    def missing_vectors(self, model: str) -> list[int]:
        """The keys of entries that have no vector of this model yet."""
        vectors = self.vectors(model)
        vectors.reload()
        return [int(key) for key in np.setdiff1d(np.array(self._feed.keys(), np.uint64), vectors.keys())]

    def feed_revision(self) -> int:
        return self._feed.revision()

    def entries(self, keys: Sequence[int]) -> Iterator[Entry]:
        return self._feed.entries_by_key(keys)

    def add_vectors(
        self,
        model: str,
        keys: Sequence[int],
        embedded: Embedded,
        *,
        setting: str = "",
        revision: int | None = None,
    ) -> None:
        """Save the vectors of these entries; vectors of entries that are gone go.

        `revision` says that with these, every entry at that revision has one: the vectors of other models, which
        searches were answered from until now, are then deleted. `setting` names the model to whoever may need it.
        """
        with self._writing("vectors.lock", _LOCK_SECONDS) as held:
            if not held:
                raise Unavailable(
                    "Another process is writing the vectors", "別のプロセスがベクトルを書き込んでいます。"
                )
            vectors = self.vectors(model)
            vectors.reload()
            order = {key: row for row, key in enumerate(keys)}
            entries = list(self._feed.entries_by_key(list(keys)))
            old = vectors.keys()
            kept = np.isin(old, np.array(self._feed.keys(), np.uint64)) & ~np.isin(
                old, np.array(keys, np.uint64)
            )
            rows = embedded.rows([order[entry.key] for entry in entries])
            vectors.save(model, kept, entries, rows, setting=setting, revision=revision)
            if revision is not None:
                self._drop_vectors(model)

    def _drop_vectors(self, kept: str) -> None:
        """Delete the vectors of all models but one."""
        mine = self.vectors(kept).folder
        for folder in (self._folder / _VECTORS).iterdir():
            if folder != mine:
                shutil.rmtree(folder, ignore_errors=True)
        with self._guard:
            self._vectors = {kept: self._vectors[kept]}

    def remove(self) -> None:
        """Delete everything on disk."""
        with self._guard:
            self._text = None
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._folder.exists():
            raise Unavailable(
                "The index folder could not be deleted",
                "索引のフォルダーを削除できませんでした。",
                hint=f"手動で削除してください。 Delete it by hand: {self._folder.name}",
            )

    # Within

    def _reading(self, read: Callable[[TantivySpace], T]) -> T:
        """Read from the text; what turns out damaged is built anew, once."""
        with self._guard:
            there = self._text is not None or self._open()
        if not there:
            self.catch_up()  # outside the guard: whoever builds the index needs it to put it in place
        with self._guard:
            text = self._text
        if text is None:
            raise Unavailable(
                "This index is being built for the first time",
                "この索引は初回の作成中です。",
                hint="少し待ってからもう一度実行してください。 Try again in a moment.",
            )
        try:
            return read(text)
        except ShirubeError:
            raise
        except Exception as error:
            log.warning("the index cannot be read and is built anew: %s", error)
        except BaseException as error:
            if not _is_panic(error):
                raise
            log.warning("the index is damaged and is built anew")
        self.rebuild(damaged=text)
        with self._guard:
            text = self._text
        assert text is not None
        return read(text)

    def _open(self) -> bool:
        """Open the generation in use; False when there is none that this version can read."""
        try:
            current = json.loads((self._folder / _CURRENT).read_text())
        except (OSError, ValueError):
            return False
        if not isinstance(current, dict) or current.get("made_with") != self._made_with:
            return False
        if self._text is not None and self._generation == current["generation"]:
            return True
        folder = self._folder / current["generation"]
        if not folder.is_dir():
            return False
        text = _opened(folder, self.layout)
        if text is None:
            return False
        self._text, self._generation = text, current["generation"]
        return True

    def _reloaded(self) -> bool:
        """See what was committed since; False when it cannot be read, and what was read before stays."""
        assert self._text is not None
        try:
            self._text.reload()
        except Exception as error:
            log.warning("the index cannot be read: %s", error)
            return False
        except BaseException as error:
            if not _is_panic(error):
                raise
            return False
        return True

    def _whole(self) -> bool:
        """At the feed's own revision the counts must agree; a difference means lost or foreign entries."""
        assert self._text is not None
        revision = self._feed.revision()
        if self._text.revision != revision:
            return self._text.revision < revision
        agree = self._text.count() == self._feed.count()
        return agree or self._feed.revision() != revision

    def _applied(self, progress: Progress | None) -> bool:
        """Bring the open generation up to date; False when it cannot be written to."""
        assert self._text is not None
        try:
            for _ in applied(self._text, self._feed, progress):
                pass
        except (ShirubeError, SQLAlchemyError, OSError):
            raise
        except Exception as error:
            log.warning("the index cannot be written and is built anew: %s", error)
            return False
        if not self._whole():
            log.warning("the index does not hold what it should and is built anew")
            return False
        return True

    def _start_afresh(self, progress: Progress | None) -> None:
        old = [each for each in self._folder.glob("text-*") if each.is_dir()]
        number = max((int(each.name.rpartition("-")[2]) for each in old), default=0) + 1
        folder = self._folder / f"text-{number}"
        text = TantivySpace(folder, self.layout)
        in_place = False
        for _ in applied(text, self._feed, progress):
            # A first build is searchable while it grows; a rebuild takes over only when it is complete.
            if not in_place and self._text is None:
                self._put_in_place(folder, text)
                in_place = True
        if not in_place:
            self._put_in_place(folder, text)
        for each in old:
            shutil.rmtree(each, ignore_errors=True)

    def _put_in_place(self, folder: Path, text: TantivySpace) -> None:
        current = {"generation": folder.name, "made_with": self._made_with}
        replace_text(self._folder / _CURRENT, json.dumps(current))
        with self._guard:
            self._text, self._generation = text, folder.name

    @contextmanager
    def _writing(self, name: str, wait: float) -> Iterator[bool]:
        lock = FileLock(self._folder / name)
        try:
            lock.acquire(timeout=wait)
        except Timeout:
            yield False
            return
        except OSError as error:
            raise Unavailable(
                "The index folder cannot be written to",
                "索引のフォルダーに書き込めません。",
                hint="権限と空き容量を確認してください。 Check permissions and disk space.",
            ) from error
        try:
            yield True
        finally:
            lock.release()


def _opened(folder: Path, layout: Layout) -> TantivySpace | None:
    try:
        return TantivySpace(folder, layout)
    except Exception as error:
        log.warning("the index cannot be opened: %s", error)
        return None
    except BaseException as error:
        if not _is_panic(error):
            raise
        return None


def _is_panic(error: BaseException) -> bool:
    """Tantivy's own panics come through as a BaseException of that name."""
    return type(error).__name__ == "PanicException"


def _made_with(layout: Layout) -> dict[str, Any]:
    made = {"layout": asdict(layout), "tokens": VERSION, "synonyms": synonyms.fingerprint()}
    made["engines"] = {name: version(name) for name in ("tantivy", "sudachipy", "sudachidict-core")}
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]
