"""Pages and the links among them, in memory: where each link leads, and who links to whom.

Where a link leads depends on all pages, so it is worked out here and not stored. A page that comes, goes or changes its
name makes only those links be looked at again that could mean it.
"""

import posixpath
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from shirube.store.pages import StoredLink, StoredPage
from shirube.text.invisible import visible
from shirube.toolsets.pages.markdown import ENDINGS

Direction = Literal["outlink", "backlink"]
# How much a link says of what belongs together: what a page cannot do without comes before what it mentions.
WEIGHTS: Mapping[str, float] = {
    "depends_on": 1.0,
    "implements": 0.9,
    "extends": 0.8,
    "conflicts_with": 0.7,
    "references": 0.5,
}
# Files that wiki-links show or offer; where no page has such a name, the link is none to a page.
_ATTACHMENTS = tuple(
    ".png .jpg .jpeg .gif .svg .webp .bmp .avif .pdf .mp3 .wav .m4a .ogg .flac .3gp .mp4 .webm .ogv .mov .mkv "
    ".canvas .base .css .js .json .csv .txt .zip .drawio .excalidraw .xlsx .docx .pptx".split()
)


class Edge(NamedTuple):
    """A link that leads to a page."""

    source: str
    target: str
    link_type: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """A link of a page and the page it leads to, if there is one; `ambiguous` where others have the same name."""

    link: StoredLink
    target: str | None
    ambiguous: bool = False


class Reached(NamedTuple):
    """A page on the way from another: how far, and by which link it was reached first."""

    id: str
    depth: int
    link_type: str
    direction: Direction


def same(name: str) -> str:
    """A name as it is compared: composed, the same in small and capital letters, and without what nobody sees."""
    return unicodedata.normalize("NFC", visible(name)).casefold()


def without_ending(path: str) -> str:
    stem, ending = posixpath.splitext(path)
    return stem if ending.lower() in ENDINGS else path


