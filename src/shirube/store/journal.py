"""Runs and audit rows are written behind the answer, so that a busy writer elsewhere never delays a search."""

import atexit
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from shirube.store.audit import expire_calls
from shirube.store.database import Database
from shirube.store.runs import expire_runs

log = logging.getLogger(__name__)

_PURGE_SECONDS = 3600
# A commit costs more than what is written: those that come one after the other share one.
_GATHER_SECONDS = 0.05
Writing = Callable[[Connection], object]


class Journal:
    """Takes small writings in order and commits them in the background, several at a time."""

    def __init__(self, database: Database) -> None:
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
        while True:
            batch = [self._waiting.get()]
            self._hurry.wait(_GATHER_SECONDS)
            self._hurry.clear()
            while not self._waiting.empty():
                batch.append(self._waiting.get())
            writings = [each for each in batch if not isinstance(each, threading.Event)]
            if writings and time.monotonic() - purged > _PURGE_SECONDS:
                purged = time.monotonic()
                self._wrote([expire_runs, expire_calls])
            if not self._wrote(writings):
                # One that cannot be written must not take the others with it.
                alone = [self._wrote([writing]) for writing in writings] if len(writings) > 1 else [False]
                log.warning("%d journal entries could not be written", alone.count(False))
            for each in batch:
                if isinstance(each, threading.Event):
                    each.set()

    def _wrote(self, writings: Sequence[Writing]) -> bool:
        try:
            if writings:
                with self._database.write() as connection:
                    for writing in writings:
                        writing(connection)
        except Exception:
            log.warning("the journal could not be written", exc_info=True)
            return False
        return True
