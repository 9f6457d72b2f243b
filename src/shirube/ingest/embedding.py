"""The second phase of taking documents in: vectors for passages that are searchable by text already."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from shirube.index.contract import Entry, Progress, Vectors
from shirube.models.contract import Embedder

WORKERS = 2
_BATCH = 64
# Work that an interruption may cost. Each save writes all vectors anew, so it must not come too often.
_SAVE_SECONDS = 60


class Vectorless(Protocol):
    """A space that knows which of its entries have no vector yet."""

    def missing_vectors(self, model: str) -> list[int]: ...

    def entries(self, keys: Sequence[int]) -> Iterator[Entry]: ...

    def feed_revision(self) -> int: ...

    def vectors_current(self, model: str) -> bool: ...

    def add_vectors(
        self, model: str, keys: Sequence[int], vectors: Vectors, revision: int | None = None
    ) -> None: ...


def embed_missing(space: Vectorless, embedder: Embedder, text: str, progress: Progress | None = None) -> int:
    """Embed the field `text` of every entry without a vector of this model; how many were done.

    What is saved stays: interrupted, the next call goes on from there.
    """
    revision = space.feed_revision()
    missing = space.missing_vectors(embedder.name)
    keys: list[int] = []
    parts: list[Vectors] = []
    done = 0
    saved = time.monotonic()
    batches = (missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH))

    def embed(wanted: Sequence[int]) -> tuple[list[int], Vectors]:
        found = list(space.entries(wanted))
        return [entry.key for entry in found], embedder.embed([entry.texts[text] for entry in found])

    with ThreadPoolExecutor(WORKERS, "embed") as pool:
        for batch_keys, vectors in pool.map(embed, batches):
            keys += batch_keys
            parts.append(vectors)
            done += len(batch_keys)
            if progress:
                progress(done, len(missing))
            if time.monotonic() - saved > _SAVE_SECONDS:
                space.add_vectors(embedder.name, keys, np.concatenate(parts))
                keys, parts, saved = [], [], time.monotonic()
    if keys or not space.vectors_current(embedder.name):
        rest = np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)
        space.add_vectors(embedder.name, keys, rest, revision)
    return done
