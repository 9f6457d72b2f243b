"""The time that goes into the record, always UTC."""

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)


def aware(moment: datetime) -> datetime:
    """A moment of the record with its zone, which SQLite does not keep."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
