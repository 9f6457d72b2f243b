"""What the page tools take and give, as their specification has it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from shirube.errors import Internal, ShirubeError, Unavailable
from shirube.toolsets.pages.kinds import DocType, LinkType

QUERY_LIMIT = 2000
_PATH_LIMIT = 1024
StalenessLevel = Literal["fresh", "possibly_stale", "stale", "untracked"]

Query = Annotated[str, StringConstraints(min_length=1, max_length=QUERY_LIMIT, pattern=r"\S")]
Filepath = Annotated[
    str,
    StringConstraints(min_length=1, max_length=_PATH_LIMIT),
    Field(description="ドキュメントのファイルパス（docs_dir からの相対パス）"),
]
Kind = Annotated[DocType | None, Field(description="ドキュメント種別で絞り込みます")]


class _Input(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class SearchInput(_Input):
    query: Annotated[Query, Field(description="検索クエリテキスト")]
    limit: Annotated[int, Field(ge=1, le=20, description="返却件数上限（1〜20）")] = 10
    include_linked: Annotated[bool, Field(description="関連ページの展開")] = False
    depth: Annotated[int, Field(ge=1, le=3, description="グラフ走査深度（1〜3）")] = 2
    link_types: Annotated[list[LinkType] | None, Field(description="たどるリンクの種別")] = None


class GetPageInput(_Input):
    filepath: Filepath


class GetContextInput(_Input):
    filepath: Filepath
    depth: Annotated[int, Field(ge=1, le=3, description="グラフ走査深度（1〜3）")] = 2
    max_size: Annotated[int, Field(ge=1, le=10_000_000, description="最大出力文字数")] = 50_000


class FulltextInput(_Input):
    query: Annotated[Query, Field(description="検索キーワード（空白区切りですべてを含む節を探します）")]
    limit: Annotated[int, Field(ge=1, le=50, description="返却件数上限（1〜50）")] = 10
    doc_type: Kind = None


class ListInput(_Input):
    doc_type: Kind = None
    sort: Annotated[Literal["title", "updated_at", "filepath"], Field(description="ソートキー")] = "title"
    order: Annotated[Literal["asc", "desc"], Field(description="ソート順")] = "asc"


class GraphInput(_Input):
    center: Annotated[
        str | None,
        StringConstraints(min_length=1, max_length=_PATH_LIMIT),
        Field(description="中心ドキュメント（filepath または doc_id）。省略すると全体"),
    ] = None
    depth: Annotated[int, Field(ge=1, le=5, description="グラフ走査深度（1〜5）")] = 2


class MatchedSection(BaseModel):
    section_id: str
    heading: str | None
    content: str
    score: float


class ScoreBreakdown(BaseModel):
    vector_similarity: float
    graph_proximity: float
    fulltext: float


class LinkedPage(BaseModel):
    doc_id: str
    filepath: str
    title: str
    link_type: LinkType
    summary: str


class SearchResult(BaseModel):
    doc_id: str
    filepath: str
    title: str
    sections: list[MatchedSection]
    score: float
    score_breakdown: ScoreBreakdown
    relevance_reason: str
    staleness: StalenessLevel
    linked_pages: list[LinkedPage] | None = None


class SearchOutput(BaseModel):
    results: list[SearchResult]
    total_found: int
    search_type: Literal["hybrid", "fulltext_fallback"]
    warnings: list[str] | None = None


class Section(BaseModel):
    heading: str | None
    content: str


class PageLink(BaseModel):
    doc_id: str
    filepath: str
    title: str
    link_type: LinkType


class GetPageOutput(BaseModel):
    doc_id: str
    filepath: str
    title: str
    doc_type: DocType
    content: str = Field(description="全セクションを結合したテキスト")
    sections: list[Section]
    outlinks: list[PageLink]
    backlinks: list[PageLink]
    staleness: StalenessLevel
    stale_refs: list[str] = Field(description="変更または削除されたソースファイルのパス")
    updated_at: str
    stale_reasons: dict[str, Literal["modified", "deleted", "not_found"]] | None = Field(
        default=None, description="stale_refs の各パスの理由"
    )
    warnings: list[str] | None = None


class CenterPage(BaseModel):
    doc_id: str
    filepath: str
    title: str
    content: str


class RelatedPage(BaseModel):
    doc_id: str
    filepath: str
    title: str
    link_type: LinkType
    direction: Literal["outlink", "backlink"]
    summary: str = Field(description="本文の先頭500文字")
    depth: int


class GetContextOutput(BaseModel):
    center: CenterPage
    related: list[RelatedPage]
    total_size: int
    truncated_count: int = Field(description="max_size のために省いたドキュメントの数")


class FulltextResult(BaseModel):
    doc_id: str
    filepath: str
    title: str
    section_heading: str | None
    snippet: str = Field(description="一致箇所を <mark> で囲んだ64文字の抜粋")
    rank: int


class FulltextOutput(BaseModel):
    results: list[FulltextResult]
    total_found: int


class ListedPage(BaseModel):
    doc_id: str
    filepath: str
    title: str
    doc_type: DocType
    link_count: int
    updated_at: str


class ListOutput(BaseModel):
    pages: list[ListedPage]
    total: int


class GraphNode(BaseModel):
    id: str
    filepath: str
    title: str
    doc_type: DocType


class GraphEdge(BaseModel):
    source: str
    target: str
    type: LinkType


class GraphOutput(BaseModel):
    nodes: list[GraphNode]
    edges: list[GraphEdge]


INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603


def render_error(error: ShirubeError) -> dict[str, Any]:
    """JSON-RPC's error object: what the caller asked wrongly is −32602, everything else −32603."""
    failed = isinstance(error, Internal | Unavailable)
    data: dict[str, Any] = {"code": error.code, "message_ja": error.ja, **error.details}
    if error.hint:
        data["hint"] = error.hint
    code = INTERNAL_ERROR if failed else INVALID_PARAMS
    return {"error": {"code": code, "message": error.message, "data": data}}
