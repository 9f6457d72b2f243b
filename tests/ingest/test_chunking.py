"""Passages: every letter in one, none across a heading, each with its exact place."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.ingest.chunking import OVERLAP, TARGET, passages
from shirube.ingest.readers import html, markdown
from shirube.ingest.readers.contract import Content
from shirube.store.documents import Passage
from shirube.text.sentences import sentences

LONGEST_ROW = 2_000
SENTENCE = st.integers(1, 200).map(lambda length: "旅費、" * (length // 3) + "精算。")
LONG = st.integers(400, 1_500).map(lambda length: "、".join(["長文"] * (length // 3)) + "。")
UNBROKEN = st.integers(400, 1_500).map(lambda length: "字" * length)
SPACE = st.sampled_from([" ", "\n\n\n", " " * 700, "\n" * 700, "　\t\r\n"])
ROW = st.lists(st.integers(0, 300).map(lambda length: "説明。" * (length // 3)), min_size=1, max_size=6).map(
    lambda cells: f"| {' | '.join(cells)} |\n"
)
HEADING = st.builds(
    lambda level, name: f"\n{'#' * level} {name}\n", st.integers(1, 6), st.sampled_from(["目的", "範囲", ""])
)
UNDERLINED = st.sampled_from(["\n\n題名\n===\n", "\n\n節\n---\n"])
TEXT = st.lists(SENTENCE | SENTENCE | LONG | UNBROKEN | SPACE | ROW | HEADING | UNDERLINED, max_size=25).map(
    "".join
)


def read(text: str) -> tuple[Content, list[Passage]]:
    content = markdown.read(text.encode())
    return content, passages(content)


def body(content: Content) -> set[int]:
    """Where the letters of the body are: behind the front matter, outside headings, white space aside."""
    inside = set(range(content.start, len(content.text)))
    for heading in content.headings:
        inside -= set(range(heading.start, heading.end))
    return {at for at in inside if not content.text[at].isspace()}


def is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


@given(TEXT)
def test_every_letter_of_the_body_is_in_a_passage(text: str) -> None:
    content, found = read(text)
    assert body(content) <= {at for passage in found for at in range(passage.start, passage.end)}


@given(TEXT)
def test_a_passage_is_its_stretch_of_the_text_and_passages_come_in_order(text: str) -> None:
    content, found = read(text)
    for passage in found:
        assert passage.text == content.text[passage.start : passage.end]
        assert passage.text == passage.text.strip() != ""
    assert all(one.start < other.start and one.end < other.end for one, other in pairwise(found))


@given(TEXT)
def test_a_passage_is_at_most_500_characters_or_one_row_of_at_most_2000(text: str) -> None:
    for passage in read(text)[1]:
        if len(passage.text) > TARGET:
            assert "\n" not in passage.text
            assert len(passage.text) <= LONGEST_ROW
            assert is_row(text[text.rfind("\n", 0, passage.start) + 1 :])


@given(TEXT)
def test_no_passage_crosses_a_heading(text: str) -> None:
    content, found = read(text)
    for passage in found:
        for heading in content.headings:
            apart = passage.end <= heading.start or heading.end <= passage.start
            within = heading.start <= passage.start and passage.end <= heading.end
            assert apart or within


@given(TEXT)
def test_a_row_of_a_table_is_never_split(text: str) -> None:
    found = read(text)[1]
    at = 0
    for line in text.splitlines(keepends=True):
        first, last = at + len(line) - len(line.lstrip()), at + len(line.rstrip())
        if is_row(line) and last - first <= LONGEST_ROW:
            for passage in found:
                touched = passage.start < last and first < passage.end
                assert not touched or (passage.start <= first and last <= passage.end)
        at += len(line)


@given(TEXT)
def test_what_is_repeated_are_whole_sentences_of_at_most_75_characters(text: str) -> None:
    content, found = read(text)
    for before, after in pairwise(found):
        if after.start < before.end:
            assert before.end - after.start <= OVERLAP
            line = content.text.rfind("\n", 0, after.start) + 1
            borders = {line + start for start, _ in sentences(content.text[line : before.end])}
            assert after.start in borders or content.text[line : after.start].isspace()


def test_sentences_on_a_border_are_in_both_passages() -> None:
    text = "".join(f"これは{number:03}番目の文です。" for number in range(100))
    found = read(text)[1]
    shared = [before.end - after.start for before, after in pairwise(found)]
    assert all(60 < length <= OVERLAP for length in shared)
    assert all(450 < len(passage.text) <= TARGET for passage in found[:-1])


def test_the_path_holds_the_headings_above() -> None:
    text = "前文。\n# 総則\n一。\n## 目的\n二。\n#### 細目\n三。\n## 範囲\n四。\n# 附則\n五。\n"
    assert [(passage.text, passage.heading_path) for passage in read(text)[1]] == [
        ("前文。", ()),
        ("一。", ("総則",)),
        ("二。", ("総則", "目的")),
        ("三。", ("総則", "目的", "細目")),
        ("四。", ("総則", "範囲")),
        ("五。", ("附則",)),
    ]


def test_a_heading_with_nothing_below_it_is_found_itself() -> None:
    text = "# 目次\n## 削除\n## 第二章\n本文。\n\n題\n===\n\n#\n## 末尾"
    assert [(passage.text, passage.heading_path) for passage in read(text)[1]] == [
        ("## 削除", ("目次", "削除")),
        ("本文。", ("目次", "第二章")),
        ("題\n===", ("題",)),
        ("## 末尾", ("末尾",)),
    ]


def test_an_overlong_heading_is_cut_and_short_in_the_path() -> None:
    found = read(f"# {'長い題、' * 500}\n本文。\n## {'字' * 3_000}\n")[1]
    assert found[0].text == "本文。"
    assert "".join(passage.text for passage in found[1:]).count("字") == 3_000
    assert all(len(name) <= 200 for passage in found for name in passage.heading_path)


def test_front_matter_is_in_no_passage() -> None:
    assert [passage.text for passage in read("---\ntitle: 規程\n---\n本文。\n")[1]] == ["本文。"]


@pytest.mark.parametrize("text", ["", " \n\n", "---\ntitle: 規程\n---\n"])
def test_a_text_without_letters_has_no_passages(text: str) -> None:
    assert read(text)[1] == []


def test_what_begins_on_another_page_is_in_another_passage() -> None:
    text = "目的を定める。\n範囲は次の\n頁に続く。\n定年は60歳とする。\n"
    third = text.index("定年")
    found = passages(Content(text, pages=[0, text.index("頁に"), third]))
    assert [(each.text, each.page) for each in found] == [
        ("目的を定める。\n範囲は次の", 1),
        ("頁に続く。", 2),
        ("定年は60歳とする。", 3),
    ]


def test_a_passage_knows_the_page_it_begins_on() -> None:
    found = passages(Content("一文。" * 400, pages=[0, 300, 800]))
    assert {passage.page for passage in found} == {1, 2, 3}
    assert all(passage.page == 1 + (passage.start >= 300) + (passage.start >= 800) for passage in found)
    assert passages(Content("本文。"))[0].page is None


def test_rows_of_a_page_stay_whole() -> None:
    rows = "".join(f"<tr><td>項目{n}。</td><td>{'説明。' * 40}</td></tr>" for n in range(20))
    content = html.read(f"<h1>一覧</h1><table>{rows}</table>".encode())
    found = passages(content)
    assert len(found) > 1
    assert all(
        line.startswith("| 項目") and line.endswith(" |")
        for passage in found
        for line in passage.text.split("\n")
    )


def test_rows_below_the_cut_of_a_table_know_the_names_of_its_columns() -> None:
    table = "| コード | 限度額 |\n|---|---:|\n" + "".join(f"| C-{n:03} | {n}万円 |\n" for n in range(99))
    content, found = read(f"# 限度額\n\n一覧。\n\n{table}\n以上。\n\n| 内線 |\n| 1003 |\n")
    assert len(found) > 2
    assert found[0].columns == ()
    assert all(each.columns == ("コード", "限度額") for each in found if each.text.startswith("| C-"))
    assert all(content.text[each.start : each.end] == each.text for each in found)
    [other] = [each for each in found if "| 内線 |" in each.text]
    assert other.columns == (("コード", "限度額") if other.text.startswith("| C-") else ())


def test_the_rule_of_a_table_may_be_cut_from_its_head() -> None:
    head = "| コード | 限度額 |\n"
    before = "文です。" * ((TARGET - len(head)) // 4)
    _, found = read(f"{before}\n{head}|---|---|\n" + "| C-001 | 10万円 |\n" * 60)
    assert found[0].text.endswith(head.strip())
    below = [each for each in found if each.text.startswith(("|---|", "| C-"))]
    assert len(below) > 1
    assert {each.columns for each in below} == {("コード", "限度額")}


@pytest.mark.parametrize(
    ("text", "fewest"),
    [
        ("字" * 5_000_000, 10_000),
        ("短い文です。" * 200_000, 2_400),
        ("字\n" * 200_000, 800),
        ("| 項目 | 説明。 |\n" * 50_000, 1_300),
        ("# 見出し\n字\n" * 20_000, 20_000),
        ("字" + " " * 2_000_000 + "字", 2),
        ("| " + "字" * 2_000_000, 1_000),
        ("| 項目 | 説明 |\n|---|---|\n" + "| 休暇 | 年に20日。 |\n" * 50_000, 1_300),
        ("|" + "-" * 2_000_000 + "字\n| 項目 |\n", 1_000),
    ],
    ids=["one line", "sentences", "lines", "rows", "headings", "blanks", "one row", "table", "rule"],
)
def test_a_document_of_any_shape_is_cut_in_linear_time(text: str, fewest: int) -> None:
    content = markdown.read(text.encode())
    begun = time.process_time()
    assert len(passages(content)) >= fewest
    assert time.process_time() - begun < 8
