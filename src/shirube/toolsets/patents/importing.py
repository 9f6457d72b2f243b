"""Taking in files of publications: what is broken is reported with its line, the rest goes in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any, Literal

from shirube.caller import Caller
from shirube.errors import AccessDenied
from shirube.ingest.refused import Refused
from shirube.store import patents as store
from shirube.store.database import Database
from shirube.toolsets.patents.feed import scopes_of
from shirube.toolsets.patents.files import records
from shirube.toolsets.patents.merging import merged, together
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
    batch: list[dict[str, Any]] = []
    for number, (file, line, record) in enumerate(rows, start=1):
        if isinstance(record, Refused):
            report.refused.append(RefusedRow(file, line, record.reason, record.ja))
        else:
            batch.append(record)
        if len(batch) >= _BATCH or number == len(rows):
            _put(database, caller, batch, outcomes)
            batch = []
            if progress:
                progress(number, len(rows))
    for outcome in outcomes.values():
        setattr(report, outcome, getattr(report, outcome) + 1)
    return report


@dataclass(frozen=True)
class _One:
    """One publication: what there is of it, what is given of it, and the hash of that."""

    held: Sequence[store.Known]
    given: dict[str, Any]
    hash: str

    @property
    def is_known(self) -> bool:
        return len(self.held) == 1 and self.held[0].content_hash == self.hash


def _put(
    database: Database, caller: Caller, batch: Sequence[dict[str, Any]], outcomes: dict[str, Outcome]
) -> None:
    """Write what is new in these, together with what is known of them. `outcomes` are by the publications' ids."""
    with database.write() as connection:
        ones = _ones(list(store.sharing(connection, caller, batch).values()), batch)
        revision = store.revision_of(connection, caller.tenant)
        others = [known.key for one in ones if not one.is_known for known in one.held]
        texts = store.by_key(connection, caller.tenant, others)
        for one in ones:
            record, made = one.given, one
            if one.held and not one.is_known:
                record = reduce(merged, [*(texts[known.key].record for known in one.held), one.given])
                made = replace(one, hash=content_hash(record))
            if not made.is_known:
                revision += 1
                store.put_publication(
                    connection,
                    caller,
                    record,
                    instead_of=one.held,
                    content_hash=made.hash,
                    scopes=scopes_of(record),
                    revision=revision,
                )
            before = [outcomes.pop(known.doc_id, None) for known in one.held]
            outcomes[record["doc_id"]] = _outcome(before, is_new=not made.is_known)


def _ones(held: Sequence[store.Known], given: Sequence[dict[str, Any]]) -> list[_One]:
    """The publications that the given records are of, each with all that there is of it."""
    found = []
    for places in together([*(known.numbers for known in held), *given]):
        records = [given[at - len(held)] for at in places if at >= len(held)]
        if records:
            record = reduce(merged, records)
            found.append(_One([held[at] for at in places if at < len(held)], record, content_hash(record)))
    return found


def _outcome(before: Sequence[Outcome | None], *, is_new: bool) -> Outcome:
    """What came of a publication in the whole import; `before` has, for each that there was of it, what so far."""
    if all(each == "added" for each in before):
        return "added"
    return "changed" if is_new or any(each in ("added", "changed") for each in before) else "unchanged"
