"""txtai's hybrid search: its BM25, its faiss index over vectors of whole passages, merged as it does by default.

Its tokenizer splits into words by UAX #29 (every kanji and hiragana by itself) or into n-grams. It takes no function:
Sudachi's words need a scoring class of one's own, and gain nothing over all. nDCG@10 of the hybrid when this was
chosen, for 400 questions of JaQuAD's development set among its 1,431 passages, 400 of the small-business cases among
2,284, and 200 of all JaQuAD among 13,428:

    n-grams of 2                  .909  .661  .888
    Sudachi, split C              .916  .648  .892
    Sudachi, split A              .915  .635  .891
    n-grams of 2, faiss as IVF                .877

IVF is txtai's choice above 5,000 passages; the flat index, its choice below, serves it better here. Its other way of
merging, bb25, had .876 on the last set.

torch, transformers and the client of a model hub are in txtai's list of requirements, but it needs them for models of
its own alone; they are left out here, so there is nothing that could ask for a model.
"""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import faiss  # type: ignore[import-not-found]
import numpy as np
import txtai  # type: ignore[import-not-found]
from txtai.vectors import Vectors  # type: ignore[import-not-found]

from benchmarks.datasets import Passage
from benchmarks.peers.contract import About
from benchmarks.peers.vectors import NOTE, embed_passages, load_embedder
from shirube.models.contract import Matrix

NGRAM = 2


def open_peer(folder: Path, cache: Path | None) -> "TxtaiHybrid":
    return TxtaiHybrid(folder, cache)


class TxtaiHybrid:
    def __init__(self, folder: Path, cache: Path | None) -> None:
        self.about = About(
            f"txtai {version('txtai')}",
            f"its BM25 over n-grams of {NGRAM} characters; {NOTE}, exact cosine search (faiss, flat); "
            "its default merging (normalised scores, half each)",
            keeps_text=False,
        )
        self.cached_seconds = 0.0
        self._folder = folder
        self._cache = cache
        self._embedder = load_embedder()
        # One question gives a second thread nothing to do but be waited for: 21 ms for 1 when the cores are busy.
        faiss.omp_set_num_threads(1)
        self._index: Any = None

    def build(self, corpus: Sequence[Passage]) -> None:
        self._index = txtai.Embeddings(
            {
                "method": f"{__name__}.{GivenVectors.__name__}",
                "given": self._vectors,
                # All passages at once: as one batch they are the same in the cache as for other peers.
                "batch": len(corpus),
                # Named, or txtai would do without faiss and say nothing where it cannot be imported.
                "backend": "faiss",
                "faiss": {"components": "IDMap,Flat"},
                # What `hybrid: true` stands for, and the tokenizer.
                "scoring": {
                    "method": "bm25",
                    "terms": True,
                    "normalize": True,
                    "tokenizer": {"ngrams": NGRAM},
                },
            }
        )
        self._index.index((passage.id, passage.titled_text) for passage in corpus)
        self._index.save(str(self._folder))

    def search(self, query: str, limit: int) -> list[str]:
        return [passage for passage, _ in self._index.search(query, limit)]

    def _vectors(self, texts: Sequence[str], category: str) -> Matrix:
        if category == "query":
            return np.stack([self._embedder.embed_query(text) for text in texts])
        embedded = embed_passages(self._embedder, texts, self._cache)
        self.cached_seconds = embedded.cached_seconds
        return embedded.vectors


class GivenVectors(Vectors):  # type: ignore[misc]
    """Vectors from a function; txtai's own class for this does not tell it questions from passages."""

    def loadmodel(self, path: str | None) -> None:
        return None

    def encode(self, data: Sequence[str], category: str | None = None) -> Matrix:
        vectors: Matrix = self.config["given"](data, category)
        return vectors
