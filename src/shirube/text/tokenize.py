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

from shirube.text.normalize import fold, without_ignorable

if TYPE_CHECKING:
    from sudachipy import Dictionary, MorphemeList, Tokenizer

# Left out of the words: they carry no subject, and BM25 ranks better without them.
_SILENT = frozenset({"助詞", "助動詞", "補助記号", "空白"})
# Full stops are kept as "", the mark of a sentence border.
_FULL_STOP = ("補助記号", "句点")
# Sudachi refuses more than 49,149 bytes of UTF-8; four bytes a character at most.
_LIMIT = 12_000
_STOPS = "。.!?"
_BREAK = re.compile(r"[。．！？!?\n]")
_LATIN = re.compile(r"[a-z0-9]+")
_SPACE = 0x20
_LETTER, _LATIN_LETTER = 1, 2
# Raised whenever the tokens of a text change: indexes made by another version are built anew.
VERSION = 3


def words(text: str) -> list[str]:
    """The words of `text` in order, in normal form and folded: サーバ and ｻｰﾊﾞｰ are both サーバー."""
    return [word for word in words_and_borders(text) if word]


def words_and_borders(text: str) -> list[str]:
    """The words of `text`, with "" at the borders of its sentences and lines."""
    analyser = _analyser()
    found: list[str] = []
    # Half a surrogate pair is no character.
    for part in _parts(without_ignorable(text).encode("utf-8", "replace").decode()):
        found += analyser.words(part.replace("\n", "。"))
    return found


def without_words(text: str, forms: frozenset[str]) -> str:
    """`text` with a space in place of every word whose normal form is among `forms`."""
    text = text.encode("utf-8", "replace").decode()
    if len(text) > _LIMIT:
        return text
    kept = list(text)
    for start, end, form in _analyser().spans(text):
        if form in forms:
            kept[start:end] = [" "] * (end - start)
    return "".join(kept)


def bigrams(text: str) -> list[str]:
    """Overlapping pairs of characters within runs of letters, in order; Latin words and numbers stay whole.

    A letter that stands alone is a token too, or a text of one character could never be found.
    """
    return joined_bigrams(text).split()


def joined_bigrams(text: str) -> str:
    """The bigrams of `text` in one string, separated by white space."""
    folded = fold(text)
    if folded.isascii():
        return " ".join(_LATIN.findall(folded))
    codes = np.frombuffer(folded.encode("utf-32-le", "replace"), np.uint32)
    kinds = np.zeros(len(codes) + 2, np.uint8)
    kinds[1:-1] = _kinds()[codes]
    letter, latin = kinds == _LETTER, kinds == _LATIN_LETTER
    rows = np.full((len(codes), 3), _SPACE, np.uint32)
    rows[:, 0] = codes
    rows[:-1, 1] = np.where(letter[2:-1], codes[1:], _SPACE)
    kept = np.zeros((len(codes), 3), bool)
    kept[letter[1:-1] & (letter[2:] | ~letter[:-2])] = True
    kept[:, 0] |= latin[1:-1]
    kept[:, 2] |= latin[1:-1] & ~latin[2:]
    return rows[kept].tobytes().decode("utf-32-le")


class _Analyser:
    """One thread's tokenizer; Sudachi's output list is reused from call to call."""

    def __init__(self) -> None:
        from sudachipy.errors import SudachiError

        dictionary, self._silent = _dictionary()
        self._refused: type[Exception] = SudachiError
        self._tokenizer: Tokenizer = dictionary.tokenizer("A", fields={"pos", "normalized_form"})
        self._out: MorphemeList | None = None

    def words(self, text: str) -> list[str]:
        try:
            self._out = out = self._tokenizer.tokenize(text, out=self._out)
        except self._refused:
            # Sudachi normalises before it looks: one character may have become eighteen (U+FDFA).
            if len(text) == 1:
                raise
            half = len(text) // 2
            return self.words(text[:half]) + self.words(text[half:])
        silent, folded = self._silent, _folded_words
        return [folded[m.normalized_form()] for m in out if m.part_of_speech_id() not in silent]

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Where each word stands, and its normal form."""
        try:
            return [(m.begin(), m.end(), m.normalized_form()) for m in self._tokenizer.tokenize(text)]
        except self._refused:
            return []


class _FoldedWords(dict[str, str]):
    """Normal form to token: folded, without full stops, and without white space (a word is one token of the index)."""

    _LIMIT = 500_000

    def __missing__(self, form: str) -> str:
        word = "".join(fold(form).strip(_STOPS).split())
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
def _kinds() -> "np.ndarray[tuple[int], np.dtype[np.uint8]]":
    """What each code point is to a bigram; beyond the basic plane all are taken for letters."""
    table = np.full(0x110000, _LETTER, np.uint8)
    table[:0x10000] = [chr(code).isalnum() for code in range(0x10000)]
    table[:0x80] = [_LATIN_LETTER if _LATIN.match(chr(code)) else 0 for code in range(0x80)]
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
