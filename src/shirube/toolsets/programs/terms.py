"""What a search for programmes looks for: the parts of a query, and the forms of a programme that they are found in.

A query is cut at spaces, then at particles and at words that only ask: IT 導入補助金の一覧 is IT and 導入補助金. Each
part is found as written, in a form that `abbreviations.tsv` gives it, or word by word in Sudachi's normal forms.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from shirube.text.normalize import fold
from shirube.text.places import prefecture
from shirube.text.tokenize import phrases, words

# Words of a question or of a list, in Sudachi's normal form: they say nothing of a programme.
_ASKING = frozenset(
    "一覧 教える 下さる 下さい 知る 欲しい 探す 検索 調べる 使う 使える 利用 向け 向く 為 関する つく 有る 何 "
    "どれ どんな 出来る 貰う 貰える 受ける 受けられる 全て 全部 等 など".split()
)
_HIRAGANA = {code: code - 0x60 for code in range(ord("ァ"), ord("ヶ") + 1)}
_SHORT_LATIN = re.compile("[a-z0-9]{1,3}")
_ONE_KANA = re.compile("[ぁ-ゖー]")
_DIGITS = re.compile("[0-9]+")
_LETTERS, _FIGURES = "abcdefghijklmnopqrstuvwxyz", "0123456789"
SEPARATOR = "\x1f"


@dataclass(frozen=True)
class Part:
    """One thing that has to be there. `others` are further forms of `written`, `phrase` its normal forms; `halves` are
    what it is for and what kind it is, where it says both (設備投資補助金).

    A short Latin word (`is_word`) is looked for in names only, and never within another word.
    """

    written: str
    others: tuple[str, ...] = ()
    phrase: str = ""
    halves: "tuple[Part, ...]" = ()
    is_word: bool = False
    said: str = ""
    """What was written, for people."""


def searched(text: str) -> str:
    """The form that is searched: folded, hiragana for katakana, on one line."""
    return " ".join(fold(text).translate(_HIRAGANA).split())


def searched_words(texts: Iterable[str]) -> str:
    """Their normal forms, each between spaces; words of different texts never stand side by side."""
    return SEPARATOR.join(f" {' '.join(words(text))} " for text in texts)


@lru_cache(1024)
def parts_of(query: str) -> tuple[Part, ...]:
    """The parts of a query, each once."""
    found = (part for word in fold(query).split() for part in _parts(word))
    return tuple(dict.fromkeys(found))


class Form(NamedTuple):
    """Something written that is looked for, and the characters that must not stand on either side of it."""

    written: str
    not_before: str = ""
    not_after: str = ""


def form_of(written: str, *, is_word: bool = False) -> Form:
    """How a form is looked for. 京都 is not found in 東京都, a word not within another."""
    if is_word:
        return Form(written, *(_LETTERS if end.isalpha() else _FIGURES for end in (written[0], written[-1])))
    return Form(written, "東" if written.startswith("京都") else "")


def _parts(word: str) -> list[Part]:
    if _SHORT_LATIN.fullmatch(word):
        return [Part(word, is_word=True, said=word)]
    pieces = [word] if word.isascii() else phrases(word, _ASKING)
    if not pieces or any(_ONE_KANA.fullmatch(piece) for piece in pieces):
        pieces = [word]
    return [_part(piece) for piece in pieces]


def _part(piece: str) -> Part:
    if _SHORT_LATIN.fullmatch(piece):
        return Part(piece, is_word=True, said=piece)
    written = searched(piece)
    others = [form for form in _abbreviations().get(written, ()) if form != written]
    if not _DIGITS.fullmatch(piece) and (place := prefecture(piece)):
        others += [form for form in (searched(place.name), searched(place.short)) if form != written]
    phrase = "" if piece.isascii() else " ".join(words(piece))
    kind = next((each for each in _kind_endings() if written.endswith(each) and written != each), "")
    halves = (_part(written.removesuffix(kind)), _part(kind)) if kind and not others else ()
    return Part(written, tuple(dict.fromkeys(others)), f" {phrase} " if phrase else "", halves, said=piece)


def kind_words(kind: str) -> tuple[str, ...]:
    """What a kind of programme is called, by its parts where the whole has no name (loan_long_term); else the kind."""
    parts = (called for known, called in _kinds().items() if f"_{known}_" in f"_{kind}_")
    return _kinds().get(kind) or tuple(dict.fromkeys(word for called in parts for word in called)) or (kind,)


@cache
def _kinds() -> dict[str, tuple[str, ...]]:
    return {kind: tuple(called) for kind, *called in (line.split("\t") for line in _lines("kinds.tsv"))}


@cache
def _kind_endings() -> tuple[str, ...]:
    """What kinds are called, the longest first."""
    called = {searched(word) for words_ in _kinds().values() for word in words_}
    return tuple(sorted(called, key=lambda word: (-len(word), word)))


@cache
def _abbreviations() -> dict[str, tuple[str, ...]]:
    groups = [tuple(map(searched, line.split("\t"))) for line in _lines("abbreviations.tsv")]
    return {form: group for group in groups for form in group}


def _lines(name: str) -> list[str]:
    return (files("shirube.toolsets.programs") / name).read_text("utf-8").splitlines()
