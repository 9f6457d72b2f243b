"""What the page tools do. A search goes: vectors and words → pages → links → scores → staleness."""

import difflib
import logging
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shirube.caller import LOCAL
from shirube.errors import InvalidInput, NotFound
from shirube.index.contract import Hits, Holding, Vectors
from shirube.models.contract import Embedder
from shirube.query.filters import Condition, Filters
from shirube.query.values import Exact
from shirube.retrieval.pipeline import embedded_query
from shirube.store.documents import document_text
from shirube.store.pages import StoredPage, beginnings, iso_time, page_warnings_of, sources_of
from shirube.store.passages import StoredPassage, passages_by_id, passages_of
from shirube.text.invisible import visible
from shirube.text.normalize import fold
from shirube.text.questions import subject
from shirube.toolsets.pages import schema
from shirube.toolsets.pages.feed import SHOWN, WEIGHTS, shown_text
from shirube.toolsets.pages.graph import WEIGHTS as LINK_WEIGHTS
from shirube.toolsets.pages.graph import Edge, Graph, same
from shirube.toolsets.pages.scoring import Score, Weights, proximity, scored, similarity
from shirube.toolsets.pages.site import Site
from shirube.toolsets.pages.snippets import keywords, needs_check, snippet
from shirube.toolsets.pages.staleness import Staleness

log = logging.getLogger(__name__)

SUMMARY = 500
_VECTOR_LIMIT = 200
_TEXT_LIMIT = 200
_SECTIONS = 3
_LINKED = 10
# A section may be a table of a hundred thousand characters: get_page shows it whole.
_LONGEST_CONTENT = 2000
_NEAREST_NAMES = 3
_TIES = 1000
# Sections whose text is kept at hand once a keyword with signs was looked for in them, a kilobyte each.
_REMEMBERED = 100_000
_DRIVE = re.compile(r"[A-Za-z]:")

SHALLOW = (
    "git の履歴が途中までしかなく、古いかどうかがわからないページがあります（fetch-depth: 0 で取得してください）。 "
    "This clone is shallow: fetch with depth 0 to know what is stale."
)

EmbedderInUse = Callable[[], Embedder | None]


@dataclass
class _Found:
    """What was found of a page: its sections with their scores, by meaning and by words."""

    near: dict[int, float] = field(default_factory=dict)
    worded: dict[int, float] = field(default_factory=dict)


