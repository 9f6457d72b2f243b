"""Runs: searches kept with their recipe and lineage. A run's id is no authority; its owner is checked at each use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from shirube.caller import Caller
from shirube.errors import NotFound
from shirube.store.clock import now
from shirube.store.tables import runs

LIFETIME = timedelta(hours=12)
_ADD = insert(runs)
# Made once: that takes longer than asking.
_THESE = (
    runs.c.id.in_(bindparam("ids", expanding=True)),
    runs.c.tenant_id == bindparam("tenant"),
    runs.c.owner == bindparam("owner"),
    runs.c.expires_at > bindparam("now"),
)
_HEAD = select(runs.c.id, runs.c.kind, runs.c.recipe, runs.c.parent).where(*_THESE)
_WHOLE = _HEAD.add_columns(runs.c.stages, runs.c.results)


@dataclass(frozen=True)
class Run:
    """One search: how it was made, what each stage did, and what came out."""

    id: str
    kind: str
    recipe: Mapping[str, Any]
    stages: Sequence[Mapping[str, Any]]
    results: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    parent: str | None = None


def save_run(connection: Connection, caller: Caller, run: Run) -> None:
    row = {
        "id": run.id,
        "tenant_id": caller.tenant,
        "owner": caller.subject,
        "kind": run.kind,
        "parent": run.parent,
        "recipe": dict(run.recipe),
        "stages": list(run.stages),
        "results": list(run.results),
        "created_at": now(),
        "expires_at": now() + LIFETIME,
    }
    connection.execute(_ADD, row)


def get_run(connection: Connection, caller: Caller, run_id: str) -> Run:
    """The caller's run; unknown, expired and foreign ones are the same NotFound."""
    [run] = get_runs(connection, caller, [run_id])
    return run


def get_runs(connection: Connection, caller: Caller, ids: Sequence[str], *, head: bool = False) -> list[Run]:
    """The caller's runs in this order, as `get_run` does; `head` leaves out the stages and what came out."""
    wanted = {"ids": list(ids), "tenant": caller.tenant, "owner": caller.subject, "now": now()}
    rows = connection.execute(_HEAD if head else _WHOLE, wanted)
    found = {
        row.id: Run(
            row.id,
            row.kind,
            row.recipe,
            () if head else row.stages,
            () if head else row.results,
            row.parent,
        )
        for row in rows
    }
    if not found.keys() >= set(ids):
        raise NotFound(
            "Run not found",
            "検索結果（run）が見つからないか、期限切れです。",
            hint="検索をやり直してください。 Search again.",
        )
    return [found[each] for each in ids]


def expire_runs(connection: Connection) -> int:
    """Drop what is past its time; how many."""
    return connection.execute(delete(runs).where(runs.c.expires_at <= now())).rowcount
