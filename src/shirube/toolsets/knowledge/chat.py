"""A message answered by one of the knowledge tools: chosen, called, and what it found said with where it stands.

Without a language model passages are quoted, not retold. With one, it chooses the tool and writes the answer; where
that cannot be used, the built-in rules and the quotations take its place and `warnings` says so.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from shirube.caller import Caller
from shirube.errors import InvalidInput, ShirubeError
from shirube.models.contract import Generator
from shirube.models.errors import ModelError
from shirube.models.prose import shown_name
from shirube.operations import Registry
from shirube.toolsets.knowledge.choice import TOOLS, Choice, Tool, chosen_tool
from shirube.toolsets.knowledge.chooser import RESULTS, model_choice, usual_arguments
from shirube.toolsets.knowledge.writer import Written, written_answer

log = logging.getLogger(__name__)

_NOTHING = "関連する記述は見つかりませんでした。 Nothing relevant was found."
_NOT_THERE = "見つかった箇所に答えは書かれていませんでした。 The passages found do not hold the answer."
_REMOVED = "資料にない番号の出典を除きました。 Citations of documents that were not given were removed."


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
class Decision:
    """The tool for a message, and what it is given."""

    tool: Tool
    arguments: Mapping[str, Any]
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class Reply:
    """What was asked for, of which tool, what it said, and the tool's own answer.

    `engine` and `model` say who wrote the answer; `warnings` holds those of the tool too.
    """

    tool_name: Tool
    arguments: Mapping[str, Any]
    answer: str
    citations: list[Citation]
    engine: Literal["builtin", "llm"]
    model: str | None
    warnings: list[str]
    result: Mapping[str, Any]


async def reply(
    registry: Registry,
    caller: Caller,
    message: str,
    base_id: str,
    force_tool: str | None = None,
    model: Generator | None = None,
) -> Reply:
    """Answer a message about a knowledge base; `force_tool` skips the choice. Errors of the tool come through."""
    decision = await decided(registry, message, base_id, force_tool, model)
    return await answered(registry, caller, message, decision, model)


async def decided(
    registry: Registry, message: str, base_id: str, force_tool: str | None, model: Generator | None
) -> Decision:
    """The tool that is forced, else the model's choice, else that of the rules."""
    if force_tool is not None:
        return _ruled(Choice(checked_tool(force_tool), message), base_id)
    if model is None:
        return _ruled(chosen_tool(message), base_id)
    try:
        return Decision(*await asyncio.to_thread(model_choice, model, registry, message, base_id))
    except ModelError as error:
        log.warning("the tool is chosen by the rules: %s", error)
        warning = (
            "言語モデルでツールを選べないため、組み込みの規則で選びました。 "
            f"The language model chose no tool ({error.reason}); the built-in classifier did."
        )
        return _ruled(chosen_tool(message), base_id, warning)


async def answered(
    registry: Registry, caller: Caller, message: str, decision: Decision, model: Generator | None
) -> Reply:
    """What the tool says, in the model's words if there is one and it found something, else in its own."""
    called = await registry.call(decision.tool, caller, decision.arguments)
    if called.error:
        raise _of_message(called.error)
    body = called.body
    results = body.get("results", [])[:RESULTS]
    warnings = [*decision.warnings, *body.get("warnings", ())]
    written: Written | None = None
    if model and results:
        try:
            written = await asyncio.to_thread(written_answer, model, message, results)
        except ModelError as error:
            log.warning("passages are quoted: %s", error)
            warnings.append(
                "言語モデルの答えが使えないため、見つかった箇所を引用します。 "
                f"The language model gave no usable answer ({error.reason}); the passages are quoted."
            )
    if written and written.removed:
        warnings.append(_REMOVED)
    citations = _citations(results)
    return Reply(
        tool_name=decision.tool,
        arguments=decision.arguments,
        answer=(written.text or _NOT_THERE) if written else _answer(decision.tool, body, results),
        citations=[each for each in citations if each.number in written.cited] if written else citations,
        engine="llm" if written else "builtin",
        model=shown_name(model) if model and written else None,
        warnings=warnings,
        result=body,
    )


def _of_message(error: ShirubeError) -> ShirubeError:
    """What is wrong with the query is wrong with the message that it was made of."""
    if not error.message.startswith("query "):
        return error
    return InvalidInput(
        error.message.replace("query", "message", 1), error.ja.replace("query", "message", 1), hint=error.hint
    )


def checked_tool(name: str) -> Tool:
    for tool in TOOLS:
        if tool == name:
            return tool
    listed = ", ".join(TOOLS)
    raise InvalidInput(f"force_tool must be one of {listed}", f"force_tool は {listed} のどれかです。")


def _ruled(choice: Choice, base_id: str, *warnings: str) -> Decision:
    usual = usual_arguments(choice.tool, base_id)
    match choice.tool:
        case "normalize_ocr_text":
            return Decision(choice.tool, {"text": choice.text, **usual}, warnings)
        case "get_knowledge_base_summary":
            return Decision(choice.tool, usual, warnings)
        case "search_documents":
            return Decision(choice.tool, {"query": choice.text, **usual}, warnings)


def _answer(tool: Tool, body: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> str:
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
            quoted = [f"[{number}] {result['content'].strip()}" for number, result in enumerate(results, 1)]
            return "\n\n".join(quoted) or _NOTHING


def _citations(results: Sequence[Mapping[str, Any]]) -> list[Citation]:
    return [
        Citation(
            number,
            result["metadata"]["document_title"],
            result["metadata"]["source"],
            result["metadata"]["heading_path"],
            result["metadata"]["span"],
            result["score"],
        )
        for number, result in enumerate(results, 1)
    ]
