"""Patents: lanes, their fusion, and what stands behind a ranking."""

import threading
import uuid
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from shirube.caller import Caller
from shirube.errors import NotFound, ShirubeError, Unavailable
from shirube.index.contract import Hits, Weight
from shirube.index.embedded.space import EmbeddedSpace
from shirube.ingest.embedding import embed_missing
from shirube.query.errors import FilterError, QuerySyntaxError
from shirube.query.filters import Filters, parse_filters
from shirube.query.parser import parse
from shirube.query.tree import Node
from shirube.store import patents as store
from shirube.store.patents import Publication
from shirube.store.runs import Run, get_run, save_run
from shirube.text.normalize import fold
from shirube.toolsets.patents import schema
from shirube.toolsets.patents.codes import fi_norm, normal_symbol
from shirube.toolsets.patents.errors import (
    InvalidParameter,
    RunNotFound,
    render_error,
    wrong_filter,
    wrong_query,
)
from shirube.toolsets.patents.feed import BODY, FILTERS, LAYOUT, SCOPE_LAYOUT, SCOPES, PublicationFeed
from shirube.toolsets.patents.fusion import (
    REPRESENTATIVE,
    Board,
    Evidence,
    Lane,
    Params,
    Ranking,
    code_match,
    facet_match,
    frontier,
    logical_name,
)
from shirube.toolsets.patents.matching import folded, holds, is_exact, sought
from shirube.toolsets.patents.metrics import TOP, Metrics, structural_metrics
from shirube.toolsets.patents.numbers import read_number
from shirube.toolsets.patents.shelf import Fact, Shelf
from shirube.toolsets.patents.snippets import given_snippets, metadata, peeked
from shirube.workspace import Workspace

SORTS = ("score", "date_desc", "date_asc", "pub_id")
FUSION = "fusion"
# What is told of a fusion by its first documents.
_TOLD = 100
_LANES_AT_ONCE = 4
_REMEMBERED = 32


@dataclass(frozen=True)
class Fusion:
    """A fusion with everything that another one of the same lanes needs."""

    board: Board
    params: Params


