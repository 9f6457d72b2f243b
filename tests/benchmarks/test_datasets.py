"""Reading sets in BEIR layout, and putting them together."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.datasets import (
    DataNotFound,
    Dataset,
    Passage,
    evenly_spaced,
    load,
    load_folder,
    with_distractors,
    with_queries,
    write_passages,
    write_queries,
)

NARA = Passage("n", "東大寺", "奈良の大仏がある。")
KOBE = Passage("k", "", "神戸は港町である。")
SMALL = Dataset("small", (NARA,), {"q1": "大仏は?", "q2": "寺は?"}, {"q1": {"n": 1}, "q2": {"n": 1}})


def test_a_set_that_was_written_reads_back_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "qa" / "small"
    folder.mkdir(parents=True)
    write_passages(folder / "corpus.jsonl", SMALL.corpus)
    write_queries(folder / "queries.jsonl", SMALL.queries)
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tn\t1\nq2\tn\t1\n", encoding="utf-8")
    assert load_folder(folder) == SMALL
    assert load("small", tmp_path) == SMALL


def test_a_missing_set_or_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataNotFound, match="no set named absent"):
        load("absent", tmp_path)
    monkeypatch.setenv("SHIRUBE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataNotFound, match="set SHIRUBE_DATA"):
        load("small")


def test_the_title_is_part_of_what_is_indexed_where_there_is_one() -> None:
    assert NARA.titled_text == "東大寺\n奈良の大仏がある。"
    assert KOBE.titled_text == "神戸は港町である。"


def test_distractors_add_passages_and_leave_the_questions() -> None:
    other = Dataset("other", (NARA, KOBE), {"q9": "港は?"}, {"q9": {"k": 1}})
    both = with_distractors(SMALL, other)
    assert both == replace(SMALL, name="small+other", corpus=(NARA, KOBE))


def test_one_id_for_two_passages_is_refused() -> None:
    with pytest.raises(ValueError, match="different passages"):
        with_distractors(SMALL, replace(SMALL, corpus=(replace(KOBE, id="n"),)))


def test_fewer_questions_keep_their_judgements() -> None:
    assert with_queries(SMALL, 1) == replace(SMALL, queries={"q1": "大仏は?"}, qrels={"q1": {"n": 1}})


@pytest.mark.parametrize(
    ("most", "expected"), [(3, [0, 3, 6]), (4, [0, 2, 5, 7]), (10, list(range(10))), (99, list(range(10)))]
)
def test_evenly_spaced_items_keep_their_order(most: int, expected: list[int]) -> None:
    assert evenly_spaced(range(10), most) == expected
