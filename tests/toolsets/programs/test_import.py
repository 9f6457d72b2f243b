"""Taking in files: formats, layers, lineage, refusals, and that it is all or nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from shirube.errors import InvalidInput, NotFound
from shirube.toolsets.programs.imports import RefusedImport
from shirube.toolsets.programs.record import checksum
from tests.toolsets.programs.conftest import KEIEI, ROWS, RULES, Programs, write_rows

JGRANTS = {
    "id": "a0W2x000005kMkvEAE",
    "title": "石油製品販売業構造改善対策事業費補助金",
    "subsidy_max_limit": 904098000,
    "subsidy_rate": "2/3以内",
    "target_area_search": "東京都 / 大阪府",
    "target_number_of_employees": "20名以下",
    "use_purpose": "設備整備・IT導入をしたい / 新たな事業を行いたい",
    "acceptance_start_datetime": "2025-05-06T15:00:00.000Z",
    "acceptance_end_datetime": "2025-11-28T14:59:59.000Z",
    "cached_at": "2026-01-23T11:16:30.256Z",
    "detail_json": json.dumps(
        {"detail": "<p>対象は<b>中小企業</b>です。</p><script>x()</script><p>2行目</p>"}
    ),
}
DETAILS = {
    "unified_id": "UNI-1",
    "source_url": "https://www.city.kobe.lg.jp/a.html",
    "jsic": ["A"],
    "業種": "農業、林業",
    "制度名": "スマート農業等導入支援事業（2025）",
    "Tier": "A",
    "制度区分": "補助金・交付金",
    "提供主体": "兵庫県神戸市 (兵庫県)",
    "支援金額": "50万円 〜 200万円",
    "補助率": "50% (目安)",
    "対象者": "認定農業者、認定新規就農者",
    "source_fetched": "2026-04-22",
}
PLAIN = {"unified_id": "UNI-1", "primary_name": "スマート農業等導入支援事業", "amount_max_man_yen": 0.0}


def tally(report: Any) -> tuple[int, int, int]:
    return report.programs.added, report.programs.changed, report.programs.unchanged


def test_a_second_import_changes_nothing(empty: Programs) -> None:
    first = empty.take(*ROWS, *RULES)
    before = [empty.call("get_program", unified_id=row["unified_id"]) for row in ROWS]
    again = empty.take(*({**row, "source_fetched_at": "2026-11-01"} for row in ROWS), *RULES)
    assert tally(first) == (len(ROWS), 0, 0)
    assert tally(again) == (0, 0, len(ROWS))
    assert (again.rules.added, again.rules.changed, again.rules.unchanged) == (0, 0, len(RULES))
    assert [empty.call("get_program", unified_id=row["unified_id"]) for row in ROWS] == before


def test_a_change_moves_checksum_and_time_together(empty: Programs) -> None:
    empty.take(KEIEI)
    before = empty.call("get_program", unified_id=KEIEI["unified_id"])
    report = empty.take({**KEIEI, "amount_max_man_yen": 165, "source_fetched_at": "2026-11-01"}, RULES[0])
    after = empty.call("get_program", unified_id=KEIEI["unified_id"])
    assert tally(report) == (0, 1, 0)
    assert after["amount_max_man_yen"] == 165
    assert after["source_fetched_at"] == "2026-11-01"
    assert after["source_checksum"] != before["source_checksum"]
    assert empty.take({**RULES[0], "severity": "warning"}).rules.changed == 1


def test_the_checksum_is_that_of_the_canonical_content(empty: Programs) -> None:
    import hashlib

    empty.take(KEIEI)
    record = empty.call("get_program", unified_id=KEIEI["unified_id"])
    content = {
        name: value for name, value in record.items() if name not in ("source_checksum", "source_fetched_at")
    }
    content["source_mentions"] = [{**each, "fetched_at": None} for each in content["source_mentions"]]
    canonical = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert (
        record["source_checksum"] == hashlib.sha256(canonical.encode()).hexdigest()[:16] == checksum(record)
    )


def test_files_that_know_different_things_make_one_record(empty: Programs) -> None:
    for order in ((PLAIN, DETAILS), (DETAILS, PLAIN)):
        for row in order:
            empty.take(row)
        found = empty.call("get_program", unified_id="UNI-1")
        assert found["primary_name"] == PLAIN["primary_name"]
        assert found["aliases"] == [DETAILS["制度名"]]
        assert (found["tier"], found["authority_level"]) == ("A", "municipality")
        assert (found["prefecture"], found["municipality"]) == ("兵庫県", "神戸市")
        assert (found["amount_min_man_yen"], found["amount_max_man_yen"]) == (50, 200)
        assert found["subsidy_rate"] == 0.5
        assert found["target_types"] == ["認定農業者", "認定新規就農者"]
        assert found["official_url"] == DETAILS["source_url"]
        assert found["enriched"]["B_money"] == {"支援金額": "50万円 〜 200万円", "補助率": "50% (目安)"}
    assert tally(empty.take(PLAIN)) == tally(empty.take(DETAILS)) == (0, 0, 1)


def test_what_a_layer_said_comes_back_when_the_one_before_falls_silent(empty: Programs) -> None:
    same = {**PLAIN, "amount_max_man_yen": 200}
    empty.take(same, {**DETAILS, "支援金額": "最大 200万円"})
    assert empty.call("get_program", unified_id="UNI-1")["amount_max_man_yen"] == 200
    empty.take(PLAIN)
    assert empty.call("get_program", unified_id="UNI-1")["amount_max_man_yen"] == 200


def test_a_table_corrects_and_what_it_does_not_say_follows_the_sources(
    empty: Programs, tmp_path: Path
) -> None:
    empty.take({**PLAIN, "amount_max_man_yen": 100, "tier": "B"}, DETAILS)
    before = empty.call("get_program", unified_id="UNI-1")
    path = tmp_path / "訂正.csv"
    path.write_text("ID,制度名,上限額(万円)\nUNI-1,正しい名前,100\n")
    assert tally(empty.take_files(path)) == (0, 1, 0)
    after = empty.call("get_program", unified_id="UNI-1")
    assert after["primary_name"] == "正しい名前"
    assert PLAIN["primary_name"] in after["aliases"]
    assert after["enriched"] == before["enriched"]
    empty.take({**PLAIN, "amount_max_man_yen": 300, "tier": "S"})
    later = empty.call("get_program", unified_id="UNI-1")
    assert (later["primary_name"], later["amount_max_man_yen"], later["tier"]) == ("正しい名前", 300, "S")


def test_times_only_move_forward(empty: Programs) -> None:
    empty.take({**DETAILS, "source_fetched": "2026-01-01"})
    empty.take({**PLAIN, "source_fetched_at": "2025-01-01"})
    assert empty.call("get_program", unified_id="UNI-1")["source_fetched_at"] == "2026-01-01"


def test_a_mention_seen_again_is_no_change(empty: Programs) -> None:
    empty.take(KEIEI)
    mention: Any = KEIEI["source_mentions"]
    seen = [{**mention[0], "fetched_at": "2026-11-01T00:00:00Z"}]
    assert tally(empty.take({**KEIEI, "source_mentions": seen})) == (0, 0, 1)


@pytest.mark.parametrize(
    "values",
    [
        {"end_date": "9999-12-31T23:59:59Z"},
        {"source_fetched_at": "9999-12-31T23:59:59-12:00"},
        {"trust_level": float("nan")},
        {"enriched": {"A_basics": float("inf")}},
    ],
)
def test_values_at_the_edge_harm_nobody(empty: Programs, values: dict[str, Any]) -> None:
    assert empty.take({"unified_id": "a", "primary_name": "制度", **values}).refused == []
    shown = empty.answer("get_program", unified_id="a")
    assert "NaN" not in shown.json()
    assert "Infinity" not in shown.json()


def test_lines_end_only_where_lines_end(empty: Programs, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"unified_id":"a","primary_name":"一\u2028二"}\n{"unified_id":"b","primary_name":"三\x85四"}\n'
    )
    assert tally(empty.take_files(path, strict=True)) == (2, 0, 0)


def test_programmes_and_rules_in_one_document_both_come_in(empty: Programs, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"programs": ROWS[:2], "rules": {"agri-001": RULES[0]}}))
    report = empty.take_files(path, strict=True)
    assert (report.programs.added, report.rules.added) == (2, 1)


def test_a_table_says_what_it_does_not_understand(empty: Programs, tmp_path: Path) -> None:
    path = tmp_path / "表.csv"
    path.write_text("ＩＤ,制度名,謎の列,上限額(万円)\na,制度,x,500\nb,制度,x,1,000\n")
    report = empty.take_files(path)
    assert report.unread == {"表.csv": ["謎の列"]}
    assert [(each.row, each.reason) for each in report.refused] == [(2, "more values than headings")]
    assert empty.call("get_program", unified_id="a")["amount_max_man_yen"] == 500


def test_a_table_of_rules_has_groups_in_its_cells(empty: Programs, tmp_path: Path) -> None:
    path = tmp_path / "rules.csv"
    path.write_text("rule_id,kind,severity,program_a,program_b_group\nr,mutex,critical,A,B、C\n")
    assert empty.take_files(path, strict=True).rules.added == 1
    assert empty.call("list_exclusion_rules")[0]["program_b_group"] == ["B", "C"]


@pytest.mark.parametrize(
    ("name", "content"), [("a.json", "[]"), ("a.jsonl", ""), ("a.csv", "unified_id,primary_name\n")]
)
def test_a_file_without_rows_is_no_success(empty: Programs, tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InvalidInput, match="no rows"):
        empty.take_files(path)


def test_files_of_one_name_are_two_files(empty: Programs, tmp_path: Path) -> None:
    paths = []
    for folder, tier in (("a", "A"), ("b", "B")):
        (tmp_path / folder).mkdir()
        paths.append(write_rows(tmp_path / folder / "x.jsonl", [{**KEIEI, "tier": tier}]))
    assert empty.take_files(*paths, strict=True).refused == []
    assert empty.call("get_program", unified_id=KEIEI["unified_id"])["tier"] == "B"


def test_a_row_of_jgrants(empty: Programs) -> None:
    empty.take(JGRANTS)
    found = empty.call("get_program", unified_id="jgrants-a0W2x000005kMkvEAE")
    assert found["amount_max_man_yen"] == 90409.8
    assert found["prefectures"] == ["東京都", "大阪府"]
    assert found["prefecture"] == "東京都 / 大阪府"
    assert found["application_window"] == {
        "start_date": "2025-05-07",
        "end_date": "2025-11-28",
        "cycle": None,
    }
    assert found["subsidy_rate"] == pytest.approx(2 / 3)
    assert found["funding_purpose"] == ["設備整備・IT導入をしたい", "新たな事業を行いたい"]
    assert found["official_url"] == "https://www.jgrants-portal.go.jp/subsidy/a0W2x000005kMkvEAE"
    assert found["enriched"]["A_basics"]["detail"] == "対象は中小企業です。\n2行目"
    assert found["source_fetched_at"] == JGRANTS["cached_at"]
    assert empty.search(prefecture="大阪") == empty.search(prefecture="東京") != []
    assert empty.search(prefecture="京都") == []


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2025-11-28T14:59:59.000Z", "2025-11-28"),
        ("2025-11-28T08:00:00.000Z", "2025-11-28"),
        ("2025-11-27T15:00:01Z", "2025-11-28"),
        ("2025-11-28T15:00:00.000Z", "2025-11-28"),  # midnight: whoever comes on the 29th comes too late
        ("2025-11-28T17:00:00+09:00", "2025-11-28"),
    ],
)
def test_the_last_day_is_that_of_japan(empty: Programs, written: str, day: str) -> None:
    empty.take({**JGRANTS, "acceptance_end_datetime": written})
    [row] = empty.call("search_programs")["results"]
    assert row["application_window"]["end_date"] == day


@pytest.mark.parametrize(
    ("area", "names"),
    [
        ("全国", []),
        ("全国 / 北海道 / 青森県", []),
        ("", []),
        ("東北地方", ["青森県", "岩手県", "宮城県", "秋田県", "山形県", "福島県"]),
        ("四国地方 / 岡山県", ["岡山県", "徳島県", "香川県", "愛媛県", "高知県"]),
        (
            "関東・甲信越地方",
            "茨城県 栃木県 群馬県 埼玉県 千葉県 東京都 神奈川県 新潟県 山梨県 長野県".split(),
        ),
    ],
)
def test_areas_are_prefectures(empty: Programs, area: str, names: list[str]) -> None:
    empty.take({**JGRANTS, "target_area_search": area})
    [row] = empty.call("search_programs")["results"]
    assert row["prefectures"] == names
    assert row["prefecture"] == (" / ".join(names) or None)


def test_no_limit_is_no_amount(empty: Programs) -> None:
    empty.take({**JGRANTS, "subsidy_max_limit": 999999999999999})
    assert empty.call("search_programs")["results"][0]["amount_max_man_yen"] is None


def test_an_answer_of_the_portal_is_a_file_too(empty: Programs, tmp_path: Path) -> None:
    path = tmp_path / "答え.json"
    path.write_text(json.dumps({"metadata": {"type": "x"}, "result": [JGRANTS]}))
    assert tally(empty.take_files(path)) == (1, 0, 0)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932"])
def test_a_table_of_excel(empty: Programs, tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "制度.csv"
    path.write_text(
        "ID,制度名,都道府県,支援金額,補助率,対象者,締切日,公式URL\r\n"
        "a,ﾓﾉづくり支援,東京,上限1,000万円,２／３以内,中小企業、個人事業主,令和8年12月25日,https://example.jp/\r\n".replace(
            "上限1,000万円", '"上限1,000万円"'
        ),
        encoding=encoding,
        newline="",
    )
    assert tally(empty.take_files(path, strict=True)) == (1, 0, 0)
    [row] = empty.call("search_programs", q="ものづくり")["results"]
    assert row["prefecture"] == "東京都"
    assert row["amount_max_man_yen"] == 1000
    assert row["subsidy_rate"] == pytest.approx(2 / 3)
    assert row["target_types"] == ["中小企業", "個人事業主"]
    assert row["application_window"]["end_date"] == "2026-12-25"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"amount_max_man_yen": "1億円"}, {"amount_max_man_yen": 10000}),
        ({"amount_max_man_yen": "上限1,000万円"}, {"amount_max_man_yen": 1000}),
        ({"amount_max_man_yen": "５００"}, {"amount_max_man_yen": 500}),
        ({"amount_max_man_yen": "要相談"}, {"amount_max_man_yen": None}),
        ({"amount_max_man_yen": "100万円以上"}, {"amount_max_man_yen": None}),
        ({"amount_max_man_yen": "月額10万円"}, {"amount_max_man_yen": None}),
        ({"amount_min_man_yen": "50〜100万円"}, {"amount_min_man_yen": 50}),
        ({"subsidy_rate": "150%"}, {"subsidy_rate": None}),
        ({"subsidy_rate": "１"}, {"subsidy_rate": 1}),
        ({"authority_name": "地方自治体 (京都府)"}, {"prefecture": "京都府"}),
        ({"authority_name": "農林水産省 (栃木県)"}, {"prefecture": None}),
        ({"amount_max_man_yen": 0}, {"amount_max_man_yen": None}),
        ({"subsidy_rate": "補助率2/3以内"}, {"subsidy_rate": 2 / 3}),
        ({"subsidy_rate": "定額"}, {"subsidy_rate": None}),
        ({"prefecture": "全国"}, {"prefecture": None, "prefectures": []}),
        ({"prefecture": "ｱｵﾓﾘ"}, {"prefecture": "青森県"}),
        ({"tier": "ｓ"}, {"tier": "S"}),
        ({"authority_name": "東京都"}, {"authority_level": "prefecture", "prefecture": "東京都"}),
        ({"authority_name": "市町村"}, {"authority_level": "municipality", "municipality": None}),
        (
            {"application_window": {"start_date": "令和8年4月1日", "end_date": "R9.3.31"}},
            {"application_window": {"start_date": "2026-04-01", "end_date": "2027-03-31", "cycle": None}},
        ),
        ({"application_window": {"end_date": "令和8年春"}}, {"application_window": None}),
        ({"source_url": "https://www.pref.aomori.jp/x"}, {"official_url": "https://www.pref.aomori.jp/x"}),
        ({"source_url": "https://go.jp.example.com/x"}, {"official_url": None}),
        ({"primary_name": "名前\u202eの　　間"}, {"primary_name": "名前の 間"}),
    ],
)
def test_what_is_written_is_read_and_never_guessed(
    empty: Programs, given: dict[str, Any], shown: dict[str, Any]
) -> None:
    assert empty.take({"unified_id": "a", "primary_name": "制度", **given}).refused == []
    found = empty.call("get_program", unified_id="a")
    assert {name: found[name] for name in shown} == shown


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"primary_name": "名前"}, "neither a programme"),
        ({"unified_id": "a"}, "primary_name is missing"),
        ({"unified_id": " ", "primary_name": "名前"}, "unified_id is missing"),
        ({"unified_id": 5, "primary_name": "名前"}, "unified_id must be text"),
        ({"unified_id": "a", "primary_name": ["名前"]}, "primary_name must be text"),
        ({"unified_id": "a" * 201, "primary_name": "名前"}, "longer than 200"),
        ({"unified_id": "a", "primary_name": "名前", "tier": "Z"}, "tier must be one of"),
        ({"unified_id": "a", "primary_name": "名前", "prefecture": "青盛県"}, "nearest: 青森県"),
        ({"unified_id": "a", "primary_name": "名前", "authority_level": "銀河"}, "authority_level must be"),
        ({"unified_id": "a", "primary_name": "名前", "amount_max_man_yen": -1}, "amount_max_man_yen must be"),
        (
            {"unified_id": "a", "primary_name": "名前", "amount_min_man_yen": 5, "amount_max_man_yen": 1},
            "greater",
        ),
        ({"unified_id": "a", "primary_name": "名前", "subsidy_rate": 50}, "share from 0 to 1"),
        (
            {"unified_id": "a", "primary_name": "名前", "official_url": "javascript:alert(1)"},
            "official_url must begin",
        ),
        (
            {"unified_id": "a", "primary_name": "名前", "source_fetched_at": "昨日"},
            "source_fetched_at must be",
        ),
        ({"unified_id": "a", "primary_name": "名前", "enriched": [1]}, "enriched must be an object"),
        ({"unified_id": "a", "primary_name": "名前", "source_mentions": [{"x": 1}]}, "source_mentions"),
        ({"unified_id": "a", "primary_name": "名前", "aliases": 5}, "aliases must be a list"),
        (
            {"unified_id": "a", "primary_name": "名前", "amount_max_man_yen": 10**400},
            "amount_max_man_yen must be",
        ),
        ({"unified_id": "a", "primary_name": "半分\ud800"}, "half characters"),
        (
            {
                "unified_id": "a",
                "primary_name": "名前",
                "enriched": json.loads('{"a":' * 60 + "1" + "}" * 60),
            },
            "deeply",
        ),
        (
            {"unified_id": "a", "primary_name": "名前", "start_date": "2026-05-01", "end_date": "2026-04-01"},
            "start_date is after end_date",
        ),
        ({"unified_id": "a", "primary_name": "名前", "excluded": "たぶん"}, "excluded must be true or false"),
        ({**JGRANTS, "id": ""}, "id is missing"),
        ({**JGRANTS, "acceptance_end_datetime": "いつか"}, "acceptance_end_datetime must be a time"),
        ({**JGRANTS, "subsidy_max_limit": "たくさん"}, "subsidy_max_limit must be yen"),
        ({**JGRANTS, "detail_json": "{"}, "detail_json is not valid JSON"),
        (["no", "object"], "a row must be an object"),
    ],
)
def test_a_wrong_row_is_refused_with_its_reason_and_the_rest_is_taken(
    empty: Programs, row: Any, reason: str
) -> None:
    report = empty.take({"unified_id": "good", "primary_name": "良い制度"}, row)
    assert [(each.row, reason in each.reason) for each in report.refused] == [(2, True)], report.refused
    assert report.refused[0].reason_ja
    assert empty.search() == ["good"]


def test_strict_takes_all_or_nothing(empty: Programs, tmp_path: Path) -> None:
    empty.take(KEIEI, RULES[0])
    before = empty.call("get_meta")
    good = write_rows(tmp_path / "good.jsonl", [{**KEIEI, "tier": "A"}, *ROWS[1:], *RULES])
    bad = write_rows(tmp_path / "bad.jsonl", [{"unified_id": "x", "primary_name": "x", "tier": "Z"}])
    with pytest.raises(RefusedImport) as refused:
        empty.take_files(good, bad, strict=True)
    assert "bad.jsonl row 1" in str(refused.value)
    assert empty.call("get_meta") == before
    assert empty.call("get_program", unified_id=KEIEI["unified_id"])["tier"] == "S"
    assert empty.take_files(good, bad).programs.added == len(ROWS) - 1


def test_the_same_id_twice_in_a_file_is_refused_once(empty: Programs) -> None:
    report = empty.take(KEIEI, {**KEIEI, "tier": "A"}, RULES[0], RULES[0])
    assert [(each.row, "twice" in each.reason) for each in report.refused] == [(2, True), (4, True)]
    assert empty.call("get_program", unified_id=KEIEI["unified_id"])["tier"] == "S"


@pytest.mark.parametrize("content", ["{", "これは制度ではありません", '{"a":1}\n{', "\x00\x01\x02"])
def test_what_is_no_file_of_rows_is_said(empty: Programs, tmp_path: Path, content: str) -> None:
    path = tmp_path / "何か.json"
    path.write_text(content)
    with pytest.raises(InvalidInput, match=r"何か\.json"):
        empty.take_files(path)


def test_a_file_that_is_not_there_is_said(empty: Programs, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"無い\.json"):
        empty.take_files(tmp_path / "無い.json")


def test_rules_come_as_a_list_or_by_their_names(empty: Programs, tmp_path: Path) -> None:
    named, listed = tmp_path / "named.json", tmp_path / "listed.json"
    nameless = [{key: value for key, value in rule.items() if key != "rule_id"} for rule in RULES]
    named.write_text(
        json.dumps({"meta": {}, "rules": {r["rule_id"]: n for r, n in zip(RULES, nameless, strict=True)}})
    )
    listed.write_text(json.dumps(RULES))
    assert empty.take_files(named, strict=True).rules.added == 35
    assert empty.take_files(listed, strict=True).rules.unchanged == 35
