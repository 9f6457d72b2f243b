"""The real programmes: how they come in, and that a search gives what a person expects of it."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from tests.beside import beside
from tests.toolsets.programs.conftest import Programs

JST = timezone(timedelta(hours=9))
FILES = (
    "programs.jsonl",
    "program_details_industry.jsonl",
    "exclusion_rules_agri.json",
    "jgrants-sample.jsonl",
)


@pytest.fixture(scope="module")
def folder() -> Path:
    return beside("programs")


@pytest.fixture(scope="module")
def real(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Programs:
    made = Programs(tmp_path_factory.mktemp("real"))
    for name in FILES:
        assert made.take_files(folder / name, strict=True).refused == []
    return made


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text().splitlines())


def found(real: Programs, **asked: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = real.call("search_programs", **{"limit": 100, **asked})["results"]
    return rows


def names(real: Programs, q: str, **asked: Any) -> list[str]:
    return [row["primary_name"] for row in found(real, q=q, **asked)]


def test_every_row_comes_in_and_a_second_time_nothing_moves(real: Programs, folder: Path) -> None:
    meta = real.call("get_meta")
    ids = {row["unified_id"] for name in FILES[:2] for row in rows_of(folder / name)}
    assert meta["total_programs"] == len(ids) + 300
    assert meta["exclusion_rules_count"] == 22
    some = [row["unified_id"] for row in found(real, q="農業")][:50]
    before = real.call("batch_get_programs", unified_ids=some)
    again = real.take_files(*(folder / name for name in FILES), strict=True)
    assert (again.programs.added, again.programs.changed) == (0, 0)
    assert (again.rules.added, again.rules.changed, again.rules.unchanged) == (0, 0, 22)
    assert real.call("batch_get_programs", unified_ids=some) == before


def test_what_a_row_says_is_in_its_record(real: Programs, folder: Path) -> None:
    rows = {row["unified_id"]: row for row in rows_of(folder / FILES[0])}
    details = {row["unified_id"]: row for row in rows_of(folder / FILES[1])}
    ids = list(rows)[::25]
    for start in range(0, len(ids), 50):
        batch = real.call("batch_get_programs", unified_ids=ids[start : start + 50])
        assert batch["not_found"] == []
        for record in batch["results"]:
            row = rows[record["unified_id"]]
            assert record["primary_name"] == " ".join(row["primary_name"].split())
            if row["amount_max_man_yen"]:
                assert record["amount_max_man_yen"] == row["amount_max_man_yen"]
            if row["prefecture"] == "全国":
                assert record["prefecture"] is None
            elif row["prefecture"]:
                assert record["prefecture"] == row["prefecture"]
            assert record["source_url"] == (row["source_url"] or record["source_url"])
            if detail := details.get(record["unified_id"]):
                assert record["tier"] == detail["Tier"]


def test_a_subsidy_of_jgrants_is_in_man_yen_prefectures_and_days(real: Programs, folder: Path) -> None:
    for row in rows_of(folder / FILES[3]):
        record = real.call("get_program", unified_id=f"jgrants-{row['id']}")
        yen = row["subsidy_max_limit"]
        if yen and yen < 10**12:
            assert record["amount_max_man_yen"] == yen / 10_000
        areas = [area for area in row["target_area_search"].split(" / ") if area]
        if "全国" in areas or not areas:
            assert record["prefecture"] is None
        elif len(areas) == 1 and not areas[0].endswith("地方"):
            assert record["prefecture"] == areas[0]
        opens = datetime.fromisoformat(row["acceptance_start_datetime"]).astimezone(JST)
        assert record["application_window"]["start_date"] == opens.date().isoformat()
        closes = datetime.fromisoformat(row["acceptance_end_datetime"]).astimezone(JST) - timedelta(
            microseconds=1
        )
        assert record["application_window"]["end_date"] == closes.date().isoformat()


class TestWhatAPersonExpects:
    def test_two_characters_of_farming(self, real: Programs) -> None:
        """Two characters are a word: all of the first hundred are about farming by name."""
        assert all("農業" in name for name in names(real, "農業"))

    def test_loans_by_name_then_by_kind(self, real: Programs) -> None:
        """Those called loans first, then those that are loans and are called something else."""
        found_names = names(real, "融資")
        assert all("融資" in name for name in found_names[:30])
        kinds = {row["program_kind"] for row in found(real, q="融資", offset=200)}
        assert "loan" in kinds

    def test_it_is_a_word(self, real: Programs) -> None:
        """IT is a word: no Digital, no Site, no Unit; and the subsidy of that name is among the first."""
        found_names = names(real, "IT")
        assert "IT導入補助金" in found_names[:3]
        assert not any(
            "DIGITAL" in name.upper() and "IT" not in name.upper().replace("DIGITAL", "")
            for name in found_names
        )

    def test_dx_is_a_word(self, real: Programs) -> None:
        assert all("DX" in name.upper().replace("ＤＸ", "DX") for name in names(real, "DX"))
        assert len(names(real, "DX")) >= 90

    def test_one_character_of_tax(self, real: Programs) -> None:
        """One character is enough; tax measures that do not say so in their names are found by their kind."""
        rows = found(real, q="税")
        assert all("税" in row["primary_name"] for row in rows)
        later = found(real, q="税", offset=300)
        assert later
        assert all("税" in row["primary_name"] or "tax" in row["program_kind"] for row in later)

    def test_a_kind_and_a_place(self, real: Programs) -> None:
        """A kind and a place: subsidies of Aomori, those that say both in their names first."""
        rows = found(real, q="補助金 青森")
        assert len(rows) >= 50
        assert all("青森" in row["primary_name"] or "青森県" in row["prefectures"] for row in rows)
        assert "青森" in rows[0]["primary_name"]
        assert "補助金" in rows[0]["primary_name"]

    def test_what_everybody_calls_it(self, real: Programs) -> None:
        """What everybody calls 雇用調整助成金."""
        assert names(real, "雇調金")
        assert all("雇用調整助成金" in name for name in names(real, "雇調金"))

    def test_half_width_katakana_and_hiragana(self, real: Programs) -> None:
        """Half-width katakana and hiragana together."""
        found_names = names(real, "ﾓﾉづくり")
        assert "ものづくり補助金" in found_names
        assert sum("ものづくり" in name for name in found_names) >= 60

    def test_a_place_in_latin_letters(self, real: Programs) -> None:
        """Programmes of Tokyo, whichever way they write it."""
        rows = found(real, q="Tokyo")
        assert all(
            "tokyo" in row["primary_name"].lower()
            or "東京" in row["primary_name"]
            or row["prefecture"] == "東京都"
            for row in rows
        )
        assert len(rows) == 100

    def test_a_tax_credit_does_not_drown_in_hometown_tax(self, real: Programs) -> None:
        rows = found(real, q="税額控除")
        literal = sum("税額控除" in row["primary_name"] for row in rows)
        assert literal >= 5
        assert all("税額控除" in row["primary_name"] for row in rows[:literal])
        assert sum("ふるさと納税" in row["primary_name"] for row in rows) <= 1
