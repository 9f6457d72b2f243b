"""What the child process does that reads files of binary formats. Their libraries are loaded here and nowhere else."""

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from typing import Any, BinaryIO

from shirube.ingest.readers.contract import Closed, Content, Unreadable
from shirube.ingest.readers.kinds import MODULES, check_kind

# A book of 1,000 pages needs a tenth of it.
_MEMORY = 2 * 1024**3
# How lxml says it: libxml2's XML_ERR_NO_MEMORY.
_NO_MEMORY = 2
_LONGEST_TEXT = 64 * 1024 * 1024


def work() -> None:
    """Answer file after file until the parent closes the pipe or dies. An interrupt is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory()
    # What a library prints must not stand among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    files: queue.Queue[tuple[str, bytes]] = queue.Queue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, files), daemon=True).start()

    def say(line: str) -> None:
        answers.write(line.encode() + b"\n")
        answers.flush()

    while True:
        suffix, data = files.get()
        say(json.dumps(_answer(suffix, data, on_page=lambda: say(""))))


def _receive(source: BinaryIO, files: "queue.Queue[tuple[str, bytes]]") -> None:
    """Take files in beside the reading, so that a parent that dies in the middle of one is noticed at once."""
    try:
        while head := source.readline():
            asked = json.loads(head)
            files.put((asked["suffix"], source.read(asked["size"])))
    finally:
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)  # and what this process has started
        os._exit(0)


def _limit_memory() -> None:
    """A file that swells must not take the machine along. Windows and macOS have no such limit."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(suffix: str, data: bytes, on_page: Callable[[], None]) -> dict[str, Any]:
    try:
        check_kind(suffix, data)
        read = import_module(f"shirube.ingest.readers.{MODULES[suffix]}").read
        content: Content = read(data, on_page)
        if len(content.text) > _LONGEST_TEXT:
            raise Unreadable("too much text; split it", "文字が多すぎます。分割してください。")
        return asdict(content)
    except Unreadable as refusal:
        return {"en": refusal.en, "ja": refusal.ja, "closed": isinstance(refusal, Closed)}
    except Exception as error:
        if isinstance(error, MemoryError) or getattr(error, "code", None) == _NO_MEMORY:
            return {
                "en": "reading it takes too much memory; split it, or save it again",
                "ja": "読み取りに必要なメモリーが多すぎます。分割するか、保存し直してください。",
                "closed": True,
            }
        name = type(error).__name__
        return {
            "en": f"damaged, or not as its format has it ({name})",
            "ja": f"壊れているか、形式どおりではありません（{name}）。",
            "closed": False,
        }
