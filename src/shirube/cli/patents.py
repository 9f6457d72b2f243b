"""The verbs for patent publications."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from shirube.caller import Caller
from shirube.cli.calls import call
from shirube.cli.output import err, out, progress_bar, show_json
from shirube.errors import InvalidInput
from shirube.settings import load_settings
from shirube.toolsets.patents.importing import Report, import_files
from shirube.toolsets.registry import Application

_SHOWN_REFUSED = 20


def take_in(files: Sequence[Path], *, vectors: bool, caller: Caller, as_json: bool) -> None:
    application = Application(load_settings())
    with progress_bar("公報を読んでいます") as progress:
        report = import_files(application.workspace().database, caller, files, progress)
    with progress_bar("索引を作っています") as progress:
        application.patents().library.catch_up(caller.tenant, progress)
    if vectors:
        with progress_bar("ベクトルを作っています") as progress:
            application.patents().library.embed(caller.tenant, progress)
    show_report(report, as_json=as_json)
    if report.refused and not (report.added or report.changed or report.unchanged):
        raise typer.Exit(1)


def show_report(report: Report, *, as_json: bool) -> None:
    if as_json:
        show_json(asdict(report))
        return
    out.print(f"公報: 追加 {report.added}、変更 {report.changed}、変更なし {report.unchanged}")
    if report.refused:
        out.print(f"取り込めなかった行: {len(report.refused)}")
        for each in report.refused[:_SHOWN_REFUSED]:
            unit = "件目" if each.file.lower().endswith(".xml") else "行目"
            err.print(f"  {each.file} {each.line} {unit}: {each.reason_ja} {each.reason}")
        if (more := len(report.refused) - _SHOWN_REFUSED) > 0:
            err.print(f"  ほか {more} 行（--json ですべて）。 {more} more; all with --json.")


def search(
    query: str, *, fi: Sequence[str], limit: int, semantic: bool, caller: Caller, as_json: bool
) -> None:
    application = Application(load_settings())
    filters = [{"lop": "and", "field": "fi", "op": "in", "value": list(fi)}] if fi else []
    if semantic:
        handle = call(application, caller, "rrf_search_semantic_raw", {"text": query, "filters": filters})
    else:
        handle = call(application, caller, "rrf_search_fulltext_raw", {"query": query, "filters": filters})
    shown = peek(application, caller, handle["run_id"], limit)
    if as_json:
        show_json({**handle, "snippets": shown})
        return
    show_snippets(shown)
    out.print(f"{handle['hit_count']} 件  run {handle['run_id']}")


def peek(application: Application, caller: Caller, run_id: str, limit: int) -> list[dict[str, Any]]:
    """So many snippets, in as many answers as they take."""
    asked = {"run_id": run_id, "fields": ["title", "abst"], "per_field_chars": {"abst": 100}}
    shown: list[dict[str, Any]] = []
    offset: int | None = 0
    while offset is not None and offset < limit:
        answer = call(
            application, caller, "peek_snippets", {**asked, "limit": limit - offset, "offset": offset}
        )
        shown += answer["snippets"]
        offset = answer["meta"]["next_offset"]
    return shown


def show_run(application: Application, caller: Caller, run_id: str, limit: int) -> None:
    show_snippets(peek(application, caller, run_id, limit))


def show_snippets(snippets: Sequence[dict[str, Any]]) -> None:
    for each in snippets:
        out.print(f"{each['rank']:>3}. {each['title']}  {each['pub_id']}  {each['score']:.4f}")
        out.print(f"     {' '.join((each['abst'] or '').split())}", style="dim")


def fuse(runs: Sequence[str], *, fi: Sequence[str], limit: int, caller: Caller, as_json: bool) -> None:
    application = Application(load_settings())
    lanes = [{"lane": run_id.partition("-")[0], "run_id_lane": run_id} for run_id in runs]
    asked = {"runs": lanes, "target_profile": {"fi": dict(map(_weighed, fi))}}
    result = call(application, caller, "rrf_blend_frontier", asked)
    if as_json:
        show_json(result)
        return
    show_run(application, caller, result["run_id"], limit)
    figures = "  ".join(f"{name} {value:.3f}" for name, value in result["metrics"].items())
    out.print(f"{result['total_docs']} 件  {figures}  run {result['run_id']}")


def _weighed(written: str) -> tuple[str, float]:
    code, _, weight = written.partition("=")
    try:
        return code, float(weight or 1)
    except ValueError:
        raise InvalidInput(
            f"--fi {written}: the weight is no number", f"--fi {written}: 重みが数値ではありません。"
        ) from None


def get(number: str, *, caller: Caller, as_json: bool) -> None:
    body = call(Application(load_settings()), caller, "get_publication", {"id": number})
    if as_json:
        show_json(body)
        return
    out.print(f"{body['title']}  {body['pub_id']}  {body['app_id'] or ''}")
    for name, value in body["metadata"].items():
        if value:
            out.print(f"  {name}: {'、'.join(value) if isinstance(value, list) else value}", style="dim")
    for name in ("abst", "claim", "desc"):
        if body[name]:
            out.print(f"\n{body[name]}")
