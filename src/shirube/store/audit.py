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
    subject: str
    operation: str
    outcome: str
    duration_ms: float
    result_count: int | None
    run_id: str | None


def calls(connection: Connection, caller: Caller, last: int | None = None) -> list[Call]:
    """The calls of the caller's tenant, oldest first; only the last ones where a number is given."""
    rows = connection.execute(
        select(audit).where(audit.c.tenant_id == caller.tenant).order_by(audit.c.id.desc()).limit(last)
    ).all()
    return [
        Call(
            aware(row.at),
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
