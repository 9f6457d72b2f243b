"""Files into a knowledge base: what is new goes in, what changed is replaced, what is unchanged is left alone.

Each document is one transaction. A file that cannot be taken is reported with its reason and does not stop the others.
"""

import hashlib
import logging
import os
import stat
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from shirube.caller import Caller, Confidentiality
from shirube.errors import InvalidInput
from shirube.ingest.chunking import passages
from shirube.ingest.readers import apart
from shirube.ingest.readers.contract import Closed, Content, Unreadable
from shirube.ingest.readers.kinds import SCANNED
from shirube.ingest.readers.registry import LARGEST_FILE, reader_for
from shirube.ingest.readers.tesseract import languages
from shirube.store import bases, documents
from shirube.store.access import base_in_hand
from shirube.store.bases import DEFAULT_COLLECTION, KnowledgeBase
from shirube.store.database import Database
from shirube.store.documents import Document, Passage

_STALE = (
    "以前の内容が検索に残っています。--sync を付けると外れます。 "
    "Its former content can still be found; --sync removes it."
)
_KEPT = (
    "Tesseract が見つからないため、前に読み取った内容をそのまま使います。 "
    "Tesseract is missing; what it read before is kept."
)
# Raised whenever the passages of a document or who may read it change: files read by another version are read again.
VERSION = 6
# A title goes with every passage. The longest name of a Japanese law has 110 characters.
_LONGEST_TITLE = 300
# What the column holds.
_LONGEST_DEPARTMENT = 200

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Options:
    """Where the files go and who may see them. What a file's own front matter says counts where nothing is given.

    An empty department opens to all departments what was closed before.
    """

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
    is_closed_folder: bool = False
    is_alone: bool = False
    """Whether it was asked for by its own name: then nothing is known of what else its folder holds."""


_BEYOND = (
    "登録した人の権限（clearance・departments）では読めない文書です。 "
    "It is beyond what whoever added it may read (clearance, departments)."
)
# Hidden files, and what Word and Excel lay beside a document that is open.
_PASSED_OVER = (".", "~$")


def find_files(paths: Iterable[Path]) -> list[File]:
    """The files below `paths` by name, and the folders that cannot be opened.

    Hidden files and folders and links to folders are passed over.
    """
    found: list[File] = []
    for path in paths:
        try:
            root = path.resolve()
            is_folder = root.is_dir()
            is_there = is_folder or root.is_file()
        except (OSError, RuntimeError):  # no permission; a link that leads to itself
            is_there = False
        if not is_there:
            raise InvalidInput(
                f"No such file or folder: {path}",
                f"ファイルまたはフォルダーがありません: {path}",
                hint="パスを確認してください。 Check the path.",
            )
        # A file goes by the name it has when its folder is added, so that nothing goes in twice.
        alone = File(root, _source(root, root.parent.parent), root.parent, is_alone=True)
        found += _below(root) if is_folder else [alone]
    return found


def _below(root: Path) -> list[File]:
    found: list[File] = []

    def closed(error: OSError) -> None:
        folder = Path(error.filename)
        found.append(File(folder, _source(folder, root.parent), root, is_closed_folder=True))

    for folder, names, files in os.walk(root, onerror=closed):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(_PASSED_OVER):
                file = Path(folder) / name
                found.append(File(file, _source(file, root.parent), root))
    return found


