"""Whether what was written rests on a passage: on one of its statements, or on two that follow each other.

These have to hold all quantities, names and codes of it, most of its words, and affirm or deny as it does. A quantity
must not be said of what they say another one of. The title of a passage is understood in every statement.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from shirube.text.injection import speaks_to_a_model
from shirube.text.normalize import fold
from shirube.text.polarity import denies, polarities
from shirube.text.quantities import UNITS, Quantity, codes, quantities
from shirube.text.questions import FUNCTION_WORDS
from shirube.text.tokenize import Morpheme, morphemes, words
from shirube.toolsets.answers.statements import statements

# One that retells changes about a third of the words.
_RESTS = 0.6
# Said of the documents and not of what they say, or by anybody of anything.
_POLITE = frozenset(
    "資料 文書 記載 記述 以下 次 回答 質問 よる 通り 書く 為る 有る 居る 成る 出来る 言う 事 物 為 等 其の 此の "
    "はい いいえ 尚 場合 方 つく 御 下さい 下さる".split()
)
# Compared with the quantity they belong to, or as what is affirmed and denied.
_WITH_QUANTITIES = frozenset(
    "月額 毎月 月々 年額 毎年 日額 毎日 毎週 以上 以下 未満 以内 超 超える 満たす 有る 無い".split()
)
_SAME_WORD = {"有り": "有る", "なし": "無い", "無し": "無い"}
# As the words of a text are given: 有給 is 有休 there.
_OPPOSITES = [
    frozenset(pair.split())
    for pair in (
        "有料 無料|有休 無給|有償 無償|国内 海外|全額 半額|課税 非課税|義務 任意|上限 下限|最大 最小|開始 終了|"
        "午前 午後|事前 事後|平日 休日|増額 減額|入社 退社|採用 退職|可 不可|有効 無効"
    ).split("|")
]
_OFFICES = frozenset(
    "部 課 室 局 省 庁 長 部長 課長 社長 室長 局長 支店 本社 センター 窓口 委員 役員".split()
)
_CLAUSE = re.compile(r"[、;()]|,(?![0-9])| / |。")
# Pairs of statements of two passages that are tried together, of each the likeliest.
_LIKELIEST = 4
_UNITS = frozenset(UNITS)
_NOUNS = ("名詞", "接尾辞", "接頭辞")


@dataclass(frozen=True)
class _Clause:
    words: frozenset[str]
    quantities: tuple[Quantity, ...]


@dataclass(frozen=True)
class Said:
    """A sentence or a statement, read once: with where it stands, if it stands in a passage."""

    text: str
    start: int = 0
    end: int = 0

    @cached_property
    def folded(self) -> str:
        return fold(self.text)

    @cached_property
    def clauses(self) -> list[_Clause]:
        parts = [part for part in _CLAUSE.split(self.folded) if part.strip()]
        return [_Clause(frozenset(_words(part)), tuple(quantities(part))) for part in parts]

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_words(self.text))

    @cached_property
    def quantities(self) -> list[Quantity]:
        return quantities(self.text)

    @cached_property
    def codes(self) -> set[str]:
        return codes(self.text)

    @cached_property
    def polarities(self) -> set[bool]:
        return polarities(self.text)

    @cached_property
    def denies(self) -> bool:
        return denies(self.text)

    @cached_property
    def names(self) -> set[str]:
        return set(_names(morphemes(self.text)))


class Passage:
    """A passage with its title, read when it is first needed. What speaks to a model supports nothing."""

    def __init__(self, title: str, text: str, columns: Sequence[str] = ()) -> None:
        self.title = Said(title)
        self._text = text
        self._columns = columns

    @cached_property
    def stated(self) -> list[Said]:
        found = (Said(each.text, each.start, each.end) for each in statements(self._text, self._columns))
        return [each for each in found if not speaks_to_a_model(each.text)]

    @cached_property
    def folded(self) -> str:
        return " ".join(each.folded for each in [self.title, *self.stated])

    def windows(self) -> Iterator[list[Said]]:
        """Each statement, then each with the one after it."""
        yield from ([each] for each in self.stated)
        yield from (self.stated[at : at + 2] for at in range(len(self.stated) - 1))

    def supporting(self, claim: Said) -> tuple[int, int] | None:
        """Where what a sentence rests on stands, or None where it rests on nothing here."""
        if not _is_named(claim, self.folded) or self._is_contradicted(claim):
            return None
        for window in self.windows():
            if _upholds(claim, window, [self.title]):
                return window[0].start, window[-1].end
        return None

    def _is_contradicted(self, claim: Said) -> bool:
        """Whether the statement that holds most of a sentence says the contrary; others may hold what is left."""
        shares = [len(claim.words & each.words) for each in self.stated]
        most = max(shares, default=0)
        nearest = [each for each, share in zip(self.stated, shares, strict=True) if share == most]
        return bool(nearest) and not any(claim.denies in each.polarities for each in nearest)


def supported_by_both(
    claim: Said, one: Passage, other: Passage
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where in two passages what a sentence rests on stands, when it needs something of each."""
    if not _is_named(claim, one.folded + other.folded):
        return None
    for first in _likeliest(claim, one):
        for second in _likeliest(claim, other):
            both = [*first, *second]
            if _upholds(claim, both, [one.title, other.title]):
                return (first[0].start, first[-1].end), (second[0].start, second[-1].end)
    return None


