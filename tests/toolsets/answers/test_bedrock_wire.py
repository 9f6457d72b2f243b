"""kb_answer through real boto3 to a server that speaks as Bedrock does, and over MCP."""

import asyncio
import json
import os
import socket
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from botocore.retries.standard import ExponentialBackoff
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from shirube.caller import LOCAL
from shirube.toolsets.answers.schema import AnswerOutput
from tests.models.wire import Reply, Request, as_json
from tests.toolsets.answers.conftest import (
    ACCESS_KEY,
    KB_ID,
    MODEL_ARN,
    QUESTION,
    SECRET_KEY,
    TEXT,
    Bedrock,
    assert_fits,
    generated,
    refused,
    request_shape,
)

SHIRUBE = str(Path(sys.executable).with_name("shirube"))
TOKEN = "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29tLz9BY3Rpb249"
SESSION_TOKEN = "FwoGZXIvYXdzEBYaDHqa0AP1/EXAMPLE+SESSION=="
SIDE_JOBS = {"type": "S3", "s3Location": {"uri": "s3://規程/副業.md"}}
ALLOWANCES = {"type": "WEB", "webLocation": {"url": "https://example.com/手当"}}


def reference(text: str, location: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"content": {"text": text, "type": "TEXT"}, "location": location, **rest}


def cited(start: int, end: int, *references: dict[str, Any]) -> dict[str, Any]:
    part = {"text": TEXT[start:end], "span": {"start": start, "end": end}}
    return {"generatedResponsePart": {"textResponsePart": part}, "retrievedReferences": list(references)}


def authorization(bedrock: Bedrock) -> str:
    [sent] = bedrock.requests
    return sent.headers["Authorization"]


# What is asked, and what comes of an answer.


