"""LanceDB's hybrid search: its full-text index and vectors of whole passages, merged as it does by default (RRF)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.datasets import Passage
from benchmarks.peers.contract import About
from benchmarks.peers.lancedb_fts import NGRAMS, VERSION, indexed_table
from benchmarks.peers.vectors import NOTE, embed_passages, load_embedder


def open_peer(folder: Path, cache: Path | None) -> "LanceHybrid":
    return LanceHybrid(folder, cache)


class LanceHybrid:
    def __init__(self, folder: Path, cache: Path | None) -> None:
        self.about = About(
            VERSION, f"{NGRAMS}; {NOTE}, exact cosine search; its default RRF", keeps_text=True
        )
        self.cached_seconds = 0.0
        self._folder = folder
        self._cache = cache
        self._embedder = load_embedder()
        self._table: Any = None

    def build(self, corpus: Sequence[Passage]) -> None:
        texts = [passage.titled_text for passage in corpus]
        embedded = embed_passages(self._embedder, texts, self._cache)
        self.cached_seconds = embedded.cached_seconds
        self._table = indexed_table(
            self._folder,
            [
                {"id": passage.id, "body": text, "vector": vector}
                for passage, text, vector in zip(corpus, texts, embedded.vectors, strict=True)
            ],
        )

    def search(self, query: str, limit: int) -> list[str]:
        hybrid = self._table.search(query_type="hybrid", vector_column_name="vector", fts_columns="body")
        found = hybrid.vector(self._embedder.embed_query(query)).text(query).distance_type("cosine")
        return [row["id"] for row in found.select(["id"]).limit(limit).to_list()]
