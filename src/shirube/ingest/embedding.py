"""The second phase of taking documents in: vectors for passages that are searchable by text already."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Protocol

import numpy as np

from shirube.index.contract import Embedded, Entry, Progress, Vectors
from shirube.models.contract import Embedder, WindowEmbedder
from shirube.text.sentences import sentences

WORKERS = 2
_BATCH = 128
# What is not saved yet an interruption costs. Each save writes all vectors anew, so it must not come too often, nor
# take more than a small part of the time.
_SAVE_SECONDS = 60
_SAVE_SHARE = 0.1
# A window holds whole sentences and at least so many characters: less says too little to have a direction.
WINDOW = 40


class Vectorless(Protocol):
    """A space that knows which of its entries have no vector yet."""

    def missing_vectors(self, model: str) -> list[int]: ...

    def entries(self, keys: Sequence[int]) -> Iterator[Entry]: ...

    def feed_revision(self) -> int: ...

    def vectors_current(self, model: str) -> bool: ...

    def add_vectors(
        self,
        model: str,
        keys: Sequence[int],
        embedded: Embedded,
        *,
        setting: str = "",
        revision: int | None = None,
    ) -> None: ...


def embed_missing(
    space: Vectorless,
    embedder: Embedder,
    text: str,
    title: str | None = None,
    progress: Progress | None = None,
    *,
    workers: int = WORKERS,
) -> int:
    """Embed the field `text` (and `title`) of every entry without a vector of this model; how many were done.

    What is saved stays: interrupted, the next call goes on from there.
    """
    revision = space.feed_revision()
    missing = space.missing_vectors(embedder.name)
    keys: list[int] = []
    parts: list[Embedded] = []
    done = 0
    saved, pause = time.monotonic(), float(_SAVE_SECONDS)
    batches = (missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH))

    def embed(wanted: Sequence[int]) -> tuple[list[int], Embedded]:
        found = list(space.entries(wanted))
        bodies = [entry.texts[text] for entry in found]
        titles = [entry.texts[title] for entry in found] if title else None
        return [entry.key for entry in found], embed_texts(embedder, bodies, titles)

    for batch_keys, vectors in _in_order(embed, batches, workers):
        if not batch_keys:
            continue
        keys += batch_keys
        parts.append(vectors)
        done += len(batch_keys)
        if progress:
            progress(done, len(missing))
        if (begun := time.monotonic()) - saved > pause:
            space.add_vectors(embedder.name, keys, Embedded.joined(parts), setting=embedder.setting)
            keys, parts, saved = [], [], time.monotonic()
            pause = max(_SAVE_SECONDS, (saved - begun) / _SAVE_SHARE)
    if keys or not space.vectors_current(embedder.name):
        rest = Embedded.joined(parts) if parts else Embedded.of_whole(np.zeros((0, 1), np.float32))
        space.add_vectors(embedder.name, keys, rest, setting=embedder.setting, revision=revision)
    return done


def _in_order(
    work: Callable[[Sequence[int]], tuple[list[int], Embedded]],
    batches: Iterator[Sequence[int]],
    workers: int,
) -> Iterator[tuple[list[int], Embedded]]:
    """The results of the batches in their order, a few ahead of whoever takes them; one worker is the caller itself."""
    if workers == 1:
        yield from map(work, batches)
        return
    waiting: deque[Future[tuple[list[int], Embedded]]] = deque()
    with ThreadPoolExecutor(workers, "embed") as pool:
        try:
            while True:
                for batch in islice(batches, workers * 2 - len(waiting)):
                    waiting.append(pool.submit(work, batch))
                if not waiting:
                    return
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def embed_texts(embedder: Embedder, texts: Sequence[str], titles: Sequence[str] | None = None) -> Embedded:
    """Vectors of texts, of their windows where the embedder gives them cheaply, and of their titles."""
    if not isinstance(embedder, WindowEmbedder):
        return Embedded.of_whole(embedder.embed(texts))
    windows = [windows_of(text) for text in texts]
    whole, parts = embedder.embed_windows(windows)
    counts = np.array([len(each) for each in windows], np.int64)
    # A text of one window is that window: one vector says both.
    several = np.repeat(counts > 1, counts)
    return Embedded(whole, parts[several], np.where(counts > 1, counts, 0), _title_vectors(embedder, titles))


def windows_of(text: str) -> list[str]:
    """The text in consecutive windows of whole sentences; white space alone is one window."""
    windows: list[str] = []
    begun = ""
    for start, end in sentences(text):
        begun += text[start:end]
        if len(begun.strip()) >= WINDOW:
            windows.append(begun)
            begun = ""
    if begun and windows:
        windows[-1] += begun
    elif begun or not windows:
        windows.append(begun)
    return windows


def _title_vectors(embedder: Embedder, titles: Sequence[str] | None) -> Vectors | None:
    """Each distinct title is embedded once; one without letters has no direction."""
    if titles is None:
        return None
    distinct = list(dict.fromkeys(titles))
    vectors = embedder.embed(distinct)
    vectors[[row for row, title in enumerate(distinct) if not title.strip()]] = 0
    row_of = {title: row for row, title in enumerate(distinct)}
    return vectors[[row_of[title] for title in titles]]
