"""Markdown as it was written: headings with their exact lines, front matter that can do no harm."""

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.ingest.readers import text
from shirube.ingest.readers.contract import Content, Unreadable
from shirube.ingest.readers.markdown import read

LINES = st.sampled_from(
    [
        "# 題",
        "## 節 ##",
        "節",
        "===",
        "---",
        "```",
        "~~~ py",
        "```a```",
        "本文。",
        "",
        "  # 字下げ",
        "    # コード",
        "- 項目",
        "| 表 |",
    ]
)


def content(text: str) -> Content:
    return read(text.encode())


def headings(text: str) -> list[tuple[int, str, str]]:
    """Level, name, and the lines as they stand in the text."""
    found = content(text)
    return [(each.level, each.text, found.text[each.start : each.end]) for each in found.headings]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# 総則", (1, "総則")),
        ("###### 六", (6, "六")),
        ("   ## 三つまでの空白", (2, "三つまでの空白")),
        ("## 閉じた ##", (2, "閉じた")),
        ("##\t表題\t", (2, "表題")),
        ("# C#", (1, "C#")),
        ("## #1 の件", (2, "#1 の件")),
        ("#", (1, "")),
        ("# #", (1, "")),
    ],
)
def test_a_line_of_marks_is_a_heading(line: str, expected: tuple[int, str]) -> None:
    assert headings(f"前\n\n{line}\n本文\n") == [(*expected, line)]


@pytest.mark.parametrize("line", ["#タグ", "####### 七", "    # コード", "\\# 記号", "本文 # 途中"])
def test_other_lines_with_marks_are_none(line: str) -> None:
    assert headings(f"前\n\n{line}\n本文\n") == []


def test_underlined_lines_are_headings() -> None:
    assert headings("題名\n====\n\n本文\n\n節\n-\n") == [(1, "題名", "題名\n===="), (2, "節", "節\n-")]


@pytest.mark.parametrize(
    "text",
    [
        "二行の\n段落\n---\n",
        "\n---\n",
        "---\n本文\n",
        "| 表 |\n---\n",
        "- 項目\n---\n",
        "# 題\n---\n",
        "> 引用\n===\n",
    ],
)
def test_a_rule_below_anything_else_makes_no_second_heading(text: str) -> None:
    assert [level for level, _, _ in headings(text)] == [1] * text.count("# ")


@pytest.mark.parametrize(
    "fenced",
    [
        "```\n# 中\n```",
        "~~~ sh\n# 中\n~~~",
        "````\n```\n# 中\n````",
        "~~~\n```\n# 中\n~~~",
        "```\n# 中\n``` まだ\n# 中\n```",
        "``` py\r\n# 中\r\n```\r",
    ],
)
def test_a_fence_hides_headings_until_it_is_closed(fenced: str) -> None:
    assert headings(f"{fenced}\n# 外\n") == [(1, "外", "# 外")]


def test_code_within_a_line_opens_no_fence() -> None:
    assert headings("```ls```\n# 外\n") == [(1, "外", "# 外")]


def test_lines_may_end_as_on_windows() -> None:
    found = content("---\r\ntitle: 規程\r\n---\r\n# 総則\r\n\r\n目的\r\n---\r\n本文。\r\n")
    assert (found.title, found.text[found.start :][:4]) == ("規程", "# 総則")
    assert [found.text[each.start : each.end].strip() for each in found.headings] == ["# 総則", "目的\r\n---"]
    assert [each.text for each in found.headings] == ["総則", "目的"]


@given(st.lists(LINES, max_size=25), st.sampled_from(["\n", "\r\n"]))
def test_headings_come_in_order_and_hold_their_lines(lines: list[str], end: str) -> None:
    found = content(end.join(lines))
    reached = found.start
    for heading in found.headings:
        assert reached <= heading.start < heading.end <= len(found.text)
        assert heading.start == 0 or found.text[heading.start - 1] == "\n"
        assert heading.end == len(found.text) or found.text[heading.end] == "\n"
        written = found.text[heading.start : heading.end]
        assert heading.text in written
        assert written.strip().startswith("#") or written.rstrip()[-1] in "=-"
        reached = heading.end


def test_the_text_stays_as_it_was_written() -> None:
    text = "---\ntitle: 題\n---\n# 見出し  \n\n* a\n\t**b**\r\n"
    assert content(text).text == text


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 前書きの題\n---\n# 見出し\n", "前書きの題"),
        ("---\ntitle: 2024-04-01\n---\n# 見出し\n", "2024-04-01"),
        ("---\nauthor: 山田\n---\n## 節\n# 見出し\n", "見出し"),
        ("---\ntitle: '  '\n---\n# 見出し\n", "見出し"),
        ("---\ntitle: [a, b]\n---\n# 見出し\n", "見出し"),
        ("#\n# 見出し\n", "見出し"),
        ("## 節だけ\n", None),
        ("", None),
    ],
)
def test_the_title_is_the_front_matters_or_the_first_headings(text: str, title: str | None) -> None:
    assert content(text).title == title


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("close", ["---", "...", "---  "])
def test_front_matter_is_read_and_is_no_part_of_the_body(mark: str, close: str) -> None:
    found = content(f"{mark}---\ndepartment: 人事\ndate: 2024-04-01\ntags: [a, b]\n{close}\n本文\n")
    assert dict(found.metadata) == {"department": "人事", "date": date(2024, 4, 1), "tags": ["a", "b"]}
    assert found.text[found.start :] == "本文\n"
    assert found.warnings == ()


