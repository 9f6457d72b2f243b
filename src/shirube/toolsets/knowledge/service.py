"""What the knowledge tools do. A search goes: access → filters → retrieval/pipeline → citations → run."""

import logging
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from shirube.caller import Caller, Confidentiality
from shirube.errors import InvalidInput, ShirubeError, Unavailable
from shirube.index.contract import Vectors
from shirube.index.embedded.space import EmbeddedSpace
from shirube.ingest.embedding import embed_missing
from shirube.models.contract import Embedder
from shirube.models.ranker.matches import character_pairs
from shirube.operations import given
from shirube.query.filters import Condition, Filters
from shirube.query.values import Between, Exact
from shirube.retrieval.pipeline import Found, Outcome, Ranked, Recipe, Stage, embedded_query, rank
from shirube.store import bases, passages
from shirube.store.passages import StoredPassage
from shirube.store.runs import Run, save_run
from shirube.store.summaries import SUMMARISED, count_collections, summaries
from shirube.text.invisible import visible
from shirube.text.ocr import long_vowels
from shirube.text.tokenize import words
from shirube.toolsets.knowledge import atlas, schema
from shirube.toolsets.knowledge.doubts import UNAVAILABLE, settled
from shirube.toolsets.knowledge.feed import BODY, LAYOUT, NO_DEPARTMENT, TITLE, WEIGHTS, KnowledgeFeed
from shirube.workspace import Workspace

log = logging.getLogger(__name__)

RECIPE = Recipe(weights=WEIGHTS, body=BODY, title=TITLE)

_FAILED = {
    "sparse": "全文検索が使えないため、ベクトル検索だけで答えています。 Full text failed; answered from vectors alone.",
    "dense": "ベクトル検索が使えないため、全文検索だけで答えています。 Vectors failed; answered from full text alone.",
    "bm25": "BM25 での並べ直しができず、融合順のままです。 BM25 re-ranking failed; order of the fusion kept.",
    "rerank": "再ランキングが使えず、その前の順で答えています（score は確率ではありません）。 "
    "Re-ranking failed; the order before it is kept, and scores are no probabilities.",
    "calibrate": "スコアの較正ができませんでした。 Scores could not be calibrated.",
}


@dataclass(frozen=True)
class Chosen:
    """The collections whose vectors to search (None: all), and the query's vectors if they were needed to choose."""

    collections: Sequence[str] | None = None
    asked: Vectors | None = None
    stages: tuple[Stage, ...] = ()
    failed: bool = False
    """Whether the query could not be embedded."""


