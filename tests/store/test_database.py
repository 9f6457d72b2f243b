"""What every store takes, and a server whose connections end."""

import time

import pytest
from sqlalchemy import text

from shirube.caller import LOCAL
from shirube.errors import NotFound
from shirube.store import database as module
from shirube.store.database import Database
from shirube.store.runs import Run, get_run, save_run
from tests.stores import is_postgres


def test_a_name_with_nul_names_nothing(database: Database) -> None:
    with database.read() as connection, pytest.raises(NotFound):
        get_run(connection, LOCAL, "run\0")


def test_what_holds_nul_can_be_stored(database: Database) -> None:
    run = Run("run-1", "test", {"query": "副業\0"}, [{"name": "a\0b"}], parent="前\0後")
    with database.write() as connection:
        save_run(connection, LOCAL, run)
    with database.read() as connection:
        found = get_run(connection, LOCAL, "run-1")
    assert (found.parent or "").replace("\ufffd", "\0") == run.parent
    assert (found.recipe, list(found.stages)) == (run.recipe, list(run.stages))


@pytest.mark.skipif("not is_postgres()", reason="a test of PostgreSQL's connections: --store postgres")
def test_connections_that_the_server_closed_are_replaced(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.read() as first, database.read() as second:
        asked = text("SELECT pg_backend_pid()")
        processes = [connection.execute(asked).scalar_one() for connection in (first, second)]
    with database.engine.connect() as connection:
        end = text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY(:ids) AND pid <> :own"
        )
        own = connection.execute(asked).scalar_one()
        connection.execute(end, {"ids": processes, "own": own})
    monkeypatch.setattr(module, "_REST_SECONDS", 0.05)
    time.sleep(0.2)
    for _ in range(4):
        with database.read() as first, database.read() as second:
            assert [connection.execute(text("SELECT 1")).scalar_one() for connection in (first, second)] == [
                1,
                1,
            ]
    assert is_postgres()
