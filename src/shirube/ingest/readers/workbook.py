"""Excel: every visible sheet is a section, and every row a line that names its columns, as in tables of CSV.

Values stand as they are shown where that is cheap (dates, percent, no trailing .0); formulas by the value they had when
the file was saved. Programs that do not calculate save none, which is said.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from io import BytesIO
from itertools import islice, takewhile
from typing import Any

from shirube.ingest.readers import archive
from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.merges import Merges, Range
from shirube.ingest.readers.separated import LONGEST
from shirube.ingest.readers.tables import LONGEST_HEAD, Cell, column_names, has_own, head_lines, named
from shirube.ingest.readers.writing import Writer, row, sensible_title

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_PERCENT = re.compile(r"0(?:\.(0+))?%")
# Fifteen digits are what Excel itself keeps of a number.
_DIGITS = 15
_TOLD = 10_000
# What Excel allows: columns of a sheet, characters of a cell.
_MOST_COLUMNS = 16_384
_LONGEST_CELL = 32_767
# A range for every row of the largest sheet. More would fill the memory, and no table has them.
_MOST_RANGES = 1_048_576


def read(data: bytes, on_page: Callable[[], None]) -> Content:
    archive.check(data)
    import openpyxl

    book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
    writer = Writer()
    unvalued = 0
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        ranges, formulas = _ahead(sheet)
        unvalued += formulas
        rows = _lines(_rows(sheet, Merges(ranges)))
        first = next(rows, None)
        if first is not None:
            writer.heading(sheet.title, 1)
            writer.line(first)
        for number, line in enumerate(rows):
            writer.line(line)
            if number % _TOLD == 0:
                on_page()  # a large sheet takes its time
            if writer.length > LONGEST:
                raise Unreadable("the tables are too large; split it", "表が大きすぎます。分割してください。")
        on_page()
    title = sensible_title(book.properties.title)
    return Content(writer.text(), title, writer.headings, warnings=_said(unvalued))


def _said(unvalued: int) -> list[str]:
    if not unvalued:
        return []
    return [
        f"計算結果が保存されていない数式が{unvalued}個あり、その値は読めません。"
        "Excel などで開いて保存し直してください。 "
        f"{unvalued} formulas have no stored value and are left out; open the file in Excel and save it again."
    ]


def _ahead(sheet: Any) -> tuple[list[Range], int]:
    """What openpyxl does not tell of a sheet that it streams: merged ranges, which stand behind the rows in the file,
    and how many formulas have no value; one that gave an empty text has the type of a text."""
    from openpyxl.utils.cell import range_boundaries
    from openpyxl.xml.functions import iterparse

    ranges: list[Range] = []
    found = 0
    with sheet._get_source() as source:
        for _, node in iterparse(source):
            if node.tag == f"{_MAIN}c":
                is_empty = not node.findtext(f"{_MAIN}v") and node.get("t") != "str"
                found += is_empty and node.find(f"{_MAIN}f") is not None
            elif node.tag == f"{_MAIN}row":
                node.clear()
            elif node.tag == f"{_MAIN}mergeCell":
                left, top, right, bottom = range_boundaries(node.get("ref", ""))
                if left and top and right and bottom:  # nothing says where whole columns and rows end
                    ranges.append(Range(top, left - 1, bottom, right - 1))
                if len(ranges) > _MOST_RANGES:
                    raise Unreadable(
                        "too many merged cells; split it", "結合されたセルが多すぎます。分割してください。"
                    )
    return ranges, found


@dataclass(frozen=True, slots=True)
class _Row:
    """A row by its number, the last row that its cells reach into, and whether it can be the names of columns."""

    number: int
    cells: list[Cell]
    last: int
    may_name: bool


def _rows(sheet: Any, merges: Merges) -> Iterator[_Row]:
    sheet.reset_dimensions()  # what a file says of its size may be a million empty columns
    for number, cells in enumerate(sheet.iter_rows(), 1):
        found, last = merges.row(number, [_shown(cell) for cell in cells])
        written = [cell.value for cell in cells if cell.value is not None]
        names = len(written) > 1 and all(isinstance(value, str) for value in written)
        yield _Row(number, found, last, names and len(set(written)) == len(written))


def _lines(rows: Iterator[_Row]) -> Iterator[str]:
    """The rows as lines. The first rows of a table may name its columns; single cells above them are captions.

    A blank row ends a table, unless what follows has the same columns, or a cell of the table reaches into it.
    """
    names: list[str] = []
    columns: set[int] = set()
    begun = False
    blank = True
    last = 0
    near = deque(islice(rows, LONGEST_HEAD + 1))
    while near:
        here = near[0]
        if not here.cells:
            blank = blank or here.number > last
        else:
            used = _used(here.cells)
            if blank and not (names and columns == used):
                names, begun, last = [], False, 0
            blank = False
            heads = 0 if begun or len(used) < 2 else _heads(near)
            if heads:
                head = [near[at].cells for at in range(heads)]
                names = column_names(head, most=_MOST_COLUMNS, longest=_LONGEST_CELL)
                columns = set[int]().union(*map(_used, head))
                for cells in head:
                    yield row(cell.text for cell in cells if cell.text and not cell.again)
                for _ in range(1, heads):
                    near.popleft()
            elif has_own(here.cells):
                last = max(last, here.last)
                yield row(named(here.cells, names, longest=_LONGEST_CELL))
            begun = begun or len(used) > 1
        near.popleft()
        near.extend(islice(rows, LONGEST_HEAD + 1 - len(near)))


def _heads(near: Sequence[_Row]) -> int:
    """How many of the rows to come are the head of the table that begins with them."""
    return head_lines(
        [each.cells for each in takewhile(lambda each: each.cells, near)], int(near[0].may_name)
    )


def _used(cells: Sequence[Cell]) -> set[int]:
    """The columns in which texts begin."""
    found = set()
    at = 0
    for cell in cells:
        if cell.text:
            found.add(at)
        at += cell.columns
    return found


def _shown(cell: Any) -> str:
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d" if value.time() == time() else "%Y-%m-%d %H:%M")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.strftime("%H:%M")
    if isinstance(value, int | float):
        return _number(value, getattr(cell, "number_format", None) or "")
    return " ".join(str(value).split())


def _number(value: float, shown_as: str) -> str:
    if match := _PERCENT.fullmatch(shown_as):
        return f"{value:.{len(match[1] or '')}%}"
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.{_DIGITS}g}"
