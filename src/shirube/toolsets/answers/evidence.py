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
from shirube.toolsets.answers.statements import Statement, statements

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
# Sums differ in their last digits by the order of what is added.
_DIGITS = 9

Rarity = Callable[[Sequence[str]], Mapping[str, float]]


@dataclass(frozen=True)
class Sentence:
    """A statement of a passage: where it stands in it, how well it fits the question among the passage's others, and
    how much of the question it holds together with the title."""

    text: str
    start: int
    end: int
    fit: float
    share: float


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
        self._weights = rarity([word for word in about if word not in _LIGHT] or about)
        self._whole = fsum(self._weights.values()) or 1.0

    def telling(self, title: str, passage: str) -> list[Sentence]:
        """The sentences of a passage that may tell what is asked, best first; none where it is about something else.

        One tells nothing that names no thing of the kind that is asked for, or that speaks to a model. Words of the
        title are understood in every sentence, so they make none better than another; so are those of a question
        before its answer, which is what tells. A row of a table has to hold a word of the question itself.
        """
        if not self._weights:
            return []
        stated = statements(passage)
        held = self._held(stated)
        known = self._weights.keys() & words(_NUMBERING.sub(self._unless_asked_for, title))
        foreign = is_japanese(self.text) != is_japanese(passage)
        if not foreign and self._share(known.union(*held)) < _ABOUT:
            return []
        found = []
        for at, each in enumerate(stated):
            if (each.asks and at + 1 < len(stated)) or (each.is_row and not self._in_row(each)):
                continue
            around = known.union(*held[max(at - 1, 0) : at + 2])
            names = self._asked is None or self._asked.named_in(each.own)
            share = self._share(held[at] | known)
            if names and not speaks_to_a_model(each.text) and (foreign or share >= _TOUCHES):
                fit = round(self._share(held[at] - known) + _AROUND * self._share(around), _DIGITS)
                found.append(Sentence(each.text, each.start, each.end, fit, share))
        return sorted(found, key=lambda each: (-each.fit, each.start))

    def _held(self, stated: Sequence[Statement]) -> list[set[str]]:
        """The question's words in each statement; what a question before it asks is understood in the answer."""
        held = [self._weights.keys() & words(each.text) for each in stated]
        for at, each in enumerate(stated[:-1]):
            if each.asks:
                held[at + 1] |= held[at]
        return held

    def _in_row(self, row: Statement) -> bool:
        return bool(self._weights.keys() & words(row.own))

    def _unless_asked_for(self, numbering: re.Match[str]) -> str:
        return numbering.group() if fold(numbering.group()) in self._folded else " "

    def _share(self, held: Set[str]) -> float:
        """How much of the question these of its words make up, the rarer the more."""
        return round(fsum(self._weights[word] for word in held) / self._whole, _DIGITS)