class PagesService:
    def __init__(self, site: Site, embedder: EmbedderInUse) -> None:
        self.site = site
        self._embedder = embedder
        self._folded: dict[int, str] = {}
        self._beside = ThreadPoolExecutor(2, "pages")

    def follow(self) -> None:
        """Keep up with the folder in the background from now on."""
        self.site.follow(self._embedder)

    # The tools

    def search(self, asked: schema.SearchInput) -> schema.SearchOutput:
        query = _text(asked.query)
        self._make_current()
        site, space = self.site, self.site.space
        warnings = []
        if not (space.refresh() or space.catch_up_soon()):
            warnings.append("索引を更新中です。 The index is being brought up to date.")
        # Full text leaves the interpreter while it searches.
        by_words = self._beside.submit(space.search, subject(query), WEIGHTS, Filters(), _TEXT_LIMIT)
        embedder = self._embedder()
        vectors = near = None
        if embedder and space.has_vectors(embedder.name):
            try:
                vectors = embedded_query(embedder, query)
                near = space.search_vectors(embedder.name, vectors[0], Filters(), _VECTOR_LIMIT)
            except Exception:
                log.warning("vectors could not be asked", exc_info=True)
                vectors = near = None
                warnings.append(
                    "ベクトルが使えず、語だけで探しました。 Vectors failed; searched by words alone."
                )
            if not space.vectors_current(embedder.name):
                warnings.append("ベクトルを作成中です。 Vectors are still being made.")
        worded = by_words.result()
        with site.graph() as graph:
            found = self._by_page(graph, near, worded)
            first = near if near is not None else worded
            seeds = {owner for key in first.keys[: 2 * asked.limit].tolist() if (owner := site.owner(key))}
            hops = graph.distances(seeds, asked.depth, asked.link_types)
            total = len(found.keys() | hops.keys())
            weights = Weights.of(text_found=bool(len(worded)))
            if vectors is not None and embedder and near is not None:
                for page_id in _contenders(weights, found, hops, near, asked.limit):
                    found.setdefault(page_id, _Found())
                self._complete(found, embedder, vectors)
            else:
                found = {page_id: found.get(page_id, _Found()) for page_id in found.keys() | hops.keys()}
            scores = {page_id: _score(weights, each, hops, page_id, near) for page_id, each in found.items()}
            best = sorted(scores, key=lambda each: (-scores[each].total, graph.pages[each].filepath))
            shown = [graph.pages[each] for each in best[: asked.limit]]
            linked = (
                {page.id: self._linked(graph, page, asked) for page in shown} if asked.include_linked else {}
            )
            ways = {page.id: _nearest_seed(graph, page.id, seeds, hops) for page in shown}
        chosen = {page.id: _best_sections(found[page.id]) for page in shown}
        with site.database.read() as connection:
            keys = [key for each in chosen.values() for key in each]
            texts = {passage.id: passage for passage in passages_by_id(connection, keys)}
        stale = self._staleness(shown)
        results = []
        for page in shown:
            score, each = scores[page.id], found[page.id]
            sections = [texts[key] for key in chosen[page.id] if key in texts]
            results.append(
                schema.SearchResult(
                    doc_id=page.id,
                    filepath=page.filepath,
                    title=visible(page.title),
                    sections=[_section(section, each) for section in sections],
                    score=round(score.total, 4),
                    score_breakdown=schema.ScoreBreakdown(
                        vector_similarity=round(score.vector, 4),
                        graph_proximity=round(score.graph, 4),
                        fulltext=round(score.text, 4),
                    ),
                    relevance_reason=_reason(score, sections, hops.get(page.id), ways[page.id]),
                    staleness=stale[page.id].level,
                    **_given(linked_pages=linked.get(page.id)),
                )
            )
        return schema.SearchOutput(
            results=results,
            total_found=total,
            search_type="fulltext_fallback" if near is None else "hybrid",
            **_given(warnings=warnings or None),
        )

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
        stale = self._staleness([page])[page.id]
        if stale.level != "untracked" and self.site.sources.is_shallow:
            warnings.append(SHALLOW)
        return schema.GetPageOutput(
            doc_id=page.id,
            filepath=page.filepath,
            title=visible(page.title),
            doc_type=page.doc_type,  # type: ignore[arg-type]
            content=visible(text),
            sections=[
                schema.Section(heading=_heading(each), content=visible(each.text.strip("\r\n")))
                for each in sections
            ],
            outlinks=outlinks,
            backlinks=backlinks,
            staleness=stale.level,
            stale_refs=[ref.path for ref in stale.refs],
            updated_at=iso_time(page.mtime_ns),
            **_given(
                stale_reasons={ref.path: ref.reason for ref in stale.refs} or None, warnings=warnings or None
            ),
        )

    def get_context(self, asked: schema.GetContextInput) -> schema.GetContextOutput:
        self._make_current()
        with self.site.graph() as graph:
            page = self._page(graph, asked.filepath)
            around = graph.around(page.id, asked.depth)
            pages = {each.id: graph.pages[each.id] for each in around}
        summaries = self._summaries(list(pages))
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
                    filepath=near.filepath,
                    title=visible(near.title),
                    link_type=each.link_type,  # type: ignore[arg-type]
                    direction=each.direction,
                    summary=summary,
                    depth=each.depth,
                )
            )
        center = schema.CenterPage(
            doc_id=page.id, filepath=page.filepath, title=visible(page.title), content=content
        )
        return schema.GetContextOutput(
            center=center, related=related, total_size=size, truncated_count=left_out
        )

    def fulltext_search(self, asked: schema.FulltextInput) -> schema.FulltextOutput:
        terms = keywords(_text(asked.query))
        if not terms:
            raise InvalidInput("query must not be empty", "query が空です。探す語を入れてください。")
        self._make_current()
        space = self.site.space
        if not space.refresh():
            space.catch_up_soon()
        filters = (
            Filters(all_of=(Condition("doc_type", "=", (Exact(asked.doc_type),)),))
            if asked.doc_type
            else Filters()
        )
        known = {term: self.site.words_holding(term) for term in terms if term.isascii() and term.isalnum()}
        query = Holding(tuple(terms), {term: words for term, words in known.items() if words is not None})
        checked = any(map(needs_check, terms))
        try:
            hits, total = space.find(query, SHOWN, filters, space.count() if checked else _TIES)
            if len(hits) < total and _is_tie(
                hits, asked.limit
            ):  # whom to show is not for their order to decide
                hits, total = space.find(query, SHOWN, filters, total)
        except InvalidInput:  # more words than the index can look for at once: all texts are looked through
            hits, checked = self._every_section(asked.doc_type), True
        if checked:
            hits = self._checked(hits, terms)
            total = len(hits)
        keys = self._in_order(hits, asked.limit)
        with self.site.database.read() as connection:
            found = {each.id: each for each in passages_by_id(connection, keys)}
        order = [found[key] for key in keys if key in found]
        results = [
            schema.FulltextResult(
                doc_id=each.document_id,
                filepath=each.source,
                title=visible(each.document_title),
                section_heading=_heading(each),
                snippet=visible(snippet(shown_text(each), terms)),
                rank=at,
            )
            for at, each in enumerate(order, start=1)
        ]
        return schema.FulltextOutput(results=results, total_found=total)

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
                filepath=page.filepath,
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
                    filepath=page.filepath,
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
        found = self._staleness(pages)
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
            nearest = _nearest([each.filepath for each in graph.pages.values()], named)
            raise NotFound(
                f"Page not found: {named[:200]}",
                f"ページが見つかりません: {named[:200]}",
                hint="近い名前 Nearest: " + ", ".join(nearest) if nearest else None,
                details={"nearest": nearest},
            )
        return page

    def _by_page(self, graph: Graph, near: Hits | None, worded: Hits) -> dict[str, _Found]:
        found: dict[str, _Found] = defaultdict(_Found)
        highest = float(worded.scores[0]) if len(worded) else 1.0
        for key, score in near.by_key().items() if near is not None else ():
            if (owner := self.site.owner(key)) in graph.pages:
                found[owner].near[key] = score
        for key, score in worded.by_key().items():
            if (owner := self.site.owner(key)) in graph.pages:
                found[owner].worded[key] = score / highest
        return dict(found)

    def _complete(self, found: Mapping[str, _Found], embedder: Embedder, vectors: Vectors) -> None:
        """The similarity of the sections of pages that words or links brought in."""
        missing = [
            key for page_id, each in found.items() if not each.near for key in self.site.sections(page_id)
        ]
        if not missing:
            return
        scores = self.site.space.similarity(embedder.name, vectors[:1], missing).score
        for key, score in zip(missing, scores.tolist(), strict=True):
            owner = self.site.owner(key)
            if owner and owner in found and not np.isnan(score):
                found[owner].near[key] = score

    def _every_section(self, doc_type: str | None) -> Hits:
        with self.site.graph() as graph:
            pages = [page.id for page in graph.pages.values() if doc_type in (None, page.doc_type)]
            keys = [key for page_id in pages for key in self.site.sections(page_id)]
        return Hits(keys, np.zeros(len(keys)))

    def _checked(self, hits: Hits, terms: list[str]) -> Hits:
        """Those that hold the keywords with the signs in them, of which the index knows nothing."""
        texts = self._folded
        if len(texts) > _REMEMBERED:
            texts.clear()
        missing = [key for key in hits.keys.tolist() if key not in texts]
        with self.site.database.read() as connection:
            texts.update((each.id, fold(shown_text(each))) for each in passages_by_id(connection, missing))
        kept = [all(term in texts.get(key, "") for term in terms) for key in hits.keys.tolist()]
        return Hits(hits.keys[kept], hits.scores[kept])

    def _in_order(self, hits: Hits, limit: int) -> list[int]:
        """The best; of equals the first by path and place, whatever order they were indexed in."""
        scores = np.round(hits.scores, 6)
        near = hits.keys[scores >= scores[min(limit, len(hits)) - 1]].tolist() if len(hits) else []
        with self.site.graph() as graph:
            paths = {
                key: graph.pages[owner].filepath
                for key in near
                if (owner := self.site.owner(key)) in graph.pages
            }
        worth = dict(zip(hits.keys.tolist(), scores.tolist(), strict=True))
        # The sections of a page are numbered as they stand in it.
        return sorted(paths, key=lambda key: (-worth[key], paths[key], key))[:limit]

    def _linked(self, graph: Graph, page: StoredPage, asked: schema.SearchInput) -> list[schema.LinkedPage]:
        strongest: dict[str, str] = {}
        edges = [(edge.target, edge.link_type) for edge in graph.outlinks(page.id)]
        edges += [(edge.source, edge.link_type) for edge in graph.backlinks(page.id)]
        for other, link_type in edges:
            if asked.link_types is not None and link_type not in asked.link_types:
                continue
            if other not in strongest or LINK_WEIGHTS[link_type] > LINK_WEIGHTS[strongest[other]]:
                strongest[other] = link_type
        first = list(strongest)[:_LINKED]
        summaries = self._summaries(first)
        return [
            schema.LinkedPage(
                doc_id=other,
                filepath=graph.pages[other].filepath,
                title=visible(graph.pages[other].title),
                link_type=strongest[other],  # type: ignore[arg-type]
                summary=summaries.get(other, ""),
            )
            for other in first
        ]

    def _summaries(self, page_ids: Sequence[str]) -> dict[str, str]:
        """The first characters of each page's body."""
        with self.site.database.read() as connection:
            first = beginnings(connection, page_ids, SUMMARY * 2)
        return {page_id: visible(text).strip()[:SUMMARY] for page_id, text in first.items()}

    def _staleness(self, pages: Sequence[StoredPage]) -> dict[str, Staleness]:
        with self.site.database.read() as connection:
            sources = sources_of(connection, [page.id for page in pages])
        return {
            page.id: self.site.sources.check(page.filepath, page.mtime_ns, sources.get(page.id, ()))
            for page in pages
        }


