"""One Markdown file as a page."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.toolsets.pages.kinds import DOC_TYPES, LINK_TYPES
from shirube.toolsets.pages.markdown import LONG, Link, read_page


def links(text: str) -> list[Link]:
    return list(read_page(text).links)


def headings(text: str) -> list[str | None]:
    return [each.headings[-1] if each.headings else None for each in read_page(text).sections]


def contents(text: str) -> list[str]:
    page = read_page(text)
    return [page.body[each.start : each.end] for each in page.sections]


def test_front_matter_says_title_kind_tags_and_sources() -> None:
    page = read_page(
        "---\ntitle: 題名\ndoc_type: api\ntags: [一, 二]\nsource_refs:\n  - src/a.ts\n---\n# 別の題\n本文"
    )
    assert (page.title, page.doc_type, page.tags) == ("題名", "api", ("一", "二"))
    assert page.source_refs == ("src/a.ts",)
    assert page.body == "# 別の題\n本文"


def test_the_title_is_that_of_the_front_matter_then_the_first_first_level_heading() -> None:
    assert read_page("## 二\n# 一\n# 三").title == "一"
    assert read_page("本文だけ").title is None


@pytest.mark.parametrize("kind", DOC_TYPES)
def test_every_kind_is_known(kind: str) -> None:
    assert read_page(f"---\ndoc_type: {kind}\n---\n").doc_type == kind


@pytest.mark.parametrize("kind", ["manual", "", "[a]", "1"])
def test_an_unknown_kind_is_other(kind: str) -> None:
    assert read_page(f"---\ndoc_type: {kind}\n---\n").doc_type == "other"


@pytest.mark.parametrize("broken", ["title: [", "a: b: c", "x: *y", "[" * 5000, "department: [", "\tx: 1"])
def test_broken_front_matter_is_a_warning_and_no_part_of_the_body(broken: str) -> None:
    page = read_page(f"---\n{broken}\n---\n# 題\n\n本文\n")
    assert "front matter is not valid YAML" in page.warnings[0]
    assert page.body == "# 題\n\n本文\n"
    assert page.title == "題"


def test_prose_between_two_rules_stays_in_the_body() -> None:
    prose = "".join(f"これは: 散文: です {at}\n" for at in range(200))
    page = read_page(f"---\n{prose}---\n# 題\n")
    assert "散文: です 150" in page.body
    assert page.warnings


@pytest.mark.parametrize("hostile", ["![[", "[[a ", "[", "](", "`", "<", "[x](", "[[", "*_", "> "])
def test_hostile_text_is_read_in_linear_time(hostile: str) -> None:
    """Eight times the text must not take thirty times as long."""

    def seconds(times: int) -> float:
        started = time.perf_counter()
        read_page(hostile * times)
        return time.perf_counter() - started

    seconds(100)
    assert seconds(16_000) < max(30 * seconds(2000), 2.0)


def test_sections_begin_at_second_and_third_level_headings() -> None:
    filler = "文を十分に長くして、前の節に入らないようにする。ここまで書けば四十文字を超える。\n\n"
    text = f"# 題\n\n{filler}## 一\n\n{filler}### 一の一\n\n{filler}#### 深い\n\n{filler}## 二\n\n{filler}"
    assert headings(text) == [None, "一", "一の一", "二"]
    assert "".join(contents(text)) == text
    assert "#### 深い" in contents(text)[2]
    assert [each.headings for each in read_page(text).sections][2] == ("一", "一の一")


def test_a_tiny_section_goes_to_the_one_before() -> None:
    text = "# 題\n\nここに十分に長い前置きがあり、それだけで一つの節になる。\n\n## 小\n\n短い。\n"
    assert headings(text) == [None]


def test_a_long_section_is_split_between_paragraphs_and_keeps_its_heading() -> None:
    paragraph = "段落の文です。" * 40 + "\n\n"
    text = "## 見出し\n\n" + paragraph * 12
    parts = contents(text)
    assert len(parts) > 2
    assert set(headings(text)) == {"見出し"}
    assert all(len(part) <= LONG for part in parts)
    assert all(part.endswith("\n\n") for part in parts)


@pytest.mark.parametrize(
    "block",
    [
        "```python\n" + "x = 1\n\n" * 600 + "```\n",
        "| 列 | 値 |\n| --- | --- |\n" + "| あ | い |\n" * 400,
        "- 項目\n\n" * 500,
    ],
)
def test_code_tables_and_lists_are_never_cut(block: str) -> None:
    paragraph = "前の段落です。" * 30 + "\n\n"
    text = f"## 見出し\n\n{paragraph}{block}\n{paragraph}"
    assert sum(block.strip() in part for part in contents(text)) == 1


def test_headings_inside_code_and_quotations_open_no_section() -> None:
    assert headings("本文\n\n```\n## 違う\n```\n\n> ## これも\n") == [None]


@given(st.text(alphabet="#-=`~|[]() \n\r\tあa1:>*_\\!", max_size=300))
def test_sections_joined_are_the_body(text: str) -> None:
    page = read_page(text)
    assert "".join(page.body[each.start : each.end] for each in page.sections) == page.body


@pytest.mark.parametrize("kind", LINK_TYPES)
def test_a_wiki_link_may_say_its_type(kind: str) -> None:
    [link] = links(f"[[search-algorithm|{kind}]]")
    assert (link.target, link.link_type, link.alias) == ("search-algorithm", kind, None)


def test_wiki_links_with_heading_alias_and_embedding() -> None:
    found = links("[[a]] [[b#見出し]] [[c#見出し|extends]] [[d|別の名]] ![[e]] [[#ここ]]")
    assert [(each.target, each.heading, each.link_type, each.alias, each.is_embed) for each in found] == [
        ("a", None, "references", None, False),
        ("b", "見出し", "references", None, False),
        ("c", "見出し", "extends", None, False),
        ("d", None, "references", "別の名", False),
        ("e", None, "references", None, True),
    ]


def test_in_a_table_the_bar_of_a_link_is_escaped() -> None:
    [link] = links("| a |\n| --- |\n| [[頁\\|別名]] |\n")
    assert (link.target, link.alias) == ("頁", "別名")


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]]`",
        "```\n[[a]]\n[x](a.md)\n```",
        "    [[a]]\n",
        "~~~\n[[a]]\n~~~",
        "\\[[a]]",
        "<!-- [[a]] -->",
        "[[a]](https://example.jp)",
        "[x](https://example.jp/a.md)",
        "[x](#見出し)",
        "[x](mailto:a@b.md)",
        "[x](//host/a.md)",
        "![絵](a.png)",
        "[x](a.txt)",
        "[[a\nb]]",
        "[[]]",
    ],
)
def test_what_is_no_link_to_a_page(text: str) -> None:
    assert links(text) == []


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("[x](a.md)", "a.md"),
        ("[x](../b/a.md#節)", "../b/a.md"),
        ("[x](a%20b.md)", "a b.md"),
        ("[x](<a b.md>)", "a b.md"),
        ('[x](a.md "題")', "a.md"),
        ("[x](a.md?view=1)", "a.md"),
        ("[x](..\\c\\a.MD)", "../c/a.MD"),
        ("[[x]](a.md)", "a.md"),
        ("[x][r]\n\n[r]: a.md", "a.md"),
        ("- 項目 [x](a.md)", "a.md"),
        ("[日本](日本.markdown)", "日本.markdown"),
    ],
)
def test_markdown_links_to_pages_count(written: str, target: str) -> None:
    [link] = links(written)
    assert (link.target, link.is_path, link.link_type) == (target, True, "references")


def test_links_know_their_line_in_the_file() -> None:
    text = "---\ntitle: 題\n---\n# 題\n\n一行目\n[[a]] です\n\n[[b]]\n"
    assert [(each.target, each.line) for each in links(text)] == [("a", 7), ("b", 9)]
    assert [each.line for each in links(text.replace("\n", "\r\n"))] == [7, 9]
