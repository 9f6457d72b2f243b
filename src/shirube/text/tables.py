"""Tables as Markdown writes them: rows between bars, and a head above a rule."""

import re
from collections.abc import Sequence

from shirube.text.invisible import visible

_OF_RULES = re.compile(r"[\s:|-]+")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_LINE_BREAK = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
# What is longer names no columns.
_LONGEST_HEAD = 2000


def is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def is_rule(line: str) -> bool:
    """Whether this line stands between a head and its rows."""
    return "-" in line and bool(_OF_RULES.fullmatch(line))


def cells_of(row: str) -> list[str]:
    inner = row.strip().removeprefix("|").removesuffix("|")
    return [in_one_line(cell) for cell in _CELL_BORDER.split(inner)]


def in_one_line(text: str) -> str:
    return _LINE_BREAK.sub(" ", visible(text).strip())


def names_above(text: str, at: int, since: int = 0, names: Sequence[str] = ()) -> list[str]:
    """The names of the columns of the table that goes on at `at`, from its head further up.

    It is looked for down from `since`; a table that goes on there already has the columns `names`.
    """
    below = text[at : at + _LONGEST_HEAD].partition("\n")[0]
    if not is_row(below):
        return []
    for line in reversed(text[since:at].splitlines()):
        if not is_row(line):
            return []
        if is_rule(below):
            return cells_of(line) if len(line) <= _LONGEST_HEAD else []
        below = line
    return list(names)
