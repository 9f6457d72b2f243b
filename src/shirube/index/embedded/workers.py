"""Tokens made on all cores: by threads for a few texts, by processes for many.

Sudachi frees the interpreter lock, but what Python does around it does not, so for an import two processes are
about twice as fast as two threads. They are plain child processes spoken to over pipes: unlike those of
`multiprocessing` they do not load the program that started them again, and end by themselves when it is killed.
"""

import logging
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice

from shirube.index.contract import Entry
from shirube.index.embedded.tokens import Tokens, tokens_of_batch

log = logging.getLogger(__name__)

WORKERS = min(os.cpu_count() or 1, 8)
# From here on, starting processes (a third of a second) pays.
MANY = 3000
_BATCH = 64
_CHILD = "import sys; sys.path[:] = {path!r}; from shirube.index.embedded.worker import work; work()"

_Texts = Sequence[dict[str, str]]
_Result = list[dict[str, Tokens]]


class _Worker:
    """A child process that tokenises batch after batch."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", _CHILD.format(path=sys.path)]
        # Threads of numpy's own would only wait, and take time from the others while they do.
        environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)

    def tokens(self, texts: _Texts, phrases: bool) -> _Result:
        child = self._child
        assert child.stdin
        assert child.stdout
        pickle.dump((texts, phrases), child.stdin, pickle.HIGHEST_PROTOCOL)
        child.stdin.flush()
        result: _Result = pickle.load(child.stdout)
        return result

    def close(self) -> None:
        self._child.kill()
        self._child.communicate()


class _Processes:
    """One worker a thread of a pool; started with the first large batch, kept while anybody is inside `kept`."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._users = 0
        self._pool: ThreadPoolExecutor | None = None
        self._workers: list[_Worker] = []
        self._own = threading.local()

    @contextmanager
    def kept(self, texts: int = 0) -> Iterator[None]:
        """While inside, workers are kept; where many texts are known to come, they are started at once."""
        with self._guard:
            self._users += 1
        try:
            for _ in range(WORKERS if texts >= MANY else 0):
                self.submit([], False)
            yield
        finally:
            with self._guard:
                self._users -= 1
                pool, workers = (None, []) if self._users else (self._pool, self._workers)
                if pool:
                    self._pool, self._workers = None, []
            if pool:
                pool.shutdown(cancel_futures=True)
                for worker in workers:
                    worker.close()

    def submit(self, texts: _Texts, phrases: bool) -> Future[_Result]:
        with self._guard:
            if self._pool is None:
                # The list belongs to this pool: whoever ends it must not end the workers of the next.
                self._pool = ThreadPoolExecutor(WORKERS, "tokenise", self._start, (self._workers,))
            return self._pool.submit(self._tokens, texts, phrases)

    def _start(self, workers: list[_Worker]) -> None:
        try:
            self._own.worker = worker = _Worker()
        except OSError as error:
            self._without(error)
        else:
            workers.append(worker)

    def _tokens(self, texts: _Texts, phrases: bool) -> _Result:
        worker: _Worker | None = self._own.worker
        if worker:
            try:
                return worker.tokens(texts, phrases)
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                self._without(error)
        return tokens_of_batch(texts, phrases)

    def _without(self, error: Exception) -> None:
        log.warning("tokenising goes on in this process, a worker failed: %r", error)
        self._own.worker = None


_processes = _Processes()
kept_processes = _processes.kept


def tokenised(entries: Iterable[Entry], phrases: bool) -> Iterator[tuple[Entry, dict[str, Tokens]]]:
    """Each entry with the tokens of its texts, in order, a few batches ahead of whoever takes them."""
    source = iter(entries)
    first = list(islice(source, MANY))
    everything = chain(first, source)
    if len(first) == MANY:
        with kept_processes():
            yield from _in_batches(_processes.submit, everything, phrases)
    else:
        with ThreadPoolExecutor(WORKERS, "tokenise") as pool:
            yield from _in_batches(lambda *batch: pool.submit(tokens_of_batch, *batch), everything, phrases)


def _in_batches(
    submit: Callable[[_Texts, bool], Future[_Result]], entries: Iterator[Entry], phrases: bool
) -> Iterator[tuple[Entry, dict[str, Tokens]]]:
    waiting: deque[tuple[list[Entry], Future[_Result]]] = deque()
    try:
        while True:
            while len(waiting) < WORKERS * 3 and (batch := list(islice(entries, _BATCH))):
                waiting.append((batch, submit([dict(entry.texts) for entry in batch], phrases)))
            if not waiting:
                return
            batch, result = waiting.popleft()
            yield from zip(batch, result.result(), strict=True)
    finally:
        for _, result in waiting:
            result.cancel()
