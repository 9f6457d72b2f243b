"""Merged cells of every format: each row says what reaches into it, and heads of several lines name each column."""

import io
import time
from collections.abc import Callable, Sequence
from html import escape

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pptx.util import Inches

from shirube.ingest.readers import html, tables, workbook
from shirube.ingest.readers.contract import Unreadable
from shirube.ingest.readers.merges import Merges, Range
from shirube.ingest.readers.registry import READERS
from tests.ingest.office import changed, saved, sheets

# The first and the last cell of a range, by row and column from 0.
Span = tuple[int, int, int, int]
Made = Callable[[Sequence[str], Sequence[Span], int], bytes]


def cells(rows: Sequence[str]) -> list[list[str]]:
    """Cells separated by spaces, with - for an empty one."""
    return [["" if text == "-" else text for text in row.split(" ")] for row in rows]


def as_sheet(rows: Sequence[str], merged: Sequence[Span], heads: int) -> bytes:
    book = openpyxl.load_workbook(
        io.BytesIO(sheets(表=[[_value(text) for text in row] for row in cells(rows)]))
    )
    for top, left, bottom, right in merged:
        book.active.merge_cells(None, top + 1, left + 1, bottom + 1, right + 1)
    return saved(book)


def _value(text: str) -> str | int | None:
    return int(text) if text.isdecimal() else text or None


