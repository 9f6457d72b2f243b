"""What an index is asked to do. It holds nothing of its own: everything in it comes from a Feed and can be rebuilt.

A *space* is one separately searched set of entries (a knowledge base, the patents, …) with statistics of its own,
so that nobody's rankings tell anything about another tenant's words.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from shirube.query.filters import Filters
from shirube.query.tree import Node

Vectors = npt.NDArray[np.float32]
Progress = Callable[[int, int], None]
Kind = Literal["words", "bigrams"]
# How much the whole text and the title count beside the best window.
_WHOLE, _TITLE = 0.5, 0.5


@dataclass(frozen=True)
class Layout:
    """The fields of a space's entries. Each text is indexed twice, as words and as character bigrams.

    `phrases` keeps the bigrams' positions, which exact character sequences need. Dates are numbers (days).
    `version` is raised when a feed puts other things into the same fields: indexes are then built anew.
    """

    texts: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    phrases: bool = False
    version: int = 1


@dataclass(frozen=True)
class Entry:
    """One thing that is ranked. Entries of a `group` (a document) are replaced and removed together."""

    key: int
    group: str
    texts: Mapping[str, str]
    keywords: Mapping[str, Sequence[str]] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Weight:
    """How much a text field counts, by words and by bigrams."""

    words: float = 1.0
    bigrams: float = 1.0


@dataclass(frozen=True)
class Holding:
    """A query for entries that hold all of these characters, each sequence somewhere, also inside a word.

    Only letters and figures count; white space and signs between them stand for any. `words` tells of some Latin
    sequences which words of the space hold them, where somebody knows: the index would have to look for them.
    """

    sequences: tuple[str, ...]
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Hit(NamedTuple):
    key: int
    score: float


class Hits(Sequence[Hit]):
    """Entries found, best first. Two arrays side by side: a search finds hundreds and looks at most of them in bulk."""

    def __init__(self, keys: npt.ArrayLike = (), scores: npt.ArrayLike = ()) -> None:
        self.keys: npt.NDArray[np.int64] = np.asarray(keys, np.int64)
        self.scores: npt.NDArray[np.float64] = np.asarray(scores, np.float64)

    def by_key(self) -> dict[int, float]:
        return dict(zip(self.keys.tolist(), self.scores.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Hit]:
        return map(Hit._make, zip(self.keys.tolist(), self.scores.tolist(), strict=True))

    @overload
    def __getitem__(self, at: int) -> Hit: ...

    @overload
    def __getitem__(self, at: slice) -> "Hits": ...

    def __getitem__(self, at: int | slice) -> "Hit | Hits":
        if isinstance(at, slice):
            return Hits(self.keys[at], self.scores[at])
        return Hit(int(self.keys[at]), float(self.scores[at]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Embedded:
    """The vectors of some entries: of the whole, of each of its windows (stretches of a few sentences), of its title.

    `counts` says how many of `windows` belong to each entry; an embedder may leave windows and titles out.
    """

    whole: Vectors
    windows: Vectors
    counts: npt.NDArray[np.int64]
    titles: Vectors | None = None

    @classmethod
    def of_whole(cls, whole: Vectors) -> "Embedded":
        return cls(whole, whole[:0], np.zeros(len(whole), np.int64))

    @classmethod
    def joined(cls, parts: Sequence["Embedded"]) -> "Embedded":
        titles = [part.titles for part in parts if part.titles is not None]
        return cls(
            np.concatenate([part.whole for part in parts]),
            np.concatenate([part.windows for part in parts]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate(titles) if titles else None,
        )

    def __len__(self) -> int:
        return len(self.whole)

    def rows(self, chosen: Sequence[int]) -> "Embedded":
        """The entries at these places, in this order."""
        at = np.asarray(chosen, np.int64)
        starts = np.cumsum(self.counts) - self.counts
        taken = [np.arange(starts[row], starts[row] + self.counts[row]) for row in at]
        windows = self.windows[np.concatenate(taken)] if taken else self.windows[:0]
        titles = None if self.titles is None else self.titles[at]
        return Embedded(self.whole[at], windows, self.counts[at], titles)


@dataclass(frozen=True)
class Similarity:
    """Cosines of a query to some entries: to the whole, the best window, the title. nan where there is no vector.

    `clauses` has a row for each clause of the query: its cosines to the entries' best windows.
    """

    whole: npt.NDArray[np.float64]
    window: npt.NDArray[np.float64]
    title: npt.NDArray[np.float64]
    clauses: npt.NDArray[np.float64]

    @property
    def score(self) -> npt.NDArray[np.float64]:
        """What a window says, and a little of what stands around and above it; within −1 and 1 as a cosine is."""
        body = (self.window + _WHOLE * self.whole) / (1 + _WHOLE)
        titled = (self.window + _WHOLE * self.whole + _TITLE * self.title) / (1 + _WHOLE + _TITLE)
        return np.where(np.isnan(titled), body, titled)

    @classmethod
    def unknown(cls, entries: int, clauses: int = 0) -> "Similarity":
        whole, window, title = np.full((3, entries), np.nan)
        return cls(whole, window, title, np.full((clauses, entries), np.nan))


@dataclass(frozen=True)
class Terms:
    """Some entries' words in order, by text field, as fingerprints; 0 stands at sentence borders."""

    keys: Sequence[int]
    words: Mapping[str, Sequence[npt.NDArray[np.uint32]]]


