"""Fusion of lanes: reciprocal ranks, boosted by what is known of each publication. One function a formula.

With lane ℓ of type t (fulltext, semantic, original_dense), logical name n and rank r:

    RRF(d)   = Σ_ℓ weight · weights[t] · lane_weights[n] / (rrf_k + r_ℓ(d))        missing weights count 1
    π(d)     = clip01(p_code·P(d) + p_facet·F(d) + p_lane·L(d) + p_rep·R(d))
    score(d) = RRF(d) · (1 + β_fuse·π(d) + weights.code·P(d) + weights.code_secondary·S(d))

RRF: Cormack, Clarke and Büttcher, SIGIR 2009.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

DEFAULT_K, DEFAULT_BETA = 60.0, 1.2
DEFAULT_PI = {"code": 0.4, "facet": 0.3, "lane": 0.3, "representative": 0.3}
REPRESENTATIVE = {"A": 1.0, "B": 0.5, "C": 0.2}
LANE_TYPES = ("fulltext", "semantic", "original_dense")
WEIGHTS = (*LANE_TYPES, "code", "code_secondary")
# The specification's names of lanes: they may be weighed whether or not a fusion has such a lane.
LANE_NAMES = ("recall", "precision", *LANE_TYPES)
FRONTIER = (10, 20, 30, 40, 50, 80, 100)
_PREFIX = "fulltext_"
Code = TypeVar("Code")
Column = npt.NDArray[np.float64]


def logical_name(lane_name: str) -> str:
    """recall of fulltext_recall."""
    return lane_name.removeprefix(_PREFIX) or lane_name


@dataclass(frozen=True)
class Lane:
    """A run that is fused: its type, its logical name, its weight, and its publications in order."""

    type: str
    name: str
    weight: float
    docs: tuple[str, ...]


@dataclass(frozen=True)
class Params:
    weights: Mapping[str, float] = field(default_factory=dict)
    lane_weights: Mapping[str, float] = field(default_factory=dict)
    pi_weights: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_PI))
    rrf_k: float = DEFAULT_K
    beta_fuse: float = DEFAULT_BETA

    def with_delta(self, delta: Mapping[str, Any]) -> "Params":
        """These with what `delta` names, as absolute values; within a group, what it does not name stays."""
        return Params(
            weights={**self.weights, **(delta.get("weights") or {})},
            lane_weights={
                **self.lane_weights,
                **{logical_name(name): each for name, each in (delta.get("lane_weights") or {}).items()},
            },
            pi_weights={**self.pi_weights, **(delta.get("pi_weights") or {})},
            rrf_k=self.rrf_k if delta.get("rrf_k") is None else float(delta["rrf_k"]),
            beta_fuse=self.beta_fuse if delta.get("beta_fuse") is None else float(delta["beta_fuse"]),
        )


class Evidence(NamedTuple):
    """What is known of a publication apart from its ranks, each from 0 to 1."""

    code: float = 0.0
    code_secondary: float = 0.0
    facet: float = 0.0
    representative: float = 0.0


@dataclass(frozen=True)
class Fused:
    """A publication in a fusion; `ranks` by the place of the lane, from 0."""

    doc_id: str
    score: float
    rrf: float
    pi: float
    ranks: Mapping[int, int]


class Board:
    """The lanes of a fusion and what is known of their publications, as columns: parameters change, these stay."""

    def __init__(self, lanes: Sequence[Lane], evidence: Mapping[str, Sequence[float]]) -> None:
        """`evidence` has the values of an Evidence by the publication's id; of those left out nothing is known."""
        self.lanes = tuple(lanes)
        self.ids = sorted({doc for lane in lanes for doc in lane.docs})
        places = {doc: at for at, doc in enumerate(self.ids)}
        # 0 where a lane does not hold it.
        self.ranks = np.zeros((len(lanes), len(self.ids)), np.int64)
        for row, lane in zip(self.ranks, lanes, strict=True):
            # From the last to the first: of one that stands twice the better rank stays.
            row[[places[doc] for doc in reversed(lane.docs)]] = np.arange(len(lane.docs), 0, -1)
        nothing = Evidence()
        known = np.array([evidence.get(doc, nothing) for doc in self.ids], np.float64)
        self.code, self.code_secondary, self.facet, self.representative = known.reshape(-1, len(nothing)).T

    def with_representatives(self, known: Mapping[str, float]) -> "Board":
        """The same with R(d) as it is now; the other columns are shared."""
        board = copy(self)
        board.representative = _column(known.get(doc, 0.0) for doc in self.ids)
        return board

    def known(self) -> dict[str, list[float]]:
        """The evidence of those of which there is any."""
        columns = np.stack([self.code, self.code_secondary, self.facet, self.representative], axis=1)
        told = np.flatnonzero(columns.any(axis=1))
        return {self.ids[at]: values for at, values in zip(told, columns[told].tolist(), strict=True)}

    def rank(self, params: Params) -> "Ranking":
        """All publications by their score; of equals the one whose id comes first."""
        factors = np.array([lane_factor(lane, params) for lane in self.lanes])[:, None]
        held = self.ranks > 0
        parts = np.where(held, factors / (params.rrf_k + np.maximum(self.ranks, 1)), 0.0)
        # Sorted, so that the same ranks in other lanes have the same sum.
        rrf = np.sort(parts, axis=0).sum(axis=0)
        pi = self._pi(params.pi_weights, held.mean(axis=0) if len(self.lanes) else np.zeros(0))
        boost = (
            1.0
            + params.beta_fuse * pi
            + params.weights.get("code", 0.0) * self.code
            + params.weights.get("code_secondary", 0.0) * self.code_secondary
        )
        scores = rrf * boost
        return Ranking(self, np.lexsort((-scores,)), scores, rrf, pi, parts * boost)

    def _pi(self, weights: Mapping[str, float], holding: Column) -> Column:
        """π(d), with L(d) = `holding`."""
        total = (
            weights.get("code", 0.0) * self.code
            + weights.get("facet", 0.0) * self.facet
            + weights.get("lane", 0.0) * holding
            + weights.get("representative", 0.0) * self.representative
        )
        return np.clip(total, 0.0, 1.0)


