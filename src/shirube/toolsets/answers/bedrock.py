"""Amazon Bedrock Knowledge Bases: one RetrieveAndGenerate call, and what it says in our form.

The real service gives references no score; it stays None, and is never made up.
"""

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from shirube.errors import InvalidInput, NotFound, ShirubeError, Unavailable
from shirube.models.deadline import within
from shirube.models.errors import ModelError
from shirube.toolsets.answers.config import CHOICE, KB_ID, KBConfig
from shirube.toolsets.answers.errors import NotAuthenticated, ServiceFailed

SERVICE = "bedrock-agent-runtime"
# The service model's own limit of input.text.
QUERY_LIMIT = 1000
_CONNECT_SECONDS = 5.0
# botocore waits up to 1, 2 and 4 seconds between them; throttling is over by then, or it is not soon.
_ATTEMPTS = 4
_AUTHENTICATION = re.compile(
    r"AccessDenied|Unauthorized|ExpiredToken|InvalidIdentityToken$|UnrecognizedClient|InvalidSignature"
)
_CHECK_CREDENTIALS = (
    "認証情報の期限、AWS_PROFILE、リージョン、bedrock:RetrieveAndGenerate の許可を確認してください。 "
    "Check the credentials and their expiry, AWS_PROFILE, the region, and permission for bedrock:RetrieveAndGenerate."
)
_BEARER = "AWS_BEARER_TOKEN_BEDROCK"
_SECRETS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", _BEARER)
_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b")
# Anything shorter is no credential but a word.
_SHORTEST_SECRET = 8
T = TypeVar("T")


@dataclass
class Citation:
    """A reference, and where in the answer it was used."""

    content: str
    location: dict[str, Any]
    score: float | None
    spans: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class KBResponse:
    answer: str
    citations: list[Citation]
    intervened: bool = False
    """Whether a guardrail has changed the answer."""


class KnowledgeBase:
    """The client of one configuration, made when it is first needed."""

    def __init__(self, config: KBConfig) -> None:
        self._config = config
        self._guard = threading.Lock()
        self._made: Any = None

    def ask(self, query: str, max_results: int) -> KBResponse:
        """An answer, or one of the errors that tell whose fault it is. Blocks; at most `config.seconds`."""
        if len(query) > QUERY_LIMIT:
            raise InvalidInput(
                f"Bedrock takes questions of at most {QUERY_LIMIT} characters",
                f"Bedrock への質問は{QUERY_LIMIT}文字以内にしてください。",
            )
        seconds = self._config.seconds
        try:
            return within(
                seconds,
                SERVICE,
                lambda: query_knowledge_base(self._client(), self._config, query, max_results),
            )
        except ModelError as error:
            raise ServiceFailed(
                f"TimeoutError: {error.reason}",
                "Bedrock が時間内に答えませんでした。",
                hint="少し待ってからやり直してください。 Try again in a while.",
            ) from None

    def _client(self) -> Any:
        with self._guard:
            if self._made is None:
                self._made = _translated(self._config, lambda: _client(self._config))
            return self._made


def _client(config: KBConfig) -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise Unavailable(
            "boto3 is not installed",
            "boto3 がインストールされていません。",
            hint=f"pip install 'shirube[bedrock]' を実行するか、{CHOICE}=local を使ってください。 "
            f"Run pip install 'shirube[bedrock]', or use {CHOICE}=local.",
        ) from None
    session = boto3.Session(profile_name=config.aws_profile, region_name=config.aws_region)
    return session.client(
        SERVICE,
        endpoint_url=config.endpoint_url,
        config=Config(
            # The service's model does not name it, but it takes the token of Bedrock's API keys.
            signature_version="bearer" if os.environ.get(_BEARER) else None,
            connect_timeout=min(_CONNECT_SECONDS, config.seconds),
            read_timeout=config.seconds,
            retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        ),
    )


