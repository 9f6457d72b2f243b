"""A query's way through the stages: lanes, fusion, re-ranking, calibration. Any stage may fail alone.

sparse ─┐
        ├─ fusion ─ re-rank ─ calibrate
dense ──┘
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shirube.errors import ShirubeError
from shirube.index.contract import Hit, Kind, Similarity, Terms, Vectors, Weight
from shirube.index.embedded.tokens import fingerprints
from shirube.models.contract import Candidates, ClauseEmbedder, Embedder, Question, Reranker, Scores
from shirube.models.ranker.matches import character_pairs, pair_codes
from shirube.query.filters import Filters
from shirube.retrieval.calibration import Calibration, Uncalibrated
from shirube.retrieval.fusion import reciprocal_ranks
from shirube.retrieval.lanes import Lane, shared_ranks
from shirube.text.clauses import clauses
from shirube.text.questions import subject
from shirube.text.tokenize import words

log = logging.getLogger(__name__)

SPARSE_LIMIT = 500
DENSE_LIMIT = 500
FUSED_LIMIT = 600
RERANK_LIMIT = 100


class Space(Protocol):
    """What the pipeline needs of an index."""

    def search(
        self, query: str, weights: Mapping[str, Weight], filters: Filters, limit: int
    ) -> list[Hit]: ...

    def search_vectors(self, model: str, vector: Vectors, filters: Filters, limit: int) -> list[Hit]: ...

    def similarity(self, model: str, vector: Vectors, keys: Sequence[int]) -> Similarity: ...

    def best_windows(self, model: str, vectors: Vectors, keys: Sequence[int]) -> npt.NDArray[np.float64]: ...

    def rarity(self, tokens: Sequence[str], text: str, kind: Kind = "words") -> dict[str, float]: ...

    def terms(self, keys: Sequence[int]) -> Terms: ...


@dataclass(frozen=True)
class Recipe:
    """Everything that decides an order besides the data: kept with the run."""

    weights: Mapping[str, Weight]
    body: str
    title: str
    sparse_limit: int = SPARSE_LIMIT
    dense_limit: int = DENSE_LIMIT
    fused_limit: int = FUSED_LIMIT
    rerank_limit: int = RERANK_LIMIT


@dataclass(frozen=True)
class Found:
    """A passage's text and title, and its place among equals: the same wherever and in whatever order it was put in."""

    text: str
    title: str
    place: tuple[str, int]


@dataclass(frozen=True)
class Ranked:
    """A result with what each stage said of it."""

    key: int
    score: float
    scores: Mapping[str, float]
    ranks: Mapping[str, int]


@dataclass
class Stage:
    """What a stage did: how many it let through and how long it took."""

    name: str
    count: int = 0
    ms: float = 0.0
    error: str | None = None


@dataclass
class Outcome:
    results: list[Ranked] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)

    @property
    def failed(self) -> list[str]:
        return [stage.name for stage in self.stages if stage.error]


def rank(
    space: Space,
    query: str,
    filters: Filters,
    recipe: Recipe,
    *,
    embedder: Embedder | None,
    reranker: Reranker | None,
    calibration: Calibration | None = None,
    fetch: Callable[[Sequence[int]], Mapping[int, Found]],
) -> Outcome:
    """The ranked passages for `query`. `fetch` gets those the caller may read; the others fall out."""
    outcome = Outcome()
    sparse, dense, asked = _lanes(space, query, filters, recipe, embedder, outcome)
    with _stage(outcome, "fusion") as stage:
        lanes = [lane for lane in (sparse, dense) if lane.hits]
        fused = dict(list(reciprocal_ranks(lanes).items())[: recipe.fused_limit])
        stage.count = len(fused)
    found = fetch(_first(fused, recipe.rerank_limit))
    keys = sorted(found, key=lambda key: (-fused[key], found[key].place))[: recipe.rerank_limit]
    judged: Scores | None = None
    if reranker and keys:
        with _stage(outcome, "rerank") as stage:
            near = _nearness(space, embedder, asked, keys) if embedder and asked else None
            judged = _rerank(space, query, recipe, reranker, keys, found, sparse, near)
            stage.count = len(keys)
    values = np.array([fused[key] for key in keys]) if judged is None else judged
    final = Uncalibrated()(values)
    with _stage(outcome, "calibrate") as stage:
        if calibration and keys:
            final = calibration(values)
        stage.count = len(keys)
    before = {key: place for place, key in enumerate(keys)}
    order = sorted(keys, key=lambda key: (-final[before[key]], -fused[key], found[key].place))
    ranks = {"sparse": sparse.ranks, "dense": dense.ranks, "rrf": shared_ranks(fused)}
    highest = max(sparse.scores.values(), default=1.0)
    for key in order:
        scores = {
            "sparse": sparse.scores[key] / highest if key in sparse.scores else None,
            "dense": dense.scores.get(key),
            "rrf": fused[key],
            "rerank": None if judged is None else float(judged[before[key]]),
        }
        outcome.results.append(
            Ranked(
                key,
                float(final[before[key]]),
                {name: score for name, score in scores.items() if score is not None},
                {name: held[key] for name, held in ranks.items() if key in held},
            )
        )
    return outcome


