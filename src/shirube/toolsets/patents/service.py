"""Patents: lanes, their fusion, and what stands behind a ranking."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from shirube.caller import Caller
from shirube.errors import Internal, NotFound, ShirubeError
from shirube.operations import invalid as invalid_input
from shirube.query.errors import FilterError, QuerySyntaxError
from shirube.query.filters import Filters, parse_filters
from shirube.query.parser import parse
from shirube.query.problems import MAX_NEARS, TOO_MANY_NEARS
from shirube.query.tree import Near, sought, walk
from shirube.store import patents as store
from shirube.toolsets.patents import schema
from shirube.toolsets.patents.errors import invalid, render_error, wrong_filter, wrong_query
from shirube.toolsets.patents.feed import FILTERS, SCOPES
from shirube.toolsets.patents.fusions import TOLD, Fusions
from shirube.toolsets.patents.library import Library
from shirube.toolsets.patents.matching import folded
from shirube.toolsets.patents.runs import FUSION, Runs, docs, lane_ids
from shirube.toolsets.patents.snippets import given_snippets, metadata, peeked
from shirube.workspace import Workspace

log = logging.getLogger(__name__)
# The scope of all texts, which is all that original_dense looks at.
WHOLE = "wide"
SORTS = ("score", "date_desc", "date_asc", "pub_id")
_LANES_AT_ONCE = 4


class PatentsService:
    def __init__(self, workspace: Workspace) -> None:
        self._database = workspace.database
        self.library = Library(workspace)
        self._runs = Runs(workspace.database)
        self._fusions = Fusions(workspace.database, self.library, self._runs)

    # Lanes

    def fulltext(
        self, caller: Caller, asked: schema.FulltextInput, lane_name: str = "fulltext"
    ) -> schema.RunHandle:
        _check_top_k(asked.top_k)
        sort = asked.sort or "score"
        if sort not in SORTS:
            raise invalid("sort", f"one of {', '.join(SORTS)}", f"{'・'.join(SORTS)} のどれか")
        try:
            node = parse(asked.query)
            nears = [each for each in walk(node) if isinstance(each, Near)]
            if len(nears) > MAX_NEARS:
                raise TOO_MANY_NEARS.at(nears[MAX_NEARS].span.start)
        except QuerySyntaxError as error:
            raise wrong_query(error) from None
        filters = _filters(asked.filters)
        boosts = {**schema.DEFAULT_BOOSTS, **(asked.field_boosts or {})}
        hits, count = self.library.found(caller, node, filters, boosts, asked.top_k, sort)
        meta = {"query": asked.query, "filters": asked.filters or [], "field_boosts": boosts}
        recipe = {
            "lane": "fulltext",
            "lane_name": lane_name,
            "sort": sort,
            "top_k": asked.top_k,
            "terms": sought(folded(node)),
            **meta,
        }
        return self._handle(caller, "fulltext", recipe, hits, count, asked.top_k, meta)

    def semantic(
        self, caller: Caller, asked: schema.SemanticInput, lane_name: str = "semantic", lane: str = "semantic"
    ) -> schema.RunHandle:
        _check_top_k(asked.top_k)
        if asked.feature_scope not in SCOPES:
            raise invalid("feature_scope", f"one of {', '.join(SCOPES)}", f"{'・'.join(SCOPES)} のどれか")
        if not asked.text.strip():
            raise invalid("text", "something to look for", "探す文章")
        filters = _filters(asked.filters)
        found = self.library.nearest(caller, asked.text, asked.feature_scope, filters, asked.top_k)
        meta = {"text": asked.text, "filters": asked.filters or [], "feature_scope": asked.feature_scope}
        recipe = {"lane": lane, "lane_name": lane_name, "top_k": asked.top_k, **meta}
        return self._handle(caller, lane, recipe, found, len(found), asked.top_k, meta)

    def multilane(self, caller: Caller, asked: schema.MultilaneInput) -> schema.RunHandles:
        """All lanes at the same time; one that fails says so and stops no other."""
        with ThreadPoolExecutor(min(_LANES_AT_ONCE, len(asked.lanes)), "lane") as pool:
            contexts = [copy_context() for _ in asked.lanes]
            handles = list(
                pool.map(lambda context, lane: context.run(self._lane, caller, lane), contexts, asked.lanes)
            )
        return schema.RunHandles(handles)

    def _lane(self, caller: Caller, config: schema.LaneConfig | schema.WrongLane) -> schema.RunHandle:
        if isinstance(config, schema.WrongLane):
            given = config.given if isinstance(config.given, dict) else {}
            name = given.get("lane_name")
            lane = "fulltext" if "query" in given else "semantic"
            return _failed(lane, name if isinstance(name, str) else "", 0, invalid_input(config.error))
        lane = "fulltext" if config.query is not None else _semantic_lane(config.lane_name)
        try:
            return self._run_lane(caller, config, config.model_dump(exclude_unset=True))
        except ShirubeError as error:
            return _failed(lane, config.lane_name, config.top_k, error)
        except Exception:
            log.exception("the lane %s failed", config.lane_name)
            return _failed(lane, config.lane_name, config.top_k, Internal())

    def _run_lane(
        self, caller: Caller, config: schema.LaneConfig, given: Mapping[str, Any]
    ) -> schema.RunHandle:
        if (config.query is None) == (config.text is None):
            raise invalid("lanes", "either query or text in each", "query か text のどちらか一方")
        _check_lane(config)
        kept = {name: value for name, value in given.items() if name != "lane_name" and value is not None}
        if config.query is not None:
            kept.pop("feature_scope", None)
            return self.fulltext(caller, schema.FulltextInput.model_validate(kept), config.lane_name)
        for name in ("field_boosts", "sort"):
            kept.pop(name, None)
        lane = _semantic_lane(config.lane_name)
        if lane == "original_dense":
            kept["feature_scope"] = WHOLE
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
        run_id = self._runs.save(
            caller, lane, recipe, ([each[0] for each in found], [each[1] for each in found])
        )
        return schema.RunHandle(
            run_id=run_id, lane=lane, run_id_lane=run_id, hit_count=count, top_k=top_k, meta=dict(meta)
        )

    # Fusion

    def blend(self, caller: Caller, asked: schema.BlendInput) -> schema.FusionResult:
        return self._fusions.blend(caller, asked)

    def mutate(self, caller: Caller, asked: schema.MutateInput) -> schema.FusionResult:
        return self._fusions.mutate(caller, asked)

    # What stands behind it

    def provenance(self, caller: Caller, asked: schema.ProvenanceInput) -> schema.Provenance:
        run = self._runs.get(caller, asked.run_id)
        is_fusion = run.kind == FUSION
        ids = docs(run)[:TOLD] if is_fusion else docs(run)
        facts = self.library.shelf(caller.tenant).by_id(ids)
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
        run = self._runs.get(caller, asked.run_id)
        return peeked(run, asked, lambda ids: self.library.publications(caller, ids))

    def snippets(self, caller: Caller, asked: schema.SnippetsInput) -> schema.GivenSnippets:
        found = {each: self.library.resolved(caller, each, "pub_id") for each in dict.fromkeys(asked.ids)}
        return given_snippets(found, asked)

    def publication(self, caller: Caller, asked: schema.PublicationInput) -> schema.Publication:
        found = self.library.resolved(caller, asked.id, asked.id_type)
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
        lineages = [""]
        if asked.run_id is not None:
            lineages = lane_ids(self._runs.get(caller, asked.run_id))
        found = {each: self.library.resolved(caller, each, "pub_id") for each in dict.fromkeys(asked.pub_ids)}
        known = list(dict.fromkeys(each.doc_id for each in found.values() if each is not None))
        with self._database.write() as connection:
            store.register(connection, caller, known, asked.category, lineages)
        return schema.Registered(
            registered_count=len(known),
            category=asked.category,
            not_found=[name for name, each in found.items() if each is None],
        )

    def ids(self, caller: Caller, run_id: str) -> schema.Ids:
        """Of a run the publications' numbers alone."""
        held = docs(self._runs.get(caller, run_id))
        facts = self.library.shelf(caller.tenant).by_id(held)
        return schema.Ids([facts[each].pub_id for each in held if each in facts])


