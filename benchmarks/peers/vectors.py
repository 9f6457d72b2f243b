"""Vectors for the peers that take them but bring no model: those of Shirube's own embedder, on the same questions.

The class comes from the repository's sources, which `environment` puts on the peers' path; of Shirube it needs nothing
else. A passage gets one vector, that of its title and text, as such engines are used; Shirube itself has more of them.
"""

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.peers.probe import SENTENCES
from shirube.models.contract import Matrix
from shirube.models.use import UseEmbedder

NOTE = f"Shirube's embedder {UseEmbedder.name}, one vector for each whole passage (title and text)"
# As Shirube embeds: the encoder keeps to one core, so that batches can be done side by side.
_WORKERS = 2
_BATCH = 128
# The embedder reads no more of a window; longer passages are given in as many windows as they need.
_CHARACTERS = 1000
# More than one window's length, so that a change in how long texts are read shows in it.
_SAMPLE = "".join(SENTENCES) * 5


@dataclass(frozen=True)
class Embedded:
    vectors: Matrix
    cached_seconds: float
    """What computing them took when they were put into the cache; 0 when they were computed now."""


def load_embedder() -> UseEmbedder:
    """Loaded already: neither the time nor the memory of building an index is that of reading weights."""
    embedder = UseEmbedder()
    embedder.embed_query(SENTENCES[0])
    return embedder


def embed_passages(embedder: UseEmbedder, texts: Sequence[str], cache: Path | None) -> Embedded:
    """Vectors of the texts, from `cache` where this embedder was given these very texts before."""
    file = cache / f"{embedder.name}-{_digest(embedder, texts)}.npz" if cache else None
    if file and file.exists():
        with np.load(file) as stored:
            return Embedded(stored["vectors"], float(stored["seconds"]))
    started = perf_counter()
    batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
    with ThreadPoolExecutor(_WORKERS) as pool:
        vectors = np.concatenate(list(pool.map(lambda batch: _whole(embedder, batch), batches)))
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, vectors=vectors, seconds=perf_counter() - started)
    return Embedded(vectors, 0.0)


def _whole(embedder: UseEmbedder, texts: Sequence[str]) -> Matrix:
    windows = [
        [text[start : start + _CHARACTERS] for start in range(0, len(text) or 1, _CHARACTERS)]
        for text in texts
    ]
    return embedder.embed_windows(windows)[0]


def _digest(embedder: UseEmbedder, texts: Sequence[str]) -> str:
    """Names the texts and, by a vector, the embedder: adapters trained anew need not have a new name."""
    digest = hashlib.sha256(_whole(embedder, [_SAMPLE]).tobytes())
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()[:16]
