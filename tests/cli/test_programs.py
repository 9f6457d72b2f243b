"""The verbs for programmes, in processes of their own."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.toolsets.programs.conftest import KEIEI, ROWS, RULES, write_rows


@pytest.fixture
def filled(shirube: Run, tmp_path: Path) -> Run:
    done = shirube("programs", "import", str(write_rows(tmp_path / "制度.jsonl", [*ROWS, *RULES])))
    assert done.code == 0, done.err
    assert "制度: 追加 15、変更 0、変更なし 0" in done.out
    assert "排他ルール: 追加 35" in done.out
    return shirube


def test_call_gives_the_json_of_each_tool(filled: Run) -> None:
    assert filled("call", "search_programs", "--args", '{"q":"雇調金"}').json()["total"] == 1
    rules = filled("call", "list_exclusion_rules").json()
    assert isinstance(rules, list)
    assert len(rules) == 35
    failed = filled("call", "get_program", "--args", '{"unified_id":"x"}')
    assert failed.code == 1
    assert failed.json()["error"] == "program not found"


def test_search_get_check_and_meta_for_people(filled: Run) -> None:
    found = filled("programs", "search", "設備", "--prefecture", "青森", COLUMNS="200")
    assert "青森県設備導入支援事業費補助金" in found.out
    assert "2026-11-30" in found.out
    assert "1 件" in found.out
    assert "農林水産省" in filled("programs", "get", "keiei-kaishi-shikin").out
    checked = filled("programs", "check", "経営開始資金", "雇用就農資金", "なぞ", "--exit-code")
    assert checked.code == 1
    assert "経営開始資金 × 雇用就農資金" in checked.out
    assert "見つからない制度: なぞ" in checked.out
    assert "制度 15 件、排他ルール 35 件" in filled("programs", "meta").out
    nothing = filled("programs", "search", "補助金", "--prefecture", "青盛")
    assert nothing.code == 0
    assert "近い名前: 青森県" in nothing.out


def test_json_is_that_of_the_operation(filled: Run) -> None:
    asked = filled("programs", "search", "補助金", "--tier", "A", "--tier", "S", "--json").json()
    called = filled("call", "search_programs", "--args", '{"q":"補助金","tier":["A","S"]}').json()
    assert asked == called
    assert filled("programs", "check", "a", "--json").json()["unknown_programs"] == ["a"]
    assert filled("programs", "meta", "--json").json()["total_programs"] == 15


def test_strict_refuses_and_says_which_row(filled: Run, tmp_path: Path) -> None:
    bad = write_rows(
        tmp_path / "bad.jsonl", [{**KEIEI, "tier": "A"}, {**KEIEI, "unified_id": "x", "tier": "Z"}]
    )
    done = filled("programs", "import", str(bad), "--strict")
    assert done.code == 1
    assert "bad.jsonl" in done.err
    assert "tier は S A B C X のどれかです" in done.err
    assert filled("programs", "get", KEIEI["unified_id"], "--json").json()["tier"] == "S"
    loose = filled("programs", "import", str(bad), "--json").json()
    assert (loose["programs"]["changed"], len(loose["refused"])) == (1, 1)
    assert loose["refused"][0]["row"] == 2


def test_a_difference_between_imports_names_the_fields(filled: Run, tmp_path: Path) -> None:
    new = {"unified_id": "new", "primary_name": "新しい制度"}
    filled(
        "programs", "import", str(write_rows(tmp_path / "two.jsonl", [{**KEIEI, "tier": "A"}, new, ROWS[1]]))
    )
    difference = filled("programs", "diff", "--json").json()
    assert (difference["before"], difference["after"]) == (1, 2)
    assert difference["added"] == [{"unified_id": "new", "primary_name": "新しい制度"}]
    [changed] = difference["changed"]
    assert changed["fields"] == {"tier": {"before": "S", "after": "A"}}
    assert "tier: S → A" in filled("programs", "diff", "1", "2").out
    whole = filled("programs", "diff", "0", "2", "--json").json()
    assert len(whole["added"]) == 16
    assert filled("programs", "diff", "2", "1").code == 1
    assert "取り込み番号: 1, 2" in filled("programs", "diff", "5", "9").err


def test_a_table_for_excel_can_be_taken_in_again(filled: Run, tmp_path: Path) -> None:
    path = tmp_path / "制度.csv"
    assert filled("programs", "search", "--csv", str(path), "--include-excluded").code == 0
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(StringIO(data.decode("utf-8-sig"))))
    assert len(rows) == 15
    [row] = [row for row in rows if row["ID"] == "aomori-setsubi"]
    assert (row["制度名"], row["上限額（万円）"], row["締切日"]) == (
        "青森県設備導入支援事業費補助金",
        "500",
        "2026-11-30",
    )
    again = filled("programs", "import", str(path), "--strict", "--json")
    assert again.code == 0, again.err
    assert again.json()["programs"] == {"added": 0, "changed": 0, "unchanged": 15}


def test_a_file_that_cannot_be_written_is_said(filled: Run, tmp_path: Path) -> None:
    done = filled("programs", "search", "--csv", str(tmp_path / "無い" / "x.csv"))
    assert done.code == 1
    assert "x.csv" in done.err
    assert "書き込めません" in done.err


def test_nothing_that_a_terminal_obeys_is_shown(shirube: Run, tmp_path: Path) -> None:
    obeyed = "\x1b]0;pwned\x07"
    rows = [
        {"unified_id": "x", "primary_name": "制度", "enriched": {"A_basics": {"x": obeyed}}},
        {**RULES[0], "description": obeyed, "severity": obeyed},
    ]
    shirube("programs", "import", str(write_rows(tmp_path / "a.jsonl", rows)))
    shown = (
        shirube("programs", "get", "x").out + shirube("programs", "check", "経営開始資金", "雇用就農資金").out
    )
    assert "\x1b" not in shown


def test_no_cell_is_a_formula(shirube: Run, tmp_path: Path) -> None:
    rows = [{"unified_id": "x", "primary_name": '=HYPERLINK("https://example.com")'}]
    shirube("programs", "import", str(write_rows(tmp_path / "a.jsonl", rows)))
    path = tmp_path / "x.csv"
    shirube("programs", "search", "--csv", str(path))
    assert "'=HYPERLINK" in path.read_text(encoding="utf-8-sig")


def test_deadlines_are_a_calendar(filled: Run, tmp_path: Path) -> None:
    path = tmp_path / "締切.ics"
    assert filled("programs", "search", "--ics", str(path)).code == 0
    data = path.read_bytes()
    lines = data.decode().split("\r\n")
    assert lines[0] == "BEGIN:VCALENDAR"
    assert lines[-2:] == ["END:VCALENDAR", ""]
    assert lines.count("BEGIN:VEVENT") == lines.count("END:VEVENT") == 2
    assert "DTSTART;VALUE=DATE:20261130" in lines
    assert all(len(line.encode()) <= 75 for line in lines)
    unfolded = data.decode().replace("\r\n ", "")
    assert "SUMMARY:締切: 青森県設備導入支援事業費補助金" in unfolded


def test_one_tenant_imports_for_itself(shirube: Run, tmp_path: Path) -> None:
    path = str(write_rows(tmp_path / "a.jsonl", ROWS[:1]))
    claims = json.dumps({"tenant_id": "甲社", "sub": "hanako", "roles": ["admin"]})
    assert shirube("programs", "import", path, "--as", claims).code == 0
    assert shirube("programs", "meta", "--json").json()["total_programs"] == 0
    assert shirube("programs", "meta", "--json", "--as", claims).json()["total_programs"] == 1


def test_who_is_no_admin_imports_nothing(shirube: Run, tmp_path: Path) -> None:
    path = str(write_rows(tmp_path / "a.jsonl", ROWS[:1]))
    claims = json.dumps({"tenant_id": "甲社", "sub": "hanako", "roles": []})
    done = shirube("programs", "import", path, "--as", claims)
    assert done.code == 1
    assert "管理者" in done.err
