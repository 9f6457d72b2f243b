"""PDF: paragraphs, tables, headings and pages of text that a layout has broken up, and what is refused."""

import time
from collections.abc import Sequence

import pytest

from shirube.ingest.chunking import passages
from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.registry import READERS
from tests.ingest.paper import ENCRYPTION, Line, Scan, paragraph, pdf

WHITE = Scan(100, 140, b"\xff" * 14_000)
BODY = ["会社は、業務の都合により必要があるときは、従業員に対して時間", "外勤務を命ずることがある。"]


def read(data: bytes) -> Content:
    return READERS[".pdf"](data)


def lines(*pages: Sequence[Line | Scan]) -> list[str]:
    return read(pdf(*pages)).text.split("\n")


def test_lines_of_a_paragraph_are_joined_without_a_space_in_japanese() -> None:
    assert lines(paragraph(BODY, 700)) == ["".join(BODY)]


def test_lines_of_english_are_joined_with_a_space_and_cut_words_whole() -> None:
    english = [
        "The company may ask its employees to work inter-",
        "nationally where the business demands it, and",
        "pays.",
    ]
    assert lines(paragraph(english, 700)) == [
        "The company may ask its employees to work internationally where the business demands it, and pays."
    ]


def test_a_ragged_line_of_english_goes_on_where_the_next_word_did_not_fit() -> None:
    ragged = [
        "Every traveller keeps the receipts and",
        "hands them in with the",
        "internationalisation report of the month.",
    ]
    assert lines(paragraph(ragged, 700)) == [" ".join(ragged)]
    assert lines(paragraph([ragged[0], "hands them in", "at once and in full."], 700))[1:] == [
        "at once and in full."
    ]


@pytest.mark.parametrize(
    "written",
    [
        ["従業員は、次の各号に掲げる事項を誠実に守らなければならない。", "会社の名誉を傷つけてはならない。"],
        [
            "東京都千代田区",
            "大阪府大阪市北区",
            "従業員は、次の各号に掲げる事項を誠実に守らなければならない。",
        ],
        [
            "従業員は、次の各号に掲げる事項を誠実に守らなければならず、次",
            "第3条　会社は、賃金を毎月二十五日に支払う。",
        ],
        ["従業員は、次の各号に掲げる事項を誠実に守らなければならず、次", "・遅刻"],
        ["従業員は、次の各号に掲げる事項を誠実に守らなければならず、次", "(1) 遅刻"],
        ["従業員は、次の各号に掲げる事項を誠実に守らなければならず、次", "２　前項の規定は適用しない"],
    ],
)
def test_a_full_stop_a_short_line_and_a_number_or_bullet_end_a_paragraph(written: list[str]) -> None:
    assert lines(paragraph(written, 700)) == [line.replace("　", " ") for line in written]


def test_an_article_that_is_only_mentioned_does_not_end_a_paragraph() -> None:
    written = ["従業員が退職するときは、この規則の定めるところに従い、並びに", "第3条の規定により届け出る。"]
    assert lines(paragraph(written, 700)) == ["".join(written)]


def test_a_paragraph_goes_on_over_a_page_and_is_cited_by_where_it_begins() -> None:
    content = read(
        pdf(paragraph(BODY[:1], 700), [*paragraph(BODY[1:], 700), Line("翌月に支払う。", 72, 500)])
    )
    assert content.text == "".join(BODY) + "\n翌月に支払う。"
    assert list(content.pages) == [0, len(BODY[0])]


def test_passages_know_their_page_and_an_empty_page_counts() -> None:
    headed = [
        [Line(f"第{number}章", 72, 760, 18), *paragraph([f"{number}番目の頁の本文です。" * 2], 700)]
        for number in range(1, 4)
    ]
    content = read(pdf(*headed[:2], [], headed[2]))
    assert [(passage.heading_path, passage.page) for passage in passages(content)] == [
        (("第1章",), 1),
        (("第2章",), 2),
        (("第3章",), 4),
    ]


