"""What the tests of the pipeline rank with: real stores and spaces, and a model small enough to see through."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from shirube.caller import LOCAL, Caller
from shirube.index.embedded.space import EmbeddedSpace
from shirube.ingest.embedding import embed_missing
from shirube.models.contract import Embedder, Matrix, Reranker
from shirube.query.filters import Filters
from shirube.retrieval.calibration import Calibration
from shirube.retrieval.pipeline import Found, Outcome, Recipe, Space, rank
from shirube.store import passages
from shirube.store.bases import KnowledgeBase
from shirube.store.database import Database
from shirube.text.tokenize import bigrams
from shirube.toolsets.knowledge.feed import BODY, LAYOUT, TITLE, WEIGHTS, KnowledgeFeed
from shirube.toolsets.knowledge.service import found_texts

RECIPE = Recipe(weights=WEIGHTS, body=BODY, title=TITLE)
UNFILTERED = Filters()


@cache
def direction(pair: str) -> Matrix:
    """Where a bigram points: always the same way, and hardly ever the way of another."""
    return np.random.default_rng(zlib.crc32(pair.encode())).normal(size=64).astype(np.float32)


class Letters:
    """A text points where its bigrams point together."""

    name = "letters"
    setting = "letters"

    def embed(self, texts: Sequence[str]) -> Matrix:
        summed = [np.sum([direction(pair) for pair in bigrams(text) or [""]], axis=0) for text in texts]
        return np.stack(summed)

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
        embed_missing(self.space, Letters(), BODY, TITLE)

    def rank(
        self,
        query: str,
        *,
        caller: Caller = LOCAL,
        space: Space | None = None,
        filters: Filters = UNFILTERED,
        recipe: Recipe = RECIPE,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        calibration: Calibration | None = None,
    ) -> Outcome:
        def fetch(keys: Sequence[int]) -> dict[int, Found]:
            with self.database.read() as connection:
                return found_texts(connection, caller, self.base.id, keys)

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
