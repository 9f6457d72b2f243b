"""Full text: sections that hold keywords letter by letter."""

import numpy as np

from shirube.errors import InvalidInput
from shirube.index.contract import Hits, Holding
from shirube.query.filters import Condition, Filters
from shirube.query.values import Exact
from shirube.store.passages import passages_by_id
from shirube.text.invisible import visible
from shirube.text.normalize import fold
from shirube.toolsets.pages import schema
from shirube.toolsets.pages.feed import SHOWN, heading_of, shown_text
from shirube.toolsets.pages.site import Site
from shirube.toolsets.pages.snippets import keywords, needs_check, snippet

# So many are found at first; more only where they are all as good as the last one to be shown.
_TIES = 1000
# Sections whose text is kept at hand once a keyword with signs was looked for in them, a kilobyte each.
_REMEMBERED = 100_000


class KeywordSearch:
    def __init__(self, site: Site) -> None:
        self.site = site
        self._folded: dict[int, str] = {}

    def search(self, query: str, asked: schema.FulltextInput) -> schema.FulltextOutput:
        terms = keywords(query)
        if not terms:
            raise InvalidInput("query must not be empty", "query が空です。探す語を入れてください。")
        space = self.site.space
        if not space.refresh():
            space.catch_up_soon()
        filters = (
            Filters(all_of=(Condition("doc_type", "=", (Exact(asked.doc_type),)),))
            if asked.doc_type
            else Filters()
        )
        known = {term: self.site.words_holding(term) for term in terms if term.isascii() and term.isalnum()}
        holding = Holding(tuple(terms), {term: words for term, words in known.items() if words is not None})
        checked = any(map(needs_check, terms))
        try:
            hits, total = space.find(holding, SHOWN, filters, space.count() if checked else _TIES)
            # Which of many equals to show is not for the order they were indexed in to decide.
            if len(hits) < total and _is_tie(hits, asked.limit):
                hits, total = space.find(holding, SHOWN, filters, total)
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
                filepath=visible(each.source),
                title=visible(each.document_title),
                section_heading=heading_of(each),
                snippet=visible(snippet(shown_text(each), terms)),
                rank=at,
            )
            for at, each in enumerate(order, start=1)
        ]
        return schema.FulltextOutput(results=results, total_found=total)

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


def _is_tie(hits: Hits, limit: int) -> bool:
    """Whether the last one found is as good as the last one to be shown."""
    return bool(np.round(hits.scores[-1], 6) == np.round(hits.scores[min(limit, len(hits)) - 1], 6))
