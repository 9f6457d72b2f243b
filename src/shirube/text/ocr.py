"""Long vowel marks that a scan has turned into something else: マネ-ジャ- is マネージャー, and セブン-イレブン stays.

A dash-like sign in or after katakana is a candidate. Three witnesses are heard, in this order: the same text,
where it spells the word elsewhere; the dictionary, by which all signs of a run are read together; and the
letters themselves, where nothing can begin with what follows or end with what precedes. Without a witness
nothing is changed.

What only the letters say, or nobody, is doubtful: a language model may be asked about it, and about nothing else.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from shirube.text.normalize import fold, fold_with_map
from shirube.text.ocr_reading import Sign, Stretch, marks
from shirube.text.ocr_words import (
    DASHES,
    FOLLOWING,
    KATAKANA,
    LONG,
    LOOK_ALIKES,
    NEVER_LONG,
    all_known,
    numbers,
)

Reason = Literal["same_text", "dictionary", "letters", "llm"]

_HALF_LONG = "ｰ"
_SIGNS = re.escape(DASHES + LOOK_ALIKES)
_RUN = re.compile(rf"[{KATAKANA}][{KATAKANA}ー{_SIGNS}]*")
# In a row of a table, which begins with a bar, bars are borders.
_ROW = re.compile(r"[ \t\u3000]*+[|｜]")
_CELL = re.compile(rf"[{KATAKANA}](?:(?![|｜])[{KATAKANA}ー{_SIGNS}])*")
_WORD = re.compile(rf"[{KATAKANA}][{KATAKANA}ー]+")
_SIGN = re.compile(rf"[{_SIGNS}]")
_LETTER = re.compile(rf"[{KATAKANA}]")
_NEVER_FIRST = frozenset("ンッァィゥェォャュョヮ")
# キャッシュ is a word, and that is known; コンピュ is none.
_SELDOM_LAST = frozenset("ュョ")
_VOWELS = "アイウエオ"
# So many letters of a word are enough to know it again.
_TELLING = 3
# So much of a run is looked at together; words are shorter.
_STRETCH = 120


@dataclass(frozen=True)
class Change:
    """At `offset` of the text as it was, `before` became `after`."""

    offset: int
    before: str
    after: str
    reason: Reason


@dataclass(frozen=True)
class Doubt:
    """The sign at `offset` may be a letter, which is one of `letters`. `change` is what its neighbours alone say."""

    offset: int
    sign: str
    letters: str
    change: Change | None


def long_vowels(text: str) -> tuple[str, list[Change]]:
    """The text with its long vowel marks restored, and what was changed; everything else stays as it is."""
    changes, _ = judged_signs(text)
    return changed(text, changes), changes


def judged_signs(text: str) -> tuple[list[Change], list[Doubt]]:
    """What has to be changed in a text, and where that is doubtful; both in the order of the text."""
    changes, doubts = [], []
    for change, doubt in _judgements(text):
        if change:
            changes.append(change)
        if doubt:
            doubts.append(doubt)
    return changes, doubts


def changed(text: str, changes: Iterable[Change]) -> str:
    letters = list(text)
    for change in changes:
        letters[change.offset] = change.after
    return "".join(letters)


def _judgements(text: str) -> Iterator[tuple[Change | None, Doubt | None]]:
    spelt: _Spelt | None = None
    for first, last in _runs(text):
        spelt = spelt or _Spelt(text)
        for start in range(first, last, _STRETCH):
            yield from _in_stretch(text, start, min(start + _STRETCH, last), spelt)


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Where katakana and signs stand together."""
    for run in _RUN.finditer(text):
        if _SIGN.search(run[0]):
            if _ROW.match(text, text.rfind("\n", 0, run.start()) + 1):
                yield from (cell.span() for cell in _CELL.finditer(text, *run.span()))
            else:
                yield run.span()


def _in_stretch(
    text: str, start: int, end: int, spelt: "_Spelt"
) -> Iterator[tuple[Change | None, Doubt | None]]:
    """A stretch of katakana and signs, whose signs are judged together."""
    written = text[start:end]
    places = _places(written)
    judged = _judged(written, places, text[end : end + FOLLOWING], spelt)
    for at in places:
        change = None
        half = "ｦ" <= written[at - 1] <= "ﾟ"
        letter, reason = judged.get(at, (None, None))
        if letter and reason:
            if letter == LONG and half:
                letter = _HALF_LONG
            if letter != written[at]:
                change = Change(start + at, written[at], letter, reason)
        doubtful = reason in (None, "letters") and _may_be_long(text, start + at)
        if doubtful:
            inside = _LETTER.match(text, start + at + 1)
            letters = _HALF_LONG if half else LONG if inside else LONG + _VOWELS
            yield change, Doubt(start + at, written[at], letters, change)
        else:
            yield change, None


