"""From a re-ranker's scores to the probability that a passage answers the query."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shirube.models.contract import Scores

# Scores nearer to 0 or 1 than this carry no more information.
_EDGE = 1e-9
_WIDEST_GAP = 5.0


class Calibration(Protocol):
    """A map into 0–1 that keeps the order of one list's scores."""

    @property
    def name(self) -> str: ...

    def __call__(self, scores: Scores) -> Scores: ...


class Uncalibrated:
    """For a re-ranker that nobody has fitted a map for."""

    name = "none"

    def __call__(self, scores: Scores) -> Scores:
        return np.clip(scores, 0.0, 1.0)


@dataclass(frozen=True)
class Standing:
    """The score itself, or, where that is more, what standing out from the rest of the list is worth.

    A question asked in other words than the text's scores low everywhere, yet its best passage is usually right when
    it is well ahead of the second. The weights are fitted with the re-ranker (`benchmarks/train_reranker.py`); neither
    may be negative, or the order of a list would change.
    """

    score: float
    gap: float
    bias: float
    name: str = "standing-2"

    def __call__(self, scores: Scores) -> Scores:
        odds = log_odds(scores)
        standing = self.score * odds + self.gap * gaps(odds) + self.bias
        return np.maximum(scores, 1 / (1 + np.exp(-standing)))


def log_odds(scores: Scores) -> Scores:
    inside = np.clip(scores, _EDGE, 1 - _EDGE)
    odds: Scores = np.log(inside / (1 - inside))
    return odds


def gaps(odds: Scores) -> Scores:
    """How far each is behind the best, and the best ahead of the second. Equals (copies of a text) stand together."""
    distinct = np.unique(np.round(odds, 6))
    if len(distinct) < 2:
        return np.zeros(len(odds))
    second, best = distinct[-2:]
    ahead: Scores = np.where(odds >= best - 1e-6, odds - second, odds - best)
    return np.clip(ahead, -_WIDEST_GAP, _WIDEST_GAP)
