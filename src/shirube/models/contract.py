"""What the pipeline asks of a model. A model is loaded on first use and named by one setting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float64]


class Embedder(Protocol):
    """Texts to vectors of one length. `name` stands for these very vectors: another name, other vectors.

    `setting` is what `SHIRUBE_EMBEDDER` has to be for this model.
    """

    @property
    def name(self) -> str: ...

    @property
    def setting(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Matrix: ...

    def embed_query(self, text: str) -> npt.NDArray[np.float32]: ...


@runtime_checkable
class WindowEmbedder(Embedder, Protocol):
    """An embedder for which the vectors of a text's windows cost next to nothing beside that of the text."""

    def embed_windows(self, texts: Sequence[Sequence[str]]) -> tuple[Matrix, Matrix]:
        """The vectors of texts given as consecutive windows, and those of all windows in order."""
        ...


@runtime_checkable
class ClauseEmbedder(Embedder, Protocol):
    """An embedder for which the vectors of a query's clauses cost next to nothing beside that of the query."""

    def embed_clauses(self, clauses: Sequence[str]) -> Matrix:
        """The vector of a query given as its consecutive clauses, and after it those of the clauses."""
        ...


@dataclass(frozen=True)
class Question:
    """A query's distinct words in order (as the index's fingerprints) and pairs of characters, and how rare each is."""

    text: str
    words: npt.NDArray[np.uint32]
    rarity: Scores
    pairs: npt.NDArray[np.uint32]
    pair_rarity: Scores


@dataclass(frozen=True)
class Candidates:
    """What is to be ranked: texts and titles, also as words (the index's fingerprints), and what the lanes said.

    `sparse` is the score of the full-text lane; the others are cosines of the query's vector to the whole passage, its
    best window and its title. nan stands where there is none. `clauses` has a row for each clause, where a query has
    several: its cosines to the passages' best windows.
    """

    texts: Sequence[str]
    title_texts: Sequence[str]
    words: Sequence[npt.NDArray[np.uint32]]
    titles: Sequence[npt.NDArray[np.uint32]]
    sparse: Scores
    whole: Scores
    window: Scores
    title: Scores
    clauses: Scores | None = None

    def __len__(self) -> int:
        return len(self.texts)


class Reranker(Protocol):
    """How well each candidate answers the question, 0 to 1, higher is better."""

    @property
    def name(self) -> str: ...

    def scores(self, question: Question, candidates: Candidates) -> Scores: ...


class Generator(Protocol):
    """Free-form prose from a prompt."""

    @property
    def name(self) -> str: ...

    def generate(self, prompt: str) -> str: ...
