"""Settings of Bedrock: taken exactly, named where they are missing; and who answers."""

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.toolsets.answers.config import KBConfig, WrongSettings, backend, load_config
from tests.toolsets.answers.conftest import KB_ID, KB_IDS, MODEL_ARN, MODEL_ARNS, REGIONS

REQUIRED = {"BEDROCK_KB_ID": KB_ID, "BEDROCK_MODEL_ARN": MODEL_ARN}
PROPERTIES = {
    1: "設定値の正確な読み込み",
    2: "必須設定欠落時のエラー",
    3: "レスポンスパースで全フィールドを抽出",
    4: "リクエスト構築で全パラメータを含む",
    5: "空白のみのクエリを拒否",
    6: "APIエラーで例外詳細を保持",
}
OTHER_VARIABLES = st.dictionaries(
    st.sampled_from(["AWS_DEFAULT_REGION", "AWS_PROFILE", "SHIRUBE_ANSWERS", "BEDROCK_ENDPOINT_URL", "LANG"]),
    st.from_regex(r"[a-z0-9:/._-]{1,20}", fullmatch=True),
)
NOTHING = st.sampled_from([None, "", " ", "\t", "\u3000", " \n"])


def loaded(environ: Mapping[str, str | None]) -> KBConfig:
    """From the environment of this process, with these variables set; those that are None are not."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_REGION", "BEDROCK_KB_ID", "BEDROCK_MODEL_ARN", "BEDROCK_TIMEOUT"):
            patch.delenv(name, raising=False)
        for name, value in environ.items():
            if value is not None:
                patch.setenv(name, value)
        return load_config()


@settings(max_examples=200)
@given(st.none() | REGIONS, KB_IDS, MODEL_ARNS, OTHER_VARIABLES)
def test_settings_are_taken_exactly_and_tokyo_where_no_region_is(
    region: str | None, kb_id: str, model_arn: str, others: dict[str, str]
) -> None:
    """**Feature: mcp-bedrock-kb, Property 1: 設定値の正確な読み込み**"""
    config = loaded({**others, "AWS_REGION": region, "BEDROCK_KB_ID": kb_id, "BEDROCK_MODEL_ARN": model_arn})
    assert config.aws_region == (region or "ap-northeast-1")
    assert config.kb_id == kb_id
    assert config.model_arn == model_arn


@settings(max_examples=200)
@given(
    st.none() | REGIONS,
    st.one_of(
        st.tuples(NOTHING, MODEL_ARNS),
        st.tuples(KB_IDS, NOTHING),
        st.tuples(NOTHING, NOTHING),
    ),
    OTHER_VARIABLES,
)
def test_each_required_variable_that_is_missing_is_named(
    region: str | None, required: tuple[str | None, str | None], others: dict[str, str]
) -> None:
    """**Feature: mcp-bedrock-kb, Property 2: 必須設定欠落時のエラー**"""
    variables = dict(zip(REQUIRED, required, strict=True))
    with pytest.raises(ValueError, match="BEDROCK_") as caught:
        loaded({**others, "AWS_REGION": region, **variables})
    missing = {name for name, value in variables.items() if not (value or "").strip()}
    assert {name for name in REQUIRED if name in str(caught.value)} == missing


@pytest.mark.parametrize("missing", REQUIRED)
def test_one_missing_variable_is_a_value_error_that_names_only_it(missing: str) -> None:
    [present] = REQUIRED.keys() - {missing}
    with pytest.raises(ValueError, match=missing) as caught:
        load_config({present: REQUIRED[present]})
    assert present not in str(caught.value)


def test_both_missing_variables_are_named_at_once() -> None:
    with pytest.raises(ValueError, match=r"BEDROCK_KB_ID.*BEDROCK_MODEL_ARN"):
        load_config({"AWS_REGION": "us-east-1"})


@pytest.mark.parametrize("blank", ["", " ", "\u3000"])
def test_a_region_of_nothing_is_no_region(blank: str) -> None:
    assert load_config({**REQUIRED, "AWS_REGION": blank}).aws_region == "ap-northeast-1"


def test_profile_and_endpoint_are_taken_where_they_are_set() -> None:
    plain = load_config(REQUIRED)
    assert (plain.aws_profile, plain.endpoint_url) == (None, None)
    config = load_config({**REQUIRED, "AWS_PROFILE": "開発", "BEDROCK_ENDPOINT_URL": "http://127.0.0.1:9"})
    assert (config.aws_profile, config.endpoint_url) == ("開発", "http://127.0.0.1:9")


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "inf", "十秒", "1e9", "1,5"])
def test_a_time_limit_that_means_nothing_is_refused_by_name(wrong: str) -> None:
    with pytest.raises(WrongSettings, match="BEDROCK_TIMEOUT"):
        load_config({**REQUIRED, "BEDROCK_TIMEOUT": wrong})


def test_a_time_limit_is_taken_and_there_is_always_one() -> None:
    assert load_config({**REQUIRED, "BEDROCK_TIMEOUT": "2.5"}).seconds == 2.5
    assert 0 < load_config(REQUIRED).seconds <= 600


def test_a_loaded_configuration_cannot_be_changed_by_the_environment_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in REQUIRED.items():
        monkeypatch.setenv(name, value)
    config = load_config()
    monkeypatch.setenv("BEDROCK_KB_ID", "OTHER")
    assert config.kb_id == KB_ID
    assert load_config().kb_id == "OTHER"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "local"),
        ({"SHIRUBE_ANSWERS": ""}, "local"),
        ({"SHIRUBE_ANSWERS": "local"}, "local"),
        ({"SHIRUBE_ANSWERS": "local", **REQUIRED}, "local"),
        ({"SHIRUBE_ANSWERS": "bedrock"}, "bedrock"),
        ({"SHIRUBE_ANSWERS": "bedrock", **REQUIRED}, "bedrock"),
        (REQUIRED, "bedrock"),
        ({"BEDROCK_KB_ID": KB_ID}, "bedrock"),
        ({"BEDROCK_MODEL_ARN": MODEL_ARN}, "bedrock"),
    ],
)
def test_who_answers_is_chosen_or_bedrock_where_it_is_set_up(environ: dict[str, str], expected: str) -> None:
    assert backend(environ) == expected


@pytest.mark.parametrize("wrong", ["Bedrock", "aws", "bedrock,local"])
def test_anybody_else_who_might_answer_is_refused_by_name(wrong: str) -> None:
    with pytest.raises(ValueError, match="SHIRUBE_ANSWERS") as caught:
        backend({"SHIRUBE_ANSWERS": wrong})
    assert "bedrock" in str(caught.value)
    assert "local" in str(caught.value)


def test_each_property_is_tagged_and_has_a_hundred_examples() -> None:
    found: dict[str, list[int]] = {}
    for file in Path(__file__).parent.glob("test_*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and "**Feature: mcp-bedrock-kb" in (
                ast.get_docstring(node) or ""
            ):
                found[str(ast.get_docstring(node))] = _examples(node)
    assert found.keys() == {
        f"**Feature: mcp-bedrock-kb, Property {number}: {title}**" for number, title in PROPERTIES.items()
    }
    assert all(len(examples) == 1 and examples[0] >= 100 for examples in found.values()), found


def _examples(function: ast.FunctionDef) -> list[int]:
    """What `@settings(max_examples=…)` says, where `@given` stands with it."""
    calls = {
        decorator.func.id: decorator
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name)
    }
    if "given" not in calls or "settings" not in calls:
        return []
    return [
        ast.literal_eval(keyword.value)
        for keyword in calls["settings"].keywords
        if keyword.arg == "max_examples"
    ]
