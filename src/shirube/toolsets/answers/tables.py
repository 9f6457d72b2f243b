"""The rows of a table within a passage, with the names of their columns.

These stand in a head above a rule, or, as readers write them that name the column in every row, before each value
(内線: 1003). A head states nothing.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from shirube.text.tables import cells_of, is_rule

_NAMED_CELL = re.compile(r"(?P<name>[^:：]{1,60}): (?P<value>\S.*)")
# Lines that a head may have.
_HEAD = 3
# Half of what a passage holds; one that is shorter was not cut, and its last line is the last of its section.
_MAY_BE_CUT = 250


@dataclass(frozen=True)
class Row:
    """A row in one line as it is shown, where it stands, and its cells that are not empty behind the names of their
    columns, "" where there is none. `is_alone` is the only row that its table has here."""

    text: str
    start: int
    end: int
    cells: tuple[tuple[str, str], ...]
    is_alone: bool = False


@dataclass(frozen=True)
class _Line:
    start: int
    end: int
    cells: list[str]


def rows(passage: str, start: int, end: int, names: Sequence[str] = ()) -> list[Row]:
    """`names` are those of a table that began before the passage."""
    lines: list[_Line] = []
    found: list[Row] = []
    at = start
    for line in passage[start:end].splitlines(keepends=True):
        if not is_rule(line):
            lines.append(_Line(at, at + len(line), cells_of(line)))
        elif lines:
            # The line before the rule is the head; whatever stands above that has one of its own.
            found += _below(names, lines[:-1])
            names = lines[-1].cells
            lines = []
        at += len(line)
    if not (names or found) and end == len(passage) and _is_head_cut_off(lines, end):
        return []
    found += _below(names, lines)
    return [replace(found[0], is_alone=True)] if len(found) == 1 else found


def _below(names: Sequence[str], lines: Sequence[_Line]) -> list[Row]:
    """The rows below a head; without one, those that are no head of rows that name their columns themselves."""
    lines = [line for line in lines if any(line.cells)]
    if names:
        return [_row(line, names) for line in lines]
    known = _names_within(lines)
    return [
        _self_naming(line, known)
        for at, line in enumerate(lines)
        if not _is_head(line, lines[at + 1 : at + 1 + _HEAD], known)
    ]


def _row(line: _Line, names: Sequence[str]) -> Row:
    known = names if len(names) == len(line.cells) else [""] * len(line.cells)
    cells = tuple((name, cell) for name, cell in zip(known, line.cells, strict=True) if cell)
    shown = (f"{name}：{cell}" if name else cell for name, cell in cells)
    return Row(" / ".join(shown), line.start, line.end, cells)


def _self_naming(line: _Line, names: Set[str]) -> Row:
    cells = [cell for cell in line.cells if cell]
    return Row(" / ".join(cells), line.start, line.end, tuple(_split(cell, names) for cell in cells))


def _split(cell: str, names: Set[str]) -> tuple[str, str]:
    found = _NAMED_CELL.fullmatch(cell)
    return (found["name"], found["value"]) if found and found["name"] in names else ("", cell)


def _names_within(lines: Sequence[_Line]) -> set[str]:
    """The names that rows give their columns: every cell of a row has one, several rows have it, or a head."""
    often: Counter[str] = Counter()
    found: set[str] = set()
    for line in lines:
        cells = [cell for cell in line.cells if cell]
        named = [match["name"] for cell in cells if (match := _NAMED_CELL.fullmatch(cell))]
        often.update(set(named))
        if len(named) == len(cells) > 1:
            found.update(named)
    plain = {cell for line in lines for cell in line.cells}
    return found | {name for name, count in often.items() if count > 1 or name in plain}


def _is_head(line: _Line, below: Sequence[_Line], names: Set[str]) -> bool:
    """Whether most cells of a line are names that the rows below it give, or parts of these."""
    given = [name for each in below for cell in each.cells if (name := _split(cell, names)[0])]
    cells = [cell for cell in line.cells if cell]
    named = [cell for cell in cells if any(f" {cell} " in f" {name} " for name in given)]
    return len(named) * 2 > len(cells)


def _is_head_cut_off(lines: Sequence[_Line], length: int) -> bool:
    """Whether a table begins with the last line of a passage that may have been cut, and that reads like a head."""
    if len(lines) != 1 or length < _MAY_BE_CUT:
        return False
    cells = lines[0].cells
    return (
        len(cells) > 1
        and all(cells)
        and len(set(cells)) == len(cells)
        and not any(cell[0].isdecimal() or cell[-1] == "。" or _NAMED_CELL.fullmatch(cell) for cell in cells)
    )
