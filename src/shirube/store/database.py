"""Opening the database: SQLite in WAL mode by default, PostgreSQL by URL; the schema is brought up to date first.

Readers and the writer of an SQLite file do not block each other. Writers take their turn: a write transaction
begins IMMEDIATE and waits up to BUSY_SECONDS, so that "database is locked" reaches nobody.
"""

import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, InvalidatePoolError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from shirube.errors import InvalidInput, Unavailable

log = logging.getLogger(__name__)

HEAD = "0007"
BUSY_SECONDS = 60
_WRITES = "shirube_writes"
# "shirube" in ASCII: any number that nobody else locks in the same database.
_ONE_WRITER = 0x73686972756265
_upgrading = threading.Lock()
# Asking whether a connection still stands costs as much as a question: not where it has just answered one.
_REST_SECONDS = 2.0
_USED = "used"


class Database:
    """A pool of connections to an up-to-date schema."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # SQLite's transactions see one state in any case; PostgreSQL's only at this level.
        self._reading = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the data throughout."""
        with self.engine.connect() as plain:
            connection = plain.execution_options(**self._reading) if self._reading else plain
            with connection.begin():
                yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that is kept whole or not at all. One at a time, whoever writes: revisions grow in the order
        in which they can be seen."""
        with self.engine.connect() as plain:
            connection = plain.execution_options(**{_WRITES: True})
            with connection.begin():
                yield connection

    def flush(self) -> None:
        """Bring everything committed so far safely to the disk."""
        if self.engine.dialect.name == "sqlite":
            with self.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(FULL)")

    def close(self) -> None:
        self.engine.dispose()


def open_database(url: str) -> Database:
    """Open `url`, creating the file and bringing the schema up to date where needed."""
    parsed = _parsed(url)
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise _unusable(parsed.get_backend_name())
    if not _is_remote(parsed) and parsed.database:
        folder = Path(parsed.database).parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # it holds whole documents
        except OSError as error:
            raise Unavailable(
                f"Cannot create the data folder {folder.name}: {error.strerror}",
                f"データフォルダー {folder.name} を作成できません（{error.strerror}）。",
                hint="SHIRUBE_HOME に書き込めるフォルダーを指定してください。 Set SHIRUBE_HOME to a writable folder.",
            ) from error
    try:
        # Runs are long lists: pydantic's JSON takes a fifth of the time of the standard library's.
        engine = create_engine(
            parsed,
            json_serializer=_to_json,
            json_deserializer=from_json,
            hide_parameters=True,  # what was asked stays out of logs
            connect_args=_patience(parsed) if _is_remote(parsed) else {},
        )
    except (ArgumentError, ImportError) as error:
        raise _unusable(parsed.get_backend_name()) from error
    if _is_remote(parsed):
        _prepare_postgres(engine)
    else:
        _prepare_sqlite(engine)
    database = Database(engine)
    try:
        if _version(database) != HEAD:
            _upgrade(database)
    except (SQLAlchemyError, OSError) as error:
        engine.dispose()
        log.warning("the database cannot be opened: %s", error)
        raise Unavailable(
            "Failed to connect to the database",
            "データベースに接続できません。",
            hint="PostgreSQL が動いているか確認してください。 Check that PostgreSQL is running."
            if _is_remote(parsed)
            else "ファイルの権限と空き容量を確認してください。 Check permissions and disk space.",
        ) from error
    return database


def check_url(url: str) -> None:
    """Raise where no store can be opened by this address; whether there is one is not asked."""
    try:
        _parsed(url).get_dialect()
    except (ArgumentError, ImportError) as error:
        raise _unusable(url.partition(":")[0]) from error


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except ArgumentError as error:
        raise _unusable(url.partition(":")[0]) from error


def _unusable(backend: str) -> InvalidInput:
    return InvalidInput(
        f"SHIRUBE_STORE cannot be used ({backend})",
        f"SHIRUBE_STORE が使えません（{backend}）。",
        hint="sqlite:///ファイル か postgresql+psycopg://… の形で指定してください（pip install 'shirube[postgres]'）。 "
        "Use sqlite:///FILE or postgresql+psycopg://… (pip install 'shirube[postgres]').",
    )


def _prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin below, not by the driver's guess
        for pragma in (
            f"busy_timeout = {BUSY_SECONDS * 1000}",
            "journal_mode = WAL",
            "synchronous = NORMAL",
            "foreign_keys = ON",
            "cache_size = -65536",
            "mmap_size = 1073741824",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _is_remote(url: URL) -> bool:
    return url.get_backend_name() != "sqlite"


def _patience(url: URL) -> dict[str, Any]:
    """A server that does not answer is given up; what the address itself says counts more."""
    usual = {"connect_timeout": 5, "tcp_user_timeout": 30_000}
    return {name: value for name, value in usual.items() if name not in url.query}


def _prepare_postgres(engine: Engine) -> None:
    from psycopg.types.string import StrDumperUnknown

    class WithoutNul(StrDumperUnknown):
        """PostgreSQL's texts cannot hold U+0000; what is no character becomes the sign for that, and names nothing."""

        def dump(self, obj: str) -> Any:
            return super().dump(obj.replace("\0", "\ufffd"))

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        connection.adapters.register_dumper(str, WithoutNul)

    @event.listens_for(engine, "checkin")
    def rest(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info[_USED] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def wake(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
        """One that was not used for a while may have been closed by the server: it is asked first."""
        if time.monotonic() - record.info.get(_USED, math.inf) > _REST_SECONDS:
            try:
                engine.dialect.do_ping(connection)
            except engine.dialect.loaded_dbapi.Error as error:
                raise InvalidatePoolError from error

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(_WRITES):
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{BUSY_SECONDS}s'")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ONE_WRITER})")


def _to_json(value: Any) -> str:
    return to_json(value, inf_nan_mode="constants").decode()


def _version(database: Database) -> str | None:
    with database.read() as connection:
        if not database.engine.dialect.has_table(connection, "alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade(database: Database) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    # Alembic keeps what it is at in globals: one database at a time, whichever thread opens it.
    with _upgrading, database.write() as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise Unavailable(
                "The data folder was made by a newer version of Shirube",
                "データフォルダーは、より新しい版の Shirube で作られています。",
                hint="pip install -U shirube で更新してください。 Update Shirube.",
            ) from error
