"""What the page tools answer, statement by statement."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from shirube.errors import InvalidInput, NotFound
from shirube.index.contract import Holding
from shirube.query.filters import Filters
from shirube.text.normalize import fold
from shirube.toolsets.pages import schema
from shirube.toolsets.pages.feed import SHOWN, shown_text
from shirube.toolsets.pages.service import PagesService
from tests.toolsets.pages.conftest import SITE, write

Open = Callable[[Path], PagesService]
LEVELS = {"fresh", "possibly_stale", "stale", "untracked"}
SEARCH = "design/検索アルゴリズム.md"


def plain(answer: Any) -> Any:
    return answer.model_dump(mode="json", exclude_unset=True)


def search(service: PagesService, query: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = plain(service.search(schema.SearchInput(query=query, **options)))
    return found


def fulltext(service: PagesService, query: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = plain(service.fulltext_search(schema.FulltextInput(query=query, **options)))
    return found


def page(service: PagesService, filepath: str) -> dict[str, Any]:
    found: dict[str, Any] = plain(service.get_page(schema.GetPageInput(filepath=filepath)))
    return found


class TestSearch:
    def test_an_answer_has_exactly_the_keys_of_the_specification(self, service: PagesService) -> None:
        answer = search(service, "検索結果の順位はどう決まるか", include_linked=True)
        assert set(answer) == {"results", "total_found", "search_type"}
        assert answer["search_type"] == "hybrid"
        best = answer["results"][0]
        assert set(best) == {
            *("doc_id", "filepath", "title", "sections", "score", "score_breakdown"),
            *("relevance_reason", "staleness", "linked_pages"),
        }
        assert best["filepath"] == SEARCH
        assert set(best["sections"][0]) == {"section_id", "heading", "content", "score"}
        assert set(best["score_breakdown"]) == {"vector_similarity", "graph_proximity", "fulltext"}
        assert best["staleness"] in LEVELS
        assert "意味で近い" in best["relevance_reason"]
        assert "close in meaning" in best["relevance_reason"]
        assert answer["total_found"] >= len(answer["results"]) > 0

    def test_the_score_is_the_three_parts_together_and_falls(self, service: PagesService) -> None:
        results = search(service, "全文検索の得点")["results"]
        for each in results:
            parts = each["score_breakdown"]
            total = (
                0.7 * parts["vector_similarity"] + 0.21 * parts["graph_proximity"] + 0.09 * parts["fulltext"]
            )
            assert math.isclose(each["score"], total, abs_tol=2e-4)
        scores = [each["score"] for each in results]
        assert scores == sorted(scores, reverse=True)

    def test_ten_pages_unless_asked_for_more(self, tmp_path: Path, opened: Open) -> None:
        write(tmp_path / "docs", {f"p{at}.md": f"# 頁{at}\n\n共通の言葉が書かれた頁。\n" for at in range(25)})
        service = opened(tmp_path / "docs")
        assert len(search(service, "共通の言葉")["results"]) == 10
        assert len(search(service, "共通の言葉", limit=20)["results"]) == 20
        assert search(service, "共通の言葉", limit=1)["total_found"] == 25

    def test_linked_pages_come_only_when_asked_for(self, service: PagesService) -> None:
        assert all("linked_pages" not in each for each in search(service, "順位付け")["results"])
        best = search(service, "順位付け", include_linked=True)["results"][0]
        assert best["filepath"] == SEARCH
        linked = {each["filepath"]: each for each in best["linked_pages"]}
        assert set(linked) == {"index.md", "design/データベース.md", "spec/api.md"}
        assert set(linked["index.md"]) == {"doc_id", "filepath", "title", "link_type", "summary"}
        assert linked["design/データベース.md"]["link_type"] == "depends_on"
        assert linked["index.md"]["summary"].startswith("# 設計の入口")

    def test_link_types_restrict_what_is_walked(self, tmp_path: Path, opened: Open) -> None:
        write(
            tmp_path / "docs",
            {
                "a.md": "珍しい語彙。[[b|depends_on]] [[c]]\n",
                "b.md": "乙の頁。[[d]]\n",
                "c.md": "丙の頁。\n",
                "d.md": "丁の頁。\n",
            },
        )
        service = opened(tmp_path / "docs")

        def reached(**options: Any) -> dict[str, float]:
            results = search(service, "珍しい語彙", **options)["results"]
            return {each["filepath"]: each["score_breakdown"]["graph_proximity"] for each in results}

        assert reached() == {"a.md": 1.0, "b.md": 1.0, "c.md": 1.0, "d.md": 0.5}
        assert reached(depth=1) == {"a.md": 1.0, "b.md": 1.0, "c.md": 1.0}
        assert reached(link_types=["depends_on"]) == {"a.md": 1.0, "b.md": 1.0}
        linked = search(service, "珍しい語彙", link_types=["depends_on"], include_linked=True)["results"][0]
        assert [each["filepath"] for each in linked["linked_pages"]] == ["b.md"]

    def test_without_vectors_words_answer_and_it_says_so(self, docs: Path, opened: Open) -> None:
        answer = search(opened(docs), "移行")
        assert answer["search_type"] == "fulltext_fallback"
        assert answer["results"][0]["filepath"] == "design/データベース.md"
        assert answer["results"][0]["score_breakdown"]["vector_similarity"] == 0.0
        assert answer["results"][0]["sections"][0]["heading"] == "移行"

    def test_a_model_that_fails_leaves_the_words(self, service: PagesService) -> None:
        class Broken:
            name = service._embedder().name  # type: ignore[union-attr]
            setting = "broken"

            def embed(self, texts: Any) -> Any:
                raise RuntimeError("down")

            embed_query = embed

        answer = search(PagesService(service.site, Broken), "移行")
        assert answer["search_type"] == "fulltext_fallback"
        assert answer["results"][0]["filepath"] == "design/データベース.md"
        assert "Vectors failed" in answer["warnings"][0]

    def test_a_question_in_other_words_is_found_by_meaning(self, service: PagesService) -> None:
        answer = search(service, "How are errors returned to the caller?")
        assert "spec/api.md" in [each["filepath"] for each in answer["results"]][:2]

    @pytest.mark.parametrize(
        "wrong",
        [
            {},
            {"query": ""},
            {"query": " 　"},
            {"query": 3},
            {"query": "x" * 2001},
            {"query": "x", "limit": 0},
            {"query": "x", "limit": 21},
            {"query": "x", "limit": "many"},
            {"query": "x", "depth": 0},
            {"query": "x", "depth": 4},
            {"query": "x", "include_linked": "perhaps"},
            {"query": "x", "link_types": ["likes"]},
            {"query": "x", "other": 1},
        ],
    )
    def test_wrong_arguments_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            schema.SearchInput.model_validate(wrong)

    def test_defaults_are_those_of_the_specification(self) -> None:
        asked = schema.SearchInput(query="x")
        assert (asked.limit, asked.include_linked, asked.depth, asked.link_types) == (10, False, 2, None)

    @pytest.mark.parametrize("query", ["!!??", "😀😀", "‐", "の" * 2000, "a" * 2000])
    def test_any_query_is_answered(self, service: PagesService, query: str) -> None:
        assert search(service, query)["search_type"] == "hybrid"


class TestGetPage:
    def test_a_page_has_exactly_the_keys_of_the_specification(self, service: PagesService) -> None:
        found = page(service, SEARCH)
        assert set(found) == {
            *("doc_id", "filepath", "title", "doc_type", "content", "sections", "outlinks", "backlinks"),
            *("staleness", "stale_refs", "updated_at"),
        }
        assert (found["filepath"], found["title"], found["doc_type"]) == (
            SEARCH,
            "検索アルゴリズム",
            "design",
        )
        assert found["content"] == SITE[SEARCH].partition("---\n")[2].partition("---\n")[2]
        assert [each["heading"] for each in found["sections"]] == [None, "順位付け", "重み", "索引"]
        assert all(each["content"] in found["content"] for each in found["sections"])
        assert found["updated_at"].endswith("Z")
        assert (found["staleness"], found["stale_refs"]) == ("fresh", [])

    @pytest.mark.parametrize("wrong", [{}, {"filepath": 3}, {"filepath": ""}, {"filepath": None}])
    def test_the_path_of_a_page_is_required(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            schema.GetPageInput.model_validate(wrong)

    def test_links_go_both_ways(self, service: PagesService) -> None:
        found = page(service, SEARCH)
        assert [(each["filepath"], each["link_type"]) for each in found["outlinks"]] == [
            ("design/データベース.md", "depends_on"),
            ("spec/api.md", "implements"),
        ]
        assert [(each["filepath"], each["link_type"]) for each in found["backlinks"]] == [
            ("index.md", "references"),
            ("spec/api.md", "conflicts_with"),
        ]
        assert set(found["outlinks"][0]) == {"doc_id", "filepath", "title", "link_type"}

    def test_an_unknown_page_names_the_nearest_three(self, service: PagesService) -> None:
        with pytest.raises(NotFound) as caught:
            page(service, "design/データベーズ.md")
        body = schema.render_error(caught.value)["error"]
        assert body["code"] == -32602
        assert body["data"]["nearest"][0] == "design/データベース.md"
        assert len(body["data"]["nearest"]) == 3

    def test_a_path_may_be_written_in_other_forms(self, service: PagesService) -> None:
        for written in ("./index.md", "INDEX.md", "index.md/"):
            assert page(service, written)["filepath"] == "index.md"

    def test_the_same_page_has_the_same_id_in_every_copy(
        self, docs: Path, opened: Open, service: PagesService
    ) -> None:
        assert page(opened(docs), SEARCH)["doc_id"] == page(service, SEARCH)["doc_id"]

    def test_invisible_characters_are_taken_out(self, tmp_path: Path, opened: Open) -> None:
        write(tmp_path / "docs", {"a.md": "# 題\u202e\n\n本\u200b文\u2066です\n"})
        found = page(opened(tmp_path / "docs"), "a.md")
        assert (found["title"], found["content"]) == ("題", "# 題\n\n本文です\n")


class TestGetContext:
    def test_a_context_has_exactly_the_keys_of_the_specification(self, service: PagesService) -> None:
        found = plain(service.get_context(schema.GetContextInput(filepath=SEARCH)))
        assert set(found) == {"center", "related", "total_size", "truncated_count"}
        assert set(found["center"]) == {"doc_id", "filepath", "title", "content"}
        assert found["center"]["content"] == page(service, SEARCH)["content"]
        assert set(found["related"][0]) == {
            *("doc_id", "filepath", "title", "link_type", "direction", "summary", "depth"),
        }
        assert [(each["filepath"], each["direction"], each["depth"]) for each in found["related"]] == [
            ("design/データベース.md", "outlink", 1),
            ("spec/api.md", "outlink", 1),
            ("index.md", "backlink", 1),
            ("notes/会議.md", "backlink", 2),
        ]
        size = len(found["center"]["content"]) + sum(len(each["summary"]) for each in found["related"])
        assert (found["total_size"], found["truncated_count"]) == (size, 0)

    def test_depth_is_two_unless_given(self, service: PagesService) -> None:
        asked = schema.GetContextInput(filepath=SEARCH)
        assert (asked.depth, asked.max_size) == (2, 50_000)
        near = service.get_context(schema.GetContextInput(filepath=SEARCH, depth=1))
        assert {each.depth for each in near.related} == {1}

    def test_what_does_not_fit_is_left_out_and_counted_and_a_smaller_one_may_still_fit(
        self, tmp_path: Path, opened: Open
    ) -> None:
        write(
            tmp_path / "docs",
            {
                "m.md": "[[long|depends_on]] [[short]]\n",
                "long.md": "長" * 800 + "\n",
                "short.md": "短い。\n",
            },
        )
        service = opened(tmp_path / "docs")
        whole = service.get_context(schema.GetContextInput(filepath="m.md"))
        assert [len(each.summary) for each in whole.related] == [500, 3]
        size = len(whole.center.content) + 10
        cut = service.get_context(schema.GetContextInput(filepath="m.md", max_size=size))
        assert [each.filepath for each in cut.related] == ["short.md"]
        assert (cut.truncated_count, cut.total_size) == (1, len(cut.center.content) + 3)
        nothing = service.get_context(schema.GetContextInput(filepath="m.md", max_size=1))
        assert nothing.center.content == whole.center.content
        assert (nothing.related, nothing.truncated_count) == ([], 2)

    def test_a_summary_is_the_first_500_characters_of_the_body(self, tmp_path: Path, opened: Open) -> None:
        body = "# 題\n\n" + "".join(f"{at:04d}、" for at in range(300)) + "\n\n## 節\n\n終わり。\n"
        write(tmp_path / "docs", {"a.md": "[[b]]\n", "b.md": f"---\ntitle: 題名\n---\n{body}"})
        found = opened(tmp_path / "docs").get_context(schema.GetContextInput(filepath="a.md"))
        assert found.related[0].summary == body[:500]

    def test_a_summary_of_many_short_sections_is_as_long(self, tmp_path: Path, opened: Open) -> None:
        body = "".join(f"## 節{at}\n\n" + f"{at:02d}番目の短い文。" * 6 + "\n\n" for at in range(40))
        write(tmp_path / "docs", {"a.md": "[[b]]\n", "b.md": body})
        found = opened(tmp_path / "docs").get_context(schema.GetContextInput(filepath="a.md"))
        assert found.related[0].summary == body[:500]

    @pytest.mark.parametrize("wrong", [{"depth": 0}, {"depth": 4}, {"max_size": 0}, {"max_size": "large"}])
    def test_wrong_arguments_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            schema.GetContextInput.model_validate({"filepath": "a.md", **wrong})
        with pytest.raises(ValidationError):
            schema.GetContextInput.model_validate({})


class TestFulltext:
    def test_an_answer_has_exactly_the_keys_of_the_specification(self, docs: Path, opened: Open) -> None:
        answer = fulltext(opened(docs), "手当")
        assert set(answer) == {"results", "total_found"}
        assert {each["filepath"] for each in answer["results"]} == {
            "notes/離れ島.md",
            "design/データベース.md",
        }
        assert answer["total_found"] == 2
        assert set(answer["results"][0]) == {
            *("doc_id", "filepath", "title", "section_heading", "snippet", "rank"),
        }
        assert [each["rank"] for each in answer["results"]] == [1, 2]

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("勤手", {"notes/離れ島.md"}),
            ("ｻｰﾊﾞ", {SEARCH}),
            ("サーバー", {SEARCH}),
            ("島", {"notes/離れ島.md"}),
            ("総", {"notes/離れ島.md"}),
            ("PI仕", {"spec/api.md"}),
            ("ａｐｉ", {"spec/api.md", "index.md", SEARCH}),
            ("得点 類似度", {SEARCH}),
            ("得点 手当", set()),
            ("番号と文で返す。", {"spec/api.md"}),
            ("番号と文で返す、", set()),
            ("# API仕", {"spec/api.md"}),
            ("[[api#", {SEARCH}),
            ("存在しない語", set()),
        ],
    )
    def test_character_sequences_are_found_wherever_they_stand(
        self, service: PagesService, query: str, found: set[str]
    ) -> None:
        answer = fulltext(service, query)
        assert {each["filepath"] for each in answer["results"]} == found

    def test_the_heading_is_null_above_the_first_one(self, service: PagesService) -> None:
        assert fulltext(service, "検索の全体")["results"][0]["section_heading"] is None
        assert fulltext(service, "前にしか")["results"][0]["section_heading"] == "移行"

    def test_a_snippet_is_64_characters_with_the_match_marked(self, tmp_path: Path, opened: Open) -> None:
        text = "前置き" * 30 + "ここにｻｰﾊﾞｰがある" + "後書き" * 30
        write(tmp_path / "docs", {"a.md": text, "b.md": "短いサーバ"})
        results = {
            each["filepath"]: each for each in fulltext(opened(tmp_path / "docs"), "サーバ")["results"]
        }
        snippet = results["a.md"]["snippet"]
        assert "<mark>ｻｰﾊﾞ</mark>" in snippet
        shown = snippet.replace("<mark>", "").replace("</mark>", "")
        assert len(shown) == 64
        assert shown in text
        assert results["b.md"]["snippet"].endswith("短い<mark>サーバ</mark>")

    def test_a_kind_is_chosen_before_the_cut(self, tmp_path: Path, opened: Open) -> None:
        pages = {f"p{at}.md": "共通の言葉。\n" for at in range(60)}
        pages["z.md"] = "---\ndoc_type: adr\n---\n共通の言葉。\n"
        write(tmp_path / "docs", pages)
        service = opened(tmp_path / "docs")
        answer = fulltext(service, "共通", doc_type="adr")
        assert ([each["filepath"] for each in answer["results"]], answer["total_found"]) == (["z.md"], 1)
        everything = fulltext(service, "共通")
        assert (len(everything["results"]), everything["total_found"]) == (10, 61)
        assert len(fulltext(service, "共通", limit=50)["results"]) == 50
        assert [each["filepath"] for each in everything["results"]] == sorted(pages)[:10]

    @pytest.mark.parametrize(
        "wrong",
        [
            {},
            {"query": ""},
            {"query": "x", "limit": 0},
            {"query": "x", "limit": 51},
            {"query": "x", "doc_type": "book"},
        ],
    )
    def test_wrong_arguments_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            schema.FulltextInput.model_validate(wrong)

    @pytest.mark.parametrize(
        "query",
        ["a" * 2000, "の" * 2000, "a b " * 500, "x" * 1000 + "語", "語" + "x" * 1000, "|" * 2000, "1" * 300],
    )
    def test_any_keyword_is_answered_and_leaves_the_index_as_it_is(
        self, service: PagesService, query: str
    ) -> None:
        before = sorted(each.name for each in (service.site.folder.state / "index").iterdir())
        assert fulltext(service, query)["results"] == []
        assert sorted(each.name for each in (service.site.folder.state / "index").iterdir()) == before

    def test_only_invisible_characters_are_no_keyword(self, service: PagesService) -> None:
        with pytest.raises(InvalidInput):
            fulltext(service, "\u200b")

    @pytest.mark.parametrize("query", ["e.g.", "e-w", "we"])
    def test_letters_that_very_many_words_end_in_are_found(
        self, tmp_path: Path, opened: Open, query: str
    ) -> None:
        many = {f"p{page}.md": " ".join(f"w{page}x{at}e" for at in range(4000)) + "\n" for page in range(10)}
        write(tmp_path / "docs", {**many, "eg.md": "see, e.g. this; one-way we go\n"})
        service = opened(tmp_path / "docs")
        service.site.read()
        before = sorted(each.name for each in (service.site.folder.state / "index").iterdir())
        assert [each["filepath"] for each in fulltext(service, query)["results"]] == ["eg.md"]
        assert sorted(each.name for each in (service.site.folder.state / "index").iterdir()) == before

    def test_the_index_finds_exactly_what_a_plain_search_of_the_texts_finds(
        self, service: PagesService
    ) -> None:
        """Every sequence of one to four characters of every section."""
        from shirube.store.passages import passages_by_id

        with service.site.database.read() as connection:
            keys = service.site.space._feed.keys()
            texts = {each.id: fold(shown_text(each)) for each in passages_by_id(connection, keys)}
        sequences = {
            text[at : at + size]
            for text in texts.values()
            for size in (1, 2, 3, 4)
            for at in range(len(text))
        }
        letters = [each for each in sorted(sequences) if each.isalnum()]
        assert len(letters) > 500
        service.site.learn_words()
        for each in letters:
            hits, total = service.site.space.find(Holding((each,)), SHOWN, Filters(), 100)
            if each.isascii():
                words = service.site.words_holding(each)
                assert words is not None
                known, _ = service.site.space.find(Holding((each,), {each: words}), SHOWN, Filters(), 100)
                assert set(known.keys.tolist()) == set(hits.keys.tolist())
            assert set(hits.keys.tolist()) == {key for key, text in texts.items() if each in text}, each
            assert total == len(hits)


class TestListPages:
    def test_every_page_is_listed_by_title(self, service: PagesService) -> None:
        found = plain(service.list_pages(schema.ListInput()))
        assert set(found) == {"pages", "total"}
        assert found["total"] == len(found["pages"]) == len(SITE)
        assert set(found["pages"][0]) == {
            "doc_id",
            "filepath",
            "title",
            "doc_type",
            "link_count",
            "updated_at",
        }
        titles = [each["title"] for each in found["pages"]]
        assert titles == sorted(titles)
        counts = {each["filepath"]: each["link_count"] for each in found["pages"]}
        assert counts == {
            "index.md": 2,
            SEARCH: 2,
            "design/データベース.md": 0,
            "spec/api.md": 1,
            "notes/会議.md": 1,
            "notes/離れ島.md": 0,
        }

    def test_a_kind_can_be_chosen(self, service: PagesService) -> None:
        found = service.list_pages(schema.ListInput(doc_type="design"))
        assert {each.filepath for each in found.pages} == {SEARCH, "design/データベース.md"}
        assert found.total == 2

    @pytest.mark.parametrize("sort", ["title", "updated_at", "filepath"])
    def test_the_order_can_be_chosen(self, service: PagesService, sort: Any) -> None:
        up = [getattr(each, sort) for each in service.list_pages(schema.ListInput(sort=sort)).pages]
        down = [
            getattr(each, sort)
            for each in service.list_pages(schema.ListInput(sort=sort, order="desc")).pages
        ]
        assert up == sorted(up)
        assert down == sorted(up, reverse=True)

    @pytest.mark.parametrize("wrong", [{"sort": "size"}, {"order": "up"}, {"doc_type": "book"}])
    def test_wrong_arguments_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            schema.ListInput.model_validate(wrong)


class TestGetGraph:
    def test_without_a_centre_the_whole_graph_is_returned(self, service: PagesService) -> None:
        found = plain(service.get_graph(schema.GraphInput()))
        assert set(found) == {"nodes", "edges"}
        assert {each["filepath"] for each in found["nodes"]} == set(SITE)
        assert set(found["nodes"][0]) == {"id", "filepath", "title", "doc_type"}
        assert set(found["edges"][0]) == {"source", "target", "type"}
        ids = {each["id"] for each in found["nodes"]}
        assert {each["source"] for each in found["edges"]} | {
            each["target"] for each in found["edges"]
        } <= ids
        assert len(found["edges"]) == 6

    def test_a_centre_is_a_path_or_an_id(self, service: PagesService) -> None:
        by_path = plain(service.get_graph(schema.GraphInput(center="notes/会議.md")))
        by_id = plain(service.get_graph(schema.GraphInput(center=page(service, "notes/会議.md")["doc_id"])))
        assert json.dumps(by_path) == json.dumps(by_id)

    def test_the_graph_ends_at_the_depth(self, service: PagesService) -> None:
        def around(depth: int) -> set[str]:
            found = service.get_graph(schema.GraphInput(center="notes/会議.md", depth=depth))
            kept = {each.id for each in found.nodes}
            assert all(each.source in kept and each.target in kept for each in found.edges)
            return {each.filepath for each in found.nodes}

        assert around(1) == {"notes/会議.md", "design/データベース.md"}
        assert around(2) == around(1) | {SEARCH}
        assert around(3) == around(2) | {"index.md", "spec/api.md"}
        assert schema.GraphInput().depth == 2

    @pytest.mark.parametrize("wrong", [{"depth": 0}, {"depth": 6}, {"center": ""}])
    def test_wrong_arguments_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            schema.GraphInput.model_validate(wrong)
