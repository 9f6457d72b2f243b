"""Writers and readers at the same time: nobody is locked out, and every read sees one state."""

import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import select

from shirube.caller import LOCAL
from shirube.store import bases, changes, documents, passages, tables
from shirube.store.database import Database, open_database
from tests.store.records import document, document_id, put, remove
from tests.stores import store_url

ENOUGH = 20
SECONDS = 1.5
SOURCES = ("甲", "乙", "丙")


def test_two_writers_and_four_readers_never_meet_a_lock_or_half_a_change(
    migrated: Path, tmp_path: Path
) -> None:
    path = tmp_path / "shirube.db"
    shutil.copy(migrated, path)
    # Two pools on one file, as two processes have them.
    pools = [open_database(store_url(path)) for _ in range(2)]
    with pools[0].write() as connection:
        base = bases.create_base(connection, LOCAL, "規程")
        ids = {source: document_id(connection, base, source) for source in SOURCES}
    end = time.monotonic() + SECONDS
    done: Counter[str] = Counter()
    failures: list[BaseException] = []

    def goes_on() -> bool:
        """On a busy machine until enough was done."""
        now = time.monotonic()
        return now < end or (min(done["writes"], done["reads"]) < ENOUGH and now < end + 10 * SECONDS)

    def write(database: Database, writer: int) -> None:
        turn = 0
        while goes_on():
            turn += 1
            source = SOURCES[turn % 3]
            version = f"{writer}-{turn}"
            with database.write() as connection:
                if turn % 7:
                    put(connection, base, document(source, *[f"{version}版"] * (1 + turn % 4), title=version))
                else:
                    remove(connection, base, source)
            done["writes"] += 1

    def read(database: Database) -> None:
        last = 0
        while goes_on():
            with database.read() as connection:
                rows = connection.execute(select(tables.documents)).all()
                revision = changes.revision_of(connection, base.id)
                log = changes.changed_documents(connection, base.id, 0)
                sizes = {row.id: row.chunk_count for row in rows}
                for row in rows:
                    held = list(passages.passages_of(connection, [row.id]))
                    assert [each.text for each in held] == [f"{row.title}版"] * row.chunk_count
                    whole = documents.document_text(connection, LOCAL, row.id)
                    assert whole == "\n".join(each.text for each in held)
                [(_, counts)] = bases.list_bases(connection, LOCAL)
            assert revision >= last, "time runs forwards"
            assert max((at for _, at, _ in log), default=0) == revision
            assert {each: size for each, _, size in log if size} == sizes
            assert set(sizes) <= set(ids.values())
            assert (counts.total_documents, counts.total_chunks) == (len(sizes), sum(sizes.values()))
            last = revision
            done["reads"] += 1

    def guarded(work: Callable[..., None], *arguments: object) -> threading.Thread:
        def run() -> None:
            try:
                work(*arguments)
            except BaseException as error:
                failures.append(error)

        return threading.Thread(target=run)

    threads = [guarded(write, pools[at], at) for at in range(2)]
    threads += [guarded(read, pools[at % 2]) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for pool in pools:
        pool.close()
    assert failures == []
    assert done["writes"] >= ENOUGH
    assert done["reads"] >= ENOUGH
