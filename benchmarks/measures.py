"""The measures of `shirube eval`, for the benchmark and for its peers in their own environment."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

# The peers' Python has no Shirube installed; what is taken from it here needs nothing that they lack.
sys.path.append(str(Path(__file__).resolve().parents[1] / "src"))

from shirube.evaluate.measures import (
    MEASURES,
    Qrels,
    Rankings,
    all_measures,
    hit,
    mrr,
    ndcg,
    percentile,
    recall,
)

__all__ = [
    "MEASURES",
    "Qrels",
    "Rankings",
    "all_measures",
    "hit",
    "mrr",
    "ndcg",
    "percentile",
    "recall",
    "search_times",
]

ROUNDS = 5
_TIMED = 300


def search_times(
    search: Callable[[str], object], queries: Sequence[str], rounds: int = ROUNDS
) -> list[float]:
    """Milliseconds a query, one by one, in the fastest of some rounds: a shared machine's speed wanders."""
    asked = queries[:: max(1, len(queries) // _TIMED)][:_TIMED]
    timed = []
    for _ in range(rounds):
        times = []
        for query in asked:
            started = perf_counter()
            search(query)
            times.append((perf_counter() - started) * 1000)
        timed.append(times)
    return min(timed, key=lambda times: percentile(times, 50))
