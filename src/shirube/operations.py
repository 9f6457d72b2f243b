"""The one registry: an Operation is defined once, and every surface (MCP, REST, command line, console) is made from it.

`call` is the whole way of a call: check the arguments, run the handler, render errors in the toolset's shape, write
the audit log. All surfaces give the bytes of `Answer.json()`.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from shirube.caller import Caller
from shirube.cancelling import cancellable
from shirube.errors import Internal, InvalidInput, ShirubeError, Unavailable

log = logging.getLogger(__name__)

In = TypeVar("In", bound=BaseModel)
Cost = Literal["light", "search", "heavy"]
Audit = Callable[[Caller, str, str, float, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Words:
    """A text that people and agents read, in both languages."""

    ja: str
    en: str

    def __str__(self) -> str:
        return f"{self.ja}\n{self.en}"


@dataclass(frozen=True)
class Operation(Generic[In]):
    """Something a caller can ask for. `render_error` gives an error the shape of the toolset's specification.

    Where `is_tool` is false, agents are not offered it: it is there for programs that know it, or, with `for_people`,
    for clients at which somebody sits. With
    `has_protocol_errors` MCP answers an error as JSON-RPC does, not as a result that says what went wrong.
    """

    name: str
    toolset: str
    title: Words
    description: Words
    input: type[In]
    output: type[BaseModel]
    handler: Callable[[Caller, In], Awaitable[BaseModel]]
    render_error: Callable[[ShirubeError], dict[str, Any]]
    rest: tuple[str, str]
    cost: Cost = "light"
    read_only: bool = True
    idempotent: bool = True
    is_tool: bool = True
    for_people: bool = False
    has_protocol_errors: bool = False
    explain_invalid: Callable[[ValidationError], ShirubeError] | None = None

    def input_schema(self) -> dict[str, Any]:
        return _tidy(self.input.model_json_schema())

    def sent_schema(self) -> dict[str, Any]:
        """The schema of what is sent where a bare list may be: by REST and on the command line."""
        return _tidy(self.output.model_json_schema(mode="serialization"))

    def output_schema(self) -> dict[str, Any]:
        """The schema of an object: a bare list is the `result` of one, as it is for MCP."""
        schema = self.sent_schema()
        if schema.get("type") != "array":
            return schema
        defined = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
        return {"type": "object", "properties": {"result": schema}, "required": ["result"], **defined}


@dataclass(frozen=True)
class Answer:
    """What came of a call: the operation's output or its error, ready to be sent."""

    body: Mapping[str, Any]
    error: ShirubeError | None = None
    is_list: bool = False
    """Where a specification gives a bare list: it is the body's `result`, and sent without it."""

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def sent(self) -> Any:
        return self.body["result"] if self.is_list else self.body

    def json(self) -> str:
        """Compact, with Japanese as it is; half a surrogate pair cannot be sent."""
        text = json.dumps(self.sent, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace").decode()


@dataclass(frozen=True)
class Profile:
    """What of it all is offered to agents: these toolsets (all, where none is named), and what is meant for people."""

    toolsets: frozenset[str] = frozenset()
    people: bool = False

    def offers(self, operation: Operation[Any]) -> bool:
        meant = operation.is_tool or (self.people and operation.for_people)
        return meant and (not self.toolsets or operation.toolset in self.toolsets)


class Registry:
    """The operations of the toolsets in use, by name."""

    def __init__(
        self, operations: Sequence[Operation[Any]], audit: Audit | None = None, profile: Profile | None = None
    ) -> None:
        self._operations = {operation.name: operation for operation in operations}
        self._audit = audit
        self._profile = profile or Profile()

    def __iter__(self) -> Any:
        return iter(self._operations.values())

    def tools(self) -> list[Operation[Any]]:
        """The operations that agents are offered."""
        return [operation for operation in self if self._profile.offers(operation)]

    def tool(self, name: str) -> Operation[Any] | None:
        """The operation of this name, if agents are offered it."""
        operation = self._operations.get(name)
        return operation if operation and self._profile.offers(operation) else None

    def offers(self, toolset: str) -> bool:
        """Whether agents are offered anything of this toolset."""
        return any(each.toolset == toolset for each in self.tools())

    def get(self, name: str) -> Operation[Any] | None:
        return self._operations.get(name)

    async def call(self, name: str, caller: Caller, arguments: Any, *, recorded: bool = True) -> Answer:
        """Run an operation. Whatever happens, the answer is one that may be shown to the caller.

        It is not `recorded` where it is part of another, which is.
        """
        audit = self._record if recorded else _unrecorded
        operation = self._operations[name]
        started = time.perf_counter()
        try:
            with cancellable():
                output = await operation.handler(caller, checked(operation, arguments))
            # What the handler left unset is left out; what it set to None is there, as null.
            dumped = output.model_dump(mode="json", exclude_unset=True, by_alias=True)
            answer = Answer({"result": dumped}, is_list=True) if isinstance(dumped, list) else Answer(dumped)
        except asyncio.CancelledError:
            audit(caller, name, "CANCELLED", started, {})
            raise
        except ShirubeError as error:
            answer = Answer(operation.render_error(error), error)
        except Exception as error:
            log.exception("operation %s failed", name)
            shown = showable(error)
            answer = Answer(operation.render_error(shown), shown)
        audit(caller, name, answer.error.code if answer.error else "ok", started, answer.body)
        return answer

    def _record(
        self, caller: Caller, name: str, outcome: str, started: float, body: Mapping[str, Any]
    ) -> None:
        if self._audit:
            try:
                self._audit(caller, name, outcome, (time.perf_counter() - started) * 1000, body)
            except ShirubeError as error:
                log.warning("the audit log could not be written: %s", error)
            except Exception:
                log.exception("the audit log could not be written")


def _unrecorded(*_call: Any) -> None:
    pass


def given(**values: Any) -> dict[str, Any]:
    """Those that have a value: an optional key that says nothing is left out of an answer."""
    return {name: value for name, value in values.items() if value is not None}


def showable(error: Exception) -> ShirubeError:
    """What may be shown of something unforeseen."""
    return _unreachable() if _is_connection(error) else Internal()


def _is_connection(error: Exception) -> bool:
    """Whether the database could not be reached. By name: a list of tools must not load the database's library."""
    names = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(error).__mro__}
    return not names.isdisjoint({("sqlalchemy", "OperationalError"), ("sqlalchemy", "InterfaceError")})