def test_columns_with_clear_gaps_become_rows_and_lines_of_a_cell_one() -> None:
    cells = [
        ("費目", "上限", "備考"),
        ("宿泊費", "12,000円", "朝食を含む実費"),
        ("日当", "2,500円", "半日は半額"),
    ]
    page = [
        Line(cell, 72 + 150 * column, 700 - 20 * row)
        for row, line in enumerate(cells)
        for column, cell in enumerate(line)
    ]
    page.insert(6, Line("とする", 372, 668))
    assert lines([Line("次の表による。", 72, 740), *page, Line("以上", 72, 600)]) == [
        "次の表による。",
        "| 費目 | 上限 | 備考 |",
        "| 宿泊費 | 12,000円 | 朝食を含む実費とする |",
        "| 日当 | 2,500円 | 半日は半額 |",
        "以上",
    ]


def test_larger_type_makes_headings_by_its_size() -> None:
    content = read(
        pdf(
            [Line("出張旅費規程", 200, 780, 20), Line("第1章　総則", 72, 740, 14), *paragraph(BODY * 3, 700)],
            [Line("第2章　精算", 72, 740, 14), *paragraph(BODY * 3, 700)],
        )
    )
    assert [(each.text, each.level) for each in content.headings] == [
        ("出張旅費規程", 1),
        ("第1章 総則", 2),
        ("第2章 精算", 2),
    ]
    assert all(content.text[each.start : each.end] == each.text for each in content.headings)
    assert content.title == "出張旅費規程"
    last = passages(content)[-1]
    assert (last.heading_path, last.page) == (("出張旅費規程", "第2章 精算"), 2)


def test_a_heading_that_goes_on_in_the_next_line_is_one() -> None:
    heading = [Line("海外の支社に勤務する従業員と、その家族の", 72, 760, 18), Line("帰国旅費", 72, 735, 18)]
    content = read(pdf([*heading, *paragraph(BODY * 3, 690)]))
    assert [each.text for each in content.headings] == ["海外の支社に勤務する従業員と、その家族の帰国旅費"]
    apart = read(pdf([heading[0], Line("帰国旅費", 72, 700, 18), *paragraph(BODY * 3, 650)]))
    assert len(apart.headings) == 2


def test_the_outline_makes_headings_where_there_is_one() -> None:
    page = [
        Line("第1章　総則", 72, 760),
        *paragraph(BODY, 700),
        Line("1.2 支給の", 72, 600),
        Line("方法", 72, 584),
    ]
    outline = [("第１章 総則", 0), ("支給の方法", 0), ("附録", 1)]
    content = read(pdf(page, paragraph(BODY, 700), outline=outline))
    assert [each.text for each in content.headings] == ["第1章 総則", "1.2 支給の方法", "附録"]
    assert [(passage.heading_path, passage.page) for passage in passages(content)] == [
        (("第1章 総則",), 1),
        (("1.2 支給の方法",), 1),
        (("附録",), 2),
    ]


@pytest.mark.parametrize(
    ("named", "title"), [("旅費の手引", "旅費の手引"), ("Microsoft Word - 1.doc", None), ("", None)]
)
def test_the_title_is_the_files_own_unless_a_program_made_it_up(named: str, title: str | None) -> None:
    assert read(pdf(paragraph(BODY, 700), title=named)).title == title


def test_a_bookmark_that_is_no_text_does_not_keep_the_pages_out() -> None:
    whole = pdf(paragraph(BODY, 700), outline=[("附録", 0)])
    title = "附録".encode("utf-16-be").hex().encode()
    assert title in whole
    content = read(whole.replace(title, b"d800d800"))
    assert (content.text, list(content.headings)) == ("".join(BODY), [])


