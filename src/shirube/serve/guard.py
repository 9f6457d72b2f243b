"""What every request passes before it is looked at: Host and Origin, who is asking, and how much they send."""

import logging
import re
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import anyio
import numpy as np
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shirube.caller import Caller
from shirube.errors import ShirubeError, Unauthenticated, Unavailable
from shirube.operations import showable
from shirube.serve.identity import AT_HOME, Door, Identity
from shirube.serve.limits import Buckets
from shirube.serve.metrics import Metrics
from shirube.serve.problems import Refused, problem
from shirube.serve.settings import ServeSettings, is_loopback

log = logging.getLogger("shirube.http")

BODY_LIMIT, DEPTH_LIMIT, BODY_SECONDS = 4 * 1024 * 1024, 64, 15
OPEN = frozenset({"/healthz", "/readyz"})
METADATA = "/.well-known/oauth-protected-resource"
NOBODY = Caller("-", "anonymous")
# So many are asked who they are at a time, and a store or an address that does not say it by then is away.
_ASKED_AT_ONCE, _ASKING_SECONDS = 16, 10.0
# As nginx has it: whoever asked has gone.
BROKEN_OFF = 499
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")
# One that does not end goes to the end: it is looked at once.
_STRING = re.compile(rb'"(?:[^"\\]|\\.?)*+(?:"|\Z)', re.S)
# Every so many bytes of a body count as one request more.
_BYTES_A_REQUEST = 64 * 1024
# What a page of another origin may send and see.
_CORS = {
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, If-None-Match, Mcp-Session-Id, Mcp-Protocol-Version, "
    "Mcp-Method, Mcp-Name, Last-Event-ID",
    "Access-Control-Max-Age": "600",
}
_SEEN = "ETag, Retry-After, WWW-Authenticate, Mcp-Session-Id"
Denied = Callable[[Caller, str, str], None]


class Guard:
    """`identity` stands in the request's state afterwards."""

    def __init__(
        self, app: ASGIApp, settings: ServeSettings, door: Door, metrics: Metrics, denied: Denied
    ) -> None:
        self._app = app
        self._settings = settings
        self._door = door
        self._metrics = metrics
        self._denied = denied
        self._strangers = Buckets(settings.anonymous_rate)
        self._requests = Buckets(settings.request_rate)
        # Whoever knocks waits for nobody who is let in already.
        self._asking = anyio.CapacityLimiter(_ASKED_AT_ONCE)
        named = urlsplit(settings.public_url or "")
        known = {*settings.hosts, settings.host, *([named.hostname] if named.hostname else [])}
        self._hosts = {each.lower() for each in known}
        self._origins = {*settings.origins, *([f"{named.scheme}://{named.netloc}"] if named.hostname else [])}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = BROKEN_OFF
        origin = Headers(scope=scope).get("origin")

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if origin and self._is_allowed(origin):
                    message["headers"] = [*message["headers"], *_shared_with(origin)]
            await send(message)

        try:
            try:
                receive = await self._passed(scope, receive)
            except Refused as refused:
                await problem(refused, refused.headers)(scope, receive, noting)
                return
            except ShirubeError as error:
                await problem(error, self._challenge(scope, error))(scope, receive, noting)
                return
            except Exception as error:
                log.warning("a request could not be let in", exc_info=True)
                await problem(showable(error))(scope, receive, noting)
                return
            await self._app(scope, receive, noting)
        finally:
            surface = _surface(scope["path"])
            self._metrics.requested(surface, status)
            identity = scope.get("state", {}).get("identity")
            log.info(
                "request",
                extra={
                    "method": scope["method"],
                    "surface": surface,
                    "status": status,
                    "ms": round((time.perf_counter() - started) * 1000, 1),
                    "tenant": identity.caller.tenant if identity else None,
                    "subject": identity.caller.subject if identity else None,
                },
            )

    async def _passed(self, scope: Scope, receive: Receive) -> Receive:
        headers = Headers(scope=scope)
        path, method = scope["path"], scope["method"]
        if path in OPEN:  # whoever looks after this server may know it by another name
            return _without_body(method, receive)
        self._check_host(headers)
        self._check_origin(headers)
        if path == METADATA or path.startswith(f"{METADATA}/"):
            return _without_body(method, receive)
        if method == "OPTIONS" and "access-control-request-method" in headers and "origin" in headers:
            raise Refused(204, "PREFLIGHT", "", "", _CORS)
        identity = await self._identity(scope, headers)
        scope.setdefault("state", {})["identity"] = identity
        self._count(identity, headers)
        return await _checked_body(scope, headers, receive)

    def _count(self, identity: Identity, headers: Headers) -> None:
        """Requests are counted before they are read, whatever becomes of them; calls are counted by the gate."""
        if identity.is_limited:
            caller = identity.caller
            size = headers.get("content-length", "")
            bytes_ = int(size) if size.isdecimal() and len(size) < 10 else 0
            self._requests.take((caller.tenant, caller.subject), 1 + bytes_ / _BYTES_A_REQUEST)

    async def _identity(self, scope: Scope, headers: Headers) -> Identity:
        if self._settings.insecure_local:
            return AT_HOME
        try:
            with anyio.fail_after(_ASKING_SECONDS):
                return await anyio.to_thread.run_sync(
                    self._door.identify,
                    headers.get("authorization"),
                    limiter=self._asking,
                    abandon_on_cancel=True,
                )
        except TimeoutError:
            raise Unavailable(
                "Failed to connect to the database",
                "データベースに接続できません。",
                hint="少し待ってからやり直してください。 Try again in a while.",
            ) from None
        except Unauthenticated as error:
            address = (scope.get("client") or ("?",))[0]
            self._strangers.take(address)
            self._denied(NOBODY, "authenticate", error.code)
            raise

    def _check_host(self, headers: Headers) -> None:
        """A page that gives its own name our address (DNS rebinding) is stopped here."""
        host = headers.get("host", "")
        name = _name(host)
        local = is_loopback(self._settings.host) and is_loopback(name)
        if not local and name not in self._hosts and host.lower() not in self._hosts:
            raise Refused(
                421, "WRONG_HOST", "This server does not answer to that Host", "この Host では応答しません。"
            )

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get("origin")
        if origin is not None and not self._is_allowed(origin):
            raise Refused(
                403,
                "WRONG_ORIGIN",
                "Requests from that Origin are not taken",
                "この Origin からは使えません。",
            )

    def _is_allowed(self, origin: str) -> bool:
        if origin in self._origins:
            return True
        scheme, _, host = origin.partition("://")
        return is_loopback(self._settings.host) and scheme in ("http", "https") and is_loopback(_name(host))

    def _challenge(self, scope: Scope, error: ShirubeError) -> dict[str, str]:
        """Where to get a token, for everybody who has not shown one: those who asked too often too."""
        if scope.get("state", {}).get("identity"):
            return {}
        base = self._settings.resource.removesuffix("/mcp")
        # RFC 6750, 3.1: whoever showed nothing is told of no error.
        shown = ', error="invalid_token"' if Headers(scope=scope).get("authorization") else ""
        return {"WWW-Authenticate": f'Bearer realm="shirube"{shown}, resource_metadata="{base}{METADATA}"'}


