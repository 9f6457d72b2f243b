"""What git knows of the files of a project: when each last changed, and what it was then. Asked, never written to."""

import hashlib
import logging
import os
import re
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

_SECONDS = 20
_COMMIT = re.compile(r"([0-9a-f]{40,64}) ([0-9]+)")
_IN_LFS = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:[^\n]*\n)*?oid sha256:([0-9a-f]{64})\n"
)


def ask_git(folder: Path, *arguments: str) -> bytes | None:
    """What git answers; None where it says no. It runs no program the project names, and fetches nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *arguments],
        capture_output=True,
        timeout=_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
        env={
            **kept,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "LC_ALL": "C",
        },
    )
    return done.stdout if done.returncode == 0 else None


@dataclass(frozen=True)
class Commit:
    id: str
    time: int
    """Seconds since 1970."""


class History:
    """The history of one work tree. Answers are remembered until a commit or a checkout moves HEAD."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder: bytes | None = None
        self._guard = threading.Lock()
        self._seen: object = None
        self._remembered: dict[tuple[str, ...], bytes | None] = {}

    def state(self) -> object:
        """Something that is another thing whenever HEAD has moved."""
        if self._folder is None:
            self._folder = ask_git(self._root, "rev-parse", "--absolute-git-dir")
        if self._folder is None:
            return None
        folder = Path(os.fsdecode(self._folder.rstrip(b"\n")))
        stamps = []
        for name in ("HEAD", "logs/HEAD"):
            try:
                status = (folder / name).stat()
                stamps.append((status.st_mtime_ns, status.st_size))
            except OSError:
                # Without a log of HEAD's moves only git can tell.
                return ask_git(self._root, "rev-parse", "HEAD")
        return tuple(stamps)

    @property
    def is_shallow(self) -> bool:
        """Whether only the latest commits are here: when a file last changed may then be unknown."""
        return self._remember("rev-parse", "--is-shallow-repository") == b"true\n"

    def last_change(self, path: str) -> Commit | None:
        """The commit that last changed what a file holds, counted from HEAD; its name may have changed since."""
        written = self._log("-1", "--follow", "-M100%", "--diff-filter=AM", "HEAD", "--", path)
        return written[0] if written else None

    def changes_since(self, commit: Commit, path: str) -> list[Commit]:
        """The commits after `commit` that changed a file, oldest first."""
        return self._log("--reverse", f"{commit.id}..HEAD", "--", path)

    def content_hashes(self, path: str, commit: Commit | None = None) -> frozenset[str]:
        """SHA-256 of a file as a checkout of a commit (or HEAD) may write it; none where that has no such file.

        No filter that the project configures is run: it could be any program.
        """
        content = self._remember("cat-file", "blob", f"{commit.id if commit else 'HEAD'}:{path}")
        return frozenset((content or b"").decode().split())

    def _log(self, *arguments: str) -> list[Commit]:
        written = self._remember("log", "--no-show-signature", "--format=%H %ct", *arguments) or b""
        lines = map(_COMMIT.fullmatch, written.decode("ascii", "replace").splitlines())
        return [Commit(line[1], int(line[2])) for line in lines if line]

    def _remember(self, *arguments: str) -> bytes | None:
        try:
            state = self.state()
        except (OSError, subprocess.SubprocessError) as error:
            log.warning("git could not be asked: %s", error)
            return None
        with self._guard:
            if state != self._seen:
                self._seen, self._remembered = state, {}
            if arguments in self._remembered:
                return self._remembered[arguments]
        try:
            answer = ask_git(self._root, "--literal-pathspecs", *arguments)
        except (OSError, subprocess.SubprocessError) as error:
            log.warning("git could not be asked: %s", error)
            return None
        if arguments[0] == "cat-file" and answer is not None:
            answer = " ".join(_hashes(answer)).encode()  # files may be large
        with self._guard:
            if state == self._seen:
                self._remembered[arguments] = answer
        return answer


def _hashes(content: bytes) -> list[str]:
    """Of a file as it is stored, with the line ends of Windows, and of what it stands for in Git LFS."""
    elsewhere = _IN_LFS.match(content[:1024])
    kept = [elsewhere[1].decode()] if elsewhere else []
    return kept + [hashlib.sha256(each).hexdigest() for each in (content, content.replace(b"\n", b"\r\n"))]
