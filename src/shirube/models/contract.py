"""What the pipeline asks of a model. A model is loaded on first use and named by one setting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float64]


class Embedder(Protocol):
    """Texts to vectors of one length. `name` stands for these very vectors: another name, other vectors."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Matrix: ...

    def embed_query(self, text: str) -> npt.NDArray[np.float32]: ...


@dataclass(frozen=True)
class Question:
    """A query with its distinct words (as the index's fingerprints) and how rare each is."""

    text: str
    words: npt.NDArray[np.uint32]
    rarity: Scores


@dataclass(frozen=True)
class Candidates:
    """What is to be ranked: each passage's text and words, and what the lanes said of it (nan where they did not)."""

    texts: Sequence[str]
    words: Sequence[npt.NDArray[np.uint32]]
    sparse: Scores
    dense: Scores

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
