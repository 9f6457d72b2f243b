"""Who may see what, against the rules written down once more in plain Python."""

import itertools
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.caller import Caller, Confidentiality
from shirube.errors import AccessDenied, NotFound
from shirube.store import bases, documents, passages
from shirube.store.database import Database, open_database
from tests.store.records import document, document_id, join, put
from tests.stores import store_url

TENANTS = ("甲社", "乙社")
OWNER, MEMBER, STRANGER = "owner", "member", "stranger"
DEPARTMENTS = (None, "人事", "経理")
LEVELS = tuple(Confidentiality)


@dataclass(frozen=True)
class Kept:
    """A document as the test put it in, with the id of its only passage."""

    id: str
    passage: int
    department: str | None
    confidentiality: Confidentiality


@dataclass(frozen=True)
class Held:
    id: str
    tenant: str
    is_public: bool
    documents: tuple[Kept, ...]


@dataclass(frozen=True)
class World:
    database: Database
    bases: tuple[Held, ...]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """In each of two tenants a public and a closed base, with documents of every department and level."""
    database = open_database(store_url(tmp_path_factory.mktemp("access") / "shirube.db"))
    held = []
    for tenant, is_public in itertools.product(TENANTS, (True, False)):
        with database.write() as connection:
            owner, member = Caller(tenant, OWNER), Caller(tenant, MEMBER)
            base = bases.create_base(connection, owner, str(is_public), is_public=is_public)
            join(connection, base, member)
            kept = []
            for department, level in itertools.product(DEPARTMENTS, LEVELS):
                name = f"{department}-{level.name}"
                text = document(name, f"{tenant} {name}", department=department, confidentiality=level)
                [passage] = put(connection, base, text)
                kept.append(Kept(document_id(connection, base, name), passage, department, level))
        held.append(Held(base.id, tenant, is_public, tuple(kept)))
    return World(database, tuple(held))


def callers() -> list[Caller]:
    everyone = itertools.product(
        (*TENANTS, "無い社"),
        (OWNER, MEMBER, STRANGER),
        (frozenset(), frozenset({"人事"}), frozenset({"人事", "経理"})),
        LEVELS,
        (frozenset(), frozenset({"admin"}), frozenset({"editor"})),
        (False, True),
    )
    return [Caller(*each) for each in everyone]


def may_open(caller: Caller, base: Held) -> bool:
    if base.tenant != caller.tenant:
        return False
    return base.is_public or caller.subject in (OWNER, MEMBER) or "admin" in caller.roles


def may_read(caller: Caller, base: Held, kept: Kept) -> bool:
    cleared = kept.confidentiality.value <= caller.clearance.value
    own = caller.every_department or kept.department is None or kept.department in caller.departments
    return may_open(caller, base) and cleared and own


def opened(world: World, caller: Caller, base: Held) -> str:
    with world.database.read() as connection:
        try:
            return bases.get_base(connection, caller, base.id).id
        except (NotFound, AccessDenied) as error:
            return type(error).__name__


def test_a_base_opens_for_its_owner_members_admins_and_when_public_for_its_tenant(world: World) -> None:
    seen = set()
    subjects = {(each.tenant, each.subject, each.roles): each for each in callers()}
    for caller, base in itertools.product(subjects.values(), world.bases):
        wanted = base.id if may_open(caller, base) else "AccessDenied"
        wanted = wanted if base.tenant == caller.tenant else "NotFound"
        assert opened(world, caller, base) == wanted
        seen.add(wanted)
    assert {"AccessDenied", "NotFound"} < seen


def test_the_list_of_bases_is_what_would_open(world: World) -> None:
    subjects = {(each.tenant, each.subject, each.roles): each for each in callers()}
    for caller in subjects.values():
        with world.database.read() as connection:
            listed = {base.id for base, _ in bases.list_bases(connection, caller)}
        assert listed == {base.id for base in world.bases if may_open(caller, base)}


def test_passages_are_visible_by_base_department_and_clearance(world: World) -> None:
    ids = [kept.passage for base in world.bases for kept in base.documents]
    sizes = set()
    with world.database.read() as connection:
        for caller, base in itertools.product(callers()[::5], world.bases):
            found = passages.visible_passages(connection, caller, base.id, ids)
            assert set(found) == {kept.passage for kept in base.documents if may_read(caller, base, kept)}
            sizes.add(len(found))
    assert {0, 1, len(DEPARTMENTS) * len(LEVELS)} < sizes


@settings(max_examples=60)
@given(caller=st.sampled_from(callers()), at=st.integers(0, 3))
def test_the_whole_text_opens_for_those_who_may_read_its_passages(
    world: World, caller: Caller, at: int
) -> None:
    base = world.bases[at]
    with world.database.read() as connection:
        for kept in base.documents:
            if may_read(caller, base, kept):
                assert documents.document_text(connection, caller, kept.id).startswith(base.tenant)
            else:
                with pytest.raises(NotFound):
                    documents.document_text(connection, caller, kept.id)
