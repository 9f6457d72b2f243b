"""The verb that measures search on a set of questions with known passages."""

import os
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.table import Column, Table
from rich.text import Text
from typer import Exit

from shirube.cli.output import err, out, progress_bar, show_json
from shirube.errors import Unavailable
from shirube.evaluate.calibration import fit
from shirube.evaluate.datasets import Checked, checked, load_folder, with_queries
from shirube.evaluate.measures import MEASURES
from shirube.evaluate.report import Model, Report, StageReport, measure
from shirube.evaluate.searcher import StageFailed
from shirube.models.errors import ModelError
from shirube.retrieval.calibration import save
from shirube.settings import load_settings

# Short, so that the table fits 80 columns; the lines below it say more.
_STATES = {"failed": "失敗", "off": "なし"}


def run(folder: Path, *, most: int | None, as_json: bool) -> None:
    """Measure the set; ends with 1 when a stage failed, after showing what the others gave."""
    found = checked(load_folder(folder))
    _show_notices(found)
    dataset = with_queries(found.dataset, most) if most else found.dataset
    report = measure(dataset, os.environ, progress_bar)
    if as_json:
        show_json(_body(report, found))
    else:
        _show(report)
    for stage in report.failed:
        err.print(Text(f"{stage.stage}: 測れませんでした。 Failed: {stage.reason}", style="red"))
    if report.failed:
        raise Exit(1)


def calibrate(folder: Path, *, most: int | None, as_json: bool) -> None:
    """Fit a map to the set, and keep it where it does better than the one in use."""
    found = checked(load_folder(folder))
    _show_notices(found)
    dataset = with_queries(found.dataset, most) if most else found.dataset
    try:
        made = fit(dataset, os.environ, progress_bar)
    except (ModelError, StageFailed) as error:
        raise Unavailable(f"Could not be calibrated: {error}", f"較正できませんでした: {error}") from error
    if made.better:
        save(load_settings().calibrations, made.reranker, made.calibration)
    if as_json:
        show_json({**asdict(made), "saved": made.better})
        return
    out.print(f"{made.dataset}: 質問 queries {made.queries:,}  再ランキング re-ranker: {made.reranker}")
    out.print(f"較正誤差 expected calibration error: {made.before:.4f} → {made.after:.4f}")
    table = Table("threshold", "precision", "recall", "答えなしを空に no answer, none shown")
    for each in made.trades:
        figures = (each.precision, each.recall, each.silent)
        table.add_row(f"{each.threshold:.2f}", *(f"{figure:.3f}" for figure in figures))
    out.print(table)
    out.print(
        "保存しました。以後の検索で使われます（動いているサーバーは再起動後）。 "
        "Saved, and used from now on; by a running server after its next start."
        if made.better
        else "今の較正のほうが良いため、保存しません。 Not saved: the map in use does better."
    )


def _show_notices(found: Checked) -> None:
    notices = {
        "正解の箇所がないため飛ばす質問 / Skipped queries, for want of a relevant passage": found.skipped_queries,
        "qrels にあって corpus.jsonl にない箇所（正解から除きます） / "
        "Passages in qrels that corpus.jsonl lacks, left out": found.unknown_passages,
        "qrels にあって queries.jsonl にない質問（除きます） / "
        "Queries in qrels that queries.jsonl lacks, left out": found.unknown_queries,
    }
    for notice, count in notices.items():
        if count:
            err.print(Text(f"注意: {notice}: {count:,}", style="yellow"))


def _body(report: Report, found: Checked) -> dict[str, object]:
    return {
        **asdict(report),
        "skipped_queries": found.skipped_queries,
        "unknown_passages": found.unknown_passages,
        "unknown_queries": found.unknown_queries,
    }


def _show(report: Report) -> None:
    out.print(f"{report.dataset}: 箇所 passages {report.passages:,}、質問 queries {report.queries:,}")
    out.print(
        f"埋め込み embedder: {_named(report.embedder)}  再ランキング re-ranker: {_named(report.reranker)}"
    )
    embedded = "–" if report.embedded_per_second is None else f"{report.embedded_per_second:,.0f}"
    out.print(f"索引 indexed: {report.indexed_per_second:,.0f}/s  ベクトル embedded: {embedded}/s")
    figures = (Column(name, justify="right", no_wrap=True) for name in (*MEASURES, "p50 ms", "p95 ms"))
    table = Table(
        Column("段階", no_wrap=True), *figures, box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0)
    )
    for stage in report.stages:
        table.add_row(stage.stage, *_figures(stage))
    out.print(table)


def _named(model: Model | None) -> str:
    if model is None:
        return "none"
    return f"{model.setting}（{model.name}）" if model.name else model.setting


def _figures(stage: StageReport) -> list[str]:
    if stage.p50_ms is None or stage.p95_ms is None:
        return [_STATES[stage.state]]
    return [f"{stage.measures[name]:.4f}" for name in MEASURES] + [
        f"{stage.p50_ms:.2f}",
        f"{stage.p95_ms:.2f}",
    ]
