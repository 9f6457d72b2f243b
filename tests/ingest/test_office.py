"""Word, Excel and PowerPoint: headings, lists, tables, pages; what is hidden stays out, what is hostile is refused."""

import io
import struct
import zipfile
from datetime import date, datetime
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from pptx.util import Inches

from shirube.ingest.chunking import passages
from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.registry import READERS
from tests.ingest.office import LAUGHS, bomb, changed, deck, saved, sheets, word
from tests.ingest.paper import Line, pdf

MADE = {
    ".docx": word("本文の文章です。"),
    ".xlsx": sheets(表=[["項目", "金額"], ["机", 100]]),
    ".pptx": deck(("題名", "本文の文章です。")),
}


def read(data: bytes, suffix: str) -> Content:
    return READERS[suffix](data)


def lines(data: bytes, suffix: str = ".docx") -> list[str]:
    return read(data, suffix).text.splitlines()


# Word


def test_styles_make_headings_of_a_word_file() -> None:
    content = read(
        word(
            ("Title", "出張旅費規程"),
            "前文です。",
            ("Heading 1", "第1章　総則"),
            ("Heading 2", "目的"),
            "旅費の基準を定める。",
            ("Heading 1", "第2章　精算"),
            "月末までに精算する。",
        ),
        ".docx",
    )
    assert content.title == "出張旅費規程"
    assert [(passage.text, passage.heading_path) for passage in passages(content)] == [
        ("前文です。", ("出張旅費規程",)),
        ("旅費の基準を定める。", ("出張旅費規程", "第1章 総則", "目的")),
        ("月末までに精算する。", ("出張旅費規程", "第2章 精算")),
    ]


def test_japanese_style_names_and_outline_levels_make_headings_too() -> None:
    document = docx.Document()
    style = document.styles.add_style("見出し 2", 1)
    style.base_style = document.styles["Normal"]
    document.add_paragraph("和名の見出し", style="見出し 2")
    leveled = document.add_paragraph("段階だけの見出し")
    leveled._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="2"/>'))
    document.add_paragraph("本文です。")
    found = read(saved(document), ".docx").headings
    assert [(each.text, each.level) for each in found] == [("和名の見出し", 2), ("段階だけの見出し", 3)]


def test_lists_have_the_numbers_that_word_shows() -> None:
    assert lines(
        word(
            ("List Bullet", "点の項目"),
            ("List Number", "一つ目"),
            ("List Number", "二つ目"),
            ("List Number", "三つ目"),
        )
    ) == ["・点の項目", "1. 一つ目", "2. 二つ目", "3. 三つ目"]


def test_articles_are_numbered_as_word_numbers_them() -> None:
    data = word(*[("List Number", f"{name}は、これを定める。") for name in ("賃金", "休日", "旅費")])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        numbering = archive.read("word/numbering.xml")
    assert b'<w:lvlText w:val="%1."/>' in numbering
    numbered = changed(
        data, "word/numbering.xml", b'<w:lvlText w:val="%1."/>', '<w:lvlText w:val="第%1条"/>'.encode()
    )
    kanji = changed(
        numbered,
        "word/numbering.xml",
        b'<w:numFmt w:val="decimal"/>',
        b'<w:numFmt w:val="japaneseCounting"/>',
    )
    assert lines(numbered)[2] == "第3条 旅費は、これを定める。"
    assert lines(kanji)[2] == "第三条 旅費は、これを定める。"


def test_tables_of_a_word_file_are_rows_with_all_of_a_cell_in_one_line() -> None:
    document = docx.Document()
    document.add_paragraph("次の表による。")
    table = document.add_table(3, 3)
    for at, text in enumerate(
        ["区分", "宿泊費", "日当", "役員", "実費", "5,000円", "社員", "12,000円", "2,500円"]
    ):
        table.cell(*divmod(at, 3)).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(1, 1).add_table(1, 2).cell(0, 0).text = "上限なし"
    assert lines(saved(document)) == [
        "次の表による。",
        "| 区分 | 宿泊費 | 日当 |",
        "| 区分: 役員 社員 | 宿泊費: 実費 上限なし | 日当: 5,000円 |",
        "| 区分: 役員 社員 | 宿泊費: 12,000円 | 日当: 2,500円 |",
    ]


def grid(*rows: str, heads: int = 0) -> bytes:
    """A Word file of one table, the cells of a row separated by spaces, with rows that Word repeats on each page."""
    document = docx.Document()
    table = document.add_table(len(rows), len(rows[0].split()))
    for number, row in enumerate(rows):
        for cell, text in zip(table.rows[number].cells, row.split(), strict=True):
            cell.text = "" if text == "-" else text
    for row in table.rows[:heads]:
        row._tr.get_or_add_trPr().append(parse_xml(f"<w:tblHeader {nsdecls('w')}/>"))
    return saved(document)


