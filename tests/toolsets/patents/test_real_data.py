"""Real publications: every one comes in, and what it is called is found."""

import json
import re
from pathlib import Path

import pytest

from shirube.caller import LOCAL
from shirube.toolsets.patents.codes import fi_norm
from shirube.toolsets.patents.importing import import_files
from shirube.toolsets.patents.numbers import read_number
from tests.beside import beside
from tests.toolsets.patents.conftest import Patents


@pytest.fixture(scope="module")
def source() -> Path:
    return beside("patents", "jplatpat-vehicle-control.jsonl")


@pytest.fixture(scope="module")
def real(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Patents:
    made = Patents(tmp_path_factory.mktemp("real"))
    report = import_files(made.application.workspace().database, LOCAL, [source])
    assert (report.added, report.refused) == (5706, [])
    return made


def test_every_number_is_read_and_leads_to_its_publication(real: Patents, source: Path) -> None:
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    for row in rows:
        for name in ("publication_number", "application_number", "registration_number"):
            assert not row[name] or read_number(row[name]), row[name]
    for row in rows[::300]:
        names = [row["publication_number"], row["application_number"], row["registration_number"]]
        found = {real.call("get_publication", id=name, fields=["title"])["title"] for name in names if name}
        assert found == {row["title"]}


def test_applicants_are_those_between_commas(real: Patents, source: Path) -> None:
    """、 and ， are part of the names of foreign companies."""
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    chosen = [row for row in rows if "、" in row["applicants"]] + [
        row for row in rows if "," in row["applicants"]
    ][:20]
    assert len(chosen) == 28
    for row in chosen:
        found = real.call("get_publication", id=row["application_number"], fields=["title"])
        names = [name.strip() for name in row["applicants"].split(",")]
        assert found["metadata"]["applicant"] == list(dict.fromkeys(names))


def test_every_symbol_is_a_class_symbol_alone(source: Path) -> None:
    for line in source.read_text().splitlines():
        for symbol in json.loads(line)["fi"]:
            norm = fi_norm(symbol)
            assert re.fullmatch(r"[A-H][0-9]{2}[A-Z][0-9]+[/:][0-9]+", norm), (symbol, norm)
            assert symbol.startswith(norm)


def test_a_second_import_changes_nothing(real: Patents, source: Path) -> None:
    again = import_files(real.application.workspace().database, LOCAL, [source])
    assert (again.unchanged, again.added, again.changed) == (5706, 0, 0)


def test_abstracts_read_on_where_the_gazette_broke_its_lines(real: Patents) -> None:
    found = real.call("rrf_search_fulltext_raw", query='"仮想ドライバの運転操作量"')
    assert found["hit_count"] >= 1
    shown = real.call("peek_snippets", run_id=found["run_id"], fields=["abst"])
    assert not any("<BR>" in each["abst"] or "(57)" in each["abst"] for each in shown["snippets"])
