"""What the tests of the pipeline rank with: real stores and spaces, and a model small enough to see through."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from shirube.caller import LOCAL, Caller
from shirube.index.embedded.space import EmbeddedSpace
from shirube.ingest.embedding import embed_missing
from shirube.models.contract import Embedder, Matrix, Reranker
from shirube.models.coverage import CoverageReranker
from shirube.query.filters import Filters
from shirube.retrieval.calibration import Calibration
from shirube.retrieval.pipeline import Found, Outcome, Recipe, Space, rank
from shirube.store import passages
from shirube.store.bases import KnowledgeBase
from shirube.store.database import Database
from shirube.text.tokenize import bigrams
from shirube.toolsets.knowledge.feed import BODY, LAYOUT, WEIGHTS, KnowledgeFeed

RECIPE = Recipe(weights=WEIGHTS, body=BODY)


class Letters:
    """A vector counts the text's bigrams by the remainder of their checksums."""

    name = "letters"
    size = 64

    def embed(self, texts: Sequence[str]) -> Matrix:
        counts = np.full((len(texts), self.size), 1e-3, np.float32)
        for row, text in enumerate(texts):
            for pair in bigrams(text):
                counts[row, zlib.crc32(pair.encode()) % self.size] += 1
        return counts

    def embed_query(self, text: str) -> Matrix:
        first: Matrix = self.embed([text])[0]
        return first


@dataclass
class World:
    """One knowledge base with its space, ready to be asked."""

    database: Database
    base: KnowledgeBase
    folder: Path
    space: EmbeddedSpace = field(init=False)

    def __post_init__(self) -> None:
        self.space = EmbeddedSpace(self.folder, LAYOUT, KnowledgeFeed(self.database, self.base.id))

    def index(self) -> None:
        self.space.catch_up()
        embed_missing(self.space, Letters(), BODY)

    def rank(
        self,
        query: str,
        *,
        caller: Caller = LOCAL,
        space: Space | None = None,
        filters: Filters = Filters(),  # noqa: B008
        recipe: Recipe = RECIPE,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        calibration: Calibration | None = None,
    ) -> Outcome:
        def fetch(keys: Sequence[int]) -> dict[int, Found]:
            with self.database.read() as connection:
                found = passages.visible_passages(connection, caller, self.base.id, keys)
            return {key: Found(each.text, (each.source, each.chunk_index)) for key, each in found.items()}

        return rank(
            space or self.space,
            query,
            filters,
            recipe,
            embedder=embedder,
            reranker=reranker,
            calibration=calibration,
            fetch=fetch,
        )

    def places(self, outcome: Outcome) -> list[tuple[str, int]]:
        """The results by source and number, which do not depend on when they were put in."""
        with self.database.read() as connection:
            keys = [result.key for result in outcome.results]
            found = {each.id: each for each in passages.passages_by_id(connection, keys)}
        return [(found[key].source, found[key].chunk_index) for key in keys]


def full() -> dict[str, Embedder | Reranker]:
    return {"embedder": Letters(), "reranker": CoverageReranker()}
