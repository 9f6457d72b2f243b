"""Programmes and exclusion rules of a tenant, and the imports that brought them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Integer,
    String,
    and_,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    union_all,
    update,
)

from shirube.caller import Caller
from shirube.store.clock import now
from shirube.store.tables import exclusion_rules, program_areas, program_imports, program_versions, programs

_BATCH = 500


class SearchRow(NamedTuple):
    """What searching needs of a programme; the columns of `programs` by their names."""

    unified_id: str
    name: str
    tier: str | None
    authority_level: str | None
    amount_max_man_yen: float | None
    opens: str | None
    closes: str | None
    is_excluded: bool
    purposes: str
    targets: str
    name_text: str
    alias_text: str
    other_text: str
    name_words: str
    other_words: str


class StoredProgram(NamedTuple):
    record: dict[str, Any]
    layers: dict[str, dict[str, Any]]
    checksum: str
    fetched_on: str
    """The day its data is of, as its sources say; "" where none does."""


class Import(NamedTuple):
    id: int
    at: str
    files: list[str]
    report: dict[str, Any]


class Counts(NamedTuple):
    tiers: dict[str, int]
    prefectures: dict[str, int]
    rules: int
    last_import: str | None
    data_as_of: str | None


NONE = "_none"


def begin_import(connection: Connection, caller: Caller, files: Sequence[str]) -> int:
    at = now().isoformat(timespec="seconds").replace("+00:00", "Z")
    row = {"tenant_id": caller.tenant, "at": at, "files": list(files), "report": {}, "has_moved": False}
    made = connection.execute(insert(program_imports).values(**row)).inserted_primary_key
    assert made is not None
    return int(made[0])


def end_import(connection: Connection, import_id: int, report: Mapping[str, Any], *, has_moved: bool) -> None:
    connection.execute(
        update(program_imports)
        .where(program_imports.c.id == import_id)
        .values(report=dict(report), has_moved=has_moved)
    )


def imports(connection: Connection, caller: Caller) -> list[Import]:
    """All imports, the oldest first."""
    rows = connection.execute(
        select(program_imports.c.id, program_imports.c.at, program_imports.c.files, program_imports.c.report)
        .where(program_imports.c.tenant_id == caller.tenant)
        .order_by(program_imports.c.id)
    )
    return [Import(row.id, row.at, list(row.files), dict(row.report)) for row in rows]


def revision_of(connection: Connection, caller: Caller) -> int:
    """The last import that changed something."""
    moved = and_(program_imports.c.tenant_id == caller.tenant, program_imports.c.has_moved)
    return int(connection.execute(select(func.max(program_imports.c.id)).where(moved)).scalar() or 0)


def stored_programs(connection: Connection, caller: Caller, ids: Sequence[str]) -> dict[str, StoredProgram]:
    found = {}
    columns = (programs.c.record, programs.c.layers, programs.c.source_checksum, programs.c.fetched_on)
    wanted = select(programs.c.unified_id, *columns)
    for row in _chosen(connection, wanted, caller, ids):
        found[row.unified_id] = StoredProgram._make(row[1:])
    return found


def records(connection: Connection, caller: Caller, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The records of those ids that there are."""
    wanted = select(programs.c.unified_id, programs.c.record)
    return {row.unified_id: row.record for row in _chosen(connection, wanted, caller, ids)}


def _chosen(connection: Connection, wanted: Any, caller: Caller, ids: Sequence[str]) -> Iterator[Any]:
    for start in range(0, len(ids), _BATCH):
        chosen = programs.c.unified_id.in_(ids[start : start + _BATCH])
        yield from connection.execute(wanted.where(programs.c.tenant_id == caller.tenant, chosen))


def put_programs(
    connection: Connection,
    caller: Caller,
    import_id: int,
    rows: Iterable[tuple[SearchRow, StoredProgram]],
) -> None:
    """Write these programmes in place of what there was of them."""
    own = {"tenant_id": caller.tenant}
    rows = iter(rows)
    while some := list(islice(rows, _BATCH)):
        ids = [row.unified_id for row, _ in some]
        connection.execute(
            delete(programs).where(programs.c.tenant_id == caller.tenant, programs.c.unified_id.in_(ids))
        )
        connection.execute(
            insert(programs),
            [
                {
                    **own,
                    **row._asdict(),
                    "record": stored.record,
                    "layers": stored.layers,
                    "source_checksum": stored.checksum,
                    "fetched_on": stored.fetched_on,
                }
                for row, stored in some
            ],
        )
        areas = [
            {**own, "unified_id": row.unified_id, "prefecture": area}
            for row, stored in some
            for area in stored.record["prefectures"]
        ]
        if areas:
            connection.execute(insert(program_areas), areas)
        connection.execute(
            insert(program_versions),
            [
                {**own, "unified_id": row.unified_id, "import_id": import_id, "record": stored.record}
                for row, stored in some
            ],
        )


