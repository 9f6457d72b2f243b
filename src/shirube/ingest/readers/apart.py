"""Files of binary formats are read apart, in a child process: what breaks, hangs or swells there is refused alone.

One child reads file after file and is started again when it dies. It answers in JSON, never in pickles: what a
hostile file might make of the child must not reach us. It ends by itself when we are killed.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from shirube.ingest.readers.contract import Closed, Content, Heading, Unreadable

log = logging.getLogger(__name__)

# A book of 1,000 pages takes some seconds. A scanned page counts for itself: the child says when one is done.
SECONDS = 60.0
# All of a file: some hundred scanned pages.
LONGEST = 1800.0
# 64 MiB of text, the limit of a file, is at most six times as much in JSON.
_LONGEST_ANSWER = 400 * 1024 * 1024
# What programs need to start. Keys of models are none of the child's business.
_ENVIRONMENT = (
    *("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "PYTHONUTF8"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TESSDATA_PREFIX"),
)
_CHILD = "import sys; sys.path[:] = {path!r}; from shirube.ingest.readers.child import work; work()"


class _Reader:
    """The child that is kept, and who may speak to it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def read(self, suffix: str, data: bytes) -> Content:
        with self._guard:
            child = self._started()
            answer = self._answer(child, suffix, data)
        if "text" in answer:
            headings = [Heading(**heading) for heading in answer.pop("headings")]
            return Content(headings=headings, **answer)
        raise (Closed if answer["closed"] else Unreadable)(answer["en"], answer["ja"])

    def close(self) -> None:
        with self._guard:
            self._end()

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._child and self._child.poll() is not None:
            self._end()
        if self._child is None:
            # A session of its own: programs that the child has started end with it.
            self._child = subprocess.Popen(
                [sys.executable, "-c", _CHILD.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
                start_new_session=True,
            )
        return self._child

    def _answer(self, child: "subprocess.Popen[bytes]", suffix: str, data: bytes) -> dict[str, Any]:
        assert child.stdin
        assert child.stdout
        late = threading.Event()
        done = False
        try:
            with _Clock(late, partial(_kill, child)) as clock:
                head = json.dumps({"suffix": suffix, "size": len(data)})
                child.stdin.write(head.encode() + b"\n")
                child.stdin.write(data)
                child.stdin.flush()
                while True:
                    line = child.stdout.readline(_LONGEST_ANSWER)
                    if not line.endswith(b"\n"):
                        break
                    if line.strip():
                        answer: dict[str, Any] = json.loads(line)
                        done = True
                        return answer
                    clock.again()
        except (OSError, ValueError) as error:
            log.debug("the reader of %s files does not answer", suffix, exc_info=error)
        finally:
            if not done:
                self._end()
        if late.is_set():
            raise Closed(
                f"reading it took too long (over {SECONDS:.0f} seconds); split it, or save it again",
                f"読み取りに時間がかかりすぎます（{SECONDS:.0f} 秒超）。分割するか、保存し直してください。",
            )
        raise Closed(
            "its reader broke down; the file may be damaged",
            "読み取りの途中で処理が落ちました。ファイルが壊れている可能性があります。",
        )

    def _end(self) -> None:
        child, self._child = self._child, None
        if child:
            _kill(child)
            with suppress(OSError):
                child.communicate()


class _Clock:
    """Calls `ring` when nothing was heard for SECONDS, or after LONGEST."""

    def __init__(self, late: threading.Event, ring: Callable[[], None]) -> None:
        self._late = late
        self._ring = ring
        self._timer: threading.Timer | None = None
        self._end = time.monotonic() + LONGEST

    def __enter__(self) -> "_Clock":
        self.again()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer:
            self._timer.cancel()

    def again(self) -> None:
        self.__exit__()
        self._timer = threading.Timer(min(SECONDS, self._end - time.monotonic()), self._rings)
        self._timer.daemon = True
        self._timer.start()

    def _rings(self) -> None:
        self._late.set()
        self._ring()


def _kill(child: "subprocess.Popen[bytes]") -> None:
    with suppress(OSError):
        if child.poll() is not None:
            return
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()


_reader = _Reader()


@contextmanager
def kept() -> Iterator[None]:
    """While inside, the child is kept for the next file; behind it, it is gone."""
    try:
        yield
    finally:
        _reader.close()


def pid() -> int | None:
    """The child's process id, while there is one."""
    return _reader.pid


def reader(suffix: str) -> Callable[[bytes], Content]:
    """A reader of files of this ending."""
    return partial(_reader.read, suffix)
