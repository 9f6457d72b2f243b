"""HTML: what a reader of the page sees, line by line, from any page in bounded time."""

import socket
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.ingest.readers import html
from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.html import read

TAGS = [
    "div",
    "p",
    "h1",
    "h2",
    "table",
    "tr",
    "td",
    "th",
    "ul",
    "li",
    "b",
    "br",
    "span",
    "script",
    "title",
    "pre",
]
PIECES = st.sampled_from([f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]) | st.sampled_from(
    [
        "本文。",
        " ",
        "&amp;",
        "<",
        ">",
        "<!--",
        "-->",
        "<p title='",
        "'",
        "\n",
        "<![CDATA[",
        "]]>",
        "<?x",
        "&#x3042;",
    ]
)


def content(page: str) -> Content:
    return read(page.encode())


def headings(page: str) -> list[tuple[int, str, str]]:
    """Level, name, and the lines as they stand in the text."""
    found = content(page)
    return [(each.level, each.text, found.text[each.start : each.end]) for each in found.headings]


def test_a_page_is_read_line_by_line() -> None:
    page = (
        "<html><body><p>一段落\n  目。</p><div>二<b>段</b>落目。</div>三<br>四<ul><li>項目</ul></body></html>"
    )
    assert content(page).text == "一段落 目。\n二段落目。\n三\n四\n項目\n"


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>var a = '秘密';</script>",
        "<style>.秘密 { color: red }</style>",
        "<noscript>秘密</noscript>",
        "<template>秘密</template>",
        "<!-- 秘密 -->",
        "<p hidden>秘密</p>",
        "<?php 秘密 ?>",
        "<svg><text>秘密</text></svg>",
        "<p title='秘密'></p>",
    ],
)
def test_what_a_reader_does_not_see_is_left_out(hidden: str) -> None:
    assert content(f"<p>前</p>{hidden}<p>後</p>").text == "前\n後\n"


@pytest.mark.parametrize(
    "links",
    [
        "<nav><a href=/>Home</a><h1>メニュー</h1></nav>",
        "<div role=navigation><a href=/>Home</a></div>",
        "<ul role='list Navigation'><li>Home</li></ul>",
    ],
)
def test_navigation_is_left_out(links: str) -> None:
    page = f"<header>社内規程</header>{links}<p>本文</p><aside>補足</aside><footer>総務部</footer>"
    assert content(page).text == "社内規程\n本文\n補足\n総務部\n"
    assert headings(page) == []


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<title>索引</title><body><nav><a href=1>旅費</a></nav>", "旅費\n"),
        (
            "<p>前</p><nav><a href=/>Home</a><main><p>閉じ忘れの後の本文</p></main>",
            "前\nHome\n閉じ忘れの後の本文\n",
        ),
        ("<p role='note'>注記</p>", "注記\n"),
    ],
    ids=["nothing else", "never closed", "another role"],
)
def test_what_would_leave_a_page_without_its_text_is_no_navigation(page: str, text: str) -> None:
    assert content(page).text == text


def test_headings_are_found_with_their_lines() -> None:
    page = "<h1>総則</h1><p>本文</p><h3>細<b>目</b></h3>続き<h2></h2>"
    assert headings(page) == [(1, "総則", "総則\n"), (3, "細目", "細目\n")]


def test_a_heading_within_a_heading_is_part_of_it() -> None:
    assert headings("<h1>外<h2>内</h2></h1><p>本文</p>") == [(1, "外 内", "外\n内\n")]


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title> 規程\n 集 </title><h1>総則</h1>", "規程 集"),
        ("<h2>節</h2><h1>総則</h1>", "総則"),
        ("<title> </title><h1>総則</h1>", "総則"),
        ("<p>本文</p>", None),
    ],
)
def test_the_title_is_the_pages_or_the_first_headings(page: str, title: str | None) -> None:
    assert content(page).title == title


def test_a_row_of_a_table_is_one_line() -> None:
    page = (
        "<table>\n<tr>\n<th>項目</th> <th>金額</th>\n</tr>"
        "<tr><td><p>宿泊</p><p>料</p></td><td>12,000円<br>税別</td></tr><tr><td>合計</td><td></td></tr></table>後"
    )
    assert (
        content(page).text
        == "| 項目 | 金額 |\n| 項目: 宿泊 料 | 金額: 12,000円 税別 |\n| 項目: 合計 | |\n後\n"
    )


