"""The audit log: a row for every call, and never what was asked or answered."""

import uuid

import pytest

from shirube.caller import Caller
from shirube.toolsets.knowledge.service import KnowledgeService
from tests.store.records import document
from tests.toolsets.knowledge.conftest import Served

SECRET = "極秘の質問文"
CALLER = Caller("甲社", "somebody")


def test_success_and_failure_are_both_written_down(served: Served) -> None:
    base = served.create("規程", document("甲.md", f"{SECRET}への答え"), owner=CALLER)
    body = served.found(SECRET, CALLER, knowledge_base_id=base.id, threshold=0.0)
    served.search(SECRET, CALLER, knowledge_base_id=str(uuid.uuid4()))
    served.search(SECRET, CALLER, knowledge_base_id=base.id, threshold=7)
    served.summary(base.id, CALLER)
    served.call("list_knowledge_bases", {}, CALLER)
    rows = served.audited()
    assert [(row.operation, row.outcome, row.result_count) for row in rows] == [
        ("search_documents", "ok", 1),
        ("search_documents", "NOT_FOUND", None),
        ("search_documents", "INVALID_INPUT", None),
        ("get_knowledge_base_summary", "ok", None),
        ("list_knowledge_bases", "ok", 1),
    ]
    assert {(row.tenant_id, row.subject) for row in rows} == {("甲社", "somebody")}
    assert [row.run_id for row in rows] == [body["run_id"], None, None, None, None]
    assert all(row.duration_ms > 0 for row in rows)


def test_neither_question_nor_answer_is_in_the_log(served: Served) -> None:
    base = served.create("規程", document("甲.md", f"{SECRET}への答え"), owner=CALLER)
    assert served.found(SECRET, CALLER, knowledge_base_id=base.id, threshold=0.0)["count"] == 1
    served.search(SECRET, CALLER, knowledge_base_id="no uuid")
    rows = served.audited()
    assert len(rows) == 2
    assert all(SECRET not in str(value) for row in rows for value in row)


def test_a_crash_is_written_down_as_such(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_asked: object) -> None:
        raise ValueError("members")

    monkeypatch.setattr(KnowledgeService, "summary", crash)
    answer = served.summary()
    assert answer.body["code"] == "INTERNAL_ERROR"
    assert "members" not in answer.json()
    assert [row.outcome for row in served.audited()] == ["INTERNAL_ERROR"]
