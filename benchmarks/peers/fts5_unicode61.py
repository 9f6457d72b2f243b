"""SQLite FTS5 with its default tokenizer, which takes all Japanese between two marks or spaces for one word."""

import re
from pathlib import Path

from benchmarks.peers.fts5 import Fts5

_HIRAGANA = re.compile(r"[ぁ-ゖ]+")
_RUN = re.compile(r"[ぁ-ゖ]+|[ァ-ヺー]+|[^\W\u3041-\u30ff]+")


def open_peer(folder: Path, cache: Path | None) -> Fts5:
    return Fts5(
        folder, "unicode61", terms, "runs of kanji, katakana or letters as prefixes (word*), joined by OR"
    )


def terms(question: str) -> list[str]:
    """Runs of one script as prefixes, since a text's word goes on after them; hiragana only for want of others."""
    runs = list(dict.fromkeys(_RUN.findall(question)))
    content = [run for run in runs if not _HIRAGANA.fullmatch(run)]
    return [f'"{run}"*' for run in content or runs]