def test_rows_name_their_columns_below_a_head_of_several_lines_and_beside_cells_of_several_rows() -> None:
    page = (
        "<table><thead><tr><th rowspan=2>役職</th><th colspan=2>日当</th></tr>"
        "<tr><th>国内</th><th>海外</th></tr></thead>"
        "<tr><td rowspan=2>課長</td><td>3,000円</td><td>7,000円</td></tr><tr><td>半日1,500円</td><td></td></tr>"
        "<tr><td>係長</td><td colspan=2>なし</td></tr><tr><td colspan=3>税込み</td></tr></table>"
    )
    assert content(page).text.splitlines() == [
        "| 役職 | 日当 |",
        "| 国内 | 海外 |",
        "| 役職: 課長 | 日当 国内: 3,000円 | 日当 海外: 7,000円 |",
        "| 役職: 課長 | 日当 国内: 半日1,500円 | |",
        "| 役職: 係長 | 日当 国内・日当 海外: なし |",
        "| 税込み |",
    ]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            "<tr><th>氏名</th><td>山田</td></tr><tr><th>部署</th><td>営業</td></tr>",
            "| 氏名 | 山田 |\n| 部署 | 営業 |\n",
        ),
        (
            "<tr><td>机</td><td>100</td></tr><tr><td>椅子</td><td>50</td></tr>",
            "| 机 | 100 |\n| 椅子 | 50 |\n",
        ),
        (
            f"<tr><th>{'長' * 100}</th><th>値</th></tr><tr><td>机</td><td>1</td></tr>",
            f"| {'長' * 100} | 値 |\n| 机 | 値: 1 |\n",
        ),
        (
            "<tr><th></th><th>国内</th></tr><tr><th>課長</th><td>3</td></tr>",
            "| | 国内 |\n| 課長 | 国内: 3 |\n",
        ),
    ],
    ids=["facts", "no head", "a long name", "a blank corner"],
)
def test_what_does_not_name_a_column_names_none(rows: str, text: str) -> None:
    assert content(f"<table>{rows}</table>").text == text


def test_tables_that_follow_each_other_have_their_own_columns() -> None:
    named = "<table><tr><th>品名</th><th>単価</th></tr><tr><td>机</td><td>100</td></tr></table>"
    plain = "<table><tr><td>店名</td><td>住所</td></tr><tr><td>本店</td><td>東京</td></tr></table>"
    assert content(named + plain).text.splitlines()[2:] == ["| 店名 | 住所 |", "| 本店 | 東京 |"]


@pytest.mark.parametrize(
    "ruby",
    [
        "<ruby>決裁<rt>けっさい</rt></ruby>者",
        "<ruby>決裁<rp>（</rp><rt>けっさい</rt><rp>）</rp></ruby>者",
        "<ruby>決<rt>けっ</rt>裁<rt>さい</rt></ruby>者",
        "<ruby>決裁<rt>けっさい</ruby>者",
    ],
)
def test_readings_above_kanji_are_left_out(ruby: str) -> None:
    assert content(f"<h1>{ruby}</h1><p>{ruby}は部長とする。</p>").text == "決裁者\n決裁者は部長とする。\n"


def test_a_table_that_would_swell_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "LONGEST", 10_000)
    rows = "<tr><td>a</td><td>b</td></tr>" * 500
    assert len(content(f"<table>{rows}</table>").text) < 10_000
    with pytest.raises(Unreadable, match="too large"):
        content(f"<table><tr><th>{'名' * 30}</th><th>{'値' * 30}</th></tr>{rows}</table>")


def test_a_table_that_lays_out_the_page_is_no_table() -> None:
    page = "<table><tr><td><h1>題</h1><p>本文</p></td><td>右<ul><li>一</li><li>二</li></ul></td></tr></table>"
    assert content(page).text == "題\n本文\n右\n一\n二\n"
    assert headings(page) == [(1, "題", "題\n")]


