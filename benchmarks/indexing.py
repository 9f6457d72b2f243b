"""`make bench`: from stored passages to an index that answers, beside peers; writes benchmarks/indexing.md.

python -m benchmarks.indexing
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.datasets import Dataset, load, with_distractors, with_queries
from benchmarks.machine import machine_lines
from benchmarks.ours import Searcher
from benchmarks.peers.contract import NotRun
from benchmarks.peers.environment import run_peer

REPORT = Path(__file__).with_name("indexing.md")
PEERS = ("fts5_unicode61", "fts5_trigram", "bm25s_sudachi", "lancedb_fts")
ROUNDS = 6
# Peers are asked a few questions to show that what they built answers.
QUESTIONS = 5


@dataclass
class Built:
    """How fast each build of an index was, in passages a second, and how large it became."""

    speeds: list[float] = field(default_factory=list)
    bytes_a_passage: float = 0.0
    note: str = ""

    def row(self, name: str) -> str:
        if not self.speeds:
            return f"| {name} | not run: {self.note} | | | |"
        figures = (max(self.speeds), sorted(self.speeds)[len(self.speeds) // 2], min(self.speeds))
        shown = " | ".join(f"{each:,.0f}" for each in (*figures, self.bytes_a_passage))
        return f"| {name} | {shown} |"


def main() -> None:
    joined = with_distractors(load("jaquad-dev"), load("jaquad-train"))
    jaquad = with_queries(joined, QUESTIONS)
    lines = [
        "# Benchmark: building an index",
        "",
        *machine_lines("JaQuAD (CC BY-SA 3.0)"),
        "",
        "Passages a second from stored passages to a committed index that answers, without vectors; "
        f"{ROUNDS} builds each, in turn, since a shared machine's speed wanders. Shirube's index holds words and pairs "
        "of characters.",
        "",
    ]
    characters = sum(len(each.text) for each in jaquad.corpus) / len(jaquad.corpus)
    lines += [
        f"## {len(jaquad.corpus):,} passages of {characters:,.0f} characters",
        "",
        "| engine | fastest | median | slowest | bytes a passage |",
        "| --- | --- | --- | --- | --- |",
        *(each.row(name) for name, each in _built(jaquad).items()),
    ]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"written: {REPORT.name}")


def _built(data: Dataset) -> dict[str, Built]:
    count = len(data.corpus)
    found = {name: Built() for name in ("**Shirube**", *PEERS)}
    ours = found["**Shirube**"]
    with tempfile.TemporaryDirectory() as folder:
        searcher = Searcher(Path(folder), data.corpus, vectors=False)
        for number in range(ROUNDS):
            print(f"indexing: round {number + 1} of {ROUNDS}")
            started = time.perf_counter()
            searcher.space.rebuild()
            ours.speeds.append(count / (time.perf_counter() - started))
            _check(searcher, data)
            for name in PEERS:
                result = run_peer(name, data)
                if isinstance(result, NotRun):
                    found[name].note = result.reason
                else:
                    found[name].speeds.append(result.passages_per_second)
                    found[name].bytes_a_passage = result.bytes_on_disk / count
        ours.bytes_a_passage = searcher.bytes_of("text-") / count
        searcher.close()
    return found


def _check(searcher: Searcher, data: Dataset) -> None:
    """An index that holds nothing is quickly built."""
    held: Sequence[str] = searcher.search(next(iter(data.queries.values())), 10, "sparse")
    if searcher.space.count() != len(data.corpus) or not held:
        raise AssertionError("the index does not hold what it was given")


if __name__ == "__main__":
    main()
