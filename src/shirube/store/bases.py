"""Knowledge bases and their collections, within the caller's reach."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, insert, select, update

from shirube.caller import LOCAL, Caller
from shirube.errors import AccessDenied, InvalidInput, NotFound
from shirube.store.access import base_in_reach, base_owned, counted
from shirube.store.clock import now
from shirube.store.tables import collections, document_counts, knowledge_bases, members, tenants

DEFAULT_COLLECTION = "default"
_LIST_HINT = "list_knowledge_bases で ID を確認してください。 Call list_knowledge_bases for the ids."


@dataclass(frozen=True)
class KnowledgeBase:
    id: str
    name: str
    description: str
    owner: str
    is_public: bool
    revision: int


@dataclass(frozen=True)
class Statistics:
    total_documents: int
    total_collections: int
    total_chunks: int


def list_bases(connection: Connection, caller: Caller) -> list[tuple[KnowledgeBase, Statistics]]:
    """Every knowledge base the caller may read, by name."""
    rows = connection.execute(
        _bases_with_counts(caller).where(base_in_reach(caller)).order_by(knowledge_bases.c.name)
    )
    return [(_base(row), _statistics(row)) for row in rows]


@dataclass(frozen=True)
class Held:
    """A knowledge base as whoever owns the data sees it: with its tenant, and all that is in it."""

    base: KnowledgeBase
    tenant: str
    statistics: Statistics


def every_base(connection: Connection) -> list[Held]:
    """The knowledge bases of all tenants: for whoever looks after the data, not for callers."""
    order = (knowledge_bases.c.tenant_id, knowledge_bases.c.name)
    rows = connection.execute(_bases_with_counts(LOCAL).order_by(*order))
    return [Held(_base(row), row.tenant_id, _statistics(row)) for row in rows]


def state(connection: Connection) -> tuple[int, int]:
    """Something that differs whenever a document of any base has changed."""
    row = connection.execute(select(func.count(), func.sum(knowledge_bases.c.revision))).one()
    return int(row[0]), int(row[1] or 0)


def get_base(
    connection: Connection,
    caller: Caller,
    base_id: str,
    rule: Callable[[Caller], ColumnElement[bool]] = base_in_reach,
) -> KnowledgeBase:
    """The knowledge base, where the rule lets the caller have it; unknown and foreign ones are the same NotFound."""
    return _base(_opened(connection, caller, base_id, select(knowledge_bases), rule))


def _opened(
    connection: Connection,
    caller: Caller,
    base_id: str,
    statement: Select[Any],
    rule: Callable[[Caller], ColumnElement[bool]],
) -> Row[Any]:
    """The row that `statement` gives of a base, where the rule lets the caller have it."""
    row = connection.execute(
        statement.add_columns(rule(caller).label("open")).where(
            knowledge_bases.c.id == base_id, knowledge_bases.c.tenant_id == caller.tenant
        )
    ).first()
    if row is None:
        raise NotFound("Knowledge base not found", "ナレッジベースが見つかりません。", hint=_LIST_HINT)
    if not row.open:
        raise _denied()
    return row


def _denied() -> AccessDenied:
    return AccessDenied(
        "Access denied to this knowledge base",
        "このナレッジベースへのアクセス権がありません。",
        hint="管理者に参加を依頼してください。 Ask its owner to add you.",
    )


def find_base(connection: Connection, caller: Caller, name: str) -> KnowledgeBase | None:
    """The caller's knowledge base of that name."""
    row = connection.execute(
        select(knowledge_bases).where(base_in_reach(caller), knowledge_bases.c.name == name)
    ).first()
    return _base(row) if row else None


def summarise_base(connection: Connection, caller: Caller, base_id: str) -> tuple[KnowledgeBase, Statistics]:
    """A knowledge base and its counts, by one statement."""
    row = _opened(connection, caller, base_id, _bases_with_counts(caller), base_in_reach)
    return _base(row), _statistics(row)


