"""A text brought up to its feed, slice by slice."""

from collections.abc import Iterator, Sequence

from shirube.index.contract import Change, Feed, Progress
from shirube.index.embedded.text import TantivySpace
from shirube.index.embedded.workers import kept_processes

# So many entries become searchable at a time while a large import goes in.
SLICE = 20_000


def applied(text: TantivySpace, feed: Feed, progress: Progress | None) -> Iterator[None]:
    """Bring `text` up to the feed, a slice at a time; each slice ends in a commit.

    Changes come by their latest revision, so after a slice everything up to its last revision is contained.
    """
    changes = feed.changes(text.revision)
    total = sum(change.entries for change in changes)
    done = 0
    with kept_processes(total):
        for part in _slices(changes):
            groups = [change.group for change in part]
            added = 0
            for added in text.write(part[-1].revision, groups, feed.entries(groups)):
                if progress:
                    progress(min(done + added, total), total)
            done += added
            yield


def _slices(changes: Sequence[Change]) -> Iterator[list[Change]]:
    part: list[Change] = []
    size = 0
    for change in changes:
        part.append(change)
        size += change.entries
        if size >= SLICE:
            yield part
            part, size = [], 0
    if part:
        yield part
