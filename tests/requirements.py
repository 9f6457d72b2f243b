"""Every testable statement of the five seed specifications, each with the tests that show it.

`tests` holds pytest node ids (`tests/folder/test_file.py::test_name`, or `::TestClass::test_name`), without
parameters. A requirement without tests is not shown yet; `test_requirements.py` checks that they exist.
"""

from dataclasses import dataclass

SEEDS = {
    "000": "knowledge",
    "001": "patents",
    "002": "programs",
    "003": "answers",
    "004": "pages",
}


@dataclass(frozen=True)
class Requirement:
    """`id` is stable once given; the first letter is the toolset (K, P, G, A, D)."""

    id: str
    seed: str
    statement: str
    tests: tuple[str, ...] = ()


KNOWLEDGE = (
    Requirement(
        "K-tools-published",
        "000",
        "The server publishes the three tools search_documents, get_knowledge_base_summary and "
        "normalize_ocr_text.",
        tests=("tests/serve/test_mcp.py::test_tools_are_listed_with_schemas_and_annotations",),
    ),
    Requirement(
        "K-tools-callable-over-mcp",
        "000",
        "Each of the three tools can be called by Claude Desktop and any other MCP client.",
        tests=("tests/serve/test_mcp.py::test_each_tool_of_the_specification_can_be_called",),
    ),
    Requirement(
        "K-search-time",
        "000",
        "search_documents answers in about 2.7 seconds or less.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_a_search_takes_far_less_than_the_specified_time",
        ),
    ),
    Requirement(
        "K-summary-time",
        "000",
        "get_knowledge_base_summary answers in about 50 milliseconds or less.",
        tests=(
            "tests/toolsets/knowledge/test_summary.py::test_a_summary_takes_less_than_the_specified_time",
        ),
    ),
    Requirement(
        "K-ocr-time",
        "000",
        "normalize_ocr_text answers in about 500 milliseconds or less.",
        tests=(
            "tests/toolsets/knowledge/test_ocr.py::test_the_longest_text_takes_less_than_the_specified_time",
        ),
    ),
    Requirement(
        "K-search-input-object",
        "000",
        "The input schema of search_documents is an object with the properties query, "
        "knowledge_base_id, threshold and max_results.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",
            "tests/toolsets/knowledge/test_schema.py::test_search_adds_only_what_may_be_left_out",
        ),
    ),
    Requirement(
        "K-search-required",
        "000",
        "search_documents requires query and knowledge_base_id and nothing else.",
        tests=("tests/toolsets/knowledge/test_schema.py::test_search_adds_only_what_may_be_left_out",),
    ),
    Requirement(
        "K-search-query-type",
        "000",
        "The search_documents parameter query is a string described as 検索クエリ（日本語・英語対応）.",
        tests=("tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",),
    ),
    Requirement(
        "K-search-query-japanese",
        "000",
        "search_documents finds passages for a query in Japanese.",
        tests=("tests/toolsets/knowledge/test_search.py::test_a_query_in_japanese_finds_its_document",),
    ),
    Requirement(
        "K-search-query-english",
        "000",
        "search_documents finds passages for a query in English.",
        tests=("tests/toolsets/knowledge/test_search.py::test_a_query_in_english_finds_its_document",),
    ),
    Requirement(
        "K-search-kb-id-type",
        "000",
        "The search_documents parameter knowledge_base_id is a string of format uuid described as "
        "対象ナレッジベースのUUID.",
        tests=("tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",),
    ),
    Requirement(
        "K-search-threshold-type",
        "000",
        "The search_documents parameter threshold is a number described as 類似度閾値（0.0〜1.0、推奨: "
        "0.6〜0.8）.",
        tests=("tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",),
    ),
    Requirement(
        "K-search-threshold-minimum",
        "000",
        "The lowest threshold search_documents accepts is 0.0.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",
            "tests/toolsets/knowledge/test_search.py::test_both_ends_of_the_threshold_are_accepted",
            "tests/toolsets/knowledge/test_search.py::test_a_threshold_outside_0_and_1_is_the_specified_error",
        ),
    ),
    Requirement(
        "K-search-threshold-maximum",
        "000",
        "The highest threshold search_documents accepts is 1.0.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",
            "tests/toolsets/knowledge/test_search.py::test_both_ends_of_the_threshold_are_accepted",
            "tests/toolsets/knowledge/test_search.py::test_a_threshold_outside_0_and_1_is_the_specified_error",
        ),
    ),
    Requirement(
        "K-search-threshold-default",
        "000",
        "search_documents uses the threshold 0.6 when none is given.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",
            "tests/toolsets/knowledge/test_search.py::test_the_default_threshold_is_0_6",
        ),
    ),
    Requirement(
        "K-search-threshold-cuts",
        "000",
        "search_documents returns no result whose score is below the threshold.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_a_higher_threshold_only_takes_away_from_the_end",
            "tests/toolsets/knowledge/test_search.py::test_a_result_is_not_shown_below_the_threshold_by_rounding",
        ),
    ),
    Requirement(
        "K-search-max-results-type",
        "000",
        "The search_documents parameter max_results is an integer described as 最大返却件数（1〜50）.",
        tests=("tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",),
    ),
    Requirement(
        "K-search-max-results-minimum",
        "000",
        "The lowest max_results search_documents accepts is 1.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",
            "tests/toolsets/knowledge/test_search.py::test_every_recommended_size_is_accepted_and_never_exceeded",
            "tests/toolsets/knowledge/test_search.py::test_a_size_that_is_no_number_from_1_is_a_typed_error",
        ),
    ),
    Requirement(
        "K-search-max-results-maximum",
        "000",
        "The highest max_results search_documents accepts is 50.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",
            "tests/toolsets/knowledge/test_search.py::test_every_recommended_size_is_accepted_and_never_exceeded",
            "tests/toolsets/knowledge/test_search.py::test_more_than_50_results_is_the_specified_error",
        ),
    ),
    Requirement(
        "K-search-max-results-default",
        "000",
        "search_documents returns at most 10 results when max_results is not given.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_search_takes_the_specified_parameters",
            "tests/toolsets/knowledge/test_search.py::test_ten_results_are_the_default",
        ),
    ),
    Requirement(
        "K-search-max-results-cuts",
        "000",
        "search_documents never returns more than max_results results.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_every_recommended_size_is_accepted_and_never_exceeded",
        ),
    ),
    Requirement(
        "K-search-example",
        "000",
        "The documented request マイナビのアルムナイサービスについて教えて with threshold 0.7 and "
        "max_results 5 is answered in the documented shape.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_the_documented_request_is_answered_in_the_documented_shape",
        ),
    ),
    Requirement(
        "K-search-response-query",
        "000",
        "The search_documents response repeats the query under query.",
        tests=("tests/toolsets/knowledge/test_search.py::test_the_response_repeats_what_was_asked",),
    ),
    Requirement(
        "K-search-response-kb-id",
        "000",
        "The search_documents response repeats the knowledge base under knowledge_base_id.",
        tests=("tests/toolsets/knowledge/test_search.py::test_the_response_repeats_what_was_asked",),
    ),
    Requirement(
        "K-search-response-threshold",
        "000",
        "The search_documents response carries the threshold that was applied under threshold.",
        tests=("tests/toolsets/knowledge/test_search.py::test_the_response_repeats_what_was_asked",),
    ),
    Requirement(
        "K-search-response-results",
        "000",
        "The search_documents response lists the found passages under results.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_the_documented_request_is_answered_in_the_documented_shape",
            "tests/toolsets/knowledge/test_search.py::test_the_response_repeats_what_was_asked",
        ),
    ),
    Requirement(
        "K-search-response-count",
        "000",
        "The search_documents response carries under count the number of entries in results.",
        tests=("tests/toolsets/knowledge/test_search.py::test_the_response_repeats_what_was_asked",),
    ),
    Requirement(
        "K-search-result-content",
        "000",
        "Each search_documents result carries the text of its passage under content.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_the_documented_request_is_answered_in_the_documented_shape",
            "tests/toolsets/knowledge/test_search.py::test_every_result_names_where_it_is_from",
        ),
    ),
    Requirement(
        "K-search-result-score",
        "000",
        "Each search_documents result carries its final score between 0 and 1 under score.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_scores_are_within_0_and_1_and_in_falling_order",
        ),
    ),
    Requirement(
        "K-search-result-order",
        "000",
        "The search_documents results are in falling order of score.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_scores_are_within_0_and_1_and_in_falling_order",
        ),
    ),
    Requirement(
        "K-search-result-metadata",
        "000",
        "Each search_documents result carries an object under metadata.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_the_documented_request_is_answered_in_the_documented_shape",
        ),
    ),
    Requirement(
        "K-search-metadata-chunk-id",
        "000",
        "The metadata of a search_documents result names its passage under chunk_id.",
        tests=("tests/toolsets/knowledge/test_search.py::test_every_result_names_where_it_is_from",),
    ),
    Requirement(
        "K-search-metadata-document-id",
        "000",
        "The metadata of a search_documents result names its document under document_id.",
        tests=("tests/toolsets/knowledge/test_search.py::test_every_result_names_where_it_is_from",),
    ),
    Requirement(
        "K-search-metadata-chunk-index",
        "000",
        "The metadata of a search_documents result gives the passage's place in its document as an "
        "integer under chunk_index.",
        tests=("tests/toolsets/knowledge/test_search.py::test_every_result_names_where_it_is_from",),
    ),
    Requirement(
        "K-search-metadata-collection-id",
        "000",
        "The metadata of a search_documents result names its collection under collection_id.",
        tests=("tests/toolsets/knowledge/test_search.py::test_every_result_names_where_it_is_from",),
    ),
    Requirement(
        "K-search-metadata-sparse-score",
        "000",
        "The metadata of a search_documents result carries the full-text score of stage 3A under "
        "sparse_score.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_the_documented_request_is_answered_in_the_documented_shape",
            "tests/toolsets/knowledge/test_search.py::test_scores_are_within_0_and_1_and_in_falling_order",
        ),
    ),
    Requirement(
        "K-search-metadata-dense-score",
        "000",
        "The metadata of a search_documents result carries the vector score of stage 3B under dense_score.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_with_vectors_every_stage_gives_its_score",
            "tests/toolsets/knowledge/test_search.py::test_meaning_is_found_across_languages_with_vectors",
        ),
    ),
    Requirement(
        "K-search-metadata-rrf-score",
        "000",
        "The metadata of a search_documents result carries the merged score of stage 4 under rrf_score.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_the_documented_request_is_answered_in_the_documented_shape",
            "tests/toolsets/knowledge/test_search.py::test_scores_are_within_0_and_1_and_in_falling_order",
        ),
    ),
    Requirement(
        "K-search-metadata-bm25-score",
        "000",
        "The metadata of a search_documents result carries the re-ranking score of stage 5 under bm25_score.",
        tests=("tests/toolsets/knowledge/test_search.py::test_with_vectors_every_stage_gives_its_score",),
    ),
    Requirement(
        "K-search-metadata-cross-encoder-score",
        "000",
        "The metadata of a search_documents result carries the score of stage 6 under cross_encoder_score.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_the_documented_request_is_answered_in_the_documented_shape",
            "tests/toolsets/knowledge/test_search.py::test_scores_are_within_0_and_1_and_in_falling_order",
        ),
    ),
    Requirement(
        "K-search-metadata-score-range",
        "000",
        "The stage scores in the metadata of a search_documents result lie between 0 and 1 as in the "
        "example.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_scores_are_within_0_and_1_and_in_falling_order",
            "tests/toolsets/knowledge/test_search.py::test_with_vectors_every_stage_gives_its_score",
        ),
    ),
    Requirement(
        "K-search-final-order-by-cross-encoder",
        "000",
        "The final score of a search_documents result ranks results as the cross-encoder of the last "
        "stage does.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_scores_are_within_0_and_1_and_in_falling_order",
        ),
    ),
    Requirement(
        "K-hybrid-endpoint",
        "000",
        "POST /admin/search/hybrid runs the same search over HTTP.",
        tests=(
            "tests/toolsets/knowledge/test_original.py::test_the_hybrid_search_is_the_search_of_the_tool",
        ),
    ),
    Requirement(
        "K-hybrid-payload",
        "000",
        "The body of POST /admin/search/hybrid takes query, kb_id, threshold and top_k.",
        tests=(
            "tests/toolsets/knowledge/test_original.py::test_the_hybrid_search_is_the_search_of_the_tool",
            "tests/toolsets/knowledge/test_original.py::test_what_is_wrong_is_named_as_it_was_asked",
        ),
    ),
    Requirement(
        "K-hybrid-authorization",
        "000",
        "POST /admin/search/hybrid is called with a JWT in the Authorization header.",
        tests=(
            "tests/serve/test_tokens.py::test_the_original_search_service_takes_the_token_of_its_clients",
        ),
    ),
    Requirement(
        "K-stage-order",
        "000",
        "The search stages run in the order Atlas, metadata, sparse and dense, RRF, BM25 re-ranker, "
        "Cross-Encoder re-ranker.",
        tests=("tests/toolsets/knowledge/test_atlas.py::test_all_stages_are_explained_in_their_order",),
    ),
    Requirement(
        "K-stage-1-atlas",
        "000",
        "Stage 1 narrows the search with the vectors of the knowledge base summaries.",
        tests=(
            "tests/toolsets/knowledge/test_atlas.py::test_vectors_are_searched_in_the_chosen_collections_alone",
            "tests/toolsets/knowledge/test_atlas.py::test_only_near_collections_are_searched",
        ),
    ),
    Requirement(
        "K-stage-2-tenant",
        "000",
        "Stage 2 leaves only passages of the caller's tenant.",
        tests=(
            "tests/toolsets/knowledge/test_access.py::test_an_unknown_base_and_another_tenants_are_the_same_404",
            "tests/toolsets/knowledge/test_access.py::test_a_public_base_is_open_to_its_tenant_and_to_nobody_else",
        ),
    ),
    Requirement(
        "K-stage-2-department",
        "000",
        "Stage 2 leaves only passages whose department the caller may read.",
        tests=(
            "tests/toolsets/knowledge/test_access.py::test_a_search_finds_only_the_callers_departments_and_what_is_for_all",
        ),
    ),
    Requirement(
        "K-stage-2-clearance",
        "000",
        "Stage 2 leaves only passages within the caller's clearance.",
        tests=(
            "tests/toolsets/knowledge/test_access.py::test_a_search_finds_nothing_above_the_callers_clearance",
            "tests/toolsets/knowledge/test_access.py::test_what_is_hidden_does_not_use_up_the_lanes",
        ),
    ),
    Requirement(
        "K-stage-3a-sparse",
        "000",
        "Stage 3A is a BM25 full-text search that yields at most 500 passages.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_each_lane_gives_500_and_the_fusion_keeps_600",
            "tests/index/embedded/test_text.py::test_words_are_scored_by_bm25",
        ),
    ),
    Requirement(
        "K-stage-3b-dense",
        "000",
        "Stage 3B is an HNSW vector search that yields at most 500 passages.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_each_lane_gives_500_and_the_fusion_keeps_600",
            "tests/index/embedded/test_vectors.py::test_the_graph_finds_nine_of_ten_of_what_the_scan_finds",
        ),
    ),
    Requirement(
        "K-stage-4-rrf",
        "000",
        "Stage 4 merges the sparse and the dense list by RRF and keeps about 600 passages.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_each_lane_gives_500_and_the_fusion_keeps_600",
            "tests/retrieval/test_pipeline.py::test_the_fused_order_is_the_fusion_of_both_lanes",
        ),
    ),
    Requirement(
        "K-stage-5-bm25",
        "000",
        "Stage 5 re-ranks the merged passages by BM25 and keeps at most 100.",
        tests=(
            "tests/retrieval/test_pipeline.py::test_bm25_among_the_candidates_counts_beside_the_fusion",
            "tests/toolsets/knowledge/test_search.py::test_each_lane_gives_500_and_the_fusion_keeps_600",
        ),
    ),
    Requirement(
        "K-stage-6-cross-encoder",
        "000",
        "Stage 6 re-ranks with a Cross-Encoder and keeps 10 passages by default.",
        tests=("tests/toolsets/knowledge/test_search.py::test_the_last_stage_keeps_ten_by_default",),
    ),
    Requirement(
        "K-search-use-specific",
        "000",
        "The query リモートワーク手当の金額は？ returns the passage that states the amount.",
        tests=("tests/toolsets/knowledge/test_search.py::test_an_amount_is_found_by_asking_for_it",),
    ),
    Requirement(
        "K-search-use-concept",
        "000",
        "The query 社員教育について returns passages on 研修制度, キャリアパス and スキル開発.",
        tests=("tests/toolsets/knowledge/test_search.py::test_a_concept_is_found_in_what_belongs_to_it",),
    ),
    Requirement(
        "K-search-use-several-words",
        "000",
        "The query 副業 許可 条件 returns passages on side-job rules, how to apply and what is approved.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_several_words_find_the_rules_the_application_and_the_approval",
        ),
    ),
    Requirement(
        "K-threshold-guide-wide",
        "000",
        "A threshold of 0.5 to 0.6 is for wide search, with medium precision and high recall.",
        tests=("tests/test_docs.py::test_the_wide_range_has_the_highest_recall",),
    ),
    Requirement(
        "K-threshold-guide-balanced",
        "000",
        "A threshold of 0.6 to 0.7 is the recommended balance, with high precision and medium recall.",
        tests=("tests/test_docs.py::test_the_balanced_range_is_more_precise_and_finds_less",),
    ),
    Requirement(
        "K-threshold-guide-precise",
        "000",
        "A threshold of 0.7 to 0.8 is for precise search, with the highest precision and low recall.",
        tests=("tests/test_docs.py::test_the_precise_range_is_more_precise_still",),
    ),
    Requirement(
        "K-threshold-guide-strict",
        "000",
        "A threshold of 0.8 to 1.0 is for strict search, with the highest precision and the lowest recall.",
        tests=("tests/test_docs.py::test_the_strict_range_has_the_highest_precision_and_the_lowest_recall",),
    ),
    Requirement(
        "K-threshold-raise-narrows",
        "000",
        "Raising the threshold never adds a result to search_documents.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_a_higher_threshold_only_takes_away_from_the_end",
        ),
    ),
    Requirement(
        "K-threshold-lower-widens",
        "000",
        "Lowering the threshold to 0.5 never removes a result that a higher threshold gave while "
        "max_results leaves room.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_a_higher_threshold_only_takes_away_from_the_end",
        ),
    ),
    Requirement(
        "K-max-results-uses",
        "000",
        "search_documents takes the recommended sizes 3 to 5 for a preview, 10 for an LLM answer and "
        "20 to 50 for a list to examine.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_every_recommended_size_is_accepted_and_never_exceeded",
        ),
    ),
    Requirement(
        "K-query-advice",
        "000",
        "The documented queries 副業の申請方法は？, 副業について and 副業 are all accepted.",
        tests=("tests/toolsets/knowledge/test_search.py::test_questions_and_keywords_are_all_accepted",),
    ),
    Requirement(
        "K-summary-input-object",
        "000",
        "The input schema of get_knowledge_base_summary is an object whose only property is "
        "knowledge_base_id.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_summary_takes_the_knowledge_base_and_nothing_else",
        ),
    ),
    Requirement(
        "K-summary-kb-id-type",
        "000",
        "The get_knowledge_base_summary parameter knowledge_base_id is a string of format uuid "
        "described as 対象ナレッジベースのUUID.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_summary_takes_the_knowledge_base_and_nothing_else",
        ),
    ),
    Requirement(
        "K-summary-kb-id-required",
        "000",
        "get_knowledge_base_summary requires knowledge_base_id.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_summary_takes_the_knowledge_base_and_nothing_else",
        ),
    ),
    Requirement(
        "K-summary-example",
        "000",
        "The documented get_knowledge_base_summary request is answered in the documented shape.",
        tests=("tests/toolsets/knowledge/test_summary.py::test_the_summary_has_the_documented_shape",),
    ),
    Requirement(
        "K-summary-response-kb-id",
        "000",
        "The get_knowledge_base_summary response repeats the knowledge base under knowledge_base_id.",
        tests=("tests/toolsets/knowledge/test_summary.py::test_the_summary_has_the_documented_shape",),
    ),
    Requirement(
        "K-summary-response-summary",
        "000",
        "The get_knowledge_base_summary response joins name and description as in "
        "マイナビサービス概要: マイナビが提供する各種サービスの説明資料 under summary.",
        tests=("tests/toolsets/knowledge/test_summary.py::test_the_summary_has_the_documented_shape",),
    ),
    Requirement(
        "K-summary-response-statistics",
        "000",
        "The get_knowledge_base_summary response carries an object under statistics.",
        tests=("tests/toolsets/knowledge/test_summary.py::test_the_summary_has_the_documented_shape",),
    ),
    Requirement(
        "K-summary-total-documents",
        "000",
        "The summary statistics carry the number of distinct documents under total_documents.",
        tests=(
            "tests/toolsets/knowledge/test_summary.py::test_documents_collections_and_chunks_are_each_counted_once",
        ),
    ),
    Requirement(
        "K-summary-total-collections",
        "000",
        "The summary statistics carry the number of distinct collections under total_collections.",
        tests=(
            "tests/toolsets/knowledge/test_summary.py::test_documents_collections_and_chunks_are_each_counted_once",
        ),
    ),
    Requirement(
        "K-summary-total-chunks",
        "000",
        "The summary statistics carry the sum of the documents' chunk counts under total_chunks.",
        tests=(
            "tests/toolsets/knowledge/test_summary.py::test_documents_collections_and_chunks_are_each_counted_once",
        ),
    ),
    Requirement(
        "K-summary-total-chunks-zero",
        "000",
        "The summary statistics give total_chunks 0 rather than null where there are no documents.",
        tests=(
            "tests/toolsets/knowledge/test_summary.py::test_a_base_without_collections_is_a_success_with_warnings",
        ),
    ),
    Requirement(
        "K-summary-empty-collection-counted",
        "000",
        "A collection without documents still counts in total_collections.",
        tests=(
            "tests/toolsets/knowledge/test_summary.py::test_an_empty_collection_counts_and_only_the_documents_are_missed",
        ),
    ),
    Requirement(
        "K-summary-generated-at",
        "000",
        "The get_knowledge_base_summary response carries an ISO 8601 UTC time with microseconds and Z "
        "under generated_at.",
        tests=("tests/toolsets/knowledge/test_summary.py::test_the_time_is_utc_with_microseconds",),
    ),
    Requirement(
        "K-summary-from-sql",
        "000",
        "get_knowledge_base_summary takes its figures from one SQL statement and does not search.",
        tests=(
            "tests/toolsets/knowledge/test_summary.py::test_the_figures_come_from_one_statement",
            "tests/toolsets/knowledge/test_summary.py::test_a_summary_needs_no_index",
        ),
    ),
    Requirement(
        "K-summary-use-overview",
        "000",
        "The question このナレッジベースについて教えて leads to a summary with the numbers of "
        "documents, collections and chunks.",
        tests=(
            "tests/toolsets/knowledge/test_chat.py::test_a_question_about_the_base_is_answered_by_its_counts",
        ),
    ),
    Requirement(
        "K-summary-use-count",
        "000",
        "The question このKBにはいくつのドキュメントがありますか？ is answered from total_documents.",
        tests=(
            "tests/toolsets/knowledge/test_chat.py::test_a_question_about_the_base_is_answered_by_its_counts",
        ),
    ),
    Requirement(
        "K-ocr-input-object",
        "000",
        "The input schema of normalize_ocr_text is an object with the property text.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_normalising_takes_a_text_and_adds_only_what_may_be_left_out",
        ),
    ),
    Requirement(
        "K-ocr-text-type",
        "000",
        "The normalize_ocr_text parameter text is a string described as 正規化対象のOCRテキスト.",
        tests=(
            "tests/toolsets/knowledge/test_schema.py::test_normalising_takes_a_text_and_adds_only_what_may_be_left_out",
        ),
    ),
    Requirement(
        "K-ocr-text-required",
        "000",
        "normalize_ocr_text requires text.",
        tests=(
            "tests/toolsets/knowledge/test_ocr.py::test_a_call_without_a_text_or_with_something_else_is_refused",
        ),
    ),
    Requirement(
        "K-ocr-example",
        "000",
        "normalize_ocr_text turns マイナビキャリ-では、キャリアコンサルティングを提供しています。 into "
        "マイナビキャリアでは、キャリアコンサルティングを提供しています。",
        tests=("tests/toolsets/knowledge/test_ocr.py::test_the_examples_of_the_specification_hold",),
    ),
    Requirement(
        "K-ocr-response-original",
        "000",
        "The normalize_ocr_text response repeats the input unchanged under original_text.",
        tests=("tests/toolsets/knowledge/test_ocr.py::test_the_examples_of_the_specification_hold",),
    ),
    Requirement(
        "K-ocr-response-normalized",
        "000",
        "The normalize_ocr_text response carries the corrected text under normalized_text.",
        tests=("tests/toolsets/knowledge/test_ocr.py::test_the_examples_of_the_specification_hold",),
    ),
    Requirement(
        "K-ocr-response-status",
        "000",
        "The normalize_ocr_text response carries success under status.",
        tests=("tests/toolsets/knowledge/test_ocr.py::test_the_examples_of_the_specification_hold",),
    ),
    Requirement(
        "K-ocr-manager",
        "000",
        "normalize_ocr_text turns マネ-ジャ- into マネージャー.",
        tests=("tests/toolsets/knowledge/test_ocr.py::test_the_examples_of_the_specification_hold",),
    ),
    Requirement(
        "K-ocr-user",
        "000",
        "normalize_ocr_text turns ユ-ザ- into ユーザー.",
        tests=("tests/toolsets/knowledge/test_ocr.py::test_the_examples_of_the_specification_hold",),
    ),
    Requirement(
        "K-ocr-self-service",
        "000",
        "normalize_ocr_text leaves self-service as it is.",
        tests=("tests/toolsets/knowledge/test_ocr.py::test_the_examples_of_the_specification_hold",),
    ),
    Requirement(
        "K-ocr-email",
        "000",
        "normalize_ocr_text leaves e-mail as it is.",
        tests=("tests/toolsets/knowledge/test_ocr.py::test_the_examples_of_the_specification_hold",),
    ),
    Requirement(
        "K-ocr-mixed",
        "000",
        "normalize_ocr_text turns サ-ビス（service）のガイドライン into サービス（service）のガイドライン.",
        tests=("tests/toolsets/knowledge/test_ocr.py::test_the_examples_of_the_specification_hold",),
    ),
    Requirement(
        "K-ocr-context",
        "000",
        "normalize_ocr_text judges each hyphen by the characters before and after it.",
        tests=("tests/text/test_ocr.py::test_the_same_sign_is_judged_by_what_stands_around_it",),
    ),
    Requirement(
        "K-ocr-symbol-hyphen",
        "000",
        "normalize_ocr_text leaves a hyphen that is a plain symbol as it is.",
        tests=("tests/text/test_ocr.py::test_what_is_a_sign_stays",),
    ),
    Requirement(
        "K-ocr-english-hyphen",
        "000",
        "normalize_ocr_text leaves hyphens inside English words as they are.",
        tests=("tests/text/test_ocr.py::test_what_is_a_sign_stays",),
    ),
    Requirement(
        "K-ocr-llm-prompt",
        "000",
        "An LLM asked to normalise is told to turn hyphens into 長音符（ー） by context and to leave "
        "hyphens that are mere symbols.",
        tests=(
            "tests/toolsets/knowledge/test_ocr_llm.py::test_the_model_is_told_to_judge_by_context_and_to_leave_mere_symbols",
        ),
    ),
    Requirement(
        "K-choice-prompt",
        "000",
        "The LLM that chooses a tool gets the user query and the three tools with their purposes and "
        "returns JSON with tool_name and arguments.",
        tests=(
            "tests/toolsets/knowledge/test_chat_llm.py::test_the_choosing_model_gets_the_message_and_the_three_tools_with_their_schemas",
            "tests/toolsets/knowledge/test_chat_llm.py::test_the_model_chooses_and_answers",
        ),
    ),
    Requirement(
        "K-choice-allowance",
        "000",
        "The query リモートワーク手当は？ leads to search_documents.",
        tests=("tests/toolsets/knowledge/test_choice.py::test_every_row_of_the_specification_is_right",),
    ),
    Requirement(
        "K-choice-about-kb",
        "000",
        "The query このKBについて leads to get_knowledge_base_summary.",
        tests=("tests/toolsets/knowledge/test_choice.py::test_every_row_of_the_specification_is_right",),
    ),
    Requirement(
        "K-choice-rules",
        "000",
        "The query 副業の規定を教えて leads to search_documents.",
        tests=("tests/toolsets/knowledge/test_choice.py::test_every_row_of_the_specification_is_right",),
    ),
    Requirement(
        "K-choice-document-count",
        "000",
        "The query このKBには何件のドキュメントがある？ leads to get_knowledge_base_summary.",
        tests=("tests/toolsets/knowledge/test_choice.py::test_every_row_of_the_specification_is_right",),
    ),
    Requirement(
        "K-choice-ocr",
        "000",
        "The query OCR結果: マネ-ジャ- leads to normalize_ocr_text.",
        tests=("tests/toolsets/knowledge/test_choice.py::test_every_row_of_the_specification_is_right",),
    ),
    Requirement(
        "K-choice-force-tool",
        "000",
        "Chat with force_tool set calls that tool and skips the choice, as in the example "
        "マイナビのサービスは？ with search_documents.",
        tests=(
            "tests/toolsets/knowledge/test_chat.py::test_a_tool_that_is_forced_is_called",
            "tests/toolsets/knowledge/test_chat_llm.py::test_a_forced_tool_is_not_chosen_by_anybody",
        ),
    ),
    Requirement(
        "K-error-401",
        "000",
        "An invalid or expired JWT is answered with 401 and Invalid authentication credentials.",
        tests=("tests/test_caller.py::test_claims_that_name_nobody_are_refused_with_one_message",),
    ),
    Requirement(
        "K-error-403",
        "000",
        "A knowledge base the caller may not use is answered with 403 and Access denied to this "
        "knowledge base.",
        tests=(
            "tests/toolsets/knowledge/test_access.py::test_a_base_of_the_tenant_that_is_not_theirs_is_403",
        ),
    ),
    Requirement(
        "K-error-404",
        "000",
        "An unknown knowledge base id is answered with 404 and Knowledge base not found.",
        tests=(
            "tests/toolsets/knowledge/test_access.py::test_an_unknown_base_and_another_tenants_are_the_same_404",
        ),
    ),
    Requirement(
        "K-error-503",
        "000",
        "An unreachable search service is answered with 503 and Failed to connect to followed by the "
        "service.",
        tests=("tests/toolsets/knowledge/test_search.py::test_a_database_that_cannot_be_reached_is_503",),
    ),
    Requirement(
        "K-error-threshold-range",
        "000",
        "A threshold outside 0.0 to 1.0 is the error threshold out of range (0.0-1.0).",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_a_threshold_outside_0_and_1_is_the_specified_error",
        ),
    ),
    Requirement(
        "K-error-max-results-limit",
        "000",
        "A max_results above 50 is the error max_results exceeds limit (50).",
        tests=("tests/toolsets/knowledge/test_search.py::test_more_than_50_results_is_the_specified_error",),
    ),
    Requirement(
        "K-error-no-results",
        "000",
        "A search where nothing matches or passes the threshold says No results found.",
        tests=(
            "tests/toolsets/knowledge/test_search.py::test_nothing_found_is_a_success_that_says_so",
            "tests/toolsets/knowledge/test_search.py::test_a_query_that_matches_nothing_at_all_has_no_best_score",
        ),
    ),
    Requirement(
        "K-error-no-collections",
        "000",
        "The summary of a knowledge base without collections says No collections found.",
        tests=(
            "tests/toolsets/knowledge/test_summary.py::test_a_base_without_collections_is_a_success_with_warnings",
        ),
    ),
    Requirement(
        "K-error-no-documents",
        "000",
        "The summary of a knowledge base without documents warns No documents found and is not an error.",
        tests=(
            "tests/toolsets/knowledge/test_summary.py::test_a_base_without_collections_is_a_success_with_warnings",
            "tests/toolsets/knowledge/test_summary.py::test_an_empty_collection_counts_and_only_the_documents_are_missed",
        ),
    ),
    Requirement(
        "K-error-llm-unavailable",
        "000",
        "normalize_ocr_text reports LLM service unavailable when the LLM it should use is down.",
        tests=(
            "tests/toolsets/knowledge/test_ocr_llm.py::test_a_model_that_is_down_is_a_warning_and_an_error_when_it_was_asked_for",
        ),
    ),
    Requirement(
        "K-error-text-too-long",
        "000",
        "A text of more than 10000 characters is the error Text too long (max 10000 chars).",
        tests=(
            "tests/toolsets/knowledge/test_ocr.py::test_a_text_may_have_ten_thousand_characters_and_no_more",
        ),
    ),
    Requirement(
        "K-error-text-limit-edge",
        "000",
        "normalize_ocr_text accepts a text of exactly 10000 characters.",
        tests=(
            "tests/toolsets/knowledge/test_ocr.py::test_a_text_may_have_ten_thousand_characters_and_no_more",
        ),
    ),
)

