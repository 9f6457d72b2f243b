"""Which reader takes which file."""

from collections.abc import Callable
from pathlib import PurePath

from shirube.ingest.readers import apart, html, markdown, separated, text
from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.kinds import MODULES

# A book has about half a million characters; a larger text file is a dump, and is better split.
LARGEST_FILE = 64 * 1024 * 1024

READERS: dict[str, Callable[[bytes], Content]] = {
    ".md": markdown.read,
    ".markdown": markdown.read,
    ".txt": text.read,
    ".text": text.read,
    ".html": html.read,
    ".htm": html.read,
    ".csv": separated.read,
    ".tsv": separated.read,
    **{suffix: apart.reader(suffix) for suffix in MODULES},
}


def reader_for(path: PurePath) -> Callable[[bytes], Content]:
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(READERS)
        raise Unreadable(
            f"file type {path.suffix or '(none)'} is not read ({known})",
            f"この種類のファイル（{path.suffix or '拡張子なし'}）は読めません（対応: {known}）。",
        )
    return reader
