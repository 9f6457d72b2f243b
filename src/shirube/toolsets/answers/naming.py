"""What a question names as it is written (名古屋支店, MN-999, 1000ml, 2024年), and whether something is about another.

Of names and numbers a part is nothing: a row of 大阪支店 holds 支店 and tells nothing of 名古屋支店.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from math import fsum

from shirube.text.eras import find_dates
from shirube.text.normalize import fold
from shirube.text.quantities import Quantity, quantities
from shirube.text.tokenize import morphemes

# Letters and figures without hiragana, with the signs that stand within codes.
_RUN = re.compile(r"(?:[^\W_ぁ-ゖ]|(?<=\w)[-./](?=\w))+")
# 1日の上限 asks for no row about the number 1.
_ONE_OF = frozenset("日 か月 月 人 回 年 時間 週 泊 件 個".split())
# A name of which so much is missing, by weight, is another's.
_MOSTLY = 0.5


class Fit(IntEnum):
    """Of rows those tell that fit best. 10万円 is at the edge of 1万円以上10万円未満, and within 5万円以上."""

    OTHER = 0
    EDGE = 1
    WITHIN = 2
    HELD = 3


@dataclass(frozen=True)
class Named:
    """A stretch of a question: its words, those of them that are numbers, and what it says as a quantity."""

    words: frozenset[str]
    numbers: frozenset[str]
    quantity: Quantity | None

    @classmethod
    def of(cls, written: str, words: Set[str]) -> "Named":
        numbers = frozenset(word for word in words if word.isdecimal())
        said = quantities(written)
        return cls(frozenset(words), numbers, said[0] if len(said) == 1 else None)

    @property
    def is_one_of(self) -> bool:
        return bool(self.quantity and self.quantity.value == 1 and self.quantity.unit in _ONE_OF)


class Naming:
    """The names and numbers of a question."""

    def __init__(self, text: str, weights: Mapping[str, float], within: Callable[[str], Set[str]]) -> None:
        self._weights = weights
        runs = [(run, within(run)) for run in _RUN.findall(fold(text))]
        self._named = [Named.of(run, words) for run, words in runs if len(words) > 1 or _is_number(words)]
        self._years = _years(text)
        self.numbers = frozenset().union(*(each.numbers for each in self._named))

    def partly_in(self, held: Set[str]) -> set[str]:
        """The words of names that are held for the lesser part."""
        return set().union(*(each.words for each in self._named if self._is_lacking(each, held)))

    def fit(self, cells: str, held: Set[str], around: Set[str]) -> Fit:
        """How the numbers of the question stand to a row, whose cells hold some of its words, and what is around it."""
        given = quantities(cells)
        asked = [each for each in self._named if each.numbers and not each.is_one_of]
        return min((_fit(each, given, held, around) for each in asked), default=Fit.HELD)

    def is_of_other_years(self, *texts: str) -> bool:
        """Whether years are named here, and none of them nor the time between them is the question's."""
        found = sorted(set().union(*map(_years, texts))) if self._years else []
        return bool(found) and not any(found[0] <= year <= found[-1] for year in self._years)

    def _is_lacking(self, named: Named, held: Set[str]) -> bool:
        if len(named.words) < 2 or named.words.isdisjoint(held):
            return False
        missing = fsum(self._weights[word] for word in named.words - held)
        return missing >= _MOSTLY * fsum(self._weights[word] for word in named.words)


def _fit(named: Named, given: Sequence[Quantity], held: Set[str], around: Set[str]) -> Fit:
    asked, bounds = named.quantity, _bounds(named.quantity, given)
    if asked and bounds:
        is_held = named.numbers <= held
        if all(each.takes_in(asked) for each in bounds):
            return Fit.HELD if is_held else Fit.WITHIN
        return Fit.EDGE if is_held else Fit.OTHER
    return Fit.HELD if named.numbers <= held | around else Fit.OTHER


def _bounds(asked: Quantity | None, given: Sequence[Quantity]) -> list[Quantity]:
    """The bounds among what a row gives that a quantity can be compared with."""
    if asked is None or not asked.unit or asked.bound == "-":
        return []
    return [each for each in given if each.bound in ("+", "-") and each.unit == asked.unit]


def proper_names(text: str) -> set[str]:
    """The names of places and people in a question, in kanji: others may be written in another script."""
    return {
        each.form
        for each in morphemes(text)
        if each.detail == "固有名詞"
        and each.sort in ("地名", "人名")
        and re.fullmatch("[一-鿿々ヶケ]{2,}", each.form)
    }


def _years(text: str) -> set[int]:
    return {day.year for period in find_dates(text) for day in (period.first, period.last)}


def _is_number(words: Set[str]) -> bool:
    return any(word.isdecimal() for word in words)
