"""A folder of Markdown files: where its project begins, where its state is kept, which files are pages.

Nothing a caller names is ever opened: pages are found by walking the folder, and asked for by the names found there.
"""

import errno
import hashlib
import logging
import os
import shutil
import stat
import subprocess
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from shirube.errors import InvalidInput, Unavailable
from shirube.index.embedded.files import replace_text
from shirube.toolsets.pages.history import ask_git
from shirube.toolsets.pages.markdown import ENDINGS

log = logging.getLogger(__name__)

STATE = ".shirube"
# Raised whenever pages are read in another way: all are then read again.
VERSION = 1
_MADE = "made"
_USUAL = ("docs", "doc", "documentation")


@dataclass(frozen=True)
class Folder:
    """`docs` holds the pages; paths of sources are relative to `root`; `state` is ours."""

    docs: Path
    root: Path
    is_work_tree: bool

    @property
    def shared_state(self) -> Path:
        return self.root / STATE

    @property
    def state(self) -> Path:
        """Of this folder of pages alone: a project may have several."""
        name = os.fsencode(self.docs.relative_to(self.root).as_posix())
        return self.shared_state / f"pages-{hashlib.sha256(name).hexdigest()[:12]}-{VERSION}"


class File(NamedTuple):
    """A page's file and the name it goes by."""

    path: str
    filepath: str
    mtime_ns: int
    ctime_ns: int
    size: int


def open_folder(docs: Path) -> Folder:
    """The folder of pages at `docs`. Its project begins where git says, else above a folder called docs, else there.

    A folder that git ignores is no part of the project around it.
    """
    try:
        resolved = docs.expanduser().resolve()
        is_folder = resolved.is_dir()
    except (OSError, RuntimeError, ValueError):
        is_folder = False
    if not is_folder:
        raise InvalidInput(
            # By its name alone: a caller who is told this may be far away.
            f"No such folder: {docs.name}",
            f"フォルダーがありません: {docs.name}",
            hint="--docs に Markdown のフォルダーを指定してください。 Give a folder of Markdown files to --docs.",
        )
    holder = next((each for each in (resolved, *resolved.parents) if (each / ".git").exists()), None)
    if holder is None or _asked(resolved, "check-ignore", "-q", ".") is not None:
        return Folder(resolved, resolved.parent if resolved.name.lower() in _USUAL else resolved, False)
    top = _work_tree(resolved)
    if top is None:
        log.warning("git cannot be asked about %s; the times of files tell how old they are", holder.name)
    return Folder(resolved, top or holder, top is not None)


def _work_tree(folder: Path) -> Path | None:
    """The top of the git work tree that holds the folder."""
    said = _asked(folder, "rev-parse", "--show-toplevel")
    top = Path(os.fsdecode(said.rstrip(b"\n"))).resolve() if said else None
    return top if top and folder.is_relative_to(top) else None


def _asked(folder: Path, *arguments: str) -> bytes | None:
    """What git answers; None also where there is no git."""
    try:
        return ask_git(folder, *arguments)
    except (OSError, subprocess.SubprocessError):
        return None


def prepare_state(folder: Folder) -> Path:
    """Make the place for the state; git leaves it alone by a file of its own in it.

    A state that was not made here (it came with a copy or a clone) is thrown away: it could say anything.
    """
    try:
        return _prepared(folder)
    except OSError as error:
        raise Unavailable(
            f"The folder for the index cannot be made: {error.strerror}",
            f"索引用のフォルダー {STATE} を作れません（{error.strerror}）。",
            hint=f"{folder.root} に書き込めるようにしてください。 Make the project's folder writable.",
        ) from error


def _prepared(folder: Folder) -> Path:
    for path in (folder.shared_state, folder.state):
        if path.is_symlink():
            raise OSError(errno.ELOOP, "it is a link")
    if folder.state.exists() and _made_here(folder.state) != _read(folder.state / _MADE):
        shutil.rmtree(folder.state)
    folder.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_text(folder.state / _MADE, _made_here(folder.state))
    for old in folder.shared_state.glob(f"{folder.state.name.rpartition('-')[0]}-*"):
        if old != folder.state:
            shutil.rmtree(old, ignore_errors=True)
    ignored = folder.shared_state / ".gitignore"
    if _read(ignored) != "*\n":
        replace_text(ignored, "*\n")
    return folder.state


def _made_here(state: Path) -> str:
    """What only the folder's own maker knows: a copy has another number."""
    status = state.stat()
    return f"{status.st_ino} {status.st_uid}\n"


def _read(path: Path) -> str | None:
    try:
        return None if path.is_symlink() else path.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return None


def page_files(folder: Folder) -> Iterator[File]:
    """The Markdown files in the folder by name. Hidden ones, links out of the folder and links to folders are none."""
    waiting = [(folder.docs, "")]
    while waiting:
        here, above = waiting.pop()
        try:
            with os.scandir(here) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            name = above + entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append((Path(entry.path), f"{name}/"))
            elif entry.name.lower().endswith(ENDINGS):
                try:
                    status = entry.stat()
                    if not stat.S_ISREG(status.st_mode):
                        continue
                    if entry.is_symlink() and not _is_inside(Path(entry.path), folder.docs):
                        continue
                except (OSError, RuntimeError):
                    continue
                yield File(
                    entry.path, page_name(name), status.st_mtime_ns, status.st_ctime_ns, status.st_size
                )


def _is_inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder)


def page_name(name: str) -> str:
    """macOS writes が as two characters, everybody else as one."""
    if name.isascii():
        return name
    return unicodedata.normalize("NFC", name).encode("utf-8", "replace").decode()