@pytest.mark.parametrize(
    ("rows", "heads", "last"),
    [
        (
            ["契約種別 決裁者 保管場所", "売買契約 部長 書庫"],
            0,
            "| 契約種別: 売買契約 | 決裁者: 部長 | 保管場所: 書庫 |",
        ),
        (["等級 日当", "G1 2,000円", "G2 3,000円"], 0, "| 等級: G2 | 日当: 3,000円 |"),
        (["区分 担当", "契約 法務部"], 0, "| 区分: 契約 | 担当: 法務部 |"),
        (["担当 2026年", "山田 12"], 1, "| 担当: 山田 | 2026年: 12 |"),
        (["役職 日当 日当", "- 国内 海外", "課長 3 7"], 2, "| 役職: 課長 | 日当 国内: 3 | 日当 海外: 7 |"),
        (["氏名 山田太郎", "所属 営業部"], 0, "| 所属 | 営業部 |"),
        (["氏名 - 所属 -", "電話 - 住所 -"], 0, "| 電話 |  | 住所 |  |"),
        (["1 机 100", "2 椅子 50"], 0, "| 2 | 椅子 | 50 |"),
        (["契約種別 決裁者 保管場所"], 0, "| 契約種別 | 決裁者 | 保管場所 |"),
    ],
)
def test_rows_of_a_word_file_name_their_columns_where_it_has_a_head(
    rows: list[str], heads: int, last: str
) -> None:
    assert lines(grid(*rows, heads=heads))[-1] == last


def test_a_cell_below_several_columns_is_named_by_them_and_one_below_all_by_none() -> None:
    document = docx.Document()
    table = document.add_table(3, 3)
    for at, text in enumerate("役職 国内 海外 課長 なし - 税込み - -".split()):
        table.cell(*divmod(at, 3)).text = "" if text == "-" else text
    table.cell(1, 1).merge(table.cell(1, 2))
    table.cell(2, 0).merge(table.cell(2, 2))
    assert lines(saved(document))[1:] == ["| 役職: 課長 | 国内・海外: なし |", "| 税込み |"]


def test_a_frame_of_one_cell_is_no_table() -> None:
    document = docx.Document()
    cell = document.add_table(1, 1).cell(0, 0)
    cell.text = "枠の中の文章です。"
    cell.add_paragraph("枠の中の見出し", style="Heading 1")
    content = read(saved(document), ".docx")
    assert content.text.splitlines() == ["枠の中の文章です。", "枠の中の見出し"]
    assert [each.text for each in content.headings] == ["枠の中の見出し"]


def test_what_word_does_not_show_in_the_text_stays_out_and_insertions_go_in() -> None:
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "社外秘の見出し"
    document.sections[0].footer.paragraphs[0].text = "1ページ"
    paragraph = document.add_paragraph("申請は")
    for markup in (
        "<w:del {}><w:r><w:delText>前日</w:delText></w:r></w:del>",
        "<w:ins {}><w:r><w:t>三日前</w:t></w:r></w:ins>",
        "<w:r {}><w:rPr><w:vanish/></w:rPr><w:t>隠し文字</w:t></w:r>",
        "<w:r {}><w:instrText>PAGE</w:instrText></w:r>",
        "<w:r {}><w:ruby><w:rt><w:r><w:t>まで</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>迄</w:t></w:r></w:rubyBase>"
        "</w:ruby></w:r>",
        "<w:sdt {}><w:sdtContent><w:r><w:t>に行う。</w:t></w:r></w:sdtContent></w:sdt>",
    ):
        paragraph._p.append(parse_xml(markup.format(nsdecls("w"))))
    assert lines(saved(document)) == ["申請は三日前迄に行う。"]


def test_text_boxes_of_a_word_file_are_read_once() -> None:
    document = docx.Document()
    box = "<w:txbxContent><w:p><w:r><w:t>囲みの注意書き。</w:t></w:r></w:p></w:txbxContent>"
    document.add_paragraph("本文。")._p.append(
        parse_xml(
            f'<w:r {nsdecls("w")} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:AlternateContent>'
            f'<mc:Choice Requires="wps">{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>'
        )
    )
    assert lines(saved(document)) == ["本文。", "囲みの注意書き。"]