def put_layers(connection: Connection, caller: Caller, layers: Mapping[str, Mapping[str, Any]]) -> None:
    """Note what sources say of programmes whose records stay as they are."""
    for unified_id, said in layers.items():
        chosen = and_(programs.c.tenant_id == caller.tenant, programs.c.unified_id == unified_id)
        connection.execute(update(programs).where(chosen).values(layers=dict(said)))


def search_rows(connection: Connection, caller: Caller) -> list[SearchRow]:
    columns = [programs.c[name] for name in SearchRow._fields]
    rows = connection.execute(select(*columns).where(programs.c.tenant_id == caller.tenant))
    return [SearchRow._make(row) for row in rows]


def search_areas(connection: Connection, caller: Caller) -> list[tuple[str, str]]:
    own = program_areas.c.tenant_id == caller.tenant
    rows = connection.execute(select(program_areas.c.unified_id, program_areas.c.prefecture).where(own))
    return [(row.unified_id, row.prefecture) for row in rows]


def rules(connection: Connection, caller: Caller) -> list[dict[str, Any]]:
    """All exclusion rules in the order they came."""
    rows = connection.execute(
        select(exclusion_rules.c.rule)
        .where(exclusion_rules.c.tenant_id == caller.tenant)
        .order_by(exclusion_rules.c.position, exclusion_rules.c.rule_id)
    )
    return [row.rule for row in rows]


def put_rules(connection: Connection, caller: Caller, put: Sequence[Mapping[str, Any]]) -> None:
    """Write these rules; one that is there already keeps its place."""
    own = exclusion_rules.c.tenant_id == caller.tenant
    places = {
        row.rule_id: row.position
        for row in connection.execute(
            select(exclusion_rules.c.rule_id, exclusion_rules.c.position).where(own)
        )
    }
    following = max(places.values(), default=0)
    for rule in put:
        following += 1
        place = places.get(rule["rule_id"], following)
        connection.execute(delete(exclusion_rules).where(own, exclusion_rules.c.rule_id == rule["rule_id"]))
        connection.execute(
            insert(exclusion_rules).values(
                tenant_id=caller.tenant, rule_id=rule["rule_id"], position=place, rule=dict(rule)
            )
        )


def records_at(
    connection: Connection, caller: Caller, import_id: int, since: int
) -> dict[str, dict[str, Any]]:
    """The records that imports after `since` up to `import_id` wrote, each as the last of them left it."""
    rows = connection.execute(
        select(program_versions.c.unified_id, program_versions.c.record)
        .where(
            program_versions.c.tenant_id == caller.tenant,
            program_versions.c.import_id > since,
            program_versions.c.import_id <= import_id,
        )
        .order_by(program_versions.c.import_id)
    )
    return {row.unified_id: row.record for row in rows}


def records_before(
    connection: Connection, caller: Caller, import_id: int, ids: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """These records as they were after an import; those that came later are left out."""
    found = {}
    for start in range(0, len(ids), _BATCH):
        rows = connection.execute(
            select(program_versions.c.unified_id, program_versions.c.record)
            .where(
                program_versions.c.tenant_id == caller.tenant,
                program_versions.c.import_id <= import_id,
                program_versions.c.unified_id.in_(ids[start : start + _BATCH]),
            )
            .order_by(program_versions.c.import_id)
        )
        found.update({row.unified_id: row.record for row in rows})
    return found


def counts(connection: Connection, caller: Caller) -> Counts:
    """All counts, in one statement."""
    own = programs.c.tenant_id == caller.tenant
    nothing = null().cast(String(40))
    joined = programs.outerjoin(
        program_areas,
        and_(
            program_areas.c.tenant_id == programs.c.tenant_id,
            program_areas.c.unified_id == programs.c.unified_id,
        ),
    )
    prefecture = func.coalesce(program_areas.c.prefecture, NONE)
    tier = func.coalesce(programs.c.tier, NONE)
    rows = connection.execute(
        union_all(
            select(
                literal("tier").label("part"),
                tier.label("name"),
                func.count().label("number"),
                nothing.label("at"),
            )
            .where(own)
            .group_by(tier),
            select(literal("prefecture"), prefecture, func.count(), nothing)
            .select_from(joined)
            .where(own)
            .group_by(prefecture),
            select(literal("rules"), literal(""), func.count(), nothing).where(
                exclusion_rules.c.tenant_id == caller.tenant
            ),
            select(literal("data"), literal(""), literal(0, Integer), func.max(programs.c.fetched_on)).where(
                own
            ),
            select(literal("import"), literal(""), literal(0, Integer), func.max(program_imports.c.at)).where(
                program_imports.c.tenant_id == caller.tenant
            ),
        )
    ).all()
    by_part = {
        part: {row.name: row for row in rows if row.part == part} for part in {row.part for row in rows}
    }
    return Counts(
        {name: row.number for name, row in by_part.get("tier", {}).items()},
        {name: row.number for name, row in by_part.get("prefecture", {}).items()},
        by_part["rules"][""].number,
        by_part["import"][""].at,
        by_part["data"][""].at or (by_part["import"][""].at or "")[:10] or None,
    )
