"""Publications of a tenant, and those that a caller called representative."""

from collections.abc import Mapping, Sequence
from time import time_ns
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select

from shirube.caller import Caller
from shirube.store.tables import publications, representatives

_BATCH = 500
NUMBERS = ("app_doc_id", "pub_id", "exam_id")
_NUMBERS = [publications.c[name] for name in (*NUMBERS, "doc_id")]
_AT = "@"
_REVISION = select(func.max(publications.c.revision)).where(publications.c.tenant_id == bindparam("tenant"))


class Publication(NamedTuple):
    key: int
    doc_id: str
    record: dict[str, Any]


class Known(NamedTuple):
    """What tells whether there is a publication already, and whether it has changed."""

    key: int
    content_hash: str
    numbers: Mapping[str, str | None]

    @property
    def doc_id(self) -> str:
        return self.numbers["doc_id"] or ""


def revision_of(connection: Connection, tenant: str) -> int:
    return int(connection.execute(_REVISION, {"tenant": tenant}).scalar() or 0)


def tenants(connection: Connection) -> dict[str, int]:
    """All tenants that have publications, and how many: for whoever looks after the data, not for callers."""
    tenant = publications.c.tenant_id
    rows = connection.execute(select(tenant, func.count()).group_by(tenant).order_by(tenant))
    return {name: int(held) for name, held in rows}


def state(connection: Connection) -> tuple[int, int]:
    """Something that differs whenever a publication has changed."""
    row = connection.execute(select(func.count(), func.max(publications.c.revision))).one()
    return int(row[0]), int(row[1] or 0)


def sharing(connection: Connection, caller: Caller, records: Sequence[Mapping[str, Any]]) -> dict[int, Known]:
    """What there is with any number of these, or with any number of what was found so; in the order of the keys."""
    found: dict[int, Known] = {}
    asked: set[tuple[str, str]] = set()
    while wanted := {number for each in records for number in telling(each)} - asked:
        asked |= wanted
        records = []
        for kind in (*NUMBERS, "doc_id"):
            ids = [number for each, number in wanted if each == kind]
            for start in range(0, len(ids), _BATCH):
                rows = connection.execute(
                    select(publications.c.key, publications.c.content_hash, *_NUMBERS).where(
                        publications.c.tenant_id == caller.tenant,
                        publications.c[kind].in_(ids[start : start + _BATCH]),
                    )
                )
                for row in rows:
                    numbers = {name: getattr(row, name) for name in (*NUMBERS, "doc_id")}
                    found[row.key] = Known(row.key, row.content_hash, numbers)
                    records.append(numbers)
    return dict(sorted(found.items()))


