"""The registry: whatever is asked and whatever happens, the answer is one that may be shown."""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from shirube.caller import LOCAL, Caller
from shirube.errors import AccessDenied, InvalidInput, NotFound, ShirubeError, Unavailable
from shirube.operations import Answer, Audit, Operation, Registry, Words


class Asked(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    title: Annotated[str, Field(description="見出し")]
    size: Annotated[int, Field(ge=1, le=9)] = 3
    ratio: Annotated[float, Field(allow_inf_nan=False)] = 0.5


class Inner(BaseModel):
    title: str
    note: str | None = None


class Told(BaseModel):
    title: str
    inner: Inner
    notice: str | None = None


def rendered(error: ShirubeError) -> dict[str, Any]:
    return {"code": error.code, "status": error.status, "message": error.message, "ja": error.ja}


def operation(fails: BaseException | None = None) -> Operation[Asked]:
    async def handler(caller: Caller, asked: Asked) -> Told:
        if fails:
            raise fails
        return Told(title=asked.title * asked.size, inner=Inner(title=caller.subject, note=None))

    return Operation(
        name="repeat",
        toolset="test",
        title=Words("くり返し", "Repeat"),
        description=Words("見出しをくり返します。", "Repeats a title."),
        input=Asked,
        output=Told,
        handler=handler,
        render_error=rendered,
        rest=("POST", "/repeat"),
    )


def call(arguments: Any, fails: BaseException | None = None, audit: Audit | None = None) -> Answer:
    return asyncio.run(Registry([operation(fails)], audit).call("repeat", LOCAL, arguments))


def test_what_the_handler_left_unset_is_left_out_and_what_it_set_to_none_is_null() -> None:
    answer = call({"title": "題", "size": 2})
    assert answer.ok
    assert answer.body == {"title": "題題", "inner": {"title": "local", "note": None}}


def test_japanese_is_sent_as_it_is_and_without_white_space() -> None:
    assert call({"title": "題"}).json() == '{"title":"題題題","inner":{"title":"local","note":null}}'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "title is required"),
        (None, "title is required"),
        ({"size": 2}, "title is required"),
        ({"title": "題", "colour": "赤"}, "colour is not a parameter"),
        ({"title": "題", "Title": "題"}, "Title is not a parameter"),
        ({"title": 5}, "title: Input should be a valid string"),
        ({"title": None}, "title: Input should be a valid string"),
        ({"title": True}, "title: Input should be a valid string"),
        ({"title": "題", "size": "2"}, "size: Input should be a valid integer"),
        ({"title": "題", "size": 2.0}, "size: Input should be a valid integer"),
        ({"title": "題", "size": True}, "size: Input should be a valid integer"),
        ({"title": "題", "size": 0}, "size: Input should be greater than or equal to 1"),
        ({"title": "題", "size": 10}, "size: Input should be less than or equal to 9"),
        ({"title": "題", "ratio": float("nan")}, "ratio: Input should be a finite number"),
        ({"title": "題", "ratio": float("inf")}, "ratio: Input should be a finite number"),
        ({"title": "題", "ratio": True}, "ratio: Input should be a valid number"),
        ({"title": "題", "ratio": "0.5"}, "ratio: Input should be a valid number"),
        ([], "arguments must be an object"),
        ("title", "arguments must be an object"),
        (5, "arguments must be an object"),
    ],
)
def test_wrong_arguments_are_named_with_what_is_expected(arguments: Any, message: str) -> None:
    answer = call(arguments)
    assert isinstance(answer.error, InvalidInput)
    assert (answer.body["status"], answer.body["code"]) == (422, "INVALID_INPUT")
    assert answer.body["message"] == message
    assert answer.body["ja"]


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda values: st.one_of(st.lists(values, max_size=3), st.dictionaries(st.text(), values, max_size=3)),
    max_leaves=8,
)


@given(
    arguments=st.one_of(
        json_values, st.dictionaries(st.sampled_from(("title", "size", "ratio", "x")), json_values)
    )
)
def test_any_arguments_are_answered_or_refused(arguments: Any) -> None:
    answer = call(arguments)
    assert answer.ok or isinstance(answer.error, InvalidInput)
    json.loads(answer.json())