def _name(host: str) -> str:
    """A Host without its port; nothing where it is none."""
    found = _HOST.fullmatch(host)
    return found[1].strip("[]").lower() if found else ""


def _shared_with(origin: str) -> list[tuple[bytes, bytes]]:
    shared = {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": _SEEN, "Vary": "Origin"}
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in shared.items()]


def _surface(path: str) -> str:
    """Of three: what is asked for must not make names of figures."""
    if path == "/mcp" or path.startswith("/mcp/"):
        return "mcp"
    return "v1" if path.startswith("/v1/") else "other"


def _without_body(method: str, receive: Receive) -> Receive:
    """For paths that are open to everybody: nobody may leave anything there."""
    if method not in ("GET", "HEAD"):
        raise Refused(
            405,
            "METHOD_NOT_ALLOWED",
            "Not by this method",
            "このメソッドは使えません。",
            {"Allow": "GET, HEAD"},
        )
    return receive


async def _checked_body(scope: Scope, headers: Headers, receive: Receive) -> Receive:
    """The whole body, if it is of a bearable size and depth and comes in time; handed on as one piece."""
    if scope["method"] in ("GET", "HEAD", "OPTIONS", "DELETE"):
        return receive
    declared = headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 10 or int(declared) > BODY_LIMIT):
        raise _too_large()
    body = bytearray()
    try:
        with anyio.fail_after(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Refused(
                        400, "DISCONNECTED", "The request broke off", "リクエストが途中で切れました。"
                    )
                body += message.get("body", b"")
                if len(body) > BODY_LIMIT:
                    raise _too_large()
                if not message.get("more_body"):
                    break
    except TimeoutError:
        raise Refused(
            408, "TOO_SLOW", "The body did not come in time", "本文が時間内に届きませんでした。"
        ) from None
    if body.count(b"[") + body.count(b"{") > DEPTH_LIMIT and depth(bytes(body)) > DEPTH_LIMIT:
        raise Refused(
            400, "TOO_DEEP", f"JSON deeper than {DEPTH_LIMIT}", f"JSON の入れ子は{DEPTH_LIMIT}までです。"
        )
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    return replayed


def depth(data: bytes) -> int:
    """How deep the brackets of a JSON text nest, in one pass and without recursion."""
    codes = np.frombuffer(_STRING.sub(b"", data), np.uint8)
    steps = np.isin(codes, (0x5B, 0x7B)).astype(np.int32) - np.isin(codes, (0x5D, 0x7D))
    return int(np.cumsum(steps).max(initial=0))


def _too_large() -> Refused:
    limit = BODY_LIMIT // (1024 * 1024)
    return Refused(413, "TOO_LARGE", f"A body has at most {limit} MiB", f"本文は {limit} MiB までです。")
