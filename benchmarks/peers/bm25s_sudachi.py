"""bm25s over Sudachi's short units in normal form, without particles, auxiliaries and marks."""

import json
from collections.abc import Sequence
from pathlib import Path

import bm25s
from sudachipy import Dictionary

from benchmarks.datasets import Passage
from benchmarks.peers.contract import About

# bm25s' own defaults (Lucene's variant of the formula).
K1 = 1.5
B = 0.75
# Sudachi refuses more than 49,149 bytes; a character takes four at most.
_CHARACTERS = 12_000
_LEFT_OUT = [("助詞",), ("助動詞",), ("補助記号",), ("空白",)]


def open_peer(folder: Path, cache: Path | None) -> "Bm25sSudachi":
    return Bm25sSudachi(folder)


class Bm25sSudachi:
    cached_seconds = 0.0

    def __init__(self, folder: Path, k1: float = K1) -> None:
        self.about = About(
            f"bm25s {bm25s.__version__}",
            f"Sudachi split A, normal forms, no particles; Lucene's formula, k1 = {k1}, b = {B}, numpy",
            keeps_text=False,
        )
        self._folder = folder
        self._index = bm25s.BM25(k1=k1, b=B)
        self._ids: list[str] = []
        dictionary = Dictionary()
        self._tokenizer = dictionary.tokenizer("A", fields={"pos", "normalized_form"})
        self._left_out = dictionary.pos_matcher(_LEFT_OUT)

    def build(self, corpus: Sequence[Passage]) -> None:
        self._ids = [passage.id for passage in corpus]
        self._index.index([self.words(passage.titled_text) for passage in corpus], show_progress=False)
        self._index.save(self._folder, show_progress=False)
        (self._folder / "ids.json").write_text(json.dumps(self._ids), encoding="utf-8")

    def search(self, query: str, limit: int) -> list[str]:
        # bm25s refuses to give more results than there are passages, and fills up with those that score 0.
        depth = min(limit, len(self._ids))
        found, scores = self._index.retrieve([self.words(query)], k=depth, show_progress=False)
        return [self._ids[row] for row, score in zip(found[0], scores[0], strict=True) if score > 0]

    def words(self, text: str) -> list[str]:
        return [
            morpheme.normalized_form()
            for start in range(0, len(text), _CHARACTERS)
            for morpheme in self._tokenizer.tokenize(text[start : start + _CHARACTERS])
            if not self._left_out(morpheme)
        ]
