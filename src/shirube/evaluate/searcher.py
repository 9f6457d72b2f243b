"""A set's passages in a knowledge base of their own: the real store, index and pipeline, asked stage by stage."""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from shirube.caller import LOCAL
from shirube.evaluate.datasets import Passage
from shirube.index.contract import Hits, Progress, Vectors, Weight
from shirube.index.embedded.space import EmbeddedSpace
from shirube.ingest.embedding import embed_missing
from shirube.models.contract import Reranker
from shirube.query.filters import Filters
from shirube.retrieval.calibration import Calibration
from shirube.retrieval.pipeline import Found, Outcome, Recipe, Space, embedded_query, rank
from shirube.settings import load_settings
from shirube.store import bases
from shirube.store.documents import Document, put_document
from shirube.store.documents import Passage as StoredPassage
from shirube.text.questions import subject
from shirube.toolsets.knowledge.feed import BODY, TITLE, WEIGHTS
from shirube.toolsets.knowledge.service import RECIPE, KnowledgeService, access_filters, found_texts
from shirube.workspace import Workspace

Stage = Literal["sparse", "dense", "fused", "bm25", "whole"]
STAGES: tuple[Stage, ...] = ("sparse", "dense", "fused", "bm25", "whole")
# Parts of the pipeline that can be left out, to see what each adds. Without the dense lane vectors still help to rank
# what the other lane found; without vectors they do not.
Part = Literal["sparse lane", "dense lane", "vectors", "bm25", "re-ranking"]
PARTS: tuple[Part, ...] = ("sparse lane", "dense lane", "vectors", "bm25", "re-ranking")
WITHOUT_BM25 = replace(RECIPE, bm25_share=0.0)

# Shows how far a piece of work with this title has come.
Watch = Callable[[str], AbstractContextManager[Progress]]


