"""A model that keeps failing is left alone for a while, so that queries do not wait for it one by one."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from shirube.models.errors import ModelError

# Both from the specification: 5 failures, 30 s, then one try.
FAILURES = 5
REST_SECONDS = 30.0


class Breaker:
    """All calls pass until `FAILURES` in a row; then none for `REST_SECONDS`, then one at a time until one succeeds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._rests_until = 0.0
        self._trying = False

    @contextmanager
    def attempt(self, model: str) -> Iterator[None]:
        """Around one call: refuses it at once with a `ModelError`, or lets it pass and notes how it went."""
        trial = self._enter(model)
        try:
            yield
        except Exception:
            self._leave(trial, failed=True)
            raise
        except BaseException:
            # Interrupted from outside: that says nothing about the model.
            self._leave(trial, failed=None)
            raise
        self._leave(trial, failed=False)

    def _enter(self, model: str) -> bool:
        with self._lock:
            if self._failures < FAILURES:
                return False
            rest = self._rests_until - self._clock()
            if rest > 0:
                raise ModelError(
                    model, f"left out after {FAILURES} failures in a row; tried again in {math.ceil(rest)} s"
                )
            if self._trying:
                raise ModelError(model, f"left out after {FAILURES} failures in a row; being tried just now")
            self._trying = True
            return True

    def _leave(self, trial: bool, failed: bool | None) -> None:
        with self._lock:
            if trial:
                self._trying = False
            if failed:
                self._failures += 1
                # Calls that began before the rest and fail during it do not make it longer.
                if trial or self._failures == FAILURES:
                    self._rests_until = self._clock() + REST_SECONDS
            elif failed is not None:
                self._failures = 0
