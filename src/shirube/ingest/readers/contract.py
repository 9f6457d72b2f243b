"""What a reader makes of a file: a text, its headings in it, and what the file says of itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class Unreadable(Exception):
    """A file that cannot be taken in, with the reason in both languages."""

    def __init__(self, en: str, ja: str) -> None:
        super().__init__(en)
        self.en = en
        self.ja = ja


class Closed(Unreadable):
    """A file that cannot be opened now; what it holds is not known."""


@dataclass(frozen=True)
class Heading:
    """A heading that opens a section: its line is text[start:end]."""

    start: int
    end: int
    level: int
    text: str


@dataclass(frozen=True)
class Content:
    """`text` is what spans point into; `start` is where the body begins (behind front matter).

    `pages` is where each page begins in `text`, the first one included; empty where a file has no pages.
    `incomplete` says that something could not be read this time, and may be at the next.
    """

    text: str
    title: str | None = None
    headings: Sequence[Heading] = ()
    start: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    pages: Sequence[int] = ()
    incomplete: bool = False
