"""Where the words and the character pairs of a question stand in many texts, found in one go.

Words are the index's fingerprints with 0 at sentence borders. Characters are folded one by one by a table: enough to
see that two texts share a stretch of writing, and far cheaper than folding as search does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from shirube.models.contract import Scores
from shirube.text.normalize import fold

Codes = npt.NDArray[np.uint16]
Fingerprints = npt.NDArray[np.uint32]
Places = npt.NDArray[np.int64]

# Beyond this a text is not looked at character by character.
_CHARACTERS = 3000
_STOPS = "。！？!?\n"
_FIRST_KANJI, _LAST_KANJI = 0x4E00, 0x9FFF
_BUCKETS = 1 << 12
_BORDER = bytes(4)
_OTHER, _LETTER, _DIGIT, _STOP = 0, 1, 2, 3


@dataclass(frozen=True)
class Matches:
    """One row a match, in the order of the texts: its place in the line of all texts, what it matches, and where."""

    at: Places
    term: Places
    text: Places
    sentence: Places
    lengths: Scores
    """How much there is of each text."""
    numbered: npt.NDArray[np.bool_]
    """Whether each sentence of the line has a digit."""

    def split(self, texts: int) -> "tuple[Matches, Matches]":
        """The matches in the first `texts` texts, and those in the others."""
        end = int(np.searchsorted(self.text, texts))
        parts = []
        for rows, kept, skipped in (
            (slice(end), slice(texts), 0),
            (slice(end, None), slice(texts, None), texts),
        ):
            at, term, text = self.at[rows], self.term[rows], self.text[rows] - skipped
            parts.append(Matches(at, term, text, self.sentence[rows], self.lengths[kept], self.numbered))
        return parts[0], parts[1]


@dataclass(frozen=True)
class Found:
    """What the matches come to, text by text."""

    matches: Matches
    counts: Scores
    """How often each text (row) has each term (column)."""

    @classmethod
    def of(cls, matches: Matches, terms: int) -> "Found":
        texts = len(matches.lengths)
        counts = np.bincount(matches.text * terms + matches.term, minlength=texts * terms)
        return cls(matches, counts.reshape(texts, terms).astype(float))

    @property
    def lengths(self) -> Scores:
        return self.matches.lengths

    @cached_property
    def held(self) -> Scores:
        """1 where a text has a term."""
        return (self.counts > 0).astype(float)

    @cached_property
    def sentences(self) -> "Sentences":
        matches, (texts, terms) = self.matches, self.counts.shape
        first = np.concatenate([[True], matches.sentence[1:] != matches.sentence[:-1]])[: len(matches.at)]
        numbers = matches.sentence[first]
        held = np.zeros((len(numbers), terms), bool)
        held[np.cumsum(first) - 1, matches.term] = True
        return Sentences(held, matches.text[first], numbers, matches.numbered[numbers], texts)

    def pairs(self) -> Scores:
        """Share of the question's neighbouring terms that are neighbours in the text."""
        texts, terms = self.counts.shape
        first = np.flatnonzero(self._joined)
        there = np.zeros((texts, terms))
        there[self.matches.text[first], self.matches.term[first]] = 1
        return np.asarray(there.sum(1) / max(terms - 1, 1))

    def run(self, weights: Scores) -> Scores:
        """Weight of the heaviest stretch of neighbours."""
        if not len(self.matches.at):
            return np.zeros(len(self.counts))
        begins = np.flatnonzero(np.concatenate([[True], ~self._joined]))
        runs = np.add.reduceat(weights[self.matches.term], begins)
        return _highest(len(self.counts), self.matches.text[begins], runs)

    @cached_property
    def _joined(self) -> npt.NDArray[np.bool_]:
        """Which matches the next one follows as it does in the question."""
        at, term = self.matches.at, self.matches.term
        return np.asarray((at[1:] - at[:-1] == 1) & (term[1:] - term[:-1] == 1))


@dataclass(frozen=True)
class Sentences:
    """The sentences that hold any term: which terms, whose sentence it is, its number, and whether it has a digit."""

    held: npt.NDArray[np.bool_]
    owners: Places
    numbers: Places
    numbered: npt.NDArray[np.bool_]
    texts: int

    def best(self, weights: Scores) -> Scores:
        """The weight held by each text's best sentence,"""
        return _highest(self.texts, self.owners, self.held @ weights)

    def best_numbered(self, weights: Scores) -> Scores:
        """by the best that has a digit,"""
        return _highest(self.texts, self.owners, (self.held @ weights) * self.numbered)

    def best_two(self, weights: Scores, best: Scores) -> Scores:
        """and by the best two that follow each other, or the `best` alone."""
        numbers, owners = self.numbers, self.owners
        first = np.flatnonzero((numbers[1:] - numbers[:-1] == 1) & (owners[1:] == owners[:-1]))
        both = self.held[first] | self.held[first + 1]
        return np.maximum(best, _highest(self.texts, owners[first], both @ weights))


def _highest(texts: int, owners: Places, values: Scores) -> Scores:
    """The highest of each text's values, which come text by text; 0 for a text that has none."""
    highest = np.zeros(texts)
    if len(values):
        begins = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
        highest[owners[begins]] = np.maximum.reduceat(values, begins)
    return highest