def _check_lane(config: schema.LaneConfig) -> None:
    """A lane whose name says what it is has to be given what such a lane takes."""
    if config.query is not None and config.lane_name.startswith(("semantic", "original_dense")):
        raise invalid(
            "lanes", f"given text where it is called {config.lane_name}", "semantic レーンでは text"
        )
    if config.text is not None and config.lane_name.startswith("fulltext"):
        raise invalid(
            "lanes", f"given query where it is called {config.lane_name}", "fulltext レーンでは query"
        )


def _semantic_lane(lane_name: str) -> str:
    return "original_dense" if lane_name == "original_dense" else "semantic"


def _failed(lane: str, lane_name: str, top_k: int, error: ShirubeError) -> schema.RunHandle:
    return schema.RunHandle(
        run_id="",
        lane=lane,
        run_id_lane="",
        hit_count=0,
        top_k=top_k,
        meta={"lane_name": lane_name.encode(errors="replace").decode()},
        status="error",
        error=render_error(error)["error"],
    )


def _filters(entries: Any) -> Filters:
    try:
        return parse_filters([] if entries is None else entries, FILTERS)
    except FilterError as error:
        raise wrong_filter(error) from None


def _check_top_k(top_k: int) -> None:
    if not 1 <= top_k <= schema.MOST_TOP_K:
        raise invalid("top_k", f"from 1 to {schema.MOST_TOP_K}", f"1〜{schema.MOST_TOP_K}")


def _counted(codes: Any) -> dict[str, int]:
    counts = Counter(code for of_doc in codes for code in of_doc)
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
