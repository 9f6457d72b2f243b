"""Retrieval measures over rankings {query id: passage ids, best first} and judgements {query id: {passage id: grade}}.

Each is the mean over the queries of the rankings, an empty ranking counting as 0; a query without a relevant
passage is an error, since no ranking could be right for it.
"""

from collections.abc import Callable, Mapping, Sequence
from math import log2

import numpy as np

Rankings = Mapping[str, Sequence[str]]
Qrels = Mapping[str, Mapping[str, int]]


def ndcg(rankings: Rankings, qrels: Qrels, depth: int = 10) -> float:
    """DCG = Σ grade(i) / log2(i + 1) over ranks i = 1 … depth, divided by the DCG of the best order (as trec_eval)."""

    def of_query(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
        gained = _dcg([grades.get(passage, 0) for passage in ranked[:depth]])
        return gained / _dcg(sorted(grades.values(), reverse=True)[:depth])

    return _mean(of_query, rankings, qrels)


def mrr(rankings: Rankings, qrels: Qrels, depth: int = 10) -> float:
    """1 / rank of the first relevant passage; 0 when it is not among the first `depth`."""

    def of_query(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
        return next((1 / rank for rank, passage in enumerate(ranked[:depth], 1) if passage in grades), 0.0)

    return _mean(of_query, rankings, qrels)


def hit(rankings: Rankings, qrels: Qrels, depth: int = 1) -> float:
    """1 when any relevant passage is among the first `depth`, else 0."""

    def of_query(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
        return float(any(passage in grades for passage in ranked[:depth]))

    return _mean(of_query, rankings, qrels)


def recall(rankings: Rankings, qrels: Qrels, depth: int) -> float:
    """Relevant passages among the first `depth`, divided by all relevant passages."""

    def of_query(ranked: Sequence[str], grades: Mapping[str, int]) -> float:
        return sum(passage in grades for passage in ranked[:depth]) / len(grades)

    return _mean(of_query, rankings, qrels)


MEASURES: Mapping[str, Callable[[Rankings, Qrels], float]] = {
    "nDCG@10": ndcg,
    "MRR@10": mrr,
    "hit@1": hit,
    "recall@10": lambda rankings, qrels: recall(rankings, qrels, 10),
    "recall@100": lambda rankings, qrels: recall(rankings, qrels, 100),
}


def all_measures(rankings: Rankings, qrels: Qrels) -> dict[str, float]:
    return {name: measure(rankings, qrels) for name, measure in MEASURES.items()}


def percentile(values: Sequence[float], percent: float) -> float:
    """Linear between the two nearest values, as numpy does; of no values it is an error."""
    return float(np.percentile(values, percent))


def _dcg(grades: Sequence[int]) -> float:
    return sum(grade / log2(rank + 1) for rank, grade in enumerate(grades, 1))


def _mean(
    of_query: Callable[[Sequence[str], Mapping[str, int]], float], rankings: Rankings, qrels: Qrels
) -> float:
    if not rankings:
        raise ValueError("no rankings to measure")
    return sum(
        of_query(_once(query, ranked), _relevant(query, qrels)) for query, ranked in rankings.items()
    ) / len(rankings)


def _once(query: str, ranked: Sequence[str]) -> Sequence[str]:
    if len(set(ranked)) != len(ranked):
        raise ValueError(f"a passage is ranked twice for query {query}")
    return ranked


def _relevant(query: str, qrels: Qrels) -> dict[str, int]:
    relevant = {passage: grade for passage, grade in qrels.get(query, {}).items() if grade > 0}
    if not relevant:
        raise ValueError(f"query {query} has no relevant passage")
    return relevant
