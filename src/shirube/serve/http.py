"""The whole of `shirube serve --http` in one application: MCP on /mcp, REST on /v1, health and figures."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

import anyio
from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from shirube import __version__
from shirube.caller import Caller
from shirube.errors import AccessDenied, Internal, ShirubeError, TooManyRequests
from shirube.serve.conformance import RETRY_MS, Events, Fixtures, add_to
from shirube.serve.following import Following
from shirube.serve.gate import THREADS, Gate
from shirube.serve.guard import BROKEN_OFF, METADATA, Guard
from shirube.serve.identity import Door, Identity
from shirube.serve.limits import Buckets, Capacity
from shirube.serve.mcp import build_server
from shirube.serve.metrics import CONTENT_TYPE, Metrics
from shirube.serve.openapi import CHAT, openapi_document
from shirube.serve.problems import PROBLEM, Refused, problem, retry_after
from shirube.serve.rest import JSON, rest_routes
from shirube.serve.settings import Rate, ServeSettings
from shirube.serve.waiting import Gone, while_connected
from shirube.store.audit import record_call
from shirube.store.clock import now
from shirube.toolsets.answers.config import is_elsewhere
from shirube.toolsets.registry import Application

log = logging.getLogger(__name__)

CHATTING = "chat"
# What a client accepts that wants the answer as it is written.
_EVENTS = "text/event-stream"
# A store that takes longer to say that it is there is not.
_STORE_SECONDS = 3.0


def build_app(application: Application, settings: ServeSettings) -> Guard:
    """From the outside in: the guard, compression, routes, the gate, the registry."""
    metrics = Metrics()

    seldom = Buckets(Rate(1, 1))

    def denied(caller: Caller, operation: str, outcome: str) -> None:
        """Once a second is enough to know; the figures count them all."""
        try:
            seldom.take((caller, operation, outcome))
        except TooManyRequests:
            return
        at = now()
        application.workspace().journal.write(
            lambda connection: record_call(connection, caller, operation, outcome, 0.0, at=at)
        )

    gate = Gate(
        application.registry,
        settings,
        metrics,
        denied,
        waits_for_models=application.settings.waits_for_models,
        waits_for_answers=is_elsewhere(),
    )
    fixtures = Fixtures() if settings.conformance else None
    server = build_server(application, gate, fixtures)
    if fixtures:
        add_to(server, fixtures)
    # Nothing is kept between requests, so that any worker may take any of them; the suite's tools ask clients back.
    manager = StreamableHTTPSessionManager(
        server,
        stateless=fixtures is None,
        event_store=Events() if fixtures else None,
        retry_interval=RETRY_MS if fixtures else None,
    )

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with manager.run():
            # Those that wait for a model must not take the threads of those that work.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "call"))
            following = Following(application)
            following.start()
            yield
            following.end()
        application.workspace().journal.flush()

    app = FastAPI(
        title="標 Shirube",
        version=__version__,
        openapi_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.router.routes += [
        # Without sessions there is no stream to listen on, and nothing to end.
        Route(
            "/mcp",
            StreamableHTTPASGIApp(manager),
            methods=["GET", "POST", "DELETE"] if fixtures else ["POST"],
        ),
        *rest_routes(gate),
        Route(CHAT, _chat(application, gate), methods=["POST"]),
        Route("/openapi.json", _document(application, settings)),
        Route("/healthz", _healthy),
        Route("/readyz", _ready(application)),
        Route("/metrics", _figures(metrics)),
        Route(METADATA, _metadata(settings, gate)),
        Route(f"{METADATA}/mcp", _metadata(settings, gate)),
    ]
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(Exception, _failed)
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    door = Door(lambda: application.workspace().database, settings.jwt)
    return Guard(app, settings, door, metrics, denied)


def _document(application: Application, settings: ServeSettings) -> Any:
    @cache
    def written() -> str:
        return json.dumps(openapi_document(application.registry, settings), ensure_ascii=False)

    async def document(_request: Request) -> Response:
        return Response(written(), media_type=JSON)

    return document


async def _healthy(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _ready(application: Application) -> Any:
    """Whether the store can be asked; an index that is behind answers too, and says so."""

    async def ready(_request: Request) -> Response:
        def ask() -> None:
            with application.workspace().database.read() as connection:
                connection.exec_driver_sql("SELECT 1")

        try:
            with anyio.fail_after(_STORE_SECONDS):
                await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)
        except Exception:
            log.warning("not ready", exc_info=True)
            return JSONResponse({"status": "unavailable"}, 503)
        return JSONResponse({"status": "ok"})

    return ready


def _figures(metrics: Metrics) -> Any:
    async def figures(request: Request) -> Response:
        identity: Identity = request.state.identity
        if identity.is_limited and not identity.caller.is_admin:
            return problem(AccessDenied("Figures are for admins", "メトリクスは管理者だけが見られます。"))
        return Response(metrics.shown(), media_type=CONTENT_TYPE)

    return figures


def _metadata(settings: ServeSettings, gate: Gate) -> Any:
    """RFC 9728: where tokens for this server come from, and what they can open."""

    async def metadata(_request: Request) -> Response:
        return JSONResponse(
            {
                "resource": settings.resource,
                "resource_name": "標 Shirube",
                **({"authorization_servers": [settings.jwt.issuer]} if settings.jwt else {}),
                "scopes_supported": sorted({each.toolset for each in gate.registry}),
                "bearer_methods_supported": ["header"],
            }
        )

    return metadata


def _chat(application: Application, gate: Gate) -> Any:
    from shirube.toolsets.knowledge import schema
    from shirube.toolsets.knowledge.chat_http import chat

    async def body_of(request: Request) -> Any:
        try:
            return await request.json()
        except (ValueError, RecursionError):
            raise Refused(
                400, "INVALID_JSON", "The body is not valid JSON", "本文が正しい JSON ではありません。"
            ) from None

    async def said(request: Request, identity: Identity) -> Response:
        body = await body_of(request)
        if isinstance(body, dict) and _EVENTS in request.headers.get("accept", ""):
            body = {"stream": True, **body}
        room = gate.room("knowledge", "heavy")
        model = await asyncio.to_thread(lambda: application.workspace().generator)
        saying = partial(chat, application.registry, identity.caller, body, model)
        if isinstance(body, dict) and body.get("stream") is True:
            events = _streamed(room, saying)
            first = await anext(events)
            return StreamingResponse(_chained(first, events), media_type=_EVENTS)
        async with room:
            return JSONResponse(await saying())

    async def answer(request: Request) -> Response:
        identity: Identity = request.state.identity
        started = time.perf_counter()
        outcome = "CANCELLED"
        try:
            gate.admit(identity, CHATTING, "knowledge", "heavy")
        except ShirubeError as error:
            return _refusal(schema.render_error(error), error)
        try:
            response = await while_connected(request, said(request, identity))
            outcome = "ok"
            return response
        except ShirubeError as error:
            outcome = error.code
            return _refusal(schema.render_error(error), error)
        except Gone:
            return Response(status_code=BROKEN_OFF)
        finally:
            # A stream has only begun; the tools that it calls have rows of their own.
            application.record(identity.caller, CHATTING, outcome, (time.perf_counter() - started) * 1000, {})

    return answer


def _refusal(body: Any, error: ShirubeError) -> Response:
    return Response(json.dumps(body, ensure_ascii=False), error.status, retry_after(error), PROBLEM)


async def _streamed(room: Capacity, said: Callable[[], Awaitable[Any]]) -> AsyncIterator[str]:
    """The events of an answer; its place is taken until the last."""
    async with room:
        async for event in await said():
            yield event.sse()


async def _chained(first: str, rest: AsyncIterator[str]) -> AsyncIterator[str]:
    yield first
    async for each in rest:
        yield each


async def _unknown(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    match error.status_code:
        case 404:
            return problem(
                Refused(404, "NOT_FOUND", "There is nothing at this path", "このパスには何もありません。")
            )
        case 405:
            refused = Refused(405, "METHOD_NOT_ALLOWED", "Not by this method", "このメソッドは使えません。")
            return problem(refused, dict(error.headers or {}))
    return problem(Refused(error.status_code, "REFUSED", str(error.detail), "受け付けられません。"))


async def _failed(_request: Request, _error: Exception) -> Response:
    return problem(Internal())