def _likeliest(claim: Said, passage: Passage) -> list[list[Said]]:
    def share(window: Sequence[Said]) -> int:
        return len(claim.words & frozenset[str]().union(*(each.words for each in window)))

    windows = [window for window in passage.windows() if share(window)]
    return sorted(windows, key=lambda window: -share(window))[:_LIKELIEST]


def _upholds(claim: Said, window: Sequence[Said], titles: Sequence[Said]) -> bool:
    said = claim.words - _WITH_QUANTITIES
    own = frozenset[str]().union(*(each.words for each in window))
    held = own.union(*(title.words for title in titles))
    numbers = [quantity for each in window for quantity in each.quantities]
    if not (said & own or claim.quantities) or len(said & held) < _RESTS * len(said):
        return False
    if not any(claim.denies in each.polarities for each in window):
        return False
    if not all(each.is_said_in(numbers) for each in claim.quantities):
        return False
    if not claim.codes <= set[str]().union(*(each.codes for each in [*window, *titles])):
        return False
    if any(claim.words & pair and not claim.words & pair <= held and held & pair for pair in _OPPOSITES):
        return False
    return not any(_is_of_another(clause, window) for clause in claim.clauses)


def _is_of_another(clause: _Clause, window: Sequence[Said]) -> bool:
    """Whether a clause gives a quantity to what has another of the kind: 課長に6万円、部長に10万円 is no 部長に6万円.

    Words of a clause are understood in those after it, as long as these say nothing that the sentence does not.
    """
    parts = [part for each in window for part in each.clauses]
    for quantity in clause.quantities:
        holders = [at for at, part in enumerate(parts) if quantity.is_said_in(part.quantities)]
        if not holders or not quantity.unit:
            continue
        around = frozenset[str]().union(*(parts[at].words for at in holders))
        strange = any(not parts[at].words <= clause.words for at in holders)
        for at, part in enumerate(parts):
            rivals = any(each.unit == quantity.unit for each in part.quantities)
            if at in holders or not rivals or not (clause.words & part.words) - around:
                continue
            if at > holders[-1] or strange:
                return True
    return False


def _is_named(claim: Said, folded: str) -> bool:
    return all(name in folded for name in claim.names)


def _names(found: Sequence[Morpheme]) -> Iterator[str]:
    """Proper names, and offices with the word before them (人事部長)."""
    for at, each in enumerate(found):
        if each.detail == "固有名詞" and each.surface not in FUNCTION_WORDS:
            yield fold(each.surface)
        elif each.kind in _NOUNS and each.surface in _OFFICES:
            begun = at
            while begun and found[begun].surface in _OFFICES and found[begun - 1].kind in _NOUNS:
                begun -= 1
            yield fold("".join(one.surface for one in found[begun : at + 1]))


def _words(text: str) -> Iterator[str]:
    """The words that are compared: no numbers and units, which are compared together, and none that say nothing."""
    for word in words(text):
        if word not in _silent() and not word.replace(".", "").isdecimal():
            yield _SAME_WORD.get(word, word)


@cache
def _silent() -> frozenset[str]:
    """With English words as the words of a text are given: ザ and オブ."""
    return _POLITE | _UNITS | {form for word in FUNCTION_WORDS for form in words(word)}
