"""Models from outside behind the contract: each call passes the breaker, each answer is checked.

A broken or mixed vector would spoil an index without a word, so what is not beyond doubt is a `ModelError`.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from shirube.models.breaker import Breaker
from shirube.models.contract import Candidates, Matrix, Question, Scores
from shirube.models.errors import ModelError

# Many servers refuse an empty text, and no vector is no answer; a full stop says as little.
_BLANK = "。"


class Named(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def setting(self) -> str: ...


class RawEmbedder(Named, Protocol):
    """An embedder whose answers are yet to be checked."""

    def embed(self, texts: Sequence[str]) -> npt.ArrayLike: ...

    def embed_query(self, text: str) -> npt.ArrayLike: ...


class RawReranker(Named, Protocol):
    def scores(self, question: str, texts: Sequence[str]) -> npt.ArrayLike: ...


class RawGenerator(Named, Protocol):
    def generate(self, prompt: str) -> object: ...


Model = TypeVar("Model", bound=Named)


class _Guarded(Generic[Model]):
    """A model by its own name, with the breaker that every call to it passes."""

    def __init__(self, model: Model, breaker: Breaker | None = None) -> None:
        self._model = model
        self._breaker = breaker or Breaker()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def setting(self) -> str:
        return self._model.setting


class GuardedEmbedder(_Guarded[RawEmbedder]):
    """Unit vectors of one dimension: that of the first good answer."""

    def __init__(self, model: RawEmbedder, breaker: Breaker | None = None) -> None:
        super().__init__(model, breaker)
        self._dimension: int | None = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self._dimension or 0), np.float32)
        with _attempt(self._breaker, self.setting):
            return self._checked(self._model.embed([_sendable(text) for text in texts]), len(texts))

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        with _attempt(self._breaker, self.setting):
            vector = _numbers(self.setting, self._model.embed_query(_sendable(text)))
            return self._checked(vector[np.newaxis], 1)[0]  # type: ignore[no-any-return]

    def _checked(self, rows: npt.ArrayLike, count: int) -> Matrix:
        vectors = _numbers(self.setting, rows)
        if vectors.ndim != 2:
            raise ModelError(self.setting, "the answer is not one vector for each text")
        if len(vectors) != count:
            raise ModelError(self.setting, f"{len(vectors)} vectors for {count} texts")
        if not np.isfinite(vectors).all():
            raise ModelError(self.setting, "a vector with a number that is not finite")
        with np.errstate(over="ignore", under="ignore"):
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ModelError(self.setting, "a vector without a direction")
        with self._lock:
            if self._dimension is None:
                self._dimension = vectors.shape[1]
            if vectors.shape[1] != self._dimension:
                raise ModelError(
                    self.setting, f"vectors of {vectors.shape[1]} dimensions, {self._dimension} before"
                )
        return (vectors / lengths).astype(np.float32)  # type: ignore[no-any-return]


class GuardedReranker(_Guarded[RawReranker]):
    def scores(self, question: Question, candidates: Candidates) -> Scores:
        if not candidates.texts:
            return np.zeros(0)
        with _attempt(self._breaker, self.setting):
            texts = [_sendable(text) for text in candidates.texts]
            scores = _numbers(self.setting, self._model.scores(_sendable(question.text), texts))
            if scores.shape != (len(texts),):
                raise ModelError(self.setting, f"scores of shape {scores.shape} for {len(texts)} texts")
            # Also false for what is not a number.
            if not ((scores >= 0) & (scores <= 1)).all():
                raise ModelError(self.setting, "a score that is not between 0 and 1")
            return scores


class GuardedGenerator(_Guarded[RawGenerator]):
    def generate(self, prompt: str) -> str:
        with _attempt(self._breaker, self.setting):
            text = self._model.generate(_sendable(prompt))
            if not isinstance(text, str) or not text.strip():
                raise ModelError(self.setting, "an answer without text")
            return text


@contextmanager
def _attempt(breaker: Breaker, model: str) -> Iterator[None]:
    """A call through the breaker; whatever fails in it leaves as a `ModelError`."""
    try:
        with breaker.attempt(model):
            yield
    except ModelError:
        raise
    except Exception as error:
        # Its message is left out: it might quote a text.
        raise ModelError(model, f"failed with {type(error).__name__}") from error


def _numbers(model: str, answer: npt.ArrayLike) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(answer, np.float64)
    except (ValueError, TypeError, OverflowError):
        raise ModelError(model, "rows of different lengths, or not of numbers") from None


def _sendable(text: str) -> str:
    """The text with half surrogates replaced, which no wire and no tokenizer takes."""
    whole = text.encode("utf-8", "replace").decode()
    return whole if whole.strip() else _BLANK