def test_text_boxes_in_a_cell_are_read_once() -> None:
    document = docx.Document()
    box = "<w:txbxContent><w:p><w:r><w:t>囲みの注意。</w:t></w:r></w:p></w:txbxContent>"
    table = document.add_table(1, 2)
    table.cell(0, 1).text = "隣。"
    table.cell(0, 0).text = "本文。"
    table.cell(0, 0).paragraphs[0]._p.append(
        parse_xml(
            f'<w:r {nsdecls("w")} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:AlternateContent>'
            f'<mc:Choice Requires="wps">{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>'
        )
    )
    assert lines(saved(document)) == ["| 本文。 囲みの注意。 | 隣。 |"]


def test_numbers_go_on_through_tables_and_empty_paragraphs() -> None:
    document = docx.Document()
    document.add_paragraph("はじめ", style="List Number")
    table = document.add_table(1, 2)
    table.cell(0, 0).paragraphs[0].style = "List Number"
    table.cell(0, 0).paragraphs[0].text = "表の中"
    table.cell(0, 1).text = "隣"
    document.add_paragraph("", style="List Number")
    document.add_paragraph("おわり", style="List Number")
    assert lines(saved(document)) == ["1. はじめ", "| 2. 表の中 | 隣 |", "4. おわり"]


@pytest.mark.parametrize("name", ["footnote", "endnote"])
def test_notes_stand_at_the_end_without_the_lines_that_set_them_apart(name: str) -> None:
    kind = f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{name}s"
    link = f'<Relationship Id="rId99" Type="{kind}" Target="{name}s.xml"/></Relationships>'
    data = changed(word("本文です。"), "word/_rels/document.xml.rels", b"</Relationships>", link.encode())
    note = f"<w:{name}{{}}><w:p><w:r><w:t>{{}}</w:t></w:r></w:p></w:{name}>"
    notes = note.format(' w:type="separator"', "区切り") + note.format("", "上限は税込みとする。")
    written = io.BytesIO(data)
    with zipfile.ZipFile(written, "a") as archive:
        archive.writestr(f"word/{name}s.xml", f"<w:{name}s {nsdecls('w')}>{notes}</w:{name}s>")
    assert lines(written.getvalue()) == ["本文です。", "上限は税込みとする。"]


@pytest.mark.parametrize(
    ("named", "title"), [("旅費の手引", "旅費の手引"), ("無題", None), ("Microsoft Word 文書", None)]
)
def test_a_title_that_a_program_filled_in_is_none(named: str, title: str | None) -> None:
    document = docx.Document()
    document.add_paragraph("本文です。")
    document.core_properties.title = named
    assert read(saved(document), ".docx").title == title


# Excel


def test_rows_of_a_sheet_name_their_columns_below_the_sheets_name() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "旅費一覧"
    for row in (
        ["2026年度　旅費一覧"],
        [],
        ["氏名", "日付", "金額", "割合", "時刻", "済"],
        ["山田", date(2026, 4, 1), 12000.0, 0.125, datetime(2026, 4, 1, 9, 30), True],
        ["佐藤", None, 0.1 + 0.2, 1, None, False],
    ):
        sheet.append(row)
    sheet["D4"].number_format = "0.0%"
    content = read(saved(book), ".xlsx")
    assert content.text.splitlines() == [
        "旅費一覧",
        "| 2026年度 旅費一覧 |",
        "| 氏名 | 日付 | 金額 | 割合 | 時刻 | 済 |",
        "| 氏名: 山田 | 日付: 2026-04-01 | 金額: 12000 | 割合: 12.5% | 時刻: 2026-04-01 09:30 | 済: TRUE |",
        "| 氏名: 佐藤 | 金額: 0.3 | 割合: 1 | 済: FALSE |",
    ]
    assert {passage.heading_path for passage in passages(content)} == {("旅費一覧",)}


def test_hidden_and_empty_sheets_are_left_out() -> None:
    book = openpyxl.load_workbook(
        io.BytesIO(sheets(見える=[["項目", "値"]], 秘密=[["給与", 9]], 極秘=[["査定", 1]], 空=[]))
    )
    book["秘密"].sheet_state = "hidden"
    book["極秘"].sheet_state = "veryHidden"
    assert lines(saved(book), ".xlsx") == ["見える", "| 項目 | 値 |"]


def test_a_second_table_below_a_blank_row_has_its_own_columns() -> None:
    data = sheets(
        表=[
            ["品名", "単価"],
            ["机", 100],
            [],
            ["椅子", 50],
            [],
            ["店名", "住所", "電話"],
            ["本店", "東京", "03"],
        ]
    )
    assert lines(data, ".xlsx")[1:] == [
        "| 品名 | 単価 |",
        "| 品名: 机 | 単価: 100 |",
        "| 品名: 椅子 | 単価: 50 |",
        "| 店名 | 住所 | 電話 |",
        "| 店名: 本店 | 住所: 東京 | 電話: 03 |",
    ]


