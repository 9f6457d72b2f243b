"""Merged cells of a sheet that is read row by row: what they say in the rows and columns that they reach into."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shirube.ingest.readers.tables import LONGEST_HEAD, MOST_COLUMNS, Cell


class Range(NamedTuple):
    """Rows count from 1, as Excel shows them, columns from 0."""

    top: int
    left: int
    bottom: int
    right: int


class Merges:
    """Asked for every row in turn. A row costs what it holds and shows, however far the ranges reach."""

    def __init__(self, ranges: Iterable[Range]) -> None:
        # The next one last.
        self._waiting = sorted(ranges, reverse=True)
        # What reaches down, with its last row, by column.
        self._above: dict[int, tuple[Cell, int]] = {}

    def row(self, number: int, texts: Sequence[str]) -> tuple[list[Cell], int]:
        """The cells of a row, none where it says nothing itself, and the last row that they reach into.

        Empty columns between them are one cell. What stands in a covered cell is kept, though Excel does not show it.
        """
        begun: dict[int, Range] = {}
        while self._waiting and self._waiting[-1].top <= number:
            each = self._waiting.pop()
            begun[each.left] = each
        if not any(texts):
            return [], number
        if self._above:
            self._above = {at: kept for at, kept in self._above.items() if kept[1] >= number}
        if not begun and not self._above:
            return [Cell(text) for text in texts], number
        places = {at for at, text in enumerate(texts) if text}
        starts = sorted(places.union(self._above, begun))
        found: list[Cell] = []
        at, last = 0, number
        for start, following in zip(starts, [*starts[1:], None], strict=True):
            if start > at:
                found.append(Cell("", start - at))
            if start not in places and start in self._above:
                cell = self._above[start][0]
            else:
                cell = Cell(texts[start] if start in places else "")
                self._above.pop(start, None)
            if merged := begun.get(start):
                cell = Cell(cell.text, merged.right - start + 1, cell.again)
                last = max(last, merged.bottom)
                self._keep(start, cell, merged.bottom, number)
            if following is not None and start + cell.columns > following:
                cell = Cell(cell.text, following - start, cell.again)
            found.append(cell)
            at = start + cell.columns
        return found, last

    def _keep(self, at: int, cell: Cell, bottom: int, number: int) -> None:
        """Remember what reaches down. What says nothing matters to heads only; what is wider than tables is a title."""
        kept = cell.repeated()
        matters = kept.text or bottom - number < LONGEST_HEAD
        if bottom > number and matters and cell.columns <= MOST_COLUMNS and len(self._above) < MOST_COLUMNS:
            self._above[at] = (kept, bottom)