class KnowledgeService:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def space(self, base_id: str) -> EmbeddedSpace:
        feed = KnowledgeFeed(self._workspace.database, base_id)
        return self._workspace.space(base_id, LAYOUT, feed)

    def load_models(self) -> None:
        """Ahead of the first search."""
        words("準備")
        character_pairs("準備")
        if self._workspace.embedder:
            self._workspace.embedder.embed_query("準備")

    def catch_up(self) -> None:
        """Bring the text of every base up to date, of whatever tenant."""
        for base_id in self._every_base():
            self.space(base_id).catch_up(wait=0)

    def complete_vectors(self) -> None:
        """Embed what has no vector of the embedder in use yet, on one core; searches go on meanwhile."""
        embedder = self._workspace.embedder
        if embedder is None:
            return
        for base_id in self._every_base():
            space = self.space(base_id)
            if space.refresh() and not space.vectors_current(embedder.name):
                embed_missing(space, embedder, BODY, TITLE, workers=1)
            self.summarise(base_id)

    def _every_base(self) -> list[str]:
        with self._workspace.database.read() as connection:
            return [each.base.id for each in bases.every_base(connection)]

    def summarise(self, base_id: str) -> None:
        """Bring the summaries of the base's collections up to date."""
        workspace = self._workspace
        if workspace.embedder:
            atlas.summarise_collections(workspace.database, base_id, workspace.embedder, workspace.generator)

    def list_bases(self, caller: Caller) -> schema.ListOutput:
        with self._workspace.database.read() as connection:
            found = bases.list_bases(connection, caller)
        items = [
            schema.KnowledgeBaseItem(
                knowledge_base_id=base.id,
                name=visible(base.name),
                description=visible(base.description),
                statistics=schema.StatisticsOutput(**asdict(statistics)),
            )
            for base, statistics in found
        ]
        return schema.ListOutput(knowledge_bases=items, count=len(items))

    def summary(self, caller: Caller, base_id: str) -> schema.SummaryOutput:
        with self._workspace.database.read() as connection:
            base, statistics = bases.summarise_base(connection, caller, base_id)
        warnings = []
        if not statistics.total_collections:
            warnings.append("No collections found")
        if not statistics.total_documents:
            warnings.append("No documents found")
        return schema.SummaryOutput(
            knowledge_base_id=base.id,
            summary=visible(f"{base.name}: {base.description}" if base.description else base.name),
            statistics=schema.StatisticsOutput(**asdict(statistics)),
            generated_at=datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
            **given(warnings=warnings or None),
        )

    def search(self, caller: Caller, asked: schema.SearchInput, *, kept: bool = True) -> schema.SearchOutput:
        """What was found; the run is `kept` unless the search is but a part of something else."""
        started = time.perf_counter()
        base_id = str(asked.knowledge_base_id)
        query = asked.query.encode("utf-8", "replace").decode()
        with self._workspace.database.read() as connection:
            bases.get_base(connection, caller, base_id)
        if not query.strip():
            raise InvalidInput(
                "query must not be empty", "query が空です。検索したい語や質問を入れてください。"
            )
        space = self.space(base_id)
        current = space.refresh() or space.catch_up_soon()
        embedder = self._embedder(space)

        def fetch(keys: Sequence[int]) -> dict[int, Found]:
            with self._workspace.database.read() as connection:
                return found_texts(connection, caller, base_id, keys)

        def ranked(chosen: Chosen) -> tuple[Outcome, list[Ranked]]:
            outcome = rank(
                space,
                query,
                access_filters(caller),
                RECIPE,
                embedder=None if chosen.failed else embedder,
                reranker=self._workspace.reranker,
                calibration=self._workspace.calibration,
                fetch=fetch,
                asked=chosen.asked,
                dense_filters=access_filters(caller, chosen.collections),
            )
            outcome.stages[:0] = chosen.stages
            # Compared as it is shown: no score in the answer is below the threshold.
            return outcome, [each for each in outcome.results if round(each.score, 4) >= asked.threshold]

        chosen = self._chosen(caller, base_id, embedder, query)
        outcome, passed = ranked(chosen)
        if not passed and chosen.collections:
            outcome, passed = ranked(replace(chosen, collections=None))
        with self._workspace.database.read() as connection:
            shown = passages.visible_passages(
                connection, caller, base_id, [each.key for each in passed[: asked.max_results]]
            )
        # What was removed or closed to the caller in the meantime is not shown.
        results = [each for each in passed if each.key in shown]
        run = self._run(asked, outcome, embedder)
        if kept:
            self._workspace.journal.write(lambda connection: save_run(connection, caller, run))
        best = outcome.results[0].score if outcome.results else None
        return schema.SearchOutput(
            query=query,
            knowledge_base_id=base_id,
            threshold=asked.threshold,
            results=[_result(each, shown[each.key], asked.explain) for each in results],
            count=len(results),
            run_id=run.id,
            took_ms=round((time.perf_counter() - started) * 1000, 2),
            **given(
                notice=None if passed else "No results found",
                best_score_below_threshold=None if passed or best is None else round(best, 4),
                warnings=self._warnings(space, outcome, current, embedder) or None,
                explain=_explanation(run, outcome) if asked.explain else None,
            ),
        )

    def _chosen(self, caller: Caller, base_id: str, embedder: Embedder | None, query: str) -> "Chosen":
        """The collections that the query is about, where the base has so many that it pays to choose.

        Not for those who may see less than the summaries were made from.
        """
        if embedder is None or caller.clearance < SUMMARISED:
            return Chosen()
        with self._workspace.database.read() as connection:
            if count_collections(connection, base_id) <= atlas.FEW:
                return Chosen()
            found = summaries(connection, base_id, embedder.name)
        stage = Stage("atlas", len(found))
        started = time.perf_counter()
        try:
            vectors = embedded_query(embedder, query)
            near = atlas.near_collections(found, vectors[0])
        except Exception as error:
            # The dense lane would fail in the same way, and take as long.
            log.warning("searched by full text alone: %s", error)
            name = type(error).__name__
            return Chosen(stages=(replace(stage, error=name), Stage("dense", error=name)), failed=True)
        stage.ms = (time.perf_counter() - started) * 1000
        stage.count = len(near or found)
        return Chosen(near, vectors, (stage,))

    def normalize(self, asked: schema.NormalizeInput) -> schema.NormalizeOutput:
        model = None if asked.engine == "rules" else self._workspace.generator
        if model:
            normalised, changes, warnings = settled(model, asked.text)
        else:
            normalised, changes = long_vowels(asked.text)
            warnings = []
        if asked.engine == "llm" and (model is None or UNAVAILABLE in warnings):
            raise Unavailable(
                UNAVAILABLE,
                "言語モデルを使えません。",
                hint="SHIRUBE_LLM を確認するか、engine を省いてください。 Check SHIRUBE_LLM, or leave engine out.",
            )
        return schema.NormalizeOutput(
            original_text=asked.text,
            normalized_text=normalised,
            status="success",
            changes=[schema.TextChange(**asdict(change)) for change in changes],
            **given(warnings=warnings or None),
        )

    def _embedder(self, space: EmbeddedSpace) -> Embedder | None:
        """The embedder in use, or, until its vectors are complete, the one whose vectors are."""
        wanted = self._workspace.embedder
        if wanted is None or space.vectors_current(wanted.name):
            return wanted
        for model, setting in space.held_models().items():
            if model == wanted.name:
                continue
            try:
                before = self._workspace.embedder_of(setting)
            except ShirubeError as error:
                log.warning("the embedder of the vectors at hand cannot be used: %s", error)
                continue
            if before and before.name == model and space.vectors_complete(model):
                return before
        return wanted if space.has_vectors(wanted.name) else None

    def _warnings(
        self, space: EmbeddedSpace, outcome: Outcome, current: bool, embedder: Embedder | None
    ) -> list[str]:
        warnings = [_FAILED[name] for name in outcome.failed if name in _FAILED]
        if not current:
            warnings.append(
                "索引を更新中のため、最近の変更が結果に出ないことがあります。 The index is being updated."
            )
        wanted = self._workspace.embedder
        if wanted and current and space.count() and not space.vectors_current(wanted.name):
            if embedder and embedder.name != wanted.name:
                warnings.append(
                    "埋め込みモデルを切り替え中です。新しいベクトルが揃うまで前のモデルで探しています。 "
                    "The embedder is being changed; the one before it answers until the new vectors are complete."
                )
            else:
                warnings.append(
                    "ベクトルがまだ揃っていません。足りない分は全文検索だけで探しています。 "
                    "Vectors are incomplete; what has none is found by full text alone."
                )
        return warnings

    def _run(self, asked: schema.SearchInput, outcome: Outcome, embedder: Embedder | None) -> Run:
        reranker = self._workspace.reranker
        return Run(
            id=f"knowledge-{secrets.token_hex(8)}",
            kind="knowledge",
            recipe={
                "query": asked.query,
                "knowledge_base_id": str(asked.knowledge_base_id),
                "threshold": asked.threshold,
                "max_results": asked.max_results,
                "embedder": embedder.name if embedder else None,
                "reranker": reranker.name if reranker else None,
                "calibration": self._workspace.calibration.name,
                **asdict(RECIPE),
            },
            stages=[asdict(stage) for stage in outcome.stages],
            results=[_kept(each) for each in outcome.results[: schema.MAX_RESULTS]],
        )


