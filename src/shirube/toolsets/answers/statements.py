"""What a passage states, one after another: its sentences, and the rows of its tables with the names of columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shirube.text.invisible import visible
from shirube.text.sentences import sentences

# Letters and figures.
_SAYS_SOMETHING = 5
_RULE = re.compile(r"\|?[\s:|-]*-[\s:|-]*\Z")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_LINE_BREAK = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
_ASKS = re.compile(r"(?:[?？]|(?:です|ます|でしょう|ません)か[。．]?)[」』）)\s]*\Z")


@dataclass(frozen=True)
class Statement:
    """What is stated, in one line as it is shown, and where in the passage it stands. `own` is what of it stands there:
    of a row its cells without the names of their columns."""

    text: str
    start: int
    end: int
    own: str
    is_row: bool = False

    @property
    def asks(self) -> bool:
        return bool(_ASKS.search(self.text))


def statements(passage: str) -> list[Statement]:
    """In order. Lines under the head of a table are rows; the head itself and its rule state nothing."""
    found: list[Statement] = []
    for start, end, is_table in _blocks(passage):
        found += _rows(passage, start, end) if is_table else _prose(passage, start, end)
    return found


def _blocks(passage: str) -> Iterator[tuple[int, int, bool]]:
    """Stretches of lines that are all of a table, or none."""
    begun = at = 0
    in_table = False
    for line in passage.splitlines(keepends=True):
        is_table = line.lstrip().startswith("|")
        if is_table != in_table and at > begun:
            yield begun, at, in_table
            begun = at
        in_table = is_table
        at += len(line)
    if at > begun:
        yield begun, at, in_table


def _prose(passage: str, start: int, end: int) -> Iterator[Statement]:
    """Sentences, with what says nothing by itself (the number of an item, はい。) before the one that follows."""
    begun: int | None = None
    for first, last in sentences(passage[start:end]):
        begun = start + first if begun is None else begun
        if sum(map(str.isalnum, passage[begun : start + last])) >= _SAYS_SOMETHING:
            yield _sentence(passage, begun, start + last)
            begun = None
    if begun is not None and passage[begun:end].strip():
        yield _sentence(passage, begun, end)


def _sentence(passage: str, start: int, end: int) -> Statement:
    text = _in_one_line(passage[start:end])
    return Statement(text, start, end, text)


def _rows(passage: str, start: int, end: int) -> Iterator[Statement]:
    lines: list[tuple[int, int, list[str]]] = []
    names: Sequence[str] = ()
    at = start
    for line in passage[start:end].splitlines(keepends=True):
        if not _RULE.match(line.strip()):
            lines.append((at, at + len(line), _cells(line)))
        elif lines:
            # The line before the rule is the head; whatever stands above that has one of its own.
            yield from (_row(each, names) for each in lines[:-1])
            names = lines[-1][2]
            lines = []
        at += len(line)
    yield from (_row(each, names) for each in lines if any(each[2]))


def _row(line: tuple[int, int, list[str]], names: Sequence[str]) -> Statement:
    start, end, cells = line
    known = names if len(names) == len(cells) else [""] * len(cells)
    shown = [f"{name}：{cell}" if name else cell for name, cell in zip(known, cells, strict=True) if cell]
    return Statement(" / ".join(shown), start, end, " / ".join(filter(None, cells)), is_row=True)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [_in_one_line(cell) for cell in _CELL_BORDER.split(inner)]


def _in_one_line(text: str) -> str:
    return _LINE_BREAK.sub(" ", visible(text).strip())
