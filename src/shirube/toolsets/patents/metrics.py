"""Structural metrics of a fusion, over its top 50. One function a formula."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

TOP = 50
# How much of the top 50's score the first three may have before the shape counts as too steep.
_STEEP = 0.35


@dataclass(frozen=True)
class Metrics:
    LAS: float
    CCW: float
    S_shape: float
    F_struct: float
    Fproxy: float


def lane_agreement(lanes: Sequence[Sequence[str]]) -> float:
    """LAS: mean pairwise Jaccard of the lanes' top 50; 0 with one lane."""
    tops = [set(docs[:TOP]) for docs in lanes]
    pairs = [len(a & b) / len(a | b) if a | b else 0.0 for a, b in combinations(tops, 2)]
    return sum(pairs) / len(pairs) if pairs else 0.0


def code_concentration(codes: Iterable[Iterable[str]]) -> float:
    """CCW: 1 − H/log n over all codes of the top 50; 1 with one code, 0 with none."""
    counts = Counter(code for of_doc in codes for code in of_doc)
    if len(counts) < 2:
        return float(len(counts))
    total = counts.total()
    entropy = -sum(count / total * math.log(count / total) for count in counts.values())
    # Equal shares may come out a hair above log n.
    return max(0.0, 1.0 - entropy / math.log(len(counts)))


def score_shape(scores: Sequence[float]) -> float:
    """S_shape: the share of the first three in the top 50's score; 0 below three documents."""
    top = scores[:TOP]
    total = sum(top)
    return sum(top[:3]) / total if len(top) >= 3 and total > 0 else 0.0


def structural_metrics(
    lanes: Sequence[Sequence[str]], codes: Iterable[Iterable[str]], scores: Sequence[float]
) -> Metrics:
    """`codes` are those of the top 50, one collection a document."""
    agreement, concentration, shape = lane_agreement(lanes), code_concentration(codes), score_shape(scores)
    both = agreement + concentration
    structure = 2 * agreement * concentration / both if both > 0 else 0.0
    steepness = max(0.0, (shape - _STEEP) / (1 - _STEEP))
    return Metrics(agreement, concentration, shape, structure, structure * (1 - steepness))
