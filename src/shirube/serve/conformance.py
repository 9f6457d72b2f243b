"""What the official conformance suite asks a server to have besides its own tools. Behind `--conformance` alone."""

import base64
import hashlib
import hmac
import secrets
import struct
import warnings
import zlib
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

_PAUSE = 0.05
RETRY_MS = 500
_KEY = secrets.token_bytes(32)
_NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
Requests = dict[str, types.CreateMessageRequest | types.ListRootsRequest | types.ElicitRequest]
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def _red_pixel() -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode()


def _silence() -> str:
    samples = b"\0\0" * 8
    head = (
        b"RIFF"
        + struct.pack("<I", 36 + len(samples))
        + b"WAVEfmt "
        + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    )
    return base64.b64encode(head + b"data" + struct.pack("<I", len(samples)) + samples).decode()


PNG, WAV = _red_pixel(), _silence()


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def _embedded(uri: str, kind: str, text: str) -> types.EmbeddedResource:
    resource = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    return types.EmbeddedResource(type="resource", resource=resource)


def _result(*content: Any, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=list(content), is_error=is_error)


def _asks(properties: dict[str, Any], message: str) -> types.ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _asks_model(text: str, tokens: int = 100) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=_text(text))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=tokens)
    )


def _sealed(state: str) -> str:
    return f"{state}.{hmac.new(_KEY, state.encode(), hashlib.sha256).hexdigest()}"


def _unsealed(written: str | None) -> str:
    state, _, seal = (written or "").rpartition(".")
    if not hmac.compare_digest(seal, hmac.new(_KEY, state.encode(), hashlib.sha256).hexdigest()):
        raise MCPError(types.INVALID_PARAMS, "requestState is not one that this server made")
    return state


SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
_ENUM = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{n}", "title": title} for n, title in ((1, "First"), (2, "Second"), (3, "Third"))]
ELICITED: dict[str, dict[str, Any]] = {
    "test_elicitation_sep1034_defaults": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
    "test_elicitation_sep1330_enums": {
        "untitledSingle": {"type": "string", "enum": _ENUM},
        "titledSingle": {"type": "string", "oneOf": _TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _ENUM}},
        "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
    },
}
_WITH_TEXT = {
    name: {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    for name in ("prompt", "message")
}
_SCHEMAS = {
    "test_sampling": _WITH_TEXT["prompt"],
    "test_elicitation": _WITH_TEXT["message"],
    "json_schema_2020_12_tool": SCHEMA_2020_12,
    "test_headers": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
}
NAMES = (
    "test_simple_text test_image_content test_audio_content test_embedded_resource test_multiple_content_types "
    "test_tool_with_logging test_logging_tool test_error_handling test_tool_with_progress test_sampling "
    "test_elicitation test_elicitation_sep1034_defaults test_elicitation_sep1330_enums json_schema_2020_12_tool "
    "test_reconnection test_headers test_missing_capability test_streaming_elicitation test_trigger_tool_change "
    "test_trigger_prompt_change "
    "test_input_required_result_elicitation test_input_required_result_sampling test_input_required_result_list_roots "
    "test_input_required_result_request_state test_input_required_result_multiple_inputs "
    "test_input_required_result_multi_round test_input_required_result_tampered_state "
    "test_input_required_result_capabilities"
).split()
TOOLS = [
    types.Tool(
        name=name,
        description=f"A fixture of the conformance suite: {name}",
        input_schema=_SCHEMAS.get(name, _NOTHING),
    )
    for name in NAMES
]


RESOURCES = [
    types.Resource(
        uri="test://static-text", name="static-text", description="A text", mime_type="text/plain"
    ),
    types.Resource(
        uri="test://static-binary", name="static-binary", description="An image", mime_type="image/png"
    ),
    types.Resource(
        uri="test://watched-resource", name="watched", description="Watched", mime_type="text/plain"
    ),
]
TEMPLATE = types.ResourceTemplate(
    uri_template="test://template/{id}/data",
    name="template",
    description="Data",
    mime_type="application/json",
)

PROMPTS = [
    types.Prompt(name="test_simple_prompt", description="Simple"),
    types.Prompt(
        name="test_prompt_with_arguments",
        description="With arguments",
        arguments=[types.PromptArgument(name=name, required=True) for name in ("arg1", "arg2")],
    ),
    types.Prompt(
        name="test_prompt_with_embedded_resource",
        description="With a resource",
        arguments=[types.PromptArgument(name="resourceUri", required=True)],
    ),
    types.Prompt(name="test_prompt_with_image", description="With an image"),
    types.Prompt(name="test_input_required_result_prompt", description="Asks for input"),
]


class Events(EventStore):
    """What was sent on each stream, for a client that lost it and asks for the rest."""

    def __init__(self) -> None:
        self._sent: list[tuple[str, types.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        self._sent.append((stream_id, message))
        return str(len(self._sent))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        last = int(last_event_id) if last_event_id.isdecimal() else 0
        if not 1 <= last <= len(self._sent):
            return None
        stream = self._sent[last - 1][0]
        for number, (each, message) in enumerate(self._sent[last:], last + 1):
            if each == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


class Fixtures:
    """Tools, resources and prompts of the suite, and the streams on which changes of them are told."""

    def __init__(self) -> None:
        self.tools, self.prompts, self.resources, self.templates = TOOLS, PROMPTS, RESOURCES, [TEMPLATE]
        self.bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self.bus)
        self.subscribed: set[str] = set()

    async def call(self, context: Any, params: types.CallToolRequestParams) -> Any:
        name, arguments = params.name, params.arguments or {}
        match name:
            case "test_simple_text":
                return _result(_text("This is a simple text response for testing."))
            case "test_image_content":
                return _result(_image())
            case "test_audio_content":
                return _result(types.AudioContent(type="audio", data=WAV, mime_type="audio/wav"))
            case "test_embedded_resource":
                return _result(
                    _embedded(
                        "test://embedded-resource", "text/plain", "This is an embedded resource content."
                    )
                )
            case "test_multiple_content_types":
                mixed = _embedded(
                    "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
                )
                return _result(_text("Multiple content types test:"), _image(), mixed)
            case "test_error_handling":
                return _result(_text("This tool intentionally returns an error for testing"), is_error=True)
            case "test_tool_with_logging" | "test_logging_tool":
                return await self._logging(context)
            case "test_tool_with_progress" | "test_streaming_elicitation":
                return await self._progress(context)
            case "test_sampling":
                return await self._sampling(context, str(arguments.get("prompt", "")))
            case "test_elicitation":
                texts = {each: {"type": "string"} for each in ("username", "email")}
                return await self._elicited(
                    context, str(arguments.get("message", "")), texts, "User response"
                )
            case "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums":
                return await self._elicited(context, "Please choose", ELICITED[name], "Elicitation completed")
            case "test_trigger_tool_change":
                await self.bus.publish(ToolsListChanged())
                return _result(_text("told"))
            case "test_trigger_prompt_change":
                await self.bus.publish(PromptsListChanged())
                return _result(_text("told"))
            case "test_reconnection":
                if context.close_sse_stream:
                    await context.close_sse_stream()
                await anyio.sleep(2 * _PAUSE)
                return _result(_text("Reconnected, and here is the rest."))
            case "test_headers":
                return _result(_text(f"region: {arguments.get('region')}"))
            case "test_missing_capability":
                return self._needing_sampling(context)
            case "json_schema_2020_12_tool":
                return _result(_text("taken"))
        return self._rounds(context, name, params)

    def _needing_sampling(self, context: Any) -> types.CallToolResult:
        if "sampling" not in _declared(context):
            raise MCPError(
                types.MISSING_REQUIRED_CLIENT_CAPABILITY,
                "This tool needs sampling",
                {"requiredCapabilities": {"sampling": {}}},
            )
        return _result(_text("sampling was declared"))

    async def _logging(self, context: Any) -> types.CallToolResult:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
                await context.session.send_log_message("info", said, related_request_id=context.request_id)
                await anyio.sleep(_PAUSE)
        return _result(_text("logged"))

    async def _progress(self, context: Any) -> types.CallToolResult:
        for done in (0, 50, 100):
            await context.session.report_progress(done, 100)
            await anyio.sleep(_PAUSE)
        return _result(_text("done"))

    async def _sampling(self, context: Any, prompt: str) -> types.CallToolResult:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            said = await context.session.create_message(
                [types.SamplingMessage(role="user", content=_text(prompt))],
                max_tokens=100,
                related_request_id=context.request_id,
            )
        return _result(_text(f"LLM response: {getattr(said.content, 'text', '')}"))

    async def _elicited(
        self, context: Any, message: str, properties: dict[str, Any], said: str
    ) -> types.CallToolResult:
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            answer = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
        return _result(_text(f"{said}: action={answer.action}, content={answer.content}"))

    def _rounds(self, context: Any, name: str, params: types.CallToolRequestParams) -> Any:
        """Tools that ask for input by their result and are called again with what was given."""
        given = params.input_responses or {}
        asked: Requests
        one_text = {"name": {"type": "string"}}
        match name.removeprefix("test_input_required_result_"):
            case "elicitation":
                return self._once(given, {"user_name": _asks(one_text, "What is your name?")}, None)
            case "sampling":
                return self._once(
                    given, {"capital_question": _asks_model("What is the capital of France?")}, None
                )
            case "list_roots":
                return self._once(given, {"client_roots": types.ListRootsRequest()}, None)
            case "request_state" | "tampered_state" as state:
                asked = {"confirm": _asks({"ok": {"type": "boolean"}}, "Please confirm")}
                if given:
                    _unsealed(params.request_state)
                return self._once(given, asked, _sealed(state), "state-ok")
            case "multiple_inputs":
                asked = {
                    "user_name": _asks(one_text, "What is your name?"),
                    "greeting": _asks_model("Generate a greeting", 50),
                    "client_roots": types.ListRootsRequest(),
                }
                if given:
                    _unsealed(params.request_state)
                return self._once(given, asked, _sealed("several"))
            case "multi_round":
                return self._in_steps(given, params.request_state)
            case "capabilities":
                declared = _declared(context)
                asked = {}
                if "sampling" in declared:
                    asked["said"] = _asks_model("Say something")
                if "elicitation" in declared:
                    asked["name"] = _asks(one_text, "What is your name?")
                return self._once(given, asked, None) if asked else _result(_text("nothing to ask"))
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name}")

    @staticmethod
    def _once(given: Any, asked: dict[str, Any], state: str | None, said: str = "Hello") -> Any:
        answers = {key: given[key] for key in asked if key in given}
        if len(answers) < len(asked):
            return types.InputRequiredResult(input_requests=asked, request_state=state)
        told = ", ".join(each.model_dump_json(by_alias=True, exclude_none=True) for each in answers.values())
        return _result(_text(f"{said}: {told}"))

    @staticmethod
    def _in_steps(given: Any, state: str | None) -> Any:
        first: Requests = {"step1": _asks({"name": {"type": "string"}}, "Step 1: What is your name?")}
        second: Requests = {
            "step2": _asks({"color": {"type": "string"}}, "Step 2: What is your favorite color?")
        }
        at = _unsealed(state) if state else ""
        if at == "after-1" and "step2" in given:
            return _result(_text("All steps are done."))
        if (at and "step1" in given) or at == "after-1":
            return types.InputRequiredResult(input_requests=second, request_state=_sealed("after-1"))
        return types.InputRequiredResult(input_requests=first, request_state=_sealed("start"))

    @staticmethod
    def read(uri: str) -> types.ReadResourceResult | None:
        contents: types.TextResourceContents | types.BlobResourceContents
        if uri == "test://static-binary":
            contents = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
        elif uri in ("test://static-text", "test://watched-resource"):
            said = "This is the content of the static text resource."
            contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text=said)
        elif uri.startswith("test://template/") and uri.endswith("/data"):
            number = uri.split("/")[3]
            said = f'{{"id":"{number}","templateTest":true,"data":"Data for ID: {number}"}}'
            contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=said)
        else:
            return None
        return types.ReadResourceResult(contents=[contents])

    @staticmethod
    def prompt(params: types.GetPromptRequestParams) -> Any:
        given = params.arguments or {}
        match params.name:
            case "test_simple_prompt":
                contents: list[Any] = [_text("This is a simple prompt for testing.")]
            case "test_prompt_with_arguments":
                contents = [
                    _text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
                ]
            case "test_prompt_with_embedded_resource":
                uri = given.get("resourceUri", "test://example-resource")
                embedded = _embedded(uri, "text/plain", "Embedded resource content for testing.")
                contents = [embedded, _text("Please process the embedded resource above.")]
            case "test_prompt_with_image":
                contents = [_image(), _text("Please analyze the image above.")]
            case "test_input_required_result_prompt":
                if "user_context" not in (params.input_responses or {}):
                    asked = _asks({"context": {"type": "string"}}, "What context should the prompt use?")
                    return types.InputRequiredResult(input_requests={"user_context": asked})
                contents = [_text("With the context that was given.")]
            case _:
                return None
        return types.GetPromptResult(
            messages=[types.PromptMessage(role="user", content=each) for each in contents]
        )


def _declared(context: Any) -> dict[str, Any]:
    """What the client says it can do, in the request itself."""
    return dict((context.meta or {}).get(_CAPABILITIES) or {})


def add_to(server: "Server[Any]", fixtures: Fixtures) -> None:
    """The methods that only the suite asks for."""

    async def subscribe(_context: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
        fixtures.subscribed.add(str(params.uri))
        return types.EmptyResult()

    async def unsubscribe(_context: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        fixtures.subscribed.discard(str(params.uri))
        return types.EmptyResult()

    async def set_level(_context: Any, _params: types.SetLevelRequestParams) -> types.EmptyResult:
        return types.EmptyResult()

    server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, subscribe)
    server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.add_request_handler(
        "subscriptions/listen", types.SubscriptionsListenRequestParams, fixtures.listen
    )