def match_words(wanted: Fingerprints, texts: Sequence[Fingerprints]) -> Matches:
    lengths = np.array([len(text) for text in texts])
    # A border after every text: no sentence and no run goes on into the next.
    words = np.frombuffer(b"".join([text.tobytes() + _BORDER for text in texts]), np.uint32)
    places = np.flatnonzero(_buckets(wanted).take(words & (_BUCKETS - 1)))
    at, term = _matched(wanted, words[places], places)
    ends = np.cumsum(lengths + 1)
    borders = np.flatnonzero(words == 0)
    counted = lengths + 1 - np.diff(np.searchsorted(borders, ends), prepend=0)
    text = np.searchsorted(ends, at, side="right")
    nowhere = np.zeros(len(borders) + 1, bool)
    return Matches(at, term, text, np.searchsorted(borders, at), counted.astype(float), nowhere)


@dataclass(frozen=True)
class Line:
    """Many texts one after the other, character by character, folded."""

    codes: Codes
    lengths: Places
    stops: Places
    numbered: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Line":
        cut = [text[:_CHARACTERS] for text in texts]
        joined = "\n".join(cut) + "\n"
        codes = _codes(joined)
        if len(codes) == len(joined):
            lengths = [len(text) for text in cut]
        else:  # characters beyond the basic plane are two here
            lengths = [len(text.encode("utf-16-le", "replace")) // 2 for text in cut]
        kinds = _kinds().take(codes)
        stops = np.flatnonzero(kinds == _STOP)
        digits = np.searchsorted(stops, np.flatnonzero(kinds == _DIGIT))
        return cls(codes, np.array(lengths), stops, np.bincount(digits, minlength=len(stops) + 1) > 0)

    def matches(self, at: Places, term: Places) -> Matches:
        text = np.searchsorted(np.cumsum(self.lengths + 1), at, side="right")
        sentence = np.searchsorted(self.stops, at)
        return Matches(at, term, text, sentence, self.lengths.astype(float), self.numbered)


def match_pairs(wanted: Fingerprints, line: Line) -> Matches:
    """Pairs of characters, as `character_pairs` gives those of a question."""
    codes = line.codes
    asked = np.zeros(1 << 16, bool)
    asked[(wanted >> 16).astype(np.uint16)] = True
    asked[(wanted & 0xFFFF).astype(np.uint16)] = True
    held = asked.take(codes)
    near = np.flatnonzero(held[:-1] & held[1:])
    pairs = np.asarray(codes[near].astype(np.uint32) << 16 | codes[near + 1], np.uint32)
    return line.matches(*_matched(wanted, pairs, near))


def match_kanji(question: str, line: Line) -> tuple[Matches, int]:
    """The distinct kanji of a question, each by itself, and how many there are: 酒蔵 and 酒造 have one in common."""
    asked = _codes(question)
    wanted = np.unique(asked[(asked >= _FIRST_KANJI) & (asked <= _LAST_KANJI)])
    place = np.zeros(1 << 16, np.uint16)
    place[wanted] = np.arange(1, len(wanted) + 1)
    term = place.take(line.codes)
    at = np.flatnonzero(term)
    return line.matches(at, term[at].astype(np.int64) - 1), len(wanted)


def character_pairs(text: str) -> list[str]:
    """The distinct pairs of neighbouring letters or digits of `text`, folded, in order."""
    codes = _codes(text)
    kinds = _kinds().take(codes)
    # Halves of characters beyond the basic plane are no letters of their own.
    written = ((kinds == _LETTER) | (kinds == _DIGIT)) & ((codes < 0xD800) | (codes >= 0xE000))
    kept = np.flatnonzero(written[:-1] & written[1:])
    return list(dict.fromkeys(chr(codes[place]) + chr(codes[place + 1]) for place in kept))


def pair_codes(pairs: Sequence[str]) -> Fingerprints:
    return np.array([ord(pair[0]) << 16 | ord(pair[1]) for pair in pairs], np.uint32)


def _matched(wanted: Fingerprints, there: Fingerprints, places: Places) -> tuple[Places, Places]:
    """At which of some places a wanted term stands, and which term it is; `there` is what stands at them."""
    order = np.argsort(wanted)
    term = order[np.minimum(np.searchsorted(wanted[order], there), len(wanted) - 1)]
    right = wanted[term] == there
    return places[right], term[right]


def _buckets(wanted: Fingerprints) -> npt.NDArray[np.bool_]:
    held = np.zeros(_BUCKETS, bool)
    held[wanted & (_BUCKETS - 1)] = True
    return held


def _codes(text: str) -> Codes:
    return _folding().take(np.frombuffer(text.encode("utf-16-le", "replace"), np.uint16))


@cache
def _folding() -> Codes:
    """What each character folds to, where that is one character."""
    table = np.arange(1 << 16, dtype=np.uint16)
    for code in range(1 << 16):
        # CJK ideographs and Hangul fold to themselves, but for old forms; surrogates are halves.
        if not 0xAC00 <= code < 0xE000:
            folded = fold(chr(code))
            if len(folded) == 1 and ord(folded) < 1 << 16:
                table[code] = ord(folded)
    return table


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    table = np.array([_LETTER if chr(code).isalpha() else _OTHER for code in range(1 << 16)], np.uint8)
    table[0xD800:0xE000] = _LETTER
    table[ord("ー")] = table[ord("々")] = _LETTER
    table[[code for code in range(1 << 16) if chr(code).isdecimal()]] = _DIGIT
    table[[ord(stop) for stop in _STOPS]] = _STOP
    return table