def as_word(rows: Sequence[str], merged: Sequence[Span], heads: int) -> bytes:
    document = docx.Document()
    table = document.add_table(len(rows), len(cells(rows)[0]))
    for row, texts in zip(table.rows, cells(rows), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    for top, left, bottom, right in merged:
        table.cell(top, left).merge(table.cell(bottom, right))
    for row in table.rows[:heads]:
        row._tr.get_or_add_trPr().append(parse_xml(f"<w:tblHeader {nsdecls('w')}/>"))
    return saved(document)


def as_slide(rows: Sequence[str], merged: Sequence[Span], heads: int) -> bytes:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    wide = len(cells(rows)[0])
    table = slide.shapes.add_table(len(rows), wide, Inches(1), Inches(1), Inches(5), Inches(2)).table
    for number, texts in enumerate(cells(rows)):
        for at, text in enumerate(texts):
            table.cell(number, at).text = text
    for top, left, bottom, right in merged:
        table.cell(top, left).merge(table.cell(bottom, right))
    table.first_row = heads > 0
    return saved(made)


def as_page(rows: Sequence[str], merged: Sequence[Span], heads: int) -> bytes:
    spans = {(top, left): (bottom - top + 1, right - left + 1) for top, left, bottom, right in merged}
    covered = {
        (row, column)
        for top, left, bottom, right in merged
        for row in range(top, bottom + 1)
        for column in range(left, right + 1)
    } - set(spans)
    written = []
    for number, texts in enumerate(cells(rows)):
        name = "th" if number < heads else "td"
        written.append("<tr>")
        for at, text in enumerate(texts):
            if (number, at) not in covered:
                down, over = spans.get((number, at), (1, 1))
                written.append(f"<{name} rowspan={down} colspan={over}>{escape(text)}</{name}>")
        written.append("</tr>")
    return f"<table>{''.join(written)}</table>".encode()


FORMATS = {".xlsx": as_sheet, ".docx": as_word, ".pptx": as_slide, ".html": as_page}
every_format = pytest.mark.parametrize(("suffix", "made"), FORMATS.items(), ids=FORMATS)


def lines(data: bytes, suffix: str) -> list[str]:
    found = READERS[suffix](data).text.splitlines()
    return found[1:] if suffix == ".xlsx" else found  # the name of the sheet


def full(found: Sequence[str]) -> list[str]:
    """Lines without empty cells: only Excel leaves these out by itself."""
    kept = ([cell.strip() for cell in line.strip("| ").split("|")] for line in found)
    return [" | ".join(cell for cell in row if cell) for row in kept]


# What reaches down


@every_format
def test_a_cell_over_several_rows_is_said_in_each(suffix: str, made: Made) -> None:
    rows = [
        "寮 部屋 寮費 締切",
        "さくら寮 個室 25,000円 末日",
        "- 相部屋 17,000円 -",
        "もみじ寮 個室 30,000円 -",
    ]
    found = lines(made(rows, [(1, 0, 2, 0), (1, 3, 3, 3)], 1), suffix)
    assert full(found) == [
        "寮 | 部屋 | 寮費 | 締切",
        "寮: さくら寮 | 部屋: 個室 | 寮費: 25,000円 | 締切: 末日",
        "寮: さくら寮 | 部屋: 相部屋 | 寮費: 17,000円 | 締切: 末日",
        "寮: もみじ寮 | 部屋: 個室 | 寮費: 30,000円 | 締切: 末日",
    ]


@every_format
def test_a_cell_over_several_columns_is_said_once_in_each_row(suffix: str, made: Made) -> None:
    rows = ["役職 国内 海外 備考", "課長 3,000円 7,000円 -", "係長 なし - a", "主任 - - b", "税込み - - -"]
    found = lines(made(rows, [(2, 1, 3, 2), (4, 0, 4, 3)], 1), suffix)
    assert full(found)[1:] == [
        "役職: 課長 | 国内: 3,000円 | 海外: 7,000円",
        "役職: 係長 | 国内・海外: なし | 備考: a",
        "役職: 主任 | 国内・海外: なし | 備考: b",
        "税込み",
    ]


@every_format
def test_a_row_that_says_nothing_itself_repeats_nothing(suffix: str, made: Made) -> None:
    rows = ["寮 部屋 寮費", "さくら寮 個室 25,000円", "- - -", "もみじ寮 個室 30,000円"]
    merged = [(1, 0, 2, 0), (1, 1, 2, 1), (1, 2, 2, 2)]
    assert full(lines(made(rows, merged, 1), suffix))[1:] == [
        "寮: さくら寮 | 部屋: 個室 | 寮費: 25,000円",
        "寮: もみじ寮 | 部屋: 個室 | 寮費: 30,000円",
    ]


@every_format
def test_a_long_text_is_not_copied_down_its_rows(suffix: str, made: Made) -> None:
    text = "長" * (tables.LONGEST_REPEATED + 1)
    rows = ["寮 部屋 備考", f"さくら寮 個室 {text}", "さつき寮 相部屋 -"]
    found = full(lines(made(rows, [(1, 2, 2, 2)], 1), suffix))
    assert found[1:] == [f"寮: さくら寮 | 部屋: 個室 | 備考: {text}", "寮: さつき寮 | 部屋: 相部屋"]


@every_format
def test_rows_of_a_table_without_a_head_say_what_reaches_into_them(suffix: str, made: Made) -> None:
    found = full(lines(made(["1 机 木製 100", "- 椅子 鉄製 50"], [(0, 0, 1, 0)], 0), suffix))
    assert found == ["1 | 机 | 木製 | 100", "1 | 椅子 | 鉄製 | 50"]


@st.composite
def merged_tables(draw: st.DrawFn) -> tuple[list[str], list[Span]]:
    """Rows below a head, with cells merged that do not overlap."""
    high, wide = draw(st.integers(3, 6)), draw(st.integers(3, 5))
    texts = [[f"値{row}{column}x" for column in range(wide)] for row in range(high)]
    merged: list[Span] = []
    taken: set[tuple[int, int]] = set()
    for _ in range(draw(st.integers(0, 4))):
        top, left = draw(st.integers(1, high - 1)), draw(st.integers(0, wide - 1))
        bottom, right = (
            min(top + draw(st.integers(0, 2)), high - 1),
            min(left + draw(st.integers(0, 1)), wide - 1),
        )
        area = {(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)}
        if len(area) > 1 and not area & taken:
            taken |= area
            merged.append((top, left, bottom, right))
            for row, column in area - {(top, left)}:
                texts[row][column] = "-"
    return [" ".join(row) for row in texts], merged


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(merged_tables())
def test_every_format_reads_the_same_table_alike(table: tuple[list[str], list[Span]]) -> None:
    found = {
        suffix: [line for line in full(lines(made(*table, 1), suffix)) if line]
        for suffix, made in FORMATS.items()
    }
    assert found == dict.fromkeys(FORMATS, found[".html"])


# Heads

YEARS = ["支店 2024年度 - 2025年度 -", "- 上期 下期 上期 下期", "大阪 80 82 79 91", "東京 70 72 69 81"]
TOGETHER = [(0, 1, 0, 2), (0, 3, 0, 4)]
NAMED = [
    "支店 | 2024年度 | 2025年度",
    "上期 | 下期 | 上期 | 下期",
    "支店: 大阪 | 2024年度 上期: 80 | 2024年度 下期: 82 | 2025年度 上期: 79 | 2025年度 下期: 91",
    "支店: 東京 | 2024年度 上期: 70 | 2024年度 下期: 72 | 2025年度 上期: 69 | 2025年度 下期: 81",
]


@every_format
def test_a_head_of_two_lines_names_its_columns_by_both(suffix: str, made: Made) -> None:
    assert full(lines(made(YEARS, [(0, 0, 1, 0), *TOGETHER], 2), suffix)) == NAMED


@pytest.mark.parametrize("suffix", [".xlsx", ".docx", ".pptx"])
@pytest.mark.parametrize(
    ("merged", "heads"),
    [([(0, 0, 1, 0)], 1), ([(0, 0, 1, 0)], 0), ([], 1)],
    ids=["merged", "merged, and no head said", "empty below"],
)
def test_the_second_line_of_a_head_is_known_by_what_is_merged(
    suffix: str, merged: list[Span], heads: int
) -> None:
    assert full(lines(FORMATS[suffix](YEARS, [*merged, *TOGETHER], heads), suffix)) == NAMED


def test_a_head_of_a_sheet_may_have_three_lines_below_a_title_and_years_that_are_numbers() -> None:
    rows = [
        "売上一覧 - - - -",
        "支店 2024 - - -",
        "- 上期 - 下期 -",
        "- 売上 利益 売上 利益",
        "大阪 80 8 79 9",
    ]
    merged = [(0, 0, 0, 4), (1, 0, 3, 0), (1, 1, 1, 4), (2, 1, 2, 2), (2, 3, 2, 4)]
    assert lines(as_sheet(rows, merged, 0), ".xlsx") == [
        "| 売上一覧 |",
        "| 支店 | 2024 |",
        "| 上期 | 下期 |",
        "| 売上 | 利益 | 売上 | 利益 |",
        "| 支店: 大阪 | 2024 上期 売上: 80 | 2024 上期 利益: 8 | 2024 下期 売上: 79 | 2024 下期 利益: 9 |",
    ]


@pytest.mark.parametrize("suffix", [".xlsx", ".docx", ".pptx"])
@pytest.mark.parametrize(
    ("rows", "merged", "second"),
    [
        (["品名 色 -", "机 青 赤", "椅子 白 黒"], [(0, 1, 0, 2)], "品名: 机 | 色: 青 | 色: 赤"),
        (["品名 寸法 -", "- 120 60", "椅子 40 40"], [(0, 1, 0, 2)], "寸法: 120 | 寸法: 60"),
        (["氏名 - 部署 -", "山田 - 営業 -", "佐藤 - 経理 -"], [], "氏名: 山田 | 部署: 営業"),
        (
            ["寮 設備 -", "- 洗濯機 冷蔵庫", "- 風呂 台所", "- 庭 車庫"],
            [(0, 0, 2, 0), (0, 1, 0, 2)],
            "設備: 洗濯機 | 設備: 冷蔵庫",
        ),
    ],
    ids=["texts below all", "figures below", "as wide as the head", "a cell that goes on"],
)
def test_a_line_below_a_head_that_may_be_data_stays_data(
    suffix: str, rows: list[str], merged: list[Span], second: str
) -> None:
    if not merged:
        merged = [(row, column, row, column + 1) for row in range(3) for column in (0, 2)]
    assert full(lines(FORMATS[suffix](rows, merged, 1), suffix))[1] == second


def test_a_second_line_of_a_thead_may_have_one_cell() -> None:
    page = "<table><thead><tr><th rowspan=2>役職<th>日当</tr><tr><th>（円）</tr></thead><tr><td>課長<td>3,000</table>"
    assert html.read(page.encode()).text.splitlines()[-1] == "| 役職: 課長 | 日当 （円）: 3,000 |"


def test_no_cell_of_a_page_reaches_out_of_its_part_of_the_table() -> None:
    page = (
        "<table><thead><tr><th rowspan=9>寮<th>部屋</tr></thead>"
        "<tbody><tr><td rowspan=9>さくら寮<td>個室</tr><tr><td>相部屋</tr></tbody>"
        "<tbody><tr><td>もみじ寮<td>個室</tr></tbody></table>"
    )
    assert html.read(page.encode()).text.splitlines() == [
        "| 寮 | 部屋 |",
        "| 寮: さくら寮 | 部屋: 個室 |",
        "| 寮: さくら寮 | 部屋: 相部屋 |",
        "| 寮: もみじ寮 | 部屋: 個室 |",
    ]


# Sheets


def test_a_blank_row_that_a_cell_reaches_into_does_not_end_the_table() -> None:
    rows = [
        "寮 部屋 備考",
        "さくら寮 個室 -",
        "- - -",
        "- 相部屋 -",
        "- - -",
        "店名 住所 -",
        "本店 東京 -",
    ]
    assert lines(as_sheet(rows, [(1, 0, 3, 0)], 0), ".xlsx") == [
        "| 寮 | 部屋 | 備考 |",
        "| 寮: さくら寮 | 部屋: 個室 |",
        "| 寮: さくら寮 | 部屋: 相部屋 |",
        "| 店名 | 住所 |",
        "| 店名: 本店 | 住所: 東京 |",
    ]


def test_a_name_beside_a_whole_table_is_no_value_of_its_rows() -> None:
    rows = ["本社 品名 単価", "- 机 100", "- 椅子 50"]
    assert lines(as_sheet(rows, [(0, 0, 2, 0)], 0), ".xlsx") == [
        "| 本社 | 品名 | 単価 |",
        "| 品名: 机 | 単価: 100 |",
        "| 品名: 椅子 | 単価: 50 |",
    ]


def test_a_title_over_the_whole_sheet_is_said_once() -> None:
    data = sheets(表=[["2026年度"], ["寮", "部屋"], ["さくら寮", "個室"], [None, "相部屋"]])
    endless = changed(
        data,
        "xl/worksheets/sheet1.xml",
        b"</sheetData>",
        b'</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>',
    )
    assert lines(endless, ".xlsx") == [
        "| 2026年度 |",
        "| 寮 | 部屋 |",
        "| 寮: さくら寮 | 部屋: 個室 |",
        "| 部屋: 相部屋 |",
    ]


def test_ranges_without_end_cost_no_more_than_the_rows_they_reach_into() -> None:
    begun = time.process_time()
    ranges = [Range(1, left, 1_048_576, 16_383) for left in range(16_384) for _ in range(10)]
    merges = Merges(ranges)
    first, last = merges.row(1, [f"値{at}" for at in range(16_384)])
    assert (len(first), last) == (16_384, 1_048_576)
    for number in range(2, 5_000):
        found, _ = merges.row(number, ["品"] if number % 2 else [])
        assert len(found) <= tables.MOST_COLUMNS + 2
    assert time.process_time() - begun < 10


def test_a_sheet_of_too_many_ranges_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = as_sheet(["寮 部屋", "さくら寮 個室", "- 相部屋"], [(1, 0, 2, 0)], 0)
    assert "相部屋" in workbook.read(data, lambda: None).text
    monkeypatch.setattr(workbook, "_MOST_RANGES", 0)
    with pytest.raises(Unreadable, match="too many merged cells"):
        workbook.read(data, lambda: None)


def test_columns_of_a_sheet_are_named_however_many_and_long_they_are() -> None:
    names = [f"列{at}" for at in range(300)] + ["長" * 100]
    data = sheets(表=[names, [*range(301)]])
    assert lines(data, ".xlsx")[1] == f"| {' | '.join(f'{name}: {at}' for at, name in enumerate(names))} |"


def test_a_table_that_repeats_itself_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[tables.Cell("長" * 200), tables.Cell("値")]]
    rows += [[tables.Cell("長" * 200).repeated(), tables.Cell("値")] for _ in range(500)]
    assert len(list(tables.lines(rows, 0))) == 501
    monkeypatch.setattr(tables, "LONGEST", 10_000)
    with pytest.raises(Unreadable, match="too large"):
        list(tables.lines(rows, 0))