def test_entities_are_the_characters_they_stand_for() -> None:
    page = "<p>A &amp; B&nbsp;&lt;C&gt; &copy; &#12354; &#x1F363; &hellip; &unknown;</p>"
    assert content(page).text == "A & B <C> © あ 🍣 … &unknown;\n"


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("Shift_JIS", "cp932"),
        ("x-sjis", "cp932"),
        ("EUC-JP", "euc_jp"),
        ("iso-2022-jp", "iso2022_jp"),
        ("UTF-8", "utf-8"),
    ],
)
@pytest.mark.parametrize(
    "meta", ["<meta charset='{}'>", '<META http-equiv="Content-Type" content="text/html; charset={}">']
)
def test_the_declared_encoding_is_used(declared: str, encoding: str, meta: str) -> None:
    page = f"<html><head>{meta.format(declared)}<title>規程</title></head><p>旅費は①のとおり。</p>"
    page = page if encoding in ("cp932", "utf-8") else page.replace("①", "一")
    found = read(page.encode(encoding))
    assert (found.title, found.text[:3]) == ("規程", "旅費は")


def test_a_declaration_decides_what_could_be_either() -> None:
    assert read("<meta charset=Shift_JIS><p>ｶﾅ</p>".encode("cp932")).text == "ｶﾅ\n"
    assert read("<meta charset=windows-1252><p>fête</p>".encode("cp1252")).text == "fête\n"


@pytest.mark.parametrize(
    "declared",
    ["Shift_JIS", "utf-16", "utf-7", "punycode", "idna", "undefined", "unicode_escape", "hex", "zip", "x"],
)
def test_a_declaration_that_is_wrong_or_no_encoding_does_no_harm(declared: str) -> None:
    assert content(f"<meta charset='{declared}'><p>規程\\d</p>").text == "規程\\d\n"


def test_nothing_outside_the_page_is_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("秘密")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        away = f"http://127.0.0.1:{server.getsockname()[1]}"
        page = (
            f'<!DOCTYPE html PUBLIC "x" "{away}/x.dtd" [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
            f'<html><body><p>前&e;後</p><iframe src="{secret.as_uri()}"></iframe><img src="{away}/a.png">'
            f'<xi:include href="{secret.as_uri()}" parse="text"/><script src="{away}/a.js"></script></body></html>'
        )
        text = content(page).text
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "秘密" not in text
    assert "前&e;後" in text


@pytest.mark.parametrize("page", ["", "   ", "<!-- -->", "<?x?>"])
def test_a_page_without_anything_is_refused(page: str) -> None:
    with pytest.raises(Unreadable, match="not readable as HTML"):
        content(page)


def test_ordinary_nesting_is_read_to_the_bottom() -> None:
    assert content("<div>" * 1_000 + "底" + "</div>" * 1_000 + "後").text == "底\n後\n"


@pytest.mark.parametrize(
    "tag", ["<div>", "<b><i>", "<table><tr><td>", "<ul><li>", "<span>", "<h1>", "<font>"]
)
def test_nesting_without_end_is_refused_and_not_cut_short(tag: str) -> None:
    begun = time.process_time()
    with pytest.raises(Unreadable, match="nested too deeply"):
        content("前" + tag * 100_000 + "底")
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("page", "length"),
    [
        ("<pre>" + "あ" * 4_000_000 + "</pre><p>後</p>", 4_000_003),
        ("<p>あ" * 100_000, 200_000),
        ("<" * 1_000_000, 1_000_001),
        ("&" * 1_000_000, 1_000_001),
        ("<p " + "a=b " * 100_000 + ">後", 2),
        ("<p title='" + "a" * 11_000_000 + "'>後</p>", 2),
        ("<table><tr><td>あ</table>" * 30_000, 180_000),
        ("<table>" + "<tr><th colspan=999 rowspan=999>あ<th>い" * 20_000, 200_000),
        ("<table><tr><td rowspan=1000000000>あ<td>い" + "<tr><td>い" * 20_000, 200_010),
        ("<table><tr><td rowspan=9999999999999999999999>あ<td>い" + "<tr>" * 20_000, 10),
    ],
    ids=[
        "text",
        "paragraphs",
        "brackets",
        "ampersands",
        "attributes",
        "attribute",
        "tables",
        "spans",
        "rows",
        "empty",
    ],
)
def test_a_huge_page_is_read_whole_and_in_time(page: str, length: int) -> None:
    begun = time.process_time()
    assert len(content(page).text) == length
    assert time.process_time() - begun < 5


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_page_gives_a_text_with_its_headings_in_order_or_is_refused(page: str) -> None:
    try:
        found = content(page)
    except Unreadable:
        return
    reached = 0
    for heading in found.headings:
        assert reached <= heading.start < heading.end <= len(found.text)
        assert " ".join(found.text[heading.start : heading.end].split()) == heading.text
        reached = heading.end
