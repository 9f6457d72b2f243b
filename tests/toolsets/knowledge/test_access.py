"""Who gets which answer: other tenants, strangers, departments and clearances."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shirube.caller import Caller, Confidentiality
from shirube.operations import Answer
from shirube.store.bases import KnowledgeBase
from tests.store.records import document, join
from tests.toolsets.knowledge.conftest import Served, serve

OWNER = Caller("甲社", "owner", clearance=Confidentiality.top_secret)
MEMBER = replace(OWNER, subject="member")
STRANGER = replace(OWNER, subject="stranger")
ADMIN = replace(OWNER, subject="boss", roles=frozenset({"admin"}))
ELSEWHERE = Caller("乙社", "owner", roles=frozenset({"admin"}), every_department=True)
LEVELS = tuple(Confidentiality)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Served, KnowledgeBase]:
    """A base of 甲社 with documents of two departments and every level."""
    served = serve(tmp_path_factory.mktemp("closed"))
    levels = [
        document(f"{level.name}.md", f"手当の規程{level.name}", confidentiality=level) for level in LEVELS
    ]
    departments = [
        document(f"{name}.md", f"手当の規程{name}", department=name, confidentiality=Confidentiality.public)
        for name in ("人事", "経理", "-")
    ]
    base = served.create("秘密", *levels, *departments, owner=OWNER)
    with served.database.write() as connection:
        join(connection, base, MEMBER)
    return served, base


Ask = Callable[[Served, str, Caller], Answer]
ASKS: dict[str, Ask] = {
    "search": lambda served, base_id, caller: served.search("手当", caller, knowledge_base_id=base_id),
    "summary": lambda served, base_id, caller: served.summary(base_id, caller),
}


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_a_base_of_the_tenant_that_is_not_theirs_is_403(
    closed: tuple[Served, KnowledgeBase], ask: Ask
) -> None:
    served, base = closed
    answer = ask(served, base.id, STRANGER)
    assert not answer.ok
    assert (answer.body["status"], answer.body["detail"]) == (403, "Access denied to this knowledge base")
    assert answer.body["code"] == "ACCESS_DENIED"


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_an_unknown_base_and_another_tenants_are_the_same_404(
    closed: tuple[Served, KnowledgeBase], ask: Ask
) -> None:
    served, base = closed
    unknown = ask(served, str(uuid.uuid4()), ELSEWHERE)
    foreign = ask(served, base.id, ELSEWHERE)
    assert (unknown.body["status"], unknown.body["detail"]) == (404, "Knowledge base not found")
    assert unknown.json() == foreign.json()


def test_another_tenants_base_answers_an_empty_query_like_an_unknown_one(
    closed: tuple[Served, KnowledgeBase],
) -> None:
    served, base = closed
    answers = [served.search(" ", ELSEWHERE, knowledge_base_id=each) for each in (base.id, str(uuid.uuid4()))]
    assert answers[0].json() == answers[1].json()


@pytest.mark.parametrize("base_id", ["", "x", "1234", 5, None, [], "00000000-0000-0000-0000-00000000000g"])
def test_an_id_that_is_no_uuid_is_a_typed_error(closed: tuple[Served, KnowledgeBase], base_id: Any) -> None:
    served, _ = closed
    named = {"knowledge_base_id": base_id}
    for operation, given in (
        ("search_documents", {**named, "query": "手当"}),
        ("get_knowledge_base_summary", named),
    ):
        answer = served.call(operation, given, OWNER)
        assert (answer.body["status"], answer.body["detail"]) == (422, "knowledge_base_id must be a UUID")


def sources(served: Served, base: KnowledgeBase, caller: Caller) -> set[str]:
    body = served.found("手当の規程", caller, knowledge_base_id=base.id, threshold=0.0, max_results=50)
    return {result["metadata"]["source"]["file"] for result in body["results"]}


@pytest.mark.parametrize("caller", [OWNER, MEMBER, ADMIN], ids=["owner", "member", "admin"])
def test_owner_members_and_admins_may_search(closed: tuple[Served, KnowledgeBase], caller: Caller) -> None:
    served, base = closed
    assert sources(served, base, caller) == {f"{level.name}.md" for level in LEVELS}


@pytest.mark.parametrize("level", LEVELS)
def test_a_search_finds_nothing_above_the_callers_clearance(
    closed: tuple[Served, KnowledgeBase], level: Confidentiality
) -> None:
    served, base = closed
    found = sources(served, base, replace(MEMBER, clearance=level))
    assert found == {f"{each.name}.md" for each in LEVELS if each <= level}


@pytest.mark.parametrize("departments", [set(), {"人事"}, {"人事", "経理"}, {"総務"}, {"-"}])
def test_a_search_finds_only_the_callers_departments_and_what_is_for_all(
    closed: tuple[Served, KnowledgeBase], departments: set[str]
) -> None:
    served, base = closed
    caller = replace(MEMBER, clearance=Confidentiality.public, departments=frozenset(departments))
    wanted = {f"{name}.md" for name in departments & {"人事", "経理", "-"}}
    assert sources(served, base, caller) == {"public.md", *wanted}


def test_every_department_is_open_to_the_local_user_only_by_flag(
    closed: tuple[Served, KnowledgeBase],
) -> None:
    served, base = closed
    caller = replace(MEMBER, clearance=Confidentiality.public, every_department=True)
    assert sources(served, base, caller) == {"public.md", "人事.md", "経理.md", "-.md"}


def test_a_public_base_is_open_to_its_tenant_and_to_nobody_else(closed: tuple[Served, KnowledgeBase]) -> None:
    served, _ = closed
    base = served.create("公開", document("公開.md", "手当の規程"), owner=OWNER, public=True)
    assert sources(served, base, STRANGER) == {"公開.md"}
    answer = served.search("手当", ELSEWHERE, knowledge_base_id=base.id)
    assert answer.body["status"] == 404


def test_the_list_holds_only_what_the_caller_may_open(closed: tuple[Served, KnowledgeBase]) -> None:
    served, base = closed

    def listed(caller: Caller) -> set[str]:
        items = served.call("list_knowledge_bases", {}, caller).body["knowledge_bases"]
        return {item["knowledge_base_id"] for item in items}

    assert base.id in listed(OWNER) & listed(MEMBER) & listed(ADMIN)
    assert base.id not in listed(STRANGER) | listed(ELSEWHERE)
    assert served.base.id not in listed(OWNER)


def test_what_is_hidden_does_not_use_up_the_lanes(tmp_path: Path) -> None:
    """Access is part of the engines' queries: 600 better hidden passages do not crowd out the one visible."""
    served = serve(tmp_path)
    hidden = document("秘密.md", *["手当手当手当"] * 600, confidentiality=Confidentiality.secret)
    visible = document(
        "公開.md", "規程には手当のことも少し書いてあります。", confidentiality=Confidentiality.public
    )
    base = served.create("混ざる", hidden, visible, owner=OWNER)
    caller = replace(OWNER, clearance=Confidentiality.internal)
    body = served.found("手当", caller, knowledge_base_id=base.id, threshold=0.0, explain=True)
    assert [result["metadata"]["source"]["file"] for result in body["results"]] == ["公開.md"]
    assert body["explain"]["stages"][0]["count"] == 1
    served.database.close()
