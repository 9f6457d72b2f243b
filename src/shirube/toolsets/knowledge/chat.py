"""A message answered by one of the knowledge tools: chosen, called, and what it found said with where it stands.

Nothing is written that the tools did not return: passages are quoted, not retold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from shirube.caller import Caller
from shirube.errors import InvalidInput
from shirube.operations import Registry
from shirube.toolsets.knowledge.choice import Choice, Tool, chosen_tool

THRESHOLD = 0.5
RESULTS = 5
TOOLS: tuple[str, ...] = get_args(Tool)
_NOTHING = "関連する記述は見つかりませんでした。 Nothing relevant was found."


@dataclass(frozen=True)
class Citation:
    """Where the quotation with this number stands."""

    number: int
    document_title: str
    source: Mapping[str, Any]
    heading_path: list[str]
    span: Mapping[str, int]
    score: float


@dataclass(frozen=True)
class Reply:
    """What was asked for, of which tool, what it said, and the tool's own answer."""

    tool_name: Tool
    arguments: Mapping[str, Any]
    answer: str
    citations: list[Citation]
    result: Mapping[str, Any]


async def reply(
    registry: Registry, caller: Caller, message: str, base_id: str, force_tool: str | None = None
) -> Reply:
    """Answer a message about a knowledge base; `force_tool` skips the choice. Errors of the tool come through."""
    choice = chosen_tool(message) if force_tool is None else Choice(_checked(force_tool), message)
    arguments = _arguments(choice, base_id)
    called = await registry.call(choice.tool, caller, arguments)
    if called.error:
        raise called.error
    citations = _citations(called.body)
    return Reply(choice.tool, arguments, _answer(choice.tool, called.body), citations, called.body)


def _checked(name: str) -> Tool:
    if name in TOOLS:
        return cast(Tool, name)
    listed = ", ".join(TOOLS)
    raise InvalidInput(f"force_tool must be one of {listed}", f"force_tool は {listed} のどれかです。")


def _arguments(choice: Choice, base_id: str) -> dict[str, Any]:
    match choice.tool:
        case "normalize_ocr_text":
            return {"text": choice.text}
        case "get_knowledge_base_summary":
            return {"knowledge_base_id": base_id}
        case "search_documents":
            given = {"query": choice.text, "knowledge_base_id": base_id}
            return {**given, "threshold": THRESHOLD, "max_results": RESULTS}


def _answer(tool: Tool, body: Mapping[str, Any]) -> str:
    match tool:
        case "normalize_ocr_text":
            return str(body["normalized_text"])
        case "get_knowledge_base_summary":
            counts = body["statistics"]
            return (
                f"{body['summary']}（文書 {counts['total_documents']} 件、"
                f"コレクション {counts['total_collections']} 個、チャンク {counts['total_chunks']} 個）"
            )
        case "search_documents":
            quoted = [
                f"[{number}] {result['content'].strip()}" for number, result in enumerate(body["results"], 1)
            ]
            return "\n\n".join(quoted) or _NOTHING


def _citations(body: Mapping[str, Any]) -> list[Citation]:
    return [
        Citation(
            number,
            result["metadata"]["document_title"],
            result["metadata"]["source"],
            result["metadata"]["heading_path"],
            result["metadata"]["span"],
            result["score"],
        )
        for number, result in enumerate(body.get("results", ()), 1)
    ]