def _given(**values: Any) -> Any:
    """Those that have a value: an answer has no keys that say nothing."""
    return {name: value for name, value in values.items() if value is not None}


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


def _score(
    weights: Weights, found: _Found, hops: Mapping[str, int], page_id: str, near: Hits | None
) -> Score:
    text = max(found.worded.values(), default=0.0)
    if near is None:
        # Without vectors words decide alone, and a link is better than nothing.
        graph = proximity(hops, page_id)
        return Score(0.0, graph, text, text if text else weights.graph * graph * 0.5)
    return scored(weights, similarity(list(found.near.values())), proximity(hops, page_id), text)


def _contenders(
    weights: Weights, found: Mapping[str, _Found], hops: Mapping[str, int], near: Hits, limit: int
) -> list[str]:
    """The linked pages that could still be among the best: none of their sections is nearer than the last one found."""
    scores = sorted(
        (_score(weights, each, hops, page_id, near).total for page_id, each in found.items()), reverse=True
    )
    least = scores[limit - 1] if len(scores) >= limit else 0.0
    nearest = float(near.scores[-1]) if len(near) else 1.0
    return [
        page_id
        for page_id in hops
        if page_id not in found
        and weights.vector * nearest + weights.graph * proximity(hops, page_id) >= least
    ]


