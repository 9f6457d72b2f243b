"""Whatever boto3 raises becomes one of four errors that say what happened and what to check."""

import re
import ssl
import string
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore import exceptions as boto
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shirube.errors import ShirubeError
from shirube.toolsets.answers.bedrock import failure, query_knowledge_base
from shirube.toolsets.answers.config import KBConfig
from shirube.toolsets.answers.schema import render_error
from tests.toolsets.answers.conftest import (
    ACCESS_KEY,
    ERROR_TYPES,
    KB_ID,
    MODEL_ARN,
    QUESTION,
    serve_bedrock,
)

CONFIG = KBConfig("ap-northeast-1", KB_ID, MODEL_ARN)
AUTHENTICATION = [
    "AccessDenied",
    "AccessDeniedException",
    "Unauthorized",
    "UnauthorizedException",
    "UnauthorizedOperation",
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidIdentityToken",
    "UnrecognizedClientException",
    "InvalidSignature",
    "InvalidSignatureException",
]
NOT_FOUND = ["ResourceNotFound", "ResourceNotFoundException"]
OTHER = [
    "ThrottlingException",
    "ValidationException",
    "InternalServerException",
    "ConflictException",
    "DependencyFailedException",
    "BadGatewayException",
    "ServiceQuotaExceededException",
    "ServiceUnavailableException",
    "NotAccessDenied",
    "Unknown",
    "503",
    "",
]
# Whatever looks like a key of AWS is taken out, and so does not have to be kept.
WORDS = st.text(max_size=200).filter(lambda text: not re.search("AKIA|ASIA", text))


def client_error(code: str, message: str = "何かが起きました。") -> boto.ClientError:
    return boto.ClientError({"Error": {"Code": code, "Message": message}}, "RetrieveAndGenerate")


def every_botocore_error() -> list[type[boto.BotoCoreError]]:
    def below(kind: type[boto.BotoCoreError]) -> Iterator[type[boto.BotoCoreError]]:
        yield kind
        for each in kind.__subclasses__():
            yield from below(each)

    return sorted(set(below(boto.BotoCoreError)), key=lambda kind: kind.__name__)


def botocore_error(kind: type[boto.BotoCoreError], words: str) -> boto.BotoCoreError:
    """With words wherever its message has a place for some."""
    fields = [name for _, name, _, _ in string.Formatter().parse(kind.fmt) if name]
    return kind(**dict.fromkeys(fields, words))


def made(kind: type[boto.BotoCoreError]) -> bool:
    try:
        botocore_error(kind, "x")
    except (TypeError, KeyError, AttributeError):
        return False
    return True


