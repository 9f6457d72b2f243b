"""What there is of a tenant's publications: their indexes, their facts at hand, and finding them."""

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence

from shirube.caller import Caller
from shirube.cancelling import go_on
from shirube.errors import Unavailable
from shirube.index.contract import Weight
from shirube.index.embedded.space import EmbeddedSpace
from shirube.ingest.embedding import embed_missing
from shirube.query.filters import Filters
from shirube.query.tree import Node, has_letters_only
from shirube.store import patents as store
from shirube.store.patents import Publication
from shirube.toolsets.patents import schema
from shirube.toolsets.patents.codes import normal_symbol
from shirube.toolsets.patents.feed import BODY, LAYOUT, SCOPE_LAYOUT, SCOPES, PublicationFeed
from shirube.toolsets.patents.matching import folded, holds
from shirube.toolsets.patents.numbers import read_number
from shirube.toolsets.patents.shelf import Shelf
from shirube.workspace import Workspace

# What the words of a query count, in whatever form a text writes them, beside its characters.
WORDS = 1.0


class Library:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._guard = threading.Lock()
        self._shelves: dict[str, Shelf] = {}

    def space(self, tenant: str) -> EmbeddedSpace:
        feed = PublicationFeed(self._workspace.database, tenant)
        return self._workspace.space(f"patents-{_folder(tenant)}", LAYOUT, feed)

    def scope_space(self, tenant: str, scope: str) -> EmbeddedSpace:
        feed = PublicationFeed(self._workspace.database, tenant, scope)
        return self._workspace.space(f"patents-{_folder(tenant)}-{scope}", SCOPE_LAYOUT, feed)

    def shelf(self, tenant: str) -> Shelf:
        with self._guard:
            return self._shelves.setdefault(tenant, Shelf(self._workspace.database, tenant))

    def catch_up(self, tenant: str, progress: Callable[[int, int], None] | None = None) -> None:
        self.space(tenant).catch_up(progress)

    def embed(self, tenant: str, progress: Callable[[int, int], None] | None = None) -> int:
        """Give every publication a vector for each scope that it has a text for."""
        embedder = self._workspace.embedder
        if embedder is None:
            return 0
        return sum(
            embed_missing(self.scope_space(tenant, scope), embedder, BODY, None, progress) for scope in SCOPES
        )

    def complete(self) -> None:
        """In the background of a server: let the index of each tenant catch up, then its vectors."""
        with self._workspace.database.read() as connection:
            found = store.tenants(connection)
        for tenant in found:
            self.catch_up(tenant)
            self.embed(tenant)

    def found(
        self,
        caller: Caller,
        node: Node,
        filters: Filters,
        boosts: Mapping[schema.FieldName, float],
        top_k: int,
        sort: str,
    ) -> tuple[list[tuple[str, float]], int]:
        """The first publications in order with their scores, and how many there are in all."""
        node = folded(node)
        space, shelf = self.space(caller.tenant), self.shelf(caller.tenant)
        if not space.refresh():
            space.catch_up_soon()
        weights = {str(name): Weight(WORDS * boost, boost) for name, boost in boosts.items()}
        exact = has_letters_only(node)  # else the index gives all that may be meant
        limit = top_k if exact and sort == "score" else max(space.count(), 1)
        hits, count = space.find(node, weights, filters, limit)
        keys = [int(key) for key in hits.keys]
        facts = shelf.by_key(keys)
        scored = list(zip(keys, hits.scores.tolist(), strict=True))
        if not exact:
            scored = [
                (key, score) for key, score in scored if key in facts and _holds(node, facts[key].texts)
            ]
            count = len(scored)
        found = [(facts[key], score) for key, score in scored if key in facts]
        match sort:
            case "date_desc":
                found.sort(key=lambda each: each[0].doc_id)
                found.sort(key=lambda each: each[0].date, reverse=True)
            case "date_asc":
                found.sort(key=lambda each: (each[0].date or "9999", each[0].doc_id))
            case "pub_id":
                found.sort(key=lambda each: each[0].pub_id)
            case _:
                found.sort(key=lambda each: (-each[1], each[0].doc_id))
        return [(fact.doc_id, score) for fact, score in found[:top_k]], count

    def nearest(
        self, caller: Caller, text: str, scope: str, filters: Filters, top_k: int
    ) -> list[tuple[str, float]]:
        """The publications nearest to a text in meaning, by what a scope looks at."""
        embedder = self._workspace.embedder
        if embedder is None:
            raise Unavailable(
                "There is no embedder", "ベクトルのモデルがありません。", hint="SHIRUBE_EMBEDDER"
            )
        space = self.scope_space(caller.tenant, scope)
        if not space.has_vectors(embedder.name) and space.missing_vectors(embedder.name):
            raise Unavailable(
                "The vectors of this scope are not there yet",
                "この範囲のベクトルがまだありません。",
                hint="shirube patents import で作るか、サーバーが作り終えるのを待ってください。 They are being made.",
            )
        hits = space.search_vectors(embedder.name, embedder.embed_query(text), filters, top_k)
        facts = self.shelf(caller.tenant).by_key([int(key) for key in hits.keys])
        return [(facts[hit.key].doc_id, hit.score) for hit in hits if hit.key in facts]

    def publications(self, caller: Caller, ids: Sequence[str]) -> dict[str, Publication]:
        with self._workspace.database.read() as connection:
            return store.by_any_id(connection, caller.tenant, ids)

    def resolved(self, caller: Caller, written: str, id_type: str | None = None) -> Publication | None:
        """The publication of a number: what is written decides, then what it is said to be."""
        number = read_number(written, id_type)
        plain = normal_symbol(written)
        tries: list[tuple[str, str]] = [(number.kind, number.id)] if number else []
        kind = "app_doc_id" if id_type == "app_id" else id_type
        tries += [(kind, plain)] if kind and not number else []
        tries += (
            [(name, plain) for name in ("doc_id", "pub_id", "app_doc_id", "exam_id")] if not number else []
        )
        with self._workspace.database.read() as connection:
            found = (store.by_number(connection, caller, *each) for each in tries)
            return next((each for each in found if each is not None), None)


def _holds(node: Node, texts: Sequence[str]) -> bool:
    """`holds`, as long as somebody waits for it: there may be thousands to look at."""
    go_on()
    return holds(node, texts)


def _folder(tenant: str) -> str:
    """A name for the tenant's folder that no other tenant has, on any disk."""
    return uuid.uuid5(uuid.NAMESPACE_URL, tenant).hex
