"""The OpenAPI document, made from the registry: what each operation takes and gives, with an example of each."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from shirube import __version__
from shirube.operations import Operation, Registry
from shirube.serve.examples import EXAMPLES
from shirube.serve.problems import PROBLEM
from shirube.serve.rest import CALL, JSON
from shirube.serve.settings import ServeSettings

CHAT = "/v1/chat"
_NAMED = re.compile(r"{(\w+)}")
# What the server itself may answer anywhere.
_REFUSALS = {
    400: "The body is no JSON, or too deep",
    401: "No token, or one that is not good here",
    403: "Not open to this caller or scope",
    408: "The body did not come in time",
    413: "The body is too large",
    421: "Another Host was meant",
    429: "Too many requests; see Retry-After",
    500: "Something failed here",
    502: "Somebody else's service failed",
    503: "Busy or unavailable; see Retry-After",
}


def openapi_document(registry: Registry, settings: ServeSettings) -> dict[str, Any]:
    definitions: dict[str, Any] = {"Problem": _PROBLEM_SCHEMA}
    paths: dict[str, dict[str, Any]] = {}
    for operation in registry:
        method, path = operation.rest
        paths.setdefault(path, {})[method.lower()] = _described(operation, method, path, definitions)
        paths[CALL.replace("{operation}", operation.name)] = {
            "post": {
                **_described(operation, "POST", "", definitions),
                "operationId": f"call_{operation.name}",
                "tags": ["call"],
            }
        }
    paths[CHAT] = {"post": _chat(definitions)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "標 Shirube",
            "version": __version__,
            "description": "日本語文書の検索サーバー。 A Japanese-first retrieval server.",
        },
        "servers": [{"url": settings.public_url or "/"}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": definitions,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [] if settings.insecure_local else [{"bearer": []}],
    }


def _described(
    operation: Operation[Any], method: str, path: str, definitions: dict[str, Any]
) -> dict[str, Any]:
    taken = _moved(operation.input_schema(), operation.name, definitions)
    given = _moved(operation.sent_schema(), operation.name, definitions)
    example = EXAMPLES.get(operation.name, {})
    in_path = set(_NAMED.findall(path))
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.toolset],
        "summary": operation.title.ja,
        "description": str(operation.description),
        "responses": {
            "200": {"description": "OK", "content": {JSON: {"schema": given}}},
            **({"304": {"description": "As you have it"}} if method == "GET" else {}),
            **_refusals(),
        },
    }
    properties: Mapping[str, Any] = taken.get("properties", {})
    named = [name for name in properties if name in in_path or method == "GET"]
    if named:
        described["parameters"] = [
            {
                "name": name,
                "in": "path" if name in in_path else "query",
                "required": name in in_path or name in taken.get("required", ()),
                "schema": properties[name],
                **({"example": example[name]} if name in example else {}),
            }
            for name in named
        ]
    if method == "POST":
        described["requestBody"] = {
            "required": bool(taken.get("required")),
            "content": {JSON: {"schema": taken, "example": example}},
        }
    return described


def _chat(definitions: dict[str, Any]) -> dict[str, Any]:
    """Chat is no operation: it chooses one, and its answer may come in pieces."""
    from shirube.toolsets.knowledge.chat import Reply
    from shirube.toolsets.knowledge.schema import ChatInput

    taken = _moved(ChatInput.model_json_schema(), "chat", definitions)
    given = _moved(TypeAdapter(Reply).json_schema(mode="serialization"), "chat", definitions)
    example = {**EXAMPLES["search_documents"], "message": "リモートワーク手当はいくら？"}
    return {
        "operationId": "chat",
        "tags": ["knowledge"],
        "summary": "会話",
        "description": "ツールを選んで答えます。stream が true なら、答えはイベントとして順に届きます。\n"
        "Chooses a tool and answers; with stream, the answer comes as events.",
        "requestBody": {
            "required": True,
            "content": {
                JSON: {"schema": taken, "example": {name: example[name] for name in taken["required"]}}
            },
        },
        "responses": {
            "200": {
                "description": "OK",
                "content": {JSON: {"schema": given}, "text/event-stream": {"schema": _EVENT}},
            },
            **_refusals(),
        },
    }


def _refusals() -> dict[str, Any]:
    return {
        **{str(status): _problem(said) for status, said in _REFUSALS.items()},
        "404": _problem("No such thing, or not for this caller"),
        "422": _problem("Arguments that mean nothing"),
    }


def _moved(schema: dict[str, Any], prefix: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema with what it defines among the components, under the operation's name."""
    defined = schema.pop("$defs", {})

    def renamed(node: Any) -> Any:
        if isinstance(node, dict):
            return {
                key: f"#/components/schemas/{prefix}.{value.rpartition('/')[2]}"
                if key == "$ref" and isinstance(value, str)
                else renamed(value)
                for key, value in node.items()
            }
        return [renamed(each) for each in node] if isinstance(node, list) else node

    definitions.update({f"{prefix}.{name}": renamed(each) for name, each in defined.items()})
    moved: dict[str, Any] = renamed(schema)
    return moved


_EVENT = {
    "type": "object",
    "description": "data は JSON です。 The data is JSON.",
    "properties": {
        "event": {"type": "string", "enum": ["tool", "citation", "answer", "done", "error"]},
        "data": {"type": "string"},
    },
    "required": ["event", "data"],
}
_PROBLEM_SCHEMA = {
    "type": "object",
    "description": "RFC 9457 で表したエラー。操作ごとのエラーは、その仕様の形です。",
    "properties": {"status": {"type": "integer"}, "detail": {"type": "string"}, "code": {"type": "string"}},
}


def _problem(description: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": description, "content": {PROBLEM: {"schema": schema}}}
