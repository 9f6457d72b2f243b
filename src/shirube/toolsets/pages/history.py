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
_IN_LFS = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:[^\n]*\n)*?oid sha256:([0-9a-f]{64})\n"
)


@dataclass(frozen=True)
class Commit:
    id: str
    time: int
    """Seconds since 1970."""


class History:
    """The history of one work tree. Answers are remembered until a commit or a checkout moves HEAD."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder = self._asked("rev-parse", "--absolute-git-dir")
        self._guard = threading.Lock()
        self._seen: object = None
        self._remembered: dict[tuple[str, ...], bytes | None] = {}

    def state(self) -> object:
        """Something that is another thing whenever HEAD has moved."""
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
                return self._asked("rev-parse", "HEAD")
        return tuple(stamps)

    def last_change(self, path: str) -> Commit | None:
        """The commit that last changed a file, counted from HEAD."""
        written = self._log("-1", "HEAD", "--", path)
        return written[0] if written else None

    def changes_since(self, commit: Commit, path: str) -> list[Commit]:
        """The commits after `commit` that changed a file, oldest first."""
        return self._log("--reverse", f"{commit.id}..HEAD", "--", path)

    def content_hashes(self, commit: Commit, path: str) -> frozenset[str]:
        """SHA-256 of a file as a checkout of that commit may write it; none where the commit has no such file.

        No filter that the project configures is run: it could be any program.
        """
        content = self._remember("cat-file", "blob", f"{commit.id}:{path}")
        return frozenset((content or b"").decode().split())

    def _log(self, *arguments: str) -> list[Commit]:
        written = self._remember("log", "--format=%H %ct", *arguments) or b""
        commits = []
        for line in written.decode().splitlines():
            name, _, moment = line.partition(" ")
            commits.append(Commit(name, int(moment)))
        return commits

    def _remember(self, *arguments: str) -> bytes | None:
        state = self.state()
        with self._guard:
            if state != self._seen:
                self._seen, self._remembered = state, {}
            if arguments in self._remembered:
                return self._remembered[arguments]
        answer = self._asked(*arguments)
        if arguments[0] == "cat-file" and answer is not None:
            answer = " ".join(_hashes(answer)).encode()  # files may be large
        with self._guard:
            if state == self._seen:
                self._remembered[arguments] = answer
        return answer

    def _asked(self, *arguments: str) -> bytes | None:
        command = [
            "git",
            "-C",
            str(self._root),
            "--literal-pathspecs",
            "-c",
            "core.fsmonitor=false",
            *arguments,
        ]
        environ = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
                env=environ,
            )
        except (OSError, subprocess.SubprocessError) as error:
            log.warning("git could not be asked: %s", error)
            return None
        return done.stdout if done.returncode == 0 else None


def _hashes(content: bytes) -> list[str]:
    """Of a file as it is stored, with the line ends of Windows, and of what it stands for in Git LFS."""
    if stored := _IN_LFS.match(content[:1024]):
        return [stored[1].decode()]
    return [hashlib.sha256(each).hexdigest() for each in (content, content.replace(b"\n", b"\r\n"))]