class StageFailed(Exception):
    """Parts of the pipeline failed, so that its ranking is not what it would be with them."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"{', '.join(names)} failed")


@contextmanager
def unwatched(title: str) -> Iterator[Progress]:
    yield lambda done, total: None


@dataclass
class _Lacking:
    """A space of which a lane finds nothing."""

    space: EmbeddedSpace

    def search(self, query: str, weights: Mapping[str, Weight], filters: Filters, limit: int) -> Hits:
        return self.space.search(query, weights, filters, limit)

    def search_vectors(self, model: str, vector: Vectors, filters: Filters, limit: int) -> Hits:
        return self.space.search_vectors(model, vector, filters, limit)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.space, name)


class _WithoutText(_Lacking):
    def search(self, query: str, weights: Mapping[str, Weight], filters: Filters, limit: int) -> Hits:
        return Hits()


class _WithoutNearest(_Lacking):
    def search_vectors(self, model: str, vector: Vectors, filters: Filters, limit: int) -> Hits:
        return Hits()


@dataclass
class Searcher:
    """A knowledge base made of a set's passages, one document each, left whole.

    Its models are those of a fresh install unless `environ` names others; its data stay in `folder` in any case.
    """

    folder: Path
    corpus: Sequence[Passage]
    vectors: bool = True
    environ: Mapping[str, str] = field(default_factory=dict)
    watch: Watch = unwatched
    seconds_to_store: float = 0.0
    seconds_to_index: float = 0.0
    seconds_to_embed: float = 0.0
    ids: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        here = {"SHIRUBE_HOME": str(self.folder), "SHIRUBE_STORE": ""}
        self.workspace = Workspace(load_settings({**self.environ, **here}))
        # A setting that names no model ends here, before anything is built.
        self.embedder, self.reranker = self.workspace.embedder, self.workspace.reranker
        self.service = KnowledgeService(self.workspace)
        with self.workspace.database.write() as connection:
            self.base = bases.create_base(connection, LOCAL, "evaluation")
            self._collection = bases.open_collection(connection, self.base, "evaluation")
        self.space: EmbeddedSpace = self.service.space(self.base.id)
        self._store()
        self._index()
        if self.vectors:
            self.embed()

    def _store(self) -> None:
        started = time.perf_counter()
        with self.watch("箇所を入れています") as progress:
            for passage in self.corpus:
                with self.workspace.database.write() as connection:
                    [key] = put_document(connection, self.base.id, self._collection, _document(passage))
                self.ids[key] = passage.id
                progress(len(self.ids), len(self.corpus))
        self.seconds_to_store = time.perf_counter() - started

    def _index(self) -> None:
        started = time.perf_counter()
        with self.watch("索引を作っています") as progress:
            self.space.catch_up(progress)
        self.seconds_to_index = time.perf_counter() - started

    def embed(self) -> None:
        """Give every passage its vector and search with them from now on; whatever the model raises comes through."""
        if self.embedder:
            self.embedder.embed_query("準備")  # loading the model is not part of its speed
            started = time.perf_counter()
            with self.watch("ベクトルを作っています") as progress:
                embed_missing(self.space, self.embedder, BODY, TITLE, progress)
            self.seconds_to_embed = time.perf_counter() - started
        self.vectors = True

    def rank(self, query: str, reranker: Reranker | None = None, recipe: Recipe = RECIPE) -> Outcome:
        """The pipeline with the re-ranker's scores as they come; `reranker` in place of the one in use."""
        return self._outcome(query, reranker or self.reranker, recipe=recipe)

    def search(self, query: str, limit: int, stage: Stage = "whole") -> list[str]:
        """The ids a stage would give, best first, if it were the last: "whole" is what `search_documents` does.

        A stage never answers with what is left of it when a part fails: that is a `StageFailed`, or the part's error.
        """
        if stage == "sparse":
            hits = self.space.search(subject(query), WEIGHTS, Filters(), limit)
            return [self.ids[hit.key] for hit in hits]
        if stage == "dense":
            assert self.embedder is not None
            vector = embedded_query(self.embedder, query)[0]
            hits = self.space.search_vectors(self.embedder.name, vector, Filters(), limit)
            return [self.ids[hit.key] for hit in hits]
        if stage == "fused":
            outcome = self._outcome(query, None, recipe=WITHOUT_BM25)
        elif stage == "bm25":
            outcome = self._outcome(query, None)
        else:
            outcome = self._outcome(query, self.reranker, self.workspace.calibration)
        return self._best(outcome, limit)

    def search_without(self, part: Part, query: str, limit: int) -> list[str]:
        """The ids of the whole pipeline but for one of its parts."""
        if part == "re-ranking":
            return self.search(query, limit, "bm25")
        recipe = WITHOUT_BM25 if part == "bm25" else RECIPE
        outcome = self._outcome(query, self.reranker, self.workspace.calibration, part, recipe)
        return self._best(outcome, limit)

    def _best(self, outcome: Outcome, limit: int) -> list[str]:
        if outcome.failed:
            raise StageFailed(outcome.failed)
        return [self.ids[each.key] for each in outcome.results[:limit]]

    def _outcome(
        self,
        query: str,
        reranker: Reranker | None,
        calibration: Calibration | None = None,
        without: Part | None = None,
        recipe: Recipe = RECIPE,
    ) -> Outcome:
        lanes = {"sparse lane": _WithoutText, "dense lane": _WithoutNearest}
        space: Space = lanes[without](self.space) if without in lanes else self.space
        return rank(
            space,
            query,
            access_filters(LOCAL),
            recipe,
            embedder=self.embedder if self.vectors and without != "vectors" else None,
            reranker=reranker,
            calibration=calibration,
            fetch=self._fetch,
        )

    def _fetch(self, keys: Sequence[int]) -> Mapping[int, Found]:
        with self.workspace.database.read() as connection:
            return found_texts(connection, LOCAL, self.base.id, keys)

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
