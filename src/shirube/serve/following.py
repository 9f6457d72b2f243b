"""What a server does beside answering: it opens what the first search needs, and follows the store.

Documents come in by other processes and other nodes, and each node has indexes of its own: text catches up when it is
searched, vectors here. Of several workers over one folder one does it.
"""

import logging
import threading
from collections.abc import Callable

from shirube.toolsets.registry import Application

log = logging.getLogger(__name__)

_LOOK_SECONDS, _AGAIN_SECONDS = 2.0, 60.0
State = tuple[tuple[int, int], tuple[int, int]]


class Following:
    """A thread that ends with the process, or when it is told to."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="following", daemon=True)

    def start(self) -> None:
        if self._thread.ident is None:
            self._thread.start()

    def end(self, seconds: float = 0.0) -> None:
        """It stops when it has done what it is at; nobody has to wait for that."""
        self._ended.set()
        self._thread.join(seconds)

    def _work(self) -> None:
        self._tried(self._prepare)
        done: State | None = None
        while not self._ended.is_set():
            wait = _LOOK_SECONDS
            try:
                seen = self._state()
                if seen != done and self._complete():
                    done = seen
            except Exception:
                log.warning("the indexes could not be completed", exc_info=True)
                wait = _AGAIN_SECONDS
            self._ended.wait(wait)

    def _prepare(self) -> None:
        application = self._application
        if application.settings.docs:
            application.pages().follow()
        application.knowledge().load_models()

    def _tried(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:
            log.warning("could not prepare", exc_info=True)

    def _state(self) -> State:
        # The list of tools does not wait for the database's library.
        from shirube.store import bases, patents

        with self._application.workspace().database.read() as connection:
            return bases.state(connection), patents.state(connection)

    def _complete(self) -> bool:
        """Text, then vectors; False when another worker is at it."""
        application = self._application
        application.knowledge().catch_up()
        with application.workspace().embedding() as free:
            if free:
                application.knowledge().complete_vectors()
                application.patents().library.complete()
        return free