PATENTS = (
    Requirement(
        "P-mcp-json-rpc",
        "001",
        "The server speaks MCP over JSON-RPC 2.0.",
        tests=("tests/serve/test_patents.py::test_an_agent_goes_from_lanes_to_snippets",),
    ),
    Requirement(
        "P-mcp-list-tools",
        "001",
        "A client discovers the patent tools by listing tools.",
        tests=("tests/serve/test_patents.py::test_an_agent_goes_from_lanes_to_snippets",),
    ),
    Requirement(
        "P-mcp-call-tool",
        "001",
        "A client calls each patent tool by name.",
        tests=("tests/serve/test_patents.py::test_an_agent_goes_from_lanes_to_snippets",),
    ),
    Requirement(
        "P-tools-agent",
        "001",
        "The tools for agents are rrf_search_fulltext_raw, run_multilane_search, rrf_blend_frontier, "
        "rrf_mutate_run, get_provenance, peek_snippets, get_snippets, get_publication and "
        "register_representatives.",
        tests=(
            "tests/toolsets/patents/test_lanes.py::test_agents_are_offered_the_tools_for_agents_only",
            "tests/serve/test_patents.py::test_an_agent_goes_from_lanes_to_snippets",
        ),
    ),
    Requirement(
        "P-tools-human-hidden",
        "001",
        "The tools search_fulltext and search_semantic for people are not offered to LLM agents by default.",
        tests=(
            "tests/toolsets/patents/test_lanes.py::test_agents_are_offered_the_tools_for_agents_only",
            "tests/serve/test_patents.py::test_an_agent_goes_from_lanes_to_snippets",
        ),
    ),
    Requirement(
        "P-search-fulltext-human",
        "001",
        "search_fulltext returns a plain list of ids as strings.",
        tests=("tests/toolsets/patents/test_lanes.py::test_people_get_plain_lists_of_numbers",),
    ),
    Requirement(
        "P-search-semantic-human",
        "001",
        "search_semantic returns a plain list of ids as strings.",
        tests=("tests/toolsets/patents/test_lanes.py::test_people_get_plain_lists_of_numbers",),
    ),
    Requirement(
        "P-fulltext-query-type",
        "001",
        "The rrf_search_fulltext_raw parameter query is a string holding a Boolean query.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_parameters_are_those_of_the_specification",),
    ),
    Requirement(
        "P-fulltext-filters-type",
        "001",
        "The rrf_search_fulltext_raw parameter filters is a list of filters.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_parameters_are_those_of_the_specification",),
    ),
    Requirement(
        "P-fulltext-top-k-type",
        "001",
        "The rrf_search_fulltext_raw parameter top_k is an integer that bounds the number of documents kept.",
        tests=(
            "tests/toolsets/patents/test_lanes.py::test_the_parameters_are_those_of_the_specification",
            "tests/toolsets/patents/test_lanes.py::test_without_a_limit_five_hundred_are_kept",
        ),
    ),
    Requirement(
        "P-fulltext-top-k-default",
        "001",
        "rrf_search_fulltext_raw keeps at most 500 documents when top_k is not given.",
        tests=("tests/toolsets/patents/test_lanes.py::test_without_a_limit_five_hundred_are_kept",),
    ),
    Requirement(
        "P-fulltext-field-boosts-type",
        "001",
        "The rrf_search_fulltext_raw parameter field_boosts maps field names to numbers.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_parameters_are_those_of_the_specification",),
    ),
    Requirement(
        "P-fulltext-field-boosts-effect",
        "001",
        "A field with a larger boost contributes more to the full-text score.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_field_that_weighs_more_counts_more",),
    ),
    Requirement(
        "P-fulltext-sort-optional",
        "001",
        "The rrf_search_fulltext_raw parameter sort is an optional string.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_parameters_are_those_of_the_specification",),
    ),
    Requirement(
        "P-fulltext-sort-default",
        "001",
        "rrf_search_fulltext_raw orders by score when sort is not given.",
        tests=("tests/toolsets/patents/test_lanes.py::test_without_a_sort_the_best_comes_first",),
    ),
    Requirement(
        "P-query-or",
        "001",
        "A query with OR finds the documents that hold at least one of its sides.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_query_finds_what_it_means",),
    ),
    Requirement(
        "P-query-and",
        "001",
        "A query with AND finds the documents that hold both of its sides.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_query_finds_what_it_means",),
    ),
    Requirement(
        "P-query-parentheses",
        "001",
        "Parentheses group a Boolean query as in (顔認証 OR 顔識別) AND (遮蔽 OR マスク).",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_query_finds_what_it_means",),
    ),
    Requirement(
        "P-query-nested-parentheses",
        "001",
        "Redundant outer parentheses as in ((顔認証 OR 顔識別) AND (遮蔽 OR マスク)) change nothing.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_query_finds_what_it_means",),
    ),
    Requirement(
        "P-filter-lop-and",
        "001",
        "Every filter with lop and must hold.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-lop-or",
        "001",
        "Of the filters with lop or at least one must hold.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-lop-required",
        "001",
        "A filter without lop is FILTER_ERROR.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_wrong_filter_is_named",),
    ),
    Requirement(
        "P-filter-field-fi",
        "001",
        "A filter can name the field fi.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-field-ft",
        "001",
        "A filter can name the field ft.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-field-country",
        "001",
        "A filter can name the field country.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-field-date",
        "001",
        "A filter can name the field date.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-op-in",
        "001",
        "The filter op in holds when the document has one of the listed values.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-op-at-least",
        "001",
        "The filter op >= holds when the document's value is not below the given one.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-op-at-most",
        "001",
        "The filter op <= holds when the document's value is not above the given one.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-op-equal",
        "001",
        "The filter op = holds when the document has exactly the given value.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-value-list",
        "001",
        "A filter value may be a list.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-filter-value-single",
        "001",
        "A filter value may be a single value.",
        tests=("tests/toolsets/patents/test_lanes.py::test_filters_narrow",),
    ),
    Requirement(
        "P-fulltext-handle-run-id",
        "001",
        "The handle of rrf_search_fulltext_raw carries a string under run_id.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_documented_search_returns_its_handle",),
    ),
    Requirement(
        "P-fulltext-handle-lane",
        "001",
        "The handle of rrf_search_fulltext_raw carries fulltext under lane.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_documented_search_returns_its_handle",),
    ),
    Requirement(
        "P-fulltext-handle-run-id-lane",
        "001",
        "The handle of rrf_search_fulltext_raw carries a string under run_id_lane.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_documented_search_returns_its_handle",),
    ),
    Requirement(
        "P-fulltext-handle-hit-count",
        "001",
        "The handle of rrf_search_fulltext_raw carries an integer under hit_count.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_documented_search_returns_its_handle",),
    ),
    Requirement(
        "P-fulltext-handle-top-k",
        "001",
        "The handle of rrf_search_fulltext_raw carries the top_k that was applied under top_k.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_documented_search_returns_its_handle",),
    ),
    Requirement(
        "P-fulltext-handle-meta-query",
        "001",
        "The handle of rrf_search_fulltext_raw repeats the query under meta.query.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_documented_search_returns_its_handle",),
    ),
    Requirement(
        "P-fulltext-handle-meta-filters",
        "001",
        "The handle of rrf_search_fulltext_raw repeats the filters under meta.filters.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_documented_search_returns_its_handle",),
    ),
    Requirement(
        "P-fulltext-handle-meta-field-boosts",
        "001",
        "The handle of rrf_search_fulltext_raw carries the field boosts that were applied under "
        "meta.field_boosts.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_documented_search_returns_its_handle",),
    ),
    Requirement(
        "P-fulltext-example",
        "001",
        "The documented rrf_search_fulltext_raw call with FI and country filters and the boosts 80, "
        "10, 5 and 1 runs and returns a handle.",
        tests=("tests/toolsets/patents/test_lanes.py::test_the_documented_search_returns_its_handle",),
    ),
    Requirement(
        "P-multilane-lanes",
        "001",
        "run_multilane_search takes a list of lane configurations under lanes.",
        tests=(
            "tests/toolsets/patents/test_lanes.py::TestMultilane::test_the_documented_call_returns_a_handle_for_each_lane",
        ),
    ),
    Requirement(
        "P-multilane-lane-name",
        "001",
        "A lane configuration names itself with a string under lane_name such as fulltext_recall, "
        "fulltext_precision or semantic.",
        tests=(
            "tests/toolsets/patents/test_lanes.py::TestMultilane::test_the_documented_call_returns_a_handle_for_each_lane",
        ),
    ),
    Requirement(
        "P-multilane-fulltext-lane",
        "001",
        "A full-text lane configuration takes query, filters, top_k and field_boosts.",
        tests=(
            "tests/toolsets/patents/test_lanes.py::TestMultilane::test_the_documented_call_returns_a_handle_for_each_lane",
        ),
    ),
    Requirement(
        "P-multilane-semantic-lane",
        "001",
        "A semantic lane configuration takes text, feature_scope and top_k.",
        tests=(
            "tests/toolsets/patents/test_lanes.py::TestMultilane::test_the_documented_call_returns_a_handle_for_each_lane",
        ),
    ),
    Requirement(
        "P-multilane-feature-scope-wide",
        "001",
        "A semantic lane accepts the feature_scope wide.",
        tests=("tests/toolsets/patents/test_lanes.py::TestSemantic::test_each_scope_finds_by_meaning",),
    ),
    Requirement(
        "P-multilane-feature-scope-title-abst-claims",
        "001",
        "A semantic lane accepts the feature_scope title_abst_claims.",
        tests=("tests/toolsets/patents/test_lanes.py::TestSemantic::test_each_scope_finds_by_meaning",),
    ),
    Requirement(
        "P-multilane-returns-handles",
        "001",
        "run_multilane_search returns a list of run handles, one for each lane in the given order.",
        tests=(
            "tests/toolsets/patents/test_lanes.py::TestMultilane::test_the_documented_call_returns_a_handle_for_each_lane",
        ),
    ),
    Requirement(
        "P-multilane-example",
        "001",
        "The documented run_multilane_search call with fulltext_recall and semantic lanes runs and "
        "returns two handles.",
        tests=(
            "tests/toolsets/patents/test_lanes.py::TestMultilane::test_the_documented_call_returns_a_handle_for_each_lane",
        ),
    ),
    Requirement(
        "P-blend-runs",
        "001",
        "rrf_blend_frontier takes a list of lane runs under runs.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_documented_fusion_returns_its_result",),
    ),
    Requirement(
        "P-blend-run-lane",
        "001",
        "A blended run gives its lane as fulltext, semantic or original_dense.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_documented_fusion_returns_its_result",),
    ),
    Requirement(
        "P-blend-run-lane-unknown",
        "001",
        "A blended run with any other lane is refused.",
        tests=("tests/toolsets/patents/test_fusions.py::test_a_wrong_run_is_refused",),
    ),
    Requirement(
        "P-blend-run-id-lane",
        "001",
        "A blended run names its search result by run_id_lane.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_documented_fusion_returns_its_result",),
    ),
    Requirement(
        "P-blend-run-weight-default",
        "001",
        "A blended run without weight counts with weight 1.0.",
        tests=("tests/toolsets/patents/test_fusions.py::test_defaults_are_those_of_the_specification",),
    ),
    Requirement(
        "P-blend-run-weight-effect",
        "001",
        "A blended run's weight scales its contribution to the fused score.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_weight_of_a_run_scales_what_it_brings",),
    ),
    Requirement(
        "P-blend-target-profile",
        "001",
        "rrf_blend_frontier takes a target_profile of code weights.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_documented_fusion_returns_its_result",),
    ),
    Requirement(
        "P-blend-target-profile-fi",
        "001",
        "target_profile.fi maps FI codes to weights.",
        tests=("tests/toolsets/patents/test_fusions.py::test_each_parameter_changes_the_scores",),
    ),
    Requirement(
        "P-blend-target-profile-ft",
        "001",
        "target_profile.ft maps F-Term codes to weights.",
        tests=("tests/toolsets/patents/test_fusions.py::test_each_parameter_changes_the_scores",),
    ),
    Requirement(
        "P-blend-weights",
        "001",
        "The optional parameter weights carries the code boosts code and code_secondary.",
        tests=("tests/toolsets/patents/test_fusions.py::test_each_parameter_changes_the_scores",),
    ),
    Requirement(
        "P-blend-lane-weights",
        "001",
        "The optional parameter lane_weights maps kinds of lane to weights.",
        tests=("tests/toolsets/patents/test_fusions.py::test_each_parameter_changes_the_scores",),
    ),
    Requirement(
        "P-blend-pi-weights",
        "001",
        "The optional parameter pi_weights carries the weights of the parts of π(d).",
        tests=("tests/toolsets/patents/test_fusions.py::test_each_parameter_changes_the_scores",),
    ),
    Requirement(
        "P-blend-facet-terms",
        "001",
        "The optional parameter facet_terms maps the elements A, B and C to lists of terms.",
        tests=("tests/toolsets/patents/test_fusions.py::test_facets_weigh_what_is_said_of_them",),
    ),
    Requirement(
        "P-blend-facet-weights",
        "001",
        "The optional parameter facet_weights maps facets to weights.",
        tests=("tests/toolsets/patents/test_fusions.py::test_facets_weigh_what_is_said_of_them",),
    ),
    Requirement(
        "P-blend-rrf-k-default",
        "001",
        "rrf_blend_frontier uses the RRF constant 60 when rrf_k is not given.",
        tests=("tests/toolsets/patents/test_fusions.py::test_defaults_are_those_of_the_specification",),
    ),
    Requirement(
        "P-blend-beta-fuse-default",
        "001",
        "rrf_blend_frontier uses the boost strength 1.2 when beta_fuse is not given.",
        tests=("tests/toolsets/patents/test_fusions.py::test_defaults_are_those_of_the_specification",),
    ),
    Requirement(
        "P-blend-result-run-id",
        "001",
        "A fusion result carries its own run id under run_id.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_documented_fusion_returns_its_result",),
    ),
    Requirement(
        "P-blend-result-ranked-docs",
        "001",
        "A fusion result lists the documents in rank order under ranked_docs.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_documented_fusion_returns_its_result",),
    ),
    Requirement(
        "P-blend-result-metrics",
        "001",
        "A fusion result carries the structural metrics under metrics.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_documented_fusion_returns_its_result",),
    ),
    Requirement(
        "P-blend-result-params",
        "001",
        "A fusion result carries the parameters that were applied under params.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_documented_fusion_returns_its_result",),
    ),
    Requirement(
        "P-blend-example",
        "001",
        "The documented rrf_blend_frontier call with three runs weighing 1.0, 0.8 and 1.2 returns a "
        "fusion result.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_documented_fusion_returns_its_result",),
    ),
    Requirement(
        "P-mutate-base-run-id",
        "001",
        "rrf_mutate_run takes the fusion to start from under base_run_id.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_the_documented_call_returns_a_fusion",
        ),
    ),
    Requirement(
        "P-mutate-delta",
        "001",
        "rrf_mutate_run takes the parameters to change under mutate_delta.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_the_documented_call_returns_a_fusion",
        ),
    ),
    Requirement(
        "P-mutate-delta-weights",
        "001",
        "mutate_delta may carry weights.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_what_is_named_replaces_and_the_rest_stays",
        ),
    ),
    Requirement(
        "P-mutate-delta-lane-weights",
        "001",
        "mutate_delta may carry lane_weights.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_what_is_named_replaces_and_the_rest_stays",
        ),
    ),
    Requirement(
        "P-mutate-delta-pi-weights",
        "001",
        "mutate_delta may carry pi_weights.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_what_is_named_replaces_and_the_rest_stays",
        ),
    ),
    Requirement(
        "P-mutate-delta-rrf-k",
        "001",
        "mutate_delta may carry rrf_k.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_what_is_named_replaces_and_the_rest_stays",
        ),
    ),
    Requirement(
        "P-mutate-delta-beta-fuse",
        "001",
        "mutate_delta may carry beta_fuse.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_what_is_named_replaces_and_the_rest_stays",
        ),
    ),
    Requirement(
        "P-mutate-delta-absolute",
        "001",
        "The values in mutate_delta replace the old ones and are not added to them.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_what_is_named_replaces_and_the_rest_stays",
        ),
    ),
    Requirement(
        "P-mutate-returns-fusion",
        "001",
        "rrf_mutate_run returns a new fusion result and leaves the base run as it was.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_nothing_is_searched_again_and_the_base_stays",
        ),
    ),
    Requirement(
        "P-mutate-cheap",
        "001",
        "rrf_mutate_run tunes an existing fusion without searching again.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_nothing_is_searched_again_and_the_base_stays",
        ),
    ),
    Requirement(
        "P-mutate-example",
        "001",
        "The documented rrf_mutate_run call with weights semantic 0.5 and beta_fuse 0.9 returns a "
        "fusion result.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestMutate::test_the_documented_call_returns_a_fusion",
        ),
    ),
    Requirement(
        "P-provenance-run-id",
        "001",
        "get_provenance takes the id of a fusion or of a search under run_id.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestProvenance::test_a_fusion_tells_codes_shares_and_metrics",
        ),
    ),
    Requirement(
        "P-provenance-response-run-id",
        "001",
        "A provenance repeats its run under run_id.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestProvenance::test_a_fusion_tells_codes_shares_and_metrics",
        ),
    ),
    Requirement(
        "P-provenance-code-freqs-fi",
        "001",
        "A provenance counts FI codes as integers under code_freqs.fi.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestProvenance::test_a_fusion_tells_codes_shares_and_metrics",
        ),
    ),
    Requirement(
        "P-provenance-code-freqs-ft",
        "001",
        "A provenance counts F-Term codes as integers under code_freqs.ft.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestProvenance::test_a_fusion_tells_codes_shares_and_metrics",
        ),
    ),
    Requirement(
        "P-provenance-lane-contributions",
        "001",
        "The provenance of a fusion carries each lane's share under lane_contributions.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestProvenance::test_a_fusion_tells_codes_shares_and_metrics",
        ),
    ),
    Requirement(
        "P-provenance-lane-contributions-sum",
        "001",
        "The lane contributions of a fusion add up to 1 as in the example.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestProvenance::test_a_fusion_tells_codes_shares_and_metrics",
        ),
    ),
    Requirement(
        "P-provenance-metrics",
        "001",
        "The provenance of a fusion carries the structural metrics under metrics.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestProvenance::test_a_fusion_tells_codes_shares_and_metrics",
        ),
    ),
    Requirement(
        "P-provenance-search-run",
        "001",
        "The provenance of a search run has neither lane contributions nor metrics.",
        tests=("tests/toolsets/patents/test_fusions.py::TestProvenance::test_a_lane_tells_only_its_codes",),
    ),
    Requirement(
        "P-metrics-keys",
        "001",
        "The structural metrics are LAS, CCW, S_shape, F_struct and Fproxy.",
        tests=("tests/toolsets/patents/test_fusions.py::test_the_documented_fusion_returns_its_result",),
    ),
    Requirement(
        "P-provenance-example",
        "001",
        "The provenance of a fusion has the documented shape with lanes such as recall, precision and "
        "semantic.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestProvenance::test_a_fusion_tells_codes_shares_and_metrics",
        ),
    ),
    Requirement(
        "P-peek-run-id",
        "001",
        "peek_snippets takes the run to preview under run_id.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-peek-limit-default",
        "001",
        "peek_snippets shows at most 30 documents when limit is not given.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_thirty_are_shown_and_the_rest_follows",
        ),
    ),
    Requirement(
        "P-peek-fields-default",
        "001",
        "peek_snippets shows title, abst and claim when fields is not given.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-peek-fields",
        "001",
        "peek_snippets shows only the fields that are named.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_only_the_fields_asked_for_are_shown",
        ),
    ),
    Requirement(
        "P-peek-budget-bytes",
        "001",
        "peek_snippets keeps its answer within budget_bytes.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_an_answer_never_passes_its_budget",
        ),
    ),
    Requirement(
        "P-peek-per-field-chars",
        "001",
        "peek_snippets cuts each field to the number of characters in per_field_chars.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_the_documented_call_keeps_its_caps",
        ),
    ),
    Requirement(
        "P-peek-response-run-id",
        "001",
        "The peek_snippets answer repeats the run under run_id.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-peek-response-snippets",
        "001",
        "The peek_snippets answer lists the snippets in rank order under snippets.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-snippet-rank",
        "001",
        "A snippet carries its rank as an integer under rank.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-snippet-pub-id",
        "001",
        "A snippet carries the publication number under pub_id.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-snippet-app-id",
        "001",
        "A snippet carries the application number or null under app_id.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-snippet-title",
        "001",
        "A snippet carries the title under title.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-snippet-abst",
        "001",
        "A snippet carries the abstract under abst.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-snippet-claim",
        "001",
        "A snippet carries the claims under claim when they are asked for.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-snippet-desc",
        "001",
        "A snippet carries the description under desc when it is asked for.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_only_the_fields_asked_for_are_shown",
        ),
    ),
    Requirement(
        "P-snippet-score",
        "001",
        "A snippet carries the document's score as a number under score.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-snippet-metadata",
        "001",
        "A snippet carries FI and F-Term codes under metadata.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_a_snippet_has_the_documented_keys",
        ),
    ),
    Requirement(
        "P-peek-example",
        "001",
        "The documented peek_snippets call with limits of 160, 480 and 320 characters returns snippets "
        "within those limits.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_the_documented_call_keeps_its_caps",
        ),
    ),
    Requirement(
        "P-get-snippets",
        "001",
        "get_snippets returns the detailed snippets of chosen documents.",
        tests=(
            "tests/toolsets/patents/test_publications.py::TestSnippets::test_chosen_publications_in_detail",
        ),
    ),
    Requirement(
        "P-publication-id",
        "001",
        "get_publication takes a publication number as a string under id.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-id-type-pub-id",
        "001",
        "get_publication with id_type pub_id finds a publication number such as JP2023-123456A.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-id-type-app-doc-id",
        "001",
        "get_publication with id_type app_doc_id finds an EPODOC application number such as JP2023123456.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-id-type-app-id",
        "001",
        "get_publication with id_type app_id finds a number as users write it such as 特願2023-123456.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-id-type-app-id-published",
        "001",
        "get_publication with id_type app_id also finds 特開2023-123456.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-id-type-exam-id",
        "001",
        "get_publication with id_type exam_id finds an examined number.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-id-type-unknown",
        "001",
        "get_publication refuses any other id_type.",
        tests=("tests/toolsets/patents/test_publications.py::test_an_unknown_number_is_an_error",),
    ),
    Requirement(
        "P-publication-fields",
        "001",
        "get_publication returns only the fields that are named when fields is given.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_has_only_the_fields_asked_for",
        ),
    ),
    Requirement(
        "P-publication-per-field-chars",
        "001",
        "get_publication cuts each field to the number of characters in per_field_chars.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_has_only_the_fields_asked_for",
        ),
    ),
    Requirement(
        "P-publication-response-pub-id",
        "001",
        "A publication carries its publication number under pub_id.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-response-app-id",
        "001",
        "A publication carries its application number under app_id.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-response-title",
        "001",
        "A publication carries its title as text under title.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-response-abst",
        "001",
        "A publication carries its abstract as text under abst.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-response-claim",
        "001",
        "A publication carries its claims as one text under claim.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-response-desc",
        "001",
        "A publication carries its description as text under desc.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-publication-response-metadata",
        "001",
        "A publication carries FI, F-Term, filing date and publication date under metadata.",
        tests=(
            "tests/toolsets/patents/test_publications.py::test_a_publication_is_found_by_any_of_its_numbers",
        ),
    ),
    Requirement(
        "P-representatives-pub-ids",
        "001",
        "register_representatives takes a list of publication numbers under pub_ids.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestRepresentatives::test_a_representative_ranks_higher",
        ),
    ),
    Requirement(
        "P-representatives-category",
        "001",
        "register_representatives takes the category A, B or C.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestRepresentatives::test_a_representative_ranks_higher",
        ),
    ),
    Requirement(
        "P-representatives-category-unknown",
        "001",
        "register_representatives refuses any other category.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestRepresentatives::test_a_wrong_registration_is_refused",
        ),
    ),
    Requirement(
        "P-representatives-response-count",
        "001",
        "The register_representatives answer counts what was registered under registered_count.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestRepresentatives::test_a_representative_ranks_higher",
        ),
    ),
    Requirement(
        "P-representatives-response-category",
        "001",
        "The register_representatives answer repeats the category under category.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestRepresentatives::test_a_representative_ranks_higher",
        ),
    ),
    Requirement(
        "P-representatives-boost",
        "001",
        "A registered document gets a higher π(d).",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestRepresentatives::test_a_representative_ranks_higher",
        ),
    ),
    Requirement(
        "P-representatives-score",
        "001",
        "A registered document gets a higher fused score.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestRepresentatives::test_a_representative_ranks_higher",
        ),
    ),
    Requirement(
        "P-error-shape",
        "001",
        "A patent tool reports an error as an object under error with code and message and optional details.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_query_that_is_none_says_where",),
    ),
    Requirement(
        "P-error-code-type",
        "001",
        "The error code and the error message are strings.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_query_that_is_none_says_where",),
    ),
    Requirement(
        "P-error-invalid-query",
        "001",
        "A query with a syntax error is INVALID_QUERY.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_query_that_is_none_says_where",),
    ),
    Requirement(
        "P-error-filter",
        "001",
        "A filter of the wrong structure is FILTER_ERROR.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_wrong_filter_is_named",),
    ),
    Requirement(
        "P-error-run-not-found",
        "001",
        "A run id that does not exist is RUN_NOT_FOUND.",
        tests=(
            "tests/toolsets/patents/test_fusions.py::TestRuns::test_unknown_and_foreign_runs_are_the_same",
        ),
    ),
    Requirement(
        "P-error-backend",
        "001",
        "A failure of the search engine is BACKEND_ERROR.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_failing_engine_is_a_backend_error",),
    ),
    Requirement(
        "P-error-invalid-parameter",
        "001",
        "A parameter out of range such as top_k below 0 is INVALID_PARAMETER.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_limit_out_of_range_is_an_invalid_parameter",),
    ),
    Requirement(
        "P-rate-limit-none",
        "001",
        "A local server does not limit how often the patent tools are called by default.",
        tests=("tests/toolsets/patents/test_lanes.py::test_a_local_server_counts_no_calls",),
    ),
)

