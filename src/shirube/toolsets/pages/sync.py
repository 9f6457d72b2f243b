"""The folder into the store: what is new or changed is read, what is gone is removed.

Every file is looked at each time, by its time and size: thousands of changes at once, or a change that nobody told of,
end in the state that a first reading would give.
"""

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath

from sqlalchemy import Connection

from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.encoding import decode
from shirube.store.database import Database
from shirube.store.documents import Document, Passage, document_id, put_document, remove_document
from shirube.store.pages import FileState, StoredLink, known_files, put_page, touch_page
from shirube.toolsets.pages.folder import File, Folder, page_files
from shirube.toolsets.pages.markdown import Page, read_page
from shirube.toolsets.pages.staleness import Sources

log = logging.getLogger(__name__)

# So many pages are stored by one transaction: all of them can be read again.
_BATCH = 50
_TRIES = 3
# A page is something that somebody reads.
_LARGEST = 8 * 1024**2


@dataclass(frozen=True)
class Place:
    """Where the pages of a folder are in its database."""

    base_id: str
    collection_id: str

    def id_of(self, filepath: str) -> str:
        return document_id(self.base_id, self.collection_id, filepath)


@dataclass
class Report:
    """What became of the files."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    """Written again as they were."""
    unchanged: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    passages: int = 0

    @property
    def moved(self) -> bool:
        """Whether anything is other than before."""
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True)
class _Read:
    file: File
    state: FileState
    page: Page | None
    """None where the file was written again as it was."""


def sync(
    database: Database,
    folder: Folder,
    place: Place,
    sources: Sources,
    progress: Callable[[int, int, Report], None] = lambda done, total, report: None,
) -> Report:
    """Bring the store up to the folder. `progress` hears of every batch that is stored."""
    report = Report()
    with database.read() as connection:
        known = known_files(connection, place.base_id)
    files: dict[str, File] = {}
    twins = []
    for file in page_files(folder):
        if file.filepath in files:
            twins.append(file.filepath)
        else:
            files[file.filepath] = file
    changed = [file for name, file in files.items() if not _is_same(file, known.get(name))]
    report.unchanged = len(files) - len(changed)
    done = 0
    for batch in _batches(changed):
        read = list(_reading(batch, known, report))
        with database.write() as connection:
            for each in read:
                _store(connection, place, sources, each, known, report)
        done += len(batch)
        progress(done, len(changed), report)
    gone = sorted(known.keys() - (files.keys() - report.refused.keys()))
    for names in _batches(gone):
        with database.write() as connection:
            for name in names:
                remove_document(connection, place.base_id, place.collection_id, name)
    report.removed = gone
    report.refused |= dict.fromkeys(
        twins, "another file has the same name in another form; this one is left out"
    )
    return report


def _is_same(file: File, known: FileState | None) -> bool:
    return known is not None and known[:3] == (file.mtime_ns, file.ctime_ns, file.size)


def _batches(items: Iterable[str] | Iterable[File]) -> Iterator[list]:  # type: ignore[type-arg]
    source = iter(items)
    while batch := list(islice(source, _BATCH)):
        yield batch


def _reading(files: Iterable[File], known: dict[str, FileState], report: Report) -> Iterator[_Read]:
    for file in files:
        try:
            state, data = _settled(file)
            before = known.get(file.filepath)
            if before and before.content_hash == state.content_hash:
                yield _Read(file, state, None)
            else:
                yield _Read(file, state, read_page(decode(data)))
        except (Unreadable, OSError) as error:
            report.refused[file.filepath] = str(error)
        except Exception as error:  # one file that cannot be read must not keep the others out
            log.warning("cannot read %s", file.filepath, exc_info=True)
            report.refused[file.filepath] = f"it cannot be read ({type(error).__name__})"


def _settled(file: File) -> tuple[FileState, bytes]:
    """The file's bytes, read again where it was written to meanwhile."""
    path = Path(file.path)
    for _ in range(_TRIES):
        before = path.stat()
        if before.st_size > _LARGEST:
            raise Unreadable(
                f"larger than {_LARGEST // 1024**2} MiB; split it", "大きすぎます。分割してください。"
            )
        data = path.read_bytes()
        after = path.stat()
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size) and len(
            data
        ) == after.st_size:
            break
    content_hash = hashlib.sha256(data).hexdigest()
    return FileState(before.st_mtime_ns, before.st_ctime_ns, before.st_size, content_hash), data


def _store(
    connection: Connection,
    place: Place,
    sources: Sources,
    read: _Read,
    known: dict[str, FileState],
    report: Report,
) -> None:
    name, page = read.file.filepath, read.page
    if page is None:
        touch_page(connection, place.id_of(name), read.state)
        report.touched.append(name)
        return
    put_document(connection, place.base_id, place.collection_id, _document(name, page, read.state))
    noted, warnings = sources.noted(page.source_refs, read.state.mtime_ns)
    put_page(
        connection,
        place.id_of(name),
        doc_type=page.doc_type,
        tags=page.tags,
        aliases=page.aliases,
        headings=page.headings,
        warnings=[*page.warnings, *warnings],
        state=read.state,
        links=[
            StoredLink(
                each.target, each.is_path, each.line, each.link_type, each.heading, each.alias, each.is_embed
            )
            for each in page.links
        ],
        sources=noted,
    )
    (report.changed if name in known else report.added).append(name)
    report.passages += len(page.sections)


def _document(filepath: str, page: Page, state: FileState) -> Document:
    name = PurePosixPath(filepath)
    return Document(
        source=filepath,
        filename=name.name,
        title=page.title or name.stem,
        text=page.body,
        content_hash=state.content_hash,
        passages=tuple(
            Passage(page.body[each.start : each.end], each.start, each.end, each.headings)
            for each in page.sections
        ),
    )
