"""Links that could be there: a page that writes another page's title without linking to it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from shirube.caller import LOCAL
from shirube.errors import NotFound
from shirube.store.documents import document_text
from shirube.store.pages import StoredPage
from shirube.text.normalize import fold, fold_with_map
from shirube.toolsets.pages.site import Site

# A shorter title is a word like any other.
_SHORTEST = 4
_AT_A_TIME = 1000
# What a link must not go into: code, links, addresses, headings.
_TAKEN = re.compile(
    r"^(`{3,}+|~{3,}+)[^\n]*+\n(?:(?!\1)[^\n]*+\n)*+|`[^`\n]{0,500}`|!?\[\[[^\[\]\n]{0,500}\]\]"
    r"|!?\[[^\[\]\n]{0,500}\]\([^()\n]{0,500}\)|<[^<>\n]{0,500}>|https?://\S++|^ {0,3}#[^\n]*+",
    re.MULTILINE | re.DOTALL,
)


class Suggestion(NamedTuple):
    filepath: str
    line: int
    text: str
    target: str
    title: str


def suggested_links(site: Site, filepath: str | None, most: int) -> list[Suggestion]:
    """For one page or all, at most `most`: each title once a page, where it is first written."""
    with site.graph() as graph:
        pages = sorted(graph.pages.values(), key=lambda page: page.filepath)
        titles = _titles(pages)
        linked = {page.id: {edge.target for edge in graph.outlinks(page.id)} for page in pages}
        if filepath is not None:
            only = graph.at(filepath)
            if only is None:
                raise NotFound(f"Page not found: {filepath}", f"ページが見つかりません: {filepath}")
            pages = [only]
    found: list[Suggestion] = []
    patterns = [
        re.compile("|".join(map(re.escape, chosen)))
        for chosen in _chunks(sorted(titles, key=lambda title: (-len(title), title)))
    ]
    for page in pages:
        found += _in_page(site, page, titles, linked[page.id], patterns)
        if len(found) >= most:
            break
    return found[:most]


def _titles(pages: list[StoredPage]) -> dict[str, StoredPage]:
    """Titles that name one page and are long enough to mean it."""
    named: dict[str, StoredPage | None] = {}
    for page in pages:
        title = fold(page.title).strip()
        if len(title) >= _SHORTEST:
            named[title] = None if title in named else page
    return {title: page for title, page in named.items() if page}


def _chunks(titles: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(titles), _AT_A_TIME):
        yield titles[start : start + _AT_A_TIME]


def _in_page(
    site: Site,
    page: StoredPage,
    titles: dict[str, StoredPage],
    linked: set[str],
    patterns: list["re.Pattern[str]"],
) -> Iterator[Suggestion]:
    with site.database.read() as connection:
        text = document_text(connection, LOCAL, page.id)
    free = _TAKEN.sub(lambda taken: re.sub(r"[^\n]", " ", taken[0]), text)
    folded = fold_with_map(free)
    seen: set[str] = set()
    for pattern in patterns:
        for match in pattern.finditer(folded.text):
            target = titles[match[0]]
            if (
                target.id == page.id
                or target.id in linked
                or target.id in seen
                or _inside_a_word(folded.text, match)
            ):
                continue
            seen.add(target.id)
            start, end = folded.origin(match.start(), match.end())
            yield Suggestion(
                page.filepath, text.count("\n", 0, start) + 1, text[start:end], target.filepath, target.title
            )


def _inside_a_word(text: str, match: "re.Match[str]") -> bool:
    """A Latin word or number that goes on before or after is another one."""
    around = (
        text[match.start() - 1 : match.start()] + match[0][0],
        match[0][-1] + text[match.end() : match.end() + 1],
    )
    return any(len(pair) == 2 and pair.isascii() and pair.isalnum() for pair in around)
