"""Markdown: the text stays as it was written; headings and front matter are found in it.

A line scanner, not a renderer: a statute book of 88 million characters is read in seconds.
"""

import re
from typing import Any

import yaml

from shirube.ingest.readers.contract import Content, Heading
from shirube.ingest.readers.encoding import decode

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?\r?\n|)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
# Headings, fences, and underlines that make the line above a heading.
_LINE = re.compile(
    r"^ {0,3}(?:(?P<marks>#{1,6})(?:[ \t]+(?P<text>[^\r\n]*))?"
    r"|(?P<fence>`{3,}|~{3,})[^\r\n]*|(?P<under>=+|-+)[ \t]*)\r?$",
    re.MULTILINE,
)
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")


def read(data: bytes) -> Content:
    text = decode(data)
    metadata, start, warnings = _front_matter(text)
    headings = _headings(text, start)
    named = metadata.get("title")
    title = str(named) if named else next((each.text for each in headings if each.level == 1), None)
    return Content(text, title, headings, start, metadata, warnings)


def _front_matter(text: str) -> tuple[dict[str, Any], int, tuple[str, ...]]:
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, 0, ()
    try:
        loaded = yaml.safe_load(match.group(1))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return {}, match.end(), (f"front matter is not valid YAML: {str(error).splitlines()[0]}",)
    if not isinstance(loaded, dict):
        return {}, match.end() if loaded is None else 0, ()
    return {str(key): value for key, value in loaded.items()}, match.end(), ()


def _headings(text: str, start: int) -> list[Heading]:
    found: list[Heading] = []
    fence: str | None = None
    for line in _LINE.finditer(text, start):
        marks, opened, under = line["marks"], line["fence"], line["under"]
        if opened:
            if fence is None:
                fence = opened
            elif opened[0] == fence[0] and len(opened) >= len(fence) and line[0].strip() == opened:
                fence = None
        elif fence is not None:
            continue
        elif marks:
            name = _CLOSING.sub("", line["text"] or "").strip().strip("#").strip()
            found.append(Heading(line.start(), line.end(), len(marks), name))
        elif under:
            above = _line_above(text, line.start(), start)
            if above is not None:
                begin, end = above
                found.append(Heading(begin, line.end(), 1 if under[0] == "=" else 2, text[begin:end].strip()))
    return found


def _line_above(text: str, at: int, start: int) -> tuple[int, int] | None:
    """The line before `at` if it is the only line of its paragraph and can be a heading."""
    end = at - 1
    if end <= start:
        return None
    begin = max(text.rfind("\n", start, end) + 1, start)
    line = text[begin:end].strip()
    if not line or line[0] in "#>|-*+=`~":
        return None
    before = text[max(text.rfind("\n", start, max(begin - 1, start)) + 1, start) : max(begin - 1, start)]
    return (begin, end) if not before.strip() else None
