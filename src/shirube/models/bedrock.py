"""Models on Amazon Bedrock. Region, credentials and endpoint come the way boto3 takes them from everyone.

A setting of its own is not needed for another endpoint: `AWS_ENDPOINT_URL_BEDROCK_RUNTIME` is boto3's.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from shirube.errors import InvalidInput
from shirube.models.deadline import TIMEOUTS, Timeouts, within
from shirube.models.errors import ModelError
from shirube.models.remote import (
    ANSWER_BYTES,
    BATCH,
    RemoteEmbedder,
    RemoteGenerator,
    Rows,
    parsed,
    part,
    refusal,
)

T = TypeVar("T")

# Cohere refuses a longer text instead of cutting it.
_COHERE_CHARACTERS = 2048


class Runtime:
    """boto3's client: one for each time limit, since a client has its own."""

    def __init__(self, setting: str, timeouts: Timeouts) -> None:
        self._setting = setting
        self._timeouts = timeouts
        self._clients: dict[float, Any] = {}
        self._lock = threading.Lock()

    def invoke(self, model: str, body: Mapping[str, Any], seconds: float) -> Any:
        def call(client: Any) -> bytes:
            response = client.invoke_model(
                modelId=model,
                body=json.dumps(body, ensure_ascii=False).encode(),
                contentType="application/json",
                accept="application/json",
            )
            answer: bytes = response["body"].read(ANSWER_BYTES + 1)
            return answer

        answer = self.call(call, seconds)
        if len(answer) > ANSWER_BYTES:
            raise ModelError(self._setting, f"an answer of more than {ANSWER_BYTES} bytes")
        return parsed(self._setting, answer)

    def call(self, work: Callable[[Any], T], seconds: float) -> T:
        return within(seconds, self._setting, lambda: self._call(work, seconds))

    def _call(self, work: Callable[[Any], T], seconds: float) -> T:
        from botocore import exceptions as boto

        try:
            return work(self._client(seconds))
        except boto.ClientError as error:
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            raise ModelError(self._setting, refusal(status)) from None
        except (boto.NoRegionError, boto.NoCredentialsError, boto.PartialCredentialsError):
            raise ModelError(
                self._setting,
                "AWS credentials or a region are missing; set AWS_DEFAULT_REGION and a profile or keys",
            ) from None
        except (boto.ConnectTimeoutError, boto.ReadTimeoutError):
            raise ModelError(self._setting, f"no answer within {seconds:g} s") from None
        except boto.EndpointConnectionError:
            raise ModelError(self._setting, "the server cannot be reached") from None
        except boto.BotoCoreError as error:
            raise ModelError(self._setting, f"boto3 failed with {type(error).__name__}") from None
        except Exception as error:
            # An answer that is not as described makes boto3 stumble in many ways.
            raise ModelError(self._setting, f"the answer cannot be read ({type(error).__name__})") from None

    def _client(self, seconds: float) -> Any:
        import boto3
        from botocore.config import Config

        with self._lock:
            if seconds not in self._clients:
                config = Config(
                    connect_timeout=min(seconds, self._timeouts.connect),
                    read_timeout=seconds,
                    retries={"total_max_attempts": 1},
                )
                self._clients[seconds] = boto3.Session().client("bedrock-runtime", config=config)
            return self._clients[seconds]


def bedrock_embedder(setting: str, model: str, timeouts: Timeouts = TIMEOUTS) -> RemoteEmbedder:
    """By the family that the model's id names, also within a profile's id or an ARN."""
    runtime = Runtime(setting, timeouts)

    def titan(texts: Sequence[str], query: bool) -> Rows:
        seconds = timeouts.query if query else timeouts.batch
        return [
            part(setting, runtime.invoke(model, {"inputText": text}, seconds), "embedding") for text in texts
        ]

    def cohere(texts: Sequence[str], query: bool) -> Rows:
        body = {
            "texts": [text[:_COHERE_CHARACTERS] for text in texts],
            "input_type": "search_query" if query else "search_document",
            "truncate": "END",
        }
        answer = runtime.invoke(model, body, timeouts.query if query else timeouts.batch)
        found: Rows = part(setting, answer, "embeddings")
        return found

    if "titan-embed-text" in model:
        return RemoteEmbedder(setting, setting, titan, batch=1)
    if "cohere.embed" in model:
        return RemoteEmbedder(setting, setting, cohere, batch=BATCH)
    raise InvalidInput(
        f"{setting}: only amazon.titan-embed-text and cohere.embed models can be asked for vectors",
        f"{setting}: ベクトルに使えるのは amazon.titan-embed-text と cohere.embed のモデルだけです。",
        hint="bedrock:amazon.titan-embed-text-v2:0, bedrock:cohere.embed-multilingual-v3",
    )


def bedrock_generator(setting: str, model: str, timeouts: Timeouts = TIMEOUTS) -> RemoteGenerator:
    runtime = Runtime(setting, timeouts)

    def generate(prompt: str) -> object:
        messages = [{"role": "user", "content": [{"text": prompt}]}]
        answer = runtime.call(
            lambda client: client.converse(modelId=model, messages=messages), timeouts.generate
        )
        # Thoughts come as blocks of another kind.
        blocks = part(setting, answer, "output", "message", "content")
        return "".join(block.get("text", "") for block in blocks)

    return RemoteGenerator(setting, setting, generate)