def test_what_was_given_is_not_repeated_in_the_refusal() -> None:
    secret = "極秘の値"
    for arguments in ({"title": [secret]}, {"title": "題", "size": secret}, [secret]):
        assert secret not in call(arguments).json()


@pytest.mark.parametrize(
    "error",
    [
        InvalidInput("wrong", "違います"),
        NotFound("missing", "ありません"),
        AccessDenied("closed", "だめです"),
        Unavailable("later", "後で"),
    ],
)
def test_an_error_for_the_caller_has_the_toolsets_shape(error: ShirubeError) -> None:
    answer = call({"title": "題"}, error)
    assert not answer.ok
    assert answer.error is error
    assert answer.body == rendered(error)


class Odd(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this can be said")


@pytest.mark.parametrize(
    "crash",
    [
        RuntimeError("password=hunter2 in /srv/secret/file.db"),
        KeyError("hunter2"),
        AssertionError(),
        MemoryError("hunter2"),
        RecursionError("hunter2"),
        UnicodeEncodeError("utf-8", "hunter2\ud800", 7, 8, "surrogates not allowed"),
        Odd(),
    ],
    ids=lambda crash: type(crash).__name__,
)
def test_a_crash_is_an_internal_error_without_any_detail(
    crash: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = call({"title": "題"}, crash)
    assert answer.body == {
        "code": "INTERNAL_ERROR",
        "status": 500,
        "message": "Internal error",
        "ja": "内部エラーが発生しました。",
    }
    assert type(crash).__name__ not in answer.json()
    assert "hunter2" not in answer.json()
    [record] = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[1] is crash, "the cause is in the log"


def test_a_call_that_is_cancelled_is_not_an_answer() -> None:
    with pytest.raises(asyncio.CancelledError):
        call({"title": "題"}, asyncio.CancelledError())


def test_every_call_is_audited_with_its_outcome() -> None:
    written: list[tuple[Caller, str, str, bool, Mapping[str, Any]]] = []

    def audit(caller: Caller, name: str, outcome: str, ms: float, body: Mapping[str, Any]) -> None:
        written.append((caller, name, outcome, ms > 0, body))

    answers = [
        call({"title": "題"}, audit=audit),
        call({}, audit=audit),
        call({"title": "題"}, NotFound("missing", "ありません"), audit),
        call({"title": "題"}, RuntimeError("boom"), audit),
    ]
    outcomes = ["ok", "INVALID_INPUT", "NOT_FOUND", "INTERNAL_ERROR"]
    assert written == [
        (LOCAL, "repeat", outcome, True, answer.body)
        for outcome, answer in zip(outcomes, answers, strict=True)
    ]


def test_an_audit_that_fails_does_not_take_the_answer_with_it(caplog: pytest.LogCaptureFixture) -> None:
    def audit(*_: Any) -> None:
        raise OSError("disk full")

    answer = call({"title": "題"}, audit=audit)
    assert answer.ok
    assert [record.message for record in caplog.records] == ["the audit log could not be written"]


def test_schemas_hold_the_parameters_and_no_made_up_titles() -> None:
    schema = operation().input_schema()
    assert schema == {
        "additionalProperties": False,
        "properties": {
            "title": {"description": "見出し", "type": "string"},
            "size": {"default": 3, "maximum": 9, "minimum": 1, "type": "integer"},
            "ratio": {"default": 0.5, "type": "number"},
        },
        "required": ["title"],
        "type": "object",
    }
    output = operation().output_schema()
    assert output["properties"]["title"] == {"type": "string"}
    assert output["$defs"]["Inner"]["properties"]["title"] == {"type": "string"}
    assert "title" not in output
    assert "title" not in output["$defs"]["Inner"]


def test_the_registry_keeps_the_order_of_its_operations() -> None:
    first = operation()
    registry = Registry([first])
    assert list(registry) == [first]
    assert registry.get("repeat") is first
    assert registry.get("nothing") is None
