"""Several ranked lists to one."""

from collections.abc import Mapping, Sequence

from shirube.retrieval.lanes import Lane

# The constant of reciprocal rank fusion: Cormack, Clarke, Büttcher, SIGIR 2009.
RRF_K = 60


def reciprocal_ranks(
    lanes: Sequence[Lane], weights: Mapping[str, float] | None = None, k: float = RRF_K
) -> dict[int, float]:
    """Σ w/(k + rank) over the lanes that hold a key, divided by its maximum Σ w/(k + 1), so 0 to 1; best first."""
    weights = weights or {}
    fused: dict[int, float] = {}
    for lane in lanes:
        weight = weights.get(lane.name, 1.0)
        for key, rank in lane.ranks.items():
            fused[key] = fused.get(key, 0.0) + weight / (k + rank)
    highest = sum(weights.get(lane.name, 1.0) for lane in lanes) / (k + 1)
    return {key: fused[key] / highest for key in sorted(fused, key=lambda key: (-fused[key], key))}
