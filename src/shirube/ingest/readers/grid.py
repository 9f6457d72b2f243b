"""Where the cells of a table of a page stand, which may reach over several columns and rows, and what names them."""

from typing import Any

from shirube.ingest.readers.tables import LONGEST_HEAD, MOST_COLUMNS, Cell, name_columns, name_of


class Grid:
    """The columns of one table, row after row. Lines of a head that follow each other are one head."""

    def __init__(self, table: Any = None) -> None:
        self._table = table
        self._names: list[str] = []
        # How many lines of a head this one follows, itself included.
        self._head = 0
        self._begun = self._at = 0
        # Rows that cells reach into, this one included, by column.
        self._taken: dict[int, int] = {}

    def of(self, table: Any) -> "Grid":
        return self if table is not None and table is self._table else Grid(table)

    def begin_row(self, *, is_head: bool) -> None:
        if is_head and not self._head:
            self._names = []
        self._head = self._head + 1 if is_head else 0
        self._taken = {column: left - 1 for column, left in self._taken.items() if left > 1}
        self._at = 0

    def place(self, columns: int, rows: int) -> str:
        """Put the next cell in the row, and say what names it; nothing names a cell of the head."""
        while self._at in self._taken:
            self._at += 1
        self._begun, self._at = self._at, min(self._at + columns, MOST_COLUMNS)
        if rows > 1:
            self._taken |= dict.fromkeys(range(self._begun, self._at), rows)
        return "" if self._head else name_of(self._names, self._begun, columns)

    def fill(self, text: str) -> None:
        """What the cell holds that was put last."""
        if 0 < self._head <= LONGEST_HEAD:
            name_columns(self._names, self._begun, Cell(text, self._at - self._begun))
