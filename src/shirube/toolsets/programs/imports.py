"""Taking in files of programmes and rules: one transaction, all of it or nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from shirube.caller import Caller
from shirube.errors import AccessDenied, InvalidInput
from shirube.store import programs as store
from shirube.store.clock import now
from shirube.store.database import Database
from shirube.store.programs import SearchRow, StoredProgram
from shirube.text.normalize import fold
from shirube.toolsets.programs.formats import LAYERS, Programme, Row, Rule, Unusable, read_file
from shirube.toolsets.programs.record import Refused, checksum, merged, utc_day
from shirube.toolsets.programs.terms import SEPARATOR, kind_words, searched, searched_words

_FILE = "file:"
Progress = Callable[[int, int], None]


@dataclass
class Tally:
    added: int = 0
    changed: int = 0
    unchanged: int = 0


@dataclass(frozen=True)
class RefusedRow:
    file: str
    row: int
    id: str | None
    reason: str
    reason_ja: str


@dataclass
class Report:
    import_id: int = 0
    programs: Tally = field(default_factory=Tally)
    rules: Tally = field(default_factory=Tally)
    refused: list[RefusedRow] = field(default_factory=list)

    @property
    def has_moved(self) -> bool:
        return any(tally.added or tally.changed for tally in (self.programs, self.rules))


class RefusedImport(InvalidInput):
    """Nothing was taken in: some rows could not be, and all were wanted."""

    def __init__(self, report: Report) -> None:
        first = report.refused[0]
        super().__init__(
            f"{len(report.refused)} rows were refused, nothing was imported; "
            f"{first.file} row {first.row}: {first.reason}",
            f"{len(report.refused)} 件を取り込めないため、何も取り込みませんでした。"
            f"{first.file} の {first.row} 件目: {first.reason_ja}",
            hint="--strict を外すと、残りを取り込みます。 Without --strict the others are taken in.",
        )
        self.report = report


def import_files(
    database: Database,
    caller: Caller,
    paths: Sequence[Path],
    *,
    strict: bool = False,
    progress: Progress | None = None,
) -> Report:
    if not caller.is_admin:
        raise AccessDenied(
            "Only an admin of the tenant may import programmes",
            "制度を取り込めるのはテナントの管理者だけです。",
            hint="管理者に依頼してください。 Ask an admin.",
        )
    report = Report()
    rows = [(path.name, row) for path in paths for row in read_file(path)]
    with database.write() as connection:
        report.import_id = store.begin_import(connection, caller, [path.name for path in paths])
        _take_programs(connection, caller, rows, report, progress)
        _take_rules(connection, caller, rows, report)
        _refuse(rows, report)
        if strict and report.refused:
            raise RefusedImport(report)
        store.end_import(connection, report.import_id, _summary(report), has_moved=report.has_moved)
    return report


def _summary(report: Report) -> dict[str, Any]:
    return {
        "programs": vars(report.programs),
        "rules": vars(report.rules),
        "refused": len(report.refused),
    }


def _refuse(rows: Sequence[tuple[str, Row]], report: Report) -> None:
    for file, row in rows:
        if isinstance(row.content, Unusable):
            said = row.content
            report.refused.append(RefusedRow(file, row.place, said.id, said.reason, said.ja))
    files = list(dict.fromkeys(file for file, _ in rows))
    report.refused.sort(key=lambda refused: (files.index(refused.file), refused.row))


def _take_programs(
    connection: Connection,
    caller: Caller,
    rows: Sequence[tuple[str, Row]],
    report: Report,
    progress: Progress | None,
) -> None:
    said = [(file, row.place, row.content) for file, row in rows if isinstance(row.content, Programme)]
    stored = store.stored_programs(connection, caller, list(dict.fromkeys(each.id for _, _, each in said)))
    before = dict(stored)
    seen: set[tuple[str, str, str]] = set()
    touched: dict[str, None] = {}
    for file, place, programme in said:
        if (key := (file, programme.id, programme.layer)) in seen:
            twice = (
                "unified_id is given twice in this file",
                "同じ unified_id がファイル内に 2 つあります。",
            )
            report.refused.append(RefusedRow(file, place, programme.id, *twice))
            continue
        seen.add(key)
        try:
            made = _with(stored.get(programme.id), programme, file)
        except Refused as refused:
            report.refused.append(RefusedRow(file, place, programme.id, refused.reason, refused.ja))
            continue
        stored[programme.id] = made
        touched[programme.id] = None
    moved = [key for key in touched if key not in before or before[key].checksum != stored[key].checksum]
    store.put_programs(connection, caller, report.import_id, _searchable(moved, stored, progress))
    same = touched.keys() - set(moved)
    layers = {key: stored[key].layers for key in same if stored[key].layers != before[key].layers}
    store.put_layers(connection, caller, layers)
    report.programs.added = sum(key not in before for key in moved)
    report.programs.changed = len(moved) - report.programs.added
    report.programs.unchanged = len(same)


def _searchable(
    ids: Sequence[str], stored: Mapping[str, StoredProgram], progress: Progress | None
) -> Iterator[tuple[SearchRow, StoredProgram, str]]:
    """The programmes as they are written, each with the day its data is of."""
    for number, key in enumerate(ids, start=1):
        record = stored[key].record
        yield search_row(record), stored[key], utc_day(record["source_fetched_at"])
        if progress:
            progress(number, len(ids))


def _with(stored: StoredProgram | None, programme: Programme, file: str) -> StoredProgram:
    """The programme with what this row says."""
    fields = {name: value for name, value in programme.fields.items() if name != "source_fetched_at"}
    layers = {**(stored.layers if stored else {}), programme.layer: fields}
    record = merged([layers[layer] for layer in LAYERS if layer in layers])
    if record["source_url"] is None:  # the file it first came in: that it has another name now is no change
        known = stored.record["source_url"] if stored else ""
        record["source_url"] = known if known.startswith(_FILE) else _FILE + file
    made = checksum(record)
    if stored and stored.checksum == made:
        return StoredProgram(stored.record, layers, made)
    record["source_fetched_at"] = programme.fields.get("source_fetched_at") or now().isoformat()
    record["source_checksum"] = made
    return StoredProgram(record, layers, made)


def search_row(record: dict[str, Any]) -> SearchRow:
    """The forms of a record that are searched."""
    window = record["application_window"] or {}
    names = [record["primary_name"], *record["aliases"]]
    others = [
        *record["prefectures"],
        *filter(None, (record["municipality"], record["authority_name"])),
        *(kind_words(record["program_kind"]) if record["program_kind"] else ()),
        *record["funding_purpose"],
        *record["target_types"],
    ]
    return SearchRow(
        unified_id=record["unified_id"],
        name=record["primary_name"],
        tier=record["tier"],
        authority_level=record["authority_level"],
        amount_max_man_yen=record["amount_max_man_yen"],
        opens=window.get("start_date"),
        closes=window.get("end_date"),
        is_excluded=record["excluded"],
        purposes=SEPARATOR.join(fold(each).strip() for each in record["funding_purpose"]),
        targets=SEPARATOR.join(fold(each).strip() for each in record["target_types"]),
        name_text=searched(record["primary_name"]),
        alias_text=SEPARATOR.join(map(searched, record["aliases"])),
        other_text=SEPARATOR.join(map(searched, others)),
        name_words=searched_words(names),
        other_words=searched_words(others),
    )


def _take_rules(
    connection: Connection, caller: Caller, rows: Sequence[tuple[str, Row]], report: Report
) -> None:
    before = {rule["rule_id"]: rule for rule in store.rules(connection, caller)}
    put: dict[str, dict[str, Any]] = {}
    seen: set[tuple[str, str]] = set()
    for file, row in rows:
        if not isinstance(row.content, Rule):
            continue
        rule = row.content
        if (file, rule.id) in seen:
            twice = ("rule_id is given twice in this file", "同じ rule_id がファイル内に 2 つあります。")
            report.refused.append(RefusedRow(file, row.place, rule.id, *twice))
            continue
        seen.add((file, rule.id))
        put[rule.id] = rule.rule
    moved = [rule for key, rule in put.items() if before.get(key) != rule]
    store.put_rules(connection, caller, moved)
    report.rules.added = sum(rule["rule_id"] not in before for rule in moved)
    report.rules.changed = len(moved) - report.rules.added
    report.rules.unchanged = len(put) - len(moved)
