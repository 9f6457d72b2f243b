"""The Latin words of a folder of pages, to know at once which of them hold some letters."""

import re
from collections.abc import Iterable

from shirube.text.normalize import fold

# Runs as the index knows them.
_WORD = re.compile(r"[a-z0-9]+")
# For letters that more words hold, a walk through the index's own dictionary is as quick.
_MOST = 300


class Vocabulary:
    """Only grows: a word that is gone is in no index either."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._joined = "\n"

    def __len__(self) -> int:
        return len(self._words)

    def add(self, texts: Iterable[str]) -> None:
        new: set[str] = set()
        for text in texts:
            new.update(_WORD.findall(fold(text)))
        new -= self._words
        if new:
            self._words |= new
            self._joined += "\n".join(sorted(new)) + "\n"

    def holding(self, letters: str) -> tuple[str, ...] | None:
        """The words with these letters in them; None where there are many."""
        found: list[str] = []
        at = self._joined.find(letters)
        while at >= 0:
            start = self._joined.rfind("\n", 0, at) + 1
            end = self._joined.find("\n", at)
            found.append(self._joined[start:end])
            if len(found) > _MOST:
                return None
            at = self._joined.find(letters, end)
        return tuple(found)
