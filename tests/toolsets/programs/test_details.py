"""get_program, batch_get_programs and get_meta."""

import json
import re
from datetime import datetime
from typing import Any

import pytest

from shirube.caller import Caller
from shirube.store.tables import audit
from shirube.toolsets.programs.record import DETAILS, PROGRAM
from shirube.toolsets.programs.schema import MINIMAL
from tests.toolsets.programs.conftest import KEIEI, ROWS, RULES, Programs

LINEAGE = ("source_url", "source_fetched_at", "source_checksum")
UNKNOWN = {"unified_id": "bare", "primary_name": "名前だけの制度"}


def test_the_documented_programme_has_the_documented_shape(programs: Programs) -> None:
    found = programs.call("get_program", unified_id="keiei-kaishi-shikin")
    assert (found["unified_id"], found["primary_name"], found["tier"]) == (
        "keiei-kaishi-shikin",
        "経営開始資金",
        "S",
    )
    assert found["enriched"] == KEIEI["enriched"]
    assert found["enriched"]["J_statistics"] is None
    assert found["source_mentions"] == [
        {"url": "https://www.maff.go.jp/j/", "fetched_at": "2026-04-15T00:00:00+00:00"}
    ]
    assert found["source_url"] == "https://www.maff.go.jp/j/new_farmer/n_syunou/"
    assert found["source_fetched_at"] == "2026-04-22T13:20:57.045412+00:00"
    assert re.fullmatch("[0-9a-f]{16}", found["source_checksum"])


def test_an_id_from_a_search_gets_its_programme(programs: Programs) -> None:
    for row in programs.call("search_programs", limit=100)["results"]:
        found = programs.call("get_program", unified_id=row["unified_id"])
        assert {name: found[name] for name in row} == row


def test_details_come_in_three_sizes(programs: Programs) -> None:
    minimal = programs.call("get_program", unified_id="it-donyu", fields="minimal")
    default = programs.call("get_program", unified_id="it-donyu")
    full = programs.call("get_program", unified_id="it-donyu", fields="full")
    assert set(minimal) == set(MINIMAL)
    assert tuple(default) == tuple(full) == (*PROGRAM, *DETAILS)
    assert full["enriched"] is None
    assert full["source_mentions"] == []


def test_a_new_programme_has_its_lineage(empty: Programs) -> None:
    empty.take(UNKNOWN, {**UNKNOWN, "unified_id": "b", "official_url": "https://example.jp/b"})
    bare, official = (empty.call("get_program", unified_id=key) for key in ("bare", "b"))
    assert all(bare[name] for name in LINEAGE)
    assert bare["source_url"] == "file:rows1.jsonl"
    assert official["source_url"] == "https://example.jp/b"
    assert datetime.fromisoformat(bare["source_fetched_at"]).tzinfo


@pytest.mark.parametrize("key", ["UNI-typo-1", "", "経営開始資金", "x' OR 1=1 --"])
def test_an_unknown_id_is_not_found(programs: Programs, key: str) -> None:
    answer = programs.answer("get_program", unified_id=key)
    assert answer.error is not None
    assert answer.error.status == 404
    assert answer.body["error"] == "program not found"


def test_a_canonical_slug_stands_for_the_one_programme_it_means(empty: Programs) -> None:
    empty.take({"unified_id": "UNI-1", "primary_name": "経営開始資金"})
    assert empty.call("get_program", unified_id="keiei-kaishi-shikin")["unified_id"] == "UNI-1"
    assert empty.call("batch_get_programs", unified_ids=["keiei-kaishi-shikin"])["not_found"] == []
    empty.take({"unified_id": "UNI-2", "primary_name": "経営開始資金"})
    assert empty.error("get_program", unified_id="keiei-kaishi-shikin") == "program not found"


def test_a_batch_is_the_details_of_each_in_order(programs: Programs) -> None:
    asked = ["it-donyu", "keiei-kaishi-shikin", "it-donyu", "kyosai", "keiei-kaishi-shikin"]
    found = programs.call("batch_get_programs", unified_ids=asked)
    assert [row["unified_id"] for row in found["results"]] == ["it-donyu", "keiei-kaishi-shikin", "kyosai"]
    for row in found["results"]:
        assert row == programs.call("get_program", unified_id=row["unified_id"], fields="full")
        assert tuple(row) == (*PROGRAM, *DETAILS)
    assert found["not_found"] == []


def test_the_documented_batch_is_half_a_success(programs: Programs) -> None:
    answer = programs.answer("batch_get_programs", unified_ids=["keiei-kaishi-shikin", "UNI-typo-1"])
    assert answer.ok
    assert [row["unified_id"] for row in answer.body["results"]] == ["keiei-kaishi-shikin"]
    assert answer.body["not_found"] == ["UNI-typo-1"]
    nothing = programs.answer("batch_get_programs", unified_ids=["UNI-typo-1"])
    assert nothing.ok
    assert nothing.body == {"results": [], "not_found": ["UNI-typo-1"]}


