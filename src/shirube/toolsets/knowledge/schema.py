"""Inputs and outputs of the knowledge tools, as their specification gives them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from shirube.errors import InvalidInput, ShirubeError
from shirube.operations import invalid

QUERY_LIMIT = 2000
TEXT_LIMIT = 10_000
MAX_RESULTS = 50
DEFAULT_THRESHOLD = 0.6
DEFAULT_RESULTS = 10


class _Input(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


KnowledgeBaseId = Annotated[
    UUID, Field(strict=False, description="対象ナレッジベースのUUID（list_knowledge_bases で確認できます）")
]


class SearchInput(_Input):
    query: Annotated[
        str,
        StringConstraints(max_length=QUERY_LIMIT),
        Field(description="検索クエリ（日本語・英語対応）"),
    ]
    knowledge_base_id: KnowledgeBaseId
    threshold: Annotated[
        float,
        Field(ge=0.0, le=1.0, allow_inf_nan=False, description="類似度閾値（0.0〜1.0、推奨: 0.6〜0.8）"),
    ] = DEFAULT_THRESHOLD
    max_results: Annotated[int, Field(ge=1, le=MAX_RESULTS, description="最大返却件数（1〜50）")] = (
        DEFAULT_RESULTS
    )
    explain: Annotated[
        bool, Field(description="true で各段階の件数・順位・所要時間を explain に付けます")
    ] = False


class SummaryInput(_Input):
    knowledge_base_id: KnowledgeBaseId


class NormalizeInput(_Input):
    text: Annotated[
        str, StringConstraints(max_length=TEXT_LIMIT), Field(description="正規化対象のOCRテキスト")
    ]
    engine: Annotated[
        Literal["auto", "rules", "llm"],
        Field(
            description="auto: 規則で直し、言語モデルがあれば疑わしい箇所だけ任せます。"
            "rules: 規則だけ。llm: 言語モデルが使えなければエラー"
        ),
    ] = "auto"


class ChatInput(_Input):
    message: Annotated[
        str,
        StringConstraints(min_length=1, max_length=TEXT_LIMIT, pattern=r"\S"),
        Field(description="聞きたいこと、または直すOCRテキスト"),
    ]
    knowledge_base_id: KnowledgeBaseId
    force_tool: Annotated[str | None, Field(description="ツールを選ばせず、これを使います")] = None
    stream: Annotated[bool, Field(description="true で答えをイベントとして順に送ります")] = False


class ListInput(_Input):
    pass


class Span(BaseModel):
    start: int
    end: int


class Source(BaseModel):
    file: str
    page: int | None = None


class ResultMetadata(BaseModel):
    chunk_id: str
    document_id: str
    chunk_index: int
    collection_id: str
    sparse_score: float | None = Field(default=None, description="BM25 ÷ この検索での最高値")
    dense_score: float | None = Field(default=None, description="ベクトルのコサイン類似度")
    rrf_score: float | None = None
    bm25_score: float | None = None
    cross_encoder_score: float | None = None
    document_title: str
    source: Source
    heading_path: list[str]
    columns: list[str] | None = Field(
        default=None, description="表の途中から始まる content の列名（見出し行はその前にあります）"
    )
    span: Span = Field(description="文書本文での文字位置")
    ranks: dict[str, int] | None = Field(default=None, description="各段階での順位（explain: true のとき）")


class Result(BaseModel):
    content: str
    score: float
    metadata: ResultMetadata


class StageReport(BaseModel):
    stage: str
    count: int
    ms: float
    error: str | None = None


class Explanation(BaseModel):
    recipe: dict[str, Any]
    stages: list[StageReport]


class SearchOutput(BaseModel):
    query: str
    knowledge_base_id: str
    threshold: float
    results: list[Result]
    count: int
    run_id: str
    took_ms: float
    notice: str | None = None
    best_score_below_threshold: float | None = None
    warnings: list[str] | None = None
    explain: Explanation | None = None


class StatisticsOutput(BaseModel):
    total_documents: int
    total_collections: int
    total_chunks: int


class SummaryOutput(BaseModel):
    knowledge_base_id: str
    summary: str
    statistics: StatisticsOutput
    generated_at: str
    warnings: list[str] | None = None


class TextChange(BaseModel):
    offset: int = Field(description="original_text での文字位置")
    before: str = Field(serialization_alias="from")
    after: str = Field(serialization_alias="to")
    reason: Literal["same_text", "dictionary", "letters", "llm"] = Field(
        description="根拠: 同じ文章にある語、辞書にある語、カタカナの並び、言語モデル"
    )


class NormalizeOutput(BaseModel):
    original_text: str
    normalized_text: str
    status: Literal["success"]
    changes: list[TextChange]
    warnings: list[str] | None = None


class KnowledgeBaseItem(BaseModel):
    knowledge_base_id: str
    name: str
    description: str
    statistics: StatisticsOutput


class ListOutput(BaseModel):
    knowledge_bases: list[KnowledgeBaseItem]
    count: int


_MESSAGES = {
    "threshold": ("threshold out of range (0.0-1.0)", "threshold は 0.0〜1.0 の数値で指定してください。"),
    "knowledge_base_id": (
        "knowledge_base_id must be a UUID",
        "knowledge_base_id は UUID で指定してください（list_knowledge_bases で確認できます）。",
    ),
    "message": (
        f"message must be a text of 1 to {TEXT_LIMIT} characters",
        f"message は1〜{TEXT_LIMIT}文字の文字列で指定してください。",
    ),
    "text": ("text must be a text", "text は文字列で指定してください。"),
    "engine": (
        "engine must be one of auto, rules, llm",
        "engine は auto、rules、llm のどれかで指定してください。",
    ),
    "query": (
        f"query must be a text of 1 to {QUERY_LIMIT} characters",
        f"query は1〜{QUERY_LIMIT}文字の文字列で指定してください。",
    ),
}


def explain_invalid(error: ValidationError, aliases: Mapping[str, str] | None = None) -> ShirubeError:
    """The messages of the specification, where it has one; `aliases` are other names of parameters."""
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    name = (aliases or {}).get(name, name)
    if first["type"] in ("missing", "extra_forbidden"):
        return invalid(error)
    if name == "max_results":
        if first["type"] == "less_than_equal":
            return InvalidInput(
                f"max_results exceeds limit ({MAX_RESULTS})",
                f"max_results は {MAX_RESULTS} 以下にしてください。",
            )
        return InvalidInput(
            f"max_results must be an integer from 1 to {MAX_RESULTS}",
            f"max_results は 1〜{MAX_RESULTS} の整数で指定してください。",
        )
    if name == "text" and first["type"] == "string_too_long":
        return InvalidInput(
            f"Text too long (max {TEXT_LIMIT} chars)", f"text は{TEXT_LIMIT}文字以内にしてください。"
        )
    if name in _MESSAGES:
        return InvalidInput(*_MESSAGES[name])
    return invalid(error)


def render_error(error: ShirubeError) -> dict[str, Any]:
    """`status` and `detail` as the original services answer, and what to do next."""
    body: dict[str, Any] = {
        "status": error.status,
        "detail": error.message,
        "code": error.code,
        "message_ja": error.ja,
    }
    if error.hint:
        body["hint"] = error.hint
    return body
