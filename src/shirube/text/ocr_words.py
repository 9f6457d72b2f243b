"""What the dictionary says about katakana words with and without a long vowel mark. Letters are folded."""

import re
from functools import lru_cache
from typing import NamedTuple

from shirube.text.tokenize import dictionary_spans, morphemes, words

LONG = "ー"
DASHES = "-‐‑‒–—―−－ｰ─━"
# They are letters and signs of their own; for a long vowel they stand only where nothing else can be meant.
LOOK_ALIKES = "一|｜"
KATAKANA = "ァ-ヺｦ-ｯｱ-ﾟ"

_LETTER = re.compile(rf"[{KATAKANA}]")
_KANJI = re.compile(r"[々一-鿿]")
_LATIN = "A-Za-zＡ-Ｚａ-ｚ"
_COUNT = "一二三四五六七八九十〇"
# A sign before these numbers or names something: アミノ－１, サーバ-A, 一号; ID and 一同 are words.
_NUMBERING = re.compile(
    rf"[0-9０-９α-ωΑ-Ω]|[{_LATIN}](?![{_LATIN}])|[{_COUNT}](?![々一-鿿つ])|[{_COUNT}]+[{_COUNT}号番]"
)
# A word that may do without its long vowel has it before these: ユーザ－は, but アルファ－酸化鉄.
_AFTER_A_WORD = re.compile(r"[ぁ-ゖ、。，．,.」』）)\s]")
_SHORTEST = 2
# JIS Z 8301:2008 drops the last mark of longer words (サーバ) and keeps it after two sounds (カバー).
_SHORT_STEM = 2
_NO_SOUND = frozenset("ァィゥェォャュョヮ")
# No vowel is there to be long.
NEVER_LONG = frozenset("ンッﾝｯ")
# Everything that a mark's judge looks at behind it.
FOLLOWING = 3


class End(NamedTuple):
    """A sign where a word may end; with a long vowel mark there, the word is in the dictionary.

    `stem` is the word without it, and `before` all that is read together with the word. `following` is what
    is written behind the sign; `behind` the katakana there, up to the next sign, or with marks for all signs.
    `misread` says that another mark of the same word was misread.
    """

    before: str
    stem: str
    sign: str
    following: str
    behind: tuple[str, str]
    misread: bool


def is_mark(end: End) -> bool:
    """Whether the sign is the mark of the word rather than a border behind it."""
    if end.stem[-1] in {LONG, *NEVER_LONG} or end.following[:1] in {*DASHES}:
        return False
    known = all_known(end.before)
    if end.sign in LOOK_ALIKES:
        if known:
            return _is_known_with_mark(end)
        return not (len(end.before) < _SHORTEST or numbers(end.following))
    if _LETTER.match(end.following):
        return _joins(end, known)
    if not known and len(end.before) >= _SHORTEST:
        return end.before == end.stem or not numbers(end.following)
    if _usual_with_mark(end.stem):
        return not numbers(end.following)
    if not end.following or _AFTER_A_WORD.match(end.following):
        return True
    return bool(_KANJI.match(end.following)) and not numbers(end.following) and _only_with_mark(end.stem)


def _is_known_with_mark(end: End) -> bool:
    """Whether it is the mark of a word that is one without it too: サ一バ一、 and エラ一メッセージ, but サーバ一台."""
    if _LETTER.match(end.following):
        return _only_with_mark(end.stem) and _joins(end, True)
    borders = not end.following or bool(_AFTER_A_WORD.match(end.following))
    return end.misread and borders and end.following[:1] != "つ" and _usual_with_mark(end.stem)


def _joins(end: End, known: bool) -> bool:
    """Whether a word with its mark and the katakana behind it are one: エラーコード, but ローマ-ナポリ."""
    if _sounds(end.stem) == 1:
        together = known_spans(end.before + LONG + end.behind[-1])
        return _common(end.stem + LONG) and any(stop == len(end.before) + 1 for _, stop in together)
    if not any(_begins_with_word(behind) for behind in end.behind):
        return False
    if not known:
        return end.before == end.stem or _common(end.stem + LONG)
    return (end.misread and _usual_with_mark(end.stem)) or _only_with_mark(end.stem)


def numbers(following: str) -> bool:
    """Whether what follows a sign is a number or a letter that stands for one."""
    return bool(_NUMBERING.match(following))


@lru_cache(10_000)
def known_spans(folded: str) -> tuple[tuple[int, int], ...]:
    """Where the words of the dictionary stand."""
    return tuple(dictionary_spans(folded))


def all_known(folded: str) -> bool:
    """Whether these letters are nothing but words of the dictionary, none of a single letter."""
    spans = known_spans(folded)
    return sum(end - start for start, end in spans) == len(folded) and all(
        end - start > 1 for start, end in spans
    )


@lru_cache(10_000)
def _usual_with_mark(stem: str) -> bool:
    """Whether the dictionary takes a word for another spelling: エネルギ is エネルギー, アルファ is not アルファー."""
    usual = words(stem)[-1:]
    return bool(usual) and usual[0].endswith(LONG) and not stem.endswith(LONG)


@lru_cache(10_000)
def _only_with_mark(stem: str) -> bool:
    """Whether a word of every day ends with the mark, and without it is another word or a name: エラ, カスタマ."""
    if len(stem) < _SHORTEST or not _common(stem + LONG):
        return False
    return _sounds(stem) <= _SHORT_STEM or all(word.detail == "固有名詞" for word in morphemes(stem))


@lru_cache(10_000)
def _common(word: str) -> bool:
    """Whether a word is a common noun, and spelt as usual."""
    found = morphemes(word)
    return len(found) == 1 and found[0].detail == "普通名詞" and found[0].form.endswith(LONG)


def _begins_with_word(letters: str) -> bool:
    return any(start == 0 and end > 1 for start, end in known_spans(letters)[:1])


def _sounds(stem: str) -> int:
    return sum(letter not in _NO_SOUND for letter in stem)
