"""Sets in BEIR layout: what is written reads back, and what is wrong is named with its file and line."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.errors import InvalidInput, NotFound, ShirubeError
from shirube.evaluate.datasets import (
    Dataset,
    Passage,
    checked,
    evenly_spaced,
    load_folder,
    read_qrels,
    read_queries,
    with_queries,
    write_folder,
)

NARA = Passage("n", "東大寺", "奈良の大仏がある。")
KOBE = Passage("k", "", "神戸は港町である。")
SMALL = Dataset(
    "small", (NARA, KOBE), {"q1": "大仏は?", "q2": "港は?"}, {"q1": {"n": 2}, "q2": {"k": 1, "n": 0}}
)

TEXTS = st.text(st.characters(codec="utf-8"))
IDS = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n"), min_size=1)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    write_folder(folder, SMALL)
    return folder


def test_a_set_that_was_written_reads_back_the_same(small: Path) -> None:
    assert load_folder(small) == SMALL


@given(
    corpus=st.dictionaries(IDS, st.tuples(TEXTS, TEXTS)),
    queries=st.dictionaries(IDS, TEXTS.filter(str.strip)),
    grades=st.dictionaries(IDS, st.dictionaries(IDS, st.integers(-9, 9), min_size=1)),
)
def test_any_text_and_id_survives_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory,
    corpus: dict[str, tuple[str, str]],
    queries: dict[str, str],
    grades: dict[str, dict[str, int]],
) -> None:
    folder = tmp_path_factory.mktemp("sets") / "any"
    passages = tuple(Passage(name, title, text) for name, (title, text) in corpus.items())
    dataset = Dataset("any", passages, queries, grades)
    write_folder(folder, dataset)
    assert load_folder(folder) == dataset


def test_judgements_of_the_test_split_are_read_where_beir_puts_them(small: Path) -> None:
    (small / "qrels").mkdir()
    (small / "qrels.tsv").rename(small / "qrels" / "test.tsv")
    assert load_folder(small) == SMALL


def test_files_made_on_windows_read_the_same(small: Path) -> None:
    for file in small.iterdir():
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    assert load_folder(small) == SMALL


def test_judgements_without_a_header_lose_no_line(tmp_path: Path) -> None:
    (tmp_path / "qrels.tsv").write_text("q1\tn\t1\nq1\tk\t0\n")
    assert read_qrels(tmp_path / "qrels.tsv") == {"q1": {"n": 1, "k": 0}}


def test_half_a_surrogate_pair_is_replaced_as_a_search_replaces_it(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "\\ud800手当"}\n')
    assert read_queries(tmp_path / "queries.jsonl") == {"q": "?手当"}


def test_a_passage_may_lack_title_and_text(small: Path) -> None:
    (small / "corpus.jsonl").write_text(
        '{"_id": "n", "title": null, "text": ""}\n{"_id": "k", "text": "x"}\n'
    )
    assert load_folder(small).corpus == (Passage("n", "", ""), Passage("k", "", "x"))


@pytest.mark.parametrize(
    ("file", "line", "reason"),
    [
        ("corpus.jsonl", b'{"_id": "x", "text": "t"', "line 3: not valid JSON (Expecting ',' delimiter)"),
        ("corpus.jsonl", b"[" * 100_000, "line 3: not valid JSON (nested too deeply)"),
        ("corpus.jsonl", b'["x"]', "line 3: not a JSON object"),
        ("corpus.jsonl", b'{"_id": 7, "text": "t"}', "line 3: _id is not a string"),
        ("corpus.jsonl", b'{"_id": "", "text": "t"}', "line 3: _id is empty"),
        ("corpus.jsonl", b'{"_id": "x"}', "line 3: text is not a string"),
        ("corpus.jsonl", b'{"_id": "x", "text": "t", "title": 1}', "line 3: title is not a string"),
        ("corpus.jsonl", b'{"_id": "n", "text": "t"}', "line 3: the _id n was used above"),
        ("corpus.jsonl", '{"_id": "x", "text": "手当"}'.encode("cp932"), "line 3: not UTF-8"),
        ("queries.jsonl", b"{}", "line 3: _id is not a string"),
        ("queries.jsonl", b'{"_id": "q1", "text": "t"}', "line 3: the _id q1 was used above"),
        ("queries.jsonl", '{"_id": "q", "text": " 　"}'.encode(), "line 3: text is empty"),
        ("qrels.tsv", b"q1 0 n 1", "line 5: query-id, corpus-id and score are needed"),
        ("qrels.tsv", b"q1\tk\thigh", "line 5: score is not a whole number"),
        ("qrels.tsv", b"q1\tn\t1", "line 5: the same pair has another score above"),
    ],
)
def test_a_wrong_line_is_named_in_both_languages(small: Path, file: str, line: bytes, reason: str) -> None:
    with (small / file).open("ab") as out:
        out.write(line + b"\n")
    with pytest.raises(InvalidInput) as raised:
        load_folder(small)
    assert raised.value.message.startswith(f"{file}, {reason}")
    assert raised.value.ja.startswith(f"{file} の {reason.split()[1][:-1]} 行目: ")


@pytest.mark.parametrize("file", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(small: Path, file: str) -> None:
    (small / file).unlink()
    with pytest.raises(NotFound, match=f"^{file} is missing$"):
        load_folder(small)


def test_a_folder_in_place_of_a_file_is_no_crash(small: Path) -> None:
    (small / "corpus.jsonl").unlink()
    (small / "corpus.jsonl").mkdir()
    with pytest.raises(ShirubeError, match=r"^corpus\.jsonl cannot be read"):
        load_folder(small)


@pytest.mark.parametrize("name", ["nowhere", "small/corpus.jsonl"])
def test_what_is_no_folder_is_said_to_be_none(small: Path, name: str) -> None:
    with pytest.raises(NotFound, match=r"^No such folder"):
        load_folder(small.parent / name)


def test_a_sound_set_is_left_as_it_is() -> None:
    found = checked(SMALL)
    assert (found.skipped_queries, found.unknown_passages, found.unknown_queries) == (0, 0, 0)
    assert found.dataset == SMALL


def test_questions_without_an_answer_in_the_set_are_skipped_and_counted() -> None:
    dataset = replace(
        SMALL,
        queries={**SMALL.queries, "unjudged": "?", "judged zero": "?", "elsewhere": "?"},
        qrels={
            **SMALL.qrels,
            "judged zero": {"n": 0},
            "elsewhere": {"gone": 1},
            "q1": {"n": 2, "gone": 1, "lost": 1},
            "unknown": {"n": 1},
        },
    )
    found = checked(dataset)
    assert found.dataset == SMALL
    assert (found.skipped_queries, found.unknown_passages, found.unknown_queries) == (3, 2, 1)


@pytest.mark.parametrize(
    ("empty", "reason"),
    [
        (replace(SMALL, corpus=()), "corpus.jsonl has no passages"),
        (replace(SMALL, queries={}), "No query has a relevant passage: 0 queries, 2 passages"),
        (replace(SMALL, qrels={}), "No query has a relevant passage: 2 queries, 2 passages"),
    ],
)
def test_a_set_with_nothing_to_ask_is_refused(empty: Dataset, reason: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        checked(empty)
    assert raised.value.message == reason


def test_the_title_stands_above_the_text_where_there_is_one() -> None:
    assert NARA.titled_text == "東大寺\n奈良の大仏がある。"
    assert KOBE.titled_text == "神戸は港町である。"


def test_fewer_questions_keep_their_judgements() -> None:
    assert with_queries(SMALL, 1) == replace(SMALL, queries={"q1": "大仏は?"}, qrels={"q1": {"n": 2}})


@pytest.mark.parametrize(
    ("most", "expected"), [(3, [0, 3, 6]), (4, [0, 2, 5, 7]), (10, list(range(10))), (99, list(range(10)))]
)
def test_evenly_spaced_items_keep_their_order(most: int, expected: list[int]) -> None:
    assert evenly_spaced(range(10), most) == expected