def test_page_numbers_and_running_headers_do_not_stand_in_the_text() -> None:
    pages = [
        [Line("社外秘　旅費規程", 72, 810), *paragraph(BODY, 700), Line(f"- {number} -", 290, 30)]
        for number in range(1, 5)
    ]
    assert lines(*pages) == ["社外秘 旅費規程", *["".join(BODY)] * 4]


def test_running_lines_with_a_page_number_stand_once() -> None:
    pages = [[Line(f"旅費規程　{number}", 72, 810), *paragraph(BODY, 700)] for number in range(4, 8)]
    assert lines(*pages) == ["旅費規程 4", *["".join(BODY)] * 4]


def test_numbers_that_do_not_count_the_pages_are_part_of_the_text() -> None:
    """別紙, invoices and totals stand at the top of a page too."""
    numbers = (1, 2, 5, 9, 12)
    pages = [[Line(f"請求番号 {number}", 72, 810), *paragraph(BODY, 700)] for number in numbers]
    found = lines(*pages)
    assert [line for line in found if line.startswith("請求番号")] == [
        f"請求番号 {number}" for number in numbers
    ]


def test_text_written_downwards_is_read_by_column() -> None:
    first, second = "縦書きの規程は右の行から始まり、次", "の行へ続く。"
    page = [Line(first, 500, 700, downwards=True), Line(second, 480, 700, downwards=True)]
    assert lines(page) == [first + second]


def test_an_encrypted_file_is_refused() -> None:
    with pytest.raises(Unreadable, match="encrypted; remove the password") as refused:
        read(pdf(paragraph(BODY, 700), trailer=ENCRYPTION))
    assert "パスワード" in refused.value.ja


@pytest.mark.parametrize("size", [9, 300])
def test_a_broken_file_is_refused(size: int) -> None:
    with pytest.raises(Unreadable, match="damaged, or not a PDF"):
        read(pdf(paragraph(BODY, 700))[:size])


def test_a_file_cut_anywhere_is_read_or_refused_and_never_breaks_its_reader() -> None:
    whole = pdf(paragraph(BODY, 700), paragraph(BODY, 700))
    reasons = {_reason(whole[:size]) for size in range(1, len(whole), 97)}
    assert "damaged, or not a PDF" in reasons
    assert not any("reader broke down" in reason for reason in reasons)


def _reason(data: bytes) -> str:
    try:
        read(data)
    except Unreadable as refused:
        return refused.en
    return ""


@pytest.mark.parametrize(
    ("kids", "count", "reason"),
    [
        ("9 0 R " * 10_001, 10_001, "10,001 pages, more than 10,000"),
        ("2 0 R", 2**31 - 1, "damaged, or not a PDF"),
    ],
    ids=["one page again and again", "pages that are their own"],
)
def test_a_file_without_end_is_refused_in_time(kids: str, count: int, reason: str) -> None:
    whole = pdf(paragraph(BODY, 700))
    assert b"/Kids [9 0 R] /Count 1" in whole
    endless = whole.replace(b"/Kids [9 0 R] /Count 1", f"/Kids [{kids}] /Count {count}".encode())
    begun = time.perf_counter()
    with pytest.raises(Unreadable, match=reason):
        read(endless)
    assert time.perf_counter() - begun < 30


def test_an_empty_file_has_no_text() -> None:
    with pytest.raises(Unreadable, match="no text in it"):
        read(pdf([]))


@pytest.mark.usefixtures("no_tesseract")
def test_without_tesseract_a_scanned_page_is_named_and_a_scanned_file_refused() -> None:
    content = read(pdf(paragraph(BODY, 700), [WHITE], [WHITE]))
    assert content.text == "".join(BODY)
    assert (
        [warning for warning in content.warnings if warning.endswith("not read: 2, 3")]
        == list(content.warnings)
        != []
    )
    with pytest.raises(Unreadable, match=r"no text; scanned\? install tesseract with jpn"):
        read(pdf([WHITE]))
