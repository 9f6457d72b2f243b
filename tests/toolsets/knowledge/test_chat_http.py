"""The body of POST /v1/chat: what it takes, the JSON it gives, and the order of its events."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

import pytest

from shirube.caller import LOCAL, Caller
from shirube.errors import AccessDenied, InvalidInput, NotFound
from shirube.models.contract import Generator
from shirube.toolsets.knowledge.chat import Citation, Reply, reply
from shirube.toolsets.knowledge.chat_http import Event, chat
from tests.toolsets.knowledge.conftest import Served
from tests.toolsets.knowledge.llm import Llm

UNKNOWN = "00000000-0000-0000-0000-000000000000"
SEARCH = '{"tool_name": "search_documents", "arguments": {"query": "リモートワーク 手当"}}'


def ask(served: Served, body: Any, model: Generator | None = None, caller: Caller = LOCAL) -> dict[str, Any]:
    answer = asyncio.run(chat(served.application.registry, caller, body, model))
    assert isinstance(answer, dict)
    return answer


def events(served: Served, body: Any, model: Generator | None = None) -> list[Event]:
    async def collect() -> list[Event]:
        stream = await chat(served.application.registry, LOCAL, {**body, "stream": True}, model)
        assert isinstance(stream, AsyncIterator)
        return [event async for event in stream]

    return asyncio.run(collect())


def about(served: Served, message: str, **more: Any) -> dict[str, Any]:
    return {"message": message, "knowledge_base_id": served.base.id, **more}


def without_time(body: dict[str, Any]) -> dict[str, Any]:
    """Each search has a run and a time of its own."""
    result = {key: value for key, value in body["result"].items() if key not in ("run_id", "took_ms")}
    return {**body, "result": result}


def test_the_answer_is_the_reply_as_json(company: Served) -> None:
    given = ask(company, about(company, "リモートワーク手当は？"))
    message, base = "リモートワーク手当は？", company.base.id
    same: Reply = asyncio.run(reply(company.application.registry, LOCAL, message, base))
    assert without_time(given) == without_time(asdict(same))
    assert json.loads(json.dumps(given, ensure_ascii=False).encode()) == given


def test_a_forced_tool_is_used(company: Served, llm: Llm) -> None:
    body = about(company, "マイナビのサービスは？", force_tool="get_knowledge_base_summary")
    assert ask(company, body, llm.model)["tool_name"] == "get_knowledge_base_summary"
    assert llm.prompts == []


def test_events_come_in_their_order_and_make_up_the_answer(company: Served, llm: Llm) -> None:
    llm.say(SEARCH, "手当は月5,000円です[1]。申請が要ります[2]。\n以上です。")
    found = events(company, about(company, "リモートワーク手当は？"), llm.model)
    names = [event.name for event in found]
    assert names == ["tool", "citation", "citation", "answer", "answer", "answer", "done"]
    assert found[0].data["tool_name"] == "search_documents"
    assert found[0].data["arguments"]["knowledge_base_id"] == company.base.id
    assert [event.data["number"] for event in found if event.name == "citation"] == [1, 2]
    done = found[-1].data
    assert "".join(event.data["text"] for event in found if event.name == "answer") == done["answer"]
    assert [event.data for event in found if event.name == "citation"] == done["citations"]
    assert done["engine"] == "llm"
    llm.say(SEARCH, "手当は月5,000円です[1]。申請が要ります[2]。\n以上です。")
    assert without_time(dict(done)) == without_time(
        ask(company, about(company, "リモートワーク手当は？"), llm.model)
    )


def test_the_tool_is_told_before_the_answer_is_written(company: Served, llm: Llm) -> None:
    llm.say(SEARCH, "手当は月5,000円です[1]。")

    async def first() -> Event:
        body = about(company, "リモートワーク手当は？", stream=True)
        stream = await chat(company.application.registry, LOCAL, body, llm.model)
        assert isinstance(stream, AsyncIterator)
        return await anext(stream)

    assert asyncio.run(first()).name == "tool"
    assert len(llm.prompts) == 1


def test_an_event_is_one_line_of_json_under_its_name(company: Served) -> None:
    event = Event("answer", {"text": "一行目。\n二行目。\r"})
    name, data, *rest = event.sse().split("\n")
    assert name == "event: answer"
    assert json.loads(data.removeprefix("data: ")) == event.data
    assert rest == ["", ""]
    for each in events(company, about(company, "リモートワーク手当は？")):
        assert each.sse().count("\n") == 3
        assert "\r" not in each.sse()
    assert set(Citation.__dataclass_fields__) == set(
        events(company, about(company, "リモートワーク手当は？"))[1].data
    )


def test_an_error_ends_the_stream(company: Served) -> None:
    found = events(company, {"message": "手当", "knowledge_base_id": UNKNOWN})
    assert [event.name for event in found] == ["tool", "error"]
    assert found[-1].data["status"] == 404
    assert found[-1].data["detail"] == "Knowledge base not found"


def test_errors_are_typed(company: Served, llm: Llm) -> None:
    llm.say(SEARCH)
    for model in (None, llm.model):
        with pytest.raises(NotFound, match="Knowledge base not found"):
            ask(company, {"message": "手当", "knowledge_base_id": UNKNOWN}, model)
        stranger = Caller("local", "someone")
        with pytest.raises(AccessDenied, match="Access denied to this knowledge base"):
            ask(company, about(company, "手当"), model, stranger)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"message": None}, "message must be a text of 1 to 10000 characters"),
        ({"message": ""}, "message must be a text of 1 to 10000 characters"),
        ({"message": "　\n"}, "message must be a text of 1 to 10000 characters"),
        ({"message": "あ" * 10_001}, "message must be a text of 1 to 10000 characters"),
        ({"message": "手\ud800当"}, "message must be a text of 1 to 10000 characters"),
        ({"message": ["手当"]}, "message must be a text of 1 to 10000 characters"),
        ({"knowledge_base_id": "社内規程"}, "knowledge_base_id must be a UUID"),
        ({"force_tool": "drop_tables"}, "force_tool must be one of"),
        ({"force_tool": 1}, "force_tool"),
        ({"stream": "yes"}, "stream"),
        ({"threshold": 0.1}, "threshold is not a parameter"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_wrong_body_is_refused_before_anything_is_sent(
    company: Served, llm: Llm, change: dict[str, Any], said: str, stream: bool
) -> None:
    body = {**about(company, "手当", stream=stream), **change}
    with pytest.raises(InvalidInput, match=said):
        asyncio.run(chat(company.application.registry, LOCAL, body, llm.model))
    assert llm.prompts == []


@pytest.mark.parametrize("body", [None, [], "手当", {}, {"message": "手当"}])
def test_what_is_no_object_or_lacks_a_field_is_refused(company: Served, body: Any) -> None:
    with pytest.raises(InvalidInput):
        asyncio.run(chat(company.application.registry, LOCAL, body))
