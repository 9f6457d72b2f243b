"""Models that a server runs: Ollama, and whatever speaks OpenAI's wire format.

Nothing is sent twice: a query is answered without the stage that failed, the next run embeds what this one could not.
No redirect is followed: texts go where the setting says and nowhere else.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import numpy.typing as npt

from shirube.models.deadline import TIMEOUTS, Timeouts, within
from shirube.models.errors import ModelError

OLLAMA = "http://127.0.0.1:11434"
# A batch of 32 vectors with 4,096 numbers is 3 MB of JSON; ten times that is no answer but a fault.
ANSWER_BYTES = 32 * 1024 * 1024
# Some seconds on a CPU for a common model, so well within the time for a batch.
BATCH = 32

Rows = list[Any]


@dataclass(frozen=True)
class RemoteEmbedder:
    """An embedder that asks `rows` for the vectors of some texts, in their order, as passages or as a query."""

    name: str
    setting: str
    rows: Callable[[Sequence[str], bool], Rows]
    batch: int = BATCH

    def embed(self, texts: Sequence[str]) -> npt.ArrayLike:
        found: Rows = []
        for start in range(0, len(texts), self.batch):
            found += self._rows(texts[start : start + self.batch], query=False)
        return found

    def embed_query(self, text: str) -> npt.ArrayLike:
        vector: npt.ArrayLike = self._rows([text], query=True)[0]
        return vector

    def _rows(self, texts: Sequence[str], query: bool) -> Rows:
        """Counted here: one too many in a batch and one too few in the next would shift all between."""
        rows = self.rows(texts, query)
        if not isinstance(rows, list):
            raise ModelError(self.setting, "the answer is not a list of vectors")
        if len(rows) != len(texts):
            raise ModelError(self.setting, f"{len(rows)} vectors for {len(texts)} texts")
        return rows


@dataclass(frozen=True)
class RemoteGenerator:
    name: str
    setting: str
    generate: Callable[[str], object]


@dataclass(frozen=True)
class Server:
    """JSON out and in, bounded in time and size. What it says of an error is not passed on: it may quote texts."""

    setting: str
    url: str
    key: str | None = field(default=None, repr=False)
    timeouts: Timeouts = TIMEOUTS

    def post(self, path: str, body: Mapping[str, Any], seconds: float) -> Any:
        return within(seconds, self.setting, lambda: self._post(path, body, seconds))

    def _post(self, path: str, body: Mapping[str, Any], seconds: float) -> Any:
        import httpx2

        ends = time.monotonic() + seconds
        timeout = httpx2.Timeout(seconds, connect=min(seconds, self.timeouts.connect))
        answer = bytearray()
        try:
            with self._client.stream("POST", self.url + path, json=body, timeout=timeout) as response:
                if response.status_code != 200:
                    raise ModelError(self.setting, refusal(response.status_code))
                for chunk in response.iter_bytes():
                    answer += chunk
                    if len(answer) > ANSWER_BYTES:
                        raise ModelError(self.setting, f"an answer of more than {ANSWER_BYTES} bytes")
                    if time.monotonic() > ends:
                        raise ModelError(self.setting, f"no answer within {seconds:g} s")
        except httpx2.ConnectTimeout:
            raise ModelError(
                self.setting, f"the server did not accept a connection within {timeout.connect:g} s"
            ) from None
        except httpx2.TimeoutException:
            raise ModelError(self.setting, f"no answer within {seconds:g} s") from None
        except httpx2.ConnectError:
            raise ModelError(self.setting, "the server cannot be reached; is it running?") from None
        except httpx2.HTTPError as error:
            raise ModelError(self.setting, f"the connection failed with {type(error).__name__}") from None
        return parsed(self.setting, answer)

    @cached_property
    def _client(self) -> Any:
        import httpx2

        headers = {"Accept-Encoding": "identity"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        # A proxy for the way out must not be asked for this very machine.
        here = urlsplit(self.url).hostname in ("127.0.0.1", "localhost", "::1")
        return httpx2.Client(headers=headers, follow_redirects=False, trust_env=not here)


def ollama_embedder(setting: str, model: str, url: str, timeouts: Timeouts = TIMEOUTS) -> RemoteEmbedder:
    server = Server(setting, url, timeouts=timeouts)

    def rows(texts: Sequence[str], query: bool) -> Rows:
        body = {"model": model, "input": list(texts)}
        answer = server.post("/api/embed", body, timeouts.query if query else timeouts.batch)
        found: Rows = part(setting, answer, "embeddings")
        return found

    return RemoteEmbedder(_ollama_name(model, url), setting, rows)


def openai_embedder(
    setting: str, model: str, url: str, key: str | None, timeouts: Timeouts = TIMEOUTS
) -> RemoteEmbedder:
    server = Server(setting, url, key, timeouts)

    def rows(texts: Sequence[str], query: bool) -> Rows:
        body = {"model": model, "input": list(texts)}
        answer = server.post("/embeddings", body, timeouts.query if query else timeouts.batch)
        data = part(setting, answer, "data")
        if not isinstance(data, list):
            raise ModelError(setting, "the answer is not a list of vectors")
        # They may come in any order; one that comes twice hides one that is missing.
        found = {part(setting, each, "index"): part(setting, each, "embedding") for each in data}
        return [part(setting, found, index) for index in range(len(data))]

    return RemoteEmbedder(f"openai:{model}@{url}", setting, rows)


def ollama_generator(setting: str, model: str, url: str, timeouts: Timeouts = TIMEOUTS) -> RemoteGenerator:
    server = Server(setting, url, timeouts=timeouts)

    def generate(prompt: str) -> object:
        body = {"model": model, "prompt": prompt, "stream": False}
        return part(setting, server.post("/api/generate", body, timeouts.generate), "response")

    return RemoteGenerator(_ollama_name(model, url), setting, generate)


def openai_generator(
    setting: str, model: str, url: str, key: str | None, timeouts: Timeouts = TIMEOUTS
) -> RemoteGenerator:
    server = Server(setting, url, key, timeouts)

    def generate(prompt: str) -> object:
        body = {"model": model, "messages": [{"role": "user", "content": prompt}], "stream": False}
        answer = server.post("/chat/completions", body, timeouts.generate)
        return part(setting, answer, "choices", 0, "message", "content")

    return RemoteGenerator(f"openai:{model}@{url}", setting, generate)


def refusal(status: int) -> str:
    """What a status other than 200 means for whoever set the model up."""
    if status in (401, 403):
        return f"access was refused (HTTP {status}); check the key and what it may use"
    if status == 404:
        return "the server knows no such model or path (HTTP 404)"
    if status == 429:
        return "the server is asked too often (HTTP 429)"
    if status >= 500:
        return f"the server failed (HTTP {status})"
    if 300 <= status < 400:
        return f"the server points elsewhere (HTTP {status}); put the final address into the setting"
    return f"the server refused the request (HTTP {status})"


def parsed(model: str, answer: bytes | bytearray) -> Any:
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        raise ModelError(model, "the answer is not JSON") from None


def part(model: str, answer: Any, *path: str | int) -> Any:
    try:
        for step in path:
            answer = answer[step]
    except (KeyError, IndexError, TypeError):
        raise ModelError(model, f"the answer has no {'.'.join(map(str, path))}") from None
    return answer


def _ollama_name(model: str, url: str) -> str:
    """Servers may hold different models by one name, so the address is part of it, except the usual one."""
    return f"ollama:{model}" if url == OLLAMA else f"ollama:{model}@{url}"
