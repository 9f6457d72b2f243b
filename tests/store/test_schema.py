"""The schema: what the migrations build is what the code declares, for both databases."""

import io
import runpy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Dialect, Table, inspect, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from shirube.caller import LOCAL
from shirube.errors import Unavailable
from shirube.store import bases, database
from shirube.store.database import HEAD, Database, open_database
from shirube.store.tables import metadata
from tests.store.records import document, put

POSTGRESQL: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
MIGRATIONS = Path(database.__file__).parent / "migrations"


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return ScriptDirectory.from_config(config)


def migrate(operations: Operations, direction: str) -> None:
    """Run every migration's `upgrade` or `downgrade` with `operations` in place of alembic's own context."""
    revisions = list(scripts().walk_revisions())
    for revision in revisions if direction == "downgrade" else reversed(revisions):
        with Operations.context(operations.migration_context):
            runpy.run_path(str(revision.path))[direction]()


def differences(opened: Database) -> list[object]:
    with opened.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return list(compare_metadata(context, metadata))


def test_the_migrations_build_exactly_the_declared_tables(database: Database) -> None:
    assert differences(database) == []


def test_a_declared_column_without_a_migration_would_be_noticed(
    database: Database,
) -> None:
    with database.write() as connection:
        connection.execute(text("ALTER TABLE runs DROP COLUMN parent"))
    [difference] = differences(database)
    assert isinstance(difference, tuple)
    assert difference[0] == "add_column"
    assert isinstance(difference[3], Column)
    assert difference[3].name == "parent"


def test_the_version_that_the_code_asks_for_is_the_newest_migration() -> None:
    assert scripts().get_current_head() == HEAD


def test_going_down_again_leaves_no_table(database: Database) -> None:
    with database.write() as connection:
        migrate(Operations(MigrationContext.configure(connection)), "downgrade")
    with database.read() as connection:
        assert inspect(connection).get_table_names() == ["alembic_version"]


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_every_table_can_be_made_in_postgresql(table: Table) -> None:
    made = str(CreateTable(table).compile(dialect=POSTGRESQL))
    assert made.strip().startswith(f"CREATE TABLE {table.name} (")
    for column in table.columns:
        assert f"\t{POSTGRESQL.identifier_preparer.quote(column.name)} " in made
    for index in table.indexes:
        assert f"ON {table.name}" in str(CreateIndex(index).compile(dialect=POSTGRESQL))


@pytest.mark.parametrize("name", ["passages", "audit"])
def test_rows_that_number_themselves_count_in_64_bits_in_postgresql(name: str) -> None:
    made = str(CreateTable(metadata.tables[name]).compile(dialect=POSTGRESQL))
    assert "id BIGSERIAL" in made


def test_the_migrations_can_be_run_on_postgresql() -> None:
    written = io.StringIO()
    context = MigrationContext.configure(
        dialect_name="postgresql", opts={"as_sql": True, "output_buffer": written}
    )
    migrate(Operations(context), "upgrade")
    for table in metadata.sorted_tables:
        assert f"CREATE TABLE {table.name} (" in written.getvalue()
    assert "id BIGSERIAL" in written.getvalue()


def test_opening_a_database_again_keeps_what_is_in_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new' / 'folder' / 'shirube.db'}"
    first = open_database(url)
    with first.write() as connection:
        base = bases.create_base(connection, LOCAL, "規程")
    first.close()
    again = open_database(url)
    with again.read() as connection:
        assert bases.get_base(connection, LOCAL, base.id) == base
    again.close()


def test_an_older_database_is_counted_when_it_is_opened(tmp_path: Path) -> None:
    """The documents of version 0001 had no counts beside them."""
    url = f"sqlite:///{tmp_path / 'shirube.db'}"
    first = open_database(url)
    with first.write() as connection:
        base = bases.create_base(connection, LOCAL, "規程")
        put(connection, base, document("甲.md", "一", "二"), document("乙.md", "三", department="人事"))
        before = bases.summarise_base(connection, LOCAL, base.id)
        context = MigrationContext.configure(connection)
        with Operations.context(context):
            for newer in ("0007", "0006", "0005", "0004", "0003", "0002"):
                runpy.run_path(str(scripts().get_revision(newer).path))["downgrade"]()
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    first.close()
    again = open_database(url)
    with again.read() as connection:
        after, counts = bases.summarise_base(connection, LOCAL, base.id)
        assert (after.id, counts) == (base.id, before[1])
        assert (counts.total_documents, counts.total_chunks) == (2, 3)
        revision = connection.execute(text("SELECT revision FROM collections")).scalar()
        assert revision == after.revision, "its summary is still to be made"
    again.close()


def test_several_databases_are_made_by_several_threads(tmp_path: Path) -> None:
    urls = [f"sqlite:///{tmp_path / str(number)}.db" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(open_database, urls))
    for each in made:
        with each.write() as connection:
            bases.create_base(connection, LOCAL, "規程")
        each.close()


def test_a_file_that_is_no_database_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "shirube.db").write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with pytest.raises(Unavailable) as caught:
        open_database(f"sqlite:///{tmp_path / 'shirube.db'}")
    assert caught.value.status == 503
    assert str(tmp_path) not in caught.value.message + (caught.value.hint or "")


def test_a_folder_that_cannot_be_made_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match="Cannot create the data folder"):
        open_database(f"sqlite:///{tmp_path / 'file' / 'shirube.db'}")
