"""Where the words of a query stand in a text. Both are folded; a wildcard stands for any letters and figures."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from shirube.query.tree import Term

_RUN = re.compile(r"\w*")


class Chain(NamedTuple):
    """A place where a word begins. Its last part may begin from `earliest` to `latest`.

    Of the parts between, only the first place that fits counts: what can follow a later one can follow it too, since
    a wildcard never leaves its run of letters. So each part goes through a text once, however many ways there are.
    """

    start: int
    earliest: int
    latest: int


def places(word: str, text: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def chains(term: Term, text: str) -> Iterator[Chain]:
    """The places of a term with wildcards, from left to right; `last_places` says whether and where each ends."""
    first, *between = term.parts[:-1]
    runs = [(0, -1)] * (len(between) + 1)
    following = [-1] * len(between)
    for start in places(first, text):
        at = start + len(first)
        for number, part in enumerate(between):
            runs[number] = run = _run(text, at, runs[number])
            if following[number] < at:
                following[number] = text.find(part, at)
            if following[number] < 0:
                return
            if following[number] > run[1]:
                break
            at = following[number] + len(part)
        else:
            runs[-1] = run = _run(text, at, runs[-1])
            yield Chain(start, at, run[1])


def stands(term: Term, text: str) -> bool:
    """Whether a term is in a text."""
    if not all(part in text for part in term.parts):
        return False
    if not term.wildcard:
        return True
    last, following = term.parts[-1], -1
    for chain in chains(term, text):
        if following < chain.earliest:
            following = text.find(last, chain.earliest)
        if following < 0:
            return False
        if following <= chain.latest:
            return True
    return False


def _run(text: str, at: int, known: tuple[int, int]) -> tuple[int, int]:
    """From where to where nothing but letters and figures stand, around `at`; `known` is the one looked at before."""
    if known[0] <= at <= known[1]:
        return known
    found = _RUN.match(text, at)
    assert found is not None
    return found.span()
