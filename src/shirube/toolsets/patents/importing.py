"""Taking in files of publications: what is broken is reported with its line, the rest goes in."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from shirube.caller import Caller
from shirube.errors import AccessDenied, InvalidInput, NotFound
from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.encoding import decode
from shirube.ingest.refused import Refused
from shirube.store import patents as store
from shirube.store.database import Database
from shirube.toolsets.patents.feed import scopes_of
from shirube.toolsets.patents.gazette import read_gazette
from shirube.toolsets.patents.record import content_hash, read_publication

Progress = Callable[[int, int], None]
_BATCH = 500


@dataclass(frozen=True)
class RefusedRow:
    file: str
    line: int
    reason: str
    reason_ja: str


@dataclass
class Report:
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: list[RefusedRow] = field(default_factory=list)


def import_files(
    database: Database, caller: Caller, paths: Sequence[Path], progress: Progress | None = None
) -> Report:
    """One transaction a batch: what was reported as taken in stays."""
    if not caller.is_admin:
        raise AccessDenied(
            "Only an admin of the tenant may import publications",
            "公報を取り込めるのはテナントの管理者だけです。",
            hint="管理者に依頼してください。 Ask an admin.",
        )
    report = Report()
    rows = [(path.name, line, raw) for path in paths for line, raw in _rows(path)]
    batch: dict[str, dict[str, Any]] = {}
    for number, (file, line, raw) in enumerate(rows, start=1):
        try:
            if isinstance(raw, Refused):
                raise raw
            record = read_publication(raw)
        except Refused as refused:
            report.refused.append(RefusedRow(file, line, refused.reason, refused.ja))
        else:
            batch[record["doc_id"]] = record
        if len(batch) >= _BATCH or number == len(rows):
            _put(database, caller, batch, report)
            batch = {}
            if progress:
                progress(number, len(rows))
    return report


def _put(database: Database, caller: Caller, batch: dict[str, dict[str, Any]], report: Report) -> None:
    with database.write() as connection:
        known = store.hashes(connection, caller, list(batch))
        revision = store.revision_of(connection, caller.tenant)
        for doc_id, record in batch.items():
            key, before = known.get(doc_id, (None, None))
            made = content_hash(record)
            if made == before:
                report.unchanged += 1
                continue
            revision += 1
            store.put_publication(
                connection,
                caller,
                record,
                key=key,
                content_hash=made,
                scopes=scopes_of(record),
                revision=revision,
            )
            if key is None:
                report.added += 1
            else:
                report.changed += 1


def _gazette(data: bytes) -> Iterator[tuple[int, Any]]:
    """The publications of a gazette, counted from 1."""
    try:
        yield from enumerate(read_gazette(data), start=1)
    except Refused as refused:
        yield 1, refused


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Every row with its line; a line that cannot be read is the reason why."""
    try:
        data = path.read_bytes()
        if path.suffix.lower() == ".xml":
            yield from _gazette(data)
            return
        text = decode(data)
    except Unreadable as error:
        raise InvalidInput(f"{path.name}: {error}", f"{path.name} を読めません（{error}）。") from None
    except OSError as error:
        raise NotFound(
            f"{path.name} cannot be read: {error.strerror}", f"{path.name} を読めません（{error.strerror}）。"
        ) from None
    if path.suffix.lower() in (".csv", ".tsv"):
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        for number, row in enumerate(
            csv.DictReader(StringIO(text, newline=""), delimiter=separator), start=2
        ):
            yield number, {key: value for key, value in row.items() if key and value}
        return
    if text.lstrip().startswith("["):
        try:
            yield from enumerate(json.loads(text), start=1)
            return
        except (ValueError, RecursionError, TypeError) as error:
            raise InvalidInput(
                f"{path.name} is not JSON: {error}", f"{path.name} が正しい JSON ではありません。"
            ) from None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, Refused("not valid JSON", "正しい JSON ではありません。")
