"""Many texts are tokenised by child processes, and whatever becomes of those, every text has its tokens."""

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from shirube.index.contract import Entry
from shirube.index.embedded import workers
from shirube.index.embedded.tokens import Tokens, tokens_of_batch
from shirube.index.embedded.workers import kept_processes, tokenised

COUNT = 400


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MANY", 100)


def entries() -> Iterator[Entry]:
    for number in range(COUNT):
        yield Entry(number, "甲", {"body": f"第{number}条　副業の許可、ｻｰﾊﾞ{number}台。"})


def check(made: list[tuple[Entry, dict[str, Tokens]]]) -> None:
    assert [entry.key for entry, _ in made] == list(range(COUNT))
    for entry, tokens in made:
        assert [tokens] == tokens_of_batch([dict(entry.texts)], phrases=False)


def children() -> list[subprocess.Popen[bytes]]:
    return [each._child for each in workers._processes._workers]


def test_processes_give_the_tokens_that_this_one_would() -> None:
    with kept_processes():
        check(list(tokenised(entries(), phrases=False)))
        started = children()
        check(list(tokenised(entries(), phrases=False)))
        assert started
        assert children() == started
    assert all(child.returncode is not None for child in started)
    assert not children()


def test_a_worker_that_is_killed_loses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        made = []
        for at, each in enumerate(tokenised(entries(), phrases=False)):
            made.append(each)
            if at == 10:
                for child in children():
                    child.kill()
    check(made)
    assert "a worker failed" in caplog.text


def test_where_no_process_can_be_started_this_one_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    check(list(tokenised(entries(), phrases=False)))


def test_a_worker_ends_with_the_pipe_from_its_parent() -> None:
    worker = workers._Worker()
    assert worker.tokens([{"body": "副業"}], phrases=False)
    child = worker._child
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(timeout=20) == 0
    assert child.stdout is not None
    child.stdout.close()
