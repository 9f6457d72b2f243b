"""A set put to every stage of the pipeline: what each finds, and how long it takes."""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from shirube.errors import ShirubeError
from shirube.evaluate.datasets import Dataset
from shirube.evaluate.measures import all_measures, percentile
from shirube.evaluate.searcher import STAGES, Searcher, Stage, StageFailed, Watch, unwatched
from shirube.models.contract import Embedder, Reranker
from shirube.models.errors import ModelError
from shirube.retrieval import pipeline

# As deep as the deepest measure looks.
DEPTH = 100
# Questions asked before the clock runs: enough for what is loaded on first use.
WARM_UP = 5

State = Literal["measured", "failed", "off"]


@dataclass(frozen=True)
class StageReport:
    """Figures only where every question was answered by the whole stage; else why there are none."""

    stage: Stage
    state: State
    measures: Mapping[str, float] = field(default_factory=dict)
    p50_ms: float | None = None
    p95_ms: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Model:
    """What the setting says, and the model's own name for exactly what it computes; None when it cannot tell."""

    setting: str
    name: str | None


@dataclass(frozen=True)
class Report:
    """A model is None where it is switched off. Passages are indexed by text, then embedded: each has its own rate."""

    dataset: str
    embedder: Model | None
    reranker: Model | None
    passages: int
    queries: int
    indexed_per_second: float
    embedded_per_second: float | None
    stages: tuple[StageReport, ...]

    @property
    def failed(self) -> list[StageReport]:
        return [stage for stage in self.stages if stage.state == "failed"]


def measure(dataset: Dataset, environ: Mapping[str, str], watch: Watch = unwatched) -> Report:
    """Build a knowledge base in a folder that is gone afterwards, with the models that `environ` names; ask it all.

    A model that fails spoils the stages that rest on it and no others.
    """
    with TemporaryDirectory(prefix="shirube-eval-", ignore_cleanup_errors=True) as folder:
        searcher = Searcher(Path(folder), dataset.corpus, vectors=False, environ=environ, watch=watch)
        try:
            stages = _stages(searcher, dataset, watch)
        finally:
            searcher.close()
    count, settings = len(dataset.corpus), searcher.workspace.settings
    return Report(
        dataset=dataset.name,
        embedder=_model(settings.embedder, searcher.embedder),
        reranker=_model(settings.reranker, searcher.reranker),
        passages=count,
        queries=len(dataset.queries),
        indexed_per_second=count / searcher.seconds_to_index,
        embedded_per_second=count / searcher.seconds_to_embed if searcher.seconds_to_embed else None,
        stages=stages,
    )


def _model(setting: str, model: Embedder | Reranker | None) -> Model | None:
    if model is None:
        return None
    try:
        return Model(setting, model.name)
    except ModelError:
        return Model(setting, None)


def _stages(searcher: Searcher, dataset: Dataset, watch: Watch) -> tuple[StageReport, ...]:
    reports: dict[Stage, StageReport] = {}
    not_embedded = _embedded(searcher)
    for stage in STAGES:
        if stage == "dense" and searcher.embedder is None:
            reports[stage] = StageReport(stage, "off")
        elif stage == "dense" and not_embedded:
            reports[stage] = StageReport(stage, "failed", reason=not_embedded)
        elif stage != "dense" and "dense" in reports and reports["dense"].state == "failed":
            reports[stage] = StageReport(stage, "failed", reason="it rests on dense, which failed")
        else:
            reports[stage] = _asked(searcher, stage, dataset, watch)
    return tuple(reports.values())


def _embedded(searcher: Searcher) -> str | None:
    """Why the passages could not be embedded; None when they were, or need not be."""
    try:
        searcher.embed()
    except ShirubeError:
        raise
    except Exception as error:
        return _told(error)
    return None


def _asked(searcher: Searcher, stage: Stage, dataset: Dataset, watch: Watch) -> StageReport:
    """Every question at one stage, one by one, warm; the first that fails ends it."""
    rankings: dict[str, list[str]] = {}
    latencies: list[float] = []
    with watch(f"質問しています（{stage}）") as progress, _causes() as causes:
        try:
            for query in list(dataset.queries.values())[:WARM_UP]:
                searcher.search(query, DEPTH, stage)
            for name, query in dataset.queries.items():
                started = time.perf_counter()
                rankings[name] = searcher.search(query, DEPTH, stage)
                latencies.append((time.perf_counter() - started) * 1000)
                progress(len(rankings), len(dataset.queries))
        except ShirubeError:
            raise
        except Exception as error:
            reason = ": ".join(_told(each) for each in (error, *causes))
            return StageReport(stage, "failed", reason=reason)
    figures = all_measures(rankings, dataset.qrels)
    return StageReport(stage, "measured", figures, percentile(latencies, 50), percentile(latencies, 95))


@contextmanager
def _causes() -> Iterator[list[BaseException]]:
    """What parts of the pipeline fail with: it tells its callers only that they failed, and the log the rest."""
    causes: list[BaseException] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.exc_info and record.exc_info[1]:
                causes.append(record.exc_info[1])

    handler = Keeping()
    pipeline.log.addHandler(handler)
    try:
        yield causes
    finally:
        pipeline.log.removeHandler(handler)


def _told(error: BaseException) -> str:
    """Some errors are made to be shown; of others, the kind says more than the words."""
    made = isinstance(error, ModelError | StageFailed)
    return str(error) if made else f"{type(error).__name__}: {error}"
