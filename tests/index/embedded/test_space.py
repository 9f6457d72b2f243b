"""A space on disk keeps up with its store, whatever happens to its files and whoever else is at work."""

import json
import random
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from shirube.caller import LOCAL
from shirube.errors import Unavailable
from shirube.index.contract import Change, Embedded, Entry
from shirube.index.embedded import slices
from shirube.index.embedded import space as module
from shirube.index.embedded.space import EmbeddedSpace
from shirube.query.filters import Filters
from shirube.query.tree import Not, Phrase
from shirube.store import bases, tables
from shirube.store.bases import KnowledgeBase
from shirube.store.database import Database, open_database
from shirube.toolsets.knowledge.feed import LAYOUT, WEIGHTS, KnowledgeFeed
from tests.store.records import document, put, remove
from tests.stores import copied, store_url

EVERYTHING = Not(Phrase("どこにもない語"))


def keys(space: EmbeddedSpace) -> set[int]:
    found = space.search(EVERYTHING, {}, Filters(), 10_000)
    assert space.count() == len(found)
    return {hit.key for hit in found}


def answer(space: EmbeddedSpace) -> tuple[object, ...]:
    """Something of everything that is read from the text."""
    hits = sorted(space.search("通勤手当の届出", WEIGHTS, Filters(), 1000), key=lambda hit: hit.key)
    order = [hit.key for hit in hits]
    return (
        [round(hit.score, 3) for hit in hits],
        order,
        space.matches("届出", Filters()),
        space.facets("collection", Filters(), 10),
        space.rarity(["手当", "届け出"], "body"),
        {name: [list(map(int, each)) for each in held] for name, held in space.terms(order).words.items()},
    )


def allowance(number: int) -> Sequence[str]:
    return [f"通勤手当{number}の届出は{day}日以内に行う。" for day in range(3)]


@dataclass(frozen=True)
class Built:
    """A database of twenty small documents and its index, to be copied."""

    database: Path
    index: Path
    base: KnowledgeBase


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    database = open_database(store_url(folder / "shirube.db"))
    with database.write() as connection:
        base = bases.create_base(connection, LOCAL, "規程")
        for number in range(20):
            put(connection, base, document(f"{number}.md", *allowance(number)))
    assert EmbeddedSpace(folder / "index", LAYOUT, KnowledgeFeed(database, base.id)).catch_up()
    database.close()
    return Built(folder / "shirube.db", folder / "index", base)


@pytest.fixture
def database(built: Built, tmp_path: Path) -> Iterator[Database]:
    database = open_database(copied(built.database, tmp_path / "shirube.db"))
    yield database
    database.close()


@pytest.fixture
def base(built: Built) -> KnowledgeBase:
    return built.base


@pytest.fixture
def feed(database: Database, base: KnowledgeBase) -> KnowledgeFeed:
    return KnowledgeFeed(database, base.id)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def space(built: Built, folder: Path, feed: KnowledgeFeed) -> EmbeddedSpace:
    shutil.copytree(built.index, folder)
    space = EmbeddedSpace(folder, LAYOUT, feed)
    assert space.refresh()
    return space


# Keeping up


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return open_database(store_url(tmp_path_factory.mktemp("shared") / "shirube.db"))


# Put so many passages under a name, remove what stands there (0), or catch up (None).
STEPS = st.lists(st.one_of(st.none(), st.tuples(st.sampled_from("甲乙丙"), st.integers(0, 3))), max_size=7)


@settings(max_examples=8)
@given(steps=STEPS)
def test_after_any_changes_the_index_holds_what_the_store_holds(
    shared: Database, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int] | None]
) -> None:
    with shared.write() as connection:
        base = bases.create_base(connection, LOCAL, str(uuid.uuid4()))
    feed = KnowledgeFeed(shared, base.id)
    space = EmbeddedSpace(tmp_path_factory.mktemp("index"), LAYOUT, feed)
    for step in [*steps, None]:
        if step is None:
            assert space.catch_up()
            assert keys(space) == set(feed.keys())
            assert space.revision == feed.revision()
        else:
            name, size = step
            with shared.write() as connection:
                if size:
                    put(connection, base, document(name, *["文"] * size))
                else:
                    remove(connection, base, name)


def test_catching_up_does_nothing_when_nothing_changed(space: EmbeddedSpace, folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix != ".lock"}
    assert space.catch_up()
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix != ".lock"} == before


def test_a_large_change_becomes_searchable_slice_by_slice(
    folder: Path, feed: KnowledgeFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "SLICE", 15)
    space = EmbeddedSpace(folder, LAYOUT, feed)
    searchable: list[tuple[int, int]] = []

    def note(done: int, total: int) -> None:
        searchable.append((done, total))

    assert space.catch_up(note)
    assert searchable == [(15, 60), (30, 60), (45, 60), (60, 60)]
    assert keys(space) == set(feed.keys())


