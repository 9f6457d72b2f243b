"""Tables of pages and Office files as lines: below a head every row names its columns, as the rows of CSV do."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shirube.ingest.readers.separated import are_names
from shirube.ingest.readers.writing import one_line, row

# Named again in every row; what is longer is a text, and names nothing.
LONGEST_NAME = 40
# The columns that are named; no table for readers has more.
MOST_COLUMNS = 100
# Lines that a head has at most.
LONGEST_HEAD = 4
# What heads of two columns begin with; 氏名 | 山田 may as well be the first of several facts.
_SORTS = re.compile(
    r".*(?:区分|種別|種類|分類|項目|等級|役職|職位|職種|階級|段階|条件|事由|対象|期間|曜日|時期|年度|内容|用途|場所)|#|no\.?",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Cell:
    """What a cell holds, and how many columns it takes up."""

    text: str
    columns: int = 1


def lines(rows: Sequence[Sequence[Cell]], heads: int) -> Iterator[str]:
    """A line a row. `heads` rows are said to be the head; where that is none, the first may look like one."""
    if not 0 < heads <= LONGEST_HEAD:
        heads = int(_begins_with_a_head(rows))
    names = _column_names(rows[:heads])
    for number, cells in enumerate(rows):
        yield row(cell.text for cell in cells) if number < heads else _named(cells, names)


def _column_names(head: Sequence[Sequence[Cell]]) -> list[str]:
    names: list[str] = []
    for cells in head:
        if sum(1 for cell in cells if cell.text) > 1:  # a caption tells no columns apart
            at = 0
            for cell in cells:
                name_columns(names, at, cell)
                at += cell.columns
    return names


def name_columns(names: list[str], at: int, cell: Cell) -> None:
    """Put a cell of a head below what names its columns already."""
    end = min(at + cell.columns, MOST_COLUMNS)
    names += [""] * (end - len(names))
    for column in range(at, end):
        # One that is too long is known by its length, whatever else it says.
        names[column] = f"{names[column]} {one_line(cell.text)}".strip()[: LONGEST_NAME + 1]


def name_of(names: Sequence[str], at: int, columns: int) -> str:
    """What names a cell: its columns, unless it stands below all of them; nothing that is too long."""
    name = "・".join(dict.fromkeys(filter(None, names[at : at + columns])))
    return name if len(name) <= LONGEST_NAME and (columns == 1 or columns < len(names)) else ""


def _named(cells: Sequence[Cell], names: Sequence[str]) -> str:
    if not any(names):
        return row(cell.text for cell in cells)
    shown = []
    at = 0
    for cell in cells:
        text, name = one_line(cell.text), name_of(names, at, cell.columns)
        if text:
            shown.append(f"{name}: {text}" if name else text)
        at += cell.columns
    return row(shown)


def _begins_with_a_head(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether the first row names columns by what stands in it and below it."""
    if len(rows) < 2:
        return False
    first = [one_line(cell.text) for cell in rows[0]]
    if not are_names(first) or any(cell.columns > 1 for cell in rows[0]):
        return False
    if any(len(name) > LONGEST_NAME or name[-1] == "。" for name in first):
        return False
    return len(first) > 2 or bool(_SORTS.fullmatch(first[0])) or _has_numbers_below(rows)


def _has_numbers_below(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether the last column has a figure in every row but the first."""
    return not _DIGIT.search(rows[0][-1].text) and all(
        cells and _DIGIT.search(cells[-1].text) for cells in rows[1:]
    )