def add_files(
    database: Database,
    caller: Caller,
    base: KnowledgeBase,
    files: Iterable[File],
    options: Options,
    on_file: Callable[[Report], None] = lambda report: None,
    folders: Iterable[Path] = (),
) -> Report:
    """Take the files in. `on_file` is called after each with the report so far: what it names is stored for good.

    `folders` are those that were asked for: one may have no file left.
    """
    report = Report()
    with database.write() as connection:
        bases.get_base(connection, caller, base.id, base_in_hand)
        collection = bases.open_collection(connection, base, options.collection)
        known = documents.known_documents(connection, caller, collection)
    seen: set[str] = set()
    stale: list[str] = []
    closed: set[str] = set()
    asked_for = list(folders)
    roots: set[tuple[str | None, str]] = {(str(root), root.name) for root in asked_for}
    above = {Path(before.root) for before in known.values() if before.root}
    with apart.kept():
        for given in files:
            if not given.is_alone:
                roots.add((str(given.root), _top(given.source)))
            file = _as_known(given, known, above)
            if file.is_closed_folder:
                closed.add(f"{file.source}/")
            try:
                if file.source in seen:
                    raise Unreadable(
                        "another file has the same name", "同じ名前のファイルがもう1つあります。"
                    )
                seen.add(file.source)
                before = known.get(file.source)
                if before and not before.is_open:
                    raise Closed(
                        "a document of this name is not yours to change", "この名前の文書は変更できません。"
                    )
                _check_owner(file, before)
                data = _bytes(file)
                # Who may read a document is not forgotten because the flags were not given again.
                kept = _with_access_of(before, options)
                spoken = languages() if _may_be_scanned(file) else None
                is_same = before and before.content_hash == _hash(file, data, kept, spoken)
                was_scanned = before and not spoken and _was_scanned(file, data, kept, before)
                if before and (is_same or was_scanned):
                    if before.root != str(file.root):
                        with database.write() as connection:
                            documents.move_document(connection, base.id, collection, file.source, file.root)
                    report.unchanged.append(file.source)
                    if not is_same:
                        report.warnings.append(f"{file.source}: {_KEPT}")
                else:
                    document = _document(file, data, spoken, kept, report)
                    if not _is_within(caller, document):
                        report.warnings.append(f"{file.source}: {_BEYOND}")
                    with database.write() as connection:
                        documents.put_document(connection, base.id, collection, document)
                    (report.changed if before else report.added).append(file.source)
                    report.passages += len(document.passages)
            except Unreadable as refusal:
                report.refused.append(Refused(file.source, refusal.en, refusal.ja))
                if file.source in known and not isinstance(refusal, Closed):
                    stale.append(file.source)
            on_file(report)
    if not options.remove_missing:
        report.warnings += [f"{source}: {_STALE}" for source in stale]
    else:
        seen -= set(stale)
        for source, before in known.items():
            gone = source not in seen and not source.startswith(tuple(closed))
            theirs = _is_of(roots, before, source) or _is_below(asked_for, before, source)
            if gone and before.is_open and (theirs or source in stale):
                with database.write() as connection:
                    documents.remove_document(connection, base.id, collection, source)
                report.removed.append(source)
                on_file(report)
    database.flush()
    return report


def _is_within(caller: Caller, document: Document) -> bool:
    """Whether whoever puts it in may see it."""
    department = document.department
    theirs = caller.every_department or department is None or department in caller.departments
    return theirs and document.confidentiality <= caller.clearance


def _source(path: Path, above: Path) -> str:
    """Names as NFC: macOS writes が as two characters, everybody else as one."""
    name = unicodedata.normalize("NFC", path.relative_to(above).as_posix())
    return name.encode("utf-8", "replace").decode()


def _top(source: str) -> str:
    return source.split("/")[0]


def _is_of(roots: Set[tuple[str | None, str]], before: documents.Known, source: str) -> bool:
    """Whether the document came from one of these folders, or from where one of them was before."""
    if (before.root, _top(source)) in roots:
        return True
    return (
        before.root is not None and _top(source) in {top for _, top in roots} and not _is_there(before.root)
    )


def _as_known(file: File, known: Mapping[str, documents.Known], above: Iterable[Path]) -> File:
    """The file by the name it has since a folder further up was added, so that it does not go in twice."""
    for root in above:
        if root != file.root and file.path.is_relative_to(root):
            source = _source(file.path, root.parent)
            if source in known and known[source].root == str(root):
                return replace(file, source=source, root=root)
    return file


def _is_below(folders: Iterable[Path], before: documents.Known, source: str) -> bool:
    """Whether the document came with a folder further up from within one of these."""
    above = Path(before.root) if before.root else None
    return above is not None and any(
        each != above and each.is_relative_to(above) and source.startswith(f"{_source(each, above.parent)}/")
        for each in folders
    )


def _is_there(root: str | None) -> bool:
    """Whether the folder exists. One that we may not look at does."""
    try:
        return root is not None and Path(root).exists()
    except OSError:
        return True


def _check_owner(file: File, before: documents.Known | None) -> None:
    """Two folders of one name must not overwrite each other; a folder that was moved may."""
    if before and before.root != str(file.root) and _is_there(before.root):
        raise Closed(
            "a document of this name came from another folder; use another --collection",
            "同じ名前の文書が別のフォルダーから登録されています。--collection で分けてください。",
        )