def _is_tie(hits: Hits, limit: int) -> bool:
    """Whether the last one found is as good as the last one to be shown."""
    return bool(np.round(hits.scores[-1], 6) == np.round(hits.scores[min(limit, len(hits)) - 1], 6))


def _best_sections(found: _Found) -> list[int]:
    """The sections to show of a page: the nearest, or where there are no vectors those with the words."""
    scores = found.near or found.worded
    return sorted(scores, key=lambda key: (-scores[key], key))[:_SECTIONS]


def _section(passage: StoredPassage, found: _Found) -> schema.MatchedSection:
    text = visible(passage.text.strip("\r\n"))
    return schema.MatchedSection(
        section_id=str(passage.id),
        heading=_heading(passage),
        content=text if len(text) <= _LONGEST_CONTENT else text[:_LONGEST_CONTENT] + "…",
        score=round((found.near or found.worded).get(passage.id, 0.0), 4),
    )


def _heading(passage: StoredPassage) -> str | None:
    return visible(passage.heading_path[-1]) if passage.heading_path else None


def _link(graph: Graph, other: str, edge: Edge) -> schema.PageLink:
    page = graph.pages[other]
    return schema.PageLink(
        doc_id=page.id,
        filepath=page.filepath,
        title=visible(page.title),
        link_type=edge.link_type,  # type: ignore[arg-type]
    )


def _nearest_seed(graph: Graph, page_id: str, seeds: set[str], hops: Mapping[str, int]) -> str | None:
    """A page found by itself that a page found through links hangs on."""
    if not hops.get(page_id):
        return None
    around = graph.distances([page_id], hops[page_id])
    found = [graph.pages[each] for each in around if each in seeds]
    return min(found, key=lambda page: (around[page.id], page.filepath)).title if found else None


def _reason(score: Score, sections: Sequence[StoredPassage], hops: int | None, seed: str | None) -> str:
    """In words, which parts counted and why."""
    ja, en = [], []
    heading = _heading(sections[0]) if sections else None
    if score.vector > 0:
        where = f"節「{heading}」が" if heading else "本文が"
        ja.append(f"{where}質問と意味で近い（{score.vector:.2f}）")
        en.append(f"close in meaning ({score.vector:.2f})" + (f", section “{heading}”" if heading else ""))
    if score.text > 0:
        ja.append(f"質問の語を含む（{score.text:.2f}）")
        en.append(f"holds the words ({score.text:.2f})")
    if hops == 0:
        ja.append("検索で直接見つかったページ")
        en.append("found directly")
    elif hops and seed:
        ja.append(f"「{visible(seed)}」から{hops}リンク")
        en.append(f"{hops} link{'s' if hops > 1 else ''} from “{visible(seed)}”")
    return "、".join(ja) + "。 " + "; ".join(en) + "."
