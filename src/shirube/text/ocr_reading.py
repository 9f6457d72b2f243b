"""Which signs of a stretch of katakana are long vowel marks, and which are borders between words.

Every sign is tried as both, and the reading with the fewest unknown letters, then the fewest words, is kept.
A word may end with its mark, so a reading is made of pieces that end with a border, a mark, or the stretch.
"""

from collections.abc import Iterator
from typing import NamedTuple

from shirube.text.ocr_words import LOOK_ALIKES, End, all_known, is_mark, known_spans

# Pieces with more marks inside are not tried: the time grows with the text alone. Long compounds, like
# コーポレートガバナンスレポートフォーマット, have as many.
_MOST_INSIDE = 4
# An unknown letter is worse than a word more. Between readings of as many words a border is worse than a
# mark, and worst is a mark whose word cuts the letters behind it in two: サル-デザイン is not サルーデ + ザイン.
_UNKNOWN, _WORD, _CUTS, _BORDER = 200, 100, 2, 1
# So much behind a mark tells whether a word begins there.
_BEHIND = 12


class Sign(NamedTuple):
    """A sign at `at` of the folded letters, and what is written behind it."""

    at: int
    written: str
    following: str


class Stretch(NamedTuple):
    """Folded letters, with a long vowel mark in place of every sign."""

    letters: str
    signs: tuple[Sign, ...]

    def start(self, number: int) -> int:
        """Where the letters before the sign of that number begin."""
        return self.signs[number - 1].at + 1 if number else 0

    def end(self, number: int) -> int:
        """Where they end."""
        return self.signs[number].at if number < len(self.signs) else len(self.letters)


class _Reading(NamedTuple):
    cost: int
    marks: tuple[int, ...] = ()


def marks(stretch: Stretch) -> tuple[int, ...]:
    """The numbers of those signs that are marks."""
    count = len(stretch.signs)
    best = [_Reading(0)]
    if count <= _MOST_INSIDE and (word := _one_word(best[0], stretch)):
        return word.marks
    for last in range(count + 1):
        readings = (
            reading
            for first in range(max(0, last - _MOST_INSIDE), last + 1)
            for reading in _with_piece(best[first], stretch, first, last)
        )
        best.append(min(readings, key=lambda reading: reading.cost))
    return best[-1].marks


def _one_word(nothing: _Reading, stretch: Stretch) -> _Reading | None:
    """The reading as a single word, which no other can be better than; most runs are one."""
    count = len(stretch.signs)
    last = count - 1 if stretch.signs[-1].at + 1 == len(stretch.letters) else count
    readings = _with_piece(nothing, stretch, 0, last)
    return next((reading for reading in readings if reading.cost == _WORD), None)


def _with_piece(reading: _Reading, stretch: Stretch, first: int, last: int) -> Iterator[_Reading]:
    """A reading with one piece more, in which the signs from `first` to before `last` are marks."""
    for number in range(first, last):
        if _is_its_own(stretch, first, number):
            return
    start, end = stretch.start(first), stretch.end(last)
    read = (*reading.marks, *range(first, last))
    cost = _cost(stretch, first, last, end)
    border = _BORDER if last < len(stretch.signs) else 0
    if cost is not None:
        yield _Reading(reading.cost + cost + border, read)
    if border and start < end:
        cost = _cost(stretch, first, last, end + 1)
        if cost is not None and _ends_with_mark(stretch, first, last):
            yield _Reading(reading.cost + cost, (*read, last))


def _is_its_own(stretch: Stretch, first: int, number: int) -> bool:
    """Whether a sign that only looks like a mark stands between words."""
    sign = stretch.signs[number]
    if sign.written not in LOOK_ALIKES:
        return False
    start, end = stretch.start(first), stretch.end(number + 1)
    if any(begin < sign.at - start < stop - 1 for begin, stop in known_spans(stretch.letters[start:end])):
        return False  # インタ一ネット: one word, though both its parts are words too
    return all_known(stretch.letters[start : sign.at]) and all_known(stretch.letters[sign.at + 1 : end])


def _cost(stretch: Stretch, first: int, last: int, end: int) -> int | None:
    """What a piece up to `end` costs; None if a mark is not inside a word, or follows unknown letters."""
    start = stretch.start(first)
    words = known_spans(stretch.letters[start:end])
    cuts = known = 0
    for number in range(first, last):
        at = stretch.signs[number].at - start
        known = next((stop for begin, stop in words if begin < at < stop - 1), 0)
        if not known:
            return None
        cuts += known < stretch.end(number + 1) - start
    if known and sum(stop - begin for begin, stop in words if stop <= known) < known:
        return None
    unknown = end - start
    for begin, stop in words:
        if stop - begin > 1:
            unknown -= stop - begin
    return unknown * _UNKNOWN + len(words) * _WORD + cuts * _CUTS


def _ends_with_mark(stretch: Stretch, first: int, last: int) -> bool:
    """Whether the sign `last` can be the mark at the end of a piece."""
    start, sign = stretch.start(first), stretch.signs[last]
    piece = stretch.letters[start : sign.at + 1]
    if not all_known(piece):
        return False
    stem = known_spans(piece)[-1][0]
    misread = any(each.at - start > stem for each in stretch.signs[first:last])
    behind = (
        stretch.letters[sign.at + 1 : stretch.end(last + 1)],
        stretch.letters[sign.at + 1 : sign.at + 1 + _BEHIND],
    )
    return is_mark(End(piece[:-1], piece[stem:-1], sign.written, sign.following, behind, misread))
