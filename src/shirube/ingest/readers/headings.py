"""Which blocks of a PDF are headings: those that its outline names, or short ones in larger type than the rest."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from shirube.ingest.readers.layout import Block, follows
from shirube.ingest.readers.lines import joined

_CHAPTER = re.compile(
    r"^(?:第[0-9一二三四五六七八九十]+[編部章節款条]|(?:Chapter)?[0-9]+(?:[.-][0-9]+)*[.:]?)"
)
_LARGER = 1.15
_LONGEST_HEADING = 60
_MOST_HEADINGS = 0.3
_LEVELS = 4


@dataclass(frozen=True)
class Mark:
    """A bookmark: a heading, and where it leads."""

    text: str
    level: int
    page: int
    height: float | None


def place(found: Sequence[Mark], pages: list[list[Block]]) -> None:
    """Make headings of the lines that bookmarks name; where none has the title, it becomes a line of its own."""
    behind: dict[int, int] = {}
    for mark in found:
        blocks = pages[mark.page]
        start = behind.get(mark.page, 0)
        at, end = _lines_named(mark, blocks, start)
        text = ""
        for block in blocks[at:end]:
            text = joined(text, block.text)
        blocks[at:end] = [Block(text or mark.text, level=mark.level)]
        behind[mark.page] = at + 1


def _lines_named(mark: Mark, blocks: Sequence[Block], start: int) -> tuple[int, int]:
    """The blocks that are the heading, or where it has to go in."""
    title = _bare(mark.text)
    begins = None
    for at in range(start, len(blocks)):
        written = ""
        for end in range(at, min(at + 3, len(blocks))):
            written += _bare(blocks[end].text)
            if written == title or _unnumbered(written) == _unnumbered(title) != "":
                return at, end + 1
            if not _unnumbered(title).startswith(_unnumbered(written)):
                break
        if begins is None and written.startswith(title):
            begins = at
    if begins is not None:
        return begins, begins
    for at in range(start, len(blocks)):
        line = blocks[at].line
        if mark.height is not None and line is not None and line.top <= mark.height + line.size:
            return at, at
    return start, start


def _bare(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def _unnumbered(bare: str) -> str:
    """Without the number in front, which may stand on the page, in the outline or in both."""
    return _CHAPTER.sub("", bare)


def find_headings(pages: Sequence[list[Block]]) -> None:
    """Make headings of short lines in larger type than most of the text; larger type, higher level."""
    letters: Counter[float] = Counter()
    for block in (block for blocks in pages for block in blocks if block.line):
        letters[_type(block)] += len(block.text)
    if not letters:
        return
    body = max(letters, key=lambda size: (letters[size], -size))
    large = [block for blocks in pages for block in blocks if _may_head(block, body)]
    if sum(len(block.text) for block in large) > _MOST_HEADINGS * sum(letters.values()):
        return
    sizes = sorted({_type(block) for block in large}, reverse=True)
    for blocks in pages:
        at = 0
        while at < len(blocks):
            block = blocks[at]
            if _may_head(block, body):
                block.level = min(sizes.index(_type(block)) + 1, _LEVELS)
                while at + 1 < len(blocks) and _is_one_heading(block, blocks[at + 1]):
                    after = blocks.pop(at + 1)
                    block.text, block.line = joined(block.text, after.text), after.line
            at += 1


def _type(block: Block) -> float:
    return round(block.line.size * 2) / 2 if block.line else 0.0


def _may_head(block: Block, body: float) -> bool:
    return (
        _type(block) >= _LARGER * body
        and len(block.text) <= _LONGEST_HEADING
        and not block.text.endswith(("。", "、"))
        and any(char.isalpha() for char in block.text)
    )


def _is_one_heading(block: Block, after: Block) -> bool:
    """Whether a heading goes on in the next line."""
    return (
        block.line is not None
        and after.line is not None
        and _type(block) == _type(after)
        and len(block.text) + len(after.text) <= _LONGEST_HEADING
        and 0 < block.line.bottom - after.line.bottom <= 1.7 * block.line.size
        and follows(block.line, after.line)
    )