def test_a_request_on_the_wire_fits_the_services_own_model(
    bedrock: Bedrock,
) -> None:
    assert bedrock.ask(max_results=7)["answer"] == TEXT
    [sent] = bedrock.requests
    assert sent.path == "/retrieveAndGenerate"
    assert sent.headers["Content-Type"] == "application/json"
    assert_fits(request_shape(), sent.body)
    assert sent.body["input"] == {"text": QUESTION}
    base = sent.body["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]
    assert (base["knowledgeBaseId"], base["modelArn"]) == (KB_ID, MODEL_ARN)
    assert base["retrievalConfiguration"]["vectorSearchConfiguration"]["numberOfResults"] == 7


def test_four_passages_are_asked_for_unless_said_otherwise(bedrock: Bedrock) -> None:
    bedrock.ask()
    [sent] = bedrock.requests
    base = sent.body["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]
    assert base["retrievalConfiguration"]["vectorSearchConfiguration"]["numberOfResults"] == 4


def test_references_are_merged_in_order_with_all_their_spans(bedrock: Bedrock) -> None:
    side_jobs, allowances = reference("副業は許可制。", SIDE_JOBS), reference("手当は月額。", ALLOWANCES)
    bedrock.answers(
        lambda request: generated(
            TEXT, cited(0, 4, allowances, side_jobs), cited(4, 8, side_jobs), cited(8, 12, allowances)
        )
    )
    body = bedrock.ask()
    assert body == {
        "answer": TEXT,
        "citations": [
            {
                "content": "手当は月額。",
                "location": ALLOWANCES,
                "score": None,
                "spans": [{"start": 0, "end": 4}, {"start": 8, "end": 12}],
            },
            {
                "content": "副業は許可制。",
                "location": SIDE_JOBS,
                "score": None,
                "spans": [{"start": 0, "end": 4}, {"start": 4, "end": 8}],
            },
        ],
    }
    AnswerOutput.model_validate(body)


def test_a_score_is_null_since_the_service_gives_none(bedrock: Bedrock) -> None:
    bedrock.answers(lambda request: generated(TEXT, cited(0, 4, reference("副業は許可制。", SIDE_JOBS))))
    [citation] = bedrock.ask()["citations"]
    assert citation["score"] is None
    assert citation.keys() >= {"content", "location", "score"}


@pytest.mark.parametrize("citations", [[], [{}], [{"retrievedReferences": []}]])
def test_an_answer_without_references_has_empty_citations(
    bedrock: Bedrock, citations: list[dict[str, Any]]
) -> None:
    bedrock.answers(lambda request: generated("分かりません。", *citations))
    assert bedrock.ask() == {"answer": "分かりません。", "citations": []}


def test_spans_point_into_the_answer_that_is_shown(bedrock: Bedrock) -> None:
    """Invisible characters are taken out of an answer; what stands behind them moves."""
    written = "\u200b規程では\u202e、" + TEXT
    start, end = written.index(TEXT), len(written)
    part = {"textResponsePart": {"text": TEXT, "span": {"start": start, "end": end}}}
    group = {"generatedResponsePart": part, "retrievedReferences": [reference("許可制。", SIDE_JOBS)]}
    bedrock.answers(lambda request: generated(written, group))
    body = bedrock.ask()
    [citation] = body["citations"]
    [span] = citation["spans"]
    assert body["answer"][span["start"] : span["end"]] == TEXT


def test_a_guardrail_that_intervened_is_told(bedrock: Bedrock) -> None:
    answer = {"sessionId": "s1", "output": {"text": "答えられません。"}, "guardrailAction": "INTERVENED"}
    bedrock.answers(lambda request: as_json(answer))
    body = bedrock.ask()
    assert (body["answer"], body["citations"]) == ("答えられません。", [])
    assert "guardrail" in " ".join(body["warnings"]).lower()


# Settings on the wire.


@pytest.mark.parametrize(("region", "expected"), [(None, "ap-northeast-1"), ("eu-west-3", "eu-west-3")])
def test_a_request_is_signed_for_the_region_of_the_settings(
    bedrock: Bedrock, region: str | None, expected: str
) -> None:
    bedrock.environ.setenv("AWS_DEFAULT_REGION", "us-east-2")
    if region:
        bedrock.environ.setenv("AWS_REGION", region)
    assert bedrock.ask()["answer"] == TEXT
    assert f"/{expected}/bedrock/aws4_request" in authorization(bedrock)


@pytest.mark.parametrize(
    "missing", [["BEDROCK_KB_ID"], ["BEDROCK_MODEL_ARN"], ["BEDROCK_KB_ID", "BEDROCK_MODEL_ARN"]]
)
def test_each_missing_setting_is_named_and_nothing_is_sent(bedrock: Bedrock, missing: list[str]) -> None:
    for name in missing:
        bedrock.environ.delenv(name)
    message = bedrock.error("ValidationError")
    assert [name for name in ("BEDROCK_KB_ID", "BEDROCK_MODEL_ARN") if name in message] == missing
    assert bedrock.requests == []


def test_a_blank_question_is_not_sent(bedrock: Bedrock) -> None:
    for blank in ("", " \t\n", "\u3000", "\x85\u2003"):
        assert "blank" in bedrock.error("ValidationError", blank)
    assert bedrock.requests == []


def test_a_profile_is_used_where_one_is_named(bedrock: Bedrock, tmp_path: Path) -> None:
    use_profile(bedrock, tmp_path)
    assert bedrock.ask()["answer"] == TEXT
    assert "Credential=ASIAPROFILEKEYEXAMPL/" in authorization(bedrock)
    assert bedrock.requests[0].headers["X-Amz-Security-Token"] == SESSION_TOKEN


def test_a_profile_that_there_is_not_is_named(bedrock: Bedrock) -> None:
    bedrock.environ.setenv("AWS_PROFILE", "どこにもない")
    message = bedrock.error("ServiceError")
    assert "ProfileNotFound" in message
    assert "どこにもない" in message
    assert bedrock.requests == []


def test_without_credentials_the_error_says_so_and_nothing_is_sent(bedrock: Bedrock) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        bedrock.environ.delenv(name)
    message = bedrock.error("ServiceError")
    assert "NoCredentialsError" in message
    assert "Unable to locate credentials" in message
    assert bedrock.requests == []


@pytest.mark.parametrize("has_keys", [False, True])
def test_a_bearer_token_is_sent_as_one(secure_bedrock: Bedrock, has_keys: bool) -> None:
    secure_bedrock.environ.setenv("AWS_BEARER_TOKEN_BEDROCK", TOKEN)
    if not has_keys:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            secure_bedrock.environ.delenv(name)
    assert secure_bedrock.ask().get("answer") == TEXT
    assert authorization(secure_bedrock) == f"Bearer {TOKEN}"


def test_without_boto3_the_error_says_what_to_install(bedrock: Bedrock) -> None:
    bedrock.environ.setitem(sys.modules, "boto3", None)
    message = bedrock.error("ServiceError")
    assert "boto3" in message
    assert "shirube[bedrock]" in message
    assert bedrock.requests == []


def test_settings_that_change_are_followed(bedrock: Bedrock) -> None:
    bedrock.ask()
    bedrock.environ.setenv("BEDROCK_KB_ID", "KBSHIRUBE2")
    bedrock.ask()
    asked = [
        sent.body["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]["knowledgeBaseId"]
        for sent in bedrock.requests
    ]
    assert asked == [KB_ID, "KBSHIRUBE2"]


# What can go wrong.


AUTHENTICATION = {
    "AccessDeniedException": 403,
    "UnauthorizedException": 401,
    "ExpiredTokenException": 403,
    "InvalidIdentityToken": 400,
    "UnrecognizedClientException": 403,
    "InvalidSignatureException": 403,
    "AccessDeniedException:http://internal.amazon.com/coral/com.amazon.bedrock/": 403,
}
SERVICE = {
    "ValidationException": 400,
    "InternalServerException": 500,
    "ConflictException": 409,
    "ServiceQuotaExceededException": 402,
    "DependencyFailedException": 424,
    "BadGatewayException": 502,
    "SomethingNewException": 418,
}


@pytest.mark.parametrize("code", AUTHENTICATION)
def test_who_is_not_let_in_is_told_what_to_check(bedrock: Bedrock, code: str) -> None:
    bedrock.answers(lambda request: refused(code, AUTHENTICATION[code], "You shall not pass"))
    message = bedrock.error("AuthenticationError")
    assert code.partition(":")[0] in message
    assert "You shall not pass" in message
    assert "AWS_PROFILE" in message
    assert "認証情報" in message
    assert len(bedrock.requests) == 1


def test_a_knowledge_base_that_there_is_not_is_named(bedrock: Bedrock) -> None:
    bedrock.answers(lambda request: refused("ResourceNotFoundException", 404, "No such thing"))
    message = bedrock.error("NotFoundError")
    assert KB_ID in message
    assert "ResourceNotFoundException" in message
    assert "No such thing" in message


@pytest.mark.parametrize("code", SERVICE)
def test_any_other_refusal_is_told_with_type_and_words(bedrock: Bedrock, code: str) -> None:
    bedrock.answers(lambda request: refused(code, SERVICE[code], "入力が正しくありません"))
    message = bedrock.error("ServiceError")
    assert code in message
    assert "入力が正しくありません" in message


def test_a_server_that_cannot_be_reached_is_told(bedrock: Bedrock) -> None:
    bedrock.environ.setenv("BEDROCK_ENDPOINT_URL", nowhere())
    assert "EndpointConnectionError" in bedrock.error("ServiceError")


@pytest.mark.parametrize("garbage", [b"\xff\xfe", b"[1]", b'"text"', b'{"output": 5}'])
def test_an_answer_over_which_boto3_stumbles_is_told_with_its_type(bedrock: Bedrock, garbage: bytes) -> None:
    bedrock.answers(lambda request: Reply(garbage, 200, {"Content-Type": "application/json"}))
    assert names_a_type(bedrock.error("ServiceError"))


@pytest.mark.parametrize(
    "garbage", [b"<html></html>", b"{", b"", b"{}", b'{"output": null, "citations": []}']
)
def test_an_answer_without_output_is_no_empty_answer(bedrock: Bedrock, garbage: bytes) -> None:
    """boto3 takes whatever is not JSON for an object that holds nothing."""
    bedrock.answers(lambda request: Reply(garbage, 200, {"Content-Type": "application/json"}))
    assert "Internal error" not in bedrock.error("ServiceError")


def test_an_answer_that_breaks_off_is_no_empty_answer(bedrock: Bedrock) -> None:
    bedrock.answers(lambda request: Reply([b'{"output":'], headers={"Content-Length": "1000"}))
    assert "Internal error" not in bedrock.error("ServiceError")


def test_an_error_page_of_a_proxy_is_a_service_error(bedrock: Bedrock) -> None:
    page = b"<html><h1>503 Service Unavailable</h1></html>"
    bedrock.answers(lambda request: Reply(page, 503, {"Content-Type": "text/html"}))
    assert "503" in bedrock.error("ServiceError")


def test_throttling_is_waited_out_with_growing_pauses(bedrock: Bedrock) -> None:
    bedrock.environ.setattr(
        "botocore.retries.standard.ExponentialBackoff", partial(ExponentialBackoff, random=lambda: 0.5)
    )
    replies = iter([refused("ThrottlingException", 429, "Slow down")] * 2 + [generated()])
    bedrock.answers(lambda request: next(replies))
    assert bedrock.ask() == {"answer": TEXT, "citations": []}
    assert len(bedrock.requests) == 3
    first, second = bedrock.pauses
    assert 0 < first < second
    assert len({json.dumps(sent.body) for sent in bedrock.requests}) == 1


def test_throttling_without_end_is_told(bedrock: Bedrock) -> None:
    bedrock.answers(lambda request: refused("ThrottlingException", 429, "Slow down"))
    message = bedrock.error("ServiceError")
    assert "ThrottlingException" in message
    assert "Slow down" in message
    assert 3 <= len(bedrock.requests) <= 10


@pytest.mark.parametrize("way", ["silent", "dripping"])
def test_a_server_that_never_answers_is_left_within_the_limit(bedrock: Bedrock, way: str) -> None:
    bedrock.environ.setenv("BEDROCK_TIMEOUT", "0.5")
    bedrock.answers(getattr(bedrock.wire, way))
    started = time.monotonic()
    message = bedrock.error("ServiceError")
    assert time.monotonic() - started < 3
    assert "Timeout" in message


def test_pauses_between_attempts_count_towards_the_limit(bedrock: Bedrock) -> None:
    bedrock.environ.setenv("BEDROCK_TIMEOUT", "0.5")
    bedrock.environ.setattr("botocore.endpoint.time.sleep", lambda seconds: bedrock.wire.ended.wait(10))
    bedrock.answers(lambda request: refused("ThrottlingException", 429))
    started = time.monotonic()
    assert "Timeout" in bedrock.error("ServiceError")
    assert time.monotonic() - started < 3


def test_forty_questions_at_once_are_answered_while_the_event_loop_goes_on(bedrock: Bedrock) -> None:
    at_once, most = 0, 0
    guard = threading.Lock()

    def slow(request: Request) -> Reply:
        nonlocal at_once, most
        with guard:
            at_once += 1
            most = max(most, at_once)
        bedrock.wire.ended.wait(2.0)
        with guard:
            at_once -= 1
        return generated(request.body["input"]["text"])

    async def use() -> tuple[list[str], float]:
        loop = asyncio.get_running_loop()
        longest, last = 0.0, loop.time()

        async def tick() -> None:
            nonlocal longest, last
            while True:
                await asyncio.sleep(0.01)
                longest, last = max(longest, loop.time() - last), loop.time()

        ticker = asyncio.create_task(tick())
        answers = await asyncio.gather(
            *(registry.call("kb_answer", LOCAL, {"query": f"質問{number}"}) for number in range(40))
        )
        ticker.cancel()
        return [answer.body["answer"] for answer in answers], longest

    registry = bedrock.application.registry
    bedrock.ask()  # the database and boto3 are there now
    bedrock.answers(slow)
    started = time.monotonic()
    answers, longest = asyncio.run(use())
    assert answers == [f"質問{number}" for number in range(40)]
    assert longest < 1.9, "the event loop stood still"
    assert most > 4, "one after the other"
    assert time.monotonic() - started < 12


def test_an_error_is_forgotten_by_the_next_question(bedrock: Bedrock) -> None:
    bedrock.answers(lambda request: refused("AccessDeniedException", 403))
    bedrock.error("AuthenticationError")
    bedrock.answers(lambda request: generated())
    assert bedrock.ask()["answer"] == TEXT


# Credentials.


def echo(code: str, *words: str) -> Any:
    """A server that says all it was told."""

    def answer(request: Request) -> Reply:
        return refused(code, 400, " ".join([*request.headers.values(), *words, "was heard"]))

    return answer


ECHOED = ["AccessDeniedException", "ResourceNotFoundException", "ValidationException"]


@pytest.mark.parametrize("code", ECHOED)
def test_no_key_shows_even_if_the_server_says_it(bedrock: Bedrock, code: str) -> None:
    bedrock.environ.setenv("AWS_SESSION_TOKEN", SESSION_TOKEN)
    bedrock.answers(echo(code, ACCESS_KEY, SECRET_KEY, SESSION_TOKEN))
    message = bedrock.ask()["message"]
    assert "was heard" in message
    for credential in (ACCESS_KEY, SECRET_KEY, SESSION_TOKEN):
        assert credential not in message


@pytest.mark.parametrize("code", ECHOED)
def test_nothing_of_a_profile_shows_even_if_the_server_says_it(
    bedrock: Bedrock, tmp_path: Path, code: str
) -> None:
    use_profile(bedrock, tmp_path)
    bedrock.answers(echo(code, "ASIAPROFILEKEYEXAMPL", SECRET_KEY[::-1], SESSION_TOKEN))
    message = bedrock.ask()["message"]
    assert "was heard" in message
    for credential in ("ASIAPROFILEKEYEXAMPL", SECRET_KEY[::-1], SESSION_TOKEN):
        assert credential not in message


@pytest.mark.parametrize("code", ECHOED)
def test_no_bearer_token_shows_even_if_the_server_says_it(secure_bedrock: Bedrock, code: str) -> None:
    secure_bedrock.environ.setenv("AWS_BEARER_TOKEN_BEDROCK", TOKEN)
    secure_bedrock.answers(echo(code, TOKEN))
    message = secure_bedrock.ask()["message"]
    assert "was heard" in message
    assert TOKEN not in message


def test_a_password_in_the_address_of_the_endpoint_does_not_show(bedrock: Bedrock) -> None:
    address = nowhere().replace("http://", "http://user:p4ssw0rd-of-the-gateway@")
    bedrock.environ.setenv("BEDROCK_ENDPOINT_URL", address)
    assert "p4ssw0rd-of-the-gateway" not in bedrock.error("ServiceError")


# As an agent meets it.


def over_mcp(use: Any) -> Any:
    """What `use` makes of a client of `shirube serve` in the environment of this process."""

    async def with_client() -> Any:
        parameters = StdioServerParameters(command=SHIRUBE, args=["serve"], env=dict(os.environ))
        async with Client(stdio_client(parameters)) as client:
            return await use(client)

    return asyncio.run(with_client())


def test_agents_are_offered_the_one_tool_as_documented(bedrock: Bedrock) -> None:
    async def use(client: Client) -> Any:
        return (await client.list_tools()).tools

    [tool] = [tool for tool in over_mcp(use) if tool.name.startswith("kb_")]
    assert tool.name == "kb_answer"
    given = tool.input_schema
    assert given["type"] == "object"
    assert given["required"] == ["query"]
    query, max_results = given["properties"]["query"], given["properties"]["max_results"]
    assert (query["type"], query["description"]) == ("string", "Knowledge Base に送信する質問")
    assert (max_results["type"], max_results["default"]) == ("integer", 4)
    assert max_results["description"] == "取得するソースチャンクの最大数"
    answer = tool.output_schema["properties"]
    assert answer["answer"]["type"] == "string"
    assert answer["answer"]["description"] == "Knowledge Base から生成された回答"
    assert answer["citations"]["type"] == "array"
    assert "Knowledge Base にクエリを送信し、引用付きの回答を返" in tool.description
    assert [each.name for each in bedrock.application.registry if each.toolset == "answers"] == ["kb_answer"]
    assert bedrock.requests == []


def test_answers_and_errors_reach_an_agent_as_documented(bedrock: Bedrock) -> None:
    def answer(request: Request) -> Reply:
        if request.body["input"]["text"] == QUESTION:
            return generated(TEXT, cited(0, 4, reference("副業は許可制。", SIDE_JOBS)))
        return refused("AccessDeniedException", 403, "You shall not pass")

    async def use(client: Client) -> Any:
        return [
            await client.call_tool("kb_answer", {"query": query})
            for query in (QUESTION, "入ってもいいですか", "\u3000")
        ]

    bedrock.answers(answer)
    answered, denied, blank = over_mcp(use)
    assert answered.is_error is False
    assert answered.structured_content == {
        "answer": TEXT,
        "citations": [
            {
                "content": "副業は許可制。",
                "location": SIDE_JOBS,
                "score": None,
                "spans": [{"start": 0, "end": 4}],
            }
        ],
    }
    for result, error_type, said in (
        (denied, "AuthenticationError", "You shall not pass"),
        (blank, "ValidationError", "query must not be blank"),
    ):
        assert result.is_error is True
        body = json.loads(result.content[0].text)
        assert body.keys() == {"error", "error_type", "message"}
        assert (body["error"], body["error_type"]) == (True, error_type)
        assert said in body["message"]
    assert json.loads(answered.content[0].text) == answered.structured_content
    assert len(bedrock.requests) == 2


def use_profile(bedrock: Bedrock, folder: Path) -> None:
    """Credentials from a file, and none in the environment."""
    credentials = folder / "credentials"
    credentials.write_text(
        "[default]\naws_access_key_id = AKIADEFAULTKEYEXAMPL\naws_secret_access_key = other\n"
        f"[開発]\naws_access_key_id = ASIAPROFILEKEYEXAMPL\naws_secret_access_key = {SECRET_KEY[::-1]}\n"
        f"aws_session_token = {SESSION_TOKEN}\n",
        encoding="utf-8",
    )
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        bedrock.environ.delenv(name)
    bedrock.environ.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    bedrock.environ.setenv("AWS_PROFILE", "開発")


def nowhere() -> str:
    """An address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def names_a_type(message: str) -> bool:
    """Whether a message names the type of an exception."""
    return any(word.rstrip(":").endswith(("Error", "Exception")) for word in message.split())