class Interrupted(KnowledgeFeed):
    """Fails after so many groups of entries, as a store does whose connection breaks."""

    left = 2

    def entries(self, groups: Sequence[str]) -> Iterator[Entry]:
        self.left -= 1
        if self.left < 0:
            raise Unavailable("gone", "gone")
        yield from super().entries(groups)


def test_an_interrupted_catch_up_goes_on_where_it_stopped(
    folder: Path,
    database: Database,
    base: KnowledgeBase,
    feed: KnowledgeFeed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slices, "SLICE", 15)
    broken = Interrupted(database, base.id)
    with pytest.raises(Unavailable):
        EmbeddedSpace(folder, LAYOUT, broken).catch_up()
    space = EmbeddedSpace(folder, LAYOUT, feed)
    assert not space.refresh()
    assert 0 < space.count() < 60
    done: list[int] = []
    assert space.catch_up(lambda _done, total: done.append(total))
    assert set(done) == {30}, "only what was missing is read again"
    assert keys(space) == set(feed.keys())


def test_a_store_that_was_put_back_to_an_older_state_is_noticed(
    folder: Path, feed: KnowledgeFeed, space: EmbeddedSpace, database: Database, base: KnowledgeBase
) -> None:
    with database.write() as connection:
        connection.execute(tables.documents.delete().where(tables.documents.c.source == "19.md"))
        connection.execute(tables.changes.delete().where(tables.changes.c.revision > 19))
        connection.execute(tables.knowledge_bases.update().values(revision=19))
    assert space.catch_up()
    assert keys(space) == set(feed.keys())
    assert space.revision == 19


def test_entries_that_went_missing_from_the_index_are_noticed(
    space: EmbeddedSpace, feed: KnowledgeFeed
) -> None:
    text = space._text
    assert text is not None
    lost = feed.changes(0)[3].group
    list(text.write(space.revision, [lost], []))
    assert space.count() == 57
    assert space.catch_up()
    assert keys(space) == set(feed.keys())


# Damage


def texts_of(folder: Path) -> list[Path]:
    """Tantivy's files that hold something; locks are empty and its own list of files is made anew."""
    return [path for path in sorted(folder.glob("text-*/*")) if not path.name.startswith(".")]


def replaced(path: Path, content: bytes) -> None:
    """Another file in its place: what is mapped into memory stays."""
    new = path.with_name("new")
    new.write_bytes(content)
    new.replace(path)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: replaced(path, b""),
    "cut": lambda path: replaced(path, path.read_bytes()[: path.stat().st_size // 2]),
    "garbled": lambda path: replaced(path, random.Random(1).randbytes(path.stat().st_size)),
}


@pytest.mark.parametrize("turn", range(2))
@pytest.mark.parametrize("suffix", [".fast", ".fieldnorm", ".idx", ".store", ".term", ".json"])
def test_a_damaged_file_is_a_delay_and_not_a_wrong_answer(
    space: EmbeddedSpace, folder: Path, feed: KnowledgeFeed, suffix: str, turn: int
) -> None:
    before = answer(space)
    chosen = [path for path in texts_of(folder) if path.suffix == suffix]
    for at, path in enumerate(chosen):
        list(DAMAGES.values())[(turn * 2 + at) % 4](path)
    opened = EmbeddedSpace(folder, LAYOUT, feed)
    assert opened.catch_up()
    assert answer(opened) == before
    assert answer(EmbeddedSpace(folder, LAYOUT, feed)) == before, "what was built anew is on disk"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b'{"generation": "text-9"}'])
def test_a_current_file_without_sense_is_built_anew(
    space: EmbeddedSpace, folder: Path, feed: KnowledgeFeed, content: bytes
) -> None:
    before = answer(space)
    (folder / "current.json").write_bytes(content)
    opened = EmbeddedSpace(folder, LAYOUT, feed)
    assert not opened.refresh()
    assert answer(opened) == before
    assert opened.refresh()


@pytest.mark.parametrize("what", ["current.json", "text-1", "text-1/meta.json", "."])
def test_what_disappears_under_an_open_space_is_built_anew_with_the_next_change(
    space: EmbeddedSpace,
    folder: Path,
    feed: KnowledgeFeed,
    database: Database,
    base: KnowledgeBase,
    what: str,
) -> None:
    path = folder / what
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    with database.write() as connection:
        put(connection, base, document("新しい.md", "通勤手当の届出"))
    assert space.catch_up()
    assert keys(space) == set(feed.keys())
    assert answer(EmbeddedSpace(folder, LAYOUT, feed)) == answer(space)


def test_reading_alone_builds_what_is_missing(folder: Path, feed: KnowledgeFeed) -> None:
    space = EmbeddedSpace(folder, LAYOUT, feed)
    assert keys(space) == set(feed.keys())


