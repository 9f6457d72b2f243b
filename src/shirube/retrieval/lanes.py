"""A lane: one ranked list from one retriever, with its own scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shirube.index.contract import Hit


@dataclass(frozen=True)
class Lane:
    name: str
    hits: Sequence[Hit]

    @cached_property
    def keys(self) -> list[int]:
        return list(self.scores)

    @cached_property
    def ranks(self) -> dict[int, int]:
        return shared_ranks(self.scores)

    @cached_property
    def scores(self) -> dict[int, float]:
        return {key: score for key, score in self.hits}  # noqa: C416  # dict() takes named tuples the slow way


def shared_ranks(scores: Mapping[int, float]) -> dict[int, int]:
    """Key to rank, from 1. Equal scores share a rank: an order among them would be an accident of insertion."""
    changed = np.diff(np.fromiter(scores.values(), float, len(scores)), prepend=np.nan) != 0
    ranks = np.maximum.accumulate(np.where(changed, np.arange(1, len(scores) + 1), 0))
    return dict(zip(scores, ranks.tolist(), strict=True))
