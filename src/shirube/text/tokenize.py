"""Japanese text as words (Sudachi's short units in their normal form) and as character bigrams.

Sudachi frees the interpreter while it works, so threads tokenise on all cores; each thread has its own tokenizer
over one shared, memory-mapped dictionary.
"""

import re
import threading
import warnings
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from shirube.text.normalize import fold

if TYPE_CHECKING:
    from sudachipy import Dictionary, MorphemeList, Tokenizer

# Left out of the words: they carry no subject, and BM25 ranks better without them.
_SILENT = frozenset({"助詞", "助動詞", "補助記号", "空白"})
# Full stops are kept as "", the mark of a sentence border.
_FULL_STOP = ("補助記号", "句点")
# Sudachi refuses more than 49,149 bytes of UTF-8; four bytes a character at most.
_LIMIT = 12_000
_STOPS = frozenset("。.!?！？｡．")
_BREAK = re.compile(r"[。．！？!?\n]")
_LATIN = re.compile(r"[a-z0-9]+")
_SPACE = 0x20
# Raised whenever the tokens of a text change: indexes made by another version are built anew.
VERSION = 1


def words(text: str) -> list[str]:
    """The words of `text` in order, in normal form and folded: サーバ and ｻｰﾊﾞｰ are both サーバー."""
    return [word for word in words_and_borders(text) if word]


def words_and_borders(text: str) -> list[str]:
    """The words of `text`, with "" at the borders of its sentences and lines."""
    analyser = _analyser()
    found: list[str] = []
    for part in _parts(text.encode("utf-8", "replace").decode()):  # half a surrogate pair is no character
        found += analyser.words(part.replace("\n", "。"))
    return found


def bigrams(text: str) -> list[str]:
    """Overlapping pairs of characters within runs of letters; Latin words and numbers stay whole.

    A letter that stands alone is a token too, or a text of one character could never be found.
    """
    return joined_bigrams(text).split()


def joined_bigrams(text: str) -> str:
    """The bigrams of `text` in one string, separated by white space."""
    folded = fold(text)
    latin = " ".join(_LATIN.findall(folded))
    if folded.isascii():
        return latin
    codes = np.frombuffer(folded.encode("utf-32-le", "replace"), np.uint32)
    letter = np.zeros(len(codes) + 2, bool)
    letter[1:-1] = _letters()[codes]
    here, after = letter[1:-1], letter[2:]
    pairs = np.full((len(codes), 3), _SPACE, np.uint32)
    pairs[:, 0] = codes
    pairs[:-1, 1] = np.where(after[:-1], codes[1:], _SPACE)
    kept = here & (after | ~letter[:-2])
    return pairs[kept].tobytes().decode("utf-32-le") + latin


class _Analyser:
    """One thread's tokenizer; Sudachi's output list is reused from call to call."""

    def __init__(self) -> None:
        dictionary, self._silent = _dictionary()
        self._tokenizer: Tokenizer = dictionary.tokenizer("A", fields={"pos", "normalized_form"})
        self._out: MorphemeList | None = None

    def words(self, text: str) -> list[str]:
        self._out = out = self._tokenizer.tokenize(text, out=self._out)
        silent, folded = self._silent, _folded_words
        return [folded[m.normalized_form()] for m in out if m.part_of_speech_id() not in silent]


class _FoldedWords(dict[str, str]):
    """Normal form to token: folded, and without white space (a word is one token of the index)."""

    _LIMIT = 500_000

    def __missing__(self, form: str) -> str:
        word = "" if form[:1] in _STOPS else "".join(fold(form).split())
        if len(self) < self._LIMIT:
            self[form] = word
        return word


_folded_words = _FoldedWords()


@cache
def _dictionary() -> "tuple[Dictionary, frozenset[int]]":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from sudachipy import Dictionary

        dictionary = Dictionary()
    silent = set()
    number = 0
    while (pos := dictionary.pos_of(number)) is not None:
        if pos[0] in _SILENT and pos[:2] != _FULL_STOP:
            silent.add(number)
        number += 1
    return dictionary, frozenset(silent)


@cache
def _letters() -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which code points are letters outside ASCII; beyond the basic plane all are taken for letters."""
    table = np.ones(0x110000, bool)
    table[:0x10000] = [chr(code).isalnum() for code in range(0x10000)]
    table[:0x80] = False
    return table


_threads = threading.local()
_loading = threading.Lock()


def _analyser() -> _Analyser:
    analyser: _Analyser | None = getattr(_threads, "analyser", None)
    if analyser is None:
        with _loading:
            analyser = _threads.analyser = _Analyser()
    return analyser


def _parts(text: str) -> Iterator[str]:
    """Stretches that Sudachi accepts, cut after a sentence where there is one."""
    start = 0
    while len(text) - start > _LIMIT:
        end = start + _LIMIT
        breaks = [m.end() for m in _BREAK.finditer(text, start + _LIMIT // 2, end)]
        end = breaks[-1] if breaks else end
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]
