"""Tables of separated values: every row says what its values are."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.ingest.chunking import passages
from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.separated import read

TABLE = "氏名,部署,内線\n山田たろう,営業部,1234\n佐藤はなこ,,5678\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16"])
def test_every_row_names_its_columns(encoding: str) -> None:
    text = read(TABLE.encode(encoding)).text
    assert text.splitlines() == [
        "| 氏名 | 部署 | 内線 |",
        "| 氏名: 山田たろう | 部署: 営業部 | 内線: 1234 |",
        "| 氏名: 佐藤はなこ | 内線: 5678 |",
    ]


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_the_separator_is_found(separator: str) -> None:
    written = TABLE.replace(",", separator).encode()
    assert read(written).text == read(TABLE.encode()).text


def test_quoted_values_keep_their_separators_and_lines() -> None:
    text = read('品名,備考\n机,"幅120cm, 白\n在庫あり"\n'.encode()).text
    assert text.splitlines()[1:] == ["| 品名: 机 | 備考: 幅120cm, 白 在庫あり |"]


def test_a_table_without_names_is_read_as_it_is() -> None:
    assert read("1,机\n2,椅子\n".encode()).text == "| 1 | 机 |\n| 2 | 椅子 |"
    assert read("氏名,部署\n".encode()).text == "| 氏名 | 部署 |"
    assert read(b"").text == ""


def test_a_long_cell_is_read_whole() -> None:
    note = "長い備考。" * 60_000
    content = read(f"品名,備考\n机,{note}\n椅子,白\n".encode())
    assert content.text.splitlines()[1:] == [f"| 品名: 机 | 備考: {note} |", "| 品名: 椅子 | 備考: 白 |"]


def test_a_row_is_never_cut() -> None:
    rows = "".join(f"{number},項目{number},{'説明' * 30}。続き。\n" for number in range(200))
    content = read(f"番号,名前,説明\n{rows}".encode())
    for passage in passages(content):
        assert passage.text.startswith("| 番号")
        assert passage.text.endswith("|")


@given(
    st.lists(
        st.lists(st.text(st.sampled_from('あ漢a1", \n'), max_size=6), min_size=2, max_size=4), max_size=8
    )
)
def test_no_value_is_lost(rows: list[list[str]]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    text = "".join(read(out.getvalue().encode()).text.split())
    for row in rows:
        for cell in row:
            for part in cell.split():
                assert part in text


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(Unreadable):
        read(b"\x00\x01\x02,\x03")
