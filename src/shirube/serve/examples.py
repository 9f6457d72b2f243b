"""An example of every operation, for the OpenAPI document; each is one the operation takes."""

from collections.abc import Mapping
from typing import Any

_BASE = "2f1c8f0e-3a43-4c8e-9d0e-6f6b1c0f2a11"
_LANES = [
    {"lane_name": "fulltext_recall", "query": "(顔認証 OR 顔識別) AND (遮蔽 OR マスク)"},
    {"lane_name": "semantic", "text": "マスクで顔の一部が隠れていても本人を認証する"},
]

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "list_knowledge_bases": {},
    "search_documents": {
        "query": "リモートワーク手当の金額は？",
        "knowledge_base_id": _BASE,
        "max_results": 5,
    },
    "get_knowledge_base_summary": {"knowledge_base_id": _BASE},
    "normalize_ocr_text": {"text": "マネ-ジャ-はサ-バ-を確認する"},
    "rrf_search_fulltext_raw": {"query": '顔認証 AND *N10"マスク 遮蔽"', "top_k": 500},
    "rrf_search_semantic_raw": {"text": "マスクで顔の一部が隠れていても本人を認証する"},
    "run_multilane_search": {"lanes": _LANES},
    "rrf_blend_frontier": {
        "runs": [
            {"lane": "fulltext", "run_id_lane": "fulltext-0123456789ab"},
            {"lane": "semantic", "run_id_lane": "semantic-0123456789ab", "weight": 0.8},
        ],
        "target_profile": {"fi": {"G06V10/82": 1.0}},
    },
    "rrf_mutate_run": {"base_run_id": "fusion-0123456789ab", "mutate_delta": {"beta_fuse": 0.8}},
    "get_provenance": {"run_id": "fusion-0123456789ab"},
    "peek_snippets": {"run_id": "fusion-0123456789ab", "limit": 10},
    "get_snippets": {"ids": ["特開2023-123456"]},
    "get_publication": {"id": "特開2023-123456"},
    "register_representatives": {"pub_ids": ["特開2023-123456"], "category": "A"},
    "search_fulltext": {"query": "顔認証"},
    "search_semantic": {"text": "マスクを着けた人の顔認証"},
    "search_programs": {"q": "農業 融資", "prefecture": "青森", "limit": 10},
    "get_program": {"unified_id": "UNI-000123"},
    "batch_get_programs": {"unified_ids": ["UNI-000123", "UNI-000456"]},
    "list_exclusion_rules": {"kind": "exclude"},
    "check_exclusions": {"program_ids": ["経営開始資金", "雇用就農資金"]},
    "get_meta": {},
    "kb_answer": {"query": "リモートワーク手当はいくらですか", "max_results": 4},
    "ubp_search": {"query": "残業時間はどう計算する？", "limit": 5},
    "ubp_get_page": {"filepath": "design/overtime.md"},
    "ubp_get_context": {"filepath": "design/overtime.md", "depth": 1},
    "ubp_fulltext_search": {"query": "残業"},
    "ubp_list_pages": {"sort": "title"},
    "ubp_get_graph": {"center": "design/overtime.md"},
    "search_hybrid": {"query": "副業の申請方法", "kb_id": _BASE, "top_k": 5},
    "list_tools": {},
    "call_tool": {"name": "list_knowledge_bases", "arguments": {}},
}
