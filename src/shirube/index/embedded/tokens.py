"""Texts as the index takes them, made on all cores: by threads for a few, by processes for many.

Sudachi frees the interpreter lock, but what Python does around it does not, so for an import two processes are
about twice as fast as two threads.
"""

import gc
import logging
import multiprocessing
import os
import re
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import NamedTuple

import numpy as np

from shirube.index.contract import Entry
from shirube.text.normalize import fold
from shirube.text.tokenize import joined_bigrams, words_and_borders

log = logging.getLogger(__name__)

WORKERS = min(os.cpu_count() or 1, 8)
# From here on, starting processes (half a second) pays.
MANY = 3000
_BATCH = 64
_TITLE = 120
# Stands where something is written between two runs of letters: 東京、京都 does not hold 東京都.
BORDER = "|"
# Runs as `text.tokenize.bigrams` knows them: Latin words and numbers, or other letters.
_RUN = re.compile(r"[a-z0-9]+|(?:[^\W\x00-\x7f]|[\U00010000-\U0010ffff])+")


class _Fingerprints(dict[str, int]):
    """A word as a number, the same in every process; a sentence border is 0."""

    _LIMIT = 500_000

    def __missing__(self, word: str) -> int:
        number = (zlib.crc32(word.encode()) or 1) if word else 0
        if len(self) < self._LIMIT:
            self[word] = number
        return number


fingerprints = _Fingerprints()


class Tokens(NamedTuple):
    """A text's words and bigrams, each separated by white space, and its words' fingerprints as bytes."""

    words: str
    bigrams: str
    fingerprints: bytes


class _Processes:
    """Worker processes, started with the first large batch and kept while anybody is inside `kept`."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._users = 0
        self._pool: ProcessPoolExecutor | None = None

    @contextmanager
    def kept(self) -> Iterator[None]:
        with self._guard:
            self._users += 1
        try:
            yield
        finally:
            with self._guard:
                self._users -= 1
                pool = None if self._users else self._pool
                if pool:
                    self._pool = None
            if pool:
                pool.shutdown(cancel_futures=True)

    def pool(self) -> ProcessPoolExecutor:
        with self._guard:
            if self._pool is None:
                spawn = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(WORKERS, spawn, _prepare_worker)
            return self._pool


_processes = _Processes()
kept_processes = _processes.kept


def tokenised(entries: Iterable[Entry], phrases: bool) -> Iterator[tuple[Entry, dict[str, Tokens]]]:
    """Each entry with the tokens of its texts, in order, a few batches ahead of whoever takes them."""
    source = iter(entries)
    first = list(islice(source, MANY))
    everything = chain(first, source)
    if len(first) == MANY:
        with kept_processes():
            yield from _in_batches(_processes.pool(), everything, phrases)
    else:
        with ThreadPoolExecutor(WORKERS, "tokenise") as pool:
            yield from _in_batches(pool, everything, phrases)


def _prepare_worker() -> None:
    """A worker whose parent was killed would wait for work for ever. Its garbage has no cycles to look for."""
    gc.disable()
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _in_batches(
    pool: Executor, entries: Iterator[Entry], phrases: bool
) -> Iterator[tuple[Entry, dict[str, Tokens]]]:
    waiting: list[tuple[list[Entry], Future[list[dict[str, Tokens]]] | None]] = []
    try:
        while True:
            while len(waiting) < WORKERS * 3 and (batch := list(islice(entries, _BATCH))):
                waiting.append((batch, _submit(pool, batch, phrases)))
            if not waiting:
                return
            batch, result = waiting.pop(0)
            try:
                tokens = result.result() if result else tokens_of_batch(_texts(batch), phrases)
            except BrokenProcessPool:
                log.warning("tokenising goes on in one process: workers cannot be started here")
                tokens = tokens_of_batch(_texts(batch), phrases)
            yield from zip(batch, tokens, strict=True)
    finally:
        for _, result in waiting:
            if result:
                result.cancel()


def _submit(pool: Executor, batch: list[Entry], phrases: bool) -> "Future[list[dict[str, Tokens]]] | None":
    try:
        return pool.submit(tokens_of_batch, _texts(batch), phrases)
    except BrokenProcessPool:
        return None


def _texts(batch: Sequence[Entry]) -> list[dict[str, str]]:
    return [dict(entry.texts) for entry in batch]


def tokens_of_batch(texts: Sequence[dict[str, str]], phrases: bool) -> list[dict[str, Tokens]]:
    return [{name: tokens_of(text, phrases) for name, text in each.items()} for each in texts]


def tokens_of(text: str, phrases: bool) -> Tokens:
    """Titles come again with every passage of a document: short texts are remembered."""
    return _of_title(text, phrases) if len(text) <= _TITLE else _tokens(text, phrases)


def sequence(text: str) -> list[str]:
    """The bigrams of `text` with a border between runs of letters that do not touch."""
    tokens: list[str] = []
    end = 0
    for run in _RUN.finditer(fold(text)):
        if tokens and run.start() > end:
            tokens.append(BORDER)
        letters, end = run[0], run.end()
        whole = letters.isascii() or len(letters) == 1
        tokens += [letters] if whole else map("".join, pairwise(letters))
    return tokens


def _tokens(text: str, phrases: bool) -> Tokens:
    words = words_and_borders(text)
    numbers = np.array([fingerprints[word] for word in words] + [0], np.uint32)
    bigrams = " ".join(sequence(text)) if phrases else joined_bigrams(text)
    return Tokens(" ".join(words), bigrams, numbers.tobytes())


_of_title = lru_cache(1000)(_tokens)
