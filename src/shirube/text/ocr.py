"""Long vowel marks that a scan has turned into something else: マネ-ジャ- is マネージャー, and セブン-イレブン stays.

A dash-like sign in or after katakana is a candidate. Three witnesses are heard, in this order: the same text, where it
spells the word elsewhere; the dictionary, where the word with a long vowel mark is in it; and the letters themselves,
where nothing can begin with what follows or end with what precedes. Without a witness nothing is changed.

What only the letters say, or nobody, is doubtful: a language model may be asked about it, and about nothing else.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from shirube.text.normalize import fold, fold_with_map
from shirube.text.tokenize import dictionary_spans, words

Reason = Literal["same_text", "dictionary", "letters", "llm"]
Spans = Sequence[tuple[int, int]]

_LONG, _HALF_LONG = "ー", "ｰ"
_DASHES = "-‐‑‒–—―−－ｰ─━"
# They are letters and signs of their own; for a long vowel they stand only where nothing else can be meant.
_LOOK_ALIKES = "一|｜"
_KATAKANA = "ァ-ヺｦ-ｯｱ-ﾟ"
_SIGNS = re.escape(_DASHES + _LOOK_ALIKES)
_RUN = re.compile(rf"[{_KATAKANA}][{_KATAKANA}ー{_SIGNS}]*")
_WORD = re.compile(rf"[{_KATAKANA}][{_KATAKANA}ー]+")
_SIGN = re.compile(rf"[{_SIGNS}]")
_LETTER = re.compile(rf"[{_KATAKANA}]")
# A sign before these numbers or names something: アミノ－１, カメラ一体型.
_NUMBERING = re.compile(r"[0-9０-９A-Za-zＡ-Ｚａ-ｚα-ωΑ-Ω一二三四五六七八九十〇]")
# A word that may do without its long vowel has it before these: ユーザ－は, but アルファ－酸化鉄.
_AFTER_A_WORD = re.compile(r"[ぁ-ゖ、。，．,.」』）)\s]")
_SHORTEST = 2
_NEVER_FIRST = frozenset("ンッァィゥェォャュョヮ")
_NEVER_LAST = frozenset("ュョ")
# No vowel is there to be long.
_NEVER_LONG = frozenset("ンッﾝｯ")
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
    for run in _RUN.finditer(text):
        if not _SIGN.search(run[0]):
            continue
        spelt = spelt or _Spelt(text)
        for start in range(0, len(run[0]), _STRETCH):
            yield from _in_stretch(
                text, run.start() + start, min(run.start() + start + _STRETCH, run.end()), spelt
            )


def _in_stretch(
    text: str, start: int, end: int, spelt: "_Spelt"
) -> Iterator[tuple[Change | None, Doubt | None]]:
    """A stretch of katakana and signs: every sign is tried as a long vowel at once, then each is judged."""
    written = text[start:end]
    folded = fold_with_map(_SIGN.sub(_LONG, written))
    known = [folded.origin(*span) for span in dictionary_spans(folded.text)]
    for sign in _SIGN.finditer(written, 1):
        at, change = sign.start(), None
        half = "ｦ" <= written[at - 1] <= "ﾟ"
        judged = _judged(written, at, text[end : end + 1], known, spelt)
        if judged:
            letter, reason = judged
            if letter == _LONG and half:
                letter = _HALF_LONG
            if letter != written[at]:
                change = Change(start + at, written[at], letter, reason)
        doubtful = (judged is None or judged[1] == "letters") and _may_be_long(text, start + at)
        if doubtful:
            inside = _LETTER.match(text, start + at + 1)
            letters = _HALF_LONG if half else _LONG if inside else _LONG + _VOWELS
            yield change, Doubt(start + at, written[at], letters, change)
        else:
            yield change, None


def _may_be_long(text: str, at: int) -> bool:
    """Whether a sign after katakana can be a letter: not between signs, before a number, or where no vowel is."""
    before, after = text[at - 1], text[at + 1 : at + 2]
    if not _LETTER.match(before) or before in _NEVER_LONG or text[at] == _HALF_LONG:
        return False
    if text[at] in _LOOK_ALIKES:
        return bool(_LETTER.match(after))
    return not _SIGN.match(after) and after != _LONG and not _NUMBERING.match(after)


def _judged(written: str, at: int, after: str, known: Spans, spelt: "_Spelt") -> tuple[str, Reason] | None:
    """The letter that stands for the sign at `at`, and who says so."""
    before, behind = _SIGN.split(written[:at])[-1], _SIGN.split(written[at + 1 :])[0]
    numbering = at + 1 == len(written) and _NUMBERING.match(after)
    may_be_a_letter = written[at] in _DASHES or not _all_known(before)
    if not numbering and may_be_a_letter and (letter := spelt.instead(before, behind)):
        return letter, "same_text"
    reach = _reach(known, at - len(before), at)
    if reach is None:
        never = behind and (behind[0] in _NEVER_FIRST or before[-1:] in _NEVER_LAST)
        return (_LONG, "letters") if never and written[at] in _DASHES else None
    apart = _apart(before, written[at], behind, after if at + 1 == len(written) else "", reach > at + 1)
    return None if apart else (_LONG, "dictionary")


def _reach(known: Spans, start: int, at: int) -> int | None:
    """Where the word ends that has the sign at `at` in it, if everything from `start` to there is in the dictionary."""
    for first, last in known:
        if last <= start:
            continue
        if first > start:
            return None
        if first < at < last:
            return last
        start = last
    return None


def _apart(before: str, sign: str, behind: str, after: str, goes_on: bool) -> bool:
    """Whether the sign is more likely one than a long vowel, though the dictionary has the word with it."""
    if sign in _LOOK_ALIKES:
        if goes_on:
            return _all_known(before) and _all_known(behind)
        return len(before) < _SHORTEST or _all_known(before) or bool(_NUMBERING.match(after))
    if goes_on:
        return False
    # The word ends with the sign. エネルギ is エネルギー to Sudachi, アルファ is not アルファー.
    if behind:
        return _all_known(before)
    if len(before) < _SHORTEST or _all_known(before):
        usual = words(before)[-1:]
        either = bool(usual) and usual[0].endswith(_LONG) and not before.endswith(_LONG)
        return bool(_NUMBERING.match(after)) if either else bool(after) and not _AFTER_A_WORD.match(after)
    return False


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
                if left + _LONG + behind in self._words:
                    return _LONG
            elif size >= _TELLING:
                for letter in _LONG + _VOWELS:
                    if left + letter in self._beginnings and _all_known(left + letter):
                        return letter
        return None

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(found[0] for found in _WORD.finditer(self._text))

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(word[:size] for word in self._words for size in range(_TELLING, 2 * _TELLING + 2))


@lru_cache(10_000)
def _all_known(letters: str) -> bool:
    """Whether these letters are nothing but words of the dictionary, none of a single letter."""
    folded = fold(letters)
    spans = dictionary_spans(folded)
    return sum(end - start for start, end in spans) == len(folded) and all(
        end - start > 1 for start, end in spans
    )