def create_base(
    connection: Connection,
    caller: Caller,
    name: str,
    description: str = "",
    *,
    is_public: bool = False,
    base_id: str | None = None,
) -> KnowledgeBase:
    if not name.strip() or len(name) > 200:
        raise InvalidInput(
            "A knowledge base needs a name of 1 to 200 characters",
            "ナレッジベース名は1〜200文字で指定してください。",
        )
    if not connection.execute(select(tenants.c.id).where(tenants.c.id == caller.tenant)).first():
        connection.execute(insert(tenants).values(id=caller.tenant, created_at=now()))
    taken = select(knowledge_bases.c.id).where(
        knowledge_bases.c.tenant_id == caller.tenant, knowledge_bases.c.name == name
    )
    if connection.execute(taken).first():
        raise _denied()
    base_id = base_id or str(uuid.uuid4())
    connection.execute(
        insert(knowledge_bases).values(
            id=base_id,
            tenant_id=caller.tenant,
            name=name,
            description=description,
            owner=caller.subject,
            is_public=is_public,
            created_at=now(),
        )
    )
    return KnowledgeBase(base_id, name, description, caller.subject, is_public, 0)


def remove_base(connection: Connection, caller: Caller, base_id: str) -> None:
    get_base(connection, caller, base_id, base_owned)
    connection.execute(delete(knowledge_bases).where(knowledge_bases.c.id == base_id))


def share_base(
    connection: Connection,
    caller: Caller,
    base_id: str,
    *,
    public: bool | None = None,
    join: Sequence[str] = (),
    leave: Sequence[str] = (),
) -> tuple[KnowledgeBase, list[str]]:
    """Open the base to everybody in its tenant or close it, let members in and out; the base and its members."""
    get_base(connection, caller, base_id, base_owned)
    if public is not None:
        of_base = knowledge_bases.c.id == base_id
        connection.execute(update(knowledge_bases).where(of_base).values(is_public=public))
    of_base = members.c.knowledge_base_id == base_id
    for subject in dict.fromkeys([*join, *leave]):
        connection.execute(delete(members).where(of_base, members.c.subject == subject))
    for subject in dict.fromkeys(join):
        if subject not in leave:
            connection.execute(insert(members).values(knowledge_base_id=base_id, subject=subject))
    listed = connection.execute(select(members.c.subject).where(of_base).order_by(members.c.subject))
    return get_base(connection, caller, base_id, base_owned), list(listed.scalars())


def open_collection(
    connection: Connection, base: KnowledgeBase, name: str, collection_id: str | None = None
) -> str:
    """The id of the base's collection of that name, created where it is missing."""
    found = connection.execute(
        select(collections.c.id).where(collections.c.knowledge_base_id == base.id, collections.c.name == name)
    ).scalar()
    if found:
        return str(found)
    collection_id = collection_id or str(uuid.uuid4())
    connection.execute(
        insert(collections).values(
            id=collection_id,
            knowledge_base_id=base.id,
            name=name,
            description="",
            is_default=name == DEFAULT_COLLECTION,
            created_at=now(),
        )
    )
    return collection_id


def _bases_with_counts(caller: Caller) -> Select[Any]:
    """Bases with their collections, and with the documents and passages that the caller may see."""
    of_base = collections.c.knowledge_base_id == knowledge_bases.c.id

    def seen(column: ColumnElement[int]) -> ColumnElement[int]:
        total = select(func.coalesce(func.sum(column), 0))
        mine = document_counts.c.knowledge_base_id == knowledge_bases.c.id
        return total.where(mine, counted(caller)).scalar_subquery()

    return select(
        knowledge_bases,
        select(func.count()).where(of_base).scalar_subquery().label("total_collections"),
        seen(document_counts.c.documents).label("total_documents"),
        seen(document_counts.c.chunks).label("total_chunks"),
    )


def _base(row: Row[Any]) -> KnowledgeBase:
    return KnowledgeBase(row.id, row.name, row.description, row.owner, row.is_public, row.revision)


def _statistics(row: Row[Any]) -> Statistics:
    return Statistics(int(row.total_documents), int(row.total_collections), int(row.total_chunks))
