"""Texts as the index takes them: words, bigrams and fingerprints."""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shirube.text.normalize import fold
from shirube.text.tokenize import words_and_bigrams, words_and_borders

_TITLE = 120
# Stands where something is written between two runs of letters: 東京、京都 does not hold 東京都.
BORDER = "|"
# Runs as `text.tokenize.bigrams` knows them: Latin words and numbers, or other letters.
_RUN = re.compile(r"[a-z0-9]+|(?:[^\W\x00-\x7f]|[\U00010000-\U0010ffff])+")


class _Fingerprints(dict[str, int]):
    """A word as a number, the same in every process; a sentence border is 0."""

    _LIMIT = 500_000

    def __missing__(self, word: str) -> int:
        number = (zlib.crc32(word.encode()) or 1) if word else 0
        if len(self) < self._LIMIT:
            self[word] = number
        return number


fingerprints = _Fingerprints()


class Tokens(NamedTuple):
    """A text's words and bigrams, each separated by white space, and its words' fingerprints as bytes."""

    words: str
    bigrams: str
    fingerprints: bytes


def tokens_of_batch(texts: Sequence[dict[str, str]], phrases: bool) -> list[dict[str, Tokens]]:
    return [{name: tokens_of(text, phrases) for name, text in each.items()} for each in texts]


def tokens_of(text: str, phrases: bool) -> Tokens:
    """Titles come again with every passage of a document: short texts are remembered."""
    return _of_title(text, phrases) if len(text) <= _TITLE else _tokens(text, phrases)


def sequence(text: str) -> list[str]:
    """The bigrams of `text` with a border between runs of letters that do not touch."""
    tokens: list[str] = []
    end = 0
    for run in _RUN.finditer(fold(text)):
        if tokens and run.start() > end:
            tokens.append(BORDER)
        letters, end = run[0], run.end()
        whole = letters.isascii() or len(letters) == 1
        tokens += [letters] if whole else map("".join, pairwise(letters))
    return tokens


def _tokens(text: str, phrases: bool) -> Tokens:
    words, bigrams = (
        (words_and_borders(text), " ".join(sequence(text))) if phrases else words_and_bigrams(text)
    )
    numbers = np.array([fingerprints[word] for word in words] + [0], np.uint32)
    return Tokens(" ".join(words), bigrams, numbers.tobytes())


_of_title = lru_cache(1000)(_tokens)
