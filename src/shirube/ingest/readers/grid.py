"""Where the cells of a table of a page stand, which may reach over several columns and rows, and what names them."""

from typing import Any

from shirube.ingest.readers.tables import (
    LONGEST_HEAD,
    LONGEST_REPEATED,
    MOST_COLUMNS,
    Cell,
    name_columns,
    name_of,
)


class Grid:
    """The columns of one table, row after row. Lines of a head that follow each other are one head."""

    def __init__(self, table: Any = None) -> None:
        self._table = table
        self._names: list[str] = []
        # How many lines of a head this one follows, itself included.
        self._head = 0
        self._begun = self._at = 0
        self._group: Any = None
        # Rows that cells reach into, this one included, by column.
        self._taken: dict[int, int] = {}
        # What these say, by their first column.
        self._again: dict[int, str] = {}

    def of(self, table: Any) -> "Grid":
        return self if table is not None and table is self._table else Grid(table)

    def reaches_into(self, group: Any) -> bool:
        """Whether a cell reaches into the next row, which is of this part of the table; none leaves its own."""
        return group is self._group and any(left > 1 for left in self._taken.values())

    def begin_row(self, group: Any, *, is_head: bool) -> None:
        if group is not self._group:
            self._group, self._taken = group, {}
        if is_head and not self._head:
            self._names = []
        self._head = self._head + 1 if is_head else 0
        self._taken = {column: left - 1 for column, left in self._taken.items() if left > 1}
        if self._again:
            self._again = {column: text for column, text in self._again.items() if column in self._taken}
        self._begun, self._at = -1, 0

    def passed(self) -> list[str]:
        """What cells say from above that stand before the next free column."""
        begun = at = self._at
        while at in self._taken:
            at += 1
        self._at = at
        return self._said(range(begun, at))

    def rest(self) -> list[str]:
        """What cells say from above that stand behind the last of the row; nothing in a row without any."""
        return [] if self._begun < 0 else self._said(range(self._at, MOST_COLUMNS))

    def _said(self, columns: range) -> list[str]:
        return (
            [] if self._head or not self._again else [self._again[at] for at in columns if at in self._again]
        )

    def place(self, columns: int, rows: int) -> str:
        """Put a cell in the next free column, and say what names it; nothing names a cell of the head."""
        self._begun, self._at = self._at, min(self._at + columns, MOST_COLUMNS)
        if rows > 1:
            self._taken |= dict.fromkeys(range(self._begun, self._at), rows)
        return "" if self._head else name_of(self._names, self._begun, columns)

    def fill(self, text: str) -> None:
        """What the cell shows that was put last, its name included."""
        if 0 < self._head <= LONGEST_HEAD:
            name_columns(self._names, self._begun, Cell(text, self._at - self._begun))
        elif not self._head and self._taken.get(self._begun, 1) > 1 and 0 < len(text) <= LONGEST_REPEATED:
            self._again[self._begun] = text
