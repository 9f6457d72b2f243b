"""Word: paragraphs, headings by their style, numbers as Word shows them, tables as rows.

The document's XML is walked directly: python-docx passes over insertions, content controls and text boxes. Left out
are headers and footers, deletions, hidden text, field codes, readings above kanji and tables of contents.
"""

import re
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import takewhile
from typing import Any

from shirube.ingest.readers import archive
from shirube.ingest.readers.contract import Content
from shirube.ingest.readers.numbering import Numbering
from shirube.ingest.readers.tables import MOST_COLUMNS, Cell, lines
from shirube.ingest.readers.writing import Writer, one_line, sensible_title

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SILENT = frozenset(
    [
        _FALLBACK,
        *(W + name for name in "del moveFrom instrText delText rt pPr rPr sectPr tblPr tcPr trPr".split()),
    ]
)
_SIGNS = {W + "tab": " ", W + "br": " ", W + "cr": " ", W + "noBreakHyphen": "-"}
_NAMED_LEVEL = re.compile(r"(?i)(?:heading|見出し) ?([1-9])")
_TITLE_LEVEL = 0
_BODY_LEVEL = 9
_NOTES = {
    f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{name}s": name
    for name in ("footnote", "endnote")
}
_NUMBERS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering"
# Styles are based on styles; Word itself allows eleven steps.
_DEEPEST = 12
_OFF = ("0", "false", "off")
_DIGITS_OF_COLUMNS = 6


def read(data: bytes, on_page: Callable[[], None]) -> Content:
    archive.check(data)
    import docx

    document = docx.Document(BytesIO(data))
    numbers = _related(document.part, _NUMBERS)
    walk = _Walk(_Styles(document.styles.element), Numbering(numbers))
    walk.blocks(document.element.body)
    for kind, name in _NOTES.items():
        notes = _related(document.part, kind)
        for note in () if notes is None else notes.iter(W + name):
            if note.get(W + "type") is None:
                walk.writer.line(one_line(" ".join(_text(each, []) for each in _paragraphs(note))))
    return walk.writer.content(sensible_title(document.core_properties.title))


def _related(part: Any, kind: str) -> Any:
    """The XML of a part that goes with the document, if it has one."""
    from docx.oxml.parser import parse_xml

    found = next((each for each in part.rels.values() if each.reltype == kind and not each.is_external), None)
    return None if found is None else parse_xml(found.target_part.blob)


class _Styles:
    """What the styles say of heading levels and numbers."""

    def __init__(self, root: Any) -> None:
        self._by_id = {style.get(W + "styleId"): style for style in root.iter(W + "style")}

    def chain(self, paragraph: Any) -> Iterator[Any]:
        """The paragraph's style and those it is based on."""
        style = self._by_id.get(_value(paragraph, "pPr/pStyle"))
        for _ in range(_DEEPEST):
            if style is None:
                return
            yield style
            style = self._by_id.get(_value(style, "basedOn"))

    def level(self, paragraph: Any) -> int | None:
        """The level of a heading, or None for what is none."""
        said = _value(paragraph, "pPr/outlineLvl")
        for style in self.chain(paragraph):
            name = _value(style, "name") or ""
            if match := _NAMED_LEVEL.fullmatch(name):
                return int(match[1])
            if name.lower() in ("title", "表題"):
                return _TITLE_LEVEL
            said = said or _value(style, "pPr/outlineLvl")
        return int(said) + 1 if said and said.isdecimal() and int(said) < _BODY_LEVEL else None

    def is_contents(self, paragraph: Any) -> bool:
        return any(
            (_value(style, "name") or "").lower().startswith("toc ") for style in self.chain(paragraph)
        )

    def numbering(self, paragraph: Any) -> tuple[str, int] | None:
        """The list a paragraph is numbered in, and its depth there."""
        for node in (paragraph, *self.chain(paragraph)):
            number = _value(node, "pPr/numPr/numId")
            if number is not None:
                depth = _value(node, "pPr/numPr/ilvl") or "0"
                return None if number == "0" else (number, int(depth) if depth.isdecimal() else 0)
        return None


