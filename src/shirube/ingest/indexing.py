"""Makes documents searchable while others are still being read."""

import threading
from types import TracebackType
from typing import Protocol, Self

from shirube.index.contract import Progress

# So many passages are stored before the index starts on them: each commit has its price.
EVERY = 20_000


class CatchingUp(Protocol):
    def catch_up(self, progress: Progress | None = None, *, wait: float = ...) -> bool: ...


class Indexing:
    """A thread beside an import that lets the index catch up with what is stored, now and then.

    What it fails at is not lost: the index catches up in `finish`, or when it is next opened.
    """

    def __init__(self, space: CatchingUp, every: int = EVERY) -> None:
        self._space = space
        self._every = every
        self._begun = 0
        self._due = threading.Event()
        self._ending = False
        self._thread = threading.Thread(target=self._work, name="indexing", daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._end()

    def stored(self, passages: int) -> None:
        """So many passages are stored by now."""
        if passages - self._begun >= self._every:
            self._begun = passages
            if self._thread.ident is None:
                self._thread.start()
            self._due.set()

    def finish(self, progress: Progress | None = None) -> bool:
        """Index the rest; False when another process keeps the index locked."""
        self._end()
        return self._space.catch_up(progress)

    def _end(self) -> None:
        self._ending = True
        self._due.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _work(self) -> None:
        while self._due.wait() and not self._ending:
            self._due.clear()
            self._space.catch_up()
