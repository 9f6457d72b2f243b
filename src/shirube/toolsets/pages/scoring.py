"""How pages are ranked: nearness in meaning, in links and in words, added up.

final = α·V + β·G + γ·T, with α 0.7; γ = 0.3·(1 − α) where full text finds anything, else 0; β = 1 − α − γ.
V: the best section's similarity, or 0.8·best + 0.2·mean of the best three where several were found.
G: 1 for pages that hold one of the best 2·limit sections, 1/hops for those linked to them, 0 out of reach.
T: BM25 ÷ the best.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ALPHA = 0.7
_TEXT_SHARE = 0.3
_BEST, _MEAN, _OF = 0.8, 0.2, 3


@dataclass(frozen=True)
class Weights:
    vector: float
    graph: float
    text: float

    @classmethod
    def of(cls, *, text_found: bool, alpha: float = ALPHA) -> "Weights":
        text = _TEXT_SHARE * (1 - alpha) if text_found else 0.0
        return cls(alpha, 1 - alpha - text, text)


@dataclass(frozen=True)
class Score:
    vector: float
    graph: float
    text: float
    total: float


def similarity(sections: Sequence[float]) -> float:
    """What the similarities of a page's sections make together."""
    best = sorted((max(0.0, min(1.0, each)) for each in sections), reverse=True)
    if len(best) < 2:
        return best[0] if best else 0.0
    top = best[:_OF]
    return _BEST * best[0] + _MEAN * sum(top) / len(top)


def proximity(hops: Mapping[str, int], page: str) -> float:
    distance = hops.get(page)
    if distance is None:
        return 0.0
    return 1.0 if distance == 0 else 1.0 / distance


def scored(weights: Weights, vector: float, graph: float, text: float) -> Score:
    return Score(vector, graph, text, weights.vector * vector + weights.graph * graph + weights.text * text)
