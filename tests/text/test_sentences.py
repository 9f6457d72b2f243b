"""Sentence borders: no character lost, quotations whole, any input in one pass."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.sentences import sentences

TEXT = (
    st.lists(st.sampled_from("あ漢a A1。．！？!?.｡「」『』（）()[]【】｢｣ 　\t\n\r"), max_size=80).map("".join)
    | st.text()
)


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["「はい。」と答えた。"],
        ["申請する。", "承認を得る。"],
        ["本当ですか？！", "はい。"],
        ["彼は「行く。すぐに行く。」と言った。", "私も行く。"],
        ["（注。これは例である。）続き。", "次。"],
        ["題名\n", "本文。"],
        ["一行目\n\n\n", "二行目"],
        ["終わり。　\n", "次"],
        ["This is one. ", "That is two. ", "Is it? ", "Yes."],
        ["Version 3.14 of e.g. this one. ", "Next."],
        ["金額は1.5万円。", "税別。"],
        ["終わり。」", "次。"],
        ["ﾃｽﾄ｡", "ﾃｽﾄ｡"],
        ["URLはhttps://example.com/a.b?c=d です。", "次。"],
        ["See www.example.com/?q=1 now. ", "Next."],
        ["本当?", "yes."],
        ["https://example.com/ か?", "はい。"],
        ["句点がない"],
        [],
    ],
)
def test_a_text_is_cut_where_a_reader_would(parts: list[str]) -> None:
    assert cut("".join(parts)) == parts


@given(TEXT)
def test_every_character_is_in_exactly_one_sentence(text: str) -> None:
    spans = sentences(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    assert all(before[1] == after[0] for before, after in pairwise(spans))


@given(TEXT, TEXT)
def test_a_line_break_always_ends_a_sentence(before: str, after: str) -> None:
    for start, end in sentences(f"{before}\n{after}"):
        inner = f"{before}\n{after}"[start:end].rstrip()
        assert "\n" not in inner.lstrip()


@given(TEXT.filter(lambda text: text.strip() == text and "\n" not in text), TEXT)
def test_the_lines_before_have_no_say(line: str, before: str) -> None:
    """Whatever was left open above, a line is cut as if it stood alone."""
    assert cut(f"{before}\n")[-1:] + cut(line) == cut(f"{before}\n{line}")[-len(cut(line)) - 1 :]


def test_a_bracket_left_open_does_not_swallow_the_document() -> None:
    text = "（閉じ忘れ。" + "次の文です。" * 200
    assert len(cut(text)) > 150
    assert max(map(len, cut(text))) < 250


def test_a_long_quotation_left_open_ends_with_its_line() -> None:
    assert cut("「閉じ忘れ。\n次の文。その次。") == ["「閉じ忘れ。\n", "次の文。", "その次。"]


@pytest.mark.parametrize(
    "text",
    [
        "（" * 1_000_000,
        "「」" * 500_000,
        "。" * 1_000_000,
        "「。" * 500_000,
        ". " * 500_000,
        "\n" * 1_000_000,
        "://" + "a?" * 500_000,
        "://" * 300_000 + "?a",
    ],
    ids=["open", "pairs", "stops", "stops in brackets", "English stops", "lines", "address", "addresses"],
)
def test_a_million_signs_are_cut_in_one_pass(text: str) -> None:
    begun = time.process_time()
    assert sum(end - start for start, end in sentences(text)) == len(text)
    assert time.process_time() - begun < 5
