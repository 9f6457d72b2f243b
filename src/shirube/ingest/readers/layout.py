"""Where the letters of a PDF stand, and what that says: lines, columns of tables, ends of paragraphs.

All lengths are in points, heights go up. Text that is written downwards is turned, so that its lines run to the right.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import hypot
from statistics import median
from typing import Any, NamedTuple

from shirube.ingest.readers.lines import clean, joined

# In widths of a letter; chosen on manuals in Japanese and English.
_COLUMN_GAP = 1.8
_ALIGNED = 1.0
_SHORT = 2.5
_LINE_STEP = 2.3
_INDENT = 4.0
# One line in so many may stick out beyond the margin.
_OVERFULL = 20
# So many letters of a line are asked for their size.
_ASKED = 8
_SMALLEST = 0.1
_HYPHEN = "\x02"
_BREAKS = frozenset("\r\n")
_JAPANESE = re.compile(r"[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]")
_LATIN_WORD = re.compile(r"[!-~\u00a1-\u024f]+")
# The parts of a page where headers and footers stand.
_MARGIN = 0.09
# Names of chapters run over a few pages only.
_OFTEN = 3
_PAGE_NUMBER = re.compile(
    r"(?i)[-–—‐－\s(（]*(?:p(?:age|\.)?\s*)?[0-9０-９]{1,5}(?:\s*(?:[/／]|of)\s*[0-9０-９]{1,5})?[-–—‐－\s)）]*(?:ページ|頁)?"
)
# What differs between running lines. The number within 第1章 is not it.
_AT_THE_ENDS = re.compile(r"^[0-9０-９\s/／-]+|[0-9０-９\s/／-]+$")


@dataclass(frozen=True)
class Piece:
    """Letters beside each other, without a gap as wide as between columns."""

    text: str
    left: float
    right: float


@dataclass
class Line:
    """A line of a page. `margin` is where lines like it end at the right."""

    pieces: list[Piece]
    left: float
    right: float
    bottom: float
    top: float
    size: float
    downwards: bool = False
    margin: float = 0.0

    @property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces)


@dataclass
class Block:
    """What becomes a line of the text: a line of the page, a row of a table (without `line`), or a heading."""

    text: str
    line: Line | None = None
    level: int | None = None


@dataclass
class Page:
    lines: list[Line] = field(default_factory=list)
    bottom: float = 0.0
    top: float = 0.0
    recognised: tuple[str, ...] = ()

    @classmethod
    def of_text(cls, text: str) -> "Page":
        return cls(recognised=tuple(line for line in text.split("\n") if line.strip()))

    @property
    def letters(self) -> int:
        return sum(len(line.text) for line in self.lines) + sum(map(len, self.recognised))


class _Letter(NamedTuple):
    """A letter in its box. `at` is its place among PDFium's."""

    at: int
    char: str
    left: float
    bottom: float
    right: float
    top: float


