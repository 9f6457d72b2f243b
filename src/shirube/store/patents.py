"""Publications of a tenant, and those that a caller called representative."""

from collections.abc import Mapping, Sequence
from time import time_ns
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, update

from shirube.caller import Caller
from shirube.store.tables import publications, representatives

_BATCH = 500
NUMBERS = ("pub_id", "app_doc_id", "exam_id")
_AT = "@"
_REVISION = select(func.max(publications.c.revision)).where(publications.c.tenant_id == bindparam("tenant"))


class Publication(NamedTuple):
    key: int
    doc_id: str
    record: dict[str, Any]


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


def hashes(connection: Connection, caller: Caller, ids: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Of those publications that there are, key and content hash."""
    found = {}
    for start in range(0, len(ids), _BATCH):
        rows = connection.execute(
            select(publications.c.doc_id, publications.c.key, publications.c.content_hash).where(
                publications.c.tenant_id == caller.tenant,
                publications.c.doc_id.in_(ids[start : start + _BATCH]),
            )
        )
        found.update({row.doc_id: (row.key, row.content_hash) for row in rows})
    return found


def put_publication(
    connection: Connection,
    caller: Caller,
    record: Mapping[str, Any],
    *,
    key: int | None,
    content_hash: str,
    scopes: int,
    revision: int,
) -> None:
    """Write a publication; `key` where it is there already."""
    values = {
        **{name: record.get(name) for name in NUMBERS},
        "content_hash": content_hash,
        "scopes": scopes,
        "revision": revision,
        "record": dict(record),
    }
    if key is None:
        own = {"tenant_id": caller.tenant, "doc_id": record["doc_id"]}
        connection.execute(insert(publications).values(**own, **values))
    else:
        connection.execute(update(publications).where(publications.c.key == key).values(**values))


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


def changed(connection: Connection, tenant: str, since: int) -> list[tuple[str, int]]:
    """Ids and revisions of what changed after a revision, the oldest first."""
    rows = connection.execute(
        select(publications.c.doc_id, publications.c.revision)
        .where(publications.c.tenant_id == tenant, publications.c.revision > since)
        .order_by(publications.c.revision)
    )
    return [(row.doc_id, row.revision) for row in rows]


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
