"""How long a model may take. A query must not wait for a resolver, a proxy or a server that drips."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from shirube.cancelling import go_on
from shirube.models.errors import ModelError

T = TypeVar("T")


@dataclass(frozen=True)
class Timeouts:
    """Seconds: to connect, for a query's vector, for a batch of passages, for an answer in prose."""

    connect: float = 3
    query: float = 10
    batch: float = 120
    generate: float = 60


TIMEOUTS = Timeouts()
_LOOK_SECONDS = 0.1


def within(seconds: float, model: str, work: Callable[[], T]) -> T:
    """What `work` returns or raises, if it is done in time.

    Clients' own timeouts count from one byte to the next and do not cover name resolution, so `work` runs in a thread
    that is left behind when time is up, or when nobody waits any more. It must end by itself, by just those timeouts.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="model", daemon=True).start()
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        try:
            return future.result(min(left, _LOOK_SECONDS))
        except TimeoutError:
            if future.done():
                raise
        go_on()
    raise ModelError(model, f"no answer within {seconds:g} s")
