"""The folder is followed whatever becomes of it."""

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from shirube.toolsets.pages.watch import Watcher

_PATIENCE = 20.0


class Reads:
    """What was in the folder whenever it was read."""

    def __init__(self, docs: Path) -> None:
        self._docs = docs
        self._latest: set[str] = set()
        self._news = threading.Condition()

    def __call__(self) -> None:
        found = {each.name for each in self._docs.glob("*.md")}
        with self._news:
            self._latest = found
            self._news.notify_all()

    def wait_for(self, *names: str) -> None:
        with self._news:
            assert self._news.wait_for(lambda: self._latest == set(names), _PATIENCE), self._latest


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def reads(docs: Path) -> Iterator[Reads]:
    reads = Reads(docs)
    watcher = Watcher(docs, reads, lambda: None)
    watcher.start()
    yield reads
    watcher.stop()


def test_a_folder_made_anew_at_once_is_followed_on(docs: Path, reads: Reads) -> None:
    # File systems give the new folder the number of the old one.
    for turn in range(3):
        (docs / f"{turn}.md").touch()
        reads.wait_for(f"{turn}.md")
        shutil.rmtree(docs)
        docs.mkdir()
        reads.wait_for()


def test_a_folder_that_comes_back_later_is_followed_on(docs: Path, reads: Reads) -> None:
    (docs / "一.md").touch()
    reads.wait_for("一.md")
    shutil.rmtree(docs)
    reads.wait_for()
    time.sleep(1.5)
    docs.mkdir()
    (docs / "二.md").touch()
    reads.wait_for("二.md")
    (docs / "三.md").touch()
    reads.wait_for("二.md", "三.md")


def test_a_folder_exchanged_for_another_is_followed_on(docs: Path, reads: Reads, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "別.md").touch()
    (docs / "元.md").touch()
    reads.wait_for("元.md")
    docs.rename(tmp_path / "old")
    other.rename(docs)
    reads.wait_for("別.md")
    (docs / "更に.md").touch()
    reads.wait_for("別.md", "更に.md")