def _unreachable() -> Unavailable:
    return Unavailable(
        "Failed to connect to the database",
        "データベースに接続できません。",
        hint="少し待ってからやり直してください。 Try again in a while.",
    )


def checked(operation: Operation[In], arguments: Any) -> In:
    """The arguments as the operation's input, or InvalidInput saying which one is wrong and what is expected."""
    try:
        return operation.input.model_validate(arguments if arguments is not None else {})
    except ValidationError as error:
        explained = operation.explain_invalid(error) if operation.explain_invalid else None
        raise explained or invalid(error) from None


def invalid(error: ValidationError) -> InvalidInput:
    """The first thing that is wrong, by name."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "arguments"
    match first["type"]:
        case "missing":
            return InvalidInput(f"{place} is required", f"{place} は必須です。")
        case "extra_forbidden":
            return InvalidInput(f"{place} is not a parameter", f"{place} というパラメータはありません。")
        case "model_type":
            return InvalidInput(
                f"{place} must be an object", f"{place} はオブジェクト（名前と値の組）で指定してください。"
            )
    return InvalidInput(f"{place}: {first['msg']}", f"{place} の値が正しくありません。")


def _tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the titles that pydantic makes from names: they tell nobody anything."""

    def clean(node: Any) -> Any:
        if isinstance(node, dict):
            named = "properties" in node
            return {
                key: {name: clean(each) for name, each in value.items()}
                if key in ("properties", "$defs")
                else clean(value)
                for key, value in node.items()
                if not (
                    key == "title" and isinstance(value, str) and ("type" in node or named or "anyOf" in node)
                )
            }
        return [clean(each) for each in node] if isinstance(node, list) else node

    tidied: dict[str, Any] = clean(schema)
    return tidied