def test_damage_that_two_see_at_once_is_mended_once(space: EmbeddedSpace, folder: Path) -> None:
    before = answer(space)
    damaged = space._text
    space.rebuild(damaged=damaged)
    space.rebuild(damaged=damaged)
    assert (folder / "text-2").exists()
    assert not (folder / "text-3").exists()
    assert answer(space) == before


@pytest.mark.parametrize("changed", ["layout", "tokens", "synonyms"])
def test_an_index_of_another_layout_or_version_is_built_anew(
    space: EmbeddedSpace, folder: Path, feed: KnowledgeFeed, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    layout = LAYOUT
    if changed == "layout":
        layout = replace(LAYOUT, phrases=True)
    elif changed == "tokens":
        monkeypatch.setattr(module, "VERSION", -1)
    else:
        monkeypatch.setattr("shirube.text.synonyms._written", lambda: "手当\t補助\n")
    opened = EmbeddedSpace(folder, layout, feed)
    assert not opened.refresh()
    assert opened.catch_up()
    assert keys(opened) == set(feed.keys())
    assert not (folder / "text-1").exists()
    assert json.loads((folder / "current.json").read_text())["generation"] == "text-2"


# Others at work

READER = """
import sys
from pathlib import Path
from shirube.index.embedded.space import EmbeddedSpace
from shirube.query.filters import Filters
from shirube.store.database import open_database
from shirube.toolsets.knowledge.feed import LAYOUT, KnowledgeFeed

database, base, folder = sys.argv[1:]
space = EmbeddedSpace(Path(folder), LAYOUT, KnowledgeFeed(open_database(database), base))
for line in sys.stdin:
    current = space.refresh()
    hits = space.search(line.strip(), {}, Filters(), 1000)
    print(current, len(hits), space.count(), flush=True)
"""

HOLDER = """
import sys
from filelock import FileLock

with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def process(code: str, *arguments: str) -> Iterator[Callable[[str], str]]:
    """Another Python at work: give it a line, get a line; it ends with its input."""
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin
        assert child.stdout
        given, made = child.stdin, child.stdout

        def ask(line: str) -> str:
            if line:
                given.write(line + "\n")
                given.flush()
            return made.readline().strip()

        yield ask
        given.close()


def test_another_process_sees_new_documents_while_this_one_writes(
    space: EmbeddedSpace, folder: Path, database: Database, base: KnowledgeBase
) -> None:
    url = database.engine.url.render_as_string()
    with process(READER, url, base.id, str(folder)) as ask:
        assert ask("慶弔見舞金") == "True 0 60"
        for number in range(1, 4):
            with database.write() as connection:
                put(connection, base, document(f"慶弔{number}.md", "慶弔見舞金"))
            assert ask("慶弔見舞金") == f"False {number - 1} {59 + number}", "the store is ahead of the index"
            space.catch_up()
            assert ask("慶弔見舞金") == f"True {number} {60 + number}"
        space.rebuild()
        assert ask("慶弔見舞金") == "True 3 63"


def test_while_another_process_writes_nobody_waits_who_only_reads(
    space: EmbeddedSpace, folder: Path, feed: KnowledgeFeed, database: Database, base: KnowledgeBase
) -> None:
    before = answer(space)
    with database.write() as connection:
        put(connection, base, document("新しい.md", "通勤手当の届出"))
    with process(HOLDER, str(folder / "text.lock")) as ask:
        assert ask("") == "held"
        started = time.monotonic()
        assert space.catch_up(wait=0) is False
        assert answer(space) == before
        assert EmbeddedSpace(folder, LAYOUT, feed).count() == 60
        assert time.monotonic() - started < 5
    assert space.catch_up(wait=0) is True
    assert keys(space) == set(feed.keys())


def test_the_first_build_elsewhere_is_a_typed_error_and_no_crash(
    folder: Path, feed: KnowledgeFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = EmbeddedSpace(folder, LAYOUT, feed)
    with process(HOLDER, str(folder / "text.lock")) as ask:
        assert ask("") == "held"
        monkeypatch.setattr(space, "catch_up", lambda: False)
        with pytest.raises(Unavailable):
            space.count()
        monkeypatch.undo()
        monkeypatch.setattr(module, "_LOCK_SECONDS", 0)
        with pytest.raises(Unavailable):
            space.rebuild()
    assert space.catch_up()


def test_a_rebuild_goes_on_behind_the_answers(space: EmbeddedSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped when two of four slices are built, it has not shown anything of them."""
    monkeypatch.setattr(slices, "SLICE", 15)
    space.rebuild()  # in slices: each leaves a removed entry, its revision, which counts for Tantivy's idf
    before = answer(space)
    begun, free, answers = threading.Event(), threading.Event(), 0

    def note(done: int, _total: int) -> None:
        if done > 30:
            begun.set()
            free.wait(10)

    rebuilding = threading.Thread(target=space.rebuild, args=(note,))
    rebuilding.start()
    assert begun.wait(10)
    while answers < 20:
        assert answer(space) == before
        answers += 1
    assert rebuilding.is_alive(), "all of this was answered during the rebuild"
    free.set()
    while rebuilding.is_alive():
        assert answer(space) == before
    rebuilding.join()
    assert answer(space) == before


def test_many_threads_read_while_one_writes(
    space: EmbeddedSpace, feed: KnowledgeFeed, database: Database, base: KnowledgeBase
) -> None:
    failures: list[BaseException] = []
    end = threading.Event()

    def read() -> None:
        last = 0
        try:
            while not end.is_set():
                space.refresh()
                count = space.count()
                assert count >= last
                last = count
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(3):
        with database.write() as connection:
            put(connection, base, document(f"新{number}.md", "通勤手当の届出"))
        space.catch_up()
    end.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert keys(space) == set(feed.keys())


# Vectors of a space


def vectors(count: int, seed: int = 0) -> Embedded:
    return Embedded.of_whole(np.random.default_rng(seed).normal(size=(count, 16)).astype(np.float32))


def test_vectors_follow_the_documents(
    space: EmbeddedSpace, feed: KnowledgeFeed, database: Database, base: KnowledgeBase
) -> None:
    assert space.missing_vectors("a") == list(feed.keys())
    first = list(feed.keys())[:40]
    space.add_vectors("a", first, vectors(40))
    assert space.has_vectors("a")
    assert len(space.vectors("a").rows) == 40
    assert space.missing_vectors("a") == list(feed.keys())[40:]
    with database.write() as connection:
        put(connection, base, document("0.md", "替わった"))
        remove(connection, base, "1.md")
    gone = set(first) - set(feed.keys())
    assert len(gone) == 6
    missing = space.missing_vectors("a")
    space.add_vectors("a", missing, vectors(len(missing), seed=1))
    assert space.missing_vectors("a") == []
    assert set(space.vectors("a").rows.keys.tolist()) == set(feed.keys())


def test_vectors_of_entries_that_are_gone_are_not_saved(space: EmbeddedSpace, feed: KnowledgeFeed) -> None:
    known = list(feed.keys())[:3]
    space.add_vectors("a", [10**9, *known, 10**9 + 1], vectors(5))
    assert set(space.vectors("a").rows.keys.tolist()) == set(known)
    best = space.search_vectors("a", vectors(5).whole[2], Filters(), 1)
    assert [hit.key for hit in best] == [known[1]]


def test_another_model_grows_beside_the_one_in_use_and_takes_its_place_when_complete(
    space: EmbeddedSpace, feed: KnowledgeFeed, folder: Path
) -> None:
    every = list(feed.keys())
    space.add_vectors("a", every, vectors(len(every)), setting="first", revision=feed.revision())
    assert space.missing_vectors("b") == every
    assert not space.has_vectors("b")
    space.add_vectors("b", every[:5], vectors(5, seed=1), setting="second")
    assert (len(space.vectors("a").rows), len(space.vectors("b").rows)) == (len(every), 5)
    assert space.held_models() == {"a": "first", "b": "second"}
    assert (space.vectors_complete("a"), space.vectors_complete("b")) == (True, False)
    rest = space.missing_vectors("b")
    space.add_vectors("b", rest, vectors(len(rest), seed=2), setting="second", revision=feed.revision())
    assert space.held_models() == {"b": "second"}
    assert len(list((folder / "vectors").iterdir())) == 1
    assert (space.has_vectors("a"), len(space.vectors("b").rows)) == (False, len(every))


def test_a_removed_space_leaves_nothing_on_disk(space: EmbeddedSpace, folder: Path) -> None:
    space.remove()
    assert not folder.exists()


def test_a_feed_gives_each_changed_document_once_with_its_passages(
    feed: KnowledgeFeed, database: Database, base: KnowledgeBase
) -> None:
    with database.write() as connection:
        put(connection, base, document("0.md", "一"))
        remove(connection, base, "1.md")
        ids = {row.source: row.id for row in connection.execute(select(tables.documents))}
    [replaced_one, removed] = feed.changes(20)
    assert replaced_one == Change(ids["0.md"], 21, 1)
    assert (removed.revision, removed.entries) == (22, 0)
    assert list(feed.entries([removed.group])) == []
    [entry] = feed.entries([ids["0.md"]])
    assert entry.texts["body"] == "一"
    assert list(feed.entries_by_key([entry.key])) == [entry]
    assert feed.count() == len(feed.keys()) == 55
    assert feed.revision() == 22
