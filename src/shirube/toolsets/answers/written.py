"""What a language model wrote, sentence by sentence, as far as the passages support it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shirube.text.sentences import sentences
from shirube.toolsets.answers.support import Passage, Said, supported_by_both

# An answer is a few sentences; whoever writes more is not read to the end.
MOST_SENTENCES = 20
# Passages that are tried together, of those that a sentence cites.
_TOGETHER = 3
_ONE = r"\[[0-9]{1,3}\]"
_MARK = rf"(?:{_ONE}[ \t,、]*)*{_ONE}"
_MARKS = re.compile(rf"[ \t\u3000]*(?:[（(][ \t]*(?:{_MARK})[ \t]*[）)]|{_MARK})")
_NUMBER = re.compile(r"\[([0-9]{1,3})\]")
# What is left of "According to [1], " and of "[1]によると、".
_LEFT_OVER = re.compile(
    r"^(?:according to\s*,\s*|(?:に|で)(?:よると|よれば|は)、?|[:：,、]\s*)", re.IGNORECASE
)


@dataclass(frozen=True)
class Rest:
    """A source (from 0) and the characters of it that something rests on."""

    source: int
    start: int
    end: int


@dataclass(frozen=True)
class Part:
    """A sentence of an answer, and what it rests on."""

    text: str
    rests: tuple[Rest, ...]


def supported(text: str, passages: Sequence[Passage]) -> tuple[list[Part], bool]:
    """The sentences that passages support, and whether all of them are."""
    said = list(_sentences(text))
    parts = [_supported(sentence, cited, passages) for sentence, cited in said[:MOST_SENTENCES]]
    kept = [part for part in parts if part]
    return kept, len(kept) == len(said)


def _sentences(text: str) -> Iterator[tuple[str, list[int]]]:
    """The sentences without their marks, and the numbers each cites.

    A mark belongs to the sentence that it stands in or after; at the beginning of a line to the one that follows.
    """
    plain, marks = _without_marks(text)
    for start, end in sentences(plain):
        first = start == 0 or plain[start - 1] == "\n"
        cited = [
            number
            for at, numbers in marks
            if (start < at <= end or (at == start and first))
            and not (at == end and plain[end - 1 : end] == "\n")
            for number in numbers
        ]
        if (sentence := _LEFT_OVER.sub("", " ".join(plain[start:end].strip().splitlines()))) and any(
            map(str.isalnum, sentence)
        ):
            yield sentence, list(dict.fromkeys(cited))


def _without_marks(text: str) -> tuple[str, list[tuple[int, list[int]]]]:
    """A text without its marks, and where in it each stood."""
    plain, at = "", 0
    marks: list[tuple[int, list[int]]] = []
    for found in _MARKS.finditer(text):
        plain += text[at : found.start()]
        marks.append((len(plain), [int(number) for number in _NUMBER.findall(found.group())]))
        at = found.end()
    return plain + text[at:], marks


def _supported(sentence: str, cited: Sequence[int], passages: Sequence[Passage]) -> Part | None:
    """The sentence with what supports it: a passage that it cites, else any, else two of those that it cites."""
    claim = Said(sentence)
    named = [number - 1 for number in cited if number <= len(passages)]
    others = [place for place in range(len(passages)) if place not in named]
    for place in named:
        if span := passages[place].supporting(claim):
            return Part(sentence, (Rest(place, *span),))
    for at, one in enumerate(named[:_TOGETHER]):
        for other in named[at + 1 : _TOGETHER]:
            if spans := supported_by_both(claim, passages[one], passages[other]):
                return Part(sentence, (Rest(one, *spans[0]), Rest(other, *spans[1])))
    for place in others:
        if span := passages[place].supporting(claim):
            return Part(sentence, (Rest(place, *span),))
    return None