@dataclass(frozen=True)
class Ranking:
    """Publications of a board in order. The columns are by the board's places; `parts` has a row for each lane."""

    board: Board
    order: npt.NDArray[np.int64]
    scores: Column
    rrf: Column
    pi: Column
    parts: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.order)

    def ids(self, first: int | None = None) -> list[str]:
        return [self.board.ids[at] for at in self.order[:first]]

    def fused(self, first: int | None = None) -> list[Fused]:
        chosen = self.order[:first]
        columns = zip(
            chosen.tolist(),
            self.scores[chosen].tolist(),
            self.rrf[chosen].tolist(),
            self.pi[chosen].tolist(),
            self.board.ranks[:, chosen].T.tolist(),
            strict=True,
        )
        return [
            Fused(self.board.ids[at], score, rrf, pi, {lane: rank for lane, rank in enumerate(ranks) if rank})
            for at, score, rrf, pi, ranks in columns
        ]

    def contributions(self, first: int) -> dict[str, float]:
        """Each logical lane's share of the score of the first publications; they add up to 1.

        Where there is no score to share, all lanes have brought the same.
        """
        parts = self.parts[:, self.order[:first]].sum(axis=1)
        total = parts.sum()
        if not total > 0:
            parts, total = np.ones(len(parts)), float(len(parts))
        shares: dict[str, float] = {}
        for lane, share in zip(self.board.lanes, (parts / total).tolist(), strict=True):
            shares[lane.name] = shares.get(lane.name, 0.0) + share
        return shares


def lane_factor(lane: Lane, params: Params) -> float:
    return lane.weight * params.weights.get(lane.type, 1.0) * params.lane_weights.get(lane.name, 1.0)


def fuse(lanes: Sequence[Lane], params: Params, evidence: Mapping[str, Evidence]) -> list[Fused]:
    """Every publication of the lanes, best first."""
    return Board(lanes, evidence).rank(params).fused()


def code_matches(wanted: Mapping[Code, float], held: Sequence[Collection[Code]]) -> Column:
    """P(d) and S(d) of each: the weight of the wanted codes it has, of the weight of all; 0 where none is wanted."""
    found = np.zeros(len(held))
    total = sum(wanted.values())
    if total > 0:
        shares = [(code, weight / total) for code, weight in wanted.items()]
        none_of = frozenset(wanted).isdisjoint  # most publications have none
        for at in [at for at, codes in enumerate(held) if not none_of(codes)]:
            found[at] = sum([share for code, share in shares if code in held[at]])
    return found


def facet_matches(
    terms: Mapping[str, Sequence[str]], weights: Mapping[str, float], texts: Sequence[str]
) -> Column:
    """F(d) of each: of a facet the share of its terms that the text holds, weighted; terms and texts are folded."""
    found = np.zeros(len(texts))
    groups = {name: words for name, words in terms.items() if words}
    total = sum(weights.get(name, 1.0) for name in groups)
    if total > 0:
        for name, words in groups.items():
            share = weights.get(name, 1.0) / total / len(words)
            for word in words:
                found += share * np.array([word in text for text in texts], np.float64)
    return found


@dataclass(frozen=True)
class Point:
    """What to expect of the first `k`."""

    k: int
    precision: float
    recall: float
    f1: float


def frontier(pi: Sequence[float]) -> list[Point]:
    """Of the π of all in order: P*(k) = mean of the first k, R*(k) = their share of all, and F1 of the two."""
    total = sum(pi)
    points = []
    for k in FRONTIER:
        top = sum(pi[:k])
        precision = top / min(k, len(pi)) if pi else 0.0
        recall = top / total if total > 0 else 0.0
        both = precision + recall
        points.append(Point(k, precision, recall, 2 * precision * recall / both if both > 0 else 0.0))
    return points


def _column(values: Iterable[float]) -> Column:
    return np.fromiter(values, np.float64)
