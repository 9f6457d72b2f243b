"""Fusions of lanes: made, tuned, and made again from their runs."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shirube.caller import Caller
from shirube.store import patents as store
from shirube.store.database import Database
from shirube.store.runs import Run
from shirube.text.normalize import fold
from shirube.toolsets.patents import schema
from shirube.toolsets.patents.codes import fi_norm, normal_symbol
from shirube.toolsets.patents.errors import invalid, unknown_key
from shirube.toolsets.patents.fusion import (
    DEFAULT_PI,
    LANE_NAMES,
    REPRESENTATIVE,
    WEIGHTS,
    Board,
    Lane,
    Params,
    Ranking,
    code_matches,
    facet_matches,
    frontier,
    logical_name,
)
from shirube.toolsets.patents.library import Library
from shirube.toolsets.patents.metrics import TOP, Metrics, structural_metrics
from shirube.toolsets.patents.runs import FUSION, Runs, docs, lane_ids
from shirube.toolsets.patents.shelf import Fact

# What is told of a fusion by its first documents.
TOLD = 100
_REMEMBERED = 32


@dataclass(frozen=True)
class Fusion:
    """A fusion with everything that another one of the same lanes needs."""

    board: Board
    params: Params


class Fusions:
    def __init__(self, database: Database, library: Library, runs: Runs) -> None:
        self._database = database
        self._library = library
        self._runs = runs
        self._guard = threading.Lock()
        self._fusions: OrderedDict[str, Fusion] = OrderedDict()

    def blend(self, caller: Caller, asked: schema.BlendInput) -> schema.FusionResult:
        lane_runs = self._runs.lanes(caller, [each.run_id_lane for each in asked.runs])
        for at, (run, given) in enumerate(zip(lane_runs, asked.runs, strict=True)):
            if given.lane != run.kind:
                raise invalid(f"runs.{at}.lane", f"{run.kind}, as its run is", f"run の種類と同じ {run.kind}")
        lanes = tuple(map(_fused_lane, lane_runs, asked.runs))
        _check_weights(asked, lanes)
        _check_keys("facet_weights", asked.facet_weights, asked.facet_terms or {})
        params = Params().with_delta(asked.model_dump(exclude={"runs", "target_profile"}, exclude_none=True))
        facts = self._facts(caller, list(dict.fromkeys(doc for lane in lanes for doc in lane.docs)))
        representatives = self._representatives(caller, [each.run_id_lane for each in asked.runs])
        board = Board(lanes, _evidence(asked, facts, representatives))
        terms = dict.fromkeys(term for run in lane_runs for term in run.recipe.get("terms", ()))
        recipe = {**asked.model_dump(exclude_unset=True), "terms": list(terms)}
        return self._fusion(caller, Fusion(board, params), recipe, None, asked.limit, facts)

    def _facts(self, caller: Caller, ids: Sequence[str]) -> Mapping[str, Fact]:
        return self._library.shelf(caller.tenant).by_id(ids)

    def _representatives(self, caller: Caller, lineage: Sequence[str]) -> dict[str, float]:
        """R(d) of those that were registered for all searches or for one of these runs."""
        with self._database.read() as connection:
            categories = store.registered(connection, caller, lineage)
        return {doc_id: REPRESENTATIVE[category] for doc_id, category in categories.items()}

    def mutate(self, caller: Caller, asked: schema.MutateInput) -> schema.FusionResult:
        base = self._runs.get(caller, asked.base_run_id, head=True)
        if base.kind != FUSION:
            raise invalid("base_run_id", "the run of a fusion", "融合の run")
        before = self._fusion_of(caller, base)
        _check_weights(asked.mutate_delta, before.board.lanes)
        delta = asked.mutate_delta.model_dump(exclude_none=True)
        board = before.board.with_representatives(self._representatives(caller, lane_ids(base)))
        made = Fusion(board, before.params.with_delta(delta))
        return self._fusion(caller, made, {**base.recipe, "mutate_delta": delta}, base, asked.limit)

    def _fusion_of(self, caller: Caller, run: Run) -> Fusion:
        """A fusion as it was made: remembered, or from its run."""
        with self._guard:
            if run.id in self._fusions:
                self._fusions.move_to_end(run.id)
                return self._fusions[run.id]
        runs = [schema.BlendRunInput.model_validate(each) for each in run.recipe["runs"]]
        lanes = tuple(map(_fused_lane, self._runs.lanes(caller, [each.run_id_lane for each in runs]), runs))
        run = self._runs.get(caller, run.id)
        history = run.recipe["history"]
        first = self._runs.get(caller, history[0]) if history else run
        made = Fusion(Board(lanes, first.stages[0]["evidence"]), Params(**run.stages[0]["params"]))
        self._remember(run.id, made)
        return made

    def _remember(self, run_id: str, fusion: Fusion) -> None:
        with self._guard:
            self._fusions[run_id] = fusion
            while len(self._fusions) > _REMEMBERED:
                self._fusions.popitem(last=False)

    def _fusion(
        self,
        caller: Caller,
        fusion: Fusion,
        recipe: Mapping[str, Any],
        parent: Run | None,
        limit: int,
        facts: Mapping[str, Fact] | None = None,
    ) -> schema.FusionResult:
        board, ranking = fusion.board, fusion.board.rank(fusion.params)
        if facts is None:
            facts = self._facts(caller, ranking.ids(max(limit, TOP)))
        metrics = _metrics(ranking, facts)
        history = [*(parent.recipe.get("history", []) if parent else []), *([parent.id] if parent else [])]
        kept: dict[str, Any] = {
            "params": asdict(fusion.params),
            "metrics": asdict(metrics),
            "contributions": ranking.contributions(TOLD),
        }
        if (
            parent is None
        ):  # what is known stays as it is however often it is tuned; representatives are looked up
            kept["evidence"] = board.known()
        found = ranking.ids(), ranking.scores[ranking.order].tolist()
        # What counted, not what was asked for: of a tuned fusion that is more.
        recipe = {**recipe, **asdict(fusion.params), "history": history}
        needed = [*(each["run_id_lane"] for each in recipe["runs"]), *history[:1]]
        run_id = self._runs.save(caller, FUSION, recipe, found, [kept], parent.id if parent else None, needed)
        self._remember(run_id, fusion)
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


def _check_weights(asked: schema.BlendInput | schema.MutateDelta, lanes: Sequence[Lane]) -> None:
    """A weight of nothing that there is would do nothing, and nobody would know."""
    _check_keys("weights", asked.weights, WEIGHTS)
    _check_keys("pi_weights", asked.pi_weights, DEFAULT_PI)
    names = (*LANE_NAMES, *(lane.name for lane in lanes))
    _check_keys("lane_weights", asked.lane_weights, names, logical_name)


def _check_keys(
    name: str,
    given: Mapping[str, float] | None,
    allowed: Collection[str],
    form: Callable[[str], str] = str,
) -> None:
    for key in given or ():
        if form(key) not in allowed:
            raise unknown_key(name, key, allowed)


def _evidence(
    asked: schema.BlendInput, facts: Mapping[str, Fact], representatives: Mapping[str, float]
) -> dict[str, Sequence[float]]:
    """What is known of those publications of which anything is."""
    profile = asked.target_profile
    wanted: dict[tuple[str, str], float] = {}
    for kind, normal, codes in (("fi", fi_norm, profile.fi), ("ft", normal_symbol, profile.ft)):
        for written, weight in codes.items():
            code = kind, normal(written)  # several writings of one code count together
            wanted[code] = wanted.get(code, 0.0) + weight
    terms = {
        name: [word for word in (fold(each).strip() for each in words) if word]
        for name, words in (asked.facet_terms or {}).items()
    }
    held = list(facts.values())
    columns = (
        code_matches(wanted, [fact.codes for fact in held]),
        code_matches(profile.fi, [fact.fi_full for fact in held]),
        facet_matches(terms, asked.facet_weights or {}, [fact.front for fact in held]),
        [representatives.get(doc_id, 0.0) for doc_id in facts],
    )
    known = zip(facts, np.array(columns).T.tolist(), strict=True)
    return {doc_id: values for doc_id, values in known if any(values)}


def _fused_lane(run: Run, given: schema.BlendRunInput) -> Lane:
    return Lane(given.lane, logical_name(str(run.recipe["lane_name"])), given.weight, tuple(docs(run)))


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
