"""A real HTTP server on this machine that answers as a test tells it to."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    body: bytes | Iterable[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Any


def as_json(value: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=False).encode(), status, {"Content-Type": "application/json"})


def prompt_of(request: Request) -> str:
    """What a language model is asked, in Ollama's form or in OpenAI's."""
    if request.path == "/api/generate":
        return str(request.body["prompt"])
    assert request.path == "/v1/chat/completions"
    [message] = request.body["messages"]
    return str(message["content"])


def says(request: Request, text: str) -> Reply:
    """What it answers, in the form in which it was asked."""
    if request.path == "/api/generate":
        return as_json({"model": request.body["model"], "response": text, "done": True})
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return as_json({"object": "chat.completion", "choices": [choice]})


class Wire:
    """What was asked, and how to answer. `ended` is set when the test is over, so that what waits on it goes on."""

    def __init__(self, url: str, answer: Callable[[Request], Reply]) -> None:
        self.url = url
        self.answer = answer
        self.requests: list[Request] = []
        self.ended = threading.Event()

    def silent(self, request: Request) -> Reply:
        self.ended.wait(10)
        return as_json({})

    def dripping(self, request: Request) -> Reply:
        """A space now and then: no pause is long, and the whole has no end."""

        def drops() -> Iterator[bytes]:
            while not self.ended.wait(0.05):
                yield b" "

        return Reply(drops())


@contextmanager
def serve(answer: Callable[[Request], Reply]) -> Iterator[Wire]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            request = Request(self.path, dict(self.headers), json.loads(content))
            wire.requests.append(request)
            reply = wire.answer(request)
            whole = reply.body if isinstance(reply.body, bytes) else None
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if whole is not None:
                    self.send_header("Content-Length", str(len(whole)))
                self.end_headers()
                for chunk in [whole] if whole is not None else reply.body:
                    self.wfile.write(chunk)  # type: ignore[arg-type]
            except OSError:
                pass  # the client had enough

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    wire = Wire(f"http://127.0.0.1:{server.server_address[1]}", answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        wire.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
