"""Excel: every visible sheet is a section, and every row a line that names its columns, as in tables of CSV.

Values stand as they are shown where that is cheap (dates, percent, no trailing .0); formulas by the value they had when
the file was saved. Programs that do not calculate save none, which is said.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time
from io import BytesIO
from typing import Any

from shirube.ingest.readers import archive
from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.separated import LONGEST, named_row
from shirube.ingest.readers.writing import Writer, sensible_title

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_PERCENT = re.compile(r"0(?:\.(0+))?%")
# Fifteen digits are what Excel itself keeps of a number.
_DIGITS = 15
_TOLD = 10_000


def read(data: bytes, on_page: Callable[[], None]) -> Content:
    archive.check(data)
    import openpyxl

    book = openpyxl.load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
    writer = Writer()
    unvalued = 0
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            continue
        rows = _lines(_rows(sheet))
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
        unvalued += _without_value(sheet)
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


def _without_value(sheet: Any) -> int:
    """How many formulas have no value; one that gave an empty text has the type of a text."""
    from openpyxl.xml.functions import iterparse

    found = 0
    with sheet._get_source() as source:
        for _, node in iterparse(source):
            if node.tag == f"{_MAIN}c":
                is_empty = not node.findtext(f"{_MAIN}v") and node.get("t") != "str"
                found += is_empty and node.find(f"{_MAIN}f") is not None
            elif node.tag == f"{_MAIN}row":
                node.clear()
    return found


def _rows(sheet: Any) -> Iterator[tuple[list[str], bool]]:
    """The cells of each row without the empty ones at its end, and whether they can be the names of columns."""
    sheet.reset_dimensions()  # what a file says of its size may be a million empty columns
    for cells in sheet.iter_rows():
        row = [_shown(cell) for cell in cells]
        while row and not row[-1]:
            row.pop()
        written = [cell.value for cell in cells if cell.value is not None]
        named = len(written) > 1 and all(isinstance(value, str) for value in written)
        yield row, named and len(set(written)) == len(written)


def _lines(rows: Iterator[tuple[list[str], bool]]) -> Iterator[str]:
    """The rows as lines. The first row of a table may name its columns; single cells above it are captions.

    A blank row ends a table, unless what follows has the same columns.
    """
    names: list[str] | None = None
    begun = False
    blank = True
    for row, may_name in rows:
        if not row:
            blank = True
            continue
        if blank and not (names and _used(names) == _used(row)):
            names, begun = None, False
        blank = False
        if not begun and may_name:
            names = row
            yield named_row(None, row)
        else:
            yield named_row(names, row)
        begun = begun or len(_used(row)) > 1


def _used(row: Sequence[str]) -> list[int]:
    return [at for at, cell in enumerate(row) if cell]


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
