"""The verbs for programmes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from shirube.caller import Caller
from shirube.cli.calls import call
from shirube.cli.output import err, out, progress_bar, show_error, show_json
from shirube.errors import InvalidInput
from shirube.settings import load_settings
from shirube.store import programs as store
from shirube.text.invisible import visible
from shirube.toolsets.programs.exports import calendar, separated
from shirube.toolsets.programs.imports import RefusedImport, RefusedRow, Report, import_files
from shirube.toolsets.registry import Application

_SHOWN_REFUSED = 20
_PAGE = 100


def take_in(files: Sequence[Path], *, strict: bool, caller: Caller, as_json: bool) -> None:
    application = Application(load_settings())
    try:
        with progress_bar("制度を取り込んでいます") as progress:
            report = import_files(
                application.workspace().database, caller, files, strict=strict, progress=progress
            )
    except RefusedImport as refused:
        if as_json:
            show_json({"imported": False, "refused": [asdict(each) for each in refused.report.refused]})
        show_error(refused)
        _show_refused(refused.report.refused)
        raise SystemExit(1) from None
    if as_json:
        show_json({"imported": True, **asdict(report)})
        return
    _show_report(report)


def _show_report(report: Report) -> None:
    for title, tally in (("制度", report.programs), ("排他ルール", report.rules)):
        if tally.added or tally.changed or tally.unchanged:
            out.print(f"{title}: 追加 {tally.added}、変更 {tally.changed}、変更なし {tally.unchanged}")
    for file, headings in report.unread.items():
        err.print(f"{file}: 読まなかった列 {'、'.join(headings)}")
    if report.refused:
        out.print(f"取り込めなかった行: {len(report.refused)}")
        _show_refused(report.refused)
    out.print(f"取り込み番号 {report.import_id}")


def _show_refused(refused: Sequence[RefusedRow]) -> None:
    for each in refused[:_SHOWN_REFUSED]:
        err.print(f"  {each.file} {each.row} 件目 {each.id or ''}: {each.reason_ja} {each.reason}")
    if len(refused) > _SHOWN_REFUSED:
        err.print(f"  ほか {len(refused) - _SHOWN_REFUSED} 件（--json ですべて）")


def search(
    asked: Mapping[str, Any], *, csv: Path | None, ics: Path | None, caller: Caller, as_json: bool
) -> None:
    application = Application(load_settings())
    if csv or ics:
        rows = _all(application, caller, asked)
        for path, written in ((csv, separated), (ics, calendar)):
            if path:
                _write(path, written(rows))
                err.print(f"{path}: 検索結果 {len(rows)} 件から書きました。")
        return
    body = call(application, caller, "search_programs", asked)
    if as_json:
        show_json(body)
        return
    show_rows(body)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be written: {error.strerror}", f"{path} に書き込めません（{error.strerror}）。"
        ) from None


def show_rows(body: Mapping[str, Any]) -> None:
    for row in body["results"]:
        amount, window = row["amount_max_man_yen"], row["application_window"] or {}
        known = (
            row["prefecture"],
            "" if amount is None else f"上限 {amount:,}万円",
            f"締切 {window['end_date']}" if window.get("end_date") else "",
            row["unified_id"],
        )
        out.print(f"{row['tier'] or '-'}  {row['primary_name']}")
        out.print("   " + "  ".join(filter(None, known)), style="dim")
    out.print(f"{body['total']} 件" + (f"（{body['offset'] + 1} 件目から）" if body["offset"] else ""))
    if body.get("hint"):
        out.print(body["hint"])


def _all(application: Application, caller: Caller, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every programme that is found, page by page."""
    rows: list[dict[str, Any]] = []
    while True:
        page = {**asked, "limit": _PAGE, "offset": len(rows)}
        body = call(application, caller, "search_programs", page)
        rows += body["results"]
        if len(rows) >= body["total"] or not body["results"]:
            return rows