@dataclass(frozen=True)
class Change:
    """A group that was put or removed: its latest revision and how many entries it has now."""

    group: str
    revision: int
    entries: int


class Feed(Protocol):
    """What a space is derived from: groups of entries and a revision that grows with every change."""

    def revision(self) -> int: ...

    def count(self) -> int:
        """How many entries there are."""
        ...

    def keys(self) -> Sequence[int]:
        """The keys of all entries."""
        ...

    def changes(self, since: int) -> Sequence[Change]:
        """The groups touched after revision `since`, each once, by their latest revision ascending."""
        ...

    def entries(self, groups: Sequence[str]) -> Iterator[Entry]:
        """The entries of those groups as they are now; nothing for a group that is gone."""
        ...

    def entries_by_key(self, keys: Sequence[int]) -> Iterator[Entry]: ...


Query: TypeAlias = str | Node | Holding


class TextSpace(Protocol):
    """Full text of one space."""

    @property
    def revision(self) -> int:
        """The feed's revision that the index contains."""
        ...

    def count(self) -> int: ...

    def search(self, query: Query, weights: Mapping[str, Weight], filters: Filters, limit: int) -> Hits:
        """The best entries: by any of a text's words and bigrams, or by what a query tree or sequences mean."""
        ...

    def find(
        self, query: Query, weights: Mapping[str, Weight], filters: Filters, limit: int
    ) -> tuple[Hits, int]:
        """What `search` finds, and how many it would find without a limit."""
        ...

    def matches(self, query: Query, filters: Filters) -> int:
        """How many entries `search` would find without a limit."""
        ...

    def facets(self, field: str, filters: Filters, limit: int) -> dict[str, int]: ...

    def rarity(self, tokens: Iterable[str], text: str, kind: Kind = "words") -> dict[str, float]:
        """The inverse document frequency of each word or bigram in the field `text`."""
        ...

    def terms(self, keys: Sequence[int]) -> Terms:
        """The words of those entries, for re-ranking; in the order of `keys`, missing ones left out."""
        ...


class VectorSpace(Protocol):
    """Vectors of one space, all of one model."""

    def keys(self) -> npt.NDArray[np.uint64]: ...

    def search(self, vector: Vectors, filters: Filters, limit: int) -> Hits:
        """The nearest entries among those that pass the filters, by a mean of the cosines of whole and window."""
        ...

    def similarity(self, vectors: Vectors, keys: Sequence[int]) -> Similarity:
        """How near the entries of these keys are to a query: its vector, and after it those of its clauses."""
        ...
