"""Runs: searches kept with their recipe and lineage. A run's id is no authority; its owner is checked at each use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from shirube.caller import Caller
from shirube.errors import NotFound
from shirube.store.clock import now
from shirube.store.tables import runs

LIFETIME = timedelta(hours=12)
_ADD = insert(runs)


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
    row = connection.execute(
        select(runs).where(
            runs.c.id == run_id,
            runs.c.tenant_id == caller.tenant,
            runs.c.owner == caller.subject,
            runs.c.expires_at > now(),
        )
    ).first()
    if row is None:
        raise NotFound(
            "Run not found",
            "検索結果（run）が見つからないか、期限切れです。",
            hint="検索をやり直してください。 Search again.",
        )
    return Run(row.id, row.kind, row.recipe, row.stages, row.results, row.parent)


def expire_runs(connection: Connection) -> int:
    """Drop what is past its time; how many."""
    return connection.execute(delete(runs).where(runs.c.expires_at <= now())).rowcount
