"""One Markdown file as a page: what it says of itself, its sections, and its links.

Blocks and links are found by markdown-it (CommonMark with tables), so that nothing inside code counts. Sections are
consecutive stretches of the body: joined, they are the body.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from shirube.ingest.readers.markdown import front_matter
from shirube.toolsets.pages.kinds import DOC_TYPES, LINK_TYPES, DocType, LinkType

ENDINGS = (".md", ".markdown")

# A section of more characters is split between its paragraphs; one of fewer goes to the section before it.
LONG, TINY = 1500, 40
_LONGEST_NAME = 300
_NEWLINE = re.compile(r"\r\n?|\n")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|\?", re.IGNORECASE)
# Farther than this no link is closed, and no line of more characters is looked through for links.
_LONGEST_LINK, _LONGEST_LINE = 1000, 100_000
# Front matter is some lines; what is longer and no YAML is prose between two rules.
_MOST_LINES = 100
_NOT_IN_WIKI = re.compile(r"[\[\]\n]")
_MARKED = re.compile(r"[\[\]<`*_\\&]")


@dataclass(frozen=True)
class Link:
    """A link as it is written: `target` names a page (wiki) or is a path from the page's folder (Markdown)."""

    target: str
    is_path: bool
    line: int
    link_type: LinkType = "references"
    heading: str | None = None
    alias: str | None = None
    is_embed: bool = False


@dataclass(frozen=True)
class Section:
    """body[start:end], under the headings of second and third level that it stands under."""

    start: int
    end: int
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    title: str | None
    doc_type: DocType
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    source_refs: tuple[str, ...]
    body: str
    sections: tuple[Section, ...]
    headings: tuple[str, ...]
    links: tuple[Link, ...]
    warnings: tuple[str, ...]


def read_page(text: str) -> Page:
    front = front_matter(text)
    if front.problem and front.written.count("\n") > _MOST_LINES:
        front = replace(front, end=0)
    body = text[front.end :]
    said = {str(key).strip().lower(): value for key, value in front.metadata.items()}
    lines = _line_starts(body)
    environment: dict[str, Any] = {}
    tokens = _blocks().parse(body, environment)
    headings = list(_headings(tokens, environment))
    title = _text(said.get("title")) or next(
        (name for level, _, name in headings if level == 1 and name), None
    )
    first_line = len(_NEWLINE.findall(text, 0, front.end))
    sources, warnings = _names(said.get("source_refs"), "source_refs")
    return Page(
        title=title[:_LONGEST_NAME] if title else None,
        doc_type=doc_type(said.get("doc_type")),
        tags=_names(said.get("tags"), "tags")[0],
        aliases=_names(said.get("aliases", said.get("alias")), "aliases")[0],
        source_refs=sources,
        body=body,
        sections=tuple(_sections(body, lines, tokens, headings)),
        headings=tuple(name for _, _, name in headings if name),
        links=tuple(_links(tokens, environment, first_line)),
        warnings=(*([front.problem] if front.problem else []), *warnings),
    )


def doc_type(said: object) -> DocType:
    """What is not one of the kinds is other."""
    named = str(said).strip().lower().replace("_", "-")
    return next((each for each in DOC_TYPES if each == named), "other")


def _text(value: object) -> str:
    if value is None or isinstance(value, dict | list | bool):
        return ""
    return " ".join(str(value).split())


