"""Taking in files of publications: what is broken is reported with its line, the rest goes in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from shirube.caller import Caller
from shirube.errors import AccessDenied
from shirube.ingest.refused import Refused
from shirube.store import patents as store
from shirube.store.database import Database
from shirube.toolsets.patents.feed import scopes_of
from shirube.toolsets.patents.files import records
from shirube.toolsets.patents.merging import merged
from shirube.toolsets.patents.record import content_hash

Progress = Callable[[int, int], None]
Outcome = Literal["added", "changed", "unchanged"]
_BATCH = 500


@dataclass(frozen=True)
class RefusedRow:
    file: str
    line: int
    reason: str
    reason_ja: str


@dataclass
class Report:
    """How many publications came of the rows, each counted once, and the rows that none came of."""

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
    outcomes: dict[str, Outcome] = {}
    rows = [(path.name, line, record) for path in paths for line, record in records(path)]
    batch: dict[str, dict[str, Any]] = {}
    for number, (file, line, record) in enumerate(rows, start=1):
        if isinstance(record, Refused):
            report.refused.append(RefusedRow(file, line, record.reason, record.ja))
        else:
            doc_id = record["doc_id"]
            batch[doc_id] = merged(batch[doc_id], record) if doc_id in batch else record
        if len(batch) >= _BATCH or number == len(rows):
            for doc_id, outcome in _put(database, caller, batch).items():
                if outcomes.get(doc_id, "unchanged") == "unchanged":
                    outcomes[doc_id] = outcome
            batch = {}
            if progress:
                progress(number, len(rows))
    for outcome in outcomes.values():
        setattr(report, outcome, getattr(report, outcome) + 1)
    return report


def _put(database: Database, caller: Caller, batch: dict[str, dict[str, Any]]) -> dict[str, Outcome]:
    """Write what is new in these, together with what is known of them."""
    outcomes: dict[str, Outcome] = {}
    with database.write() as connection:
        known = store.hashes(connection, caller, list(batch))
        revision = store.revision_of(connection, caller.tenant)
        hashes = {doc_id: content_hash(record) for doc_id, record in batch.items()}
        others = [doc_id for doc_id in known if known[doc_id][1] != hashes[doc_id]]
        held = store.by_doc_id(connection, caller.tenant, others)
        for doc_id, given in batch.items():
            record, made = given, hashes[doc_id]
            if doc_id in held:
                record = merged(held[doc_id].record, given)
                made = content_hash(record)
            key, before = known.get(doc_id, (None, None))
            if made == before:
                outcomes[doc_id] = "unchanged"
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
            outcomes[doc_id] = "added" if key is None else "changed"
    return outcomes
