"""Follows a folder of pages while it is served: text within a second of a change, vectors when it is quiet again."""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from watchfiles import Change, watch

log = logging.getLogger(__name__)

# Changes are gathered until there are no more for a step, but never longer than the seed's half second.
_DEBOUNCE_MS, _STEP_MS = 500, 50
_QUIET_SECONDS = 2.0


class Watcher:
    """Two threads: one reads what changed, one makes vectors of it. Neither ends for anything that fails."""

    def __init__(self, docs: Path, read: Callable[[], None], embed: Callable[[], None]) -> None:
        self._docs = docs
        self._read, self._embed = read, embed
        self._stop = threading.Event()
        self._changed = threading.Event()
        self.ready = threading.Event()

    def start(self) -> None:
        for work in (self._follow, self._complete):
            threading.Thread(target=work, name=f"pages {work.__name__}", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()
        self._changed.set()

    def _follow(self) -> None:
        self._try(self._read)
        self.ready.set()
        polling: bool | None = None
        while not self._stop.is_set():
            try:
                self._watch(polling)
            except Exception:
                if not polling:
                    log.warning("the folder is looked through now and then instead of watched", exc_info=True)
                polling = True
                self._stop.wait(_STEP_MS / 1000)

    def _watch(self, polling: bool | None) -> None:
        """Read whatever changes, until the folder is another one: a branch without it may have been checked out."""
        with _held(self._docs) as watched:
            if watched is None:
                self._try(self._read)
                while not self._docs.exists() and not self._stop.wait(_STEP_MS / 1000):
                    pass
                return
            changes = watch(
                self._docs,
                watch_filter=self._concerns,
                debounce=_DEBOUNCE_MS,
                step=_STEP_MS,
                stop_event=self._stop,
                rust_timeout=1000,
                yield_on_timeout=True,
                raise_interrupt=False,
                force_polling=polling,
            )
            # Once in any case: something may have been written before anybody watched.
            due = True
            for changed in changes:
                if changed or due:
                    due = False
                    self._try(self._read)
                    self._changed.set()
                if _identity(self._docs) != watched:
                    return

    def _complete(self) -> None:
        self.ready.wait()
        while not self._stop.is_set():
            self._changed.wait()
            # As long as somebody is writing, vectors would be made in vain.
            while not self._stop.is_set() and self._changed.is_set():
                self._changed.clear()
                self._stop.wait(_QUIET_SECONDS)
            if not self._stop.is_set():
                self._try(self._embed)

    def _concerns(self, _change: Change, path: str) -> bool:
        """Anything but what is hidden or in a hidden folder; of a folder that is gone only its name is told."""
        try:
            parts = Path(path).relative_to(self._docs).parts
        except ValueError:
            return False
        return not any(part.startswith(".") for part in parts)

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:
            log.warning("pages could not be brought up to date", exc_info=True)


Identity = tuple[int, int]


def _identity(folder: Path | int) -> Identity | None:
    try:
        status = os.fstat(folder) if isinstance(folder, int) else folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def _held(folder: Path) -> Iterator[Identity | None]:
    """Which folder this is now. It is kept open meanwhile, as the number of one that is gone may be given to the next.

    Windows opens no folders, and gives no number twice.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        yield _identity(folder)
        return
    try:
        yield _identity(handle)
    finally:
        os.close(handle)
