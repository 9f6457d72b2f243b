"""One server for a folder of pages at a time: `serve.lock` names its process and its machine."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from shirube.errors import InvalidInput, Unavailable
from shirube.index.embedded.files import replace_text
from shirube.toolsets.pages.folder import Folder, prepare_state

_NAME = "serve.lock"


@contextmanager
def serving(folder: Folder) -> Iterator[None]:
    """Hold the folder's lock, or refuse with the holder's name. One left by a process that is gone is taken over.

    The operating system keeps the real lock, on a file beside, and frees it however its process ends.
    """
    prepare_state(folder)
    notice = folder.shared_state / _NAME
    guard = FileLock(folder.shared_state / "serving")
    try:
        guard.acquire(timeout=0)
    except Timeout:
        raise _refused(_read(notice)) from None
    except OSError as error:
        raise Unavailable(
            f"The lock cannot be taken: {error.strerror}",
            f"ロックを取れません（{error.strerror}）。",
            hint=f"{folder.shared_state} を確認してください。 Look into the folder .shirube.",
        ) from error
    try:
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "docs": str(folder.docs)}
        replace_text(notice, json.dumps(holder, ensure_ascii=False) + "\n")
        yield
    finally:
        notice.unlink(missing_ok=True)
        guard.release()


def _read(notice: Path) -> dict[str, Any]:
    try:
        held = json.loads(notice.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def _refused(holder: dict[str, Any]) -> InvalidInput:
    pid, host, docs = (holder.get(name, "?") for name in ("pid", "host", "docs"))
    return InvalidInput(
        f"Another server is serving this project: pid {pid} on {host} ({docs})",
        f"このプロジェクトは別のサーバーが使っています: pid {pid}、{host}（{docs}）",
        hint="それを終了するか、読むだけなら --no-lock を付けてください。 Stop it, or use --no-lock to read beside it.",
    )