def _may_be_long(text: str, at: int) -> bool:
    """Whether a sign after katakana can be a letter: not between signs, before a number, or where no vowel is."""
    before, after = text[at - 1], text[at + 1 : at + 2]
    if not _LETTER.match(before) or before in NEVER_LONG or text[at] == _HALF_LONG:
        return False
    if text[at] in LOOK_ALIKES:
        return bool(_LETTER.match(after))
    return not _SIGN.match(after) and after != LONG and not numbers(text[at + 1 : at + 1 + FOLLOWING])


def _places(written: str) -> list[int]:
    """Where the signs are; the first letter of a stretch is none of them."""
    return [sign.start() for sign in _SIGN.finditer(written, 1)]


def _judged(
    written: str, places: Sequence[int], after: str, spelt: "_Spelt"
) -> dict[int, tuple[str, Reason]]:
    """The letters that stand for the signs at some of these places, and who says so."""
    judged: dict[int, tuple[str, Reason]] = {}
    for at in places:
        if letter := _spelt_elsewhere(written, at, after, spelt):
            judged[at] = letter, "same_text"
    # Nothing beyond the stretch is looked at where katakana follows the last sign.
    for at in _in_dictionary(_with_letters(written, judged), after if _SIGN.match(written[-1]) else ""):
        judged[at] = LONG, "dictionary"
    if len(judged) < len(places):
        read = _with_letters(written, judged)
        for at in places:
            if at not in judged and _by_letters(read, at):
                judged[at] = LONG, "letters"
    return judged


def _with_letters(written: str, judged: Mapping[int, tuple[str, Reason]]) -> str:
    if not judged:
        return written
    letters = list(written)
    for at, (letter, _) in judged.items():
        letters[at] = letter
    return "".join(letters)


def _spelt_elsewhere(written: str, at: int, after: str, spelt: "_Spelt") -> str | None:
    """The letter that the same text has elsewhere in place of a sign."""
    before, behind = _around(written, at)
    if written[at] in LOOK_ALIKES and all_known(fold(before)):
        return None
    numbering = at + 1 == len(written) and numbers(after)
    return None if numbering else spelt.instead(before, behind)


@lru_cache(10_000)
def _in_dictionary(written: str, after: str) -> tuple[int, ...]:
    """The places of the signs that are marks by the dictionary."""
    places = _places(written)
    if not places:
        return ()
    letters, folded_places = _folded(_SIGN.sub(LONG, written), places)
    around = written + after
    signs = tuple(
        Sign(folded_at, written[at], around[at + 1 : at + 1 + FOLLOWING])
        for at, folded_at in zip(places, folded_places, strict=True)
    )
    return tuple(places[number] for number in marks(Stretch(letters, signs)))


def _folded(written: str, places: Sequence[int]) -> tuple[str, Sequence[int]]:
    """Folded letters, and where the places are in them: ﾋﾟ becomes one letter."""
    folded = fold(written)
    if len(folded) == len(written):
        return folded, places
    with_map = fold_with_map(written)
    return with_map.text, [with_map.starts.index(at) for at in places]


def _by_letters(written: str, at: int) -> bool:
    """Whether a sign is a mark, as no word begins with what follows or ends with what precedes."""
    before, behind = _around(written, at)
    if not behind or written[at] not in DASHES:
        return False
    return behind[0] in _NEVER_FIRST or (before[-1:] in _SELDOM_LAST and not all_known(fold(before)))


def _around(written: str, at: int) -> tuple[str, str]:
    """The letters on both sides of a sign, up to the next signs."""
    return _SIGN.split(written[:at])[-1], _SIGN.split(written[at + 1 :])[0]


class _Spelt:
    """The katakana words that a text spells out."""

    def __init__(self, text: str) -> None:
        self._text = text

    def instead(self, before: str, behind: str) -> str | None:
        """The letter that stands elsewhere between these, if one does: キャリ-では beside キャリアコンサルティング."""
        if len(before) + len(behind) < _TELLING:
            return None
        for size in range(min(len(before), 2 * _TELLING), 0, -1):
            left = before[-size:]
            if behind:
                if left + LONG + behind in self._words:
                    return LONG
            elif size >= _TELLING:
                for letter in LONG + _VOWELS:
                    if left + letter in self._beginnings and all_known(fold(left + letter)):
                        return letter
        return None

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(found[0] for found in _WORD.finditer(self._text))

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(word[:size] for word in self._words for size in range(_TELLING, 2 * _TELLING + 2))