def query_knowledge_base(client: Any, config: KBConfig, query: str, max_results: int = 4) -> KBResponse:
    def ask() -> KBResponse:
        response = client.retrieve_and_generate(**request(config, query, max_results))
        if not isinstance((response.get("output") or {}).get("text"), str):
            # boto3 takes whatever it cannot read for an empty answer.
            raise ServiceFailed(
                "ResponseParserError: the answer cannot be read", "Bedrock の答えを読み取れませんでした。"
            )
        return parsed_response(response)

    return _translated(config, ask, _secrets_of(client))


def request(config: KBConfig, query: str, max_results: int) -> dict[str, Any]:
    return {
        "input": {"text": query},
        "retrieveAndGenerateConfiguration": {
            "type": "KNOWLEDGE_BASE",
            "knowledgeBaseConfiguration": {
                "knowledgeBaseId": config.kb_id,
                "modelArn": config.model_arn,
                "retrievalConfiguration": {"vectorSearchConfiguration": {"numberOfResults": max_results}},
            },
        },
    }


def parsed_response(response: Mapping[str, Any]) -> KBResponse:
    """The answer with one citation for each distinct reference, in the order of first use; what is missing is empty."""
    found: dict[str, Citation] = {}
    for group in response.get("citations") or ():
        span = ((group.get("generatedResponsePart") or {}).get("textResponsePart") or {}).get("span") or {}
        for reference in group.get("retrievedReferences") or ():
            content = (reference.get("content") or {}).get("text") or ""
            location = dict(reference.get("location") or {})
            name = json.dumps([reference.get("content"), location], sort_keys=True, default=str)
            citation = found.setdefault(name, Citation(content, location, reference.get("score")))
            if {"start", "end"} <= span.keys() and (span["start"], span["end"]) not in citation.spans:
                citation.spans.append((span["start"], span["end"]))
    return KBResponse(
        (response.get("output") or {}).get("text") or "",
        list(found.values()),
        response.get("guardrailAction") == "INTERVENED",
    )


def _translated(config: KBConfig, work: Callable[[], T], secrets: Iterable[str] = ()) -> T:
    try:
        return work()
    except ShirubeError:
        raise
    except Exception as error:
        raise failure(error, config, secrets=secrets) from None


def failure(
    error: Exception,
    config: KBConfig,
    environ: Mapping[str, str] = os.environ,
    secrets: Iterable[str] = (),
) -> ShirubeError:
    """What boto3 raised as an error that tells what to do; its type and message are kept, credentials are not."""
    response = getattr(error, "response", None)
    code = response.get("Error", {}).get("Code", "") if isinstance(response, dict) else ""
    hidden = [*secrets, *(environ.get(name, "") for name in _SECRETS), *_password(config.endpoint_url)]
    told = _without_secrets(f"{type(error).__name__}: {error}", hidden)
    if _AUTHENTICATION.match(code):
        return NotAuthenticated(told, "AWS の認証に失敗しました。", hint=_CHECK_CREDENTIALS)
    if code.startswith("ResourceNotFound"):
        return NotFound(
            told,
            f"ナレッジベース {config.kb_id} が見つかりません。",
            hint=f"{KB_ID} と AWS_REGION を確認してください。 Check {KB_ID} and AWS_REGION.",
        )
    hint = _CHECK_CREDENTIALS if "Credential" in type(error).__name__ else None
    return ServiceFailed(told, "Bedrock の呼び出しに失敗しました。", hint=hint)


def _password(url: str | None) -> list[str]:
    """What an address says before its @, as a whole and as its password."""
    try:
        parts = urlsplit(url or "")
        return [parts.netloc.rpartition("@")[0], parts.password or ""]
    except ValueError:
        return []


def _secrets_of(client: Any) -> list[str]:
    """The credentials that a client uses, wherever they come from."""
    try:
        found = client._request_signer._credentials
        frozen = found.get_frozen_credentials() if found else None
    except Exception:
        return []
    return [each for each in (frozen or ()) if isinstance(each, str)]


def _without_secrets(text: str, secrets: Iterable[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return _KEY_ID.sub("***", text)
