"""Runs and the audit log: a run is its owner's for twelve hours; what is journalled is stored behind the answer."""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Connection, select

from shirube.caller import LOCAL
from shirube.errors import NotFound
from shirube.store.audit import record_call
from shirube.store.clock import now
from shirube.store.database import Database
from shirube.store.journal import Journal, Writing
from shirube.store.runs import LIFETIME, Run, expire_runs, get_run, save_run
from shirube.store.tables import audit

RUN = Run(
    "knowledge-1",
    "knowledge",
    {"query": "副業"},
    [{"name": "sparse", "count": 3}],
    [{"key": 7}],
    "knowledge-0",
)
SOMEBODY = replace(LOCAL, subject="somebody")
ELSEWHERE = replace(LOCAL, tenant="other")


def test_a_run_comes_back_as_it_was_saved(database: Database) -> None:
    with database.write() as connection:
        save_run(connection, LOCAL, RUN)
    with database.read() as connection:
        assert get_run(connection, LOCAL, RUN.id) == RUN


def test_somebody_elses_unknown_and_expired_runs_are_the_same_answer(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write() as connection:
        save_run(connection, LOCAL, RUN)
    answers = []
    with database.read() as connection:
        for caller, run_id in ((SOMEBODY, RUN.id), (ELSEWHERE, RUN.id), (LOCAL, "knowledge-2")):
            with pytest.raises(NotFound) as caught:
                get_run(connection, caller, run_id)
            answers.append((caught.value.message, caught.value.ja, caught.value.hint, caught.value.details))
        later = now() + LIFETIME
        monkeypatch.setattr("shirube.store.runs.now", lambda: later)
        with pytest.raises(NotFound) as caught:
            get_run(connection, LOCAL, RUN.id)
        answers.append((caught.value.message, caught.value.ja, caught.value.hint, caught.value.details))
    assert answers == [answers[0]] * 4


def test_a_run_lives_for_twelve_hours_and_no_longer(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write() as connection:
        save_run(connection, LOCAL, RUN)
    saved = now()
    for passed, found in ((timedelta(hours=12, minutes=-1), True), (timedelta(hours=12, minutes=1), False)):
        monkeypatch.setattr("shirube.store.runs.now", lambda passed=passed: saved + passed)
        with database.read() as connection:
            if found:
                assert get_run(connection, LOCAL, RUN.id) == RUN
            else:
                with pytest.raises(NotFound):
                    get_run(connection, LOCAL, RUN.id)


def test_only_what_is_past_its_time_is_dropped(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    start = now()
    for hours in range(3):
        monkeypatch.setattr("shirube.store.runs.now", lambda hours=hours: start + timedelta(hours=hours))
        with database.write() as connection:
            save_run(connection, LOCAL, replace(RUN, id=f"knowledge-{hours}"))
    monkeypatch.setattr("shirube.store.runs.now", lambda: start + LIFETIME + timedelta(hours=1, minutes=30))
    with database.write() as connection:
        assert expire_runs(connection) == 2
        assert expire_runs(connection) == 0
        assert get_run(connection, LOCAL, "knowledge-2").id == "knowledge-2"


def operations(database: Database) -> list[str]:
    with database.read() as connection:
        return [row.operation for row in connection.execute(select(audit).order_by(audit.c.id))]


def test_the_journal_keeps_the_order_of_what_it_was_given(database: Database) -> None:
    def call(number: int) -> Writing:
        return lambda connection: record_call(connection, LOCAL, str(number), "ok", 1.0)

    journal = Journal(lambda: database)
    for number in range(50):
        journal.write(call(number))
    journal.flush()
    assert operations(database) == [str(number) for number in range(50)]


def test_one_entry_that_cannot_be_written_does_not_take_the_others_with_it(database: Database) -> None:
    journal = Journal(lambda: database)
    busy, free = threading.Event(), threading.Event()

    def wait(_connection: Connection) -> None:
        busy.set()
        free.wait(5)

    def fail(_connection: Connection) -> None:
        raise RuntimeError("no such luck")

    journal.write(wait)
    assert busy.wait(5)
    # While the first is being written the others wait, and go into one batch.
    journal.write(lambda connection: record_call(connection, LOCAL, "before", "ok", 1.0))
    journal.write(fail)
    journal.write(lambda connection: record_call(connection, LOCAL, "after", "ok", 1.0))
    free.set()
    journal.flush()
    assert operations(database) == ["before", "after"]
