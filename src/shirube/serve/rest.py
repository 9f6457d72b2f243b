"""REST from the registry: every operation at the path it names, and all of them at POST /v1/call/{name}.

The body of an answer is the operation's own JSON, the same bytes as everywhere else.
"""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shirube.errors import InvalidInput, NotFound
from shirube.operations import Answer, Operation
from shirube.serve.gate import Gate
from shirube.serve.guard import BROKEN_OFF
from shirube.serve.problems import PROBLEM, problem, retry_after
from shirube.serve.waiting import Gone, while_connected

CALL = "/v1/call/{operation}"
JSON = "application/json"
_LONG = 64 * 1024
_OF_THE_MOMENT = frozenset({"generated_at", "took_ms", "run_id"})
_CACHED = {"Cache-Control": "private, no-cache"}
Endpoint = Callable[[Request], Awaitable[Response]]


def rest_routes(gate: Gate) -> list[Route]:
    """The routes in an order in which fixed paths come before those with names in them."""
    operations = sorted(gate.registry, key=lambda each: ("{" in each.rest[1], each.rest[1]))
    routes = [
        Route(_pattern(operation.rest[1]), _endpoint(gate, operation), methods=[operation.rest[0]])
        for operation in operations
    ]
    return [*routes, Route(CALL, _by_name(gate), methods=["POST"])]


def _pattern(path: str) -> str:
    """A name at the end may hold slashes: WO2023/123456."""
    return f"{path[:-1]}:path}}" if path.endswith("}") else path


def _endpoint(gate: Gate, operation: Operation[Any]) -> Endpoint:
    schema = operation.input_schema()

    async def endpoint(request: Request) -> Response:
        try:
            given = await _body(request) if request.method == "POST" else _query(request, schema)
        except InvalidInput as error:
            return _sent(request, Answer(operation.render_error(error), error))
        if isinstance(given, dict):
            given = {**given, **request.path_params}
        return await _answered(gate, request, operation.name, given)

    return endpoint


def _by_name(gate: Gate) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        operation = gate.registry.get(request.path_params["operation"])
        if operation is None:
            return problem(NotFound("There is no such operation", "そのような操作はありません。"))
        try:
            given = await _body(request)
        except InvalidInput as error:
            return _sent(request, Answer(operation.render_error(error), error))
        return await _answered(gate, request, operation.name, given)

    return endpoint


async def _answered(gate: Gate, request: Request, name: str, given: Any) -> Response:
    try:
        answer = await while_connected(request, gate.call(request.state.identity, name, given))
    except Gone:
        return Response(status_code=BROKEN_OFF)
    return _sent(request, answer)


async def _body(request: Request) -> Any:
    data = await request.body()
    try:
        if len(data) > _LONG:  # others are answered meanwhile
            return await asyncio.to_thread(json.loads, data)
        return json.loads(data) if data.strip() else {}
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"The body is not valid JSON: {error}", "本文が正しい JSON ではありません。"
        ) from None
    except (ValueError, RecursionError):  # not UTF-8, or a number of thousands of digits
        raise InvalidInput("The body is not valid JSON", "本文が正しい JSON ではありません。") from None


def _query(request: Request, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a query string, with the types that the operation gives them."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(request.query_params.keys()):
        values = request.query_params.getlist(name)
        types = _types(schema.get("properties", {}).get(name, {}))
        found[name] = [_value(each, ()) for each in values] if "array" in types else _value(values[-1], types)
    return found


def _types(property_: Mapping[str, Any]) -> tuple[str, ...]:
    options: Sequence[Mapping[str, Any]] = property_.get("anyOf", [property_])
    return tuple(str(each.get("type")) for each in options)


def _value(written: str, types: Sequence[str]) -> Any:
    """What a text in a query string stands for; as it is where it stands for nothing else."""
    if "string" in types:
        return written
    if {"integer", "number", "boolean", "object", "null"} & set(types):
        try:
            return json.loads(written)
        except (ValueError, RecursionError):
            return written
    return written


def _sent(request: Request, answer: Answer) -> Response:
    content = answer.json()
    if answer.error:
        return Response(content, answer.error.status, retry_after(answer.error), PROBLEM)
    if request.method not in ("GET", "HEAD"):
        return Response(content, 200, media_type=JSON)
    tag = _tag(answer)
    known = [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]
    if tag in known or known == ["*"]:
        return Response(status_code=304, headers={"ETag": f"W/{tag}", **_CACHED})
    return Response(content, 200, {"ETag": f"W/{tag}", **_CACHED}, JSON)


def _tag(answer: Answer) -> str:
    """The same for answers that tell the same, at whatever moment and however they are compressed: a weak one."""
    told = answer.sent
    if isinstance(told, Mapping):
        told = {name: value for name, value in told.items() if name not in _OF_THE_MOMENT}
    written = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return f'"{hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()[:32]}"'