def test_years_can_name_columns_and_a_row_in_the_middle_cannot() -> None:
    data = sheets(
        売上=[["区分", "2025年", "2026年"], ["東京", 10, 12]],
        記録=[["作成", 2026], ["担当", "山田"], ["確認", "佐藤"]],
    )
    assert lines(data, ".xlsx") == [
        "売上",
        "| 区分 | 2025年 | 2026年 |",
        "| 区分: 東京 | 2025年: 10 | 2026年: 12 |",
        "記録",
        "| 作成 | 2026 |",
        "| 担当 | 山田 |",
        "| 確認 | 佐藤 |",
    ]


def test_a_formula_stands_by_the_value_it_had() -> None:
    data = sheets(表=[["項目", "合計"], ["机", "=1+1"]])
    shown = changed(data, "xl/worksheets/sheet1.xml", b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>")
    assert lines(shown, ".xlsx")[-1] == "| 項目: 机 | 合計: 2 |"


def test_formulas_without_a_stored_value_are_said() -> None:
    data = sheets(表=[["項目", "合計"], ["机", "=1+1"], ["椅子", 3]], 他=[["値", "別"], ["=A1", "=B1"]])
    [warning] = read(data, ".xlsx").warnings
    assert warning.startswith("計算結果が保存されていない数式が3個")
    assert "3 formulas have no stored value" in warning
    counted = changed(
        sheets(表=[["項目", "合計"], ["机", "=1+1"]]),
        "xl/worksheets/sheet1.xml",
        b'<c r="B2"><f>1+1</f><v></v>',
        b'<c r="B2" t="str"><f>1+1</f><v></v>',
    )
    assert not read(counted, ".xlsx").warnings


def test_a_sheet_that_claims_to_be_endless_is_read_by_what_it_holds() -> None:
    data = sheets(表=[["項目", "値"], ["机", 1]])
    endless = changed(data, "xl/worksheets/sheet1.xml", b'ref="A1:B2"', b'ref="A1:XFD1048576"')
    assert lines(endless, ".xlsx")[-1] == "| 項目: 机 | 値: 1 |"


# PowerPoint


def test_each_slide_is_a_page_with_its_title_as_heading() -> None:
    content = read(deck(("方針", "品質を第一とする。"), ("計画", "来年度に始める。")), ".pptx")
    assert content.title == "方針"
    assert [(passage.text, passage.heading_path, passage.page) for passage in passages(content)] == [
        ("品質を第一とする。", ("方針",), 1),
        ("来年度に始める。", ("計画",), 2),
    ]


def test_shapes_are_read_from_top_to_bottom_then_tables_and_notes() -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "体制"
    for left, top, text in ((5, 3, "右の列"), (1, 3, "左の列"), (1, 5, "下の段")):
        slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(1)).text_frame.text = text
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(2), Inches(2), Inches(1)).text_frame.text = "組の中"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(6), Inches(4), Inches(1)).table
    for at, text in enumerate(["担当", "人数", "開発", "3"]):
        table.cell(*divmod(at, 2)).text = text
    slide.notes_slide.notes_text_frame.text = "人数は\n口頭で補足する。"
    assert lines(saved(made), ".pptx") == [
        "体制",
        "組の中",
        "左の列",
        "右の列",
        "下の段",
        "| 担当 | 人数 |",
        "| 担当: 開発 | 人数: 3 |",
        "ノート: 人数は 口頭で補足する。",
    ]


def test_merged_cells_of_a_slide_keep_the_columns_in_their_places() -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    table = slide.shapes.add_table(4, 3, Inches(1), Inches(1), Inches(5), Inches(2)).table
    for at, text in enumerate("役職 国内 海外 課長 3 7 - 半日 4 係長 なし -".split()):
        table.cell(*divmod(at, 3)).text = "" if text == "-" else text
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(3, 1).merge(table.cell(3, 2))
    assert lines(saved(made), ".pptx") == [
        "| 役職 | 国内 | 海外 |",
        "| 役職: 課長 | 国内: 3 | 海外: 7 |",
        "| 役職: 課長 | 国内: 半日 | 海外: 4 |",
        "| 役職: 係長 | 国内・海外: なし |",
    ]


def test_a_slides_table_without_a_head_row_is_read_as_it_is() -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(5), Inches(2)).table
    for at, text in enumerate("氏名 山田 所属 営業部".split()):
        table.cell(*divmod(at, 2)).text = text
    table.first_row = False
    assert lines(saved(made), ".pptx") == ["| 氏名 | 山田 |", "| 所属 | 営業部 |"]


