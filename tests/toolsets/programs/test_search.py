"""search_programs: what each argument does, in which order, and what an empty answer says."""

import json
from statistics import median
from typing import Any

import pytest

from shirube.toolsets.programs.record import DETAILS, PROGRAM
from shirube.toolsets.programs.schema import MINIMAL
from shirube.toolsets.programs.terms import parts_of
from tests.toolsets.programs.conftest import ROWS, Programs

OUT = {"furui", "nozoku"}
ALL = {row["unified_id"] for row in ROWS} - OUT


def test_without_words_every_programme_is_listed(programs: Programs) -> None:
    assert set(programs.search()) == ALL
    assert set(programs.search(q=None)) == set(programs.search(q="　 ")) == ALL


def test_kinds_are_searched_together(programs: Programs) -> None:
    kinds = {row["program_kind"] for row in programs.call("search_programs")["results"]}
    assert kinds >= {"subsidy", "loan", "tax_credit", "mutual_aid"}
    assert programs.search(q="共済") == ["kyosai"]
    assert set(programs.search(q="融資")) == {"hirosaki-rishi", "koko-unten"}


@pytest.mark.parametrize(
    ("q", "ids"),
    [
        ("経営開始", ["keiei-kaishi-shikin"]),
        ("農業次世代人材投資資金", ["keiei-kaishi-shikin"]),
        ("雇用調整助成金", ["koyo-chosei"]),
        ("雇用調整", ["koyo-chosei"]),
    ],
)
def test_three_characters_and_more_are_found(programs: Programs, q: str, ids: list[str]) -> None:
    assert programs.search(q=q) == ids


@pytest.mark.parametrize(
    ("q", "ids"),
    [
        ("就農", {"koyo-shuno-shikin", "keiei-kaishi-shikin"}),
        ("弘前", {"hirosaki-rishi"}),
        ("税", {"zeigaku"}),
        ("済", {"kyosai"}),
        ("開始", {"keiei-kaishi-shikin"}),
    ],
)
def test_two_characters_and_one_are_found_within_words(programs: Programs, q: str, ids: set[str]) -> None:
    assert set(programs.search(q=q)) == ids


@pytest.mark.parametrize("q", ["IT", "it", "ＩＴ", " IT "])
def test_a_short_latin_word_is_not_found_within_another(programs: Programs, q: str) -> None:
    assert programs.search(q=q) == ["it-donyu"], "not in Digital"


def test_a_longer_latin_word_is_found_within_another(programs: Programs) -> None:
    assert programs.search(q="gital") == ["digital"]


def test_all_words_have_to_be_there(programs: Programs) -> None:
    assert programs.search(q="補助金 設備") == ["aomori-setsubi", "it-donyu"]
    assert programs.search(q="補助金　青森") == ["aomori-setsubi"]
    assert programs.search(q="補助金 弘前") == []


@pytest.mark.parametrize(
    ("q", "ids"),
    [
        ("雇調金", ["koyo-chosei"]),
        ("ﾓﾉづくり", ["mono"]),
        ("モノヅクリ", ["mono"]),
        ("Tokyo", ["tokyo-dx"]),
        ("京都", ["kinki"]),
        ("ゆうし", ["koko-unten", "hirosaki-rishi"]),
        ("JFC", ["koko-unten"]),
        ("東京都DX", ["tokyo-dx"]),
        ("青森県弘前市", ["hirosaki-rishi"]),
    ],
)
def test_other_spellings_and_abbreviations_are_found(programs: Programs, q: str, ids: list[str]) -> None:
    assert programs.search(q=q) == ids


def test_a_list_asked_for_in_words_is_what_it_names(programs: Programs) -> None:
    assert programs.search(q="IT 導入補助金の一覧")[0] == "it-donyu"