BOTOCORE = [kind for kind in every_botocore_error() if made(kind)]
EXCEPTIONS: st.SearchStrategy[Exception] = st.one_of(
    st.builds(client_error, st.sampled_from([*AUTHENTICATION, *NOT_FOUND, *OTHER]) | WORDS, WORDS),
    st.builds(botocore_error, st.sampled_from(BOTOCORE), WORDS),
    st.builds(
        lambda kind, words: kind(words),
        st.sampled_from(
            [OSError, ConnectionResetError, TimeoutError, ssl.SSLError, ValueError, RuntimeError]
        ),
        WORDS,
    ),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """boto3's own client, made where nothing of this machine's AWS can be found."""
    with serve_bedrock(tmp_path_factory.mktemp("client")) as bedrock:
        yield boto3.client(
            "bedrock-agent-runtime", region_name="ap-northeast-1", endpoint_url=bedrock.wire.url
        )
        assert bedrock.requests == []


@settings(max_examples=300)
@given(EXCEPTIONS)
@example(boto.NoCredentialsError())
@example(boto.EndpointConnectionError(endpoint_url="http://127.0.0.1:9/"))
@example(boto.ReadTimeoutError(endpoint_url="http://127.0.0.1:9/"))
@example(client_error("ThrottlingException", "Too many requests"))
def test_whatever_a_call_raises_its_type_and_message_are_kept(client: Any, error: Exception) -> None:
    """**Feature: mcp-bedrock-kb, Property 6: APIエラーで例外詳細を保持**"""

    def raises(**_: Any) -> None:
        raise error

    event = "before-call.bedrock-agent-runtime.RetrieveAndGenerate"
    client.meta.events.register(event, raises)
    try:
        with pytest.raises(ShirubeError) as caught:
            query_knowledge_base(client, CONFIG, QUESTION)
    finally:
        client.meta.events.unregister(event, raises)
    body = render_error(caught.value)
    assert body.keys() == {"error", "error_type", "message"}
    assert body["error"] is True
    assert body["error_type"] in ERROR_TYPES
    assert type(error).__name__ in body["message"]
    assert str(error) in body["message"]


@pytest.mark.parametrize("code", AUTHENTICATION)
def test_an_authentication_code_is_told_with_what_to_check(code: str) -> None:
    body = render_error(failure(client_error(code), CONFIG, {}))
    assert body["error_type"] == "AuthenticationError"
    assert "認証情報" in body["message"]
    assert "credentials" in body["message"].lower()
    assert "AWS_PROFILE" in body["message"]
    assert code in body["message"]


@pytest.mark.parametrize("code", NOT_FOUND)
def test_what_is_not_found_is_the_knowledge_base_and_named(code: str) -> None:
    body = render_error(failure(client_error(code), CONFIG, {}))
    assert body["error_type"] == "NotFoundError"
    assert KB_ID in body["message"]
    assert "BEDROCK_KB_ID" in body["message"]
    assert code in body["message"]


@pytest.mark.parametrize("code", OTHER)
def test_any_other_code_is_a_service_error_with_what_was_said(code: str) -> None:
    error = client_error(code)
    body = render_error(failure(error, CONFIG, {}))
    assert body["error_type"] == "ServiceError"
    assert "ClientError" in body["message"]
    assert str(error) in body["message"]
    assert "何かが起きました。" in body["message"]


@pytest.mark.parametrize("kind", BOTOCORE, ids=lambda kind: kind.__name__)
def test_every_error_of_botocore_is_a_service_error(
    kind: type[boto.BotoCoreError],
) -> None:
    error = botocore_error(kind, "何か")
    body = render_error(failure(error, CONFIG, {}))
    assert body["error_type"] == "ServiceError"
    assert kind.__name__ in body["message"]
    assert str(error) in body["message"]


def test_nearly_every_error_of_botocore_was_tried() -> None:
    assert len(BOTOCORE) > 0.9 * len(every_botocore_error())
    assert {"NoCredentialsError", "ReadTimeoutError", "ProfileNotFound", "SSLError"} <= {
        kind.__name__ for kind in BOTOCORE
    }


@pytest.mark.parametrize("response", [{}, {"Error": {}}, {"Error": {"Message": "言葉だけ"}}])
def test_a_client_error_without_a_code_is_a_service_error(response: dict[str, Any]) -> None:
    body = render_error(failure(boto.ClientError(response, "RetrieveAndGenerate"), CONFIG, {}))
    assert body["error_type"] == "ServiceError"
    assert "ClientError" in body["message"]


@pytest.mark.parametrize(
    "name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"]
)
@pytest.mark.parametrize(
    "code", ["AccessDeniedException", "ResourceNotFoundException", "ValidationException"]
)
def test_no_credential_of_the_environment_shows_in_a_message(name: str, code: str) -> None:
    credential = "FwoGZXIvYXdzEBYaDH/+=very-secret-value"
    error = client_error(code, f"The token {credential} ({credential}) is not known")
    shown = failure(error, CONFIG, {name: credential})
    said = " ".join([str(shown), str(render_error(shown)), repr(shown), str(shown.details)])
    assert credential not in said
    assert "is not known" in render_error(shown)["message"]


@pytest.mark.parametrize("key", [ACCESS_KEY, "ASIA" + "Q" * 16])
def test_what_looks_like_a_key_of_aws_does_not_show_wherever_it_comes_from(key: str) -> None:
    body = render_error(failure(client_error("Unknown", f"Credential={key}/20250101/bedrock"), CONFIG, {}))
    assert key not in body["message"]
