"""The arguments of the programme tools: names, defaults and limits of the specification."""

from typing import Any

import pytest

from shirube.operations import Operation
from shirube.toolsets.programs.operations import program_operations
from shirube.toolsets.programs.schema import MINIMAL
from tests.toolsets.programs.conftest import Programs

OPERATIONS: dict[str, Operation[Any]] = {each.name: each for each in program_operations(lambda: None)}  # type: ignore[arg-type,return-value]


def arguments_of(name: str) -> dict[str, Any]:
    properties: dict[str, Any] = OPERATIONS[name].input_schema()["properties"]
    return properties


def test_there_are_the_six_tools() -> None:
    assert list(OPERATIONS) == [
        *("search_programs", "get_program", "batch_get_programs"),
        *("list_exclusion_rules", "check_exclusions", "get_meta"),
    ]
    assert all(operation.is_tool for operation in OPERATIONS.values())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("q", {"type": "string", "maxLength": 500}),
        ("tier", {"type": "array", "items": {"enum": ["S", "A", "B", "C", "X"], "type": "string"}}),
        ("prefecture", {"type": "string", "maxLength": 500}),
        ("authority_level", {"type": "string", "maxLength": 500}),
        ("funding_purpose", {"type": "array"}),
        ("target_type", {"type": "array"}),
        ("amount_min_man_yen", {"type": "number", "minimum": 0}),
        ("amount_max_man_yen", {"type": "number", "minimum": 0}),
    ],
)
def test_a_search_may_leave_every_condition_out(name: str, kind: dict[str, Any]) -> None:
    argument = arguments_of("search_programs")[name]
    assert argument["default"] is None
    given, nothing = argument["anyOf"]
    assert given.items() >= kind.items()
    assert nothing == {"type": "null"}
    assert "required" not in OPERATIONS["search_programs"].input_schema()


def test_a_search_has_the_specified_defaults() -> None:
    arguments = arguments_of("search_programs")
    expected = {"include_excluded": False, "limit": 20, "offset": 0, "fields": "default"}
    assert {name: arguments[name]["default"] for name in expected} == expected
    assert (arguments["limit"]["minimum"], arguments["limit"]["maximum"]) == (1, 100)
    assert arguments["offset"]["type"] == "integer"
    assert arguments["include_excluded"]["type"] == "boolean"


@pytest.mark.parametrize("name", ["search_programs", "get_program"])
def test_fields_are_minimal_default_or_full(name: str) -> None:
    argument = arguments_of(name)["fields"]
    assert argument["enum"] == ["minimal", "default", "full"]
    assert argument["default"] == "default"


def test_details_need_their_ids() -> None:
    assert OPERATIONS["get_program"].input_schema()["required"] == ["unified_id"]
    assert arguments_of("get_program")["unified_id"]["type"] == "string"
    for name, argument in (("batch_get_programs", "unified_ids"), ("check_exclusions", "program_ids")):
        assert OPERATIONS[name].input_schema()["required"] == [argument]
        ids = arguments_of(name)[argument]
        assert (ids["type"], ids["items"]["type"], ids["minItems"], ids["maxItems"]) == (
            "array",
            "string",
            1,
            50,
        )


def test_lists_and_counts_need_no_argument(programs: Programs) -> None:
    for name in ("list_exclusion_rules", "get_meta"):
        assert "required" not in OPERATIONS[name].input_schema()
        assert programs.call(name)


def test_a_minimal_row_has_the_seven_keys() -> None:
    assert set(MINIMAL) == {
        *("unified_id", "primary_name", "tier", "prefecture", "authority_name", "amount_max_man_yen"),
        "official_url",
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "search_programs",
            ("青森県で使える設備投資補助金を教えて", "IT 導入補助金の一覧", "中小企業向けの補助金"),
        ),
        ("get_program", ("この制度の申請窓口の締切は?", "必要書類は?")),
        ("batch_get_programs", ("この 10 件全部について必要書類を横並びで教えて", "比較")),
        ("list_exclusion_rules", ("どの補助金を併用すると失格になる?",)),
        ("check_exclusions", ("これ全部併用できる?", "複数の候補")),
        ("get_meta", ("データベースの網羅範囲は?", "最新いつ?")),
    ],
)
def test_a_description_says_when_to_call(name: str, words: tuple[str, ...]) -> None:
    assert all(word in OPERATIONS[name].description.ja for word in words)
    assert OPERATIONS[name].description.en


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("search_programs", ("GET", "/v1/programs/search")),
        ("get_program", ("GET", "/v1/programs/{unified_id}")),
        ("batch_get_programs", ("POST", "/v1/programs/batch")),
        ("list_exclusion_rules", ("GET", "/v1/exclusions/rules")),
        ("check_exclusions", ("POST", "/v1/exclusions/check")),
        ("get_meta", ("GET", "/v1/meta")),
    ],
)
def test_each_tool_is_one_operation_with_its_rest_form(name: str, form: tuple[str, str]) -> None:
    assert OPERATIONS[name].rest == form


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": "20"}, "limit"),
        ({"offset": -1}, "offset"),
        ({"fields": "all"}, "fields"),
        ({"tier": ["Z"]}, "tier"),
        ({"tier": "S"}, "tier"),
        ({"q": 5}, "q"),
        ({"q": "あ" * 501}, "q"),
        ({"amount_min_man_yen": -1}, "amount_min_man_yen"),
        ({"amount_min_man_yen": 10, "amount_max_man_yen": 5}, "amount_min_man_yen"),
        ({"open_on": "明日"}, "open_on"),
        ({"deadline_within_days": -1}, "deadline_within_days"),
        ({"authority_level": "銀河"}, "authority_level"),
        ({"nothing": 1}, "nothing"),
    ],
)
def test_a_wrong_argument_is_named(programs: Programs, arguments: dict[str, Any], said: str) -> None:
    answer = programs.answer("search_programs", **arguments)
    assert answer.error is not None
    assert said in answer.body["error"]
    assert answer.body["message_ja"]
