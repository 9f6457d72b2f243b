"""A lane: one ranked list from one retriever, with its own scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shirube.index.contract import Hits

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Lane:
    name: str
    hits: Hits

    @cached_property
    def ranks(self) -> Numbers:
        """From 1. Equal scores share a rank: an order among them would be an accident of insertion."""
        places = np.arange(1.0, len(self.hits) + 1)
        changed = np.diff(self.hits.scores, prepend=np.nan) != 0
        return np.maximum.accumulate(np.where(changed, places, 0))

    def of(self, key: int) -> tuple[float, int] | None:
        """The score and the rank of an entry, if the lane has found it."""
        at = self._places.get(key)
        return None if at is None else (float(self.hits.scores[at]), int(self.ranks[at]))

    @cached_property
    def _places(self) -> dict[int, int]:
        return {key: at for at, key in enumerate(self.hits.keys.tolist())}

    def standing(self, keys: Sequence[int]) -> tuple[Numbers, Numbers]:
        """The scores and the ranks of these entries; nan for those that the lane has not found."""
        scores, ranks = np.full((2, len(keys)), np.nan)
        if len(self.hits):
            order = np.argsort(self.hits.keys)
            at = np.searchsorted(self.hits.keys, keys, sorter=order)
            place = order[np.minimum(at, len(order) - 1)]
            here = self.hits.keys[place] == keys
            scores[here], ranks[here] = self.hits.scores[place[here]], self.ranks[place[here]]
        return scores, ranks
