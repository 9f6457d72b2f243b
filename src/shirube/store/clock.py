"""The time that goes into the record, always UTC."""

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)
