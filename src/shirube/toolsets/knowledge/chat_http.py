"""`POST /v1/chat` without a web framework: a JSON body and a caller in, the JSON answer or a stream of events out."""

import json
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import ValidationError

from shirube.caller import Caller
from shirube.errors import Internal, ShirubeError
from shirube.models.contract import Generator
from shirube.operations import Registry
from shirube.text.sentences import sentences
from shirube.toolsets.knowledge import schema
from shirube.toolsets.knowledge.chat import answered, checked_tool, decided, reply

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Event:
    name: str
    data: Mapping[str, Any]

    def sse(self) -> str:
        """The event as it goes over the wire."""
        data = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        return f"event: {self.name}\ndata: {data}\n\n"


async def chat(
    registry: Registry, caller: Caller, body: Any, model: Generator | None = None
) -> dict[str, Any] | AsyncIterator[Event]:
    """Answer `{"message", "knowledge_base_id", "force_tool"?, "stream"?}`.

    Without `stream` the answer is a `Reply` as JSON, and what goes wrong is raised as a `ShirubeError`. With it, a
    wrong body is raised and everything else comes as events, in this order:

    - `tool`, as soon as it is chosen: `tool_name`, `arguments`
    - `citation`, for each one: the fields of `Citation`
    - `answer`, a sentence at a time: `text`; together they are the whole. None is sent before all is checked.
    - `done`: the same JSON as without `stream`
    - `error`, in place of all that is missing: `status`, `detail`, `code`, `message_ja` and perhaps `hint`
    """
    try:
        asked = schema.ChatInput.model_validate(body)
    except ValidationError as error:
        raise schema.explain_invalid(error) from None
    if asked.force_tool is not None:
        checked_tool(asked.force_tool)
    message, base_id = asked.message, str(asked.knowledge_base_id)
    if asked.stream:
        return _events(registry, caller, message, base_id, asked.force_tool, model)
    return asdict(await reply(registry, caller, message, base_id, asked.force_tool, model))


async def _events(
    registry: Registry,
    caller: Caller,
    message: str,
    base_id: str,
    force_tool: str | None,
    model: Generator | None,
) -> AsyncIterator[Event]:
    try:
        decision = await decided(registry, message, base_id, force_tool, model)
        yield Event("tool", {"tool_name": decision.tool, "arguments": decision.arguments})
        given = await answered(registry, caller, message, decision, model)
    except ShirubeError as error:
        yield Event("error", schema.render_error(error))
        return
    except Exception:
        log.exception("chat failed")
        yield Event("error", schema.render_error(Internal()))
        return
    for citation in given.citations:
        yield Event("citation", asdict(citation))
    for start, end in sentences(given.answer):
        yield Event("answer", {"text": given.answer[start:end]})
    yield Event("done", asdict(given))
