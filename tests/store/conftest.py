"""A real database for every test: migrated once, then copied."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shirube.caller import LOCAL
from shirube.store import bases
from shirube.store.bases import KnowledgeBase
from shirube.store.database import Database, open_database
from tests.stores import copied, is_postgres, store_url


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database file with the current schema."""
    path = tmp_path_factory.mktemp("migrated") / "shirube.db"
    open_database(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def database(migrated: Path, tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "shirube.db"
    database = open_database(store_url(path) if is_postgres() else copied(migrated, path))
    yield database
    database.close()


@pytest.fixture
def base(database: Database) -> KnowledgeBase:
    with database.write() as connection:
        return bases.create_base(connection, LOCAL, "規程", "社内の規程")
