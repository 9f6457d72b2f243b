"""Inputs and outputs of the programme tools, as their specification gives them."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, StringConstraints

from shirube.errors import ShirubeError

QUERY_LIMIT = 500
MOST_IDS = 50
Tier = Literal["S", "A", "B", "C", "X"]
Number = int | float
Fields = Literal["minimal", "default", "full"]

MINIMAL = (
    *("unified_id", "primary_name", "tier", "prefecture", "authority_name", "amount_max_man_yen"),
    "official_url",
)


class _Input(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


def _folded_tiers(value: Any) -> Any:
    from shirube.text.normalize import fold

    if isinstance(value, list):
        return [fold(each).strip().upper() if isinstance(each, str) else each for each in value]
    return value


ShortText = Annotated[str, StringConstraints(max_length=QUERY_LIMIT)]
Values = Annotated[list[ShortText], Field(max_length=100)]
FieldsArgument = Annotated[Fields, Field(description='"minimal" / "default" / "full"。レスポンスサイズ切替')]


class SearchInput(_Input):
    q: Annotated[
        ShortText | None,
        Field(description="自由記述。空白区切りの語をすべて含むもの。2 文字の語（農業、融資、IT）も可"),
    ] = None
    tier: Annotated[
        list[Tier] | None, BeforeValidator(_folded_tiers), Field(description="S / A / B / C / X の OR 集合")
    ] = None
    prefecture: Annotated[
        ShortText | None, Field(description="都道府県名（完全一致。東京、Tokyo、13 も東京都と読みます）")
    ] = None
    authority_level: Annotated[
        ShortText | None,
        Field(
            description="national / prefecture / municipality / financial"
            "（日本語別名: 国 / 都道府県 / 市区町村 / 公庫）"
        ),
    ] = None
    funding_purpose: Annotated[Values | None, Field(description="資金用途のフィルタ（どれか）")] = None
    target_type: Annotated[Values | None, Field(description="対象者種別のフィルタ（どれか）")] = None
    amount_min_man_yen: Annotated[
        float | None, Field(ge=0, allow_inf_nan=False, description="助成上限の下限（万円）")
    ] = None
    amount_max_man_yen: Annotated[
        float | None, Field(ge=0, allow_inf_nan=False, description="助成上限の上限（万円）")
    ] = None
    include_excluded: Annotated[bool, Field(description="true で tier=X も含める")] = False
    limit: Annotated[int, Field(ge=1, le=100, description="1〜100")] = 20
    offset: Annotated[int, Field(ge=0, le=2**31, description="ページング")] = 0
    fields: FieldsArgument = "default"
    include_national: Annotated[bool, Field(description="true で prefecture に加えて全国の制度も含める")] = (
        False
    )
    open_on: Annotated[
        date | None, Field(strict=False, description="この日（YYYY-MM-DD）に申請できる制度だけ")
    ] = None
    deadline_within_days: Annotated[
        int | None, Field(ge=0, le=3660, description="締切がこの日数以内の制度だけ")
    ] = None


class GetInput(_Input):
    unified_id: Annotated[
        ShortText, Field(description="制度の一意 ID（search_programs の結果や他ツールで返る）")
    ]
    fields: FieldsArgument = "default"


class BatchInput(_Input):
    unified_ids: Annotated[
        list[ShortText],
        Field(
            description="1〜50 件の制度 ID。重複は最初の出現順で一意化",
            json_schema_extra={"minItems": 1, "maxItems": MOST_IDS},
        ),
    ]


class RulesInput(_Input):
    program_id: Annotated[
        ShortText | None, Field(description="この制度（ID・名称・別名）が関わるルールだけ")
    ] = None
    kind: Annotated[ShortText | None, Field(description="この種類のルールだけ")] = None


class CheckInput(_Input):
    program_ids: Annotated[
        list[ShortText],
        Field(
            description="制度 ID の配列（unified_id または農業 canonical 名。名称・別名も可）",
            json_schema_extra={"minItems": 1, "maxItems": MOST_IDS},
        ),
    ]


class MetaInput(_Input):
    pass


class ApplicationWindow(BaseModel):
    start_date: str | None
    end_date: str | None
    cycle: str | None


class SourceMention(BaseModel):
    model_config = ConfigDict(extra="allow")

    url: str
    fetched_at: str | None


class Program(BaseModel):
    """A programme; which keys are there depends on `fields`."""

    unified_id: str
    primary_name: str
    aliases: list[str] = []
    tier: str | None
    authority_level: str | None = None
    authority_name: str | None
    prefecture: Annotated[str | None, Field(description="null は全国または不明")]
    prefectures: list[str] = []
    municipality: str | None = None
    program_kind: str | None = None
    amount_min_man_yen: Number | None = None
    amount_max_man_yen: Number | None
    subsidy_rate: float | None = None
    funding_purpose: list[str] = []
    target_types: list[str] = []
    application_window: ApplicationWindow | None = None
    official_url: str | None
    trust_level: str | Number | None = None
    excluded: bool = False
    exclusion_reason: str | None = None
    enriched: dict[str, Any] | None = None
    source_mentions: list[SourceMention] = []
    source_url: str | None = None
    source_fetched_at: str | None = None
    source_checksum: str | None = None


class SearchOutput(BaseModel):
    total: int
    limit: int
    offset: int
    results: list[Program]
    hint: Annotated[str, Field(description="0 件のとき、どの条件を外すと何件あるか")] = ""


class BatchOutput(BaseModel):
    results: list[Program]
    not_found: list[str]


class Rule(BaseModel):
    rule_id: str
    kind: str
    severity: str | None
    program_a: str | None
    program_b: str | None
    program_b_group: list[str]
    description: str
    source_notes: str | None
    source_urls: list[str]
    extra: dict[str, Any]


class RulesOutput(RootModel[list[Rule]]):
    """A bare list, as the specification gives it."""


class Hit(BaseModel):
    rule_id: str
    kind: str
    severity: str | None
    programs_involved: list[str]
    description: str
    source_urls: list[str]
    source_notes: str | None = None
    missing: Annotated[list[str], Field(description="前提なのに含まれていない制度（どれか 1 つが必要）")] = []
    extra: Annotated[dict[str, Any], Field(description="減額後の上限など、ルールが持つその他の情報")] = {}


class CheckOutput(BaseModel):
    program_ids: list[str]
    hits: list[Hit]
    checked_rules: int
    compatible: Annotated[list[Hit], Field(description="併用できると確認されている組")]
    unknown_programs: Annotated[list[str], Field(description="制度にもルールにも見当たらない ID")]
    note: str


class MetaOutput(BaseModel):
    total_programs: int
    tier_counts: dict[str, int]
    prefecture_counts: dict[str, int]
    exclusion_rules_count: int
    last_ingested_at: str | None
    data_as_of: str | None


def render_error(error: ShirubeError) -> dict[str, Any]:
    """The text of the specified exception under `error`, and what to do next."""
    body = {"error": error.message, "code": error.code, "message_ja": error.ja}
    return {**body, "hint": error.hint} if error.hint else body
