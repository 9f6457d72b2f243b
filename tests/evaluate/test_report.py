"""What is reported of a set: right figures, or that there are none and why."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shirube.evaluate.measures import all_measures
from shirube.evaluate.report import Model, Report, StageReport, measure
from shirube.evaluate.searcher import STAGES, Searcher
from shirube.index.contract import Progress
from shirube.models.errors import ModelError
from tests.evaluate.conftest import Models
from tests.evaluate.small import BY_LENGTH, CORPUS, DATASET, Letters, Longest

NOTHING: dict[str, str] = {}
# Of the stages, only full text needs no vectors.
TEXT_ALONE = {"sparse": "measured", **dict.fromkeys(("dense", "fused", "bm25", "whole"), "failed")}


def stages(report: Report) -> dict[str, StageReport]:
    return {stage.stage: stage for stage in report.stages}


def states(report: Report) -> dict[str, str]:
    return {stage.stage: stage.state for stage in report.stages}


def test_the_figures_of_each_stage_are_those_of_its_rankings(tmp_path: Path, models: Models) -> None:
    models(Letters(), Longest())
    report = measure(DATASET, NOTHING)
    searcher = Searcher(tmp_path, CORPUS)
    for stage in STAGES:
        rankings = {name: searcher.search(query, 100, stage) for name, query in DATASET.queries.items()}
        assert stages(report)[stage].measures == all_measures(rankings, DATASET.qrels)
    # By hand: the wanted texts are at places 1, 2, 3 and 4 of all by their length.
    wanted = [BY_LENGTH.index(name) + 1 for name in ("commute", "side", "leave", "server")]
    assert sorted(wanted) == [1, 2, 3, 4]
    assert stages(report)["whole"].measures["MRR@10"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert stages(report)["whole"].measures["hit@1"] == 0.25


def test_models_counts_rates_and_times_are_told(models: Models) -> None:
    models(Letters(), Longest())
    report = measure(DATASET, {"SHIRUBE_EMBEDDER": "letters", "SHIRUBE_RERANKER": "by-length"})
    assert report.embedder == Model("letters", "letters-1")
    assert report.reranker == Model("by-length", "longest")
    assert (report.dataset, report.passages, report.queries) == ("small", 5, 4)
    assert report.indexed_per_second > 0
    assert report.embedded_per_second is not None
    assert report.embedded_per_second > 0
    for stage in report.stages:
        assert stage.p50_ms is not None
        assert stage.p95_ms is not None
        assert 0 < stage.p50_ms <= stage.p95_ms


def test_models_that_are_switched_off_are_off_and_not_failed(models: Models) -> None:
    models(None, None)
    report = measure(DATASET, NOTHING)
    assert states(report) == {
        "sparse": "measured",
        "dense": "off",
        "fused": "measured",
        "bm25": "measured",
        "whole": "measured",
    }
    assert (report.embedder, report.reranker, report.embedded_per_second) == (None, None, None)
    assert stages(report)["whole"].measures == stages(report)["sparse"].measures
    assert report.failed == []


def test_passages_that_cannot_be_embedded_leave_figures_to_full_text_alone(models: Models) -> None:
    models(Letters(refuses_passages=True), Longest())
    report = measure(DATASET, NOTHING)
    assert states(report) == TEXT_ALONE
    assert stages(report)["dense"].reason == "letters: no passages today"
    assert report.embedded_per_second is None
    assert all(not stage.measures and stage.p50_ms is None for stage in report.failed)


def test_one_question_that_cannot_be_embedded_fails_all_that_rests_on_vectors(models: Models) -> None:
    models(Letters(refused_query=DATASET.queries["q4"]), Longest())
    report = measure(DATASET, NOTHING)
    assert states(report) == TEXT_ALONE
    assert stages(report)["dense"].reason == "letters: no more queries"
    assert [stage.measures for stage in report.failed] == [{}, {}, {}, {}]


def test_a_lane_that_fails_inside_the_pipeline_fails_the_stage_with_its_cause(models: Models) -> None:
    enough_for_dense = 1 + 2 * len(DATASET.queries)
    models(Letters(queries_left=enough_for_dense), None)
    report = measure(DATASET, NOTHING)
    assert states(report) == {
        "sparse": "measured",
        "dense": "measured",
        "fused": "failed",
        "bm25": "failed",
        "whole": "failed",
    }
    assert stages(report)["fused"].reason == "dense failed: letters: no more queries"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelError("longest", "no answer within 5 s"), "rerank failed: longest: no answer within 5 s"),
        (ValueError("other features"), "rerank failed: ValueError: other features"),
    ],
)
def test_a_re_ranker_that_fails_leaves_the_stages_before_it(
    models: Models, error: Exception, told: str
) -> None:
    models(Letters(), Longest(error=error))
    report = measure(DATASET, NOTHING)
    assert states(report) == {
        "sparse": "measured",
        "dense": "measured",
        "fused": "measured",
        "bm25": "measured",
        "whole": "failed",
    }
    assert [stage.reason for stage in report.failed] == [told]


def test_a_model_that_cannot_even_name_itself_is_named_by_its_setting(models: Models) -> None:
    models(Letters(nameless=True), None)
    report = measure(DATASET, {"SHIRUBE_EMBEDDER": "onnx:folder"})
    assert report.embedder == Model("onnx:folder", None)
    assert stages(report)["dense"].reason == "letters: the files cannot be read"


def test_nothing_is_left_behind(models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    models(None, None)
    handlers = list(logging.getLogger("shirube.retrieval.pipeline").handlers)
    measure(DATASET, NOTHING)
    assert list(tmp_path.iterdir()) == []
    assert logging.getLogger("shirube.retrieval.pipeline").handlers == handlers


def test_progress_is_told_for_each_piece_of_work_to_its_end(models: Models) -> None:
    seen: dict[str, list[tuple[int, int]]] = {}

    @contextmanager
    def watch(title: str) -> Iterator[Progress]:
        reported = seen.setdefault(title, [])
        yield lambda done, total: reported.append((done, total))

    models(Letters(), None)
    measure(DATASET, NOTHING, watch)
    assert len(seen) == 3 + len(STAGES)
    assert {title: steps[-1] for title, steps in seen.items()} == {
        title: (4, 4) if "質問" in title else (5, 5) for title in seen
    }