PROGRAMS = (
    Requirement(
        "G-tools-published",
        "002",
        "The server publishes the six tools search_programs, get_program, batch_get_programs, "
        "list_exclusion_rules, check_exclusions and get_meta.",
        tests=(
            "tests/serve/test_programs.py::test_the_six_tools_are_published_and_answer",
            "tests/toolsets/programs/test_schema.py::test_there_are_the_six_tools",
        ),
    ),
    Requirement(
        "G-protocol-revision",
        "002",
        "The server speaks the MCP revision 2025-06-18.",
        tests=("tests/serve/test_programs.py::test_the_revision_of_the_specification_is_spoken_over_stdio",),
    ),
    Requirement(
        "G-transport-stdio",
        "002",
        "The server speaks JSON-RPC over stdio.",
        tests=("tests/serve/test_programs.py::test_the_revision_of_the_specification_is_spoken_over_stdio",),
    ),
    Requirement(
        "G-start-command",
        "002",
        "The server can be started as a command or as a Python module.",
        tests=("tests/serve/test_programs.py::test_the_server_starts_as_a_command_and_as_a_module",),
    ),
    Requirement(
        "G-search-scope",
        "002",
        "search_programs searches 補助金, 融資, 税制 and 共済 together.",
        tests=("tests/toolsets/programs/test_search.py::test_kinds_are_searched_together",),
    ),
    Requirement(
        "G-search-q-default",
        "002",
        "search_programs takes free text under q, null by default, and lists every programme without it.",
        tests=(
            "tests/toolsets/programs/test_schema.py::test_a_search_may_leave_every_condition_out",
            "tests/toolsets/programs/test_search.py::test_without_words_every_programme_is_listed",
        ),
    ),
    Requirement(
        "G-search-q-three-characters",
        "002",
        "A q of three or more characters is matched by full text.",
        tests=("tests/toolsets/programs/test_search.py::test_three_characters_and_more_are_found",),
    ),
    Requirement(
        "G-search-q-two-characters",
        "002",
        "A q of one or two characters is matched as a substring.",
        tests=("tests/toolsets/programs/test_search.py::test_two_characters_and_one_are_found_within_words",),
    ),
    Requirement(
        "G-search-tier-default",
        "002",
        "The search_programs argument tier is a list of strings, null by default.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_search_may_leave_every_condition_out",),
    ),
    Requirement(
        "G-search-tier-any",
        "002",
        "search_programs returns programmes of any of the tiers listed among S, A, B, C and X.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-prefecture-default",
        "002",
        "The search_programs argument prefecture is a string, null by default.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_search_may_leave_every_condition_out",),
    ),
    Requirement(
        "G-search-prefecture-exact",
        "002",
        "search_programs matches the prefecture name exactly.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-authority-level-default",
        "002",
        "The search_programs argument authority_level is a string, null by default.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_search_may_leave_every_condition_out",),
    ),
    Requirement(
        "G-search-authority-level-english",
        "002",
        "search_programs accepts the authority levels national, prefecture, municipality and financial.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-authority-level-kuni",
        "002",
        "search_programs reads the authority level 国 as national.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-authority-level-todofuken",
        "002",
        "search_programs reads the authority level 都道府県 as prefecture.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-authority-level-shikuchoson",
        "002",
        "search_programs reads the authority level 市区町村 as municipality.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-authority-level-koko",
        "002",
        "search_programs reads the authority level 公庫 as financial.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-funding-purpose-default",
        "002",
        "The search_programs argument funding_purpose is a list of strings, null by default.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_search_may_leave_every_condition_out",),
    ),
    Requirement(
        "G-search-funding-purpose-filter",
        "002",
        "search_programs narrows to programmes for one of the listed funding purposes.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-target-type-default",
        "002",
        "The search_programs argument target_type is a list of strings, null by default.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_search_may_leave_every_condition_out",),
    ),
    Requirement(
        "G-search-target-type-filter",
        "002",
        "search_programs narrows to programmes for one of the listed kinds of applicant.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-amount-min-default",
        "002",
        "The search_programs argument amount_min_man_yen is a number, null by default.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_search_may_leave_every_condition_out",),
    ),
    Requirement(
        "G-search-amount-min-filter",
        "002",
        "search_programs narrows to programmes whose upper amount in 万円 is not below amount_min_man_yen.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-amount-max-default",
        "002",
        "The search_programs argument amount_max_man_yen is a number, null by default.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_search_may_leave_every_condition_out",),
    ),
    Requirement(
        "G-search-amount-max-filter",
        "002",
        "search_programs narrows to programmes whose upper amount in 万円 is not above amount_max_man_yen.",
        tests=("tests/toolsets/programs/test_search.py::test_a_condition_narrows",),
    ),
    Requirement(
        "G-search-include-excluded-default",
        "002",
        "The search_programs argument include_excluded is a boolean, false by default, and tier X is "
        "then left out.",
        tests=(
            "tests/toolsets/programs/test_schema.py::test_a_search_has_the_specified_defaults",
            "tests/toolsets/programs/test_search.py::test_excluded_ones_are_left_out_unless_they_are_asked_for",
        ),
    ),
    Requirement(
        "G-search-include-excluded-true",
        "002",
        "search_programs includes tier X when include_excluded is true.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_excluded_ones_are_left_out_unless_they_are_asked_for",
        ),
    ),
    Requirement(
        "G-search-limit-default",
        "002",
        "search_programs returns at most 20 programmes when limit is not given.",
        tests=(
            "tests/toolsets/programs/test_schema.py::test_a_search_has_the_specified_defaults",
            "tests/toolsets/programs/test_search.py::test_twenty_are_shown_and_pages_join_without_gap_or_repeat",
        ),
    ),
    Requirement(
        "G-search-limit-range",
        "002",
        "The search_programs argument limit is an integer from 1 to 100.",
        tests=(
            "tests/toolsets/programs/test_schema.py::test_a_search_has_the_specified_defaults",
            "tests/toolsets/programs/test_schema.py::test_a_wrong_argument_is_named",
        ),
    ),
    Requirement(
        "G-search-offset-default",
        "002",
        "The search_programs argument offset is an integer, 0 by default.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_search_has_the_specified_defaults",),
    ),
    Requirement(
        "G-search-offset-pages",
        "002",
        "Pages taken with limit and offset join to the whole list without a gap or a repeat.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_twenty_are_shown_and_pages_join_without_gap_or_repeat",
        ),
    ),
    Requirement(
        "G-search-fields-default",
        "002",
        "The search_programs argument fields is default when it is not given.",
        tests=("tests/toolsets/programs/test_schema.py::test_fields_are_minimal_default_or_full",),
    ),
    Requirement(
        "G-search-fields-values",
        "002",
        "The search_programs argument fields accepts minimal, default and full and nothing else.",
        tests=(
            "tests/toolsets/programs/test_schema.py::test_fields_are_minimal_default_or_full",
            "tests/toolsets/programs/test_schema.py::test_a_wrong_argument_is_named",
        ),
    ),
    Requirement(
        "G-search-fields-minimal-keys",
        "002",
        "With fields minimal a row has exactly unified_id, primary_name, tier, prefecture, "
        "authority_name, amount_max_man_yen and official_url.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_a_minimal_row_has_exactly_its_keys_and_is_small",
            "tests/toolsets/programs/test_schema.py::test_a_minimal_row_has_the_seven_keys",
        ),
    ),
    Requirement(
        "G-search-fields-minimal-size",
        "002",
        "With fields minimal a row takes about 150 to 300 bytes.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_a_minimal_row_has_exactly_its_keys_and_is_small",
        ),
    ),
    Requirement(
        "G-search-fields-default-keys",
        "002",
        "With fields default a row has every field of Program.",
        tests=("tests/toolsets/programs/test_search.py::test_a_default_row_has_every_field_of_a_programme",),
    ),
    Requirement(
        "G-search-fields-full-keys",
        "002",
        "With fields full a row adds enriched, source_mentions, source_url, source_fetched_at and "
        "source_checksum.",
        tests=("tests/toolsets/programs/test_search.py::test_a_full_row_adds_details_and_lineage",),
    ),
    Requirement(
        "G-search-fields-full-rest",
        "002",
        "With fields full the MCP answer has the same shape as REST ?fields=full.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_the_answer_is_the_bytes_that_every_surface_sends",
            "tests/toolsets/programs/test_schema.py::test_each_tool_is_one_operation_with_its_rest_form",
        ),
    ),
    Requirement(
        "G-search-response-total",
        "002",
        "The search_programs answer counts all matches under total.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_twenty_are_shown_and_pages_join_without_gap_or_repeat",
        ),
    ),
    Requirement(
        "G-search-response-limit",
        "002",
        "The search_programs answer repeats the limit under limit.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_twenty_are_shown_and_pages_join_without_gap_or_repeat",
        ),
    ),
    Requirement(
        "G-search-response-offset",
        "002",
        "The search_programs answer repeats the offset under offset.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_twenty_are_shown_and_pages_join_without_gap_or_repeat",
        ),
    ),
    Requirement(
        "G-search-response-results",
        "002",
        "The search_programs answer lists the programmes under results.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_twenty_are_shown_and_pages_join_without_gap_or_repeat",
        ),
    ),
    Requirement(
        "G-program-unified-id",
        "002",
        "A programme carries its identifier under unified_id.",
        tests=("tests/toolsets/programs/test_search.py::test_a_row_carries_what_is_known_of_a_programme",),
    ),
    Requirement(
        "G-program-primary-name",
        "002",
        "A programme carries its name under primary_name.",
        tests=("tests/toolsets/programs/test_search.py::test_a_row_carries_what_is_known_of_a_programme",),
    ),
    Requirement(
        "G-program-tier",
        "002",
        "A programme carries its tier under tier.",
        tests=("tests/toolsets/programs/test_search.py::test_a_row_carries_what_is_known_of_a_programme",),
    ),
    Requirement(
        "G-program-prefecture",
        "002",
        "A programme carries its prefecture such as 青森県 under prefecture.",
        tests=("tests/toolsets/programs/test_search.py::test_a_row_carries_what_is_known_of_a_programme",),
    ),
    Requirement(
        "G-program-amount-max",
        "002",
        "A programme carries its upper amount in 万円 as a number under amount_max_man_yen.",
        tests=("tests/toolsets/programs/test_search.py::test_a_row_carries_what_is_known_of_a_programme",),
    ),
    Requirement(
        "G-program-funding-purpose",
        "002",
        "A programme carries a list such as 設備投資 under funding_purpose.",
        tests=("tests/toolsets/programs/test_search.py::test_a_row_carries_what_is_known_of_a_programme",),
    ),
    Requirement(
        "G-program-target-types",
        "002",
        "A programme carries a list such as 認定新規就農者 under target_types.",
        tests=("tests/toolsets/programs/test_search.py::test_a_row_carries_what_is_known_of_a_programme",),
    ),
    Requirement(
        "G-program-official-url",
        "002",
        "A programme carries its official address under official_url.",
        tests=("tests/toolsets/programs/test_search.py::test_a_row_carries_what_is_known_of_a_programme",),
    ),
    Requirement(
        "G-search-rest-same",
        "002",
        "The search_programs answer has the same structure as REST /v1/programs/search.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_the_answer_is_the_bytes_that_every_surface_sends",
            "tests/toolsets/programs/test_schema.py::test_each_tool_is_one_operation_with_its_rest_form",
        ),
    ),
    Requirement(
        "G-search-use-aomori",
        "002",
        "The question 青森県で使える設備投資補助金を教えて is answered by searching with prefecture "
        "and funding purpose.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_a_place_and_a_purpose_answer_the_question_of_aomori",
            "tests/toolsets/programs/test_schema.py::test_a_description_says_when_to_call",
        ),
    ),
    Requirement(
        "G-search-use-it",
        "002",
        "The search IT 導入補助金の一覧 finds the IT 導入補助金.",
        tests=("tests/toolsets/programs/test_search.py::test_a_list_asked_for_in_words_is_what_it_names",),
    ),
    Requirement(
        "G-search-use-small-firms",
        "002",
        "The search 中小企業向けの補助金 narrows to programmes for small firms.",
        tests=(
            "tests/toolsets/programs/test_search.py::test_programmes_for_small_firms_are_those_that_say_so",
        ),
    ),
    Requirement(
        "G-get-unified-id-required",
        "002",
        "get_program requires a string under unified_id.",
        tests=("tests/toolsets/programs/test_schema.py::test_details_need_their_ids",),
    ),
    Requirement(
        "G-get-unified-id-from-search",
        "002",
        "get_program accepts the unified_id that search_programs returned.",
        tests=("tests/toolsets/programs/test_details.py::test_an_id_from_a_search_gets_its_programme",),
    ),
    Requirement(
        "G-get-fields-default",
        "002",
        "The get_program argument fields is default when it is not given.",
        tests=("tests/toolsets/programs/test_schema.py::test_fields_are_minimal_default_or_full",),
    ),
    Requirement(
        "G-get-fields-values",
        "002",
        "The get_program argument fields accepts minimal, default and full and nothing else.",
        tests=("tests/toolsets/programs/test_schema.py::test_fields_are_minimal_default_or_full",),
    ),
    Requirement(
        "G-get-fields-minimal",
        "002",
        "get_program with fields minimal returns exactly the seven keys.",
        tests=("tests/toolsets/programs/test_details.py::test_details_come_in_three_sizes",),
    ),
    Requirement(
        "G-get-fields-default-keys",
        "002",
        "get_program with fields default returns Program with enriched, source_mentions and lineage.",
        tests=("tests/toolsets/programs/test_details.py::test_details_come_in_three_sizes",),
    ),
    Requirement(
        "G-get-fields-full-keys",
        "002",
        "get_program with fields full always has the keys enriched, source_mentions and lineage even "
        "where they are null.",
        tests=("tests/toolsets/programs/test_details.py::test_details_come_in_three_sizes",),
    ),
    Requirement(
        "G-get-enriched",
        "002",
        "A programme in detail carries the dimensions A to J such as A_basics, B_target and "
        "J_statistics under enriched.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_the_documented_programme_has_the_documented_shape",
        ),
    ),
    Requirement(
        "G-get-enriched-null-dimension",
        "002",
        "A dimension of enriched may be null as J_statistics is in the example.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_the_documented_programme_has_the_documented_shape",
        ),
    ),
    Requirement(
        "G-get-source-mentions",
        "002",
        "A programme in detail lists its primary sources with url and fetched_at under source_mentions.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_the_documented_programme_has_the_documented_shape",
        ),
    ),
    Requirement(
        "G-get-source-url",
        "002",
        "A programme in detail carries the address of its source under source_url.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_the_documented_programme_has_the_documented_shape",
        ),
    ),
    Requirement(
        "G-get-source-fetched-at",
        "002",
        "A programme in detail carries the time of fetching as an ISO 8601 text under source_fetched_at.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_the_documented_programme_has_the_documented_shape",
        ),
    ),
    Requirement(
        "G-get-source-checksum",
        "002",
        "A programme in detail carries sixteen hexadecimal digits under source_checksum.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_the_documented_programme_has_the_documented_shape",
        ),
    ),
    Requirement(
        "G-get-lineage-filled",
        "002",
        "The lineage keys of a newly imported programme are filled and are null only for old rows that "
        "lack them.",
        tests=("tests/toolsets/programs/test_details.py::test_a_new_programme_has_its_lineage",),
    ),
    Requirement(
        "G-get-rest-same",
        "002",
        "get_program has the same structure as REST /v1/programs/{unified_id} with the same fields.",
        tests=(
            "tests/toolsets/programs/test_schema.py::test_each_tool_is_one_operation_with_its_rest_form",
            "tests/toolsets/programs/test_search.py::test_a_full_row_adds_details_and_lineage",
        ),
    ),
    Requirement(
        "G-get-example",
        "002",
        "get_program for keiei-kaishi-shikin returns 経営開始資金 of tier S in the documented shape.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_the_documented_programme_has_the_documented_shape",
        ),
    ),
    Requirement(
        "G-get-not-found",
        "002",
        "get_program for an unknown id fails with program not found.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_an_unknown_id_is_not_found",
            "tests/serve/test_programs.py::test_an_error_is_a_result_with_the_specified_text",
        ),
    ),
    Requirement(
        "G-get-use-details",
        "002",
        "The description of get_program says to call it for the details of one programme, such as 締切 "
        "and 必要書類.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_description_says_when_to_call",),
    ),
    Requirement(
        "G-batch-unified-ids-required",
        "002",
        "batch_get_programs requires a list of strings under unified_ids.",
        tests=("tests/toolsets/programs/test_schema.py::test_details_need_their_ids",),
    ),
    Requirement(
        "G-batch-limit",
        "002",
        "batch_get_programs takes 1 to 50 ids.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_a_batch_has_at_least_one_id_and_at_most_fifty",
        ),
    ),
    Requirement(
        "G-batch-duplicates",
        "002",
        "batch_get_programs removes repeated ids and keeps the order of their first appearance.",
        tests=("tests/toolsets/programs/test_details.py::test_a_batch_is_the_details_of_each_in_order",),
    ),
    Requirement(
        "G-batch-results-shape",
        "002",
        "Each entry of results equals get_program with fields full.",
        tests=("tests/toolsets/programs/test_details.py::test_a_batch_is_the_details_of_each_in_order",),
    ),
    Requirement(
        "G-batch-results-order",
        "002",
        "batch_get_programs keeps the order of the ids after duplicates are removed.",
        tests=("tests/toolsets/programs/test_details.py::test_a_batch_is_the_details_of_each_in_order",),
    ),
    Requirement(
        "G-batch-results-keys",
        "002",
        "Each entry of results has enriched, source_mentions and the three lineage keys even where "
        "they are null.",
        tests=("tests/toolsets/programs/test_details.py::test_a_batch_is_the_details_of_each_in_order",),
    ),
    Requirement(
        "G-batch-not-found",
        "002",
        "batch_get_programs lists the ids it could not resolve under not_found.",
        tests=("tests/toolsets/programs/test_details.py::test_the_documented_batch_is_half_a_success",),
    ),
    Requirement(
        "G-batch-partial-success",
        "002",
        "A batch with unknown ids is a success and is never answered with 404.",
        tests=("tests/toolsets/programs/test_details.py::test_the_documented_batch_is_half_a_success",),
    ),
    Requirement(
        "G-batch-example",
        "002",
        "The batch of keiei-kaishi-shikin and UNI-typo-1 returns one result and one entry in not_found.",
        tests=("tests/toolsets/programs/test_details.py::test_the_documented_batch_is_half_a_success",),
    ),
    Requirement(
        "G-batch-twenty",
        "002",
        "One batch_get_programs call returns the details of the 20 results of a search.",
        tests=("tests/toolsets/programs/test_details.py::test_one_batch_has_the_details_of_a_whole_page",),
    ),
    Requirement(
        "G-batch-error-empty",
        "002",
        "An empty batch fails with unified_ids required.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_a_batch_has_at_least_one_id_and_at_most_fifty",
            "tests/serve/test_programs.py::test_an_error_is_a_result_with_the_specified_text",
        ),
    ),
    Requirement(
        "G-batch-error-cap",
        "002",
        "A batch of N ids above 50 fails with unified_ids cap is 50, got N.",
        tests=(
            "tests/toolsets/programs/test_details.py::test_a_batch_has_at_least_one_id_and_at_most_fifty",
            "tests/serve/test_programs.py::test_an_error_is_a_result_with_the_specified_text",
        ),
    ),
    Requirement(
        "G-batch-one-request",
        "002",
        "A batch counts as one request for rate limiting.",
        tests=("tests/toolsets/programs/test_details.py::test_a_batch_is_one_call",),
    ),
    Requirement(
        "G-batch-use-compare",
        "002",
        "The description of batch_get_programs says to call it for comparing several programmes at once.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_description_says_when_to_call",),
    ),
    Requirement(
        "G-rules-no-arguments",
        "002",
        "list_exclusion_rules works without arguments.",
        tests=("tests/toolsets/programs/test_schema.py::test_lists_and_counts_need_no_argument",),
    ),
    Requirement(
        "G-rules-list",
        "002",
        "list_exclusion_rules returns every exclusion rule as a list.",
        tests=("tests/toolsets/programs/test_rules.py::TestList::test_every_rule_is_listed",),
    ),
    Requirement(
        "G-rule-id",
        "002",
        "A rule carries its identifier under rule_id.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rule-kind",
        "002",
        "A rule carries its kind such as mutex under kind.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rule-severity",
        "002",
        "A rule carries its severity such as absolute under severity.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rule-program-a",
        "002",
        "A rule carries one programme under program_a.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rule-program-b",
        "002",
        "A rule carries the other programme under program_b.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rule-program-b-group",
        "002",
        "A rule carries a list of further programmes under program_b_group.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rule-description",
        "002",
        "A rule carries its description such as 同時受給不可 under description.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rule-source-notes",
        "002",
        "A rule carries its ground such as MAFF 要綱第3条 under source_notes.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rule-source-urls",
        "002",
        "A rule carries a list of addresses under source_urls.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rule-extra",
        "002",
        "A rule carries an object with anything else under extra.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_anything_else_a_source_gives_is_kept",
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rules-example",
        "002",
        "The rule agri-001 on keiei-kaishi-shikin and koyo-shuno-shikin has the documented values.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestList::test_the_documented_rule_has_the_documented_values",
        ),
    ),
    Requirement(
        "G-rules-count",
        "002",
        "The documented set holds 35 rules, 22 on farming and 13 on other fields.",
        tests=("tests/toolsets/programs/test_rules.py::TestList::test_every_rule_is_listed",),
    ),
    Requirement(
        "G-rules-use",
        "002",
        "The description of list_exclusion_rules says to call it for questions such as "
        "どの補助金を併用すると失格になる?",
        tests=("tests/toolsets/programs/test_schema.py::test_a_description_says_when_to_call",),
    ),
    Requirement(
        "G-check-program-ids-required",
        "002",
        "check_exclusions requires a list of strings under program_ids.",
        tests=("tests/toolsets/programs/test_schema.py::test_details_need_their_ids",),
    ),
    Requirement(
        "G-check-accepts-unified-id",
        "002",
        "check_exclusions accepts a unified_id.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_any_name_of_a_programme_fires_the_same_rule",
            "tests/toolsets/programs/test_rules.py::TestCheck::test_a_rule_may_name_what_no_programme_here_is",
        ),
    ),
    Requirement(
        "G-check-accepts-canonical-name",
        "002",
        "check_exclusions accepts the canonical name of a farming programme.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_any_name_of_a_programme_fires_the_same_rule",
        ),
    ),
    Requirement(
        "G-check-response-program-ids",
        "002",
        "The check_exclusions answer repeats the ids under program_ids.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_the_documented_pair_is_the_documented_hit",
        ),
    ),
    Requirement(
        "G-check-response-hits",
        "002",
        "The check_exclusions answer lists the triggered rules under hits.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_the_documented_pair_is_the_documented_hit",
        ),
    ),
    Requirement(
        "G-check-response-checked-rules",
        "002",
        "The check_exclusions answer counts the rules looked at under checked_rules.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_the_documented_pair_is_the_documented_hit",
        ),
    ),
    Requirement(
        "G-check-hit-rule-id",
        "002",
        "A hit carries the rule's identifier under rule_id.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_the_documented_pair_is_the_documented_hit",
        ),
    ),
    Requirement(
        "G-check-hit-kind",
        "002",
        "A hit carries the rule's kind under kind.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_the_documented_pair_is_the_documented_hit",
        ),
    ),
    Requirement(
        "G-check-hit-severity",
        "002",
        "A hit carries the rule's severity under severity.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_the_documented_pair_is_the_documented_hit",
        ),
    ),
    Requirement(
        "G-check-hit-programs-involved",
        "002",
        "A hit lists the programmes that triggered it under programs_involved.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_the_documented_pair_is_the_documented_hit",
        ),
    ),
    Requirement(
        "G-check-hit-description",
        "002",
        "A hit carries the rule's description under description.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_the_documented_pair_is_the_documented_hit",
        ),
    ),
    Requirement(
        "G-check-hit-source-urls",
        "002",
        "A hit carries the rule's addresses under source_urls.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_the_documented_pair_is_the_documented_hit",
        ),
    ),
    Requirement(
        "G-check-no-hit",
        "002",
        "Programmes that no rule joins give an empty list of hits.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_programmes_that_no_rule_joins_hit_nothing",
        ),
    ),
    Requirement(
        "G-check-example",
        "002",
        "check_exclusions for keiei-kaishi-shikin and koyo-shuno-shikin hits agri-001 with 同時受給不可.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_the_documented_pair_is_the_documented_hit",
        ),
    ),
    Requirement(
        "G-check-error-empty",
        "002",
        "check_exclusions with an empty list fails with program_ids required.",
        tests=(
            "tests/toolsets/programs/test_rules.py::TestCheck::test_there_is_at_least_one_id_and_at_most_fifty",
        ),
    ),
    Requirement(
        "G-check-use",
        "002",
        "The description of check_exclusions says to call it for several candidates and the question "
        "これ全部併用できる?",
        tests=("tests/toolsets/programs/test_schema.py::test_a_description_says_when_to_call",),
    ),
    Requirement(
        "G-meta-no-arguments",
        "002",
        "get_meta works without arguments.",
        tests=("tests/toolsets/programs/test_schema.py::test_lists_and_counts_need_no_argument",),
    ),
    Requirement(
        "G-meta-total-programs",
        "002",
        "get_meta counts the programmes under total_programs.",
        tests=("tests/toolsets/programs/test_details.py::TestMeta::test_programmes_are_counted_by_tier",),
    ),
    Requirement(
        "G-meta-tier-counts",
        "002",
        "get_meta counts the programmes of each tier S, A, B, C and X under tier_counts.",
        tests=("tests/toolsets/programs/test_details.py::TestMeta::test_programmes_are_counted_by_tier",),
    ),
    Requirement(
        "G-meta-tier-counts-sum",
        "002",
        "The tier counts of get_meta add up to total_programs as in the example.",
        tests=("tests/toolsets/programs/test_details.py::TestMeta::test_programmes_are_counted_by_tier",),
    ),
    Requirement(
        "G-meta-prefecture-counts",
        "002",
        "get_meta counts the programmes of each prefecture under prefecture_counts.",
        tests=(
            "tests/toolsets/programs/test_details.py::TestMeta::test_programmes_are_counted_by_prefecture",
        ),
    ),
    Requirement(
        "G-meta-prefecture-none",
        "002",
        "get_meta counts programmes without a prefecture under _none.",
        tests=(
            "tests/toolsets/programs/test_details.py::TestMeta::test_programmes_are_counted_by_prefecture",
        ),
    ),
    Requirement(
        "G-meta-exclusion-rules-count",
        "002",
        "get_meta counts the exclusion rules under exclusion_rules_count.",
        tests=("tests/toolsets/programs/test_details.py::TestMeta::test_rules_are_counted",),
    ),
    Requirement(
        "G-meta-last-ingested-at",
        "002",
        "get_meta gives the time of the last import as ISO 8601 UTC under last_ingested_at.",
        tests=("tests/toolsets/programs/test_details.py::TestMeta::test_it_says_how_old_the_data_is",),
    ),
    Requirement(
        "G-meta-data-as-of",
        "002",
        "get_meta gives the date of the data as YYYY-MM-DD under data_as_of.",
        tests=("tests/toolsets/programs/test_details.py::TestMeta::test_it_says_how_old_the_data_is",),
    ),
    Requirement(
        "G-meta-use",
        "002",
        "The description of get_meta says to call it for the coverage and the age of the data.",
        tests=("tests/toolsets/programs/test_schema.py::test_a_description_says_when_to_call",),
    ),
)

