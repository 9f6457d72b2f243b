"""Files into a knowledge base: what is new goes in, what changed is replaced, what is unchanged is left alone.

Each document is one transaction. A file that cannot be taken is reported with its reason and does not stop the others.
"""

import hashlib
import os
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shirube.caller import Caller, Confidentiality
from shirube.errors import InvalidInput
from shirube.ingest.chunking import passages
from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.registry import LARGEST_FILE, reader_for
from shirube.store import bases, documents
from shirube.store.bases import DEFAULT_COLLECTION, KnowledgeBase
from shirube.store.database import Database
from shirube.store.documents import Document

# Raised whenever the passages of a document change: files read by another version are read again.
VERSION = 1


@dataclass(frozen=True)
class Options:
    """Where the files go and who may see them. What a file's own front matter says counts where nothing is given."""

    collection: str = DEFAULT_COLLECTION
    department: str | None = None
    confidentiality: Confidentiality | None = None
    remove_missing: bool = False


@dataclass(frozen=True)
class Refused:
    source: str
    reason: str
    reason_ja: str


@dataclass
class Report:
    """What became of each file."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    passages: int = 0


@dataclass(frozen=True)
class File:
    """A file to take in: where it is, and the name it goes by in the knowledge base."""

    path: Path
    source: str
    root: Path


def find_files(paths: Iterable[Path]) -> list[File]:
    """The files below `paths` by name. Hidden files and folders and links to folders are passed over."""
    found: list[File] = []
    for path in paths:
        root = path.resolve()
        if root.is_dir():
            for folder, names, files in os.walk(root):
                names[:] = sorted(name for name in names if not name.startswith("."))
                for name in sorted(files):
                    if not name.startswith("."):
                        file = Path(folder) / name
                        found.append(File(file, _source(Path(root.name) / file.relative_to(root)), root))
        elif root.is_file():
            found.append(File(root, _source(Path(root.name)), root.parent))
        else:
            raise InvalidInput(
                f"No such file or folder: {path}",
                f"ファイルまたはフォルダーがありません: {path}",
                hint="パスを確認してください。 Check the path.",
            )
    return found


def add_files(
    database: Database,
    caller: Caller,
    base: KnowledgeBase,
    files: Iterable[File],
    options: Options,
    on_file: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Take the files in. `on_file` is called after each with the report so far: what it names is stored for good."""
    report = Report()
    with database.write() as connection:
        bases.get_base(connection, caller, base.id)
        collection = bases.open_collection(connection, base, options.collection)
        known = documents.known_documents(connection, collection)
    seen: set[str] = set()
    roots: set[tuple[str, str]] = set()
    for file in files:
        roots.add((str(file.root), file.source.split("/")[0]))
        try:
            if file.source in seen:
                raise Unreadable("another file has the same name", "同じ名前のファイルがもう1つあります。")
            seen.add(file.source)
            _check_owner(file, known.get(file.source))
            data = _bytes(file.path)
            content_hash = _hash(data, options)
            before = known.get(file.source)
            if before and before.content_hash == content_hash:
                report.unchanged.append(file.source)
            else:
                document = _document(file, data, content_hash, options, report)
                with database.write() as connection:
                    documents.put_document(connection, base.id, collection, document)
                (report.changed if before else report.added).append(file.source)
                report.passages += len(document.passages)
        except Unreadable as refusal:
            report.refused.append(Refused(file.source, refusal.en, refusal.ja))
        on_file(report)
    if options.remove_missing:
        for source, before in known.items():
            if source not in seen and (before.root, source.split("/")[0]) in roots:
                with database.write() as connection:
                    documents.remove_document(connection, base.id, collection, source)
                report.removed.append(source)
                on_file(report)
    database.flush()
    return report


def _source(path: Path) -> str:
    """Names as NFC: macOS writes が as two characters, everybody else as one."""
    name = unicodedata.normalize("NFC", path.as_posix())
    return name.encode("utf-8", "replace").decode()


def _check_owner(file: File, before: documents.Known | None) -> None:
    """Two folders of one name must not overwrite each other; a folder that was moved may."""
    if before and before.root and before.root != str(file.root) and Path(before.root).exists():
        raise Unreadable(
            "a document of this name came from another folder; use another --collection",
            "同じ名前の文書が別のフォルダーから登録されています。--collection で分けてください。",
        )


def _bytes(path: Path) -> bytes:
    reader_for(path)
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            mib = LARGEST_FILE // (1024 * 1024)
            raise Unreadable(
                f"larger than {mib} MiB ({size / 1024 / 1024:.0f} MiB); split it",
                f"{mib} MiB を超えています（{size / 1024 / 1024:.0f} MiB）。分割してください。",
            )
        data = path.read_bytes()
    except OSError as error:
        raise Unreadable(
            f"cannot be opened: {error.strerror}", f"開けません（{error.strerror}）。"
        ) from error
    if not data.strip():
        raise Unreadable("empty file", "空のファイルです。")
    return data


def _hash(data: bytes, options: Options) -> str:
    settings = f"{VERSION}\0{options.department}\0{options.confidentiality}\0"
    return hashlib.sha256(settings.encode() + data).hexdigest()


def _document(file: File, data: bytes, content_hash: str, options: Options, report: Report) -> Document:
    content = reader_for(file.path)(data)
    found = passages(content)
    if not found:
        raise Unreadable("no text in it", "本文がありません。")
    report.warnings += [f"{file.source}: {warning}" for warning in content.warnings]
    name = unicodedata.normalize("NFC", file.path.name)
    return Document(
        source=file.source,
        filename=name,
        title=content.title or Path(name).stem,
        text=content.text,
        content_hash=content_hash,
        passages=tuple(found),
        department=options.department or _department(content),
        confidentiality=options.confidentiality or _confidentiality(content),
        metadata={"root": str(file.root), **_plain(content.metadata)},
    )


def _department(content: Content) -> str | None:
    named = content.metadata.get("department")
    return str(named).strip() or None if named is not None else None


def _confidentiality(content: Content) -> Confidentiality:
    """What the front matter says. A word we do not know must not open a document to everybody."""
    named = content.metadata.get("confidentiality")
    if named is None:
        return Confidentiality.internal
    try:
        return Confidentiality[str(named).strip().lower()]
    except KeyError:
        levels = ", ".join(level.name for level in Confidentiality)
        raise Unreadable(
            f"confidentiality: {named} in its front matter is not one of {levels}",
            f"フロントマターの confidentiality: {named} は {levels} のどれでもありません。",
        ) from None


def _plain(metadata: Any) -> dict[str, Any]:
    """Front matter as JSON holds it; dates become text."""
    return {key: _json(value) for key, value in metadata.items() if key != "root"}


def _json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _json(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [_json(each) for each in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    return str(value)