def get(unified_id: str, *, caller: Caller, as_json: bool) -> None:
    asked = {"unified_id": unified_id, "fields": "full"}
    body = call(Application(load_settings()), caller, "get_program", asked)
    if as_json:
        show_json(body)
        return
    table = Table(show_header=False)
    for name, value in body.items():
        if value not in (None, [], {}):
            table.add_row(name, Text(_shown(value)))
    out.print(table, soft_wrap=False)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_shown(each)}" for key, each in value.items() if each not in (None, ""))
    if isinstance(value, list):
        return (
            "\n".join(map(_shown, value))
            if any(isinstance(each, Mapping) for each in value)
            else "、".join(map(str, value))
        )
    return visible(str(value))


def check(ids: Sequence[str], *, caller: Caller, as_json: bool) -> bool:
    """Whether any rule was hit."""
    body = call(Application(load_settings()), caller, "check_exclusions", {"program_ids": list(ids)})
    if as_json:
        show_json(body)
    else:
        show_check(body)
    return bool(body["hits"])


def show_check(body: Mapping[str, Any]) -> None:
    for title, findings in (("✗", body["hits"]), ("○", body["compatible"])):
        for each in findings:
            out.print(f"{title} [{each['severity']}] {' × '.join(each['programs_involved'])}")
            out.print(f"  {each['description']}")
            if each.get("missing"):
                out.print(f"  必要: {'、'.join(each['missing'])}")
            for url in each["source_urls"]:
                out.print(f"  {url}")
    if not body["hits"]:
        out.print(f"当たるルールはありません（{body['checked_rules']} 件を確認）。")
    if body["unknown_programs"]:
        out.print(f"見つからない制度: {'、'.join(body['unknown_programs'])}")
    out.print(body["note"])


def diff(before: int | None, after: int | None, *, caller: Caller, as_json: bool) -> None:
    with Application(load_settings()).workspace().database.read() as connection:
        known = [each.id for each in store.imports(connection, caller)]
        first, last = _between(known, before, after)
        now = store.records_at(connection, caller, last, first)
        then = store.records_before(connection, caller, first, list(now))
    added = [
        {"unified_id": key, "primary_name": record["primary_name"]}
        for key, record in now.items()
        if key not in then
    ]
    changed = [
        {
            "unified_id": key,
            "primary_name": record["primary_name"],
            "fields": {
                name: {"before": then[key].get(name), "after": value}
                for name, value in record.items()
                if then[key].get(name) != value and name not in ("source_checksum", "source_fetched_at")
            },
        }
        for key, record in now.items()
        if key in then and then[key]["source_checksum"] != record["source_checksum"]
    ]
    if as_json:
        show_json({"before": first, "after": last, "added": added, "changed": changed})
        return
    out.print(f"取り込み {first} → {last}: 追加 {len(added)}、変更 {len(changed)}")
    for each in added:
        out.print(f"+ {each['unified_id']}  {each['primary_name']}")
    for each in changed:
        out.print(f"~ {each['unified_id']}  {each['primary_name']}")
        for name, values in each["fields"].items():
            out.print(f"    {name}: {_shown(values['before'])} → {_shown(values['after'])}")


def _between(known: Sequence[int], before: int | None, after: int | None) -> tuple[int, int]:
    """The two imports that are meant; before the first there was nothing, import 0."""
    last = known[-1] if after is None and known else after
    earlier = [each for each in (0, *known) if last is not None and each < last]
    first = earlier[-1] if before is None and earlier else before
    if last is None or first is None or last not in known or first not in (0, *known) or first >= last:
        names = ", ".join(map(str, known)) or "-"
        raise InvalidInput(
            f"There is no such pair of imports; there are: {names}",
            f"その組の取り込みはありません。取り込み番号: {names}",
            hint="0 は最初の取り込みの前です。 0 is before the first one.",
        )
    return first, last


def meta(*, caller: Caller, as_json: bool) -> None:
    body = call(Application(load_settings()), caller, "get_meta", {})
    if as_json:
        show_json(body)
        return
    out.print(f"制度 {body['total_programs']:,} 件、排他ルール {body['exclusion_rules_count']} 件")
    out.print("Tier: " + "、".join(f"{tier} {count:,}" for tier, count in body["tier_counts"].items()))
    places = sorted(body["prefecture_counts"].items(), key=lambda each: -each[1])
    out.print("都道府県: " + "、".join(f"{name} {count:,}" for name, count in places))
    out.print(f"データの日付 {body['data_as_of']}、最終取り込み {body['last_ingested_at']}")