ANSWERS = (
    Requirement(
        "A-tool-published",
        "003",
        "The answers server publishes the single tool kb_answer.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_agents_are_offered_the_one_tool_as_documented",
        ),
    ),
    Requirement(
        "A-transport-stdio",
        "003",
        "kb_answer can be called over stdio.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_answers_and_errors_reach_an_agent_as_documented",
        ),
    ),
    Requirement(
        "A-answer-query-type",
        "003",
        "The kb_answer parameter query is a required string described as Knowledge Base に送信する質問.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_agents_are_offered_the_one_tool_as_documented",
            "tests/toolsets/answers/test_validation.py::test_a_question_that_is_no_text_to_send_is_refused",
            "tests/toolsets/answers/test_validation.py::test_a_question_that_is_not_there_is_refused",
        ),
    ),
    Requirement(
        "A-answer-max-results-type",
        "003",
        "The kb_answer parameter max_results is an integer described as 取得するソースチャンクの最大数.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_agents_are_offered_the_one_tool_as_documented",
            "tests/toolsets/answers/test_validation.py::test_a_number_of_results_that_is_no_integer_is_refused",
        ),
    ),
    Requirement(
        "A-answer-max-results-default",
        "003",
        "kb_answer retrieves at most 4 passages when max_results is not given.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_four_passages_are_asked_for_unless_said_otherwise",
            "tests/toolsets/answers/test_bedrock_wire.py::test_agents_are_offered_the_one_tool_as_documented",
        ),
    ),
    Requirement(
        "A-tool-description",
        "003",
        "The description of kb_answer says that it queries the knowledge base and returns an answer "
        "with citations.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_agents_are_offered_the_one_tool_as_documented",
        ),
    ),
    Requirement(
        "A-flow-validate-first",
        "003",
        "kb_answer checks its input and its settings before it calls Bedrock.",
        tests=(
            "tests/toolsets/answers/test_validation.py::test_a_question_of_white_space_is_refused_and_never_sent",
            "tests/toolsets/answers/test_validation.py::test_the_input_is_checked_before_the_settings",
            "tests/toolsets/answers/test_bedrock_wire.py::test_each_missing_setting_is_named_and_nothing_is_sent",
        ),
    ),
    Requirement(
        "A-flow-retrieve-and-generate",
        "003",
        "kb_answer with the Bedrock backend calls RetrieveAndGenerate.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_a_request_on_the_wire_fits_the_services_own_model",
        ),
    ),
    Requirement(
        "A-flow-structured-result",
        "003",
        "kb_answer returns a structured result that matches its output schema.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_answers_and_errors_reach_an_agent_as_documented",
            "tests/toolsets/answers/test_bedrock_wire.py::test_references_are_merged_in_order_with_all_their_spans",
        ),
    ),
    Requirement(
        "A-config-fields",
        "003",
        "The loaded configuration holds aws_region, kb_id and model_arn.",
        tests=(
            "tests/toolsets/answers/test_config.py::test_settings_are_taken_exactly_and_tokyo_where_no_region_is",
        ),
    ),
    Requirement(
        "A-config-region",
        "003",
        "The configuration takes AWS_REGION exactly as it is set.",
        tests=(
            "tests/toolsets/answers/test_config.py::test_settings_are_taken_exactly_and_tokyo_where_no_region_is",
            "tests/toolsets/answers/test_bedrock_wire.py::test_a_request_is_signed_for_the_region_of_the_settings",
        ),
    ),
    Requirement(
        "A-config-kb-id",
        "003",
        "The configuration takes BEDROCK_KB_ID exactly as it is set.",
        tests=(
            "tests/toolsets/answers/test_config.py::test_settings_are_taken_exactly_and_tokyo_where_no_region_is",
        ),
    ),
    Requirement(
        "A-config-model-arn",
        "003",
        "The configuration takes BEDROCK_MODEL_ARN exactly as it is set.",
        tests=(
            "tests/toolsets/answers/test_config.py::test_settings_are_taken_exactly_and_tokyo_where_no_region_is",
        ),
    ),
    Requirement(
        "A-config-region-default",
        "003",
        "The region is ap-northeast-1 when AWS_REGION is not set.",
        tests=(
            "tests/toolsets/answers/test_config.py::test_settings_are_taken_exactly_and_tokyo_where_no_region_is",
            "tests/toolsets/answers/test_bedrock_wire.py::test_a_request_is_signed_for_the_region_of_the_settings",
        ),
    ),
    Requirement(
        "A-config-missing-kb-id",
        "003",
        "Loading the configuration without BEDROCK_KB_ID is a ValueError that names BEDROCK_KB_ID.",
        tests=(
            "tests/toolsets/answers/test_config.py::test_each_required_variable_that_is_missing_is_named",
            "tests/toolsets/answers/test_config.py::test_one_missing_variable_is_a_value_error_that_names_only_it",
        ),
    ),
    Requirement(
        "A-config-missing-model-arn",
        "003",
        "Loading the configuration without BEDROCK_MODEL_ARN is a ValueError that names BEDROCK_MODEL_ARN.",
        tests=(
            "tests/toolsets/answers/test_config.py::test_each_required_variable_that_is_missing_is_named",
            "tests/toolsets/answers/test_config.py::test_one_missing_variable_is_a_value_error_that_names_only_it",
        ),
    ),
    Requirement(
        "A-config-missing-both",
        "003",
        "Loading the configuration with both required variables missing names both of them.",
        tests=(
            "tests/toolsets/answers/test_config.py::test_both_missing_variables_are_named_at_once",
            "tests/toolsets/answers/test_config.py::test_each_required_variable_that_is_missing_is_named",
        ),
    ),
    Requirement(
        "A-query-max-results-default",
        "003",
        "query_knowledge_base asks for 4 results when max_results is not given.",
        tests=(
            "tests/toolsets/answers/test_request_builder.py::test_four_results_are_asked_for_where_nothing_is_said",
        ),
    ),
    Requirement(
        "A-response-answer",
        "003",
        "The kb_answer result carries the generated answer as a string under answer.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_answers_and_errors_reach_an_agent_as_documented",
            "tests/toolsets/answers/test_bedrock_wire.py::test_references_are_merged_in_order_with_all_their_spans",
        ),
    ),
    Requirement(
        "A-response-citations",
        "003",
        "The kb_answer result carries a list under citations.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_references_are_merged_in_order_with_all_their_spans",
            "tests/toolsets/answers/test_bedrock_wire.py::test_an_answer_without_references_has_empty_citations",
        ),
    ),
    Requirement(
        "A-citation-content",
        "003",
        "A citation carries the source text as a string under content.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_references_are_merged_in_order_with_all_their_spans",
        ),
    ),
    Requirement(
        "A-citation-location",
        "003",
        "A citation carries where the source stands as an object under location.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_references_are_merged_in_order_with_all_their_spans",
        ),
    ),
    Requirement(
        "A-citation-score",
        "003",
        "A citation carries a number or null under score.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_a_score_is_null_since_the_service_gives_none",
            "tests/toolsets/answers/test_response_parser.py::test_an_answer_is_parsed_with_every_reference",
        ),
    ),
    Requirement(
        "A-parse-answer",
        "003",
        "The parsed answer equals output.text of the API response.",
        tests=(
            "tests/toolsets/answers/test_response_parser.py::test_an_answer_is_parsed_with_every_reference",
        ),
    ),
    Requirement(
        "A-parse-content",
        "003",
        "The content of a citation equals content.text of its retrieved reference.",
        tests=(
            "tests/toolsets/answers/test_response_parser.py::test_an_answer_is_parsed_with_every_reference",
        ),
    ),
    Requirement(
        "A-parse-location",
        "003",
        "The location of a citation equals the location of its retrieved reference.",
        tests=(
            "tests/toolsets/answers/test_response_parser.py::test_an_answer_is_parsed_with_every_reference",
        ),
    ),
    Requirement(
        "A-parse-score",
        "003",
        "The score of a citation equals the score of its retrieved reference.",
        tests=(
            "tests/toolsets/answers/test_response_parser.py::test_an_answer_is_parsed_with_every_reference",
            "tests/toolsets/answers/test_response_parser.py::test_a_score_of_zero_is_a_score",
        ),
    ),
    Requirement(
        "A-parse-example",
        "003",
        "The documented API response with an S3 location and the score 0.85 is parsed completely.",
        tests=(
            "tests/toolsets/answers/test_response_parser.py::test_the_documented_response_is_parsed_completely",
        ),
    ),
    Requirement(
        "A-parse-empty-citations",
        "003",
        "An API response without citations is parsed to an empty list.",
        tests=(
            "tests/toolsets/answers/test_response_parser.py::test_an_answer_without_references_has_no_citations",
        ),
    ),
    Requirement(
        "A-parse-missing-fields",
        "003",
        "An API response with missing fields is parsed without an exception.",
        tests=(
            "tests/toolsets/answers/test_response_parser.py::test_whatever_is_missing_the_rest_is_parsed",
            "tests/toolsets/answers/test_response_parser.py::test_a_response_without_a_text_has_an_empty_answer",
        ),
    ),
    Requirement(
        "A-parse-missing-score",
        "003",
        "A reference without a score gives a citation whose score is null.",
        tests=("tests/toolsets/answers/test_response_parser.py::test_a_score_that_is_not_given_is_null",),
    ),
    Requirement(
        "A-request-query",
        "003",
        "The API request carries the query as its input text.",
        tests=(
            "tests/toolsets/answers/test_request_builder.py::test_a_request_carries_all_that_was_asked_and_set",
            "tests/toolsets/answers/test_validation.py::test_a_question_that_says_anything_is_sent_as_it_is",
        ),
    ),
    Requirement(
        "A-request-kb-id",
        "003",
        "The API request carries the configured knowledgeBaseId.",
        tests=(
            "tests/toolsets/answers/test_request_builder.py::test_a_request_carries_all_that_was_asked_and_set",
            "tests/toolsets/answers/test_bedrock_wire.py::test_a_request_on_the_wire_fits_the_services_own_model",
        ),
    ),
    Requirement(
        "A-request-model-arn",
        "003",
        "The API request carries the configured modelArn.",
        tests=(
            "tests/toolsets/answers/test_request_builder.py::test_a_request_carries_all_that_was_asked_and_set",
            "tests/toolsets/answers/test_bedrock_wire.py::test_a_request_on_the_wire_fits_the_services_own_model",
        ),
    ),
    Requirement(
        "A-request-number-of-results",
        "003",
        "The API request carries max_results as numberOfResults.",
        tests=(
            "tests/toolsets/answers/test_request_builder.py::test_a_request_carries_all_that_was_asked_and_set",
            "tests/toolsets/answers/test_validation.py::test_one_result_and_a_hundred_can_be_asked_for",
        ),
    ),
    Requirement(
        "A-blank-query",
        "003",
        "A query of nothing but spaces, tabs and line breaks is refused with a validation error.",
        tests=(
            "tests/toolsets/answers/test_validation.py::test_a_question_of_white_space_is_refused_and_never_sent",
            "tests/toolsets/answers/test_validation.py::test_every_white_space_of_unicode_alone_is_blank",
        ),
    ),
    Requirement(
        "A-blank-query-empty",
        "003",
        "An empty query is refused with a validation error.",
        tests=(
            "tests/toolsets/answers/test_validation.py::test_an_empty_question_is_refused_as_a_blank_one_is",
        ),
    ),
    Requirement(
        "A-blank-query-no-call",
        "003",
        "A refused blank query never reaches the Bedrock API.",
        tests=(
            "tests/toolsets/answers/test_validation.py::test_a_question_of_white_space_is_refused_and_never_sent",
            "tests/toolsets/answers/test_bedrock_wire.py::test_a_blank_question_is_not_sent",
        ),
    ),
    Requirement(
        "A-error-details-kept",
        "003",
        "The error for a failed API call keeps the original exception's message or type.",
        tests=(
            "tests/toolsets/answers/test_errors.py::test_whatever_a_call_raises_its_type_and_message_are_kept",
            "tests/toolsets/answers/test_bedrock_wire.py::test_any_other_refusal_is_told_with_type_and_words",
        ),
    ),
    Requirement(
        "A-error-blank-query-value-error",
        "003",
        "A blank query raises a ValueError with a message that explains it.",
        tests=(
            "tests/toolsets/answers/test_validation.py::test_a_blank_question_is_a_value_error",
            "tests/toolsets/answers/test_validation.py::test_every_white_space_of_unicode_alone_is_blank",
        ),
    ),
    Requirement(
        "A-error-authentication",
        "003",
        "A ClientError with an authentication code is AuthenticationError with guidance on credentials.",
        tests=(
            "tests/toolsets/answers/test_errors.py::test_an_authentication_code_is_told_with_what_to_check",
            "tests/toolsets/answers/test_bedrock_wire.py::test_who_is_not_let_in_is_told_what_to_check",
        ),
    ),
    Requirement(
        "A-error-not-found",
        "003",
        "A ClientError ResourceNotFound is NotFoundError that points to the knowledge base id.",
        tests=(
            "tests/toolsets/answers/test_errors.py::test_what_is_not_found_is_the_knowledge_base_and_named",
            "tests/toolsets/answers/test_bedrock_wire.py::test_a_knowledge_base_that_there_is_not_is_named",
        ),
    ),
    Requirement(
        "A-error-service-client",
        "003",
        "Any other ClientError is ServiceError with the exception's details.",
        tests=(
            "tests/toolsets/answers/test_errors.py::test_any_other_code_is_a_service_error_with_what_was_said",
            "tests/toolsets/answers/test_bedrock_wire.py::test_any_other_refusal_is_told_with_type_and_words",
        ),
    ),
    Requirement(
        "A-error-service-botocore",
        "003",
        "A BotoCoreError is ServiceError with the exception's details.",
        tests=(
            "tests/toolsets/answers/test_errors.py::test_every_error_of_botocore_is_a_service_error",
            "tests/toolsets/answers/test_bedrock_wire.py::test_a_server_that_cannot_be_reached_is_told",
        ),
    ),
    Requirement(
        "A-error-flag",
        "003",
        "An error answer carries true under error.",
        tests=(
            "tests/toolsets/answers/test_errors.py::test_whatever_a_call_raises_its_type_and_message_are_kept",
            "tests/toolsets/answers/test_bedrock_wire.py::test_answers_and_errors_reach_an_agent_as_documented",
        ),
    ),
    Requirement(
        "A-error-type-values",
        "003",
        "An error answer carries ValidationError, AuthenticationError, NotFoundError or ServiceError "
        "under error_type.",
        tests=(
            "tests/toolsets/answers/test_errors.py::test_whatever_a_call_raises_its_type_and_message_are_kept",
            "tests/toolsets/answers/test_bedrock_wire.py::test_answers_and_errors_reach_an_agent_as_documented",
        ),
    ),
    Requirement(
        "A-error-message",
        "003",
        "An error answer carries an explanation that people can read under message.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_who_is_not_let_in_is_told_what_to_check",
            "tests/toolsets/answers/test_bedrock_wire.py::test_answers_and_errors_reach_an_agent_as_documented",
        ),
    ),
    Requirement(
        "A-test-iterations",
        "003",
        "Each of the six properties is tested with at least 100 generated examples.",
        tests=(
            "tests/toolsets/answers/test_config.py::test_each_property_is_tagged_and_has_a_hundred_examples",
        ),
    ),
    Requirement(
        "A-test-tags",
        "003",
        "Each property test carries a comment of the form **Feature: mcp-bedrock-kb, Property N: …**.",
        tests=(
            "tests/toolsets/answers/test_config.py::test_each_property_is_tagged_and_has_a_hundred_examples",
        ),
    ),
    Requirement(
        "A-schema-registered",
        "003",
        "The tool is registered with the documented input schema.",
        tests=(
            "tests/toolsets/answers/test_bedrock_wire.py::test_agents_are_offered_the_one_tool_as_documented",
        ),
    ),
)

