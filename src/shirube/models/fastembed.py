"""Embedders that the fastembed library fetches from a hub by name, where one can be reached, and keeps.

They are kept where `FASTEMBED_CACHE_PATH` says, or in the folder for temporary files.
"""

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy.typing as npt

from shirube.models.deadline import TIMEOUTS, Timeouts, within
from shirube.models.errors import ModelError

# The library leaves these to its caller; as the models' cards give them, by a part of the name.
_PREFIXES = {
    "multilingual-e5": ("query: ", "passage: "),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
    "qwen3-embedding": (
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
        "",
    ),
}
_BATCH = 32


class FastembedEmbedder:
    def __init__(self, setting: str, model: str, timeouts: Timeouts = TIMEOUTS) -> None:
        self.name = self.setting = setting
        self._name = model
        self._timeouts = timeouts
        self._lock = threading.Lock()
        fitting = (pair for part, pair in _PREFIXES.items() if part in model.lower())
        self._query, self._passage = next(fitting, ("", ""))

    def embed(self, texts: Sequence[str]) -> npt.ArrayLike:
        prefixed = [self._passage + text for text in texts]
        return list(self._loaded().passage_embed(prefixed, batch_size=_BATCH))

    def embed_query(self, text: str) -> npt.ArrayLike:
        """The first may have to fetch the model; a query does not wait for that, and a later one finds it there."""

        def vector() -> npt.ArrayLike:
            return next(iter(self._loaded().query_embed(self._query + text)))  # type: ignore[no-any-return]

        return within(self._timeouts.query, self.setting, vector)

    def _loaded(self) -> Any:
        with self._lock:
            return self._model

    @cached_property
    def _model(self) -> Any:
        from fastembed import TextEmbedding

        try:
            return TextEmbedding(self._name)
        except Exception as error:
            raise ModelError(
                self.setting,
                "the model is not known to fastembed or cannot be fetched; is a hub within reach?",
            ) from error