@pytest.mark.parametrize(
    ("q", "first"),
    [
        ("IT導入に使える補助金はありますか？", "it-donyu"),
        ("補助金 IT 一覧", "it-donyu"),
        ("補助金 IT 教えて", "it-donyu"),
        ("設備を導入したい", "aomori-setsubi"),
        ("どのような共済がありますか", "kyosai"),
        ("雇用、調整", "koyo-chosei"),
        ("助成金。", "koyo-chosei"),
    ],
)
def test_a_question_is_what_it_is_about(programs: Programs, q: str, first: str) -> None:
    assert programs.search(q=q)[0] == first


@pytest.mark.parametrize("q", ["利用権", "利用者", "とまと", "こそだて"])
def test_words_are_not_cut_in_the_middle(q: str) -> None:
    assert [part.written for part in parts_of(q)] == [q]


def test_a_short_latin_word_is_whole_in_a_compound_too(empty: Programs) -> None:
    names = {"a": "CEV補助金", "b": "EV補助金", "c": "EV充電設備補助金", "d": "Café補助金"}
    empty.take(*({"unified_id": key, "primary_name": name} for key, name in names.items()))
    assert empty.search(q="EV補助金") == ["b", "c"]
    assert empty.search(q="caf") == []


def test_the_same_kana_come_before_the_other_kind(empty: Programs) -> None:
    names = {"a": "いしかわ森林環境税", "b": "シカ被害対策", "c": "未来のリーダー育成", "d": "のり養殖"}
    empty.take(*({"unified_id": key, "primary_name": name, "tier": "A"} for key, name in names.items()))
    assert empty.search(q="シカ") == ["b", "a"]
    assert empty.search(q="のり") == ["d", "c"]


def test_many_words_are_refused_and_many_conditions_quick(programs: Programs) -> None:
    assert "20 words" in programs.error(
        "search_programs", q=" ".join(chr(0x4E00 + at * 7) for at in range(21))
    )
    assert programs.call("search_programs", q="支援" * 250)["total"] == 0


def test_a_place_without_hits_names_what_the_whole_country_has(programs: Programs) -> None:
    found = programs.call("search_programs", q="共済", prefecture="沖縄県")
    assert "include_national を true にすると 1 件" in found["hint"]


@pytest.mark.parametrize("level", ["青森県", "中小企業庁"])
def test_a_body_is_no_level(programs: Programs, level: str) -> None:
    assert "authority_level" in programs.error("search_programs", authority_level=level)


def test_programmes_for_small_firms_are_those_that_say_so(programs: Programs) -> None:
    assert programs.search(q="中小企業向けの補助金") == ["it-donyu", "aomori-setsubi"]