PAGES = (
    Requirement(
        "D-tools-published",
        "004",
        "The server publishes the six tools ubp_search, ubp_get_page, ubp_get_context, "
        "ubp_fulltext_search, ubp_list_pages and ubp_get_graph.",
        tests=("tests/serve/test_pages.py::test_the_six_tools_are_offered_beside_the_others",),
    ),
    Requirement(
        "D-serve-stdio",
        "004",
        "The serve command answers MCP over stdio.",
        tests=("tests/serve/test_pages.py::test_the_pattern_of_gathering_context",),
    ),
    Requirement(
        "D-serve-lock",
        "004",
        "A lock file keeps a second server from starting on the same documents.",
        tests=(
            "tests/serve/test_pages.py::TestLock::test_a_second_server_is_refused_with_the_name_of_the_first",
            "tests/serve/test_pages.py::TestLock::test_the_lock_of_a_killed_server_is_taken_over",
        ),
    ),
    Requirement(
        "D-serve-watch",
        "004",
        "The server watches the files and a changed document is found by search without a restart.",
        tests=(
            "tests/serve/test_pages.py::test_an_edit_a_new_page_a_move_and_a_removal_are_seen_without_a_restart",
        ),
    ),
    Requirement(
        "D-error-json-rpc",
        "004",
        "Errors are JSON-RPC errors.",
        tests=("tests/serve/test_pages.py::test_errors_are_those_of_json_rpc",),
    ),
    Requirement(
        "D-error-no-stack-trace",
        "004",
        "An error never carries a stack trace.",
        tests=(
            "tests/toolsets/pages/test_paths.py::test_an_internal_fault_is_minus_32603_without_a_stack_trace",
            "tests/serve/test_pages.py::test_errors_are_those_of_json_rpc",
        ),
    ),
    Requirement(
        "D-error-invalid-params",
        "004",
        "An invalid parameter is answered with the code -32602.",
        tests=(
            "tests/serve/test_pages.py::test_errors_are_those_of_json_rpc",
            "tests/toolsets/pages/test_paths.py::test_no_path_leads_out_and_every_one_is_an_invalid_parameter",
        ),
    ),
    Requirement(
        "D-error-internal",
        "004",
        "An internal error is answered with the code -32603.",
        tests=(
            "tests/toolsets/pages/test_paths.py::test_an_internal_fault_is_minus_32603_without_a_stack_trace",
        ),
    ),
    Requirement(
        "D-search-query-required",
        "004",
        "ubp_search requires a string under query.",
        tests=("tests/toolsets/pages/test_service.py::TestSearch::test_wrong_arguments_are_refused",),
    ),
    Requirement(
        "D-search-limit-default",
        "004",
        "ubp_search returns at most 10 pages when limit is not given.",
        tests=("tests/toolsets/pages/test_service.py::TestSearch::test_ten_pages_unless_asked_for_more",),
    ),
    Requirement(
        "D-search-limit-range",
        "004",
        "The ubp_search parameter limit is from 1 to 20.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_wrong_arguments_are_refused",
            "tests/toolsets/pages/test_service.py::TestSearch::test_ten_pages_unless_asked_for_more",
        ),
    ),
    Requirement(
        "D-search-include-linked-default",
        "004",
        "The ubp_search parameter include_linked is a boolean, false by default, and linked_pages is "
        "then absent.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_linked_pages_come_only_when_asked_for",
            "tests/toolsets/pages/test_service.py::TestSearch::test_defaults_are_those_of_the_specification",
        ),
    ),
    Requirement(
        "D-search-include-linked-true",
        "004",
        "ubp_search with include_linked adds linked_pages to its results.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_linked_pages_come_only_when_asked_for",
        ),
    ),
    Requirement(
        "D-search-depth-default",
        "004",
        "ubp_search walks the graph to depth 2 when depth is not given.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_link_types_restrict_what_is_walked",
            "tests/toolsets/pages/test_service.py::TestSearch::test_defaults_are_those_of_the_specification",
        ),
    ),
    Requirement(
        "D-search-depth-range",
        "004",
        "The ubp_search parameter depth is from 1 to 3.",
        tests=("tests/toolsets/pages/test_service.py::TestSearch::test_wrong_arguments_are_refused",),
    ),
    Requirement(
        "D-search-link-types",
        "004",
        "ubp_search with link_types walks only links of those types.",
        tests=("tests/toolsets/pages/test_service.py::TestSearch::test_link_types_restrict_what_is_walked",),
    ),
    Requirement(
        "D-search-three-way",
        "004",
        "ubp_search joins vector similarity, graph proximity and full-text score into one score.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_the_score_is_the_three_parts_together_and_falls",
            "tests/toolsets/pages/test_scoring.py::test_the_parts_are_added_up",
        ),
    ),
    Requirement(
        "D-search-response-results",
        "004",
        "The ubp_search answer lists pages under results.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-search-response-total-found",
        "004",
        "The ubp_search answer counts the found pages under total_found.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_an_answer_has_exactly_the_keys_of_the_specification",
            "tests/toolsets/pages/test_service.py::TestSearch::test_ten_pages_unless_asked_for_more",
        ),
    ),
    Requirement(
        "D-search-response-search-type",
        "004",
        "The ubp_search answer carries hybrid or fulltext_fallback under search_type.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_an_answer_has_exactly_the_keys_of_the_specification",
            "tests/toolsets/pages/test_service.py::TestSearch::test_without_vectors_words_answer_and_it_says_so",
        ),
    ),
    Requirement(
        "D-search-result-doc-id",
        "004",
        "A ubp_search result carries its document under doc_id.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-search-result-filepath",
        "004",
        "A ubp_search result carries its path under filepath.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-search-result-title",
        "004",
        "A ubp_search result carries its title under title.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-search-result-sections",
        "004",
        "A ubp_search result lists sections with section_id, heading, content and score under sections.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-search-result-score",
        "004",
        "A ubp_search result carries its joined score as a number under score and the results fall in "
        "that order.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_the_score_is_the_three_parts_together_and_falls",
        ),
    ),
    Requirement(
        "D-search-result-score-breakdown",
        "004",
        "A ubp_search result carries vector_similarity and graph_proximity under score_breakdown.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-search-result-relevance-reason",
        "004",
        "A ubp_search result says in words why it was found under relevance_reason.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-search-result-staleness",
        "004",
        "A ubp_search result carries fresh, possibly_stale, stale or untracked under staleness.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-search-linked-pages",
        "004",
        "An entry of linked_pages has doc_id, filepath, title, link_type and summary.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_linked_pages_come_only_when_asked_for",
        ),
    ),
    Requirement(
        "D-search-fallback",
        "004",
        "ubp_search without embeddings answers by full text and says fulltext_fallback.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestSearch::test_without_vectors_words_answer_and_it_says_so",
        ),
    ),
    Requirement(
        "D-page-filepath-required",
        "004",
        "ubp_get_page requires a string under filepath.",
        tests=(
            "tests/serve/test_pages.py::test_errors_are_those_of_json_rpc",
            "tests/toolsets/pages/test_service.py::TestGetPage::test_the_path_of_a_page_is_required",
        ),
    ),
    Requirement(
        "D-page-filepath-relative",
        "004",
        "The ubp_get_page filepath is relative to the documents folder.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetPage::test_a_page_has_exactly_the_keys_of_the_specification",
            "tests/toolsets/pages/test_paths.py::test_no_path_leads_out_and_every_one_is_an_invalid_parameter",
        ),
    ),
    Requirement(
        "D-page-doc-id",
        "004",
        "A page carries its identifier under doc_id.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetPage::test_a_page_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-page-filepath",
        "004",
        "A page carries its path under filepath.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetPage::test_a_page_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-page-title",
        "004",
        "A page carries its title under title.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetPage::test_a_page_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-page-doc-type",
        "004",
        "A page carries its kind under doc_type.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetPage::test_a_page_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-page-content",
        "004",
        "A page carries the text of all its sections joined under content.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetPage::test_a_page_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-page-sections",
        "004",
        "A page lists every section with heading and content under sections.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetPage::test_a_page_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-page-outlinks",
        "004",
        "A page lists the pages it links to with doc_id, filepath, title and link_type under outlinks.",
        tests=("tests/toolsets/pages/test_service.py::TestGetPage::test_links_go_both_ways",),
    ),
    Requirement(
        "D-page-backlinks",
        "004",
        "A page lists the pages that link to it with doc_id, filepath, title and link_type under backlinks.",
        tests=("tests/toolsets/pages/test_service.py::TestGetPage::test_links_go_both_ways",),
    ),
    Requirement(
        "D-page-staleness",
        "004",
        "A page carries its staleness level under staleness.",
        tests=(
            "tests/toolsets/pages/test_staleness.py::TestWithoutGit::test_a_recent_change_makes_it_possibly_stale_and_an_old_one_stale",
            "tests/toolsets/pages/test_staleness.py::TestInAWorkTree::test_the_age_of_a_change_is_that_of_its_commit",
        ),
    ),
    Requirement(
        "D-page-stale-refs",
        "004",
        "A page lists the source files that made it stale under stale_refs.",
        tests=(
            "tests/toolsets/pages/test_staleness.py::TestWithoutGit::test_deleted_and_missing_sources_are_told_apart",
        ),
    ),
    Requirement(
        "D-page-updated-at",
        "004",
        "A page carries the time of its last change as text under updated_at.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetPage::test_a_page_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-context-filepath-required",
        "004",
        "ubp_get_context requires the centre page as a string under filepath.",
        tests=("tests/toolsets/pages/test_service.py::TestGetContext::test_wrong_arguments_are_refused",),
    ),
    Requirement(
        "D-context-depth-default",
        "004",
        "ubp_get_context walks the graph to depth 2 when depth is not given.",
        tests=("tests/toolsets/pages/test_service.py::TestGetContext::test_depth_is_two_unless_given",),
    ),
    Requirement(
        "D-context-depth-range",
        "004",
        "The ubp_get_context parameter depth is from 1 to 3.",
        tests=("tests/toolsets/pages/test_service.py::TestGetContext::test_wrong_arguments_are_refused",),
    ),
    Requirement(
        "D-context-max-size-default",
        "004",
        "ubp_get_context writes at most 50000 characters when max_size is not given.",
        tests=("tests/toolsets/pages/test_service.py::TestGetContext::test_depth_is_two_unless_given",),
    ),
    Requirement(
        "D-context-max-size",
        "004",
        "ubp_get_context keeps its output within max_size characters by leaving related pages out.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetContext::test_what_does_not_fit_is_left_out_and_counted_and_a_smaller_one_may_still_fit",
        ),
    ),
    Requirement(
        "D-context-center",
        "004",
        "A context carries the centre page's doc_id, filepath, title and whole content under center.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetContext::test_a_context_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-context-related",
        "004",
        "A context lists the neighbours under related.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetContext::test_a_context_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-context-related-keys",
        "004",
        "A related page has doc_id, filepath, title, link_type, direction, summary and depth.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetContext::test_a_context_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-context-direction",
        "004",
        "The direction of a related page is outlink or backlink.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetContext::test_a_context_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-context-summary",
        "004",
        "The summary of a related page is the first 500 characters of its text.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetContext::test_a_summary_is_the_first_500_characters_of_the_body",
        ),
    ),
    Requirement(
        "D-context-depth",
        "004",
        "The depth of a related page is its distance from the centre as a number.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetContext::test_a_context_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-context-total-size",
        "004",
        "A context carries its size under total_size.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetContext::test_a_context_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-context-truncated-count",
        "004",
        "A context counts the pages that max_size left out under truncated_count.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetContext::test_what_does_not_fit_is_left_out_and_counted_and_a_smaller_one_may_still_fit",
        ),
    ),
    Requirement(
        "D-fulltext-query-required",
        "004",
        "ubp_fulltext_search requires a string under query.",
        tests=("tests/toolsets/pages/test_service.py::TestFulltext::test_wrong_arguments_are_refused",),
    ),
    Requirement(
        "D-fulltext-limit-default",
        "004",
        "ubp_fulltext_search returns at most 10 results when limit is not given.",
        tests=("tests/toolsets/pages/test_service.py::TestFulltext::test_a_kind_is_chosen_before_the_cut",),
    ),
    Requirement(
        "D-fulltext-limit-range",
        "004",
        "The ubp_fulltext_search parameter limit is from 1 to 50.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestFulltext::test_wrong_arguments_are_refused",
            "tests/toolsets/pages/test_service.py::TestFulltext::test_a_kind_is_chosen_before_the_cut",
        ),
    ),
    Requirement(
        "D-fulltext-doc-type",
        "004",
        "ubp_fulltext_search with doc_type returns only pages of that kind.",
        tests=("tests/toolsets/pages/test_service.py::TestFulltext::test_a_kind_is_chosen_before_the_cut",),
    ),
    Requirement(
        "D-fulltext-substring",
        "004",
        "ubp_fulltext_search finds Japanese substrings.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestFulltext::test_character_sequences_are_found_wherever_they_stand",
            "tests/toolsets/pages/test_service.py::TestFulltext::test_the_index_finds_exactly_what_a_plain_search_of_the_texts_finds",
        ),
    ),
    Requirement(
        "D-fulltext-without-embeddings",
        "004",
        "ubp_fulltext_search works without embeddings.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestFulltext::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-fulltext-response-results",
        "004",
        "The ubp_fulltext_search answer lists sections under results.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestFulltext::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-fulltext-response-total-found",
        "004",
        "The ubp_fulltext_search answer counts the matches under total_found.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestFulltext::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-fulltext-result-keys",
        "004",
        "A ubp_fulltext_search result has doc_id, filepath, title, section_heading, snippet and rank.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestFulltext::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-fulltext-section-heading",
        "004",
        "The section_heading of a ubp_fulltext_search result is the heading or null.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestFulltext::test_the_heading_is_null_above_the_first_one",
        ),
    ),
    Requirement(
        "D-fulltext-snippet",
        "004",
        "The snippet of a ubp_fulltext_search result is 64 characters with the match highlighted.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestFulltext::test_a_snippet_is_64_characters_with_the_match_marked",
        ),
    ),
    Requirement(
        "D-fulltext-rank",
        "004",
        "The rank of a ubp_fulltext_search result is a number.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestFulltext::test_an_answer_has_exactly_the_keys_of_the_specification",
        ),
    ),
    Requirement(
        "D-list-all",
        "004",
        "ubp_list_pages without arguments lists every indexed page.",
        tests=("tests/toolsets/pages/test_service.py::TestListPages::test_every_page_is_listed_by_title",),
    ),
    Requirement(
        "D-list-doc-type",
        "004",
        "ubp_list_pages with doc_type lists only pages of that kind.",
        tests=("tests/toolsets/pages/test_service.py::TestListPages::test_a_kind_can_be_chosen",),
    ),
    Requirement(
        "D-list-sort-default",
        "004",
        "ubp_list_pages sorts by title when sort is not given.",
        tests=("tests/toolsets/pages/test_service.py::TestListPages::test_every_page_is_listed_by_title",),
    ),
    Requirement(
        "D-list-sort-values",
        "004",
        "The ubp_list_pages parameter sort accepts title, updated_at and filepath and nothing else.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestListPages::test_the_order_can_be_chosen",
            "tests/toolsets/pages/test_service.py::TestListPages::test_wrong_arguments_are_refused",
        ),
    ),
    Requirement(
        "D-list-order-default",
        "004",
        "ubp_list_pages sorts ascending when order is not given.",
        tests=("tests/toolsets/pages/test_service.py::TestListPages::test_every_page_is_listed_by_title",),
    ),
    Requirement(
        "D-list-order-values",
        "004",
        "The ubp_list_pages parameter order accepts asc and desc and nothing else.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestListPages::test_the_order_can_be_chosen",
            "tests/toolsets/pages/test_service.py::TestListPages::test_wrong_arguments_are_refused",
        ),
    ),
    Requirement(
        "D-list-page-keys",
        "004",
        "A listed page has doc_id, filepath, title, doc_type, link_count and updated_at.",
        tests=("tests/toolsets/pages/test_service.py::TestListPages::test_every_page_is_listed_by_title",),
    ),
    Requirement(
        "D-list-link-count",
        "004",
        "The link_count of a listed page is a number.",
        tests=("tests/toolsets/pages/test_service.py::TestListPages::test_every_page_is_listed_by_title",),
    ),
    Requirement(
        "D-list-total",
        "004",
        "The ubp_list_pages answer counts the pages under total.",
        tests=("tests/toolsets/pages/test_service.py::TestListPages::test_every_page_is_listed_by_title",),
    ),
    Requirement(
        "D-graph-center",
        "004",
        "ubp_get_graph takes the centre as a filepath or a doc_id.",
        tests=("tests/toolsets/pages/test_service.py::TestGetGraph::test_a_centre_is_a_path_or_an_id",),
    ),
    Requirement(
        "D-graph-center-none",
        "004",
        "ubp_get_graph without center returns the graph of all pages.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetGraph::test_without_a_centre_the_whole_graph_is_returned",
        ),
    ),
    Requirement(
        "D-graph-depth-default",
        "004",
        "ubp_get_graph walks to depth 2 when depth is not given.",
        tests=("tests/toolsets/pages/test_service.py::TestGetGraph::test_the_graph_ends_at_the_depth",),
    ),
    Requirement(
        "D-graph-depth-range",
        "004",
        "The ubp_get_graph parameter depth is from 1 to 5.",
        tests=("tests/toolsets/pages/test_service.py::TestGetGraph::test_wrong_arguments_are_refused",),
    ),
    Requirement(
        "D-graph-subgraph",
        "004",
        "ubp_get_graph with center returns only what lies within depth of it.",
        tests=("tests/toolsets/pages/test_service.py::TestGetGraph::test_the_graph_ends_at_the_depth",),
    ),
    Requirement(
        "D-graph-nodes",
        "004",
        "The ubp_get_graph answer lists nodes with id, filepath, title and doc_type under nodes.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetGraph::test_without_a_centre_the_whole_graph_is_returned",
        ),
    ),
    Requirement(
        "D-graph-edges",
        "004",
        "The ubp_get_graph answer lists edges with source, target and type under edges.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetGraph::test_without_a_centre_the_whole_graph_is_returned",
        ),
    ),
    Requirement(
        "D-graph-edge-ids",
        "004",
        "The source and target of an edge are doc_ids of nodes in the answer.",
        tests=(
            "tests/toolsets/pages/test_service.py::TestGetGraph::test_without_a_centre_the_whole_graph_is_returned",
            "tests/toolsets/pages/test_service.py::TestGetGraph::test_the_graph_ends_at_the_depth",
        ),
    ),
    Requirement(
        "D-link-syntax",
        "004",
        "A link [[target]] or [[target|type]] in a page becomes an edge, as "
        "[[search-algorithm|implements]] and [[database-schema]] do in the seed.",
        tests=(
            "tests/toolsets/pages/test_markdown.py::test_a_wiki_link_may_say_its_type",
            "tests/toolsets/pages/test_service.py::TestGetPage::test_links_go_both_ways",
        ),
    ),
    Requirement(
        "D-frontmatter",
        "004",
        "The frontmatter keys title, doc_type and source_refs of a page are read as in the seed itself.",
        tests=("tests/toolsets/pages/test_markdown.py::test_front_matter_says_title_kind_tags_and_sources",),
    ),
    Requirement(
        "D-pattern-context",
        "004",
        "ubp_search followed by ubp_get_context at depth 2 on its best page collects the context for "
        "an answer.",
        tests=("tests/serve/test_pages.py::test_the_pattern_of_gathering_context",),
    ),
    Requirement(
        "D-pattern-explore",
        "004",
        "ubp_list_pages with doc_type design, then ubp_get_page, then ubp_get_graph on that page works "
        "step by step.",
        tests=("tests/serve/test_pages.py::test_the_pattern_of_exploring",),
    ),
    Requirement(
        "D-pattern-freshness",
        "004",
        "ubp_get_page shows by staleness and stale_refs which page to update after a source file changed.",
        tests=("tests/serve/test_pages.py::test_the_pattern_of_checking_freshness",),
    ),
)

REQUIREMENTS: tuple[Requirement, ...] = (*KNOWLEDGE, *PATENTS, *PROGRAMS, *ANSWERS, *PAGES)


@dataclass(frozen=True)
class Coverage:
    """How many requirements of one seed have a test that shows them."""

    seed: str
    shown: int
    total: int

    def __str__(self) -> str:
        return f"seed {self.seed} {SEEDS[self.seed]}: {self.shown} of {self.total} shown"


def coverage() -> list[Coverage]:
    """One entry for each seed, in order."""
    return [
        Coverage(
            seed,
            shown=sum(1 for requirement in REQUIREMENTS if requirement.seed == seed and requirement.tests),
            total=sum(1 for requirement in REQUIREMENTS if requirement.seed == seed),
        )
        for seed in SEEDS
    ]


def coverage_lines() -> list[str]:
    """The coverage as text, for the summary that pytest prints at the end."""
    return [str(entry) for entry in coverage()]
