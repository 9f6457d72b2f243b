"""LanceDB's own full-text index with its n-gram tokenizer.

Its word tokenizers for Japanese are ICU (built in) and Lindera (with a dictionary the user has to compile); on 197
questions of JaQuAD the n-grams had MRR@10 .900 and ICU .891. They have exactly three characters by default; two are
allowed here as well, or two-character words would match nothing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lancedb
from lancedb.index import FTS
from lancedb.query import MatchQuery

from benchmarks.datasets import Passage
from benchmarks.peers.contract import About

VERSION = f"lancedb {lancedb.__version__}"
NGRAMS = "native full-text index, n-grams of 2 and 3 characters, any may match"


def open_peer(folder: Path, cache: Path | None) -> "LanceFts":
    return LanceFts(folder)


class LanceFts:
    cached_seconds = 0.0

    def __init__(self, folder: Path) -> None:
        self.about = About(VERSION, NGRAMS, keeps_text=True)
        self._folder = folder
        self._table: Any = None

    def build(self, corpus: Sequence[Passage]) -> None:
        self._table = indexed_table(self._folder, [{"id": p.id, "body": p.titled_text} for p in corpus])

    def search(self, query: str, limit: int) -> list[str]:
        found = self._table.search(MatchQuery(query, "body")).select(["id", "_score"]).limit(limit)
        return [row["id"] for row in found.to_list()]


def indexed_table(folder: Path, rows: Sequence[Mapping[str, object]]) -> Any:
    """A table of the rows with a full-text index on `body`; English stems and stop words, the default, are off."""
    table = lancedb.connect(folder).create_table("passages", list(rows))
    table.create_index(
        "body",
        config=FTS(
            base_tokenizer="ngram",
            ngram_min_length=2,
            ngram_max_length=3,
            stem=False,
            remove_stop_words=False,
        ),
    )
    return table
