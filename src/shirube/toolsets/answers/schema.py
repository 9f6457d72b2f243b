"""Input, output and errors of kb_answer, as its specification gives them."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError

from shirube.errors import AccessDenied, InvalidInput, NotFound, ShirubeError, Unauthenticated
from shirube.operations import invalid
from shirube.text.invisible import visible
from shirube.toolsets.answers.errors import NotAuthenticated

QUERY_LIMIT = 2000
MAX_RESULTS = 100
DEFAULT_RESULTS = 4


def _not_blank(query: str) -> str:
    """Any white space that Unicode knows is blank, and so is what nobody can see."""
    if not visible(query).strip():
        raise PydanticCustomError("blank", "blank")
    return query


class AnswerInput(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    query: Annotated[
        str,
        StringConstraints(min_length=1, max_length=QUERY_LIMIT),
        AfterValidator(_not_blank),
        Field(description="Knowledge Base に送信する質問"),
    ]
    max_results: Annotated[int, Field(ge=1, le=MAX_RESULTS, description="取得するソースチャンクの最大数")] = (
        DEFAULT_RESULTS
    )
    knowledge_base_id: Annotated[
        UUID | None,
        Field(
            strict=False,
            description="手元の文書から答えるとき、このナレッジベースだけを使います（省くと読めるもの全部）",
        ),
    ] = None


class Spanned(BaseModel):
    start: int
    end: int


class Location(BaseModel):
    """Where a citation of the documents here stands; those of Bedrock have the form that it gives them."""

    type: str
    document_id: str
    title: str
    source: str
    page: int | None
    span: Spanned


class Citation(BaseModel):
    content: str
    location: dict[str, Any]
    score: float | None
    spans: list[Spanned] | None = Field(
        default=None, description="answer のうち、この出典に基づく部分の文字位置（Bedrock のとき）"
    )


class AnswerOutput(BaseModel):
    answer: str = Field(description="Knowledge Base から生成された回答")
    citations: list[Citation]
    supported: bool | None = Field(
        default=None, description="文書に根拠が見つかったか（手元の文書から答えるとき）"
    )
    warnings: list[str] | None = None


def explain_invalid(error: ValidationError) -> ShirubeError:
    first = error.errors(include_url=False)[0]
    match first["loc"][0] if first["loc"] else "", first["type"]:
        case "query", "blank" | "string_too_short":
            return InvalidInput("query must not be blank", "query が空です。質問を入れてください。")
        case "query", "string_too_long" | "string_type" | "string_unicode":
            return InvalidInput(
                f"query must be a text of 1 to {QUERY_LIMIT} characters",
                f"query は1〜{QUERY_LIMIT}文字の文字列で指定してください。",
            )
        case "max_results", kind if kind != "missing":
            return InvalidInput(
                f"max_results must be an integer from 1 to {MAX_RESULTS}",
                f"max_results は 1〜{MAX_RESULTS} の整数で指定してください。",
            )
        case "knowledge_base_id", _:
            return InvalidInput(
                "knowledge_base_id must be a UUID",
                "knowledge_base_id は UUID で指定してください（list_knowledge_bases で確認できます）。",
            )
    return invalid(error)


def render_error(error: ShirubeError) -> dict[str, Any]:
    said = [error.ja, error.message, *([error.hint] if error.hint else [])]
    return {"error": True, "error_type": _error_type(error), "message": " ".join(said)}


def _error_type(error: ShirubeError) -> str:
    match error:
        case InvalidInput():
            return "ValidationError"
        case NotFound():
            return "NotFoundError"
        case NotAuthenticated() | Unauthenticated() | AccessDenied():
            return "AuthenticationError"
    return "ServiceError"