class PatentsService:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._guard = threading.Lock()
        self._shelves: dict[str, Shelf] = {}
        self._fusions: OrderedDict[str, Fusion] = OrderedDict()

    # What there is

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

    def prepare(self, tenant: str) -> None:
        """In the background of a server: let the index catch up, then vectors; nothing where there is nothing."""
        with self._workspace.database.read() as connection:
            there = store.count(connection, tenant)
        if there:
            self.catch_up(tenant)
            self.embed(tenant)

    # Lanes

    def fulltext(
        self, caller: Caller, asked: schema.FulltextInput, lane_name: str = "fulltext"
    ) -> schema.RunHandle:
        _check_top_k(asked.top_k)
        sort = asked.sort or "score"
        if sort not in SORTS:
            raise _invalid("sort", f"one of {', '.join(SORTS)}", f"{'・'.join(SORTS)} のどれか")
        try:
            node = parse(asked.query)
        except QuerySyntaxError as error:
            raise wrong_query(error) from None
        filters = _filters(asked.filters)
        boosts = {**schema.DEFAULT_BOOSTS, **(asked.field_boosts or {})}
        hits, count = self._found(caller, node, filters, boosts, asked.top_k, sort)
        meta = {"query": asked.query, "filters": asked.filters, "field_boosts": boosts}
        recipe = {
            "lane": "fulltext",
            "lane_name": lane_name,
            "sort": sort,
            "top_k": asked.top_k,
            "terms": sought(folded(node)),
            **meta,
        }
        return self._handle(caller, "fulltext", recipe, hits, count, asked.top_k, meta)

    def _found(
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
        weights = {str(name): Weight(0.0, boost) for name, boost in boosts.items()}
        exact = is_exact(node)
        limit = top_k if exact and sort == "score" else max(space.count(), 1)
        hits, count = space.find(node, weights, filters, limit)
        keys = [int(key) for key in hits.keys]
        facts = shelf.by_key(keys)
        scored = list(zip(keys, hits.scores.tolist(), strict=True))
        if not exact:
            scored = [(key, score) for key, score in scored if key in facts and holds(node, facts[key].texts)]
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

    def semantic(
        self, caller: Caller, asked: schema.SemanticInput, lane_name: str = "semantic", lane: str = "semantic"
    ) -> schema.RunHandle:
        _check_top_k(asked.top_k)
        if asked.feature_scope not in SCOPES:
            raise _invalid("feature_scope", f"one of {', '.join(SCOPES)}", f"{'・'.join(SCOPES)} のどれか")
        if not asked.text.strip():
            raise _invalid("text", "something to look for", "探す文章")
        filters = _filters(asked.filters)
        embedder = self._workspace.embedder
        if embedder is None:
            raise Unavailable(
                "There is no embedder", "ベクトルのモデルがありません。", hint="SHIRUBE_EMBEDDER"
            )
        space = self.scope_space(caller.tenant, asked.feature_scope)
        if not space.has_vectors(embedder.name) and self.space(caller.tenant).count():
            raise Unavailable(
                "The vectors of this scope are not there yet",
                "この範囲のベクトルがまだありません。",
                hint="shirube patents import で作るか、サーバーが作り終えるのを待ってください。 They are being made.",
            )
        hits: Hits = space.search_vectors(
            embedder.name, embedder.embed_query(asked.text), filters, asked.top_k
        )
        facts = self.shelf(caller.tenant).by_key([int(key) for key in hits.keys])
        found = [(facts[hit.key].doc_id, hit.score) for hit in hits if hit.key in facts]
        meta = {"text": asked.text, "filters": asked.filters, "feature_scope": asked.feature_scope}
        recipe = {"lane": lane, "lane_name": lane_name, "top_k": asked.top_k, **meta}
        return self._handle(caller, lane, recipe, found, len(found), asked.top_k, meta)

    def multilane(self, caller: Caller, asked: schema.MultilaneInput) -> schema.RunHandles:
        """All lanes at the same time; one that fails says so and stops no other."""
        with ThreadPoolExecutor(min(_LANES_AT_ONCE, len(asked.lanes)), "lane") as pool:
            handles = list(pool.map(lambda lane: self._lane(caller, lane), asked.lanes))
        return schema.RunHandles(handles)

    def _lane(self, caller: Caller, config: schema.LaneConfig) -> schema.RunHandle:
        given = config.model_dump(exclude_unset=True)
        try:
            return self._run_lane(caller, config, given)
        except ShirubeError as error:
            lane = "fulltext" if config.query is not None else "semantic"
            return schema.RunHandle(
                run_id="",
                lane=lane,
                run_id_lane="",
                hit_count=0,
                top_k=config.top_k,
                meta={"lane_name": config.lane_name},
                status="error",
                error=render_error(error)["error"],
            )

    def _run_lane(
        self, caller: Caller, config: schema.LaneConfig, given: Mapping[str, Any]
    ) -> schema.RunHandle:
        if (config.query is None) == (config.text is None):
            raise _invalid("lanes", "either query or text in each", "query か text のどちらか一方")
        kept = {name: value for name, value in given.items() if name != "lane_name"}
        if config.query is not None:
            kept.pop("feature_scope", None)
            return self.fulltext(caller, schema.FulltextInput.model_validate(kept), config.lane_name)
        for name in ("field_boosts", "sort"):
            kept.pop(name, None)
        lane = "original_dense" if config.lane_name == "original_dense" else "semantic"
        return self.semantic(caller, schema.SemanticInput.model_validate(kept), config.lane_name, lane)

    def _handle(
        self,
        caller: Caller,
        lane: str,
        recipe: Mapping[str, Any],
        found: Sequence[tuple[str, float]],
        count: int,
        top_k: int,
        meta: Mapping[str, Any],
    ) -> schema.RunHandle:
        run_id = self._save(caller, lane, recipe, ([each[0] for each in found], [each[1] for each in found]))
        return schema.RunHandle(
            run_id=run_id, lane=lane, run_id_lane=run_id, hit_count=count, top_k=top_k, meta=dict(meta)
        )

    # Fusion

    def blend(self, caller: Caller, asked: schema.BlendInput) -> schema.FusionResult:
        lane_runs = [self._lane_run(caller, each.run_id_lane) for each in asked.runs]
        lanes = tuple(map(_fused_lane, lane_runs, asked.runs))
        params = Params().with_delta(asked.model_dump(exclude={"runs", "target_profile"}, exclude_none=True))
        lineage = [each.run_id_lane for each in asked.runs]
        evidence = self._evidence(caller, lanes, asked, lineage)
        terms = dict.fromkeys(term for run in lane_runs for term in run.recipe.get("terms", ()))
        recipe = {**asked.model_dump(exclude_unset=True), "terms": list(terms)}
        return self._fusion(caller, Fusion(Board(lanes, evidence), params), recipe, None, asked.limit)

    def _lane_run(self, caller: Caller, run_id: str) -> Run:
        run = self._run(caller, run_id)
        if run.kind == FUSION:
            raise _invalid("run_id_lane", "the run of a lane", "レーンの run")
        return run

    def _evidence(
        self, caller: Caller, lanes: Sequence[Lane], asked: schema.BlendInput, lineage: Sequence[str]
    ) -> dict[str, Evidence]:
        profile = asked.target_profile
        wanted = {
            **{("fi", fi_norm(code)): weight for code, weight in profile.fi.items()},
            **{("ft", normal_symbol(code)): weight for code, weight in profile.ft.items()},
        }
        exactly = dict(asked.target_profile.fi)
        terms = {
            name: [fold(word) for word in words if word] for name, words in (asked.facet_terms or {}).items()
        }
        with self._workspace.database.read() as connection:
            categories = store.registered(connection, caller, lineage)
        ids = list(dict.fromkeys(doc for lane in lanes for doc in lane.docs))
        found = {}
        for doc_id, fact in self.shelf(caller.tenant).by_id(caller, ids).items():
            found[doc_id] = Evidence(
                code_match(wanted, fact.codes),
                code_match(exactly, fact.fi_full),
                facet_match(terms, asked.facet_weights or {}, fact.front) if terms else 0.0,
                REPRESENTATIVE.get(categories.get(doc_id, ""), 0.0),
            )
        return found

    def mutate(self, caller: Caller, asked: schema.MutateInput) -> schema.FusionResult:
        base = self._run(caller, asked.base_run_id)
        if base.kind != FUSION:
            raise _invalid("base_run_id", "the run of a fusion", "融合の run")
        before = self._fusion_of(caller, base)
        delta = asked.mutate_delta.model_dump(exclude_none=True)
        made = Fusion(before.board, before.params.with_delta(delta))
        return self._fusion(caller, made, {**base.recipe, "mutate_delta": delta}, base, asked.limit)

    def _fusion_of(self, caller: Caller, run: Run) -> Fusion:
        """A fusion as it was made: remembered, or from its run."""
        with self._guard:
            if run.id in self._fusions:
                self._fusions.move_to_end(run.id)
                return self._fusions[run.id]
        runs = [schema.BlendRunInput.model_validate(each) for each in run.recipe["runs"]]
        lanes = tuple(_fused_lane(self._lane_run(caller, each.run_id_lane), each) for each in runs)
        history = run.recipe["history"]
        first = self._run(caller, history[0]) if history else run
        evidence = {doc_id: Evidence(*values) for doc_id, values in first.stages[0]["evidence"].items()}
        return Fusion(Board(lanes, evidence), Params(**run.stages[0]["params"]))

    def _fusion(
        self, caller: Caller, fusion: Fusion, recipe: Mapping[str, Any], parent: Run | None, limit: int
    ) -> schema.FusionResult:
        board, ranking = fusion.board, fusion.board.rank(fusion.params)
        facts = self.shelf(caller.tenant).by_id(caller, ranking.ids(max(limit, TOP)))
        metrics = _metrics(ranking, facts)
        history = [*(parent.recipe.get("history", []) if parent else []), *([parent.id] if parent else [])]
        kept: dict[str, Any] = {
            "params": asdict(fusion.params),
            "metrics": asdict(metrics),
            "contributions": ranking.contributions(_TOLD),
        }
        if parent is None:  # what is known of the publications stays the same however often it is tuned
            kept["evidence"] = board.known()
        found = ranking.ids(), ranking.scores[ranking.order].tolist()
        run_id = self._save(
            caller, FUSION, {**recipe, "history": history}, found, [kept], parent.id if parent else None
        )
        with self._guard:
            self._fusions[run_id] = fusion
            while len(self._fusions) > _REMEMBERED:
                self._fusions.popitem(last=False)
        shown = ranking.fused(limit)
        labels = _lane_labels(board.lanes)
        return schema.FusionResult(
            run_id=run_id,
            total_docs=len(ranking),
            ranked_docs=[
                schema.RankedDoc(
                    rank=rank,
                    doc_id=each.doc_id,
                    pub_id=facts[each.doc_id].pub_id if each.doc_id in facts else each.doc_id,
                    score=each.score,
                    rrf=each.rrf,
                    pi=each.pi,
                    lanes={labels[at]: place for at, place in each.ranks.items()},
                )
                for rank, each in enumerate(shown, start=1)
            ],
            metrics=schema.StructuralMetrics(**asdict(metrics)),
            params=asdict(fusion.params),
            frontier=[
                schema.FrontierPoint(**asdict(point))
                for point in frontier(ranking.pi[ranking.order].tolist())
            ],
        )

    # What stands behind it

    def provenance(self, caller: Caller, asked: schema.ProvenanceInput) -> schema.Provenance:
        run = self._run(caller, asked.run_id)
        is_fusion = run.kind == FUSION
        ids = _docs(run)[:_TOLD] if is_fusion else _docs(run)
        facts = self.shelf(caller.tenant).by_id(caller, ids)
        told: dict[str, Any] = {
            "run_id": run.id,
            "code_freqs": schema.CodeFreqs(
                fi=_counted(facts[each].fi_norm for each in ids if each in facts),
                ft=_counted(facts[each].ft for each in ids if each in facts),
            ),
            "lane_contributions": run.stages[0]["contributions"] if is_fusion else None,
            "metrics": schema.StructuralMetrics(**run.stages[0]["metrics"]) if is_fusion else None,
            "recipe": {name: value for name, value in run.recipe.items() if name not in ("history", "terms")},
            "parent": run.parent,
            "history": run.recipe.get("history", []),
        }
        return schema.Provenance(**told)

    def peek(self, caller: Caller, asked: schema.PeekInput) -> schema.Snippets:
        run = self._run(caller, asked.run_id)
        return peeked(run, asked, lambda ids: self._publications(caller, ids))

    def snippets(self, caller: Caller, asked: schema.SnippetsInput) -> schema.GivenSnippets:
        found = {each: self._resolved(caller, each) for each in dict.fromkeys(asked.ids)}
        return given_snippets(found, asked)

    def publication(self, caller: Caller, asked: schema.PublicationInput) -> schema.Publication:
        found = self._resolved(caller, asked.id, asked.id_type)
        if found is None:
            raise NotFound(
                f"No publication has the number {asked.id}",
                f"番号 {asked.id} の公報はありません。",
                hint="特願2023-123456、特開2023-123456、特許第7123456号、JP2023-123456A などの形で指定してください。",
            )
        wanted = asked.fields or ["title", "abst", "claim", "desc"]
        caps = asked.per_field_chars or {}
        texts = {name: found.record[name][: caps.get(name)] for name in wanted}
        return schema.Publication(
            pub_id=found.record["pub_id"] or found.doc_id,
            app_id=found.record["app_id"],
            metadata=metadata(found),
            **texts,
        )

    def register(self, caller: Caller, asked: schema.RepresentativesInput) -> schema.Registered:
        lineage = ""
        if asked.run_id is not None:
            lineage = self._run(caller, asked.run_id).id
        found = {each: self._resolved(caller, each) for each in dict.fromkeys(asked.pub_ids)}
        known = [each.doc_id for each in found.values() if each is not None]
        with self._workspace.database.write() as connection:
            store.register(connection, caller, known, asked.category, lineage)
        return schema.Registered(
            registered_count=len(set(known)),
            category=asked.category,
            not_found=[name for name, each in found.items() if each is None],
        )

    def ids(self, caller: Caller, run_id: str) -> schema.Ids:
        """Of a run the publications' numbers alone."""
        docs = _docs(self._run(caller, run_id))
        facts = self.shelf(caller.tenant).by_id(caller, docs)
        return schema.Ids([facts[each].pub_id for each in docs if each in facts])

    def _publications(self, caller: Caller, ids: Sequence[str]) -> dict[str, Publication]:
        with self._workspace.database.read() as connection:
            return store.by_doc_id(connection, caller, ids)

    def _resolved(self, caller: Caller, written: str, id_type: str | None = None) -> Publication | None:
        """The publication of a number: what is written decides, then what it is said to be."""
        number = read_number(written)
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

    # Runs

    def _run(self, caller: Caller, run_id: str) -> Run:
        try:
            with self._workspace.database.read() as connection:
                run = get_run(connection, caller, run_id)
        except NotFound:
            raise RunNotFound from None
        if run.kind not in ("fulltext", "semantic", "original_dense", FUSION):
            raise RunNotFound
        return run

    def _save(
        self,
        caller: Caller,
        kind: str,
        recipe: Mapping[str, Any],
        found: tuple[Sequence[str], Sequence[float]],
        stages: Sequence[Mapping[str, Any]] = (),
        parent: str | None = None,
    ) -> str:
        run_id = f"{kind}-{uuid.uuid4().hex[:12]}"
        ids, scores = found
        results = [{"ids": list(ids), "scores": list(scores)}]
        with self._workspace.database.write() as connection:
            save_run(connection, caller, Run(run_id, kind, recipe, list(stages), results, parent))
        return run_id


def _fused_lane(run: Run, given: schema.BlendRunInput) -> Lane:
    return Lane(given.lane, logical_name(str(run.recipe["lane_name"])), given.weight, tuple(_docs(run)))


def _docs(run: Run) -> list[str]:
    """The publications of a run in order."""
    ids: list[str] = run.results[0]["ids"]
    return ids


def _folder(tenant: str) -> str:
    """A name for the tenant's folder: as it is where that is plain, else a number made of it."""
    return tenant if tenant.isascii() and tenant.isalnum() else uuid.uuid5(uuid.NAMESPACE_URL, tenant).hex


def _filters(entries: Sequence[Mapping[str, Any]]) -> Filters:
    try:
        return parse_filters(list(entries), FILTERS)
    except FilterError as error:
        raise wrong_filter(error) from None


def _check_top_k(top_k: int) -> None:
    if not 1 <= top_k <= schema.MOST_TOP_K:
        raise _invalid("top_k", f"from 1 to {schema.MOST_TOP_K}", f"1〜{schema.MOST_TOP_K}")


def _invalid(name: str, expected: str, ja: str) -> InvalidParameter:
    return InvalidParameter(
        f"{name} must be {expected}", f"{name} は {ja} にしてください。", details={"parameter": name}
    )


def _counted(codes: Any) -> dict[str, int]:
    counts = Counter(code for of_doc in codes for code in of_doc)
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _metrics(ranking: Ranking, facts: Mapping[str, Fact]) -> Metrics:
    codes = [facts[doc_id].fi_norm for doc_id in ranking.ids(TOP) if doc_id in facts]
    lanes = [lane.docs for lane in ranking.board.lanes]
    return structural_metrics(lanes, codes, ranking.scores[ranking.order[:TOP]].tolist())


def _lane_labels(lanes: Sequence[Lane]) -> list[str]:
    """The logical names, with a number where several have one."""
    names = [lane.name for lane in lanes]
    return [
        name if names.count(name) == 1 else f"{name}#{names[: at + 1].count(name)}"
        for at, name in enumerate(names)
    ]