def test_a_hidden_slide_is_left_out_and_still_counts_as_a_page() -> None:
    made = pptx.Presentation(
        io.BytesIO(deck(("一枚目", "見える。"), ("二枚目", "見えない。"), ("三枚目", "見える。")))
    )
    made.slides[1]._element.set("show", "0")
    content = read(saved(made), ".pptx")
    assert "見えない" not in content.text
    assert [passage.page for passage in passages(content)] == [1, 3]


# What is hostile or broken


def test_a_zip_bomb_is_refused() -> None:
    data = bomb()
    assert len(data) < 1_000_000
    with pytest.raises(Unreadable, match="zip bomb"):
        read(data, ".docx")


def test_a_zip_bomb_that_lies_about_its_size_is_refused() -> None:
    """The directory says that the part is small; no reader may go on beyond that."""
    data = bytearray(bomb())
    for sign, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = data.rfind(sign, 0, data.rfind(b"word/media/a.bin"))
        struct.pack_into("<I", data, place + at, 1000)
    with pytest.raises(Unreadable, match="damaged or cut off"):
        read(bytes(data), ".docx")


@pytest.mark.parametrize("suffix", MADE)
def test_a_part_packed_too_tightly_is_refused(suffix: str) -> None:
    written = io.BytesIO(MADE[suffix])
    with zipfile.ZipFile(written, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("large.xml", b" " * 40_000_000)
    with pytest.raises(Unreadable, match="zip bomb"):
        read(written.getvalue(), suffix)


@pytest.mark.parametrize(
    ("suffix", "part", "root"),
    [
        (".docx", "word/document.xml", b"<w:document"),
        (".xlsx", "xl/worksheets/sheet1.xml", b"<worksheet"),
        (".pptx", "ppt/slides/slide1.xml", b"<p:sld"),
    ],
)
def test_entities_are_refused(suffix: str, part: str, root: bytes, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("秘密")
    for declared in (LAUGHS, b'<!DOCTYPE x [<!ENTITY e SYSTEM "%s">]>' % secret.as_uri().encode()):
        with pytest.raises(Unreadable, match="declares entities"):
            read(changed(MADE[suffix], part, root, declared + root), suffix)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_entities_are_refused_in_a_part_of_any_name_and_encoding(encoding: str) -> None:
    written = io.BytesIO(MADE[".docx"])
    with zipfile.ZipFile(written, "a") as archive:
        archive.writestr("word/other.bin", f"\n{LAUGHS.decode()}<a>&a9;</a>".encode(encoding))
    with pytest.raises(Unreadable, match="declares entities"):
        read(written.getvalue(), ".docx")


@pytest.mark.parametrize("suffix", MADE)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_file_that_is_cut_off_is_refused(suffix: str, share: float) -> None:
    data = MADE[suffix]
    with pytest.raises(Unreadable, match="damaged or cut off"):
        read(data[: int(len(data) * share)], suffix)


@pytest.mark.parametrize("suffix", MADE)
def test_a_zip_without_a_document_in_it_is_refused(suffix: str) -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("a.txt", "文章")
    with pytest.raises(Unreadable, match="it is a zip file"):
        read(written.getvalue(), suffix)


@pytest.mark.parametrize("suffix", MADE)
def test_broken_xml_is_refused(suffix: str) -> None:
    part = {".docx": "word/document.xml", ".xlsx": "xl/workbook.xml", ".pptx": "ppt/presentation.xml"}[suffix]
    with pytest.raises(Unreadable, match="damaged"):
        read(changed(MADE[suffix], part, b"</", b"<"), suffix)


def test_a_file_with_another_files_name_is_refused_with_what_it_is() -> None:
    with pytest.raises(Unreadable, match=r"named \.docx, but it is a PDF"):
        read(pdf([Line("本文です。")]), ".docx")
    with pytest.raises(Unreadable, match=r"named \.pdf, but it is a xlsx"):
        read(MADE[".xlsx"], ".pdf")
    with pytest.raises(Unreadable, match="before 2007"):
        read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), ".xlsx")
    with pytest.raises(Unreadable, match="encrypted; remove the password"):
        read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), ".docx")


def test_a_file_that_needs_too_much_memory_is_refused_and_the_next_is_read() -> None:
    huge = changed(
        MADE[".docx"], "word/document.xml", b"<w:p>", b"<a/>" * 15_000_000 + b"<w:p>", zipfile.ZIP_STORED
    )
    with pytest.raises(Unreadable, match="too much memory"):
        read(huge, ".docx")
    assert lines(MADE[".docx"]) == ["本文の文章です。"]
