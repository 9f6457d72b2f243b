"""Publications: importing, numbers, codes, snippets within their budget."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shirube.caller import LOCAL
from shirube.store import patents as store
from shirube.toolsets.patents.codes import below, fi_norm, listed
from shirube.toolsets.patents.feed import scopes_of
from shirube.toolsets.patents.importing import import_files
from shirube.toolsets.patents.numbers import read_number
from shirube.toolsets.patents.record import (
    background,
    content_hash,
    independent_claims,
    read_publication,
    scope_text,
)
from tests.toolsets.patents.conftest import ROWS, Patents
from tests.toolsets.patents.test_gazette import ST96


@pytest.mark.parametrize(
    ("written", "kind", "number"),
    [
        ("特願2023-123456", "app_doc_id", "JP2023123456"),
        ("特願２０２３－１２３４５６", "app_doc_id", "JP2023123456"),
        ("特願2023-1234", "app_doc_id", "JP2023001234"),
        ("特開2023-123456", "pub_id", "JP2023-123456A"),
        ("特開2023-123456号公報", "pub_id", "JP2023-123456A"),
        ("特表2023-500001", "pub_id", "JP2023-500001A"),
        ("再表2023/123456", "pub_id", "WO2023/123456"),
        ("特許第7123456号", "exam_id", "JP7123456B"),
        ("特許7123456", "exam_id", "JP7123456B"),
        ("特開昭63-123456", "pub_id", "JP1988-123456A"),
        ("特開平10-123456", "pub_id", "JP1998-123456A"),
        ("特開平成10-123456", "pub_id", "JP1998-123456A"),
        ("特開H10-123456", "pub_id", "JP1998-123456A"),
        ("特願令5-000012", "app_doc_id", "JP2023000012"),
        ("特願平元-000012", "app_doc_id", "JP1989000012"),
        ("JP2023123456", "app_doc_id", "JP2023123456"),
        ("JP2023-123456A", "pub_id", "JP2023-123456A"),
        ("jp7123456b", "exam_id", "JP7123456B"),
        ("WO2023/123456", "pub_id", "WO2023/123456"),
        ("実願昭56-017576", "app_doc_id", "JP1981017576U"),
        ("実開平05-026671", "pub_id", "JP1993-026671U"),
        ("実全昭57-129933", "pub_id", "JP1982-129933U"),
        ("実登3235906", "exam_id", "JP3235906U"),
        ("特公平6-12345", "exam_id", "JP1994-012345B"),
        ("JP2023123456A", "pub_id", "JP2023-123456A"),
        ("特開2023123456", "pub_id", "JP2023-123456A"),
        ("特開平05026671", "pub_id", "JP1993-026671A"),
        ("特許第7,123,456号", "exam_id", "JP7123456B"),
        ("特許7123456B2", "exam_id", "JP7123456B"),
        ("特許第07123456号", "exam_id", "JP7123456B"),
        ("JP7123456B2", "exam_id", "JP7123456B"),
        ("JPH08-016995A", "pub_id", "JP1996-016995A"),
        ("JPS63123456A", "pub_id", "JP1988-123456A"),
        ("JP-2022-514157", "pub_id", "JP2022-514157A"),
        ("JP-7123456-B2", "exam_id", "JP7123456B"),
        ("再表98/012345", "pub_id", "WO1998/012345"),
        ("再表WO2023/123456", "pub_id", "WO2023/123456"),
        ("特開2023/123456", "pub_id", "JP2023-123456A"),
        ("特願平成10年第123456号", "app_doc_id", "JP1998123456"),
        ("特許第7178061号(P7178061)", "exam_id", "JP7178061B"),
        ("特許第７１７８０６１号（Ｐ７１７８０６１）", "exam_id", "JP7178061B"),
        ("特表2022-514157(P2022-514157A)", "pub_id", "JP2022-514157A"),
        ("P2022-514157A", "pub_id", "JP2022-514157A"),
        ("P7178061", "exam_id", "JP7178061B"),
        ("特許番号第7178061号", "exam_id", "JP7178061B"),
        ("日本国特許第7178061号", "exam_id", "JP7178061B"),
    ],
)
def test_a_number_is_read_in_any_notation(written: str, kind: str, number: str) -> None:
    found = read_number(written)
    assert found is not None
    assert (found.kind, found.id) == (kind, number)


@pytest.mark.parametrize(
    "written",
    [
        *("", "特願", "特開2023", "123", "特許第1号", "特開9999-1", "発明", "JP"),
        *("JP71234567", "JP2023-1234567", "特開202312345", "2023-123456", "7123456"),
        *("特許第7178061号(P7178062)", "P2023123456", "第7178061号", "()", "特許第7178061号()"),
    ],
)
def test_what_is_no_number_is_none(written: str) -> None:
    assert read_number(written) is None


@pytest.mark.parametrize(
    ("written", "said", "number"),
    [
        ("2023-123456", "pub_id", "JP2023-123456A"),
        ("２０２３－１２３４５６", "app_id", "JP2023123456"),
        ("2023123456", "app_doc_id", "JP2023123456"),
        ("7123456", "exam_id", "JP7123456B"),
        ("7,123,456", "exam_id", "JP7123456B"),
        ("特願2023-123456", "pub_id", "JP2023123456"),
        ("第7178061号", "exam_id", "JP7178061B"),
        ("JP2021-518914", "app_id", "JP2021518914"),
        ("JP2021-518914", "app_doc_id", "JP2021518914"),
        ("JP2021-518914", "pub_id", "JP2021-518914A"),
        ("JP2021-518914A", "app_id", "JP2021-518914A"),
        ("P7178061", "pub_id", "JP7178061B"),
    ],
)
def test_a_bare_number_is_what_it_is_said_to_be(written: str, said: str, number: str) -> None:
    found = read_number(written, said)
    assert found is not None
    assert found.id == number


@given(st.text(max_size=30))
def test_any_text_is_a_number_or_none(text: str) -> None:
    found = read_number(text)
    assert found is None or read_number(found.id) == found


@pytest.mark.parametrize(
    ("written", "norm"),
    [
        ("B25J13/08@A", "B25J13/08"),
        ("B60W30/12,624", "B60W30/12"),
        ("B60R21/00,624@D", "B60R21/00"),
        ("G06V10/82A", "G06V10/82"),
        (" ｇ０６ｖ１０／８２ ", "G06V10/82"),
        ("G06V 10/82", "G06V10/82"),
        ("G06V", "G06V"),
        ("C12N15/00ZNA", "C12N15/00"),
        ("B60L11/18ZHV", "B60L11/18"),
        ("B60K6/20 310", "B60K6/20"),
        ("F16H59:44", "F16H59:44"),
    ],
)
def test_a_symbol_is_compared_without_what_follows_it(written: str, norm: str) -> None:
    assert fi_norm(written) == norm


@pytest.mark.parametrize(
    ("written", "beginnings"),
    [
        ("G06V10", ("G06V10/", "G06V10:")),
        ("G06V", ("G06V",)),
        ("G06", ("G06",)),
        ("G06V10/82", ()),
        ("F16H59:44", ()),
    ],
)
def test_a_shorter_symbol_stands_for_all_below_it(written: str, beginnings: tuple[str, ...]) -> None:
    assert below(written) == beginnings


@pytest.mark.parametrize(
    ("written", "codes"),
    [
        ("G06V 10/82; G06V 40/16", ["G06V 10/82", "G06V 40/16"]),
        ("G06V10/82,G06V40/16", ["G06V10/82", "G06V40/16"]),
        ("G06V10/82 G06V40/16|F16H59:44", ["G06V10/82", "G06V40/16", "F16H59:44"]),
        ("Ｇ０６Ｖ１０／８２，Ｇ０６Ｖ４０／１６", ["Ｇ０６Ｖ１０／８２", "Ｇ０６Ｖ４０／１６"]),
        ("B60W30/12,624", ["B60W30/12,624"]),
        ("B25J13/08@A", ["B25J13/08@A"]),
        ("B60R21/00,624@D,B60K6/20 310", ["B60R21/00,624@D", "B60K6/20 310"]),
        ("5B089AA01,5B089CA13 3C707KS31", ["5B089AA01", "5B089CA13", "3C707KS31"]),
        ("5B089 AA01", ["5B089 AA01"]),
        (" ; ", []),
    ],
)
def test_a_list_of_codes_parts_where_a_code_begins(written: str, codes: list[str]) -> None:
    assert listed(written) == codes


@pytest.mark.parametrize(
    ("id_", "id_type"),
    [
        ("JP2023-123456A", "pub_id"),
        ("JP2022000001", "app_doc_id"),
        ("特願2022-000001", "app_id"),
        ("特開2023-123456", "app_id"),
        ("特許第7123456号", "exam_id"),
        ("JP7123456B", "exam_id"),
        ("特開２０２３－１２３４５６", "exam_id"),  # what is written decides
        ("2023-123456", "pub_id"),
        ("2022-000001", "app_id"),
        ("7123456", "exam_id"),
        ("JP2023123456A", "app_doc_id"),
    ],
)
def test_a_publication_is_found_by_any_of_its_numbers(patents: Patents, id_: str, id_type: str) -> None:
    found = patents.call("get_publication", id=id_, id_type=id_type)
    assert (found["pub_id"], found["app_id"]) == ("JP2023-123456A", "特願2022-000001")
    assert found["title"] == "顔認証装置"
    assert found["abst"].startswith("【課題】")
    assert "請求項1に記載" in found["claim"]
    assert "【背景技術】" in found["desc"]
    assert found["metadata"]["fi"] == ["G06V10/82", "G06V40/16@A"]
    assert found["metadata"]["ft"] == ["5B089AA01", "5B089CA13"]
    assert (found["metadata"]["filing_date"], found["metadata"]["publication_date"]) == (
        "2022-01-04",
        "2023-09-05",
    )


def test_an_unknown_number_is_an_error(patents: Patents) -> None:
    assert patents.error("get_publication", id="特開2099-999999")["code"] == "NOT_FOUND"
    assert patents.error("get_publication", id="何か")["code"] == "NOT_FOUND"
    assert (
        patents.error("get_publication", id="JP2023-123456A", id_type="number")["code"] == "INVALID_PARAMETER"
    )


def test_a_publication_has_only_the_fields_asked_for(patents: Patents) -> None:
    found = patents.call(
        "get_publication", id="JP2023-123456A", fields=["title", "abst"], per_field_chars={"abst": 5}
    )
    assert set(found) == {"pub_id", "app_id", "title", "abst", "metadata"}
    assert found["abst"] == "【課題】遮"


def test_foreign_numbers_are_kept_as_they_are(patents: Patents) -> None:
    assert patents.call("get_publication", id="US2021/0123456")["metadata"]["country"] == "US"


@pytest.fixture(scope="module")
def run(patents: Patents) -> str:
    return str(patents.call("rrf_search_fulltext_raw", query="顔 OR 車線 OR mask")["run_id"])


class TestSnippets:
    def test_a_snippet_has_the_documented_keys(self, patents: Patents, run: str) -> None:
        shown = patents.call("peek_snippets", run_id=run)
        assert shown["run_id"] == run
        assert [each["rank"] for each in shown["snippets"]] == [1, 2, 3, 4, 5, 6]
        [face] = [each for each in shown["snippets"] if each["pub_id"] == "JP2023-123456A"]
        assert face["app_id"] == "特願2022-000001"
        assert (face["title"], face["abst"][:4]) == ("顔認証装置", "【課題】")
        assert "顔認証装置" in face["claim"]
        assert "desc" not in face
        assert isinstance(face["score"], float)
        assert face["metadata"]["fi"] == ["G06V10/82", "G06V40/16@A"]
        assert face["metadata"]["ft"] == ["5B089AA01", "5B089CA13"]
        assert next(each for each in shown["snippets"] if each["pub_id"].startswith("US"))["app_id"] is None

    def test_what_was_looked_for_is_marked(self, patents: Patents) -> None:
        query = "(顔認証 OR ＭＡＳＫ) NOT 指紋"
        run = patents.call("rrf_search_fulltext_raw", query=query)["run_id"]
        fused = patents.call("rrf_blend_frontier", runs=[{"lane": "fulltext", "run_id_lane": run}])["run_id"]
        for each in (run, fused):
            for snippet in patents.call("peek_snippets", run_id=each)["snippets"]:
                marked = {
                    snippet[name][start:end].lower()
                    for name, places in snippet["highlights"].items()
                    for start, end in places
                }
                assert marked
                assert marked <= {"顔認証", "mask"}

    def test_only_the_fields_asked_for_are_shown(self, patents: Patents, run: str) -> None:
        shown = patents.call("peek_snippets", run_id=run, fields=["title", "desc"])
        assert "abst" not in shown["snippets"][0]
        assert any("【背景技術】" in each["desc"] for each in shown["snippets"])

    def test_the_documented_call_keeps_its_caps(self, patents: Patents, run: str) -> None:
        caps = {"title": 160, "abst": 480, "claim": 320}
        shown = patents.call("peek_snippets", run_id=run, limit=30, fields=list(caps), per_field_chars=caps)
        assert all(len(each[name]) <= cap for each in shown["snippets"] for name, cap in caps.items())
        short = patents.call("peek_snippets", run_id=run, per_field_chars={"abst": 10})
        assert all(len(each["abst"]) <= 10 for each in short["snippets"])

    def test_thirty_are_shown_and_the_rest_follows(self, empty: Patents) -> None:
        empty.take(*({"pub_id": f"特開2020-{n:06}", "title": "顔認証"} for n in range(1, 41)))
        run = empty.call("rrf_search_fulltext_raw", query="顔認証")["run_id"]
        first = empty.call("peek_snippets", run_id=run, fields=["title"])
        assert len(first["snippets"]) == 30
        assert first["meta"]["next_offset"] == 30
        rest = empty.call("peek_snippets", run_id=run, fields=["title"], offset=30)
        assert len(rest["snippets"]) == 10
        assert rest["meta"] == {
            "used_bytes": rest["meta"]["used_bytes"],
            "truncated": False,
            "next_offset": None,
            "total": 40,
        }

    @settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(budget=st.integers(200, 20_000), offset=st.integers(0, 6))
    def test_an_answer_never_passes_its_budget(
        self, patents: Patents, run: str, budget: int, offset: int
    ) -> None:
        answer = patents.answer(
            "peek_snippets",
            run_id=run,
            budget_bytes=budget,
            offset=offset,
            fields=["title", "abst", "claim", "desc"],
        )
        size = len(answer.json().encode())
        assert size <= min(budget, 12_288)
        assert answer.body["meta"]["used_bytes"] == size
        assert "\ufffd" not in answer.json()

    def test_the_smallest_budget_still_shows_one_and_goes_on(self, patents: Patents, run: str) -> None:
        seen, offset = [], 0
        while offset is not None:
            shown = patents.call("peek_snippets", run_id=run, budget_bytes=200, offset=offset)
            (snippet,) = shown["snippets"]
            assert {"rank", "doc_id", "pub_id"} <= snippet.keys()
            assert shown["meta"]["truncated"]
            seen.append(snippet["rank"])
            offset = shown["meta"]["next_offset"]
        assert seen == [1, 2, 3, 4, 5, 6]

    def test_a_short_text_stays_longer_than_long_lists_of_codes(self, empty: Patents) -> None:
        codes = [f"G06V10/{number}" for number in range(10, 99)]
        empty.take({"pub_id": "特開2020-5", "title": "顔認証装置", "abst": "長い。" * 200, "fi": codes})
        run = empty.call("rrf_search_fulltext_raw", query="顔認証")["run_id"]
        (snippet,) = empty.call("peek_snippets", run_id=run, budget_bytes=400)["snippets"]
        assert snippet["title"] == "顔認証装置"
        assert snippet["abst"].startswith("長い。")
        assert "metadata" not in snippet

    def test_a_budget_that_holds_nothing_is_refused(self, patents: Patents, run: str) -> None:
        for budget in (0, 1, 199):
            said = patents.error("peek_snippets", run_id=run, budget_bytes=budget)
            assert said["code"] == "INVALID_PARAMETER"
            assert "200" in said["message"]

    def test_a_number_longer_than_the_budget_says_what_it_takes(self, empty: Patents) -> None:
        empty.take({"pub_id": "鑑" * 60, "title": "題"})
        run = empty.call("rrf_search_fulltext_raw", query="題")["run_id"]
        said = empty.error("peek_snippets", run_id=run, budget_bytes=200)
        assert said["code"] == "INVALID_PARAMETER"
        (enough,) = (int(each) for each in said["message"].split() if each.isdigit())
        assert len(empty.call("peek_snippets", run_id=run, budget_bytes=enough)["snippets"]) == 1

    def test_the_default_budget_is_kept(self, empty: Patents) -> None:
        empty.take(
            *({"pub_id": f"特開2020-{n:06}", "title": "顔認証", "abst": "長い。" * 300} for n in range(1, 41))
        )
        run = empty.call("rrf_search_fulltext_raw", query="顔認証")["run_id"]
        answer = empty.answer("peek_snippets", run_id=run, budget_bytes=999_999)
        assert len(answer.json().encode()) <= 12_288
        assert answer.body["meta"]["truncated"] is True
        assert answer.body["snippets"][0]["abst"].endswith("。")

    def test_chosen_publications_in_detail(self, patents: Patents) -> None:
        ids = ["特開2023-123456", "JP7123456B", "特開2099-1"]
        shown = patents.call("get_snippets", ids=ids, fields=["title", "desc"])
        assert [each["title"] for each in shown["snippets"]] == ["顔認証装置", "顔認証装置"]
        assert "【発明の効果】" in shown["snippets"][0]["desc"]
        assert shown["not_found"] == ["特開2099-1"]


def test_formulas_and_tables_end_no_section() -> None:
    desc = "【背景技術】\n【０００２】前。【数１】式。【化２】\n【表１】表。後。\n【実施例】例。"
    assert background(desc).endswith("表。後。")


def test_claims_without_line_breaks_are_told_apart() -> None:
    row = {"pub_id": "特開2020-7", "claim": "【請求項１】甲装置。【請求項２】請求項１に記載の乙装置。"}
    assert read_publication(row)["claims"] == ["甲装置。", "請求項１に記載の乙装置。"]


def test_the_scopes_of_a_publication() -> None:
    claims: list[str] = ROWS[0]["claims"]
    assert independent_claims(claims) == [claims[0], claims[2]]
    assert background(ROWS[0]["desc"]) == "従来の顔識別はマスクに弱い。\n遮蔽。\n高精度。"
    record = {"title": "題", "abst": "要約", "claim": "請求", "claims": ["請求"], "desc": "説明"}
    assert scope_text(record, "wide") == "題\n要約\n請求\n説明"
    assert scope_text(record, "title_abst_claims") == "題\n要約\n請求"


class TestImport:
    def test_a_second_import_changes_nothing(self, empty: Patents) -> None:
        first, again = empty.take(*ROWS), empty.take(*ROWS)
        assert (first.added, again.unchanged, again.added, again.changed) == (len(ROWS), len(ROWS), 0, 0)
        assert empty.take({**ROWS[0], "title": "新しい題"}).changed == 1
        assert empty.found("新しい題") == ["新しい題"]
        assert "顔認証装置" not in empty.found("顔認証装置 NOT 新しい題")

    def test_rows_of_jplatpat(self, empty: Patents) -> None:
        row = {
            "doc_id": "特表2022-514157",
            "application_number": "特願2021-518914",
            "publication_number": "特表2022-514157",
            "registration_number": "特許7178061",
            "filing_date": "2018/10/10",
            "publication_date": "2020/04/16",
            "title": "無人搬送車",
            "applicants": "霊動科技（北京）有限公司",
            "fi": ["G05D1/02@K", "B60K41/00,390"],
            "abstract": "(57)【要約】\n  無人搬<BR>送車は動く。",
        }
        empty.take(row)
        found = empty.call("get_publication", id="特許7178061")
        assert (found["pub_id"], found["metadata"]["doc_id"]) == ("JP2022-514157A", "JP2021518914")
        assert found["abst"] == "無人搬送車は動く。"
        assert found["metadata"]["fi_norm"] == ["G05D1/02", "B60K41/00"]
        assert found["metadata"]["filing_date"] == "2018-10-10"

    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            ({"title": "番号のない公報"}, "no number"),
            ({"pub_id": "特開2020-1"}, "no text"),
            ({"pub_id": "特開2020-1", "title": ["x"]}, "title must be text"),
            ({"pub_id": "特開2020-1", "title": "x", "fi": 5}, "fi must be"),
            ({"pub_id": "特開2020-1", "title": "x", "filing_date": "いつか"}, "filing_date must be a day"),
            ({"pub_id": 5, "title": "x"}, "pub_id must be"),
            ("文字列", "a row must be an object"),
        ],
    )
    def test_a_broken_record_is_reported_and_the_rest_goes_in(
        self, empty: Patents, row: Any, reason: str
    ) -> None:
        report = empty.take(ROWS[0], row, ROWS[1])
        assert [(each.line, reason in each.reason) for each in report.refused] == [(2, True)], report.refused
        assert report.added == 2

    def test_a_line_that_is_no_json_is_reported(self, empty: Patents, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text(json.dumps(ROWS[0]) + "\n{\n" + json.dumps(ROWS[1]) + "\n")
        report = import_files(empty.application.workspace().database, LOCAL, [path])
        assert ([each.line for each in report.refused], report.added) == ([2], 2)

    def test_a_file_that_cannot_be_read_stops_no_other(self, empty: Patents, tmp_path: Path) -> None:
        good, binary, gone = tmp_path / "good.jsonl", tmp_path / "binary.jsonl", tmp_path / "gone.jsonl"
        good.write_text(json.dumps(ROWS[0]) + "\n")
        binary.write_bytes(b"\x00\x01\xff" * 100)
        report = import_files(empty.application.workspace().database, LOCAL, [gone, binary, good])
        assert [each.file for each in report.refused] == ["gone.jsonl", "binary.jsonl"]
        assert report.added == 1

    @pytest.mark.parametrize("indent", [None, 2])
    @pytest.mark.parametrize("rows", [ROWS[0], ROWS[:2]], ids=["one", "a list"])
    def test_a_file_may_be_one_value(
        self, empty: Patents, tmp_path: Path, rows: Any, indent: int | None
    ) -> None:
        path = tmp_path / "a.json"
        path.write_text(json.dumps(rows, indent=indent))
        report = import_files(empty.application.workspace().database, LOCAL, [path])
        assert (report.added, report.refused) == (2 if isinstance(rows, list) else 1, [])

    def test_a_quotation_mark_that_is_not_closed_is_reported(self, empty: Patents, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text('pub_id,title\n特開2020-5,題\n特開2020-6,"開いたまま\n特開2020-7,題\n')
        report = import_files(empty.application.workspace().database, LOCAL, [path])
        assert ([each.line for each in report.refused], report.added) == ([3], 1)

    def test_a_table(self, empty: Patents, tmp_path: Path) -> None:
        path = tmp_path / "公報.csv"
        path.write_text(
            "pub_id,title,abst,fi,applicant\n特開2020-5,題,要約,G06V10/82;G06V40/16@A,甲社;乙社\n",
            encoding="cp932",
        )
        report = import_files(empty.application.workspace().database, LOCAL, [path])
        assert (report.added, report.refused) == (1, [])
        found = empty.call("get_publication", id="特開2020-5")
        assert found["metadata"]["fi_norm"] == ["G06V10/82", "G06V40/16"]
        assert found["metadata"]["applicant"] == ["甲社", "乙社"]

    def test_a_table_of_jplatpat(self, empty: Patents, tmp_path: Path) -> None:
        path = tmp_path / "一覧.csv"
        path.write_text(
            "文献番号,出願番号,出願日,公知日,発明の名称,出願人/権利者,ＦＩ,公開番号,公告番号,登録番号,要約,Ｆターム,ステージ\n"
            "特開2020-5,特願2018-7,2018/01/02,2020/01/09,題,"
            '"フォード、リミテッド,甲社","B60W30/12,624@A B60K6/20 310",特開2020-5,,特許7123456,'
            '"(57)【要約】遮<BR>蔽する。",5B089AA01,特許 有効\n',
            encoding="utf-8-sig",
        )
        report = import_files(empty.application.workspace().database, LOCAL, [path])
        assert (report.added, report.refused) == (1, [])
        found = empty.call("get_publication", id="特許7123456")
        assert (found["pub_id"], found["app_id"], found["title"]) == ("JP2020-000005A", "特願2018-7", "題")
        assert found["abst"] == "遮蔽する。"
        told = found["metadata"]
        assert told["applicant"] == ["フォード、リミテッド", "甲社"]
        assert told["fi_norm"] == ["B60W30/12", "B60K6/20"]
        assert (told["filing_date"], told["publication_date"]) == ("2018-01-02", "2020-01-09")
        assert told["ft"] == ["5B089AA01"]

    @pytest.mark.parametrize("separator", [",", "\t", ";"])
    @pytest.mark.parametrize("said", [False, True])
    @pytest.mark.parametrize(
        ("name", "encoding"), [("a.csv", "cp932"), ("a.tsv", "utf-8-sig"), ("a.txt", "utf-16")]
    )
    def test_the_headings_tell_what_parts_the_columns(
        self, empty: Patents, tmp_path: Path, separator: str, said: bool, name: str, encoding: str
    ) -> None:
        path = tmp_path / name
        lines = [
            ["公開番号", "発明の名称", "FI"],
            ["特開2020-5", "題", '"G06V10/82;G06V40/16,G06V40/12"'],
            ["なし"],
        ]
        head = f"sep={separator}\r\n" if said else ""
        text = head + "".join(separator.join(line) + "\r\n" for line in lines)
        path.write_bytes(text.encode(encoding))
        report = import_files(empty.application.workspace().database, LOCAL, [path])
        assert (report.added, [each.line for each in report.refused]) == (1, [3 + said])
        found = empty.call("get_publication", id="特開2020-5")
        assert found["metadata"]["fi"] == ["G06V10/82", "G06V40/16", "G06V40/12"]

    def test_lines_of_json_may_be_called_text(self, empty: Patents, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:2]))
        assert import_files(empty.application.workspace().database, LOCAL, [path]).added == 2

    @pytest.mark.parametrize(
        "written",
        [
            *(20240105, "20240105", "２０２４０１０５", "2024-01-05", "2024/1/5", "令和6年1月5日"),
            *("2024-01-05T00:00:00", "2024-01-05T09:30:00.123+09:00", "2024-01-05 00:00:00Z"),
            *("2024/1/5 0:00:00", "2024/01/05 0:00", " 2024/1/5 23:59:59 "),
        ],
    )
    def test_a_day_is_read_as_programs_write_it(self, empty: Patents, written: Any) -> None:
        assert empty.take({"pub_id": "特開2020-5", "title": "題", "filing_date": written}).refused == []
        assert empty.call("get_publication", id="特開2020-5")["metadata"]["filing_date"] == "2024-01-05"

    @pytest.mark.parametrize(
        "written",
        [
            *(20240230, "20241301", "2024-02-30T00:00:00", "2023/2/29 0:00:00", "2024-01", 2024, 202401, 0),
            *("2024-01-05T24:00:00", "2024-01-05 0:60", "2024-01-05T", "120240105", "T00:00:00", True),
        ],
    )
    def test_what_is_no_day_is_refused(self, empty: Patents, written: Any) -> None:
        report = empty.take({"pub_id": "特開2020-5", "title": "題", "filing_date": written})
        assert [each.reason for each in report.refused] == ["filing_date must be a day"]

    def test_our_own_headings_in_any_case(self, empty: Patents, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text("PUB_ID,Title,APP_ID\n2020-5,題,2018-7\n")
        assert import_files(empty.application.workspace().database, LOCAL, [path]).refused == []
        assert empty.call("get_publication", id="特開2020-5")["app_id"] == "特願2018-000007"

    def test_columns_that_nobody_knows_are_named(self, empty: Patents) -> None:
        report = empty.take({"番号": "1", "内容": "x"})
        assert "番号, 内容" in report.refused[0].reason

    def test_rows_of_a_table_have_the_line_where_they_begin(self, empty: Patents, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text('pub_id,title\n特開2020-5,"一\n二"\n\n,番号なし\n特開2020-6,"三\n四"\n,なし\n')
        report = import_files(empty.application.workspace().database, LOCAL, [path])
        assert (report.added, [each.line for each in report.refused]) == (2, [5, 8])

    def test_a_field_of_a_table_may_be_a_whole_description(
        self, empty: Patents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "a.csv"
        path.write_text(f"pub_id,title,desc\n特開2020-5,題,{'長い。' * 60_000}\n特開2020-6,短,短\n")
        report = import_files(empty.application.workspace().database, LOCAL, [path])
        assert (report.added, report.refused) == (2, [])
        monkeypatch.setattr("shirube.toolsets.patents.files._LARGEST_FIELD", 1000)
        report = import_files(empty.application.workspace().database, LOCAL, [path])
        assert (report.unchanged, [each.line for each in report.refused]) == (1, [2])
        assert "table" in report.refused[0].reason

    def test_half_of_a_character_refuses_its_row_alone(self, empty: Patents) -> None:
        report = empty.take(ROWS[0], {"pub_id": "特開2020-7", "title": "題\ud800"}, ROWS[1])
        assert (report.added, [each.line for each in report.refused]) == (2, [2])
        assert "surrogate" in report.refused[0].reason

    def test_a_comparison_is_no_tag(self, empty: Patents) -> None:
        text = "温度がT1<T2であり、かつT3>T4のとき。a<b and c>d。"
        empty.take(
            {"pub_id": "特開2020-7", "title": "題", "abst": f'<p class="x">{text}</p>H<SUB>2</SUB>O<br/>水'}
        )
        assert empty.call("get_publication", id="特開2020-7")["abst"] == f"{text}H2O\n水"

    def test_a_gazette(self, empty: Patents, tmp_path: Path) -> None:
        path, broken = tmp_path / "公報.xml", tmp_path / "壊.xml"
        path.write_text(ST96)
        broken.write_text("<!DOCTYPE a><a/>")
        report = import_files(empty.application.workspace().database, LOCAL, [path, broken])
        assert (report.added, [each.file for each in report.refused]) == (1, ["壊.xml"])
        assert empty.call("get_publication", id="特開2023-123456")["pub_id"] == "JP2023-123456A"


LAID_OPEN: dict[str, Any] = {
    "app_id": "特願2018-7",
    "pub_id": "特開2020-5",
    "title": "公開時の題",
    "abst": "公開時の要約。",
    "claims": ["公開時の請求項。"],
    "fi": ["G06V10/82"],
    "publication_date": "2020-01-09",
}
GRANTED: dict[str, Any] = {
    "app_id": "特願2018-7",
    "exam_id": "特許第7123456号",
    "title": "登録時の題",
    "claims": ["登録時の請求項。"],
    "publication_date": "2021-05-01",
}


class TestTwoTextsOfOneApplication:
    @pytest.mark.parametrize("together", [True, False])
    @pytest.mark.parametrize("rows", [(LAID_OPEN, GRANTED), (GRANTED, LAID_OPEN)])
    def test_they_are_one_publication_with_both_numbers(
        self, empty: Patents, rows: tuple[dict[str, Any], ...], together: bool
    ) -> None:
        reports = [empty.take(*rows)] if together else [empty.take(row) for row in rows]
        assert [(each.added, each.changed) for each in reports] == (
            [(1, 0)] if together else [(1, 0), (0, 1)]
        )
        by_pub, by_exam = (empty.call("get_publication", id=id_) for id_ in ("特開2020-5", "特許7123456"))
        assert by_pub == by_exam
        assert (by_pub["title"], by_pub["claim"]) == ("登録時の題", "登録時の請求項。")
        assert (by_pub["abst"], by_pub["metadata"]["fi"]) == ("公開時の要約。", ["G06V10/82"])
        assert by_pub["metadata"]["publication_date"] == "2021-05-01"
        again = [empty.take(row) for row in rows] + [empty.take(*rows)]
        assert [(each.unchanged, each.added, each.changed) for each in again] == [(1, 0, 0)] * 3

    def test_a_date_that_was_too_late_can_be_corrected(self, empty: Patents) -> None:
        empty.take({**LAID_OPEN, "publication_date": "2024-01-05"})
        assert empty.take(LAID_OPEN).changed == 1
        found = empty.call("get_publication", id="特開2020-5")
        assert found["metadata"]["publication_date"] == "2020-01-09"

    def test_a_correction_replaces_and_what_it_leaves_out_stays(self, empty: Patents) -> None:
        empty.take(LAID_OPEN)
        corrected = {**LAID_OPEN, "title": "正しい題", "abst": "", "publication_date": None}
        assert empty.take(corrected).changed == 1
        found = empty.call("get_publication", id="特開2020-5")
        assert (found["title"], found["abst"]) == ("正しい題", "公開時の要約。")
        assert found["metadata"]["publication_date"] == "2020-01-09"


WITHOUT: dict[str, Any] = {"pub_id": "特開2020-5", "title": "顔認証装置", "abst": "要約。"}
WITH: dict[str, Any] = {
    "pub_id": "特開2020-5",
    "app_id": "特願2018-7",
    "title": "顔認証装置",
    "fi": ["G06V10/82"],
}
GRANTED_WITHOUT: dict[str, Any] = {"exam_id": "特許7123456", "title": "顔認証装置", "abst": "要約。"}
GRANTED_WITH: dict[str, Any] = {**GRANTED_WITHOUT, "app_id": "特願2018-7", "fi": ["G06V10/82"]}


def told_apart(empty: Patents, *rows: dict[str, Any]) -> None:
    """Put each of these into the store by itself, as they were before numbers were compared."""
    with empty.application.workspace().database.write() as connection:
        for revision, row in enumerate(rows, start=store.revision_of(connection, "local") + 1):
            record = read_publication(row)
            store.put_publication(
                connection,
                LOCAL,
                record,
                content_hash=content_hash(record),
                scopes=scopes_of(record),
                revision=revision,
            )


class TestOnePublicationWithAndWithoutItsApplication:
    @pytest.mark.parametrize("together", [True, False])
    @pytest.mark.parametrize("rows", [(WITHOUT, WITH), (GRANTED_WITHOUT, GRANTED_WITH)])
    @pytest.mark.parametrize("order", [1, -1])
    def test_it_is_one_in_any_order(
        self, empty: Patents, rows: tuple[dict[str, Any], ...], together: bool, order: int
    ) -> None:
        rows = rows[::order]
        reports = [empty.take(*rows)] if together else [empty.take(row) for row in rows]
        assert sum(each.added for each in reports) == 1
        assert empty.call("rrf_search_fulltext_raw", query="顔認証")["hit_count"] == 1
        found = empty.call("get_publication", id=rows[0].get("pub_id") or rows[0]["exam_id"])
        assert found["metadata"]["doc_id"] == "JP2018000007"
        assert (found["abst"], found["metadata"]["fi"]) == ("要約。", ["G06V10/82"])
        assert empty.call("get_publication", id="特願2018-7") == found
        again = empty.take(*rows)
        assert (again.added, again.changed, again.unchanged) == (0, 0, 1)

    def test_those_of_one_file_are_one_however_far_apart(
        self, empty: Patents, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("shirube.toolsets.patents.importing._BATCH", 2)
        report = empty.take(WITHOUT, *ROWS[:4], WITH, ROWS[4], {**WITHOUT, "exam_id": "特許7999999"})
        assert (report.added, report.changed, report.unchanged) == (6, 0, 0)
        assert empty.call("get_publication", id="特許7999999")["metadata"]["doc_id"] == "JP2018000007"

    @pytest.mark.parametrize("row", [WITHOUT, WITH, {**WITHOUT, "exam_id": "特許7123456"}])
    def test_a_store_that_holds_both_is_repaired(self, empty: Patents, row: dict[str, Any]) -> None:
        empty.take(ROWS[5])
        told_apart(empty, WITHOUT, WITH)
        assert empty.call("rrf_search_fulltext_raw", query="顔認証")["hit_count"] == 2
        assert (report := empty.take(row)).changed == 1, report
        assert empty.call("rrf_search_fulltext_raw", query="顔認証")["hit_count"] == 1
        found = empty.call("get_publication", id="特開2020-5")
        assert (found["abst"], found["metadata"]["doc_id"]) == ("要約。", "JP2018000007")

    def test_three_are_one_by_what_they_have_in_common(self, empty: Patents) -> None:
        told_apart(empty, WITHOUT, GRANTED_WITHOUT)
        report = empty.take({"pub_id": "特開2020-5", "exam_id": "特許7123456", "title": "顔認証装置"})
        assert (report.added, report.changed) == (0, 1)
        assert empty.call("rrf_search_fulltext_raw", query="顔認証")["hit_count"] == 1

    def test_two_applications_are_two_whatever_else_they_say(self, empty: Patents) -> None:
        empty.take(WITH, {**WITH, "app_id": "特願2018-8"}, WITHOUT)
        assert empty.call("rrf_search_fulltext_raw", query="顔認証")["hit_count"] == 2

    def test_what_is_no_number_makes_nothing_one(self, empty: Patents) -> None:
        rows = [{"pub_id": f"特開2020-{n}", "exam_id": "なし", "title": "顔認証"} for n in range(1, 4)]
        assert empty.take(*rows).added == 3
        assert empty.take(*rows).unchanged == 3

    def test_the_index_follows_without_being_built_anew(
        self, empty: Patents, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        empty.take(*ROWS, WITHOUT, GRANTED_WITHOUT)
        space = empty.application.patents().library.space("local")
        space.catch_up()
        empty.take(WITH, GRANTED_WITH)
        monkeypatch.setattr(type(space), "_start_afresh", lambda *_: pytest.fail("built anew"))
        space.catch_up()
        assert space.count() == len(ROWS) + 1

    def test_runs_and_representatives_of_before_go_on(self, empty: Patents) -> None:
        empty.take(WITHOUT, ROWS[3])
        run = empty.call("rrf_search_fulltext_raw", query="顔認証")["run_id"]
        for number in ("特開2020-5", "特開2020-100003"):
            empty.call("register_representatives", pub_ids=[number], category="A")
        runs = [{"lane": "fulltext", "run_id_lane": run}]
        fusion = empty.call("rrf_blend_frontier", runs=runs)["run_id"]
        empty.take(WITH)
        for each in (run, fusion):
            [snippet] = empty.call("peek_snippets", run_id=each)["snippets"]
            assert (snippet["doc_id"], snippet["pub_id"]) == ("JP2018000007", "JP2020-000005A")
            assert empty.call("get_provenance", run_id=each)["code_freqs"]["fi"] == {"G06V10/82": 1}
        tuned = empty.call("rrf_mutate_run", base_run_id=fusion, mutate_delta={})
        assert [each["pub_id"] for each in tuned["ranked_docs"]] == ["JP2020-000005A"]
        after = empty.call("rrf_search_fulltext_raw", query="顔認証")["run_id"]
        anew = empty.call("rrf_blend_frontier", runs=[{"lane": "fulltext", "run_id_lane": after}])
        assert anew["ranked_docs"][0]["pi"] == pytest.approx(0.6), "still a representative"

    def test_one_that_was_registered_by_both_its_ids_is_so_once(self, empty: Patents) -> None:
        told_apart(empty, WITHOUT, WITH)
        both = ["特開2020-5", "特願2018-7"]
        assert empty.call("register_representatives", pub_ids=both, category="B")["registered_count"] == 2
        empty.take(WITH)
        run = empty.call("rrf_search_fulltext_raw", query="顔認証")["run_id"]
        fused = empty.call("rrf_blend_frontier", runs=[{"lane": "fulltext", "run_id_lane": run}])
        assert [each["pi"] for each in fused["ranked_docs"]] == [pytest.approx(0.45)]

    def test_a_publication_whose_text_has_changed_gets_vectors_of_it(self, tmp_path: Path) -> None:
        dense = Patents(tmp_path, "use")
        dense.take(WITHOUT)
        library = dense.application.patents().library
        assert library.embed("local") > 0
        assert library.embed("local") == 0
        dense.take({**WITH, "abst": "車線を変える支援をする。"})
        assert library.embed("local") > 0
        run = dense.call("rrf_search_semantic_raw", text="車線の変更")
        assert run["hit_count"] == 1
