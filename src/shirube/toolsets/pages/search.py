"""The search for pages: vectors and words → pages → links → scores → staleness."""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from shirube.index.contract import Hits, Vectors
from shirube.models.contract import Embedder
from shirube.operations import given
from shirube.query.filters import Filters
from shirube.retrieval.pipeline import embedded_query
from shirube.store.pages import StoredPage
from shirube.store.passages import StoredPassage, passages_by_id
from shirube.text.invisible import visible
from shirube.text.questions import subject
from shirube.toolsets.pages import schema
from shirube.toolsets.pages.feed import WEIGHTS, heading_of
from shirube.toolsets.pages.graph import WEIGHTS as LINK_WEIGHTS
from shirube.toolsets.pages.graph import Graph
from shirube.toolsets.pages.scoring import Score, Weights, proximity, scored, similarity
from shirube.toolsets.pages.site import Site

log = logging.getLogger(__name__)

_VECTOR_LIMIT = 200
_TEXT_LIMIT = 200
_SECTIONS = 3
_LINKED = 10
# A section may be a table of a hundred thousand characters: get_page shows it whole.
_LONGEST_CONTENT = 2000

EmbedderInUse = Callable[[], Embedder | None]


@dataclass
class _Found:
    """What was found of a page: its sections with their scores, by meaning and by words."""

    near: dict[int, float] = field(default_factory=dict)
    worded: dict[int, float] = field(default_factory=dict)


class PageSearch:
    def __init__(self, site: Site, embedder: EmbedderInUse) -> None:
        self.site = site
        self._embedder = embedder
        self._beside = ThreadPoolExecutor(2, "pages")

    def search(self, query: str, asked: schema.SearchInput) -> schema.SearchOutput:
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
        stale = site.staleness(shown)
        results = []
        for page in shown:
            score, each = scores[page.id], found[page.id]
            sections = [texts[key] for key in chosen[page.id] if key in texts]
            results.append(
                schema.SearchResult(
                    doc_id=page.id,
                    filepath=visible(page.filepath),
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
                    **given(linked_pages=linked.get(page.id)),
                )
            )
        return schema.SearchOutput(
            results=results,
            total_found=total,
            search_type="fulltext_fallback" if near is None else "hybrid",
            **given(warnings=warnings or None),
        )

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
        summaries = self.site.summaries(first)
        return [
            schema.LinkedPage(
                doc_id=other,
                filepath=visible(graph.pages[other].filepath),
                title=visible(graph.pages[other].title),
                link_type=strongest[other],  # type: ignore[arg-type]
                summary=summaries.get(other, ""),
            )
            for other in first
        ]


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


def _best_sections(found: _Found) -> list[int]:
    """The sections to show of a page: the nearest, or where there are no vectors those with the words."""
    scores = found.near or found.worded
    return sorted(scores, key=lambda key: (-scores[key], key))[:_SECTIONS]


def _section(passage: StoredPassage, found: _Found) -> schema.MatchedSection:
    text = visible(passage.text.strip("\r\n"))
    return schema.MatchedSection(
        section_id=str(passage.id),
        heading=heading_of(passage),
        content=text if len(text) <= _LONGEST_CONTENT else text[:_LONGEST_CONTENT] + "…",
        score=round((found.near or found.worded).get(passage.id, 0.0), 4),
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
    heading = heading_of(sections[0]) if sections else None
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
