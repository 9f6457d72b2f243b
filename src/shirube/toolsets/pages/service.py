"""What the page tools do. How pages are searched is in `search` and `fulltext`."""

import difflib
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence

from shirube.caller import LOCAL
from shirube.errors import InvalidInput, NotFound
from shirube.operations import given
from shirube.store.documents import document_text
from shirube.store.pages import StoredPage, iso_time, page_warnings_of
from shirube.store.passages import passages_of
from shirube.text.invisible import visible
from shirube.toolsets.pages import schema
from shirube.toolsets.pages.feed import heading_of
from shirube.toolsets.pages.fulltext import KeywordSearch
from shirube.toolsets.pages.graph import Edge, Graph, same
from shirube.toolsets.pages.search import EmbedderInUse, PageSearch
from shirube.toolsets.pages.site import Site
from shirube.toolsets.pages.staleness import Staleness

_NEAREST_NAMES = 3
_DRIVE = re.compile(r"[A-Za-z]:")

SHALLOW = (
    "git の履歴が途中までしかなく、古いかどうかがわからないページがあります（fetch-depth: 0 で取得してください）。 "
    "This clone is shallow: fetch with depth 0 to know what is stale."
)


class PagesService:
    def __init__(self, site: Site, embedder: EmbedderInUse) -> None:
        self.site = site
        self._embedder = embedder
        self._by_page, self._by_keyword = PageSearch(site, embedder), KeywordSearch(site)

    def follow(self) -> None:
        """Keep up with the folder in the background from now on."""
        self.site.follow(self._embedder)

    # The tools

    def search(self, asked: schema.SearchInput) -> schema.SearchOutput:
        self._make_current()
        return self._by_page.search(_text(asked.query), asked)

    def fulltext_search(self, asked: schema.FulltextInput) -> schema.FulltextOutput:
        self._make_current()
        return self._by_keyword.search(_text(asked.query), asked)

    def get_page(self, asked: schema.GetPageInput) -> schema.GetPageOutput:
        self._make_current()
        with self.site.graph() as graph:
            page = self._page(graph, asked.filepath)
            outlinks = [_link(graph, edge.target, edge) for edge in graph.outlinks(page.id)]
            backlinks = [_link(graph, edge.source, edge) for edge in graph.backlinks(page.id)]
        with self.site.database.read() as connection:
            text = document_text(connection, LOCAL, page.id)
            sections = list(passages_of(connection, [page.id]))
            warnings = page_warnings_of(connection, page.id)
        stale = self.site.staleness([page])[page.id]
        if stale.level != "untracked" and self.site.sources.is_shallow:
            warnings.append(SHALLOW)
        return schema.GetPageOutput(
            doc_id=page.id,
            filepath=visible(page.filepath),
            title=visible(page.title),
            doc_type=page.doc_type,  # type: ignore[arg-type]
            content=visible(text),
            sections=[
                schema.Section(heading=heading_of(each), content=visible(each.text.strip("\r\n")))
                for each in sections
            ],
            outlinks=outlinks,
            backlinks=backlinks,
            staleness=stale.level,
            stale_refs=[ref.path for ref in stale.refs],
            updated_at=iso_time(page.mtime_ns),
            **given(
                stale_reasons={ref.path: ref.reason for ref in stale.refs} or None, warnings=warnings or None
            ),
        )

    def get_context(self, asked: schema.GetContextInput) -> schema.GetContextOutput:
        self._make_current()
        with self.site.graph() as graph:
            page = self._page(graph, asked.filepath)
            around = graph.around(page.id, asked.depth)
            pages = {each.id: graph.pages[each.id] for each in around}
        summaries = self.site.summaries(list(pages))
        with self.site.database.read() as connection:
            content = visible(document_text(connection, LOCAL, page.id))
        size, related, left_out = len(content), [], 0
        for each in around:
            summary = summaries.get(each.id, "")
            if size + len(summary) > asked.max_size:
                left_out += 1
                continue
            size += len(summary)
            near = pages[each.id]
            related.append(
                schema.RelatedPage(
                    doc_id=near.id,
                    filepath=visible(near.filepath),
                    title=visible(near.title),
                    link_type=each.link_type,  # type: ignore[arg-type]
                    direction=each.direction,
                    summary=summary,
                    depth=each.depth,
                )
            )
        center = schema.CenterPage(
            doc_id=page.id, filepath=visible(page.filepath), title=visible(page.title), content=content
        )
        return schema.GetContextOutput(
            center=center, related=related, total_size=size, truncated_count=left_out
        )

    def list_pages(self, asked: schema.ListInput) -> schema.ListOutput:
        self._make_current()
        with self.site.graph() as graph:
            chosen = [page for page in graph.pages.values() if asked.doc_type in (None, page.doc_type)]
            counts = {page.id: len(graph.outlinks(page.id)) for page in chosen}
        chosen.sort(key=lambda page: page.filepath)
        if asked.sort != "filepath" or asked.order == "desc":
            keys: Mapping[str, Callable[[StoredPage], object]] = {
                "title": lambda page: page.title,
                "updated_at": lambda page: page.mtime_ns,
                "filepath": lambda page: page.filepath,
            }
            chosen.sort(key=keys[asked.sort], reverse=asked.order == "desc")  # type: ignore[arg-type]
        listed = [
            schema.ListedPage(
                doc_id=page.id,
                filepath=visible(page.filepath),
                title=visible(page.title),
                doc_type=page.doc_type,  # type: ignore[arg-type]
                link_count=counts[page.id],
                updated_at=iso_time(page.mtime_ns),
            )
            for page in chosen
        ]
        return schema.ListOutput(pages=listed, total=len(listed))

    def get_graph(self, asked: schema.GraphInput) -> schema.GraphOutput:
        self._make_current()
        with self.site.graph() as graph:
            kept: list[str] | None = None
            if asked.center is not None:
                center = graph.pages.get(asked.center) or self._page(graph, asked.center, "center")
                kept = list(graph.distances([center.id], asked.depth))
            pages = graph.pages.values() if kept is None else [graph.pages[each] for each in kept]
            nodes = sorted(pages, key=lambda page: page.filepath)
            edges = list(graph.edges(None if kept is None else set(kept)))
        return schema.GraphOutput(
            nodes=[
                schema.GraphNode(
                    id=page.id,
                    filepath=visible(page.filepath),
                    title=visible(page.title),
                    doc_type=page.doc_type,  # type: ignore[arg-type]
                )
                for page in nodes
            ],
            edges=[
                schema.GraphEdge(source=edge.source, target=edge.target, type=edge.link_type)  # type: ignore[arg-type]
                for edge in edges
            ],
        )

    # Beyond the tools

    def stale_pages(self) -> list[tuple[StoredPage, Staleness]]:
        """Every page that names sources, and how it stands to them."""
        self._make_current()
        with self.site.graph() as graph:
            pages = sorted(graph.pages.values(), key=lambda page: page.filepath)
        found = self.site.staleness(pages)
        return [(page, found[page.id]) for page in pages if found[page.id].level != "untracked"]

    # Within

    def _make_current(self) -> None:
        self.site.make_current(self._embedder)

    def _page(self, graph: Graph, filepath: str, argument: str = "filepath") -> StoredPage:
        """The page that a caller names. A path is looked up among the pages, never opened."""
        named = filepath.encode("utf-8", "replace").decode()
        if _leaves(named):
            raise InvalidInput(
                f"{argument} must be a path inside the docs folder",
                f"{argument} は docs フォルダー内の相対パスで指定してください。",
            )
        page = graph.at(posixpath.normpath(named))
        if page is None:
            nearest = _nearest([visible(each.filepath) for each in graph.pages.values()], named)
            raise NotFound(
                f"Page not found: {named[:200]}",
                f"ページが見つかりません: {named[:200]}",
                hint="近い名前 Nearest: " + ", ".join(nearest) if nearest else None,
                details={"nearest": nearest},
            )
        return page


