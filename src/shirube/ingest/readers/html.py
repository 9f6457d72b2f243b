"""HTML: its visible text, with a line a block and the headings kept. Scripts, styles and hidden parts are left out."""

import re
from typing import Any

from shirube.ingest.readers.contract import Content, Heading, Unreadable
from shirube.ingest.readers.encoding import decode

_BLOCKS = frozenset(
    "address article aside blockquote body br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 "
    "h5 h6 header hr li main nav ol p pre section summary table tr ul".split()
)
_SILENT = frozenset("script style noscript template head title svg math iframe object".split())
_CELLS = frozenset({"td", "th"})
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{1,20})", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")
_JAPANESE = {"shift_jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932"}


def read(data: bytes) -> Content:
    from lxml import etree, html

    text = _decode(data)
    parser = html.HTMLParser(
        encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        tree = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise Unreadable("not readable as HTML", "HTML として読めません。") from error
    title = tree.findtext(".//title")
    writer = _Writer()
    writer.walk(tree)
    found = " ".join(title.split()) if title and title.strip() else None
    first = next((each.text for each in writer.headings if each.level == 1), None)
    return Content(writer.text(), found or first, writer.headings)


def _decode(data: bytes) -> str:
    declared = _CHARSET.search(data[:4096])
    if declared:
        name = declared.group(1).decode("ascii").lower()
        try:
            return data.decode(_JAPANESE.get(name, name))
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(data)


class _Writer:
    """Collects text in document order. Iterative: nesting is the page author's to choose."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._line_open = False
        self.headings: list[Heading] = []

    def text(self) -> str:
        return "".join(self._parts)

    def walk(self, root: Any) -> None:
        opened: list[tuple[str, int, int]] = []
        waiting: list[tuple[str, Any]] = [("open", root)]
        while waiting:
            step, node = waiting.pop()
            if step == "tail":
                self._write(node.tail)
                continue
            name = node.tag if isinstance(node.tag, str) else ""
            if step == "close":
                if name in _BLOCKS:
                    self._break()
                if opened and opened[-1][0] == name:
                    self._heading(*opened.pop())
                continue
            if name in _SILENT or node.get("hidden") is not None:
                continue
            if name in _BLOCKS:
                self._break()
            elif name in _CELLS and self._line_open:
                self._add(" | ")
            if len(name) == 2 and name[0] == "h" and name[1] in "123456":
                opened.append((name, self._length, len(self._parts)))
            self._write(node.text)
            waiting.append(("close", node))
            for child in reversed(node):
                waiting.append(("tail", child))
                waiting.append(("open", child))

    def _heading(self, name: str, start: int, part: int) -> None:
        text = "".join(self._parts[part:]).strip()
        if text:
            self.headings.append(Heading(start, self._length, int(name[1]), text))

    def _write(self, text: str | None) -> None:
        if not text:
            return
        text = _SPACE.sub(" ", text)
        if not self._line_open:
            text = text.lstrip(" ")
        if text:
            self._add(text)
            self._line_open = True

    def _break(self) -> None:
        if self._line_open:
            self._add("\n")
            self._line_open = False

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
