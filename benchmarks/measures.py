"""The measures of `shirube eval`, for the benchmark and for its peers in their own environment."""

import sys
from pathlib import Path

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

__all__ = ["MEASURES", "Qrels", "Rankings", "all_measures", "hit", "mrr", "ndcg", "percentile", "recall"]