def test_one_batch_has_the_details_of_a_whole_page(empty: Programs) -> None:
    empty.take(*({"unified_id": f"p{number}", "primary_name": "制度"} for number in range(30)))
    ids = [row["unified_id"] for row in empty.call("search_programs")["results"]]
    found = empty.call("batch_get_programs", unified_ids=ids)
    assert [row["unified_id"] for row in found["results"]] == ids
    assert len(ids) == 20


def test_a_batch_has_at_least_one_id_and_at_most_fifty(programs: Programs) -> None:
    assert programs.error("batch_get_programs", unified_ids=[]) == "unified_ids required"
    assert programs.error("batch_get_programs", unified_ids=["x"] * 51) == "unified_ids cap is 50, got 51"
    assert programs.error("batch_get_programs", unified_ids=[str(n) for n in range(77)]).endswith("got 77")
    assert programs.call("batch_get_programs", unified_ids=[str(n) for n in range(50)])["results"] == []
    assert "unified_ids" in programs.error("batch_get_programs", unified_ids="it-donyu")


def test_a_batch_is_one_call(empty: Programs) -> None:
    empty.take(*ROWS[:3])
    empty.call("batch_get_programs", unified_ids=[row["unified_id"] for row in ROWS[:3]])
    workspace = empty.application.workspace()
    workspace.journal.flush()
    with workspace.database.read() as connection:
        calls = [row.operation for row in connection.execute(audit.select())]
    assert calls == ["batch_get_programs"]


class TestMeta:
    def test_programmes_are_counted_by_tier(self, programs: Programs) -> None:
        meta = programs.call("get_meta")
        assert meta["total_programs"] == len(ROWS)
        assert meta["tier_counts"] == {"S": 2, "A": 4, "B": 4, "C": 2, "X": 1, "_none": 2}
        assert sum(meta["tier_counts"].values()) == meta["total_programs"]

    def test_programmes_are_counted_by_prefecture(self, programs: Programs) -> None:
        counts = programs.call("get_meta")["prefecture_counts"]
        assert counts == {"青森県": 2, "東京都": 1, "京都府": 1, "大阪府": 1, "_none": len(ROWS) - 4}

    def test_rules_are_counted(self, programs: Programs) -> None:
        assert programs.call("get_meta")["exclusion_rules_count"] == len(RULES) == 35

    def test_it_says_how_old_the_data_is(self, empty: Programs) -> None:
        empty.take(KEIEI, {**ROWS[1], "source_fetched_at": "2026-04-21T20:00:00Z"})
        meta = empty.call("get_meta")
        assert meta["data_as_of"] == "2026-04-22"
        empty.take({"unified_id": "undated", "primary_name": "日付のない制度"})
        assert empty.call("get_meta")["data_as_of"] == "2026-04-22"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", meta["last_ingested_at"])

    def test_an_empty_catalogue_has_counts_too(self, empty: Programs) -> None:
        assert empty.call("get_meta") == {
            "total_programs": 0,
            "tier_counts": {"S": 0, "A": 0, "B": 0, "C": 0, "X": 0},
            "prefecture_counts": {},
            "exclusion_rules_count": 0,
            "last_ingested_at": None,
            "data_as_of": None,
        }


def test_tenants_know_nothing_of_each_other(empty: Programs) -> None:
    ours, theirs = (Caller(tenant=name, subject="a", roles=frozenset({"admin"})) for name in ("甲社", "乙社"))
    empty.take(*ROWS[:2], *RULES[:1], caller=ours)
    empty.take({**ROWS[0], "primary_name": "乙社の制度"}, caller=theirs)
    assert empty.call("search_programs", ours)["total"] == 2
    assert [row["primary_name"] for row in empty.call("search_programs", theirs)["results"]] == ["乙社の制度"]
    assert empty.call("get_program", theirs, unified_id=ROWS[0]["unified_id"])["primary_name"] == "乙社の制度"
    assert empty.call("batch_get_programs", theirs, unified_ids=[ROWS[1]["unified_id"]])["results"] == []
    assert empty.call("list_exclusion_rules", theirs) == []
    assert empty.call("get_meta", theirs)["total_programs"] == 1
    pair = [row["unified_id"] for row in ROWS[:2]]
    assert empty.call("check_exclusions", ours, program_ids=pair)["hits"]
    assert not empty.call("check_exclusions", theirs, program_ids=pair)["hits"]


def test_an_answer_keeps_whole_numbers_whole(programs: Programs) -> None:
    written = programs.answer("get_program", unified_id="it-donyu").json()
    assert '"amount_max_man_yen":450,' in written
    shown: dict[str, Any] = json.loads(written)
    assert shown["subsidy_rate"] == 0.5
