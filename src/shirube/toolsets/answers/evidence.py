"""What passages state, judged: how much of a question each statement covers, and which may answer it."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import fsum

from shirube.text.asked import asked
from shirube.text.injection import speaks_to_a_model
from shirube.text.normalize import fold
from shirube.text.questions import is_japanese, topic
from shirube.text.tokenize import words
from shirube.toolsets.answers.statements import Statement, listed_after, statements

# Less of a question's words in a passage with its title, or in a sentence with it, and that is about something else.
# Of 2,240 training questions .8 % lose their answer by this; .3 % more are not answered where none is.
_ABOUT, _TOUCHES = 0.4, 0.1
# What the sentences before and after count in the choice: the right one is first for 82.8 % with it, 82.3 % without.
_AROUND = 0.3
# Words that any sentence may hold; they choose none.
_LIGHT = frozenset(
    "為る 有る 居る 成る 出来る 言う 良い 必要 時 方 場合 事 物 為 等 其の 此の 御 貰う 無い 何時 番".split()
)
# Of headings: the number of an article or a chapter says nothing of what stands below.
_NUMBERING = re.compile(
    r"第[0-9〇一二三四五六七八九十百]{1,6}[条章節編款](?:の[0-9〇一二三四五六七八九十]{1,3})?|"
    r"(?:(?<=› )|\A)[0-9]{1,3}[.．](?=\s)"
)
# A compound as it is written; shorter ones are words.
_KATAKANA = re.compile("[ァ-ヺー]{4,}")
# Endings by which English words differ that are the same; shorter words have none.
_ENDING = re.compile(r"(?<=[a-z]{4})(?:ing|ed|es|s|e)\Z")
# Sums differ in their last digits by the order of what is added.
_DIGITS = 9

Rarity = Callable[[Sequence[str]], Mapping[str, float]]


@dataclass(frozen=True)
class Sentence:
    """A statement of a passage: where it stands in it, how well it fits the question among the passage's others, and
    how much of the question it holds together with the title; `wordy` is that share without bare numbers, which any
    text may hold. `listed` is what it introduces."""

    text: str
    start: int
    end: int
    fit: float
    share: float
    wordy: float
    listed: tuple[Statement, ...] = ()


class Question:
    """A question, ready to be compared with many passages."""

    def __init__(self, text: str, rarity: Rarity) -> None:
        self.text = text
        self._asked = asked(text)
        self._folded = fold(text)
        about = list(dict.fromkeys(words(topic(text))))
        # Numbers alone ask nothing.
        if not any(char.isalpha() for word in about for char in word):
            about = []
        rarities = rarity([word for word in about if word not in _LIGHT] or about)
        self._weights = {_stem(word): weight for word, weight in rarities.items()}
        self._whole = fsum(self._weights.values()) or 1.0
        self._numbers = {word for word in self._weights if word.isdecimal()}
        runs = (self._in(run) for run in _KATAKANA.findall(self._folded))
        self._compounds = [parts for parts in runs if len(parts) > 1]

    def telling(self, title: str, passage: str) -> list[Sentence]:
        """The sentences of a passage that may tell what is asked, best first; none where it is about something else.

        One tells nothing that names no thing of the kind that is asked for, or that speaks to a model. Words of the
        title are understood in every sentence, so they make none better than another; so are those of a question
        before its answer, which is what tells. A row among others has to hold a word of the question itself.
        """
        if not self._weights:
            return []
        stated = statements(passage)
        held = self._held(stated)
        known = self._in(_NUMBERING.sub(self._unless_asked_for, title))
        apart = self._parts_apart(known.union(*held))
        known -= apart
        held = [each - apart for each in held]
        foreign = is_japanese(self.text) != is_japanese(passage)
        if not foreign and self._share(known.union(*held)) < _ABOUT:
            return []
        found = []
        others = self._other_rows(stated)
        for at, each in enumerate(stated):
            if (each.asks and at + 1 < len(stated)) or at in others or not self._may_tell(each):
                continue
            around = known.union(*held[max(at - 1, 0) : at + 2])
            share = self._share(held[at] | known)
            if foreign or share >= _TOUCHES:
                fit = round(self._share(held[at] - known) + _AROUND * self._share(around), _DIGITS)
                wordy = self._share((held[at] | known) - self._numbers)
                listed = self._listed(stated, at)
                found.append(Sentence(each.text, each.start, each.end, fit, share, wordy, listed))
        return sorted(found, key=lambda each: (-each.fit, each.start))

    def _held(self, stated: Sequence[Statement]) -> list[set[str]]:
        """The question's words in each statement; what a question before it asks is understood in the answer, and how
        often in what says when (毎年6月と12月 is 年に何回)."""
        held = [self._in(each.text) for each in stated]
        if self._asked and (often := self._weights.keys() & self._asked.often):
            held = [
                each | often if self._names(one) else each for each, one in zip(held, stated, strict=True)
            ]
        for at, each in enumerate(stated[:-1]):
            if each.asks:
                held[at + 1] |= held[at]
        return held

    def _in(self, text: str) -> set[str]:
        """The question's words in a text."""
        return self._weights.keys() & {_stem(word) for word in words(text)}

    def _parts_apart(self, held: Set[str]) -> set[str]:
        """Parts of compounds that are not held whole: コード alone is no ドレスコード."""
        return set().union(*(parts for parts in self._compounds if not parts <= held))

    def _other_rows(self, stated: Sequence[Statement]) -> set[int]:
        """The rows that are about something else: their cells hold no word of the question, or only some of those that
        another row holds."""
        own = {at: self._in(each.own) for at, each in enumerate(stated) if each.is_row}
        best = set(map(frozenset, own.values()))
        return {
            at
            for at, held in own.items()
            if (not held and not stated[at].is_alone) or any(held < other for other in best)
        }

    def _names(self, stated: Statement) -> bool:
        """Whether a statement may name what is asked for."""
        asked = self._asked
        return (
            asked is None
            or asked.named_in(stated.own)
            or any(asked.numbered_in(name, cell) for name, cell in stated.cells if name)
        )

    def _may_tell(self, stated: Statement) -> bool:
        return self._names(stated) and not speaks_to_a_model(stated.text)

    def _listed(self, stated: Sequence[Statement], at: int) -> tuple[Statement, ...]:
        """What a statement introduces, but no rows where the question is about some of them."""
        listed = listed_after(stated, at)
        if any(each.is_row and self._in(each.own) for each in listed):
            return ()
        return tuple(each for each in listed if not speaks_to_a_model(each.text))

    def _unless_asked_for(self, numbering: re.Match[str]) -> str:
        return numbering.group() if fold(numbering.group()) in self._folded else " "

    def _share(self, held: Set[str]) -> float:
        """How much of the question these of its words make up, the rarer the more."""
        return round(fsum(self._weights[word] for word in held) / self._whole, _DIGITS)


def _stem(word: str) -> str:
    """An English word without its ending (approves, approved); any other as it is."""
    return _ENDING.sub("", word)
