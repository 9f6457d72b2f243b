"""A query's way through the stages: lanes, fusion, two re-rankings, calibration. Any stage may fail alone.

sparse ─┐
        ├─ fusion ─ bm25 ─ re-rank ─ calibrate
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
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from shirube.cancelling import go_on
from shirube.errors import ShirubeError
from shirube.index.contract import Hits, Kind, Similarity, Terms, Vectors, Weight
from shirube.index.embedded.tokens import fingerprints
from shirube.models.contract import Candidates, ClauseEmbedder, Embedder, Question, Reranker, Scores
from shirube.models.ranker.matches import character_pairs, pair_codes
from shirube.query.filters import Filters
from shirube.retrieval.calibration import Calibration, Uncalibrated
from shirube.retrieval.fusion import reciprocal_ranks
from shirube.retrieval.lanes import Lane
from shirube.retrieval.okapi import okapi
from shirube.text.clauses import clauses
from shirube.text.questions import subject
from shirube.text.tokenize import bigrams, words

log = logging.getLogger(__name__)

SPARSE_LIMIT = 500
DENSE_LIMIT = 500
FUSED_LIMIT = 600
# Of those, so many are looked at once more: what comes after them hardly ever reaches the re-ranker.
BM25_LIMIT = 300
RERANK_LIMIT = 100
# As many as anybody may ask for.
RERANK_LEAST = 50
# The nearest by vectors go on in any case: an answer in another language has none of the query's words.
NEAREST = 30
# What BM25 among the candidates counts for beside the fusion of the lanes.
BM25_SHARE = 0.3


class Space(Protocol):
    """What the pipeline needs of an index."""

    def search(self, query: str, weights: Mapping[str, Weight], filters: Filters, limit: int) -> Hits: ...

    def search_vectors(self, model: str, vector: Vectors, filters: Filters, limit: int) -> Hits: ...

    def similarity(self, model: str, vectors: Vectors, keys: Sequence[int]) -> Similarity: ...

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
    bm25_limit: int = BM25_LIMIT
    rerank_limit: int = RERANK_LIMIT
    rerank_least: int = RERANK_LEAST
    nearest: int = NEAREST
    bm25_share: float = BM25_SHARE


class Found(NamedTuple):
    """A passage's text and title, and its place among equals: the same wherever and in whatever order it was put in."""

    text: str
    title: str
    place: tuple[str, int]


