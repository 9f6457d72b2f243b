"""Taking in files of programmes and rules: one transaction, all of it or nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection

from shirube.caller import Caller
from shirube.errors import AccessDenied, InvalidInput
from shirube.ingest.refused import Refused
from shirube.store import programs as store
from shirube.store.clock import now
from shirube.store.database import Database
from shirube.store.programs import SearchRow, StoredProgram
from shirube.text.normalize import fold
from shirube.toolsets.programs.formats import LAYERS, Programme, Row, Rule, Unread, Unusable, read_file
from shirube.toolsets.programs.record import checksum, in_utc, merged
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


class Source(NamedTuple):
    """A file; two may have one name."""

    number: int
    name: str


@dataclass
class Report:
    import_id: int = 0
    programs: Tally = field(default_factory=Tally)
    rules: Tally = field(default_factory=Tally)
    refused: list[RefusedRow] = field(default_factory=list)
    unread: dict[str, list[str]] = field(default_factory=dict)
    """By file, the columns that mean nothing here."""

    @property
    def has_any(self) -> bool:
        return any(sum(vars(tally).values()) for tally in (self.programs, self.rules))

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
            hint="--strict を外すと、取り込める行だけを取り込みます。 Without --strict those that can be are taken in.",
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
    files = [Source(number, path.name) for number, path in enumerate(paths)]
    rows = [(file, row) for file, path in zip(files, paths, strict=True) for row in read_file(path)]
    with database.write() as connection:
        report.import_id = store.begin_import(connection, caller, [path.name for path in paths])
        _take_programs(connection, caller, rows, report, progress)
        _take_rules(connection, caller, rows, report)
        _refuse(rows, report)
        if report.refused and (strict or not report.has_any):
            raise RefusedImport(report)
        store.end_import(connection, report.import_id, _summary(report), has_moved=report.has_moved)
    return report


def _summary(report: Report) -> dict[str, Any]:
    return {
        "programs": vars(report.programs),
        "rules": vars(report.rules),
        "refused": len(report.refused),
    }


def _refuse(rows: Sequence[tuple[Source, Row]], report: Report) -> None:
    for file, row in rows:
        if isinstance(row.content, Unusable):
            said = row.content
            report.refused.append(RefusedRow(file.name, row.place, said.id, said.reason, said.ja))
        elif isinstance(row.content, Unread):
            report.unread[file.name] = list(row.content.headings)
    names = list(dict.fromkeys(file.name for file, _ in rows))
    report.refused.sort(key=lambda refused: (names.index(refused.file), refused.row))


def _take_programs(
    connection: Connection,
    caller: Caller,
    rows: Sequence[tuple[Source, Row]],
    report: Report,
    progress: Progress | None,
) -> None:
    said = [(file, row.place, row.content) for file, row in rows if isinstance(row.content, Programme)]
    stored = store.stored_programs(connection, caller, list(dict.fromkeys(each.id for _, _, each in said)))
    before = dict(stored)
    seen: set[tuple[Source, str, str]] = set()
    touched: dict[str, None] = {}
    for file, place, programme in said:
        if (key := (file, programme.id, programme.layer)) in seen:
            twice = (
                "unified_id is given twice in this file",
                "同じ unified_id がファイル内に 2 つあります。",
            )
            report.refused.append(RefusedRow(file.name, place, programme.id, *twice))
            continue
        seen.add(key)
        try:
            made = _with(stored.get(programme.id), programme, file.name)
        except Refused as refused:
            report.refused.append(RefusedRow(file.name, place, programme.id, refused.reason, refused.ja))
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
) -> Iterator[tuple[SearchRow, StoredProgram]]:
    """The programmes as they are written."""
    for number, key in enumerate(ids, start=1):
        yield search_row(stored[key].record), stored[key]
        if progress:
            progress(number, len(ids))


def _with(stored: StoredProgram | None, programme: Programme, file: str) -> StoredProgram:
    """The programme with what this row says."""
    fields = {name: value for name, value in programme.fields.items() if name != "source_fetched_at"}
    layers = dict(stored.layers) if stored else {}
    layers[programme.layer] = fields if programme.layer != "table" else _corrections(layers, fields)
    record = merged([layers[layer] for layer in LAYERS if layers.get(layer)])
    if record["source_url"] is None:  # the file it first came in: that it has another name now is no change
        known = stored.record["source_url"] if stored else ""
        record["source_url"] = known if known.startswith(_FILE) else _FILE + file
    made = checksum(record)
    if stored and stored.checksum == made:
        return StoredProgram(stored.record, layers, made, stored.fetched_on)
    times = [stored.record["source_fetched_at"] if stored and stored.fetched_on else None]
    times.append(programme.fields.get("source_fetched_at"))
    latest = max((time for time in times if time), key=in_utc, default=None)
    record["source_fetched_at"] = latest or now().isoformat()
    record["source_checksum"] = made
    return StoredProgram(record, layers, made, in_utc(latest).date().isoformat() if latest else "")


def _corrections(layers: Mapping[str, Mapping[str, Any]], fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a table says that the sources do not: only that is kept, so that their changes still show."""
    others = [layers[layer] for layer in LAYERS if layer != "table" and layer in layers]
    if not others:
        return dict(fields)
    said = merged(others)
    new = {name: value for name, value in fields.items() if name == "unified_id" or said.get(name) != value}
    if said["enriched"]:
        new.pop("enriched", None)
    kept = {name: value for name, value in layers.get("table", {}).items() if name not in fields}
    return {**kept, **new}


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
    connection: Connection, caller: Caller, rows: Sequence[tuple[Source, Row]], report: Report
) -> None:
    before = {rule["rule_id"]: rule for rule in store.rules(connection, caller)}
    put: dict[str, dict[str, Any]] = {}
    seen: set[tuple[Source, str]] = set()
    for file, row in rows:
        if not isinstance(row.content, Rule):
            continue
        rule = row.content
        if (file, rule.id) in seen:
            twice = ("rule_id is given twice in this file", "同じ rule_id がファイル内に 2 つあります。")
            report.refused.append(RefusedRow(file.name, row.place, rule.id, *twice))
            continue
        seen.add((file, rule.id))
        put[rule.id] = rule.rule
    moved = [rule for key, rule in put.items() if before.get(key) != rule]
    store.put_rules(connection, caller, moved)
    report.rules.added = sum(rule["rule_id"] not in before for rule in moved)
    report.rules.changed = len(moved) - report.rules.added
    report.rules.unchanged = len(put) - len(moved)
