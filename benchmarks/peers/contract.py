"""What the runner asks of a peer, and what it reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.datasets import Passage

PEERS = ("fts5_unicode61", "fts5_trigram", "bm25s_sudachi", "lancedb_fts", "lancedb_hybrid", "txtai_hybrid")


@dataclass(frozen=True)
class About:
    version: str
    note: str
    """How the peer was set up, in one line."""
    keeps_text: bool
    """Whether its files hold the passages themselves and not only an index."""


class Peer(Protocol):
    @property
    def about(self) -> About: ...

    @property
    def cached_seconds(self) -> float:
        """What `build` would have taken longer without the cache."""

    def build(self, corpus: Sequence[Passage]) -> None: ...

    def search(self, query: str, limit: int) -> list[str]:
        """Ids of passages, best first, none twice; nothing when nothing matches."""


class Opens(Protocol):
    def __call__(self, folder: Path, cache: Path | None) -> Peer:
        """A peer that keeps its files in `folder`, which is empty, and what is slow to compute in `cache`."""


@dataclass(frozen=True)
class Probe:
    """Two-character words against sentences that hold them."""

    asked: int
    answered: int
    """Queries that brought any result."""
    found: int
    """Queries whose first result holds the word."""
    missed: Sequence[str]


@dataclass(frozen=True)
class PeerResult:
    peer: str
    version: str
    note: str
    passages: int
    seconds_to_build: float
    """From passages in memory to the first search; what came from a cache is counted as when it was computed."""
    passages_per_second: float
    bytes_on_disk: int
    keeps_text: bool
    resident_before: int | None
    """Bytes of memory before building, libraries loaded; None where the system does not tell."""
    resident_growth: int | None
    """Bytes more after building and searching, pages of a dictionary that were read meanwhile included."""
    latency_ms_p50: float
    latency_ms_p95: float
    probe: Probe
    rankings: dict[str, list[str]]


@dataclass(frozen=True)
class NotRun:
    peer: str
    reason: str
