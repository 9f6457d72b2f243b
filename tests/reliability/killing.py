"""Kills imports at random moments and looks at what is left. Run as a program: forking wants a process without threads.

    python -m tests.reliability.killing FOLDER KILLS SEED

Each trial changes some files, imports them in a child that acknowledges every stored document, kills the child with
SIGKILL, and then, in another child, opens what it left. Prints one JSON line: trials, kills, and what was wrong.
"""

import hashlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sqlalchemy import select, text

from shirube.caller import LOCAL
from shirube.ingest.embedding import embed_missing
from shirube.ingest.sync import Options, Report, add_files, find_files
from shirube.query.filters import Filters
from shirube.settings import load_settings
from shirube.store import bases, passages
from shirube.store.documents import document_text
from shirube.store.tables import documents
from shirube.toolsets.knowledge.feed import BODY
from shirube.toolsets.registry import Application

FILES = 12
INDEX_EVERY = 4


class HashEmbedder:
    """Vectors from a hash: fast, and the same for the same text."""

    name = "hash"
    setting = "hash"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = [np.frombuffer(hashlib.sha256(each.encode()).digest(), np.uint8) for each in texts]
        return np.array(rows, np.float32) - 127.5

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        return np.asarray(self.embed([text])[0])


def main(folder: Path, wanted: int, seed: int) -> None:
    chance = random.Random(seed)
    files = folder / "docs"
    files.mkdir(parents=True)
    os.environ["SHIRUBE_HOME"] = str(folder / "home")
    os.environ["SHIRUBE_EMBEDDER"] = "none"
    acknowledged: dict[str, str] = {}
    versions: dict[str, list[str]] = {}
    trials = kills = 0
    wrong: list[str] = []
    _change(files, chance, FILES)
    _note(files, versions)
    usual = _in_child(lambda pipe: _import(files, pipe), None, chance, acknowledged)[1]
    while kills < wanted and not wrong:
        trials += 1
        _change(files, chance, chance.randint(1, FILES))
        _note(files, versions)
        delay = chance.uniform(0, usual)
        killed, _ = _in_child(lambda pipe: _import(files, pipe), delay, chance, acknowledged)
        kills += killed
        found: dict[str, str] = {}
        # A version may be stored whole and the import killed before it could say so: that or a later one will do.
        good = {
            source: versions[source][versions[source].index(digest) :]
            for source, digest in acknowledged.items()
        }
        _in_child(lambda pipe, good=good: _examine(good, pipe), None, chance, found)  # type: ignore[misc]
        if "ok" not in found:
            wrong.append(f"trial {trials} (seed {seed}, {delay:.4f} s): {found or 'the examination died'}")
    sys.stdout.write(json.dumps({"trials": trials, "kills": kills, "wrong": wrong}) + "\n")


def _change(files: Path, chance: random.Random, count: int) -> None:
    for _ in range(count):
        name = f"文書{chance.randrange(FILES)}.md"
        sections = chance.randint(1, 6)
        body = "".join(
            f"## 第{n}条\n\n{'規程の本文です。' * chance.randint(1, 90)}版{chance.random()}。\n\n"
            for n in range(sections)
        )
        draft = files / f".{name}"
        draft.write_text(f"# 文書\n\n{body}")
        draft.replace(files / name)


def _note(files: Path, versions: dict[str, list[str]]) -> None:
    """Add what each file holds now to what it has held."""
    for file in find_files([files]):
        digest = hashlib.sha256(file.path.read_bytes()).hexdigest()
        held = versions.setdefault(file.source, [])
        if not held or held[-1] != digest:
            held.append(digest)


def _in_child(
    work: Callable[[int], None], delay: float | None, chance: random.Random, acknowledged: dict[str, str]
) -> tuple[bool, float]:
    """Run `work` in a child, killed after `delay`; takes in the "key\\tvalue" lines it wrote. Killed, and how long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(writing)
        except BaseException as error:
            os.write(writing, f"error\t{type(error).__name__}: {error}\n".encode())
        os._exit(0)
    os.close(writing)
    started = time.monotonic()
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        written = pipe.read()
    _, status = os.waitpid(child, 0)
    for line in written.split("\n")[:-1]:
        key, _, value = line.partition("\t")
        acknowledged[key] = value
    return os.WIFSIGNALED(status), time.monotonic() - started


def _import(files: Path, pipe: int) -> None:
    application = Application(load_settings())
    database = application.workspace().database
    with database.write() as connection:
        base = bases.find_base(connection, LOCAL, "文書") or bases.create_base(connection, LOCAL, "文書")
    space = application.knowledge().space(base.id)
    hashes = {file.source: hashlib.sha256(file.path.read_bytes()).hexdigest() for file in find_files([files])}
    told: set[str] = set()

    def on_file(report: Report) -> None:
        for source in (*report.added, *report.changed, *report.unchanged):
            if source not in told:
                told.add(source)
                os.write(pipe, f"{source}\t{hashes[source]}\n".encode())
        if len(told) % INDEX_EVERY == 0:
            space.catch_up()

    add_files(database, LOCAL, base, find_files([files]), Options(), on_file)
    space.catch_up()
    embed_missing(space, HashEmbedder(), BODY)


def _examine(good: dict[str, list[str]], pipe: int) -> None:
    application = Application(load_settings())
    database = application.workspace().database
    with database.read() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok", "database damaged"
        base = bases.find_base(connection, LOCAL, "文書")
        if base is None:
            assert not good, "everything is lost"
            os.write(pipe, b"ok\t0\n")
            return
        stored = {row.source: row for row in connection.execute(select(documents))}
        for source, digests in good.items():
            assert source in stored, f"{source} was acknowledged and is lost"
            whole = document_text(connection, LOCAL, stored[source].id)
            assert hashlib.sha256(whole.encode()).hexdigest() in digests, (
                f"{source} is not what was acknowledged"
            )
        for row in stored.values():
            whole = document_text(connection, LOCAL, row.id)
            parts = list(passages.passages_of(connection, [row.id]))
            assert len(parts) == row.chunk_count > 0, f"{row.source} is not whole"
            assert all(whole[part.start : part.end] == part.text for part in parts), f"{row.source}: spans"
        keys = set(passages.passage_ids(connection, base.id))
    space = application.knowledge().space(base.id)
    assert space.catch_up(), "the index is locked by a dead process"
    indexed = {hit.key for hit in space.search("規程の本文 版", {}, Filters(), 100_000)}
    assert indexed == keys, (
        f"index and store differ: {len(indexed - keys)} too many, {len(keys - indexed)} missing"
    )
    embed_missing(space, HashEmbedder(), BODY)
    assert {int(key) for key in space.vectors("hash").rows.keys} >= keys, "vectors are missing"
    os.write(pipe, f"ok\t{len(keys)}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
