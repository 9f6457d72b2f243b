"""Whether a page still says what its sources do.

A page names the files that it describes. Each is compared by its SHA-256 with what it was when the page itself last
changed: by git's history where the page is committed as it stands, else by what was noted when the page was read.
"""

import hashlib
import os
import stat
import threading
import time
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Literal, NamedTuple

from shirube.store.pages import Source
from shirube.toolsets.pages.folder import Folder
from shirube.toolsets.pages.history import Commit, History

Level = Literal["fresh", "possibly_stale", "stale", "untracked"]
Reason = Literal["modified", "deleted", "not_found"]

# A change of a source that is older than this makes the page stale, not only possibly so (seed: 7 days).
RECENT_DAYS = 7
_DAY = 86_400
# Files of one copy or archive are written in any order, and some disks tell time by two seconds.
_AT_ONCE_NS = 2 * 10**9
_MOST_SOURCES = 200


@dataclass(frozen=True)
class StaleRef:
    path: str
    reason: Reason
    since: float
    """When that came about, in seconds since 1970."""
    commits: int = 0
    """Commits that changed it since the page changed, where git tells."""


@dataclass(frozen=True)
class Staleness:
    level: Level
    refs: tuple[StaleRef, ...] = ()


class _Seen(NamedTuple):
    mtime_ns: int
    size: int
    content_hash: str


class Sources:
    """The files that the pages of a folder describe. A file is hashed again only when it was written to."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._history = History(folder.root) if folder.is_work_tree else None
        self._seen: dict[str, _Seen] = {}
        self._guard = threading.Lock()

    @property
    def is_shallow(self) -> bool:
        """Whether git has too few commits here to tell when pages and sources changed."""
        return self._history is not None and self._history.is_shallow

    def noted(self, references: Sequence[str], page_mtime_ns: int) -> tuple[list[Source], list[str]]:
        """What to keep with a page that was just read: its sources as they are now, and warnings.

        Of a source that was written after the page, what it was before is not known.
        """
        noted, warnings = [], []
        if len(references) > _MOST_SOURCES:
            warnings.append(f"source_refs: only the first {_MOST_SOURCES} are looked at")
        for reference in references[:_MOST_SOURCES]:
            path = self.inside(reference)
            if path is None:
                warnings.append(f"source_refs: {reference} is not inside the project and is not looked at")
                continue
            if (self._folder.root / path).is_dir():
                warnings.append(f"source_refs: {reference} is a folder; name its files")
            status = self._status(path)
            later = status is not None and status.st_mtime_ns > page_mtime_ns + _AT_ONCE_NS
            noted.append(Source(path, None if later else self._hash(path, status)))
        return noted, warnings

    def check(self, filepath: str, page_mtime_ns: int, sources: Iterable[Source]) -> Staleness:
        """How a page stands to its sources now."""
        named = list(sources)
        if not named:
            return Staleness("untracked")
        commit = self._committed(filepath)
        found = [self._changed(source, commit, page_mtime_ns) for source in named]
        stale = tuple(each for each in found if each)
        if not stale:
            return Staleness("fresh")
        oldest = min(each.since for each in stale)
        return Staleness("possibly_stale" if time.time() - oldest <= RECENT_DAYS * _DAY else "stale", stale)

    def inside(self, reference: str) -> str | None:
        """The path of a source from the project's root, tidied; None where it leaves the project."""
        written = reference.replace("\\", "/")
        if "\0" in written or PureWindowsPath(reference).drive or written.startswith(("/", "~")):
            return None
        parts: list[str] = []
        for part in PurePosixPath(written).parts:
            if part == "..":
                if not parts:
                    return None
                parts.pop()
            elif part != ".":
                parts.append(part)
        path = "/".join(parts)
        try:
            resolved = (self._folder.root / path).resolve()
        except (OSError, RuntimeError, ValueError):
            return None
        return path if path and resolved.is_relative_to(self._folder.root) else None

    def _committed(self, filepath: str) -> Commit | None:
        """The commit that last changed the page, if the page stands as it was committed."""
        if self._history is None:
            return None
        path = self._on_disk(filepath).relative_to(self._folder.root).as_posix()
        commit = self._history.last_change(path)
        if commit is None:
            return None
        as_committed = self._hash(path, self._status(path)) in self._history.content_hashes(path)
        return commit if as_committed else None

    def _on_disk(self, filepath: str) -> Path:
        """A page's file, whose name may be written in another form than ours."""
        path = self._folder.docs / filepath
        return path if path.exists() else self._folder.docs / unicodedata.normalize("NFD", filepath)

    def _changed(self, source: Source, commit: Commit | None, page_mtime_ns: int) -> StaleRef | None:
        path = source.path
        status = self._status(path)
        now = self._hash(path, status)
        if commit is not None and self._history is not None:
            before = self._history.content_hashes(path, commit)
            commits = self._history.changes_since(commit, path)
        else:
            before, commits = frozenset([source.content_hash] if source.content_hash else []), []
        if now is not None and now in before:
            return None
        reason: Reason = "modified" if now is not None else "deleted" if before or commits else "not_found"
        if commits:
            since = float(commits[0].time)
        elif status is not None:
            since = status.st_mtime
        else:
            changed = commit.time if commit else page_mtime_ns / 1e9
            since = self._gone_since(path) if reason == "deleted" else changed
        return StaleRef(path, reason, since, len(commits))

    def _gone_since(self, path: str) -> float:
        """When the folder that held a deleted file last changed."""
        for above in (self._folder.root / path).parents:
            try:
                return above.stat().st_mtime
            except OSError:
                continue
        return time.time()

    def _status(self, path: str) -> os.stat_result | None:
        try:
            status = (self._folder.root / path).stat()
        except (OSError, ValueError):
            return None
        return status if stat.S_ISREG(status.st_mode) else None

    def _hash(self, path: str, status: os.stat_result | None) -> str | None:
        """SHA-256 of a file; None where there is none that can be read."""
        if status is None:
            return None
        with self._guard:
            seen = self._seen.get(path)
        if seen and (seen.mtime_ns, seen.size) == (status.st_mtime_ns, status.st_size):
            return seen.content_hash
        try:
            with (self._folder.root / path).open("rb") as file:
                content_hash = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return None
        # What was written a moment ago may be written again within the same tick of the clock.
        if time.time_ns() - status.st_mtime_ns > _AT_ONCE_NS:
            with self._guard:
                self._seen[path] = _Seen(status.st_mtime_ns, status.st_size, content_hash)
        return content_hash
