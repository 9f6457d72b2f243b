"""Tables of pages and Office files as lines: below a head every row names its columns, as the rows of CSV do."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.separated import LONGEST, are_names
from shirube.ingest.readers.writing import one_line, row

# Named again in every row; what is longer is a text, and names nothing.
LONGEST_NAME = 40
# The columns that are named; no table for readers has more.
MOST_COLUMNS = 100
# Lines that a head has at most.
LONGEST_HEAD = 4
# Said again in every row that it reaches into; what is longer is a text, and would fill the passages with copies.
LONGEST_REPEATED = 200
# What heads of two columns begin with; 氏名 | 山田 may as well be the first of several facts.
_SORTS = re.compile(
    r".*(?:区分|種別|種類|分類|項目|等級|役職|職位|職種|階級|段階|条件|事由|対象|期間|曜日|時期|年度|内容|用途|場所)|#|no\.?",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_FIGURE = re.compile(r"[-+△▲¥￥$]?\s?\d[\d,.，．]*\s?[円%％]?")


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell holds, and how many columns it takes up. `again` is what reaches here from a row above."""

    text: str
    columns: int = 1
    again: bool = False

    def repeated(self) -> "Cell":
        """This cell in a row below that it reaches into."""
        return Cell(self.text if len(self.text) <= LONGEST_REPEATED else "", self.columns, again=True)


def lines(rows: Sequence[Sequence[Cell]], heads: int) -> Iterator[str]:
    """A line a row. `heads` rows are said to be the head; where that is none, the first may look like one."""
    if not 0 < heads <= LONGEST_HEAD:
        heads = int(_begins_with_a_head(rows))
    heads = head_lines(rows[: LONGEST_HEAD + 1], heads)
    names = column_names(rows[:heads])
    length = 0
    for number, cells in enumerate(rows):
        line = (
            row("" if cell.again else cell.text for cell in cells) if number < heads else _body(cells, names)
        )
        length += len(line)
        if length > LONGEST:
            raise Unreadable("the tables are too large; split it", "表が大きすぎます。分割してください。")
        yield line


def _body(cells: Sequence[Cell], names: Sequence[str]) -> str:
    if not has_own(cells):
        return ""
    return row(named(cells, names)) if any(names) else row(cell.text for cell in cells)


def has_own(cells: Sequence[Cell]) -> bool:
    """Whether a row says anything that the rows above it do not."""
    return any(cell.text and not cell.again for cell in cells)


def head_lines(rows: Sequence[Sequence[Cell]], said: int) -> int:
    """How many lines the head has that these rows begin with: those that are known, and what only divides them.

    Where none is known, the way in which cells are merged may leave no doubt. A cell of the head that reaches into
    the row behind it leaves one, as does a table of nothing else.
    """
    first = lines = max(said, 1)
    while lines < min(len(rows) - 1, LONGEST_HEAD) and _divides(
        rows[lines - 1], rows[lines], strictly=not said
    ):
        lines += 1
    is_certain = lines > first and not any(cell.again for cell in rows[lines])
    return lines if is_certain else said


def _divides(head: Sequence[Cell], below: Sequence[Cell], *, strictly: bool) -> bool:
    """Whether a line names the parts of cells of a head over several columns, and adds nothing to the other cells.

    These are merged with what stands below them. Empty cells below will do too, for names that are no figures, where
    it is known that there is a head.
    """
    texts = [one_line(cell.text) for cell in (*head, *below) if cell.text]
    if any(len(text) > LONGEST_NAME or text[-1:] == "。" for text in texts):
        return False
    parts, reaches = _below(head, below)
    divided = beside = merged = 0
    for cell, count, reaching in zip(head, parts, reaches, strict=False):
        if cell.columns > 1 and cell.text and count > 1:
            divided += 1
        elif count or (strictly and cell.text and not reaching):
            return False
        elif cell.text or reaching:
            beside += 1
            merged += reaching
    if not divided or not beside or any(parts[len(head) :]):
        return False
    return merged > 0 or not any(_FIGURE.fullmatch(one_line(cell.text)) for cell in below if cell.text)


def _below(head: Sequence[Cell], below: Sequence[Cell]) -> tuple[list[int], list[bool]]:
    """For each cell of a head how many texts stand below it, and whether it reaches there; last what is beside all."""
    parts, reaches = [0] * (len(head) + 1), [False] * (len(head) + 1)
    index = at = end = 0
    for cell in below:
        while index < len(head) and at >= end + head[index].columns:
            end += head[index].columns
            index += 1
        parts[index] += bool(cell.text) and not cell.again
        reaches[index] |= cell.again
        at += cell.columns
    return parts, reaches


def column_names(
    head: Sequence[Sequence[Cell]], *, most: int = MOST_COLUMNS, longest: int = LONGEST_NAME
) -> list[str]:
    names: list[str] = []
    for cells in head:
        if sum(1 for cell in cells if cell.text) > 1:  # a caption tells no columns apart
            at = 0
            for cell in cells:
                if not cell.again:
                    name_columns(names, at, cell, most=most, longest=longest)
                at += cell.columns
    return names


def name_columns(
    names: list[str], at: int, cell: Cell, *, most: int = MOST_COLUMNS, longest: int = LONGEST_NAME
) -> None:
    """Put a cell of a head below what names its columns already."""
    text = one_line(cell.text)
    end = min(at + min(cell.columns, MOST_COLUMNS), most)
    names += [""] * (end - len(names))
    for column in range(at, end) if text else ():
        # One that is too long is known by its length, whatever else it says.
        names[column] = (f"{names[column]} {text}" if names[column] else text)[: longest + 1]


def name_of(names: Sequence[str], at: int, columns: int, *, longest: int = LONGEST_NAME) -> str:
    """What names a cell: its columns, or the first where these are too many to say; nothing that is too long.

    A cell below all columns is named by none.
    """
    if columns == 1:
        name = names[at] if at < len(names) else ""
    elif columns < len(names):
        found = list(dict.fromkeys(filter(None, names[at : at + min(columns, MOST_COLUMNS)])))
        name = "・".join(found)
        if len(name) > LONGEST_NAME and found:
            name = found[0]
    else:
        name = ""
    return name if len(name) <= longest else ""


def named(cells: Sequence[Cell], names: Sequence[str], *, longest: int = LONGEST_NAME) -> Iterator[str]:
    """The cells of a row that are not empty, behind the names of their columns."""
    at = 0
    for cell in cells:
        text = one_line(cell.text)
        if text:
            name = name_of(names, at, cell.columns, longest=longest)
            if not (cell.again and text == name):  # a name that reaches down beside its table
                yield f"{name}: {text}" if name else text
        at += cell.columns


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