@dataclass
class Graph:
    pages: dict[str, StoredPage] = field(default_factory=dict)
    _at: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _named: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _titled: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _called: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _asking: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _links: dict[str, list[Resolved]] = field(default_factory=dict)
    _out: dict[str, list[Edge]] = field(default_factory=dict)
    _in: dict[str, set[Edge]] = field(default_factory=lambda: defaultdict(set))

    # Changing

    def update(self, put: Iterable[StoredPage] = (), removed: Iterable[str] = ()) -> None:
        """Take pages in or out; every link that could mean one of them is looked at again."""
        affected: set[str] = set()
        for page_id in removed:
            affected |= self._take_out(page_id)
        for page in put:
            affected |= self._take_out(page.id)
            affected |= self._take_in(page)
        for page_id in affected & self.pages.keys():
            self._resolve(page_id)

    def _take_in(self, page: StoredPage) -> set[str]:
        self.pages[page.id] = page
        self._at[same(page.filepath)].add(page.id)
        self._named[same(_stem(page.filepath))].add(page.id)
        self._titled[same(page.title)].add(page.id)
        for alias in page.aliases:
            self._called[same(alias)].add(page.id)
        for link in page.links:
            for key in _keys_of_link(link, page.filepath):
                self._asking[key].add(page.id)
        return {page.id, *self._askers(page)}

    def _take_out(self, page_id: str) -> set[str]:
        page = self.pages.pop(page_id, None)
        if page is None:
            return set()
        _discard(self._at, same(page.filepath), page_id)
        _discard(self._named, same(_stem(page.filepath)), page_id)
        _discard(self._titled, same(page.title), page_id)
        for alias in page.aliases:
            _discard(self._called, same(alias), page_id)
        for link in page.links:
            for key in _keys_of_link(link, page.filepath):
                _discard(self._asking, key, page_id)
        self._links.pop(page_id, None)
        for edge in self._out.pop(page_id, []):
            self._in[edge.target].discard(edge)
        return self._askers(page) - {page_id}

    def _askers(self, page: StoredPage) -> set[str]:
        """The pages with a link that could mean this one."""
        keys = {
            same(_stem(page.filepath)),
            same(page.title),
            "/" + same(page.filepath),
            *map(same, page.aliases),
        }
        return set().union(*(self._asking.get(key, ()) for key in keys))

    def _resolve(self, page_id: str) -> None:
        page = self.pages[page_id]
        for edge in self._out.get(page_id, []):
            self._in[edge.target].discard(edge)
        found = [self.resolve(link, page.filepath) for link in page.links]
        self._links[page_id] = [each for each in found if each is not None]
        edges = dict.fromkeys(
            Edge(page_id, each.target, each.link.link_type)
            for each in self._links[page_id]
            if each.target is not None and each.target != page_id
        )
        self._out[page_id] = list(edges)
        for edge in edges:
            self._in[edge.target].add(edge)

    # Where a link leads

    def resolve(self, link: StoredLink, source: str) -> Resolved | None:
        """Where a link of the page at `source` leads; None for one that leaves the folder or names no page at all."""
        if link.is_path:
            path = _joined(source, link.target)
            found = None if path is None else self.at(path)
            return None if path is None else Resolved(link, found.id if found else None)
        wanted = without_ending(link.target.strip("/"))
        if wanted.startswith("../") and _joined(source, wanted) is None:
            return None
        candidates = self._candidates(wanted, source)
        if not candidates:
            attached = link.target.lower().endswith(_ATTACHMENTS)
            return None if attached else Resolved(link, None)
        return Resolved(
            link, min(candidates, key=lambda each: self._order(each, source)), len(candidates) > 1
        )

    def _candidates(self, wanted: str, source: str) -> Collection[str]:
        key = same(wanted)
        if "/" in wanted:
            for path in (_joined(source, wanted), wanted):
                for ending in ENDINGS if path else ():
                    if exact := self.at(f"{path}{ending}"):
                        return [exact.id]
            below = "/" + same(wanted)
            by_name = () if wanted.startswith(".") else self._named.get(same(_stem(wanted)), ())
            within = [
                each
                for each in by_name
                if same(without_ending("/" + self.pages[each].filepath)).endswith(below)
            ]
            if within:
                return within
        else:
            named = self._named.get(key)
            if named:
                return named
        return self._titled.get(key) or self._called.get(key) or ()

    def _order(self, page_id: str, source: str) -> tuple[bool, int, str]:
        """Of several pages of one name: the one in the same folder, the shallowest, the first by its path."""
        path = self.pages[page_id].filepath
        return posixpath.dirname(path) != posixpath.dirname(source), path.count("/"), path

    # Asking

    def at(self, filepath: str) -> StoredPage | None:
        """The page of that path; of two that differ in capitals alone the one that is written so, else the first."""
        held = sorted(
            (self.pages[each] for each in self._at.get(same(filepath), ())), key=lambda page: page.filepath
        )
        return next((page for page in held if page.filepath == filepath), held[0] if held else None)

    def links(self, page_id: str) -> list[Resolved]:
        return self._links.get(page_id, [])

    def outlinks(self, page_id: str) -> list[Edge]:
        """In the order of the page; two links of one type to one page are one."""
        return self._out.get(page_id, [])

    def backlinks(self, page_id: str) -> list[Edge]:
        edges = self._in.get(page_id, ())
        return sorted(edges, key=lambda edge: (self.pages[edge.source].filepath, edge.link_type))

    def edges(self, among: Collection[str] | None = None) -> Iterator[Edge]:
        """The links among these pages, or all."""
        for page_id in (
            self.pages if among is None else sorted(among, key=lambda each: self.pages[each].filepath)
        ):
            yield from (edge for edge in self.outlinks(page_id) if among is None or edge.target in among)

    def distances(
        self, seeds: Collection[str], depth: int, link_types: Collection[str] | None = None
    ) -> dict[str, int]:
        """How many links each page is away from the nearest seed, in either direction, up to `depth`."""
        hops = dict.fromkeys(seeds, 0)
        border = list(hops)
        for distance in range(1, depth + 1):
            reached = {
                other
                for page_id in border
                for other, link_type, _ in self._neighbours(page_id)
                if link_types is None or link_type in link_types
            }
            border = [each for each in reached if each not in hops]
            hops |= dict.fromkeys(border, distance)
        return hops

    def around(self, center: str, depth: int) -> list[Reached]:
        """The pages within `depth` links of one, in either direction: nearest, strongest link, then by title."""
        found: dict[str, Reached] = {}
        border = [center]
        for distance in range(1, depth + 1):
            level: dict[str, Reached] = {}
            for page_id in border:
                for other, link_type, direction in self._neighbours(page_id):
                    if other == center or other in found:
                        continue
                    reached = Reached(other, distance, link_type, direction)
                    if other not in level or _strength(reached) > _strength(level[other]):
                        level[other] = reached
            border = sorted(level, key=lambda each: (-WEIGHTS[level[each].link_type], self._by_title(each)))
            found |= {each: level[each] for each in border}
        return list(found.values())

    def _neighbours(self, page_id: str) -> Iterator[tuple[str, str, Direction]]:
        for edge in self.outlinks(page_id):
            yield edge.target, edge.link_type, "outlink"
        for edge in self._in.get(page_id, ()):
            yield edge.source, edge.link_type, "backlink"

    def _by_title(self, page_id: str) -> tuple[str, str]:
        page = self.pages[page_id]
        return page.title, page.filepath

    def dangling(self) -> Iterator[tuple[StoredPage, Resolved]]:
        """Every link to a page that is not there."""
        for page in self._in_order():
            yield from ((page, each) for each in self.links(page.id) if each.target is None)

    def ambiguous(self) -> Iterator[tuple[StoredPage, Resolved]]:
        """Every link that could mean several pages."""
        for page in self._in_order():
            yield from ((page, each) for each in self.links(page.id) if each.ambiguous)

    def missing_headings(self) -> Iterator[tuple[StoredPage, Resolved]]:
        """Wiki-links to a heading that its page does not have; anchors of blocks are not looked for."""
        for page in self._in_order():
            for each in self.links(page.id):
                link = each.link
                if each.target is None or link.is_path or not link.heading or link.heading.startswith("^"):
                    continue
                wanted = _anchor(link.heading.rpartition("#")[2])
                if wanted not in {_anchor(name) for name in self.pages[each.target].headings}:
                    yield page, each

    def orphans(self) -> list[StoredPage]:
        """Pages that no other page links to and that link to none."""
        return [page for page in self._in_order() if not self.outlinks(page.id) and not self._in.get(page.id)]

    def _in_order(self) -> list[StoredPage]:
        return sorted(self.pages.values(), key=lambda page: page.filepath)


def _strength(reached: Reached) -> tuple[float, bool]:
    return WEIGHTS[reached.link_type], reached.direction == "outlink"


def _stem(path: str) -> str:
    return without_ending(posixpath.basename(path))


def _joined(source: str, target: str) -> str | None:
    """The path that `target` names from the page at `source`; None where it leaves the folder."""
    start = "" if target.startswith("/") else posixpath.dirname(source)
    path = posixpath.normpath(posixpath.join(start, target.lstrip("/")))
    return None if path == ".." or path.startswith("../") else path


def _keys_of_link(link: StoredLink, source: str) -> set[str]:
    """The names of pages that this link could mean: a stem, a title, or a path with a / before it."""
    if link.is_path:
        path = _joined(source, link.target)
        return set() if path is None else {"/" + same(path)}
    wanted = without_ending(link.target.strip("/"))
    return {same(_stem(wanted)), same(wanted)}


def _anchor(heading: str) -> str:
    """A heading as far as a link to it tells: marks and white space do not count."""
    return "".join(char for char in same(heading) if char.isalnum())


def _discard(index: dict[str, set[str]], key: str, page_id: str) -> None:
    held = index.get(key)
    if held is not None:
        held.discard(page_id)
        if not held:
            del index[key]