def test_a_place_and_a_purpose_answer_the_question_of_aomori(programs: Programs) -> None:
    """青森県で使える設備投資補助金を教えて"""
    assert programs.search(prefecture="青森県", funding_purpose=["設備投資"]) == ["aomori-setsubi"]
    wide = programs.search(prefecture="青森県", funding_purpose=["設備投資"], include_national=True)
    assert wide == ["it-donyu", "aomori-setsubi", "koko-unten"]


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ({"tier": ["S"]}, {"keiei-kaishi-shikin", "mono"}),
        ({"tier": ["C", "s"]}, {"keiei-kaishi-shikin", "mono", "zeigaku", "kyosai"}),
        ({"tier": [], "prefecture": "", "funding_purpose": [], "q": ""}, ALL),
        ({"tier": ["X"]}, set()),
        ({"tier": ["X"], "include_excluded": True}, {"furui"}),
        ({"prefecture": "青森県"}, {"aomori-setsubi", "hirosaki-rishi"}),
        ({"prefecture": "青森"}, {"aomori-setsubi", "hirosaki-rishi"}),
        ({"prefecture": "大阪府"}, {"kinki"}),
        ({"prefecture": "京都府"}, {"kinki"}),
        ({"prefecture": "13"}, {"tokyo-dx"}),
        ({"prefecture": "Ｔｏｋｙｏ"}, {"tokyo-dx"}),
        ({"prefecture": "東京"}, {"tokyo-dx"}),
        ({"authority_level": "national"}, {"keiei-kaishi-shikin", "koyo-shuno-shikin", "it-donyu"}),
        ({"authority_level": "国"}, {"keiei-kaishi-shikin", "koyo-shuno-shikin", "it-donyu"}),
        ({"authority_level": "prefecture"}, {"aomori-setsubi"}),
        ({"authority_level": "都道府県"}, {"aomori-setsubi"}),
        ({"authority_level": "municipality"}, {"hirosaki-rishi"}),
        ({"authority_level": "市区町村"}, {"hirosaki-rishi"}),
        ({"authority_level": "financial"}, {"koko-unten"}),
        ({"authority_level": "公庫"}, {"koko-unten"}),
        ({"funding_purpose": ["運転資金"]}, {"hirosaki-rishi", "koko-unten"}),
        (
            {"funding_purpose": ["生活費", "運転資金"]},
            {"keiei-kaishi-shikin", "hirosaki-rishi", "koko-unten"},
        ),
        ({"target_type": ["中小企業"]}, {"aomori-setsubi", "hirosaki-rishi", "it-donyu"}),
        ({"target_type": ["農業法人", "個人事業主"]}, {"koyo-shuno-shikin", "hirosaki-rishi"}),
        ({"amount_min_man_yen": 450}, {"aomori-setsubi", "it-donyu", "koko-unten"}),
        ({"amount_max_man_yen": 150}, {"keiei-kaishi-shikin", "hirosaki-rishi"}),
        (
            {"amount_min_man_yen": 150, "amount_max_man_yen": 240},
            {"keiei-kaishi-shikin", "koyo-shuno-shikin"},
        ),
        ({"include_excluded": True}, ALL | OUT),
        ({"open_on": "2026-11-16"}, {"aomori-setsubi", "it-donyu", "kinki"}),
        ({"open_on": "2026-11-25"}, {"aomori-setsubi", "it-donyu"}),
        ({"open_on": "2026-12-01"}, {"it-donyu"}),
        ({"open_on": "2026-01-01"}, {"kinki"}),
        ({"deadline_within_days": 4}, {"kinki"}),
        ({"deadline_within_days": 14}, {"kinki", "aomori-setsubi"}),
        ({"deadline_within_days": 3}, set()),
    ],
)
def test_a_condition_narrows(programs: Programs, arguments: dict[str, Any], ids: set[str]) -> None:
    assert set(programs.search(**arguments)) == ids


def test_excluded_ones_are_left_out_unless_they_are_asked_for(programs: Programs) -> None:
    assert not OUT & set(programs.search())
    assert set(programs.search(include_excluded=True)) >= OUT


def test_names_that_hold_the_words_come_first_then_the_tier(programs: Programs) -> None:
    found = programs.search(q="補助金", include_excluded=True)
    assert found == [
        # In the name: S, A, B, without tier, X; kinds alone come after.
        *("mono", "it-donyu", "aomori-setsubi", "nozoku", "kinki", "furui"),
        "keiei-kaishi-shikin",
    ]


def test_twenty_are_shown_and_pages_join_without_gap_or_repeat(empty: Programs) -> None:
    empty.take(*({"unified_id": f"p{number}", "primary_name": f"制度{number % 7}"} for number in range(45)))
    first = empty.call("search_programs")
    assert (first["total"], first["limit"], first["offset"], len(first["results"])) == (45, 20, 0, 20)
    paged: list[str] = []
    for offset in range(0, 45, 7):
        page = empty.call("search_programs", limit=7, offset=offset)
        assert (page["total"], page["limit"], page["offset"]) == (45, 7, offset)
        paged += [row["unified_id"] for row in page["results"]]
    assert paged == empty.search()
    assert len(set(paged)) == 45


def test_a_minimal_row_has_exactly_its_keys_and_is_small(programs: Programs) -> None:
    rows = programs.call("search_programs", fields="minimal", limit=100)["results"]
    assert all(set(row) == set(MINIMAL) for row in rows)
    sizes = [len(json.dumps(row, ensure_ascii=False).encode()) for row in rows]
    assert 150 <= median(sizes) <= 300
    assert max(sizes) <= 330


