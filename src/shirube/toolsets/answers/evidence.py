"""What passages state, judged: how much of a question each statement covers, and which may answer it."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import fsum

from shirube.text.asked import asked
from shirube.text.injection import speaks_to_a_model
from shirube.text.normalize import fold
from shirube.text.polarity import asks_for_denied, denies
from shirube.text.questions import is_japanese, topic
from shirube.text.synonyms import one_phrase_for_all
from shirube.text.tokenize import words
from shirube.toolsets.answers.naming import Fit, Naming, proper_names
from shirube.toolsets.answers.statements import Statement, bound_to, listed_after, statements

# Less of a question's words in a passage with its title, or in a sentence with it, and that is about something else.
# Of 2,240 training questions .8 % lose their answer by this; .3 % more are not answered where none is.
_ABOUT, _TOUCHES = 0.4, 0.1
# Less of its words, numbers apart, in a row with the names of its columns, its title and the text around it.
_ROW_ABOUT = 0.25
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
# Of some words those that no document has.
Nowhere = Callable[[Sequence[str]], Set[str]]


@dataclass(frozen=True)
class Sentence:
    """A statement of a passage: where it stands in it, how well it fits the question among the passage's others, and
    how much of the question it holds together with the title; `wordy` is that share without bare numbers, which any
    text may hold. `listed` is what it introduces, `bound` what bounds it or what it bounds."""

    text: str
    start: int
    end: int
    fit: float
    share: float
    wordy: float
    listed: tuple[Statement, ...] = ()
    bound: tuple[Statement, ...] = ()


class Question:
    """A question, ready to be compared with many passages."""

    def __init__(self, text: str, rarity: Rarity, nowhere: Nowhere = lambda tokens: frozenset()) -> None:
        self.text = text
        self._asked = asked(text)
        self._folded = fold(text)
        about = list(dict.fromkeys(words(one_phrase_for_all(fold(topic(text))))))
        # Numbers alone ask nothing.
        if not any(char.isalpha() for word in about for char in word):
            about = []
        rarities = rarity([word for word in about if word not in _LIGHT] or about)
        self._weights = {_stem(word): weight for word, weight in rarities.items()}
        self._whole = fsum(self._weights.values()) or 1.0
        self._numbers = {word for word in self._weights if word.isdecimal()}
        runs = (
            [word for word in _words(run) if word in self._weights] for run in _KATAKANA.findall(self._folded)
        )
        self._compounds = [parts for parts in runs if len(set(parts)) > 1]
        self._asks_for_denied = asks_for_denied(text)
        self._naming = Naming(text, self._weights, self._in)
        self._units = set(words(self._asked.unit)) if self._asked else set()
        # Of somebody or somewhere that no document names none can tell.
        names = sorted(proper_names(text) & self._weights.keys())
        self._is_unknown = bool(names and nowhere(names))

    def telling(
        self, title: str, passage: str, source: str = "", names: Sequence[str] = ()
    ) -> list[Sentence]:
        """The sentences of a passage that may tell what is asked, best first; none where it is about something else,
        or of other years, as the name of its file may say (議事録_2025-09-12). `names` are those of columns, of a
        table that it begins in.

        One tells nothing that names no thing of the kind that is asked for, or that speaks to a model. Words of the
        title are understood in every sentence, so they make none better than another; so are those of a question
        before its answer, which is what tells. A row among others has to hold a word of the question itself.
        """
        foreign = is_japanese(self.text) != is_japanese(passage)
        is_unknown = self._is_unknown and not foreign  # another script has other letters for a name
        if not self._weights or is_unknown or self._naming.is_of_other_years(source, title, passage):
            return []
        stated = statements(passage, names)
        held = self._held(stated)
        known = self._in(_NUMBERING.sub(self._unless_asked_for, title))
        apart = self._parts_apart(known.union(*held))
        known -= apart
        held = [each - apart for each in held]
        if not foreign and self._share(known.union(*held)) < _ABOUT:
            return []
        found = []
        others = self._other_rows(stated, known, 0.0 if foreign else _ROW_ABOUT)
        for at, each in enumerate(stated):
            if (each.asks and at + 1 < len(stated)) or at in others or not self._may_tell(each):
                continue
            around = known.union(*held[max(at - 1, 0) : at + 2])
            share = self._share(held[at] | known)
            if foreign or share >= _TOUCHES:
                fit = round(self._share(held[at] - known) + _AROUND * self._share(around), _DIGITS)
                wordy = self._share((held[at] | known) - self._numbers)
                listed, bound = self._listed(stated, at), self._bound(stated, at)
                found.append(Sentence(each.text, each.start, each.end, fit, share, wordy, listed, bound))
        return sorted(found, key=lambda each: (self._is_of_other_polarity(each), -each.fit, each.start))

    def _is_of_other_polarity(self, sentence: Sentence) -> bool:
        """What is asked to be denied is told by what denies."""
        return self._asks_for_denied and not denies(sentence.text)

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
        return self._weights.keys() & set(_words(text))

    def _parts_apart(self, held: Set[str]) -> set[str]:
        """Parts of compounds whose first is not held: コード alone is no ドレスコード, but メール may be the
        メールアドレス."""
        return {word for first, *others in self._compounds if first not in held for word in (first, *others)}

    def _other_rows(self, stated: Sequence[Statement], known: set[str], least: float) -> set[int]:
        """The rows that are about something else: their cells hold no word of the question, only parts of what it
        names, other numbers, or only some of the words that another row holds; or less of it than `least`."""
        around = known.union(*(self._in(each.text) for each in stated if not each.is_row))
        own: dict[int, set[str]] = {}
        fits: dict[int, Fit] = {}
        for at, each in enumerate(stated):
            if each.is_row:
                cells = self._in(each.own)
                together = around | self._in(" ".join(name for name, _ in each.cells))
                fit = self._naming.fit(each.own, cells, together)
                cells |= self._naming.numbers if fit is Fit.WITHIN else set()
                together |= cells
                own[at] = cells - self._units - self._naming.partly_in(together)
                is_about = self._wordy_share(together) >= least and (own[at] or each.is_alone)
                fits[at] = fit if is_about else Fit.OTHER
        best_fit = max(fits.values(), default=Fit.OTHER)
        others = {at for at, fit in fits.items() if fit < best_fit or fit is Fit.OTHER}
        best = {frozenset(held) for at, held in own.items() if at not in others}
        return others | {at for at, held in own.items() if any(held < other for other in best)}

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

    def _bound(self, stated: Sequence[Statement], at: int) -> tuple[Statement, ...]:
        """What it would be false without: its provisos, or what it is a proviso to."""
        return tuple(each for each in bound_to(stated, at) if not speaks_to_a_model(each.text))

    def _unless_asked_for(self, numbering: re.Match[str]) -> str:
        return numbering.group() if fold(numbering.group()) in self._folded else " "

    def _share(self, held: Set[str]) -> float:
        """How much of the question these of its words make up, the rarer the more."""
        return round(fsum(self._weights[word] for word in held) / self._whole, _DIGITS)

    def _wordy_share(self, held: Set[str]) -> float:
        """The same of its words that are no numbers."""
        wordy = self._weights.keys() - self._numbers
        return fsum(self._weights[word] for word in held & wordy) / (
            fsum(self._weights[word] for word in wordy) or 1.0
        )


def _words(text: str) -> list[str]:
    return [_stem(word) for word in words(one_phrase_for_all(fold(text)))]


def _stem(word: str) -> str:
    """An English word without its ending (approves, approved); any other as it is."""
    return _ENDING.sub("", word)
