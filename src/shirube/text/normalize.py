"""The search form of a text, and the way back to the characters the user wrote.

`fold` leaves out what has no look of its own (zero-width characters, variation selectors), then is NFKC, case folding,
NFKC again, then a one-to-one table (dashes, old kanji). `fold_with_map` gives the same string with the origin of every
character, so that a hit in the folded text can be cited in the original. Both are linear on any input: long runs of
combining marks, which normalisation sorts in quadratic time, are cut. Folding twice changes nothing but such a run.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from shirube.text.invisible import IGNORABLE
from shirube.text.kanji import OLD_TO_NEW

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_UNIFY = str.maketrans({**dict.fromkeys(_DASHES, "-"), "\u301c": "~", **OLD_TO_NEW})
_UNIFIED = re.compile("[" + "".join(map(chr, _UNIFY)) + "]")

_IGNORABLE = re.compile(f"[{IGNORABLE}\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")

# More marks than this on one letter are no writing; UAX #15 (stream-safe text) draws its line at 30.
_RUN = 32
# So few marks are sorted in a millisecond however they stand.
_SHORT = 1000
# Where such a run may be: marks and ignorable characters are no letters, but for these.
_MARK_RUN = re.compile(rf"(?:[^\w\s]|[ﾞﾟ\u115f\u1160\u3164\uffa0]){{{_RUN},}}")

# Characters that normalisation leaves alone and that never join the one before them.
_PLAIN = re.compile(r"[\x00-\x7fぁ-ゖァ-ヺー一-鿿、。「」・]+")

# Starters that canonical composition may still join to the character before (Unicode 16, outside Hangul).
_JOINING = frozenset(
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u0fb5\u0fb7\u102e\u1b35"
    "\U00011127\U0001133e\U00011357\U000113b8\U000113bb\U000113c2\U000113c9\U000114b0\U000114ba\U000114bd\U000115af"
    "\U00011930\U0001611e\U0001611f\U00016120\U00016129\U00016d67"
)


@dataclass(frozen=True)
class Folded:
    """A folded text; character i comes from the original's [starts[i], ends[i])."""

    text: str
    starts: "array[int]"
    ends: "array[int]"

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The original's span behind the folded span [start, end)."""
        if start >= end:
            at = self.starts[start] if start < len(self.starts) else (self.ends[-1] if self.ends else 0)
            return at, at
        return self.starts[start], self.ends[end - 1]


def fold(text: str) -> str:
    """The search form of `text`."""
    if text.isascii():
        return text.lower()
    if _PLAIN.fullmatch(text):
        return _unified(text.lower())
    return "".join(_fold_piece(text[start:end]) for start, end in _pieces(text))


def fold_with_map(text: str) -> Folded:
    """The search form of `text` with the origin of every character."""
    out: list[str] = []
    starts, ends = array("q"), array("q")
    for start, end, plain in _segments(text):
        folded = _fold_piece(text[start:end])
        out.append(folded)
        if plain:
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
        else:
            starts.extend([start] * len(folded))
            ends.extend([end] * len(folded))
    return Folded("".join(out), starts, ends)


def without_ignorable(text: str) -> str:
    """`text` without the characters that have no look of their own."""
    return _IGNORABLE.sub("", text)


def _fold_piece(piece: str) -> str:
    composed = unicodedata.normalize("NFKC", without_ignorable(piece))
    small = composed.casefold()
    return _unified(unicodedata.normalize("NFKC", small) if small != composed else small)


def _unified(text: str) -> str:
    return text.translate(_UNIFY) if _UNIFIED.search(text) else text


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Stretches that are normalised on their own: the whole text, cut after every _RUN marks on one letter."""
    if len(text) <= _SHORT:
        yield 0, len(text)
        return
    start = 0
    for run in _MARK_RUN.finditer(text):
        marks = 0
        for at in range(run.start(), run.end()):
            marks = 0 if _starts_afresh(text[at]) else marks + 1
            if marks == _RUN:
                yield start, at + 1
                start, marks = at + 1, 0
    if start < len(text):
        yield start, len(text)


def _segments(text: str) -> Iterator[tuple[int, int, bool]]:
    """The smallest stretches whose folding does not depend on their neighbours; whether it is one to one."""
    for piece_start, piece_end in _pieces(text):
        at = piece_start
        while at < piece_end:
            plain = _PLAIN.match(text, at, piece_end)
            if plain:
                # The last one is held back where a mark may follow it.
                end = plain.end() if plain.end() == piece_end else plain.end() - 1
                if end > at:
                    yield at, end, True
                    at = end
            if at < piece_end:
                end = at + 1
                while end < piece_end and not _starts_afresh(text[end]):
                    end += 1
                yield at, end, False
                at = end


@cache
def _starts_afresh(char: str) -> bool:
    """Whether folding never joins `char` to, or moves it before, what stands in front of it."""
    first = unicodedata.normalize("NFKD", char)[0]
    if unicodedata.combining(first) or first in _JOINING or _IGNORABLE.match(char):
        return False
    return not ("\u1160" <= first <= "\u11ff")
