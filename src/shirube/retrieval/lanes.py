"""A lane: one ranked list from one retriever, with its own scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from shirube.index.contract import Hit


@dataclass(frozen=True)
class Lane:
    name: str
    hits: Sequence[Hit]

    @cached_property
    def keys(self) -> list[int]:
        return [hit.key for hit in self.hits]

    @cached_property
    def ranks(self) -> dict[int, int]:
        """Key to rank, from 1. Equal scores share a rank: an order among them would be an accident of insertion."""
        ranks: dict[int, int] = {}
        rank, last = 0, None
        for place, hit in enumerate(self.hits, 1):
            if hit.score != last:
                rank, last = place, hit.score
            ranks[hit.key] = rank
        return ranks

    @cached_property
    def scores(self) -> dict[int, float]:
        return {hit.key: hit.score for hit in self.hits}