def _bytes(file: File) -> bytes:
    if file.is_closed_folder:
        raise Closed("folder cannot be opened", "フォルダーを開けません。")
    reader_for(PurePosixPath(file.source))
    try:
        if not file.path.resolve().is_relative_to(file.root):
            raise Unreadable("a link out of the folder", "フォルダーの外へのリンクです。")
        status = file.path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("not a regular file", "通常のファイルではありません。")
        if status.st_size > LARGEST_FILE:
            limit, size = LARGEST_FILE // 1024**2, f"{status.st_size / 1024**2:.0f}"
            raise Unreadable(
                f"larger than {limit} MiB ({size} MiB); split it",
                f"{limit} MiB を超えています（{size} MiB）。分割してください。",
            )
        data = file.path.read_bytes()
    except OSError as error:
        raise Closed(f"cannot be opened: {error.strerror}", f"開けません（{error.strerror}）。") from error
    except RuntimeError as error:
        raise Unreadable("a link that leads to itself", "自分自身を指すリンクです。") from error
    if not data.strip():
        raise Unreadable("empty file", "空のファイルです。")
    return data


def _with_access_of(before: documents.Known | None, options: Options) -> Options:
    """The options, with what was given when the document came in where nothing is given now."""
    if before is None:
        return options
    return replace(
        options,
        department=before.given_department if options.department is None else options.department,
        confidentiality=options.confidentiality or before.given_confidentiality,
    )


def _may_be_scanned(file: File) -> bool:
    return PurePosixPath(file.source).suffix.lower() in SCANNED


def _was_scanned(file: File, data: bytes, options: Options, before: documents.Known) -> bool:
    """Whether the file is as it was when Tesseract, which is missing now, read it."""
    spoken = before.scanned_in
    return bool(spoken) and before.content_hash == _hash(file, data, options, spoken)


def _hash(file: File, data: bytes, options: Options, spoken: str | None) -> str:
    settings = f"{VERSION}\0{options.department}\0{options.confidentiality}\0"
    if _may_be_scanned(file):
        # With Tesseract installed since, or another language, the same file has another text.
        settings += f"{spoken}\0"
    return hashlib.sha256(settings.encode() + data).hexdigest()


def _document(file: File, data: bytes, spoken: str | None, options: Options, report: Report) -> Document:
    content, found = _read(file, data)
    if not found:
        raise Unreadable("no text in it", "本文がありません。")
    report.warnings += [f"{file.source}: {warning}" for warning in content.warnings]
    name = PurePosixPath(file.source)
    return Document(
        source=file.source,
        filename=name.name,
        title=(content.title or name.stem)[:_LONGEST_TITLE],
        text=content.text,
        # What was not read whole is read again at the next import.
        content_hash="" if content.incomplete else _hash(file, data, options, spoken),
        passages=tuple(found),
        department=_department(content) if options.department is None else options.department or None,
        confidentiality=options.confidentiality or _confidentiality(content),
        metadata={
            **_plain(content.metadata),
            "root": str(file.root),
            **({"scanned_in": spoken} if spoken else {}),
            "given": {
                "department": options.department,
                "confidentiality": options.confidentiality.name if options.confidentiality else None,
            },
        },
    )


def _read(file: File, data: bytes) -> tuple[Content, list[Passage]]:
    """The file's text and passages. A reader that fails on one file must not keep the others out."""
    try:
        content = reader_for(PurePosixPath(file.source))(data)
        return content, passages(content)
    except Unreadable:
        raise
    except Exception as error:
        log.warning("cannot read %s", file.source, exc_info=True)
        name = type(error).__name__
        raise Unreadable(
            f"its reader failed ({name})", f"読み取り中にエラーが起きました（{name}）。"
        ) from error


def _said(content: Content, name: str) -> Any:
    """What the front matter says of `name`, in capitals or not."""
    return next((value for key, value in content.metadata.items() if key.strip().lower() == name), None)


def _department(content: Content) -> str | None:
    named = _said(content, "department")
    if named is None:
        return None
    if isinstance(named, bool) or not isinstance(named, str | int) or len(str(named)) > _LONGEST_DEPARTMENT:
        raise Unreadable(
            "department in its front matter is not one name",
            "フロントマターの department が1つの名前ではありません。",
        )
    return unicodedata.normalize("NFC", str(named)).strip() or None


def _confidentiality(content: Content) -> Confidentiality:
    """What the front matter says. A word we do not know must not open a document to everybody."""
    named = _said(content, "confidentiality")
    if named is None:
        return Confidentiality.internal
    named = str(named).strip()[:40]
    try:
        return Confidentiality[named.lower()]
    except KeyError:
        levels = ", ".join(level.name for level in Confidentiality)
        raise Unreadable(
            f"confidentiality: {named} in its front matter is not one of {levels}",
            f"フロントマターの confidentiality: {named} は {levels} のどれでもありません。",
        ) from None


def _plain(metadata: Any) -> dict[str, Any]:
    """Front matter as JSON holds it; dates become text."""
    return {key: _json(value) for key, value in metadata.items()}


def _json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _json(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [_json(each) for each in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    return str(value)