def test_empty_front_matter_says_nothing() -> None:
    found = content("---\n---\n本文\n")
    assert (dict(found.metadata), found.text[found.start :]) == ({}, "本文\n")


@pytest.mark.parametrize(
    "text", ["---\n\n本文です\n\n---\n\n続き\n", "---\n- 項目\n---\n続き\n", "---\ntitle: 閉じない\n"]
)
def test_prose_between_rules_stays_in_the_body(text: str) -> None:
    found = content(text)
    assert (found.start, dict(found.metadata), found.warnings) == (0, {}, ())


LAUGHS = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
MERGES = "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 30))


@pytest.mark.parametrize(
    "written",
    [
        "title: [閉じない",
        "a: b\n\tc: d",
        "date: 2024-13-45",
        "a: !!int ''",
        "a: !!timestamp x",
        "a: !!python/object/apply:os.system [ls]",
        "[a]: b",
        "a: " + "[" * 1_000,
        "a: 0x" + "f" * 5_000,
        "title: 0x" + "f" * 5_000,
        "0x" + "f" * 5_000 + ": a",
        'title: "\\ud800"',
        'title: "a\\0b"',
        "a: &a [*a]",
        "a0: &a0 [x]\n" + LAUGHS,
        "a0: &a0 {x: y}\n" + MERGES,
        "a: b\n" * 100_000,
    ],
    ids=lambda written: written[:20],
)
def test_broken_front_matter_is_warned_of_and_the_file_still_read(written: str) -> None:
    begun = time.process_time()
    found = content(f"---\n{written}\n---\n# 題名\n本文\n")
    assert time.process_time() - begun < 5
    assert (found.title, dict(found.metadata)) == ("題名", {})
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith("front matter is not valid YAML: ")
    assert found.start == 0  # nothing is lost


@pytest.mark.parametrize(
    "written",
    [
        "---\nconfidentiality： secret\n---\n# 処分\n",
        "---\nｃｏｎｆｉｄｅｎｔｉａｌｉｔｙ: secret\n---\n# 処分\n",
        "\n---\nconfidentiality: secret\n---\n# 処分\n",
        "---\nconfidentiality: secret\n# 処分\n本文\n",
        "---\nconfidentiality: secret\nconfidentiality: public\n---\n# 処分\n",
        "---\nDepartment: 人事\ndepartment: 総務\n---\n# 処分\n",
        "---\naccess:\n  confidentiality: secret\n---\n# 処分\n",
        '+++\nconfidentiality = "secret"\n+++\n# 処分\n',
    ],
)
def test_who_may_read_it_written_so_that_it_is_not_read_refuses_the_file(written: str) -> None:
    with pytest.raises(Unreadable, match="cannot be read as front matter"):
        read(written.encode())


@pytest.mark.parametrize(
    "written",
    [
        "---\nauthor:\n  department: 人事\n---\n本文\n",
        "---\ntitle: 規程\n...\nconfidentiality: とは何か\n",
        "# 用語\nconfidentiality: 機密性\n---\ndepartment: 部署\n---\n",
        "---\n区切り線の下の本文。\n\nconfidentiality: 機密性\n",
    ],
)
def test_words_about_access_elsewhere_are_text(written: str) -> None:
    assert read(written.encode()).text == written


def test_front_matter_is_read_in_markdown_alone_so_a_text_that_has_it_is_refused() -> None:
    written = "---\nconfidentiality: secret\n---\n本文\n".encode()
    assert read(written).metadata == {"confidentiality": "secret"}
    with pytest.raises(Unreadable, match="cannot be read as front matter"):
        text.read(written)


@pytest.mark.parametrize(
    "key", ["confidentiality: secret", "Department: 人事", '"department": 人事', "  confidentiality : x"]
)
def test_broken_front_matter_that_limits_who_may_read_keeps_the_file_out(key: str) -> None:
    with pytest.raises(Unreadable, match="confidentiality or department"):
        content(f"---\ntitle: [閉じない\n{key}\n---\n本文\n")


@pytest.mark.parametrize(
    "text",
    [
        "#" + " " * 1_000_000 + "\rx\n",
        "# a" + " " * 1_000_000 + "b\n",
        "# a" + " #" * 500_000 + "b\n",
        "`" * 1_000_000 + "\rx\n",
        "=" * 1_000_000 + "x\n",
        "a\n" + "-\n" * 200_000,
        "---\n" + "本文\n" * 500_000,
        "---\n[broken\n" + "\n" * 500_000 + "---\n",
        "# 見出し\n本文\n" * 100_000,
    ],
    ids=["spaces", "inner spaces", "marks", "ticks", "underline", "rules", "open", "blank lines", "headings"],
)
def test_no_line_is_read_more_than_a_few_times(text: str) -> None:
    begun = time.process_time()
    assert content(text).text == text
    assert time.process_time() - begun < 5
