"""Where the words and the character pairs of a question stand in many texts, found in one go.

Words are the index's fingerprints with 0 at sentence borders. Characters are folded one by one by a table: enough to
see that two texts share a stretch of writing, and far cheaper than folding as search does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

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
_BUCKETS = 1 << 12
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


@dataclass(frozen=True)
class Found:
    """What the matches come to, text by text. Weights of the question's terms add up to 1."""

    counts: Scores
    """How often each text (row) has each term (column)."""
    sentence: Scores
    """The weight held by the best sentence,"""
    two: Scores
    """by the best two that follow each other,"""
    numbered: Scores
    """and by the best sentence that has a digit."""
    pairs: Scores
    """Share of the question's neighbouring terms that are neighbours in the text."""
    run: Scores
    """Weight of the heaviest stretch of neighbours."""
    lengths: Scores


def match_words(wanted: Fingerprints, texts: Sequence[Fingerprints]) -> Matches:
    lengths = np.array([len(text) for text in texts])
    # A border after every text: no sentence and no run goes on into the next.
    border = np.zeros(1, np.uint32)
    words = np.concatenate([part for text in texts for part in (text, border)])
    places = np.flatnonzero(_buckets(wanted)[words & (_BUCKETS - 1)])
    at, term = _matched(wanted, words[places], places)
    ends = np.cumsum(lengths + 1)
    borders = np.flatnonzero(words == 0)
    counted = lengths + 1 - np.diff(np.searchsorted(borders, ends), prepend=0)
    text = np.searchsorted(ends, at, side="right")
    nowhere = np.zeros(len(borders) + 1, bool)
    return Matches(at, term, text, np.searchsorted(borders, at), counted.astype(float), nowhere)


def match_pairs(wanted: Fingerprints, texts: Sequence[str]) -> Matches:
    """Pairs of characters, as `character_pairs` gives those of a question."""
    cut = [text[:_CHARACTERS] for text in texts]
    codes = _codes("\n".join(cut) + "\n")
    kinds = _kinds()[codes]
    lengths = np.array([len(text.encode("utf-16-le", "replace")) // 2 for text in cut])
    asked = np.zeros(1 << 16, bool)
    asked[(wanted >> 16).astype(np.uint16)] = True
    asked[(wanted & 0xFFFF).astype(np.uint16)] = True
    held = asked[codes]
    near = np.flatnonzero(held[:-1] & held[1:])
    pairs = np.asarray(codes[near].astype(np.uint32) << 16 | codes[near + 1], np.uint32)
    at, term = _matched(wanted, pairs, near)
    text = np.searchsorted(np.cumsum(lengths + 1), at, side="right")
    stops = np.flatnonzero(kinds == _STOP)
    digits = np.searchsorted(stops, np.flatnonzero(kinds == _DIGIT))
    numbered = np.bincount(digits, minlength=len(stops) + 1) > 0
    return Matches(at, term, text, np.searchsorted(stops, at), lengths.astype(float), numbered)


def character_pairs(text: str) -> list[str]:
    """The distinct pairs of neighbouring letters or digits of `text`, folded, in order."""
    codes = _codes(text)
    kinds = _kinds()[codes]
    # Halves of characters beyond the basic plane are no letters of their own.
    written = ((kinds == _LETTER) | (kinds == _DIGIT)) & ((codes < 0xD800) | (codes >= 0xE000))
    kept = np.flatnonzero(written[:-1] & written[1:])
    return list(dict.fromkeys(chr(codes[place]) + chr(codes[place + 1]) for place in kept))


def pair_codes(pairs: Sequence[str]) -> Fingerprints:
    return np.array([ord(pair[0]) << 16 | ord(pair[1]) for pair in pairs], np.uint32)


def summed_up(matches: Matches, weights: Scores) -> Found:
    count, size = len(matches.lengths), len(weights)
    flat = matches.text * size + matches.term
    counts = np.bincount(flat, minlength=count * size).reshape(count, size).astype(float)
    sentence, two, numbered, pairs, run = np.zeros((5, count))
    found = Found(counts, sentence, two, numbered, pairs, run, matches.lengths)
    if len(matches.at):
        _sum_sentences(found, matches, weights)
        _sum_neighbours(found, matches, weights)
    return found


def _sum_sentences(found: Found, matches: Matches, weights: Scores) -> None:
    numbers, row = np.unique(matches.sentence, return_inverse=True)
    size = len(weights)
    held = np.bincount(row * size + matches.term, minlength=len(numbers) * size).reshape(-1, size) > 0
    owners = np.zeros(len(numbers), int)
    owners[row] = matches.text
    alone = held @ weights
    np.maximum.at(found.sentence, owners, alone)
    np.maximum.at(found.two, owners, alone)
    np.maximum.at(found.numbered, owners, alone * matches.numbered[numbers])
    follows = np.flatnonzero((np.diff(numbers) == 1) & (np.diff(owners) == 0))
    if len(follows):
        np.maximum.at(found.two, owners[follows], (held[follows] | held[follows + 1]) @ weights)


def _sum_neighbours(found: Found, matches: Matches, weights: Scores) -> None:
    size, count = len(weights), len(found.pairs)
    joined = (np.diff(matches.at) == 1) & (np.diff(matches.term) == 1)
    run = np.concatenate([[0], np.cumsum(~joined)])
    first = np.concatenate([[True], ~joined])
    np.maximum.at(found.run, matches.text[first], np.bincount(run, weights[matches.term]))
    if size > 1:
        pair = np.flatnonzero(joined)
        flat = matches.text[pair] * size + matches.term[pair]
        found.pairs[:] = (np.bincount(flat, minlength=count * size).reshape(count, size) > 0).sum(1) / (
            size - 1
        )


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
    return _folding()[np.frombuffer(text.encode("utf-16-le", "replace"), np.uint16)]


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