def telling(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The numbers that tell which publication this is, the application's first. A number without a figure (-, なし)
    tells nothing; the id always does."""
    numbers = [(kind, record[kind]) for kind in NUMBERS if any(map(str.isdigit, record[kind] or ""))]
    return [*numbers, ("doc_id", record["doc_id"])]


def put_publication(
    connection: Connection,
    caller: Caller,
    record: Mapping[str, Any],
    *,
    instead_of: Sequence[Known] = (),
    content_hash: str,
    scopes: int,
    revision: int,
) -> None:
    """Write a publication, `instead_of` what there was of it. It has a new key then: vectors are made for keys."""
    doc_id = record["doc_id"]
    if instead_of:
        keys = [each.key for each in instead_of]
        connection.execute(delete(publications).where(publications.c.key.in_(keys)))
        _rename(connection, caller, [each.doc_id for each in instead_of if each.doc_id != doc_id], doc_id)
    connection.execute(
        insert(publications).values(
            tenant_id=caller.tenant,
            doc_id=doc_id,
            **{name: record.get(name) for name in NUMBERS},
            content_hash=content_hash,
            scopes=scopes,
            revision=revision,
            record=dict(record),
        )
    )


def _rename(connection: Connection, caller: Caller, old: Sequence[str], new: str) -> None:
    """What anybody called representative by an old id of a publication stays so by the new one."""
    if not old:
        return
    mine, table = representatives.c.tenant_id == caller.tenant, representatives.c
    rows = connection.execute(select(representatives).where(mine, table.doc_id.in_([*old, new]))).all()
    moved = {(row.owner, row.lineage): row for row in rows if row.doc_id != new}
    for row in rows:
        if row.doc_id == new:
            moved.pop((row.owner, row.lineage), None)
    connection.execute(delete(representatives).where(mine, table.doc_id.in_(list(old))))
    if moved:
        values = [{**row._mapping, "doc_id": new} for row in moved.values()]
        connection.execute(insert(representatives), values)


def by_key(connection: Connection, tenant: str, keys: Sequence[int]) -> dict[int, Publication]:
    found = {}
    for start in range(0, len(keys), _BATCH):
        rows = connection.execute(
            select(publications.c.key, publications.c.doc_id, publications.c.record).where(
                publications.c.tenant_id == tenant, publications.c.key.in_(list(keys[start : start + _BATCH]))
            )
        )
        found.update({row.key: Publication(row.key, row.doc_id, row.record) for row in rows})
    return found


def by_doc_id(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, Publication]:
    found = {}
    for start in range(0, len(ids), _BATCH):
        rows = connection.execute(
            select(publications.c.key, publications.c.doc_id, publications.c.record).where(
                publications.c.tenant_id == tenant,
                publications.c.doc_id.in_(list(ids[start : start + _BATCH])),
            )
        )
        found.update({row.doc_id: Publication(row.key, row.doc_id, row.record) for row in rows})
    return found


def by_any_id(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, Publication]:
    """As by_doc_id; an id that is none any more is one of the publication's other numbers, from before its
    application was known, and finds it still."""
    found = by_doc_id(connection, tenant, ids)
    for kind in ("pub_id", "exam_id"):
        missing = [each for each in ids if each not in found]
        for start in range(0, len(missing), _BATCH):
            rows = connection.execute(
                select(
                    publications.c.key, publications.c.doc_id, publications.c.record, publications.c[kind]
                ).where(
                    publications.c.tenant_id == tenant,
                    publications.c[kind].in_(missing[start : start + _BATCH]),
                )
            )
            found.update({getattr(row, kind): Publication(row.key, row.doc_id, row.record) for row in rows})
    return found


def by_number(connection: Connection, caller: Caller, kind: str, number: str) -> Publication | None:
    """The publication with this number; `kind` is one of NUMBERS or doc_id."""
    row = connection.execute(
        select(publications.c.key, publications.c.doc_id, publications.c.record)
        .where(publications.c.tenant_id == caller.tenant, publications.c[kind] == number)
        .order_by(publications.c.key)
    ).first()
    return None if row is None else Publication(row.key, row.doc_id, row.record)


def keys(connection: Connection, tenant: str, scope: int = 0) -> list[int]:
    """The keys of all publications; of those that have a text for the scope of this bit."""
    wanted = select(publications.c.key).where(publications.c.tenant_id == tenant)
    if scope:
        wanted = wanted.where(publications.c.scopes.bitwise_and(scope) != 0)
    return list(connection.execute(wanted).scalars())


def count(connection: Connection, tenant: str) -> int:
    own = publications.c.tenant_id == tenant
    return int(connection.execute(select(func.count()).select_from(publications).where(own)).scalar_one())


def changed(connection: Connection, tenant: str, since: int) -> list[tuple[str, int, list[str]]]:
    """Ids and revisions of what changed after a revision, the oldest first, and ids that it may have had before:
    other numbers of it that are no longer the id of anything."""
    rows = connection.execute(
        select(publications.c.doc_id, publications.c.revision, publications.c.pub_id, publications.c.exam_id)
        .where(publications.c.tenant_id == tenant, publications.c.revision > since)
        .order_by(publications.c.revision)
    ).all()
    if not since:  # nobody knows any id of before
        return [(row.doc_id, row.revision, []) for row in rows]
    others = [[each for each in (row.pub_id, row.exam_id) if each and each != row.doc_id] for row in rows]
    numbers = list(dict.fromkeys(number for each in others for number in each))
    in_use: set[str] = set()
    for start in range(0, len(numbers), _BATCH):
        ids = select(publications.c.doc_id).where(
            publications.c.tenant_id == tenant, publications.c.doc_id.in_(numbers[start : start + _BATCH])
        )
        in_use.update(connection.execute(ids).scalars())
    return [
        (row.doc_id, row.revision, [each for each in before if each not in in_use])
        for row, before in zip(rows, others, strict=True)
    ]


def register(
    connection: Connection, caller: Caller, ids: Sequence[str], category: str, lineages: Sequence[str]
) -> None:
    """Call these representative in the searches that come of these runs; in all, where a lineage is empty."""
    own = {"tenant_id": caller.tenant, "owner": caller.subject}
    # The moment is part of what is kept: the last category wins, whichever of the lineages it was given to.
    moment = f"{time_ns():016x}"
    for lineage in lineages:
        connection.execute(
            delete(representatives).where(
                *(representatives.c[name] == value for name, value in own.items()),
                representatives.c.lineage.startswith(f"{lineage}{_AT}", autoescape=True),
                representatives.c.doc_id.in_(list(ids)),
            )
        )
        rows = [{**own, "lineage": f"{lineage}{_AT}{moment}", "doc_id": doc_id} for doc_id in ids]
        if rows:
            connection.execute(insert(representatives), [{**row, "category": category} for row in rows])


def registered(connection: Connection, caller: Caller, lineages: Sequence[str]) -> dict[str, str]:
    """The category of each representative for all searches or one of these lineages; the last one given."""
    rows = connection.execute(
        select(representatives.c.lineage, representatives.c.doc_id, representatives.c.category).where(
            representatives.c.tenant_id == caller.tenant,
            representatives.c.owner == caller.subject,
            or_(
                *(
                    representatives.c.lineage.startswith(f"{each}{_AT}", autoescape=True)
                    for each in ("", *lineages)
                )
            ),
        )
    ).all()
    return {row.doc_id: row.category for row in sorted(rows, key=lambda row: row.lineage.partition(_AT)[2])}
