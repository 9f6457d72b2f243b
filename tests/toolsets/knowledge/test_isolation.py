"""Thousands of random steps of four companies, held against a model that knows nothing of SQL or indexes."""

import json
import random
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, insert, update

from shirube.caller import Caller, Confidentiality
from shirube.ingest.embedding import embed_missing
from shirube.store import bases
from shirube.store.bases import KnowledgeBase
from shirube.store.tables import knowledge_bases, members
from shirube.toolsets.knowledge.feed import BODY, TITLE
from tests.store.records import document, put, remove
from tests.toolsets.knowledge.conftest import Served, serve

STEPS, MANY = 1000, 2500
TENANTS = ("甲社", "乙社", "丙社", "丁社")
DEPARTMENTS = ("人事", "経理", "開発")
SUBJECTS = ("佐藤", "鈴木", "高橋")
MOST_DOCUMENTS = 12


@dataclass
class Base:
    """What the model knows of a knowledge base."""

    stored: KnowledgeBase
    tenant: str
    owner: str
    public: bool
    members: set[str] = field(default_factory=set)
    documents: dict[str, tuple[str | None, Confidentiality, int]] = field(default_factory=dict)
    current: bool = True


def may_read(caller: Caller, base: Base) -> bool:
    if caller.tenant != base.tenant:
        return False
    return (
        "admin" in caller.roles
        or base.public
        or caller.subject == base.owner
        or caller.subject in base.members
    )


def visible(caller: Caller, base: Base) -> dict[str, int]:
    """The documents that the caller may see, and how many passages each has."""
    return {
        source: passages
        for source, (department, level, passages) in base.documents.items()
        if level <= caller.clearance and (department is None or department in caller.departments)
    }