def test_a_default_row_has_every_field_of_a_programme(programs: Programs) -> None:
    rows = programs.call("search_programs", limit=100)["results"]
    assert all(tuple(row) == PROGRAM for row in rows)


def test_a_full_row_adds_details_and_lineage(programs: Programs) -> None:
    rows = programs.call("search_programs", fields="full", limit=100)["results"]
    assert all(tuple(row) == (*PROGRAM, *DETAILS) for row in rows)
    assert rows[0] == programs.call("get_program", unified_id=rows[0]["unified_id"], fields="full")


def test_a_row_carries_what_is_known_of_a_programme(programs: Programs) -> None:
    [row] = programs.call("search_programs", q="青森県設備")["results"]
    assert row["unified_id"] == "aomori-setsubi"
    assert row["primary_name"] == "青森県設備導入支援事業費補助金"
    assert row["tier"] == "A"
    assert row["prefecture"] == "青森県"
    assert row["amount_max_man_yen"] == 500
    assert row["funding_purpose"] == ["設備投資"]
    assert row["target_types"] == ["中小企業"]
    assert row["official_url"] == "https://www.pref.aomori.lg.jp/setsubi"
    assert row["application_window"] == {
        "start_date": "2026-10-01",
        "end_date": "2026-11-30",
        "cycle": "年1回",
    }


def test_the_answer_is_the_bytes_that_every_surface_sends(programs: Programs) -> None:
    """REST, MCP and the command line all give `Answer.json()` of one operation."""
    answer = programs.answer("search_programs", q="補助金", fields="full")
    assert list(answer.body) == ["total", "limit", "offset", "results"]
    assert json.loads(answer.json()) == answer.body
    assert "補助金" in answer.json()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"q": "補助金", "prefecture": "青森県", "tier": ["S"]},
            ("tier を外すと 1 件", "without tier there are 1"),
        ),
        ({"q": "補助金 弘前"}, ("q の「補助金」を外すと 1 件",)),
        ({"prefecture": "青盛県"}, ("青森県", "という都道府県はありません")),
        ({"q": "終了した"}, ("include_excluded を true にすると 1 件",)),
        ({"target_type": ["中小"]}, ("target_type「中小」", "中小企業")),
        ({"q": "存在しない語", "prefecture": "沖縄県"}, ("条件を 2 つ以上",)),
        ({"offset": 500}, ("offset",)),
    ],
)
def test_an_empty_answer_says_what_to_change(
    programs: Programs, arguments: dict[str, Any], words: tuple[str, ...]
) -> None:
    found = programs.call("search_programs", **arguments)
    assert found["results"] == []
    assert all(word in found["hint"] for word in words), found["hint"]


def test_there_is_no_hint_where_something_was_found(programs: Programs) -> None:
    assert "hint" not in programs.call("search_programs")


def test_an_empty_catalogue_says_how_to_fill_it(empty: Programs) -> None:
    found = empty.call("search_programs", q="補助金")
    assert found["total"] == 0
    assert "programs import" in found["hint"]


@pytest.mark.parametrize("q", ["(", "[", "\\", ".*", "補助金(", "%", "_", "\x00", "\x1f", "\n", "😀", "'"])
def test_signs_are_only_signs(programs: Programs, q: str) -> None:
    assert programs.answer("search_programs", q=q).error is None


def test_an_import_is_seen_by_the_next_search(empty: Programs) -> None:
    empty.take({"unified_id": "a", "primary_name": "一つ目"})
    assert empty.search() == ["a"]
    empty.take({"unified_id": "b", "primary_name": "二つ目"})
    assert empty.search() == ["a", "b"]
    empty.take({"unified_id": "a", "primary_name": "三つ目"})
    assert empty.search(q="三つ目") == ["a"]
    assert empty.search(q="一つ目") == []