def _text(query: str) -> str:
    return query.encode("utf-8", "replace").decode()


def _leaves(path: str) -> bool:
    """Whether a path could be meant for something outside: absolute, upwards, of another disk, with a NUL."""
    written = path.replace("\\", "/")
    return (
        "\0" in path
        or written.startswith("/")
        or _DRIVE.match(path) is not None
        or ".." in written.split("/")
    )


def _nearest(names: Sequence[str], wanted: str) -> list[str]:
    """The names most like one that is not there: by file name, then by the whole path."""
    stem = same(posixpath.basename(wanted))[:200]
    by_stem = {name: same(posixpath.basename(name)) for name in names}
    ranked = sorted(
        names,
        key=lambda name: (
            -difflib.SequenceMatcher(None, stem, by_stem[name], autojunk=False).quick_ratio(),
            name,
        ),
    )[: 10 * _NEAREST_NAMES]
    whole = same(wanted)[:200]
    return sorted(
        ranked,
        key=lambda name: (
            -difflib.SequenceMatcher(None, stem, by_stem[name], autojunk=False).ratio(),
            -difflib.SequenceMatcher(None, whole, same(name), autojunk=False).ratio(),
            name,
        ),
    )[:_NEAREST_NAMES]


def _link(graph: Graph, other: str, edge: Edge) -> schema.PageLink:
    page = graph.pages[other]
    return schema.PageLink(
        doc_id=page.id,
        filepath=visible(page.filepath),
        title=visible(page.title),
        link_type=edge.link_type,  # type: ignore[arg-type]
    )
