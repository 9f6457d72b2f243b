"""What a search for programmes looks for: the parts of a query, and the forms of a programme that they are found in.

A query is cut at spaces, then at particles, signs and words that only ask: 設備投資に使える補助金はありますか？ is
設備投資 and 補助金. Each part is found as written, with hiragana for katakana, in a form that `abbreviations.tsv`
gives it, or word by word in Sudachi's normal forms.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from shirube.text.normalize import fold
from shirube.text.places import PREFECTURES, prefecture
from shirube.text.tokenize import Morpheme, morphemes, words

# In Sudachi's normal form: verbs of somebody who asks, what is cut off a noun, and what says nothing by itself.
_ASKING = frozenset("教える 知る 欲しい 探す 調べる 使う 受ける おく 向く".split())
_ENDINGS = frozenset("向け 一覧".split())
_EMPTY = frozenset("利用 検索 為 時 方 全て 全部 等".split())
_CUT = frozenset("助詞 助動詞 連体詞 代名詞 感動詞 空白".split())
_ASCII_SIGNS = "?!.,;:()[]{}\"'"

_HIRAGANA = {code: code - 0x60 for code in range(ord("ァ"), ord("ヶ") + 1)}
_SHORT_LATIN = re.compile("[a-z0-9]{1,3}")
_LATIN_END = re.compile("^(?P<first>[a-z]{1,3}(?![a-z]))|(?P<last>(?<![a-z])[a-z]{1,3})$")
_KANA = re.compile("[ぁ-ゖー]+")
_DIGITS = re.compile("[0-9]+")
# Latin letters, with and without marks.
_LATIN = (*range(0x61, 0x7B), *range(0xDF, 0x250), *range(0x1E00, 0x1F00))
_LETTERS = "".join(chr(code) for code in _LATIN if chr(code).isalpha())
_FIGURES = "0123456789"
# What is longer is no compound of a purpose and a kind.
_LONGEST_COMPOUND = 30
SEPARATOR = "\x1f"


@dataclass(frozen=True)
class Part:
    """One thing that has to be there. `others` are further forms of `written`, `phrase` its normal forms; `halves` are
    what it is for and what kind it is, or the prefecture and the rest, where it says both (設備投資補助金).

    A short Latin word (`is_word`) is looked for in names only, and never within another word.
    """

    written: str
    others: tuple[str, ...] = ()
    phrase: str = ""
    halves: "tuple[Part, ...]" = ()

    @property
    def is_word(self) -> bool:
        return is_short_word(self.written)


class Form(NamedTuple):
    """Something written that is looked for, and the characters that must not stand on either side of it."""

    written: str
    not_before: str = ""
    not_after: str = ""


def is_short_word(written: str) -> bool:
    return bool(_SHORT_LATIN.fullmatch(written))


def searched(text: str) -> str:
    """The form that is searched: folded, on one line."""
    return " ".join(fold(text).split())


def in_hiragana(text: str) -> str:
    return text.translate(_HIRAGANA)


def name_key(name: str) -> str:
    """The form in which names are compared: with hiragana for katakana and without white space."""
    return "".join(in_hiragana(fold(name)).split())


def searched_words(texts: Iterable[str]) -> str:
    """Their normal forms, each between spaces; words of different texts never stand side by side."""
    return SEPARATOR.join(f" {' '.join(words(text))} " for text in texts)


@lru_cache(1024)
def parts_of(query: str) -> tuple[Part, ...]:
    """The parts of a query, each once."""
    words_ = fold(query).split()
    found = [part for word in words_ for part in _parts(word)]
    return tuple(dict.fromkeys(found or map(_part, words_)))


def form_of(written: str) -> Form:
    """How a form is looked for. 京都 is not found in 東京都, a short Latin word not within another."""
    if is_short_word(written):
        return Form(written, *(_LETTERS if end.isalpha() else _FIGURES for end in (written[0], written[-1])))
    ends = set() if written.isascii() else {found.lastgroup for found in _LATIN_END.finditer(written)}
    before = "東" if written.startswith("京都") else _LETTERS if "first" in ends else ""
    return Form(written, before, _LETTERS if "last" in ends else "")


def _parts(word: str) -> list[Part]:
    """The parts of a word of the query; none where it only asks."""
    if word.isascii():
        return [_part(word.strip(_ASCII_SIGNS) or word)]
    return [_part(piece) for piece in _pieces(word)]


def _pieces(word: str) -> list[str]:
    """The stretches of a word between what is cut out of it. Kana alone are not cut: nobody knows where they may be."""
    if _KANA.fullmatch(in_hiragana(word)):
        return [word]
    found = morphemes(word)
    stretches: list[list[Morpheme]] = [[]]
    for at, morpheme in enumerate(found):
        if _is_cut(found, at):
            stretches.append([])
        else:
            stretches[-1].append(morpheme)
    said = [each for each in stretches if any(morpheme.form not in _EMPTY for morpheme in each)]
    pieces = ["".join(morpheme.surface for morpheme in each) for each in said]
    return [word] if any(len(piece) == 1 and _KANA.fullmatch(piece) for piece in pieces) else pieces


def _is_cut(found: list[Morpheme], at: int) -> bool:
    one = found[at]
    if not any(each.isalnum() for each in one.surface):
        beside = [found[to].surface for to in (at - 1, at + 1) if 0 <= to < len(found)]
        return not (
            len(beside) == 2 and all(each.isascii() and each.isalnum() for each in beside)
        )  # R&D, Wi-Fi
    if one.kind in ("助詞", "助動詞"):
        return at > 0  # no word begins with one
    if one.kind == "動詞":
        return one.detail == "非自立可能" or one.form in _ASKING
    return one.kind in _CUT or one.form in _ENDINGS or (one.kind == "形容詞" and one.form in _ASKING)


def _part(piece: str) -> Part:
    written = searched(piece)
    others = [form for form in _abbreviations().get(name_key(written), ()) if form != written]
    if not _DIGITS.fullmatch(piece) and (place := prefecture(piece)):
        others += [form for form in (place.name, place.short) if form != written]
    phrase = "" if piece.isascii() or not _is_sure(piece) else " ".join(words(piece))
    return Part(
        written,
        tuple(dict.fromkeys(others)),
        f" {phrase} " if phrase else "",
        _halves(written) if len(written) <= _LONGEST_COMPOUND else (),
    )


def _is_sure(piece: str) -> bool:
    """Whether Sudachi can be believed: several words in kana alone are a guess (こそ|だて)."""
    return not _KANA.fullmatch(in_hiragana(piece)) or len(morphemes(piece)) == 1


def _halves(written: str) -> tuple[Part, ...]:
    kind = next((each for each in _kind_endings() if written.endswith(each) and written != each), "")
    if kind:
        stem = written.removesuffix(kind)
    else:
        place = next((one.name for one in PREFECTURES if written.startswith(one.name)), "")
        stem, kind = place, written.removeprefix(place)
    if not stem or not kind:
        return ()
    return tuple(Part(each.written, each.others, each.phrase) for each in map(_part, (stem, kind)))


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
    called = {searched(word) for names in _kinds().values() for word in names}
    return tuple(sorted(called, key=lambda word: (-len(word), word)))


@cache
def _abbreviations() -> dict[str, tuple[str, ...]]:
    """For each form the forms of its group."""
    groups = [tuple(map(searched, line.split("\t"))) for line in _lines("abbreviations.tsv")]
    return {name_key(form): group for group in groups for form in group}


def _lines(name: str) -> list[str]:
    return (files("shirube.toolsets.programs") / name).read_text("utf-8").splitlines()