def _lanes(
    space: Space, query: str, filters: Filters, recipe: Recipe, embedder: Embedder | None, outcome: Outcome
) -> tuple[Lane, Lane, "Asked | None"]:
    """Both lanes at the same time, and the query's vectors; a lane that fails is empty and says so."""
    embedded: list[Asked] = []

    def sparse() -> list[Hit]:
        return space.search(subject(query), recipe.weights, filters, recipe.sparse_limit)

    def dense() -> list[Hit]:
        assert embedder is not None
        embedded.append(embedded_query(embedder, query))
        return space.search_vectors(embedder.name, embedded[0].whole, filters, recipe.dense_limit)

    # Full text leaves the interpreter while it searches; vectors, which do not, and what follows stay on this thread.
    if embedder is None:
        stage, hits = _timed("sparse", sparse)
        outcome.stages.append(stage)
        return Lane("sparse", hits), Lane("dense", ()), None
    waiting = _pool().submit(_timed, "sparse", sparse)
    dense_stage, dense_hits = _timed("dense", dense)
    stage, hits = waiting.result()
    outcome.stages += [stage, dense_stage]
    asked = embedded[0] if embedded and not dense_stage.error else None
    return Lane("sparse", hits), Lane("dense", dense_hits), asked


@dataclass(frozen=True)
class Asked:
    """The vector of a query, and those of its clauses where there are several."""

    whole: Vectors
    clauses: Vectors | None = None


def embedded_query(embedder: Embedder, query: str) -> Asked:
    parts = clauses(query)
    if len(parts) > 1 and isinstance(embedder, ClauseEmbedder):
        return Asked(*embedder.embed_clauses(parts))
    return Asked(embedder.embed_query(query))


def _nearness(
    space: Space, embedder: Embedder, asked: Asked, keys: Sequence[int]
) -> tuple[Similarity, npt.NDArray[np.float64] | None]:
    near = space.similarity(embedder.name, asked.whole, keys)
    if asked.clauses is None:
        return near, None
    return near, space.best_windows(embedder.name, asked.clauses, keys)


def _first(fused: Mapping[int, float], limit: int) -> list[int]:
    """The best `limit` and those as good as the last of them: whom to leave out is decided by their place."""
    ordered = list(fused)
    if len(ordered) <= limit:
        return ordered
    return [key for key in ordered if fused[key] >= fused[ordered[limit - 1]]]


def _rerank(
    space: Space,
    query: str,
    recipe: Recipe,
    reranker: Reranker,
    keys: Sequence[int],
    found: Mapping[int, Found],
    sparse: Lane,
    nearness: tuple[Similarity, npt.NDArray[np.float64] | None] | None,
) -> Scores:
    question = _question(space, query, recipe)
    terms = space.terms(keys)
    nothing = np.full(len(keys), np.nan)
    near, by_clause = nearness or (Similarity(nothing, nothing, nothing), None)
    candidates = Candidates(
        texts=[found[key].text for key in keys],
        title_texts=[found[key].title for key in keys],
        words=_held(terms, recipe.body, keys),
        titles=_held(terms, recipe.title, keys),
        sparse=np.array([sparse.scores.get(key, np.nan) for key in keys]),
        whole=near.whole,
        window=near.window,
        title=near.title,
        clauses=by_clause,
    )
    return reranker.scores(question, candidates)


def _question(space: Space, query: str, recipe: Recipe) -> Question:
    asked = subject(query)
    distinct = list(dict.fromkeys(words(asked)))
    rarity = space.rarity(distinct, recipe.body)
    pairs = character_pairs(asked)
    pair_rarity = space.rarity([pair for pair in pairs if not pair.isascii()], recipe.body, "bigrams")
    for word in distinct:
        if word.isascii():  # the index keeps such words whole: their pairs share what the word is worth
            for pair in map("".join, pairwise(word)):
                pair_rarity[pair] = max(pair_rarity.get(pair, 0), rarity[word] / (len(word) - 1))
    kept = [pair for pair in pairs if pair in pair_rarity]
    return Question(
        query,
        np.array([fingerprints[word] for word in distinct], np.uint32),
        np.array([rarity[word] for word in distinct]),
        pair_codes(kept),
        np.array([pair_rarity[pair] for pair in kept]),
    )


def _held(terms: Terms, field: str, keys: Sequence[int]) -> list[npt.NDArray[np.uint32]]:
    held = dict(zip(terms.keys, terms.words[field], strict=True))
    nothing = np.empty(0, np.uint32)
    return [held.get(key, nothing) for key in keys]


def _timed(name: str, work: Callable[[], list[Hit]]) -> tuple[Stage, list[Hit]]:
    outcome = Outcome()
    hits: list[Hit] = []
    with _stage(outcome, name) as stage:
        hits = work()
        stage.count = len(hits)
    return outcome.stages[0], hits


@contextmanager
def _stage(outcome: Outcome, name: str) -> Iterator[Stage]:
    """Time a stage and keep its failure to itself; what the caller asked wrongly is no failure of a stage."""
    stage = Stage(name)
    outcome.stages.append(stage)
    started = time.perf_counter()
    try:
        yield stage
    except ShirubeError:
        raise
    except Exception as error:
        log.warning("stage %s failed", name, exc_info=True)
        stage.error = type(error).__name__
    finally:
        stage.ms = (time.perf_counter() - started) * 1000


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(4, "lane")