# Gets passages by their keys: those that the caller may read.
Fetch = Callable[[Sequence[int]], Mapping[int, Found]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A result. What each stage said of it is looked up when somebody asks: of a hundred, ten are shown."""

    key: int
    score: float
    lanes: Sequence[Lane]
    judged: float | None = None

    @property
    def scores(self) -> dict[str, float]:
        """By stage; that of full text divided by the best of the search."""
        found = {}
        for lane in self.lanes:
            if standing := lane.of(self.key):
                highest = float(lane.hits.scores[0]) if lane.name == "sparse" else 1.0
                found[lane.name] = standing[0] / highest
        return found if self.judged is None else {**found, "rerank": self.judged}

    @property
    def ranks(self) -> dict[str, int]:
        standing = {lane.name: lane.of(self.key) for lane in self.lanes}
        return {name: each[1] for name, each in standing.items() if each}


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
    fetch: Fetch,
    asked: Vectors | None = None,
    dense_filters: Filters | None = None,
) -> Outcome:
    """The ranked passages for `query`. `fetch` gets those the caller may read; the others fall out.

    `asked` are the query's vectors (see `embedded_query`), where somebody needed them before; `dense_filters` are those
    of the dense lane, where they are others.
    """
    outcome = Outcome()
    question = _pool().submit(_question, space, query, recipe)
    each_filters = (filters, dense_filters or filters)
    sparse, dense, asked = _lanes(space, query, each_filters, recipe, embedder, asked, outcome)
    go_on()
    with _stage(outcome, "fusion") as stage:
        lanes = [lane for lane in (sparse, dense) if lane.hits]
        fused = Lane("rrf", reciprocal_ranks(lanes)[: recipe.fused_limit])
        stage.count = len(fused.hits)
    bm25, blended, limit = Lane("bm25", Hits()), fused.hits, recipe.rerank_limit
    with _stage(outcome, "bm25") as stage:
        if recipe.bm25_share and fused.hits:
            bm25, blended, limit = _by_bm25(space, recipe, question.result(), fused.hits)
    let_through = stage
    worth = blended.by_key()
    nearest = (
        set(_first(dense.hits, min(recipe.nearest, recipe.rerank_limit - limit)).keys.tolist()) & worth.keys()
    )
    found = fetch(list({*_first(blended, limit).keys.tolist(), *nearest}))
    order = sorted(found, key=lambda key: (-worth[key], found[key].place))
    keys = [key for at, key in enumerate(order) if at < limit or key in nearest]
    let_through.count = len(keys)
    judged: Scores | None = None
    go_on()
    if reranker and keys:
        with _stage(outcome, "rerank") as stage:
            near = Similarity.unknown(len(keys))
            if embedder and asked is not None:
                near = space.similarity(embedder.name, asked, keys)
            candidates = _candidates(space, recipe, keys, found, sparse, near)
            judged = reranker.scores(question.result(), candidates)
            stage.count = len(keys)
    values = np.array([worth[key] for key in keys]) if judged is None else judged
    final = Uncalibrated()(values)
    with _stage(outcome, "calibrate") as stage:
        # The map is the re-ranker's: of other scores it would make certainties.
        if calibration and keys and judged is not None:
            final = calibration(values)
        if not any(map(str.isalnum, query)):  # signs alone ask for nothing
            final = np.zeros(len(keys))
        stage.count = len(keys)
    scores = final.tolist()
    places = sorted(
        range(len(keys)),
        key=lambda at: (-scores[at], -values[at], -worth[keys[at]], found[keys[at]].place),
    )
    said = (sparse, dense, fused, bm25)
    given = None if judged is None else judged.tolist()
    outcome.results = [
        Ranked(keys[at], scores[at], said, None if given is None else given[at]) for at in places
    ]
    return outcome


def _lanes(
    space: Space,
    query: str,
    filters: tuple[Filters, Filters],
    recipe: Recipe,
    embedder: Embedder | None,
    asked: Vectors | None,
    outcome: Outcome,
) -> tuple[Lane, Lane, Vectors | None]:
    """Both lanes at the same time, and the query's vectors; a lane that fails is empty and says so."""
    embedded: list[Vectors] = [] if asked is None else [asked]

    def sparse() -> Hits:
        return space.search(subject(query), recipe.weights, filters[0], recipe.sparse_limit)

    def dense() -> Hits:
        assert embedder is not None
        if not embedded:
            embedded.append(embedded_query(embedder, query))
        return space.search_vectors(embedder.name, embedded[0][0], filters[1], recipe.dense_limit)

    # Full text leaves the interpreter while it searches; most of what vectors take does not, and stays on this thread.
    if embedder is None:
        stage, hits = _timed("sparse", sparse)
        outcome.stages.append(stage)
        return Lane("sparse", hits), Lane("dense", Hits()), None
    waiting = _pool().submit(_timed, "sparse", sparse)
    dense_stage, dense_hits = _timed("dense", dense)
    stage, hits = waiting.result()
    outcome.stages += [stage, dense_stage]
    asked = embedded[0] if embedded and not dense_stage.error else None
    return Lane("sparse", hits), Lane("dense", dense_hits), asked


def embedded_query(embedder: Embedder, query: str) -> Vectors:
    """The vector of a query, and after it those of its clauses where there are several."""
    parts = clauses(query)
    if len(parts) > 1 and isinstance(embedder, ClauseEmbedder):
        return embedder.embed_clauses(parts)
    return embedder.embed_query(query)[None, :]


def _by_bm25(space: Space, recipe: Recipe, question: Question, fused: Hits) -> tuple[Lane, Hits, int]:
    """What BM25 makes of the candidates, 0 to 1, their order by that and the fusion, and how many are worth a look.

    It counts for as much as it has to say: little where no candidate holds much of the query, as in another language.
    The more it says, the surer the answer is among the first.
    """
    fused = _first(fused, recipe.bm25_limit)
    keys = fused.keys.tolist()
    scores, covered = okapi(question.words, _held(space.terms(keys), recipe.body, keys))
    if highest := scores.max():
        scores /= highest
    share = recipe.bm25_share * covered
    worth = share * scores + (1 - share) * fused.scores
    best, blended = np.argsort(-scores, kind="stable"), np.argsort(-worth, kind="stable")
    most, least = recipe.rerank_limit, min(recipe.rerank_least, recipe.rerank_limit)
    lane = Lane("bm25", Hits(fused.keys[best], scores[best]))
    return lane, Hits(fused.keys[blended], worth[blended]), round(most - (most - least) * covered)


def _first(fused: Hits, limit: int) -> Hits:
    """The best `limit` and those as good as the last of them: whom to leave out is decided by their place."""
    if len(fused) <= limit:
        return fused
    if limit < 1:
        return Hits()
    return fused[: int(np.searchsorted(-fused.scores, -fused.scores[limit - 1], side="right"))]


def _candidates(
    space: Space,
    recipe: Recipe,
    keys: Sequence[int],
    found: Mapping[int, Found],
    sparse: Lane,
    near: Similarity,
) -> Candidates:
    terms = space.terms(keys)
    return Candidates(
        texts=[found[key].text for key in keys],
        title_texts=[found[key].title for key in keys],
        words=_held(terms, recipe.body, keys),
        titles=_held(terms, recipe.title, keys),
        sparse=sparse.standing(keys)[0],
        whole=near.whole,
        window=near.window,
        title=near.title,
        clauses=near.clauses if len(near.clauses) else None,
    )


def _question(space: Space, query: str, recipe: Recipe) -> Question:
    asked = subject(query)
    distinct = list(dict.fromkeys(words(asked)))
    rarity = space.rarity(distinct, recipe.body)
    pairs = character_pairs(asked)
    latin = [token for token in bigrams(asked) if token.isascii() and len(token) > 1]
    pair_rarity = space.rarity(
        [*(pair for pair in pairs if not pair.isascii()), *latin], recipe.body, "bigrams"
    )
    worth = {word: pair_rarity.pop(word) for word in dict.fromkeys(latin)}
    for (
        word,
        rarity_of_word,
    ) in worth.items():  # kept whole by the index: their pairs share what they are worth
        for pair in map("".join, pairwise(word)):
            pair_rarity[pair] = max(pair_rarity.get(pair, 0), rarity_of_word / (len(word) - 1))
    kept = [pair for pair in pairs if pair in pair_rarity]
    return Question(
        query,
        np.array([fingerprints[word] for word in distinct], np.uint32),
        np.array([rarity[word] for word in distinct]),
        pair_codes(kept),
        np.array([pair_rarity[pair] for pair in kept]),
    )


def _held(terms: Terms, field: str, keys: Sequence[int]) -> list[npt.NDArray[np.uint32]]:
    if len(terms.keys) == len(keys):
        return list(terms.words[field])
    held = dict(zip(terms.keys, terms.words[field], strict=True))
    nothing = np.empty(0, np.uint32)
    return [held.get(key, nothing) for key in keys]


def _timed(name: str, work: Callable[[], Hits]) -> tuple[Stage, Hits]:
    outcome = Outcome()
    hits = Hits()
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