class World:
    """The companies, as the model has them and as Shirube does."""

    def __init__(self, served: Served, chance: random.Random) -> None:
        self.served = served
        self.chance = chance
        self.bases: list[Base] = []
        self.gone: list[str] = [str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(3)]
        self.seen: Counter[str] = Counter()

    def caller(self) -> Caller:
        chance = self.chance
        return Caller(
            chance.choice(TENANTS),
            chance.choice(SUBJECTS),
            frozenset(chance.sample(DEPARTMENTS, chance.randint(0, 3))),
            chance.choice(list(Confidentiality)),
            frozenset({"admin"} if chance.random() < 0.2 else ()),
        )

    def step(self) -> None:
        reads = [self.search] * 14 + [self.summary] * 3 + [self.list]
        writes = [self.put] * 6 + [self.remove, self.join, self.leave, self.publish, self.create, self.drop]
        self.chance.choice(writes if self.chance.random() < 0.1 or not self.bases else reads)()

    # What changes

    def create(self) -> None:
        if len(self.bases) < 10:
            caller = self.caller()
            public = self.chance.random() < 0.3
            name = f"規程{self.chance.getrandbits(40)}"
            stored = self.served.create(name, owner=caller, public=public)
            self.bases.append(Base(stored, caller.tenant, caller.subject, public))

    def drop(self) -> None:
        if len(self.bases) > 6:
            base = self.bases.pop(self.chance.randrange(len(self.bases)))
            with self.served.database.write() as connection:
                bases.remove_base(connection, Caller(base.tenant, base.owner), base.stored.id)
            self.gone.append(base.stored.id)

    def put(self) -> None:
        base = self.some_base()
        if base is None:
            return
        source = f"{self.chance.randrange(MOST_DOCUMENTS)}.md"
        department = self.chance.choice([None, *DEPARTMENTS])
        level = self.chance.choice(list(Confidentiality))
        texts = [f"手当の第{n}条、{source}。" for n in range(self.chance.randint(1, 3))]
        with self.served.database.write() as connection:
            put(
                connection,
                base.stored,
                document(source, *texts, department=department, confidentiality=level),
                collection="規則",
            )
        base.documents[source] = (department, level, len(texts))
        self.changed(base)

    def remove(self) -> None:
        base = self.some_base()
        if base and base.documents:
            source = self.chance.choice(sorted(base.documents))
            with self.served.database.write() as connection:
                assert remove(connection, base.stored, source, "規則")
            del base.documents[source]
            self.changed(base)

    def changed(self, base: Base) -> None:
        """Now and then the index is left behind: what it still holds must not be shown to the wrong people."""
        base.current = self.chance.random() < 0.8
        if base.current:
            self.catch_up(base)

    def catch_up(self, base: Base) -> None:
        workspace = self.served.application.workspace()
        space = self.served.application.knowledge().space(base.stored.id)
        space.catch_up()
        if workspace.embedder:
            embed_missing(space, workspace.embedder, BODY, TITLE, workers=1)
        base.current = True

    def join(self) -> None:
        base, subject = self.some_base(), self.chance.choice(SUBJECTS)
        if base and subject not in base.members:
            with self.served.database.write() as connection:
                values = {"knowledge_base_id": base.stored.id, "subject": subject}
                connection.execute(insert(members).values(values))
            base.members.add(subject)

    def leave(self) -> None:
        base = self.some_base()
        if base and base.members:
            subject = self.chance.choice(sorted(base.members))
            with self.served.database.write() as connection:
                connection.execute(
                    delete(members).where(
                        members.c.knowledge_base_id == base.stored.id, members.c.subject == subject
                    )
                )
            base.members.remove(subject)

    def publish(self) -> None:
        base = self.some_base()
        if base:
            base.public = not base.public
            with self.served.database.write() as connection:
                of_base = knowledge_bases.c.id == base.stored.id
                connection.execute(update(knowledge_bases).where(of_base).values(is_public=base.public))

    def some_base(self) -> Base | None:
        return self.chance.choice(self.bases) if self.bases else None

    # What is asked

    def refused(self, caller: Caller, base_id: str, base: Base | None) -> str | None:
        """The one message that this caller may get of this base, if any."""
        if base is None or base.tenant != caller.tenant:
            return "Knowledge base not found"
        return None if may_read(caller, base) else "Access denied to this knowledge base"

    def asked(self) -> tuple[Caller, str, Base | None]:
        caller = self.caller()
        if self.chance.random() < 0.1 or not self.bases:
            return caller, self.chance.choice(self.gone), None
        base = self.chance.choice(self.bases)
        if self.chance.random() < 0.7:  # mostly somebody of the tenant
            caller = Caller(base.tenant, caller.subject, caller.departments, caller.clearance, caller.roles)
        return caller, base.stored.id, base

    def agrees(self, body: Any, caller: Caller, base_id: str, base: Base | None) -> bool:
        """Whether the answer is a refusal, which must be the one that is due and say nothing of whose base it is."""
        message = self.refused(caller, base_id, base)
        if message:
            assert body["detail"] == message
            assert body["status"] == (404 if message.endswith("found") else 403)
            if body["status"] == 404:
                unknown = self.served.summary(self.gone[0], caller).body
                assert json.dumps(body) == json.dumps(unknown), "another tenant's base is an unknown one"
            self.seen[message] += 1
        else:
            assert "detail" not in body, body
        return message is None

    def search(self) -> None:
        caller, base_id, base = self.asked()
        answer = self.served.search(
            self.chance.choice(["手当", "手当の条", "第1条"]),
            caller,
            knowledge_base_id=base_id,
            threshold=0.0,
            max_results=50,
        )
        if self.agrees(answer.body, caller, base_id, base):
            assert base is not None
            found = {result["metadata"]["source"]["file"] for result in answer.body["results"]}
            allowed = visible(caller, base)
            assert found <= set(allowed), "nothing that the caller may not see"
            if not base.current and self.chance.random() < 0.5:
                self.catch_up(base)
            elif base.current:
                assert found == set(allowed), "and all that they may"
                self.seen["found" if found else "nothing found"] += 1

    def summary(self) -> None:
        caller, base_id, base = self.asked()
        body = self.served.summary(base_id, caller).body
        if self.agrees(body, caller, base_id, base):
            assert base is not None
            allowed = visible(caller, base)
            assert body["statistics"]["total_documents"] == len(allowed)
            assert body["statistics"]["total_chunks"] == sum(allowed.values())
            self.seen["summary"] += 1

    def list(self) -> None:
        caller = self.caller()
        listed = self.served.call("list_knowledge_bases", {}, caller).body["knowledge_bases"]
        due = {base.stored.id: visible(caller, base) for base in self.bases if may_read(caller, base)}
        assert {each["knowledge_base_id"] for each in listed} == set(due)
        for each in listed:
            assert each["statistics"]["total_documents"] == len(due[each["knowledge_base_id"]])
        self.seen["list"] += 1


@pytest.fixture(params=["none", "use"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    served = serve(tmp_path, request.param)
    yield served
    served.database.close()


@pytest.mark.parametrize("steps", [STEPS, pytest.param(MANY, marks=pytest.mark.soak)])
def test_every_answer_is_what_the_caller_may_see(served: Served, steps: int) -> None:
    """By full text alone and with vectors: together 2,000 steps, and 5,000 in `make soak`."""
    world = World(served, random.Random(20261116))
    for _ in range(steps):
        world.step()
    wanted: Sequence[str] = (
        "found",
        "nothing found",
        "summary",
        "list",
        "Knowledge base not found",
        "Access denied to this knowledge base",
    )
    assert all(world.seen[each] >= steps // 100 for each in wanted), world.seen
