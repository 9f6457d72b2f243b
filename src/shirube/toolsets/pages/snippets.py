"""Keywords in a text: where they stand, and 64 characters around the first of them."""

import re
from collections.abc import Iterator

from shirube.index.embedded.tokens import sequence
from shirube.text.normalize import fold, fold_with_map

SIZE = 64


def keywords(query: str) -> list[str]:
    """The words of a query between white space, folded; each once."""
    return list(dict.fromkeys(fold(query).split()))


def needs_check(keyword: str) -> bool:
    """Whether the index, which knows letters and figures alone, cannot tell exactly who has this keyword."""
    return not keyword.isalnum() or not sequence(keyword)


def snippet(text: str, terms: list[str]) -> str:
    """64 characters of `text` around the first keyword, with <mark> around each that is in them."""
    spans = sorted(_spans(text, terms))
    begin, end = spans[0] if spans else (0, 0)
    left = max(0, begin - max(0, SIZE - (end - begin)) // 2)
    right = min(len(text), left + SIZE)
    left = max(0, right - SIZE)
    parts, at = [], left
    for start, stop in spans:
        start, stop = max(start, at), min(stop, right)
        if start < stop:
            parts += [text[at:start], "<mark>", text[start:stop], "</mark>"]
            at = stop
    return re.sub(r"\s", " ", "".join([*parts, text[at:right]]))


def _spans(text: str, terms: list[str]) -> list[tuple[int, int]]:
    """Where the keywords stand in the text as it is written."""
    plain = text.lower()
    if fold(text) == plain and len(plain) == len(text):  # each character is its own
        return [(at, at + len(term)) for term in terms for at in _places(plain, term)]
    folded = fold_with_map(text)
    return [folded.origin(at, at + len(term)) for term in terms for at in _places(folded.text, term)]


def _places(text: str, term: str) -> Iterator[int]:
    at = text.find(term)
    while at >= 0:
        yield at
        at = text.find(term, at + len(term))
