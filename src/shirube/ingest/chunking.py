"""Documents to passages of about 500 characters, cut at sentence and heading borders, each with its exact span.

A passage never crosses a heading or splits a line of a table, and repeats up to 75 characters of whole sentences from
the one before, so that an answer on a border is found whole. Every letter of the body is in some passage. What begins
on another page is in another passage, without a repetition: the page of a passage is where all its sentences begin.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from shirube.ingest.readers.contract import Content, Heading
from shirube.store.documents import Passage
from shirube.text.sentences import sentences
from shirube.text.tables import names_above

TARGET = 500
OVERLAP = 75
# A table row stays whole up to here; beyond it nothing readable is left to protect.
_LONGEST_ROW = 4 * TARGET
# Every passage below a heading carries it; a page may have all its text in one.
_LONGEST_NAME = 200
_BREAKS = ("、", "，", ",", "；", ";", "　", " ", "）", ")")


def passages(content: Content) -> list[Passage]:
    """The passages of a document in order, each with the page its sentences begin on."""
    found: list[Passage] = []
    since, columns = 0, list[str]()
    for path, start, end in _sections(content):
        for page, units in groupby(
            _units(content.text, start, end), lambda unit: bisect_right(content.pages, unit[0])
        ):
            for first, last in _windows(list(units)):
                columns = names_above(content.text, first, since, columns)
                since = first
                text = content.text[first:last]
                found.append(Passage(text, first, last, path, page or None, tuple(columns)))
    return found


def _sections(content: Content) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Heading path and span of the text below each heading; a heading with nothing below it stands for itself."""
    starts = [content.start, *(heading.end for heading in content.headings)]
    ends = [*(heading.start for heading in content.headings), len(content.text)]
    path: list[Heading] = []
    for at, (start, end) in enumerate(zip(starts, ends, strict=True)):
        heading = content.headings[at - 1] if at else None
        if heading:
            path = [each for each in path if each.level < heading.level] + [heading]
        names = tuple(each.text[:_LONGEST_NAME] for each in path if each.text)
        start, end = _trimmed(content.text, start, max(start, end))
        if start < end:
            yield names, start, end
        elif heading and heading.text and _is_leaf(content.headings, at - 1):
            yield names, heading.start, heading.end


def _is_leaf(headings: Sequence[Heading], at: int) -> bool:
    return at + 1 >= len(headings) or headings[at + 1].level <= headings[at].level


def _windows(units: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Runs of whole sentences of at most TARGET characters that together hold all of them."""
    first = 0
    while first < len(units):
        last = first + 1
        while last < len(units) and units[last][1] - units[first][0] <= TARGET:
            last += 1
        yield units[first][0], units[last - 1][1]
        if last == len(units):
            return
        again = last
        while again - 1 > first and units[last - 1][1] - units[again - 1][0] <= OVERLAP:
            again -= 1
        # The repeated sentences must leave room for the next new one.
        while again < last and units[last][1] - units[again][0] > TARGET:
            again += 1
        first = again


def _units(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences and table rows of text[start:end], without the white space around them; overlong ones in parts."""
    units: list[tuple[int, int]] = []
    while start < end:
        line_end = text.find("\n", start, end) + 1 or end
        first, last = _trimmed(text, start, line_end)
        if text.startswith("|", first, last):
            units += _pieces(text, first, last, _LONGEST_ROW)
        else:
            for sentence_start, sentence_end in sentences(text[first:last]):
                units += _pieces(text, *_trimmed(text, first + sentence_start, first + sentence_end), TARGET)
        start = line_end
    return units


def _pieces(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """A sentence whole, or an overlong one in parts, cut after a comma or a space where there is one."""
    while end - start > longest:
        half = start + longest // 2
        cut = max(text.rfind(mark, half, start + longest) for mark in _BREAKS) + 1
        cut = cut if cut > half else start + longest
        yield _trimmed(text, start, cut)
        start, _ = _trimmed(text, cut, end)
    if start < end:
        yield start, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
