"""HTML: its visible text, with a line a block and the headings kept. Scripts, styles and hidden parts are left out."""

import re
from collections.abc import Set
from typing import Any

from shirube.ingest.readers.contract import Content, Heading, Unreadable
from shirube.ingest.readers.encoding import decode
from shirube.ingest.readers.grid import Grid
from shirube.ingest.readers.separated import LONGEST
from shirube.ingest.readers.tables import MOST_COLUMNS

_BLOCKS = frozenset(
    "address article aside blockquote body br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 "
    "h5 h6 header hr li main nav ol p pre section summary table tr ul".split()
)
_SILENT = frozenset("script style noscript template head title svg math iframe object".split())
# Readings above kanji, and the brackets around them for those who cannot show them there.
_READINGS = frozenset({"rt", "rp", "rtc"})
_CELLS = frozenset({"td", "th"})
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
# A row that holds one of these lays out the page; it is no line of a table.
_STRUCTURE = ("table", "ul", "ol", "dl", "pre", *sorted(_HEADINGS))
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{1,20})", re.IGNORECASE)
_NUMBER = re.compile("0*([0-9]+)")
_DIGITS = 6
# What browsers take at most.
_MOST_ROWS = 65_534
# Whatever is in here is what the page is for; navigation that holds it was never closed.
_MATTER = ("main", "article")
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")
# The declarations that are believed. Python's other codecs are not all meant for pages from anywhere.
_ENCODINGS = {
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "cp932", "ms932"), "cp932"),
    **dict.fromkeys(("euc-jp", "x-euc-jp", "eucjp"), "euc_jp"),
    **dict.fromkeys(("iso-8859-1", "latin1", "windows-1252"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk", "gb18030"), "gb18030"),
    "big5": "big5hkscs",
    "euc-kr": "cp949",
}


def read(data: bytes) -> Content:
    from lxml import etree, html

    declared = _CHARSET.search(data, 0, 4096)
    text = decode(data, _ENCODINGS.get(declared.group(1).decode("ascii").lower()) if declared else None)
    parser = html.HTMLParser(
        encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        tree = html.document_fromstring(text.encode(), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise Unreadable("not readable as HTML", "HTML として読めません。") from error
    if any(error.level == etree.ErrorLevels.FATAL for error in parser.error_log):
        # libxml2 gives up at 2,048 levels, and would give us what stands before them.
        raise Unreadable("HTML nested too deeply", "HTML の入れ子が深すぎます。")
    title = tree.findtext(".//title")
    writer = _Writer()
    writer.walk(tree, _navigation(tree))
    if not writer.text().strip():
        writer = _Writer()
        writer.walk(tree, frozenset())
    found = " ".join(title.split()) if title and title.strip() else None
    first = next((each.text for each in writer.headings if each.level == 1), None)
    return Content(writer.text(), found or first, writer.headings)


def _is_hidden(node: Any) -> bool:
    """Text that no reader of the page sees, the usual place for what is meant for programs."""
    style = _SPACE.sub("", node.get("style") or "").lower()
    hides = "display:none" in style or "visibility:hidden" in style
    return hides or node.get("hidden") is not None or node.get("aria-hidden") == "true"


def _navigation(root: Any) -> Set[Any]:
    """Links to other pages, the same on each: "Home" would be found for everything, and answers nothing."""
    found = {*root.iter("nav"), *root.xpath("//*[@role]")}
    matter = _above(root, _MATTER)
    return {
        node
        for node in found
        if (node.tag == "nav" or "navigation" in node.get("role").lower().split()) and node not in matter
    }


def _is_reading(node: Any) -> bool:
    """Where the page does not close them, they hold the letters that follow, which are in elements of their own."""
    return node.tag in _READINGS and node.find(".//rb") is None


def _table_of(row: Any) -> Any:
    above = row.getparent()
    return above if above is None or above.tag == "table" else above.getparent()


def _is_head(row: Any, grid: Grid) -> bool:
    """Whether a row names columns: it says so, and has several cells, one from the row above included."""
    cells = [cell.tag for cell in row if cell.tag in _CELLS]
    above = row.getparent()
    if above is not None and above.tag == "thead":
        return len(cells) + grid.reaches_into(above) > 1
    return len(cells) > 1 and "td" not in cells


def _span(cell: Any, name: str, most: int) -> int:
    said = _NUMBER.fullmatch((cell.get(name) or "").strip())
    if not said:
        return 1
    return min(max(int(said[1]), 1), most) if len(said[1]) <= _DIGITS else most


class _Writer:
    """Collects text in document order. Iterative: nesting is the page author's to choose."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._line_open = False
        self._row: Any = None
        self._in_cell: Any = None
        self._cell_begun = 0
        self._name = ""
        self._grid = Grid()
        self.headings: list[Heading] = []

    def text(self) -> str:
        return "".join(self._parts)

    def walk(self, root: Any, left_out: Set[Any]) -> None:
        layout = _above(root, _STRUCTURE)
        opened: tuple[Any, int, int] | None = None
        waiting: list[tuple[str, Any]] = [("open", root)]
        while waiting:
            step, node = waiting.pop()
            if step == "tail":
                self._write(node.tail)
                continue
            name = node.tag if isinstance(node.tag, str) else ""
            if step == "close":
                if node is self._row:
                    self._end_row()
                elif node is self._in_cell:
                    self._end_cell()
                elif name in _BLOCKS:
                    self._break()
                if opened and opened[0] is node:
                    self._heading(*opened)
                    opened = None
                continue
            if name in _SILENT or node in left_out or _is_hidden(node) or _is_reading(node):
                continue
            if name in _BLOCKS:
                self._break()
            if name == "tr" and node not in layout:
                self._begin_row(node)
            elif name in _CELLS:
                self._cell(node)
            elif name in _HEADINGS and opened is None:
                opened = (node, self._length, len(self._parts))
            self._write(node.text)
            waiting.append(("close", node))
            for child in reversed(node):
                waiting.append(("tail", child))
                waiting.append(("open", child))

    def _heading(self, node: Any, start: int, part: int) -> None:
        text = " ".join("".join(self._parts[part:]).split())
        if text:
            self.headings.append(Heading(start, self._length, int(node.tag[1]), text))

    def _begin_row(self, row: Any) -> None:
        self._row = row
        self._grid = self._grid.of(_table_of(row))
        self._grid.begin_row(row.getparent(), is_head=_is_head(row, self._grid))

    def _cell(self, cell: Any) -> None:
        if self._row is None:
            self._break()
            return
        for text in self._grid.passed():
            self._border()
            self._add(text)
        self._border()
        self._in_cell, self._cell_begun = cell, len(self._parts)
        self._name = self._grid.place(
            _span(cell, "colspan", MOST_COLUMNS), _span(cell, "rowspan", _MOST_ROWS)
        )

    def _border(self) -> None:
        self._add("| " if self._after_space() else " | ")
        self._line_open = True

    def _end_cell(self) -> None:
        self._in_cell, self._name = None, ""
        self._grid.fill("".join(self._parts[self._cell_begun :]).strip())

    def _end_row(self) -> None:
        self._row = None
        for text in self._grid.rest():
            self._border()
            self._add(text)
        if self._line_open:
            self._add("|" if self._after_space() else " |")
        self._break()
        if self._length > LONGEST:
            raise Unreadable("the tables are too large; split it", "表が大きすぎます。分割してください。")

    def _write(self, text: str | None) -> None:
        if not text:
            return
        text = _SPACE.sub(" ", text)
        if self._after_space():
            text = text.lstrip(" ")
        if self._name and text:
            text = f"{self._name}: {text}"
            self._name = ""
        if text:
            self._add(text)
            self._line_open = True

    def _break(self) -> None:
        """End the line; a row of a table is one line, so there a space has to do."""
        if self._row is not None:
            self._write(" ")
        elif self._line_open:
            self._add("\n")
            self._line_open = False

    def _after_space(self) -> bool:
        return not self._parts or self._parts[-1][-1] in " \n"

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def _above(root: Any, names: tuple[str, ...]) -> set[Any]:
    """Every element that holds one of these."""
    found: set[Any] = set()
    for node in root.iter(*names):
        for above in node.iterancestors():
            if above in found:
                break
            found.add(above)
    return found