def page(opened: Any) -> Page:
    """The lines of a page of PDFium's, in the order in which they were written."""
    _, bottom, _, top = opened.get_mediabox()
    lines: list[Line] = []
    text = opened.get_textpage()
    for letters in _runs(text.raw):
        line = _line(letters, text.raw)
        if lines and _is_beside(lines[-1], line):
            lines[-1] = _side_by_side(lines[-1], line)
        else:
            lines.append(line)
    text.close()
    lines = [line for line in lines if line.text.strip()]
    if 2 * sum(line.downwards for line in lines) > len(lines):
        # PDFium takes columns for words of one line, and puts them from left to right.
        lines.sort(key=lambda line: (-line.bottom, line.left))
    for line in lines:
        rights = sorted((each.right for each in lines if _alike(each, line)), reverse=True)
        line.margin = rights[len(rights) // _OVERFULL]
    return Page(lines, bottom, top)


def _runs(text: Any) -> Iterator[list[_Letter]]:
    """The letters between PDFium's line breaks; it gives none behind a hyphen."""
    import pypdfium2

    raw = pypdfium2.raw
    box = raw.FS_RECTF()
    letters: list[_Letter] = []
    code_of, box_of = raw.FPDFText_GetUnicode, raw.FPDFText_GetLooseCharBox
    for at in range(raw.FPDFText_CountChars(text)):
        char = chr(code_of(text, at))
        if char in _BREAKS:
            if letters:
                yield letters
            letters = []
            continue
        if char < " " and char != _HYPHEN:
            continue
        box_of(text, at, box)
        if letters and letters[-1].char == _HYPHEN and box.left < letters[-1].left:
            yield letters
            letters = []
        letters.append(_Letter(at, char, box.left, box.bottom, box.right, box.top))
    if letters:
        yield letters


def _line(letters: Sequence[_Letter], text: Any) -> Line:
    """A line with its pieces. Spaces are judged by their width: between Japanese letters PDFium makes up some."""
    seen = [letter for letter in letters if not letter.char.isspace()]
    if not seen:
        return Line([], 0, 0, 0, 0, 0)
    downwards = _is_vertical(seen)
    if downwards:
        letters = [_turned(letter) for letter in letters]
        seen = [letter for letter in letters if not letter.char.isspace()]
    size = _size(seen, text)
    pieces: list[Piece] = []
    part = [seen[0].char]
    left, before, space = seen[0].left, seen[0], False
    for letter in letters[1:]:
        if letter.char.isspace():
            space = True
            continue
        if letter is before:
            continue
        gap = letter.left - before.right
        if gap > _COLUMN_GAP * size:
            pieces.append(Piece(clean(_paired("".join(part))), left, before.right))
            part, left = [], letter.left
        elif space and (
            gap > size / 2 or not (_JAPANESE.match(before.char) and _JAPANESE.match(letter.char))
        ):
            part.append(" ")
        part.append(letter.char)
        before, space = letter, False
    pieces.append(Piece(clean(_paired("".join(part))), left, before.right))
    return Line(
        pieces,
        min(letter.left for letter in seen),
        max(letter.right for letter in seen),
        min(letter.bottom for letter in seen),
        max(letter.top for letter in seen),
        size,
        downwards,
    )


def _size(letters: Sequence[_Letter], text: Any) -> float:
    """The size of the type. Boxes do not tell: those of Latin and Japanese fonts differ for the same size."""
    import pypdfium2

    raw = pypdfium2.raw
    matrix = raw.FS_MATRIX()
    sizes = []
    for letter in letters[:: len(letters) // _ASKED + 1]:
        if raw.FPDFText_GetMatrix(text, letter.at, matrix):
            sizes.append(raw.FPDFText_GetFontSize(text, letter.at) * hypot(matrix.c, matrix.d))
    return max(median(sizes), _SMALLEST) if sizes else _SMALLEST


def _paired(text: str) -> str:
    """Halves of letters beyond the first 65,536 put together."""
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_vertical(letters: Sequence[_Letter]) -> bool:
    if len(letters) < 3:
        return False
    wide = max(each.right for each in letters) - min(each.left for each in letters)
    high = max(each.top for each in letters) - min(each.bottom for each in letters)
    return high > 2 * wide


def _turned(letter: _Letter) -> _Letter:
    return _Letter(letter.at, letter.char, -letter.top, letter.left, -letter.bottom, letter.right)


def _is_beside(line: Line, other: Line) -> bool:
    """Whether another line stands to the right of this one, at its height."""
    if not line.pieces or not other.pieces:
        return False
    shared = min(line.top, other.top) - max(line.bottom, other.bottom)
    return shared > 0.5 * min(line.size, other.size) and other.left >= line.right - 0.5 * line.size


def _side_by_side(line: Line, other: Line) -> Line:
    return Line(
        [*line.pieces, *other.pieces],
        line.left,
        max(line.right, other.right),
        min(line.bottom, other.bottom),
        max(line.top, other.top),
        max(line.size, other.size),
    )


def _alike(line: Line, other: Line) -> bool:
    """Lines of the same column in the same type."""
    return (
        abs(line.size - other.size) <= 0.1 * other.size
        and abs(line.left - other.left) <= _INDENT * other.size
    )


def follows(line: Line, other: Line) -> bool:
    """Whether `other` may go on with what `line` says: it is full, and the next is near, or on another page."""
    if abs(line.size - other.size) > 0.1 * line.size:
        return False
    if line.margin - line.right > max(_SHORT * line.size, _first_word(other) + line.size):
        return False
    step = line.bottom - other.bottom
    return step <= 0 or step <= _LINE_STEP * line.size


def _first_word(line: Line) -> float:
    """About the width of a line's first word, which did not fit on the line before. Japanese breaks anywhere."""
    word = _LATIN_WORD.match(line.text)
    return len(word[0]) * (line.right - line.left) / len(line.text) if word else 0.0


def drop_running_lines(pages: Sequence[Page]) -> None:
    """Take out page numbers, and all but the first of what stands at the top or bottom of several pages.

    That is the same line again and again, or one whose number goes up with the pages. 資料1, 資料3, 資料4 stay.
    """
    places: dict[tuple[str, int | None], list[tuple[Page, Line]]] = defaultdict(list)
    for number, each in enumerate(pages):
        high = each.top - each.bottom
        inner = (each.bottom + _MARGIN * high, each.top - _MARGIN * high)
        for line in [line for line in each.lines if line.top < inner[0] or line.bottom > inner[1]]:
            if _PAGE_NUMBER.fullmatch(line.text):
                each.lines.remove(line)
            else:
                places[line.text, None].append((each, line))
                if counted := _AT_THE_ENDS.search(line.text):
                    first = re.search(r"[0-9０-９]{1,9}", counted[0])
                    if first:
                        rest = _AT_THE_ENDS.sub("", line.text)
                        places[rest, int(first[0]) - number].append((each, line))
    for found in places.values():
        if len(found) >= _OFTEN:
            for each, line in found[1:]:
                if line in each.lines:
                    each.lines.remove(line)


def blocks(page: Page) -> list[Block]:
    """The lines of a page, with those of tables as rows."""
    found = [Block(text) for text in page.recognised]
    at = 0
    while at < len(page.lines):
        end = _table_end(page.lines, at)
        if end - at > 1:
            found += [Block(row) for row in _rows(page.lines[at:end])]
            at = end
        else:
            line = page.lines[at]
            found.append(Block(line.text, line))
            at += 1
    return found


def _table_end(lines: Sequence[Line], start: int) -> int:
    """Behind the last line of the table that begins here; `start` + 1 where none does."""
    if len(lines[start].pieces) < 2:
        return start + 1
    columns = list(lines[start].pieces)
    end = start + 1
    rows = 1
    while end < len(lines):
        line, above = lines[end], lines[end - 1]
        near = 0 < above.bottom - line.bottom <= 2 * _LINE_STEP * line.size
        is_row = len(line.pieces) > 1 and any(
            _aligned(piece, column, line.size) for piece in line.pieces[1:] for column in columns[1:]
        )
        if not near or not (is_row or _continues(line, columns)):
            break
        rows += is_row
        columns += line.pieces if is_row else []
        end += 1
    return end if rows > 1 else start + 1


def _aligned(piece: Piece, column: Piece, size: float) -> bool:
    middle = abs(piece.left + piece.right - column.left - column.right) / 2
    nearest = min(abs(piece.left - column.left), abs(piece.right - column.right), middle)
    return nearest < _ALIGNED * size


def _continues(line: Line, columns: Sequence[Piece]) -> bool:
    """Whether a line goes on with cells above, none of them in the first column."""
    if line.left <= min(column.left for column in columns) + line.size:
        return False
    return all(
        any(abs(piece.left - column.left) < _ALIGNED * line.size for column in columns)
        for piece in line.pieces
    )


def _rows(lines: Sequence[Line]) -> Iterator[str]:
    cells: list[Piece] = []
    for line in lines:
        if cells and _continues(line, cells) and line.left > cells[0].right:
            for piece in line.pieces:
                at = min(range(len(cells)), key=lambda each: abs(cells[each].left - piece.left))
                above = cells[at]
                text = joined(above.text, piece.text)
                cells[at] = Piece(text, above.left, max(above.right, piece.right))
            continue
        if cells:
            yield _row(cells)
        cells = list(line.pieces)
    if cells:
        yield _row(cells)


def _row(cells: Sequence[Piece]) -> str:
    return f"| {' | '.join(cell.text.replace('|', '｜') for cell in cells)} |"
