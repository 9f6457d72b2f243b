"""What searches and fusions look at again and again of each publication, kept at hand."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from shirube.store import patents as store
from shirube.store.database import Database
from shirube.store.patents import Publication
from shirube.text.normalize import fold
from shirube.toolsets.patents.record import TEXTS

# Characters of folded text that are kept; those of some ten thousand abstracts, or of some hundred whole publications.
_KEPT = 40_000_000


@dataclass(frozen=True)
class Fact:
    key: int
    doc_id: str
    pub_id: str
    date: str
    fi_full: tuple[str, ...]
    fi_norm: tuple[str, ...]
    ft: tuple[str, ...]
    texts: tuple[str, ...]
    """Title, abstract, claims and description, folded."""
    front: str
    """The first three of them in one."""
    codes: frozenset[tuple[str, str]]
    """FI and F-terms, each with its kind."""


class Shelf:
    """Facts of a tenant's publications as they are at one revision."""

    def __init__(self, database: Database, tenant: str) -> None:
        self._database = database
        self._tenant = tenant
        self._guard = threading.Lock()
        self._revision = -1
        self._by_key: dict[int, Fact] = {}
        self._by_id: dict[str, Fact] = {}
        self._characters = 0

    def by_key(self, keys: Sequence[int]) -> dict[int, Fact]:
        with self._database.read() as connection:
            self._check(connection)
            held = self._by_key
            found = {key: held[key] for key in keys if key in held}
            missing = [key for key in keys if key not in found]
            made = map(_fact, store.by_key(connection, self._tenant, missing).values())
            return found | {fact.key: fact for fact in self._keep(made)}

    def by_id(self, ids: Sequence[str]) -> dict[str, Fact]:
        with self._database.read() as connection:
            self._check(connection)
            held = self._by_id
            found = {doc_id: held[doc_id] for doc_id in ids if doc_id in held}
            missing = [doc_id for doc_id in ids if doc_id not in found]
            made = store.by_any_id(connection, self._tenant, missing)
            return found | dict(zip(made, self._keep(map(_fact, made.values())), strict=True))

    def _check(self, connection: Connection) -> None:
        revision = store.revision_of(connection, self._tenant)
        with self._guard:
            if revision != self._revision:
                self._empty()
                self._revision = revision

    def _keep(self, facts: Iterable[Fact]) -> list[Fact]:
        made = list(facts)
        with self._guard:
            for fact in made:
                self._by_key[fact.key] = self._by_id[fact.doc_id] = fact
                self._characters += sum(map(len, fact.texts))
            if self._characters > _KEPT:
                self._empty()
        return made

    def _empty(self) -> None:
        self._by_key, self._by_id, self._characters = {}, {}, 0


def _fact(publication: Publication) -> Fact:
    record: dict[str, Any] = publication.record
    return Fact(
        publication.key,
        publication.doc_id,
        record["pub_id"] or publication.doc_id,
        record["publication_date"] or "",
        tuple(record["fi_full"]),
        tuple(record["fi_norm"]),
        tuple(record["ft"]),
        texts := tuple(fold(record[name]) for name in TEXTS),
        "\n".join(texts[:3]),
        frozenset((kind, code) for kind, name in (("fi", "fi_norm"), ("ft", "ft")) for code in record[name]),
    )
