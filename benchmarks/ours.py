"""Shirube's side of the benchmark: the real store, index and pipeline over a set's passages."""

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from benchmarks.datasets import Passage
from shirube.caller import LOCAL
from shirube.index.embedded.space import EmbeddedSpace
from shirube.ingest.embedding import embed_missing
from shirube.models.contract import Reranker
from shirube.query.filters import Filters
from shirube.retrieval.pipeline import Found, Outcome, rank
from shirube.settings import load_settings
from shirube.store import bases, passages
from shirube.store.documents import Document, put_document
from shirube.store.documents import Passage as StoredPassage
from shirube.text.questions import subject
from shirube.toolsets.knowledge.feed import BODY, WEIGHTS
from shirube.toolsets.knowledge.service import RECIPE, KnowledgeService, access_filters
from shirube.workspace import Workspace

Stage = Literal["sparse", "dense", "fused", "whole"]
STAGES: tuple[Stage, ...] = ("sparse", "dense", "fused", "whole")


@dataclass
class Searcher:
    """A knowledge base made of a set's passages, one document each, left whole."""

    folder: Path
    corpus: Sequence[Passage]
    vectors: bool = True
    seconds_to_store: float = 0.0
    seconds_to_index: float = 0.0
    seconds_to_embed: float = 0.0
    ids: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.workspace = Workspace(load_settings({"SHIRUBE_HOME": str(self.folder)}))
        self.service = KnowledgeService(self.workspace)
        database = self.workspace.database
        with database.write() as connection:
            self.base = bases.create_base(connection, LOCAL, "benchmark")
            collection = bases.open_collection(connection, self.base, "benchmark")
        started = time.perf_counter()
        for passage in self.corpus:
            with database.write() as connection:
                [key] = put_document(connection, self.base.id, collection, _document(passage))
            self.ids[key] = passage.id
        self.seconds_to_store = time.perf_counter() - started
        self.space: EmbeddedSpace = self.service.space(self.base.id)
        started = time.perf_counter()
        self.space.catch_up()
        self.seconds_to_index = time.perf_counter() - started
        if self.vectors and self.workspace.embedder:
            started = time.perf_counter()
            embed_missing(self.space, self.workspace.embedder, BODY)
            self.seconds_to_embed = time.perf_counter() - started

    def rank(self, query: str, reranker: Reranker | None = None) -> Outcome:
        """The pipeline as `search_documents` runs it."""
        return rank(
            self.space,
            query,
            access_filters(LOCAL),
            RECIPE,
            embedder=self.workspace.embedder if self.vectors else None,
            reranker=reranker or self.workspace.reranker,
            fetch=self._fetch,
        )

    def search(self, query: str, limit: int, stage: Stage = "whole") -> list[str]:
        """The ids a stage alone would give, best first."""
        if stage == "sparse":
            hits = self.space.search(subject(query), WEIGHTS, Filters(), limit)
            return [self.ids[hit.key] for hit in hits]
        if stage == "dense":
            assert self.workspace.embedder is not None
            vector = self.workspace.embedder.embed_query(query)
            return [self.ids[hit.key] for hit in self.space.search_vectors(vector, Filters(), limit)]
        results = self.rank(query).results
        if stage == "fused":
            results = sorted(results, key=lambda each: each.ranks["rrf"])
        return [self.ids[each.key] for each in results[:limit]]

    def _fetch(self, keys: Sequence[int]) -> Mapping[int, Found]:
        with self.workspace.database.read() as connection:
            found = passages.visible_passages(connection, LOCAL, self.base.id, keys)
        return {key: Found(each.text, (each.source, each.chunk_index)) for key, each in found.items()}

    def bytes_of(self, part: str) -> int:
        """Bytes on disk of the files whose path holds `part`."""
        total = 0
        for folder, _, files in os.walk(self.folder):
            for name in files:
                path = Path(folder) / name
                if part in str(path.relative_to(self.folder)):
                    total += path.stat().st_size
        return total

    def close(self) -> None:
        self.workspace.database.close()


def _document(passage: Passage) -> Document:
    return Document(
        source=passage.id,
        filename=passage.id,
        title=passage.title,
        text=passage.text,
        content_hash=hashlib.sha256(passage.text.encode()).hexdigest(),
        passages=(StoredPassage(passage.text, 0, len(passage.text)),),
    )
