"""Several ranked lists to one."""

from collections.abc import Mapping, Sequence

import numpy as np

from shirube.retrieval.lanes import Lane

# The constant of reciprocal rank fusion: Cormack, Clarke, Büttcher, SIGIR 2009.
RRF_K = 60


def reciprocal_ranks(
    lanes: Sequence[Lane], weights: Mapping[str, float] | None = None, k: float = RRF_K
) -> dict[int, float]:
    """Σ w/(k + rank) over the lanes that hold a key, divided by its maximum Σ w/(k + 1), so 0 to 1; best first."""
    if not any(lane.hits for lane in lanes):
        return {}
    weights = weights or {}
    keys = np.concatenate([np.fromiter(lane.ranks, np.int64) for lane in lanes])
    ranks = [np.fromiter(lane.ranks.values(), float) for lane in lanes]
    parts = [weights.get(lane.name, 1.0) / (k + each) for lane, each in zip(lanes, ranks, strict=True)]
    distinct, place = np.unique(keys, return_inverse=True)
    fused = np.bincount(place, np.concatenate(parts))
    order = np.argsort(-fused, kind="stable")
    highest = sum(weights.get(lane.name, 1.0) for lane in lanes) / (k + 1)
    return dict(zip(distinct[order].tolist(), (fused[order] / highest).tolist(), strict=True))
