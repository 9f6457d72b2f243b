"""Work that nobody waits for any more: whoever does it asks between its steps whether to go on.

Each call has a flag in its context, which `asyncio.to_thread` takes along into the thread that does the work.
"""

import threading
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_given_up: ContextVar[threading.Event | None] = ContextVar("given_up", default=None)


class GivenUp(BaseException):
    """Nobody waits for the answer. Not an Exception: a stage that can be done without is one thing, this another."""


@contextmanager
def cancellable() -> Iterator[None]:
    """When whoever waits inside is cancelled, what works for them is told."""
    flag = threading.Event()
    token = _given_up.set(flag)
    try:
        yield
    except CancelledError:
        flag.set()
        raise
    finally:
        _given_up.reset(token)


def go_on() -> None:
    """Between two steps: GivenUp where nobody waits any more."""
    flag = _given_up.get()
    if flag and flag.is_set():
        raise GivenUp
