"""A full-text table of SQLite, shared by the peers that differ in tokenizer and in how a question is asked."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.datasets import Passage
from benchmarks.peers.contract import About


class Fts5:
    cached_seconds = 0.0

    def __init__(
        self, folder: Path, tokenizer: str, terms: Callable[[str], Iterable[str]], note: str
    ) -> None:
        """`terms` turns a question into FTS5 terms; any of them may match, and bm25() ranks."""
        self.about = About(f"SQLite {sqlite3.sqlite_version}", note, keeps_text=True)
        self.connection = sqlite3.connect(folder / "passages.db")
        self._tokenizer = tokenizer
        self._terms = terms

    def build(self, corpus: Sequence[Passage]) -> None:
        with self.connection:
            self.connection.execute(
                f"CREATE VIRTUAL TABLE passages USING fts5(id UNINDEXED, body, tokenize = '{self._tokenizer}')"
            )
            self.connection.executemany(
                "INSERT INTO passages VALUES (?, ?)",
                ((passage.id, passage.titled_text) for passage in corpus),
            )
            self.connection.execute("INSERT INTO passages(passages) VALUES ('optimize')")
        self.connection.execute("VACUUM")

    def search(self, query: str, limit: int) -> list[str]:
        match = " OR ".join(self._terms(query))
        if not match:
            return []
        found = self.connection.execute(
            "SELECT id FROM passages WHERE passages MATCH ? ORDER BY bm25(passages) LIMIT ?", (match, limit)
        )
        return [passage for (passage,) in found]