class _Walk:
    """Writes block after block."""

    def __init__(self, styles: _Styles, numbering: Numbering) -> None:
        self._styles = styles
        self._numbering = numbering
        self.writer = Writer()

    def blocks(self, parent: Any) -> None:
        for node in parent:
            if node.tag == W + "p":
                self._paragraph(node)
            elif node.tag == W + "tbl":
                self._table(node)
            elif node.tag not in _SILENT and isinstance(node.tag, str):
                self.blocks(node)  # content controls, insertions

    def _paragraph(self, node: Any) -> None:
        if self._styles.is_contents(node):
            return
        boxes: list[Any] = []
        text = self._numbered(node, boxes)
        level = self._styles.level(node)
        if level is None:
            self.writer.line(text)
        else:
            self.writer.heading(text, level)
        for box in boxes:
            self.blocks(box)

    def _numbered(self, node: Any, boxes: list[Any]) -> str:
        """A paragraph's text behind its number. An empty one is counted too, as Word does."""
        numbered = self._styles.numbering(node)
        label = self._numbering.label(*numbered) if numbered else ""
        text = one_line(_text(node, boxes))
        return label + text if text else ""

    def _table(self, table: Any) -> None:
        rows = list(_rows(table))
        if all(len(_cells(line)) == 1 for line in rows):
            for line in rows:  # a frame around text
                self.blocks(_cells(line)[0])
            return
        above: dict[int, Cell] = {}
        written = [self._row(line, above) for line in rows]
        for text in lines(written, len(list(takewhile(_is_head, rows)))):
            self.writer.line(text)

    def _row(self, line: Any, above: dict[int, Cell]) -> list[Cell]:
        """The cells of a row. `above` is what the last row has by column that the next may be merged with."""
        at = _columns(line, "trPr/gridBefore", 0)
        found = [Cell("", at)] if at else []
        reaching: dict[int, Cell] = {}
        for node in _cells(line):
            columns = _columns(node, "tcPr/gridSpan", 1)
            merged = node.find(f"{W}tcPr/{W}vMerge")
            if merged is not None and merged.get(W + "val", "continue") == "continue":
                cell = Cell(above[at].text if at in above else "", columns).repeated()
            else:
                cell = Cell(self._cell(node), columns)
            if merged is not None:
                reaching[at] = cell
            found.append(cell)
            at += columns
        above.clear()
        above.update(reaching)
        return found

    def _cell(self, cell: Any) -> str:
        """All of a cell in one line, tables in it included."""
        parts = []
        for node in _paragraphs(cell):
            boxes: list[Any] = []
            parts.append(self._numbered(node, boxes))
            parts += [one_line(_text(each, [])) for box in boxes for each in _paragraphs(box)]
        return " ".join(part for part in parts if part)


def _paragraphs(node: Any) -> Iterator[Any]:
    """The paragraphs of a cell or a box, those of tables in it included, but not of boxes in them."""
    for child in node:
        if child.tag == W + "p":
            yield child
        elif child.tag not in _SILENT and isinstance(child.tag, str):
            yield from _paragraphs(child)


def _rows(table: Any) -> Iterator[Any]:
    for node in table:
        if node.tag == W + "tr":
            if node.find(f"{W}trPr/{W}del") is None:
                yield node
        elif node.tag in (W + "sdt", W + "sdtContent", W + "ins"):
            yield from _rows(node)


def _cells(line: Any) -> list[Any]:
    found = []
    for node in line:
        if node.tag == W + "tc":
            found.append(node)
        elif node.tag in (W + "sdt", W + "sdtContent"):
            found += _cells(node)
    return found


def _columns(node: Any, path: str, usual: int) -> int:
    said = _value(node, path) or ""
    return min(int(said), MOST_COLUMNS) if said.isdecimal() and len(said) < _DIGITS_OF_COLUMNS else usual


def _is_head(line: Any) -> bool:
    """Whether Word repeats the row on every page."""
    flag = line.find(f"{W}trPr/{W}tblHeader")
    return flag is not None and flag.get(W + "val", "1") not in _OFF


def _text(paragraph: Any, boxes: list[Any]) -> str:
    """The letters of a paragraph as a reader sees them. Text boxes in it are put into `boxes`."""
    parts: list[str] = []
    waiting = [iter(paragraph)]
    while waiting:
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
        elif node.tag == W + "t":
            parts.append(node.text or "")
        elif node.tag in _SIGNS:
            parts.append(_SIGNS[node.tag])
        elif node.tag == W + "txbxContent":
            boxes.append(node)
        elif node.tag not in _SILENT and not _is_hidden(node):
            waiting.append(iter(node))
    return "".join(parts)


def _is_hidden(node: Any) -> bool:
    vanish = node.find(f"{W}rPr/{W}vanish") if node.tag == W + "r" else None
    return vanish is not None and vanish.get(W + "val", "1") not in _OFF


def _value(node: Any, path: str) -> str | None:
    found = node.find("/".join(W + name for name in path.split("/")))
    return None if found is None else found.get(W + "val")
