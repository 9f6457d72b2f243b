"""The audit log: one row a call, who and what and how it ended; never what was asked or answered."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, select

from shirube.caller import Caller
from shirube.store.clock import aware, now
from shirube.store.tables import audit

KEPT = timedelta(days=90)
_ADD = insert(audit)


@dataclass(frozen=True)
class Call:
    at: datetime
    tenant: str
    subject: str
    operation: str
    outcome: str
    duration_ms: float
    result_count: int | None
    run_id: str | None


def calls(connection: Connection, caller: Caller, last: int | None = None) -> list[Call]:
    """The calls of the caller's tenant, oldest first; only the last ones where a number is given."""
    return every_call(connection, caller.tenant, last)


def every_call(connection: Connection, tenant: str | None = None, last: int | None = None) -> list[Call]:
    """The calls of one tenant, or of all where none is named: for whoever owns the data, not for callers.

    By time, as nodes that write at the same time do not number their rows by it.
    """
    wanted = select(audit).order_by(audit.c.at.desc(), audit.c.id.desc()).limit(last)
    if tenant is not None:
        wanted = wanted.where(audit.c.tenant_id == tenant)
    rows = connection.execute(wanted).all()
    return [
        Call(
            aware(row.at),
            row.tenant_id,
            row.subject,
            row.operation,
            row.outcome,
            row.duration_ms,
            row.result_count,
            row.run_id,
        )
        for row in reversed(rows)
    ]


def expire_calls(connection: Connection) -> int:
    """Drop what is past its time; how many."""
    return connection.execute(delete(audit).where(audit.c.at <= now() - KEPT)).rowcount


def record_call(
    connection: Connection,
    caller: Caller,
    operation: str,
    outcome: str,
    duration_ms: float,
    result_count: int | None = None,
    run_id: str | None = None,
    at: datetime | None = None,
) -> None:
    row = {
        "at": at or now(),
        "tenant_id": caller.tenant,
        "subject": caller.subject,
        "operation": operation,
        "outcome": outcome,
        "duration_ms": duration_ms,
        "result_count": result_count,
        "run_id": run_id,
    }
    connection.execute(_ADD, row)
