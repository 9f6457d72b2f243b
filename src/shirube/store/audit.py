"""The audit log: one row a call, who and what and how it ended; never what was asked or answered."""

from datetime import timedelta

from sqlalchemy import Connection, delete, insert

from shirube.caller import Caller
from shirube.store.clock import now
from shirube.store.tables import audit

KEPT = timedelta(days=90)


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
) -> None:
    connection.execute(
        insert(audit).values(
            at=now(),
            tenant_id=caller.tenant,
            subject=caller.subject,
            operation=operation,
            outcome=outcome,
            duration_ms=duration_ms,
            result_count=result_count,
            run_id=run_id,
        )
    )
