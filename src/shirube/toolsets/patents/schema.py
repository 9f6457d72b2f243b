"""Inputs and outputs of the patent tools, as their specification gives them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

LaneType = Literal["fulltext", "semantic", "original_dense"]
IdType = Literal["pub_id", "app_doc_id", "app_id", "exam_id"]
Category = Literal["A", "B", "C"]
DEFAULT_TOP_K, MOST_TOP_K = 500, 2000
FieldName = Literal["title", "abst", "claim", "desc"]
DEFAULT_BOOSTS: dict[FieldName, float] = {"title": 80.0, "abst": 10.0, "claim": 5.0, "desc": 1.0}
QUERY_LIMIT, TEXT_LIMIT = 2_000, 20_000
# So many bytes hold an empty answer and a first snippet of its numbers.
LEAST_BUDGET = 200


class _Input(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


Weight = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Query = Annotated[
    str,
    StringConstraints(max_length=QUERY_LIMIT),
    Field(description='Boolean query: AND OR NOT ( ) "句" 前方一致* *N10"語 語" *ONP5"語 語"'),
]
Text = Annotated[str, StringConstraints(max_length=TEXT_LIMIT), Field(description="探したい内容の文章")]
# Read by the service, so that one of any wrong shape has the code of the specification.
Filters = Annotated[
    Any,
    WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "null"}]}),
    Field(description="[{lop, field, op, value}, …]"),
]
Boosts = Annotated[dict[FieldName, Weight], Field(description="フィールド別重み")]
Scope = Annotated[
    str, Field(description="wide | title_abst_claims | claims_only | top_claim | background_jp")
]
# Checked by the service, so that a wrong one has the code of the specification.
TopK = Annotated[int, Field(description="取得上限 1〜2000（デフォルト500）")]
RunId = Annotated[str, StringConstraints(max_length=100)]
Shown = Annotated[int, Field(ge=1, le=MOST_TOP_K, description="ranked_docs の件数（続きは peek_snippets）")]
# A text with a limit is one that can be written down too: half of a character is refused with it.
Name = Annotated[str, StringConstraints(max_length=100)]
Weights = Annotated[dict[Name, Weight], Field(max_length=100)]
PiWeights = Annotated[
    dict[Name, Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]], Field(max_length=100)
]
Codes = Annotated[dict[Name, Weight], Field(max_length=1_000)]
Facets = Annotated[dict[Name, Annotated[list[Name], Field(max_length=100)]], Field(max_length=20)]
Fields = Annotated[list[FieldName], Field(max_length=20)]


class FulltextInput(_Input):
    query: Query
    filters: Filters = []
    top_k: TopK = DEFAULT_TOP_K
    field_boosts: Boosts | None = None
    sort: Annotated[str | None, Field(description="score（デフォルト）| date_desc | date_asc | pub_id")] = (
        None
    )


class SemanticInput(_Input):
    text: Text
    filters: Filters = []
    top_k: TopK = DEFAULT_TOP_K
    feature_scope: Scope = "wide"


class LaneConfig(_Input):
    lane_name: Annotated[str, StringConstraints(min_length=1, max_length=60)]
    query: Query | None = None
    text: Text | None = None
    filters: Filters = []
    top_k: TopK = DEFAULT_TOP_K
    field_boosts: Boosts | None = None
    feature_scope: Scope = "wide"
    sort: str | None = None


@dataclass(frozen=True)
class WrongLane:
    """A lane that is none; the others are searched all the same."""

    given: Any
    error: ValidationError


def _lane_or_error(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError as error:
        return WrongLane(value, error)


class MultilaneInput(_Input):
    lanes: Annotated[
        list[Annotated[LaneConfig, WrapValidator(_lane_or_error)]], Field(min_length=1, max_length=20)
    ]


class BlendRunInput(_Input):
    lane: LaneType
    run_id_lane: RunId
    weight: Weight = 1.0


class TargetProfile(_Input):
    fi: Codes = {}
    ft: Codes = {}


class BlendInput(_Input):
    runs: Annotated[list[BlendRunInput], Field(min_length=1, max_length=20)]
    target_profile: TargetProfile = TargetProfile()
    weights: Weights | None = None
    lane_weights: Weights | None = None
    pi_weights: PiWeights | None = None
    facet_terms: Facets | None = None
    facet_weights: Weights | None = None
    rrf_k: Annotated[float | None, Field(ge=0, le=1e6, allow_inf_nan=False)] = None
    beta_fuse: Annotated[float | None, Field(ge=0, le=1e6, allow_inf_nan=False)] = None
    limit: Shown = 100


class MutateDelta(_Input):
    weights: Weights | None = None
    lane_weights: Weights | None = None
    pi_weights: PiWeights | None = None
    rrf_k: Annotated[float | None, Field(ge=0, le=1e6, allow_inf_nan=False)] = None
    beta_fuse: Annotated[float | None, Field(ge=0, le=1e6, allow_inf_nan=False)] = None


class MutateInput(_Input):
    base_run_id: RunId
    mutate_delta: MutateDelta
    limit: Shown = 100


class ProvenanceInput(_Input):
    run_id: RunId


PerField = dict[FieldName, Annotated[int, Field(ge=0, le=100_000)]]


class PeekInput(_Input):
    run_id: RunId
    limit: Annotated[int | None, Field(ge=1, le=100)] = None
    fields: Fields | None = None
    budget_bytes: Annotated[int | None, Field(ge=LEAST_BUDGET, description="バイト数上限 200〜12,288")] = None
    per_field_chars: PerField | None = None
    offset: Annotated[int, Field(ge=0)] = 0


class SnippetsInput(_Input):
    ids: Annotated[list[Name], Field(min_length=1, max_length=100)]
    fields: Fields | None = None
    per_field_chars: PerField | None = None


class PublicationInput(_Input):
    id: Name
    id_type: IdType = "pub_id"
    fields: Fields | None = None
    per_field_chars: PerField | None = None


class RepresentativesInput(_Input):
    pub_ids: Annotated[list[Name], Field(min_length=1, max_length=30)]
    category: Category
    run_id: RunId | None = None


class HumanInput(_Input):
    query: Query
    filters: Filters = []
    top_k: TopK = 50


class HumanSemanticInput(_Input):
    text: Text
    filters: Filters = []
    top_k: TopK = 50


class RunHandle(BaseModel):
    run_id: str
    lane: str
    run_id_lane: str
    hit_count: int
    top_k: int
    meta: dict[str, Any]
    status: str = "ok"
    error: dict[str, Any] | None = None


class RunHandles(RootModel[list[RunHandle]]):
    """One for each lane, in their order."""


class RankedDoc(BaseModel):
    rank: int
    doc_id: str
    pub_id: str
    score: float
    rrf: float
    pi: float
    lanes: dict[str, int]


class StructuralMetrics(BaseModel):
    LAS: float
    CCW: float
    S_shape: float
    F_struct: float
    Fproxy: float


class FrontierPoint(BaseModel):
    k: int
    precision: float
    recall: float
    f1: float


class FusionResult(BaseModel):
    run_id: str
    total_docs: int
    ranked_docs: list[RankedDoc]
    metrics: StructuralMetrics
    params: dict[str, Any]
    frontier: list[FrontierPoint]


class CodeFreqs(BaseModel):
    fi: dict[str, int]
    ft: dict[str, int]


class Provenance(BaseModel):
    run_id: str
    code_freqs: CodeFreqs
    lane_contributions: dict[str, float] | None = None
    metrics: StructuralMetrics | None = None
    recipe: dict[str, Any]
    parent: str | None = None
    history: list[str] = []


class Snippet(BaseModel):
    rank: int | None = None
    doc_id: str
    pub_id: str
    app_id: str | None = None
    title: str | None = None
    abst: str | None = None
    claim: str | None = None
    desc: str | None = None
    score: float | None = None
    metadata: dict[str, Any] = {}
    highlights: Annotated[
        dict[str, list[list[int]]], Field(description="フィールドごとの、検索語の位置 [開始, 終了)")
    ] = {}


class Snippets(BaseModel):
    run_id: str
    snippets: list[Snippet]
    meta: dict[str, Any]


class GivenSnippets(BaseModel):
    snippets: list[Snippet]
    not_found: list[str]


class Publication(BaseModel):
    pub_id: str
    app_id: str | None
    title: str | None = None
    abst: str | None = None
    claim: str | None = None
    desc: str | None = None
    metadata: dict[str, Any]


class Registered(BaseModel):
    registered_count: int
    category: str
    not_found: list[str]


class Ids(RootModel[list[str]]):
    """Ids alone."""
