"""What the indexes of patents are made from: publications, and the part of each that a semantic lane looks at."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from shirube.index.contract import Change, Entry, Layout
from shirube.query.filters import Field, Schema
from shirube.query.values import normal
from shirube.store import patents as store
from shirube.store.database import Database
from shirube.store.patents import Publication
from shirube.toolsets.patents.codes import below, fi_norm, normal_symbol
from shirube.toolsets.patents.record import TEXTS, scope_text

KEYWORDS = ("fi", "ft", "ipc", "cpc", "country", "applicant", "inventor")
NUMBERS = ("date", "filing_date", "pubyear")
# 2: names of applicants and inventors without white space.
_VERSION = 2
LAYOUT = Layout(texts=TEXTS, keywords=KEYWORDS, numbers=NUMBERS, phrases=True, version=_VERSION)
BODY = "body"
SCOPE_LAYOUT = Layout(texts=(BODY,), keywords=KEYWORDS, numbers=NUMBERS, version=_VERSION)
SCOPES = ("wide", "title_abst_claims", "claims_only", "top_claim", "background_jp")


def closed_up(name: str) -> str:
    """A name without white space: gazettes write 山田　太郎, people 山田太郎."""
    return "".join(normal(name).split())


FILTERS: Schema = {
    **dict.fromkeys(("fi", "ipc", "cpc"), Field("keyword", fi_norm, below)),
    "ft": Field("keyword", normal_symbol),
    "country": Field("keyword", normal_symbol),
    "applicant": Field("keyword", closed_up),
    "inventor": Field("keyword", closed_up),
    "date": Field("date"),
    "filing_date": Field("date"),
    "pubyear": Field("number"),
}


class PublicationFeed:
    """The publications of a tenant; with a `scope`, that part of each as one text."""

    def __init__(self, database: Database, tenant: str, scope: str | None = None) -> None:
        self._database = database
        self._tenant = tenant
        self._scope = scope

    def revision(self) -> int:
        with self._database.read() as connection:
            return store.revision_of(connection, self._tenant)

    def count(self) -> int:
        with self._database.read() as connection:
            return store.count(connection, self._tenant)

    def keys(self) -> Sequence[int]:
        with self._database.read() as connection:
            return store.keys(connection, self._tenant, 0 if self._scope is None else scope_bit(self._scope))

    def changes(self, since: int) -> Sequence[Change]:
        with self._database.read() as connection:
            return [
                change
                for doc_id, revision, before in store.changed(connection, self._tenant, since)
                # What it was called before goes, and with the last of a revision all of it is there.
                for change in (*(Change(each, revision, 0) for each in before), Change(doc_id, revision, 1))
            ]

    def entries(self, groups: Sequence[str]) -> Iterator[Entry]:
        with self._database.read() as connection:
            yield from map(self._entry, store.by_doc_id(connection, self._tenant, groups).values())

    def entries_by_key(self, keys: Sequence[int]) -> Iterator[Entry]:
        with self._database.read() as connection:
            found = store.by_key(connection, self._tenant, keys)
        yield from (self._entry(found[key]) for key in keys if key in found)

    def _entry(self, publication: Publication) -> Entry:
        record = publication.record
        texts = {name: record[name] for name in TEXTS} if self._scope is None else self._scoped(record)
        return Entry(publication.key, publication.doc_id, texts, keywords(record), numbers(record))

    def _scoped(self, record: dict[str, Any]) -> dict[str, str]:
        assert self._scope is not None
        return {BODY: scope_text(record, self._scope)}


def scope_bit(scope: str) -> int:
    return 1 << SCOPES.index(scope)


def scopes_of(record: dict[str, Any]) -> int:
    """The bits of the scopes that a publication has a text for."""
    return sum(scope_bit(scope) for scope in SCOPES if scope_text(record, scope).strip())


def keywords(record: dict[str, Any]) -> dict[str, list[str]]:
    symbols = {name: [fi_norm(each) for each in record[name]] for name in ("ipc", "cpc")}
    names = {name: [closed_up(each) for each in record[name]] for name in ("applicant", "inventor")}
    return {"fi": record["fi_norm"], "ft": record["ft"], **symbols, "country": [record["country"]], **names}


def numbers(record: dict[str, Any]) -> dict[str, int]:
    days = {"date": record["publication_date"], "filing_date": record["filing_date"]}
    found = {name: date.fromisoformat(day).toordinal() for name, day in days.items() if day}
    if record["publication_date"]:
        found["pubyear"] = int(record["publication_date"][:4])
    return found
