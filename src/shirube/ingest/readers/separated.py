"""Tables as text: values separated by commas, tabs or semicolons.

Each row becomes a line of its own that names its columns, | 氏名: 山田 | 部署: 営業 |, so that a row found by itself
still says what its values are.
"""

import csv
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from itertools import islice

from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.encoding import decode

_SEPARATORS = (",", "\t", ";")
_LOOKED_AT = 50
# Named again in every row, columns may make much of a little; no honest table grows beyond this.
LONGEST = 64 * 1024 * 1024


def read(data: bytes) -> Content:
    text = decode(data)
    # Python's own limit of 131,072 characters would refuse a file for one long note in it.
    csv.field_size_limit(LONGEST)
    rows = _rows(text, _separator(text))
    names = rows[0] if rows and are_names(rows[0]) else None
    lines = []
    length = 0
    for number, row in enumerate(rows):
        line = named_row(names if number else None, row)
        if line:
            lines.append(line)
            length += len(line) + 1
            if length > LONGEST:
                raise Unreadable("the table is too large", "表が大きすぎます。")
    return Content("\n".join(lines))


def _rows(text: str, separator: str) -> list[list[str]]:
    try:
        return list(csv.reader(StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise Unreadable(
            f"not a table of separated values: {error}", "区切り形式の表として読めません。"
        ) from error


def _separator(text: str) -> str:
    """The one that gives most rows the same number of columns, more than one."""

    def fitting(separator: str) -> int:
        try:
            some = islice(csv.reader(StringIO(text, newline=""), delimiter=separator), _LOOKED_AT)
            widths = Counter(len(row) for row in some if row)
        except csv.Error:
            return 0
        return max((count for width, count in widths.items() if width > 1), default=0)

    return max(_SEPARATORS, key=fitting)


def are_names(row: Sequence[str]) -> bool:
    """Names of columns are there, differ, and are no numbers."""
    cells = [cell.strip() for cell in row]
    return (
        len(cells) > 1
        and all(cells)
        and len(set(cells)) == len(cells)
        and not any(cell[0].isdecimal() for cell in cells)
    )


def named_row(names: Sequence[str] | None, row: Sequence[str]) -> str:
    cells = []
    for at, cell in enumerate(row):
        value = " ".join(cell.split())
        if value:
            name = " ".join(names[at].split()) if names and at < len(names) else ""
            cells.append(f"{name}: {value}" if name else value)
    return f"| {' | '.join(cells)} |" if cells else ""
