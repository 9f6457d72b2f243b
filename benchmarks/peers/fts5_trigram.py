"""SQLite FTS5 with its trigram tokenizer: substrings of three characters or more; shorter words match nothing."""

import re
from pathlib import Path

from benchmarks.peers.fts5 import Fts5

_SIZE = 3
_HIRAGANA = re.compile(r"[ぁ-ゖ]+")


def open_peer(folder: Path, cache: Path | None) -> Fts5:
    note = "every three characters of the question that are not all hiragana, joined by OR"
    return Fts5(folder, "trigram", trigrams, note)


def trigrams(question: str) -> list[str]:
    """Each three characters between marks and spaces once, in quotes; all hiragana only for want of others.

    Without endings such as ですか the same nDCG@10 (.840, 150 questions of JaQuAD) takes less than half the time.
    """
    runs = re.findall(r"\w+", question)
    windows = [run[start : start + _SIZE] for run in runs for start in range(len(run) - _SIZE + 1)]
    content = [window for window in windows if not _HIRAGANA.fullmatch(window)]
    return [f'"{window}"' for window in dict.fromkeys(content or windows)]