def _kept(ranked: Ranked) -> dict[str, Any]:
    return {"key": ranked.key, "score": ranked.score, "scores": ranked.scores, "ranks": ranked.ranks}


def found_texts(
    connection: Connection, caller: Caller, base_id: str, keys: Sequence[int]
) -> dict[int, Found]:
    """The candidates that the caller may read, as ranking takes them."""
    return {
        each.id: Found(each.text, each.document_title, (each.source, each.chunk_index))
        for each in passages.visible_texts(connection, caller, base_id, keys)
    }


def access_filters(caller: Caller, collections: Sequence[str] | None = None) -> Filters:
    """What the caller may see, of these collections, for the engines: applied inside them, before anything is cut."""
    above = tuple(Between(level, level) for level in Confidentiality if level > caller.clearance)
    hidden = (Condition("confidentiality", "in", above),) if above else ()
    wanted: list[Condition] = []
    if collections is not None:
        wanted.append(Condition("collection", "in", tuple(map(Exact, collections))))
    if not caller.every_department:
        open_to = tuple(Exact(name) for name in (NO_DEPARTMENT, *sorted(caller.departments)))
        wanted.append(Condition("department", "in", open_to))
    return Filters(all_of=tuple(wanted), none_of=hidden)


def _result(ranked: Ranked, passage: StoredPassage, explain: bool) -> schema.Result:
    # A cosine below 0 tells nobody more than 0 does; all scores of an answer are within 0 and 1.
    scores = {name: round(min(max(score, 0.0), 1.0), 4) for name, score in ranked.scores.items()}
    return schema.Result(
        content=visible(passage.text),
        score=round(ranked.score, 4),
        metadata=schema.ResultMetadata(
            chunk_id=f"{passage.document_id}-{passage.chunk_index}",
            document_id=passage.document_id,
            chunk_index=passage.chunk_index,
            collection_id=passage.collection_id,
            sparse_score=scores.get("sparse"),
            dense_score=scores.get("dense"),
            rrf_score=scores.get("rrf"),
            bm25_score=scores.get("bm25"),
            cross_encoder_score=scores.get("rerank"),
            document_title=visible(passage.document_title),
            source=schema.Source(file=visible(passage.source), **given(page=passage.page)),
            heading_path=[visible(name) for name in passage.heading_path],
            span=schema.Span(start=passage.start, end=passage.end),
            **given(columns=[visible(name) for name in passage.columns] or None),
            **given(ranks=dict(ranked.ranks) if explain else None),
        ),
    )


def _explanation(run: Run, outcome: Outcome) -> schema.Explanation:
    return schema.Explanation(
        recipe=dict(run.recipe),
        stages=[
            schema.StageReport(
                stage=stage.name, count=stage.count, ms=round(stage.ms, 2), **given(error=stage.error)
            )
            for stage in outcome.stages
        ],
    )
