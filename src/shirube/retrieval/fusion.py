"""Several ranked lists to one."""

from collections.abc import Mapping, Sequence

import numpy as np

from shirube.index.contract import Hits
from shirube.retrieval.lanes import Lane

# The constant of reciprocal rank fusion: Cormack, Clarke, Büttcher, SIGIR 2009.
RRF_K = 60


def reciprocal_ranks(
    lanes: Sequence[Lane], weights: Mapping[str, float] | None = None, k: float = RRF_K
) -> Hits:
    """Σ w/(k + rank) over the lanes that hold a key, divided by its maximum Σ w/(k + 1), so 0 to 1; best first."""
    if not any(lane.hits for lane in lanes):
        return Hits()
    weights = weights or {}
    parts = [weights.get(lane.name, 1.0) / (k + lane.ranks) for lane in lanes]
    distinct, place = np.unique(np.concatenate([lane.hits.keys for lane in lanes]), return_inverse=True)
    fused = np.bincount(place, np.concatenate(parts))
    order = np.argsort(-fused, kind="stable")
    highest = sum(weights.get(lane.name, 1.0) for lane in lanes) / (k + 1)
    return Hits(distinct[order], fused[order] / highest)