def _names(value: object, field: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A list of texts, or one text; warnings where it is neither."""
    if value is None:
        return (), ()
    given = value if isinstance(value, list) else [value]
    named = [unicodedata.normalize("NFC", _text(each)) for each in given]
    good = tuple(dict.fromkeys(name for name in named if name))
    lost = len(named) - sum(map(bool, named))
    return good, (f"{field}: {lost} entries are not texts",) if lost else ()


# Sections


def _line_starts(body: str) -> list[int]:
    return [0, *(each.end() for each in _NEWLINE.finditer(body))]


def _headings(tokens: Sequence[Token], environment: dict[str, Any]) -> Iterator[tuple[int, int, str]]:
    """Level, line and words of the headings that stand for themselves, not inside a list or a quotation."""
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            yield int(token.tag[1]), token.map[0], _plain(tokens[at + 1].content, environment)


def _plain(written: str, environment: dict[str, Any]) -> str:
    """The words of a heading without their marks."""
    if not _MARKED.search(written):
        return written.strip()
    parts = [
        token.content
        for token in _inline(written, environment)
        if token.type in ("text", "code_inline", "wiki")
    ]
    return " ".join("".join(parts).split()) or written.strip()


def _sections(
    body: str, lines: Sequence[int], tokens: Sequence[Token], headings: Sequence[tuple[int, int, str]]
) -> Iterator[Section]:
    """At headings of second and third level; what is long in parts, what is tiny with the one before."""
    borders: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    second: tuple[str, ...] = ()
    for level, line, name in headings:
        if level in (2, 3):
            second = (name,) if level == 2 else second
            borders.append((_at(lines, line, body), second if level == 2 else (*second[:1], name)))
    blocks = [
        _at(lines, token.map[0], body)
        for token in tokens
        if token.level == 0 and token.map and token.nesting >= 0
    ]
    found: list[Section] = []
    for (start, named), end in zip(borders, [*(start for start, _ in borders[1:]), len(body)], strict=True):
        if not body[start:end].strip():
            if found:
                found[-1] = Section(found[-1].start, end, found[-1].headings)
            continue
        start = 0 if not found else start
        if found and len(body[start:end].strip()) < TINY and end - found[-1].start <= LONG:
            found[-1] = Section(found[-1].start, end, found[-1].headings)
            continue
        found += _split(start, end, named, blocks)
    # A page without text can still be found by its title.
    return iter(found or [Section(0, len(body))])


def _at(lines: Sequence[int], line: int, body: str) -> int:
    return lines[line] if line < len(lines) else len(body)


def _split(start: int, end: int, named: tuple[str, ...], blocks: Sequence[int]) -> Iterator[Section]:
    """A section in parts of at most LONG characters where its blocks allow it."""
    begun = start
    inside = blocks[bisect_left(blocks, start + 1) : bisect_left(blocks, end)]
    for block, after in pairwise([*inside, end]):
        if after - begun > LONG and block - begun > TINY:
            yield Section(begun, block, named)
            begun = block
    yield Section(begun, end, named)


# Links


def _links(tokens: Sequence[Token], environment: dict[str, Any], first_line: int) -> Iterator[Link]:
    defined = any(_to_page(each["href"]) for each in environment.get("references", {}).values())
    for token in tokens:
        if (
            token.type != "inline"
            or len(token.content) > _LONGEST_LINE
            or not _may_link(token.content, defined)
        ):
            continue
        line = first_line + (token.map[0] if token.map else 0) + 1
        for part in _inline(token.content, environment):
            if part.type == "softbreak" or part.type == "hardbreak":
                line += 1
            elif part.type == "wiki":
                link = wiki_link(part.meta["target"], line, is_embed=part.meta["embed"])
                if link:
                    yield link
            elif part.type == "link_open":
                link = path_link(str(part.attrGet("href") or ""), line)
                if link:
                    yield link


def _may_link(written: str, defined: bool) -> bool:
    """Whether a line can hold a link to a page; `defined` where links may be named here and defined elsewhere."""
    return "[[" in written or ("[" in written and (defined or _to_page(written)))


def _to_page(written: str) -> bool:
    return any(ending in written for ending in ENDINGS) or any(
        ending in written.lower() for ending in ENDINGS
    )


def wiki_link(written: str, line: int = 0, *, is_embed: bool = False) -> Link | None:
    """What stands between the brackets: target#heading|type or |alias. None for an anchor of the page itself."""
    place, _, label = written.partition("|")
    target, _, heading = place.partition("#")
    target, heading, label = (" ".join(part.split()) for part in (target, heading, label))
    if not target:
        return None
    link_type: LinkType = next((each for each in LINK_TYPES if each == label.lower()), "references")
    is_type = label.lower() in LINK_TYPES
    return Link(
        unicodedata.normalize("NFC", target.replace("\\", "/")),
        False,
        line,
        link_type,
        heading or None,
        None if is_type else label or None,
        is_embed,
    )


def path_link(href: str, line: int = 0) -> Link | None:
    """A Markdown link to a Markdown file; None for URLs, anchors and other files."""
    if _ELSEWHERE.match(href):
        return None
    path, _, heading = href.partition("#")
    path = unquote(path.partition("?")[0]).replace("\\", "/").strip()
    if not path.lower().endswith(ENDINGS) or "\0" in path:
        return None
    return Link(unicodedata.normalize("NFC", path), True, line, heading=unquote(heading) or None)


# markdown-it


@cache
def _blocks() -> MarkdownIt:
    """Blocks alone: what is in a line is looked at where it may hold a link."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline"])
    return parser


@cache
def _lines() -> MarkdownIt:
    """What is in a line, as far as it can hide or be a link."""
    parser = MarkdownIt("commonmark", {"maxNesting": 20})
    parser.inline.ruler.disable(["emphasis", "entity"])
    parser.inline.ruler2.disable(["emphasis"])
    parser.inline.ruler.before("link", "wiki", _wiki_rule)
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return parser


def _inline(written: str, environment: dict[str, Any]) -> Iterator[Token]:
    tokens: list[Token] = []
    parser = _lines()
    parser.inline.parse(written, parser, environment, tokens)
    return _flat(tokens)


def _flat(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        if token.children and token.type != "image":
            yield from _flat(token.children)


def _wiki_rule(state: StateInline, silent: bool) -> bool:
    """[[…]] and ![[…]], in one line; [[…]](…) is a Markdown link with brackets in its text."""
    start = state.pos
    embed = state.src.startswith("![[", start)
    if not embed and not state.src.startswith("[[", start):
        return False
    begin = start + (3 if embed else 2)
    end = state.src.find("]]", begin, min(state.posMax, begin + _LONGEST_LINK))
    if end < 0 or _NOT_IN_WIKI.search(state.src, begin, end) or state.src.startswith("(", end + 2):
        return False
    if not silent:
        token = state.push("wiki", "", 0)
        target = state.src[begin:end].replace("\\|", "|")
        token.meta = {"target": target, "embed": embed}
        token.content = target.rpartition("|")[2]
    state.pos = end + 2
    return True
