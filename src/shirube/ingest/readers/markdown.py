"""Markdown: the text stays as it was written; headings and front matter are found in it.

A line scanner, not a renderer: a statute book of 88 million characters is read in seconds.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from shirube.ingest.readers.contract import Content, Heading, Unreadable
from shirube.ingest.readers.encoding import decode

_FRONT_MATTER = re.compile(r"---[ \t]*+\r?\n(.*?\r?\n|)(?:---|\.\.\.)[ \t]*+(?:\r?\n|\Z)", re.DOTALL)
# Front matter is some lines; PyYAML takes a second for this many characters. Beyond it stands prose between two rules.
_LONGEST_FRONT_MATTER = 100_000
_DEEPEST = 50
# What says who may read the document: where it cannot be made out, the document must not be open to everybody.
_ACCESS = re.compile(r"^[ \t]*+[\"']?(?:confidentiality|department)\b", re.IGNORECASE | re.MULTILINE)
# The same, one for each line, however it is written.
_SAID = re.compile(
    r"^([ \t]*+)[\"']?(confidentiality|department)[\"']?[ \t]*+[:=]", re.IGNORECASE | re.MULTILINE
)
_RULES = ("---", "+++")
# Headings, fences, and underlines that make the line above a heading. Possessive: no line is gone over twice.
_LINE = re.compile(
    r"^ {0,3}(?:(?P<marks>#{1,6})(?:[ \t]++(?P<text>[^\r\n]*+))?"
    r"|(?P<fence>`{3,}+(?![^`\r\n]*+`)|~{3,}+)[^\r\n]*+|(?P<under>=++|-++)[ \t]*+)\r?$",
    re.MULTILINE,
)


_Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


def _loaded(written: str) -> Any:
    """YAML without aliases, by which a few lines can stand for a billion, and not too deep for libyaml's stack."""
    depth = 0
    for event in yaml.parse(written, _Loader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError(f"deeper than {_DEEPEST} levels")
    return yaml.load(written, _Loader)


def read(data: bytes) -> Content:
    text = decode(data)
    front = _open_to_all(front_matter(text))
    check_access(text, front.metadata)
    headings = _headings(text, front.end)
    named = front.metadata.get("title")
    title = None if named is None or isinstance(named, dict | list) else str(named).strip()
    title = title or next((each.text for each in headings if each.level == 1 and each.text), None)
    warnings = (front.problem,) if front.problem else ()
    return Content(text, title, headings, front.end, front.metadata, warnings)


@dataclass(frozen=True)
class FrontMatter:
    """What a file says of itself, where its body begins, and what is wrong with it where it is no YAML."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    end: int = 0
    written: str = ""
    problem: str | None = None


def front_matter(text: str) -> FrontMatter:
    """The front matter of `text`. What stands between two rules without being names and values is part of the body."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return FrontMatter()
    written = match.group(1)
    try:
        if len(written) > _LONGEST_FRONT_MATTER:
            raise ValueError(f"longer than {_LONGEST_FRONT_MATTER:,} characters")
        loaded = _loaded(written)
        metadata = {str(key): value for key, value in loaded.items()} if isinstance(loaded, dict) else None
        _check(metadata)
    except Exception as error:  # PyYAML fails in many ways: !!int "" is an IndexError
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return FrontMatter({}, match.end(), written, f"front matter is not valid YAML: {reason}")
    if metadata is None and loaded is not None:
        return FrontMatter()
    return FrontMatter(metadata or {}, match.end(), written)


def _open_to_all(front: FrontMatter) -> FrontMatter:
    """The front matter, where nothing in it may be about who reads the document; broken, it is part of the body."""
    if front.problem is None:
        return front
    if _ACCESS.search(front.written):
        reason = front.problem.partition(": ")[2]
        raise Unreadable(
            f"front matter with confidentiality or department is not valid YAML: {reason}",
            f"confidentiality か department のあるフロントマターが YAML として正しくありません（{reason}）。",
        )
    return replace(front, end=0)


def check_access(text: str, metadata: Mapping[str, Any]) -> None:
    """Refuse a text whose head says who may read it without that being in `metadata`: a full-width colon, an empty line
    above, no line that closes it, a name twice or inside another, a file that is no Markdown."""
    said = [(len(each[1]), each[2].lower()) for each in _SAID.finditer(_head(text))]
    known = {key.strip().lower() for key in metadata}
    for indent, name in said:
        # Others have departments too, such as an author.
        meant = not indent or name == "confidentiality"
        if meant and (name not in known or said.count((0, name)) > 1):
            raise Unreadable(
                f"{name} at its beginning cannot be read as front matter: `---` as the first line of a Markdown file, "
                f"`{name}: …` once on a line of its own, `---` below",
                f"冒頭の {name} をフロントマターとして読み取れません。Markdown ファイルの1行目を --- とし、"
                f"{name}: … を独立した行に1回だけ書き、--- で閉じてください。",
            )


def _head(text: str) -> str:
    """What stands at the beginning between two rules or, where the second is missing, down to an empty line."""
    lines = unicodedata.normalize("NFKC", text[:_LONGEST_FRONT_MATTER]).lstrip("\ufeff \t\r\n").splitlines()
    if not lines or lines[0].rstrip() not in _RULES:
        return ""
    rest = [line.rstrip() for line in lines[1:]]
    for ends in ((lines[0].rstrip(), "..."), ("",)):
        closing = next((at for at, line in enumerate(rest) if line in ends), None)
        if closing is not None:
            return "\n".join(rest[:closing])
    return "\n".join(rest)


def _check(metadata: object) -> None:
    """Refuse what cannot be stored: numbers of thousands of digits, NUL, half a surrogate pair."""
    written = json.dumps(metadata, ensure_ascii=False, default=str, skipkeys=True)
    if "\\u0000" in written:
        raise ValueError("NUL in a text")
    written.encode()


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
            found.append(Heading(line.start(), line.end(), len(marks), _name(line["text"] or "")))
        elif under:
            above = _line_above(text, line.start(), start)
            if above is not None:
                begin, end = above
                found.append(Heading(begin, line.end(), 1 if under[0] == "=" else 2, text[begin:end].strip()))
    return found


def _name(written: str) -> str:
    """A heading without the marks that may close it; those of C# are its own."""
    written = written.strip()
    closed = written.rstrip("#")
    return closed.rstrip() if not closed or closed[-1] in " \t" else written


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
