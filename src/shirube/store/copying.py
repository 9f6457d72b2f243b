"""Moving everything from one store to another: from SQLite to PostgreSQL, when a laptop becomes a company."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, String, Table, func, insert, select, text
from sqlalchemy.exc import DataError, DBAPIError

from shirube.errors import InvalidInput
from shirube.store.database import Database
from shirube.store.tables import metadata

_BATCH = 1000
Progress = Callable[[int, int], None]


def copy_store(source: Database, target: Database, progress: Progress | None = None) -> dict[str, int]:
    """All rows of every table, in one transaction; the target has to be empty. How many there were of each."""
    copied: dict[str, int] = {}
    with source.read() as reading, target.write() as writing:
        for table in metadata.sorted_tables:
            if writing.execute(select(table).limit(1)).first() is not None:
                raise InvalidInput(
                    f"The target is not empty: {table.name} has rows",
                    f"コピー先が空ではありません（{table.name} に行があります）。",
                    hint="空のデータベースを指定してください。 Name an empty database.",
                )
        total = sum(_count(reading, table) for table in metadata.sorted_tables)
        done = 0
        for table in metadata.sorted_tables:
            copied[table.name] = 0
            for rows in reading.execute(select(table)).partitions(_BATCH):
                _put(writing, table, [dict(row._mapping) for row in rows])
                copied[table.name] += len(rows)
                done += len(rows)
                if progress:
                    progress(done, total)
            _continue_numbers(writing, table)
            if _count(writing, table) != copied[table.name]:
                raise RuntimeError(f"{table.name} was not copied whole")
    return copied


def _put(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    try:
        connection.execute(insert(table), rows)
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        place = _at_fault(table, rows) if isinstance(error, DataError) else table.name
        reason = str(error.orig).partition("\n")[0]
        raise InvalidInput(
            f"A row of {place} cannot be taken over: {reason}",
            f"{place} の行をコピーできません（{reason}）。",
            hint="コピー先には何も書いていません。原因を直してから、やり直してください。 "
            "Nothing was written. Mend the cause and try again.",
        ) from error


def _at_fault(table: Table, rows: Sequence[dict[str, Any]]) -> str:
    """The table, with the column where a value is too long for it: PostgreSQL does not say which."""
    for column in table.columns:
        most = column.type.length if isinstance(column.type, String) else None
        if most is not None and any(len(row[column.name] or "") > most for row in rows):
            return f"{table.name}.{column.name}"
    return table.name


def _count(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def _continue_numbers(connection: Connection, table: Table) -> None:
    """PostgreSQL counts on by itself from where it was; SQLite from the highest number there is."""
    column = table.autoincrement_column
    if column is None or connection.dialect.name != "postgresql":
        return
    highest = connection.execute(select(func.max(column))).scalar()
    sequence = connection.execute(
        text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": table.name, "column": column.name}
    ).scalar()
    if highest is not None and sequence:
        connection.execute(
            text("SELECT setval(:sequence, :highest)"), {"sequence": sequence, "highest": highest}
        )
