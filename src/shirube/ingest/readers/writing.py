"""What the readers of office formats have in common: a text that grows line by line, and sensible titles."""

import re
from collections.abc import Iterable, Sequence

from shirube.ingest.readers.contract import Content, Heading

_SPACE = re.compile(r"[\s\u00a0]+")
# What programs fill in by themselves.
_NO_TITLE = re.compile(
    r"(?i)microsoft (?:word|excel|powerpoint)\b.*|powerpoint (?:プレゼンテーション|presentation)|untitled.*"
    r"|無題.*|名称未設定.*|(?:document|文書|book|presentation|slide|スライド|プレゼンテーション|タイトル) ?[0-9１-９]*"
    r"|.*\.(?:docx?|xlsx?|pptx?|pdf|indd|jtd|rtf|tmp|ai)|[\W\d_]*"
)
_LONGEST_TITLE = 200


def one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def row(cells: Iterable[str]) -> str:
    """A line of a table; nothing where all cells are empty."""
    written = [one_line(cell) for cell in cells]
    return f"| {' | '.join(written)} |" if any(written) else ""


def sensible_title(named: str | None) -> str | None:
    """The title a file gives itself, unless a program filled it in."""
    title = one_line(named or "")
    return None if len(title) > _LONGEST_TITLE or _NO_TITLE.fullmatch(title) else title


class Writer:
    """A text with its headings and pages."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self.headings: list[Heading] = []
        self.pages: list[int] = []

    def text(self) -> str:
        return "".join(self._parts)

    def page(self) -> None:
        self.pages.append(self.length)

    def line(self, text: str) -> None:
        if text:
            self._parts += (text, "\n")
            self.length += len(text) + 1

    def heading(self, text: str, level: int) -> None:
        text = one_line(text)
        if text:
            start = self.length
            self.line(text)
            self.headings.append(Heading(start, self.length - 1, level, text))

    def content(self, title: str | None, warnings: Sequence[str] = ()) -> Content:
        named = title or next((each.text for each in self.headings), None)
        return Content(self.text(), named, self.headings, warnings=warnings, pages=self.pages)
