"""Runs and audit rows are written behind the answer, so that a busy writer elsewhere never delays a search."""

import atexit
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence

from sqlalchemy import Connection
from sqlalchemy.exc import InterfaceError, OperationalError

from shirube.errors import Unavailable
from shirube.store.audit import expire_calls
from shirube.store.database import Database
from shirube.store.runs import expire_runs

log = logging.getLogger(__name__)

_PURGE_SECONDS = 3600
# A commit costs more than what is written: those that come one after the other share one.
_GATHER_SECONDS = 0.05
_AGAIN_SECONDS, _MOST_KEPT = 2.0, 10_000
_UNREACHABLE = (OperationalError, InterfaceError, Unavailable)
Writing = Callable[[Connection], object]


class Journal:
    """Takes small writings in order and commits them in the background, several at a time.

    The store is opened there too: whoever hands something over waits for nothing. While it cannot be reached, the last
    ones are kept.
    """

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database
        self._waiting: queue.SimpleQueue[Writing | threading.Event] = queue.SimpleQueue()
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._work, name="journal", daemon=True)
        self._thread.start()
        atexit.register(self.flush)

    def write(self, writing: Writing) -> None:
        self._waiting.put(writing)

    def flush(self, timeout: float = 5.0) -> None:
        """Wait until everything handed over so far is stored."""
        done = threading.Event()
        self._waiting.put(done)
        self._hurry.set()
        done.wait(timeout)

    def _work(self) -> None:
        purged = float("-inf")
        kept: list[Writing] = []
        while True:
            batch = self._gathered(_AGAIN_SECONDS if kept else None)
            kept += [each for each in batch if not isinstance(each, threading.Event)]
            if (
                kept
                and time.monotonic() - purged > _PURGE_SECONDS
                and not self._left([expire_runs, expire_calls])
            ):
                purged = time.monotonic()
            kept = self._left(kept)
            for each in batch:
                if isinstance(each, threading.Event):
                    each.set()

    def _gathered(self, seconds: float | None) -> "list[Writing | threading.Event]":
        """What has come, and what comes shortly after it; nothing where nothing comes in so many seconds."""
        try:
            batch = [self._waiting.get(timeout=seconds)]
        except queue.Empty:
            return []
        self._hurry.wait(_GATHER_SECONDS)
        self._hurry.clear()
        while not self._waiting.empty():
            batch.append(self._waiting.get())
        return batch

    def _left(self, writings: list[Writing]) -> list[Writing]:
        """Store them; those that are to be tried again, as the store cannot be reached."""
        try:
            self._store(writings)
        except _UNREACHABLE as error:
            log.warning("%d journal entries wait for the store: %s", len(writings), type(error).__name__)
            return writings[-_MOST_KEPT:]
        except Exception:
            log.warning("the journal could not be written", exc_info=True)
            return self._one_by_one(writings)
        return []

    def _one_by_one(self, writings: list[Writing]) -> list[Writing]:
        """One that cannot be written must not take the others with it."""
        lost = 0
        for at, writing in enumerate(writings):
            try:
                self._store([writing])
            except _UNREACHABLE:
                return writings[at:]
            except Exception:
                lost += 1
        log.warning("%d journal entries could not be written", lost)
        return []

    def _store(self, writings: Sequence[Writing]) -> None:
        if writings:
            with self._database().write() as connection:
                for writing in writings:
                    writing(connection)
