"""Texts as the index takes them: words, bigrams and fingerprints."""

import re
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from shirube.text.normalize import fold
from shirube.text.tokenize import words_and_bigrams

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
_END = array("I", [0]).tobytes()


class Tokens(NamedTuple):
    """A text's words and bigrams, each separated by white space, and its words' fingerprints as bytes."""

    words: str
    bigrams: str
    fingerprints: bytes


def tokens_of_batch(texts: Sequence[dict[str, str]], phrases: bool) -> list[dict[str, Tokens]]:
    """The tokens of each text by its name. Titles come again with every passage of a document: they are remembered."""
    long = [text for each in texts for text in each.values() if len(text) > _TITLE]
    made = dict(zip(long, _tokens(long, phrases), strict=True))
    return [
        {name: made.get(text) or _of_title(text, phrases) for name, text in each.items()} for each in texts
    ]


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


def _tokens(texts: Iterable[str], phrases: bool) -> Iterator[Tokens]:
    for words, bigrams in words_and_bigrams(texts, BORDER if phrases else None):
        numbers = array("I", [fingerprints[word] for word in words])
        yield Tokens(" ".join(words), bigrams, numbers.tobytes() + _END)


@lru_cache(1000)
def _of_title(text: str, phrases: bool) -> Tokens:
    [tokens] = _tokens([text], phrases)
    return tokens
