"""The HTTP forms of the services that the knowledge tools come from, so that their clients keep working.

They are operations like the others, but no tools: an agent is offered each search once.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from shirube.caller import Caller
from shirube.errors import InvalidInput, NotFound, ShirubeError
from shirube.operations import Answer, Operation, Words
from shirube.toolsets.knowledge import schema

LIST_TOOLS, CALL_TOOL = "list_tools", "call_tool"
# The original's own names for two parameters of search_documents.
_NAMES = {"kb_id": "knowledge_base_id", "top_k": "max_results"}


class HybridInput(schema.SearchInput):
    """What `search_documents` takes, under the names of the original's search service."""

    knowledge_base_id: schema.KnowledgeBaseId = Field(alias="kb_id")
    max_results: Annotated[int, Field(ge=1, le=schema.MAX_RESULTS, alias="top_k")] = schema.DEFAULT_RESULTS


class ToolsInput(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ToolDescription(BaseModel):
    name: str
    description: str
    inputSchema: dict[str, Any]  # noqa: N815 (a name of the protocol)


class ToolsOutput(BaseModel):
    tools: list[ToolDescription]


class CallInput(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class CallOutput(RootModel[dict[str, Any]]):
    """The answer of the tool itself."""


def original_operations(
    tools: Callable[[], Sequence[Operation[Any]]], call: Callable[[str, Caller, Any], Awaitable[Answer]]
) -> list[Operation[Any]]:
    """`tools` are those that are offered, `call` calls one of them."""

    async def search_hybrid(caller: Caller, asked: HybridInput) -> CallOutput:
        given = asked.model_dump(mode="json", exclude_unset=True)
        return _body(await call("search_documents", caller, given))

    async def list_tools(_caller: Caller, _asked: ToolsInput) -> ToolsOutput:
        return ToolsOutput(
            tools=[
                ToolDescription(
                    name=each.name, description=str(each.description), inputSchema=each.input_schema()
                )
                for each in tools()
            ]
        )

    async def call_tool(caller: Caller, asked: CallInput) -> CallOutput:
        names = [each.name for each in tools()]
        if asked.name not in names:
            raise NotFound(
                f"Unknown tool: {asked.name}",
                f"{asked.name} というツールはありません。",
                hint=f"使えるツール: {', '.join(names)}",
            )
        return _body(await call(asked.name, caller, asked.arguments))

    return [
        Operation(
            name="search_hybrid",
            toolset="knowledge",
            title=Words("文書検索（従来の形）", "Search documents, in the form of the original"),
            description=Words(
                "search_documents と同じ検索です（kb_id、top_k）。",
                "The search of search_documents, by kb_id and top_k.",
            ),
            input=HybridInput,
            output=CallOutput,
            handler=search_hybrid,
            render_error=schema.render_error,
            rest=("POST", "/admin/search/hybrid"),
            cost="search",
            explain_invalid=_explain_invalid,
            is_tool=False,
        ),
        Operation(
            name=LIST_TOOLS,
            toolset="knowledge",
            title=Words("ツール一覧（従来の形）", "List tools, in the form of the original"),
            description=Words(
                "ツールの名前・説明・引数を返します。", "Tools with description and input schema."
            ),
            input=ToolsInput,
            output=ToolsOutput,
            handler=list_tools,
            render_error=schema.render_error,
            rest=("GET", "/mcp/tools"),
            is_tool=False,
        ),
        Operation(
            name=CALL_TOOL,
            toolset="knowledge",
            title=Words("ツール呼び出し（従来の形）", "Call a tool, in the form of the original"),
            description=Words(
                "name のツールを arguments で呼び、その答えを返します。",
                "Calls the tool `name` with `arguments` and gives its answer.",
            ),
            input=CallInput,
            output=CallOutput,
            handler=call_tool,
            render_error=schema.render_error,
            rest=("POST", "/mcp/call_tool"),
            cost="search",
            is_tool=False,
        ),
    ]


def _body(answer: Answer) -> CallOutput:
    if answer.error:
        raise answer.error
    return CallOutput(dict(answer.body))


def _explain_invalid(error: ValidationError) -> ShirubeError:
    """The messages of search_documents, with the names that were used here."""
    said = schema.explain_invalid(error, _NAMES)
    [original, *_] = [*error.errors(include_url=False)[0]["loc"], ""]
    if original not in _NAMES:
        return said
    name = _NAMES[str(original)]
    return InvalidInput(
        said.message.replace(name, str(original)), said.ja.replace(name, str(original)), hint=said.hint
    )
