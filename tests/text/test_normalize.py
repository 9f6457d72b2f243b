"""Folding: what counts as the same text, and the way back to the characters as they were written."""

import sys
import time
import unicodedata
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shirube.text.normalize import fold, fold_with_map, without_ignorable

# Everything that normalisation joins, splits, moves or drops, beside what it leaves alone.
ODD = [
    *"ｶﾞﾊﾟｱｰ｡かがカパ゛゜゙゚ー",
    *"㈱㍿ﬁﬃİıßΐᾳᾴςſẞǰŉÅΩ①ⅣⅳＡｂ１～〜－—−",
    *"國髙﨑神葛𠮷",
    *"\u0301\u0323\u0308\u0344\u0345\u3099\u309a\u0338",
    *"\u1100\u1161\u11a8\uac00\u3131",
    *"\u0dd9\u0dca\u0dcf\u0f71\u0f72\u0f73",
    *"\u200b\u00ad\ufe0f\ufeff\u034f\u3164\U000e0100",
    *"aZ 9-\n、。「」",
]
TEXT = st.lists(st.sampled_from(ODD) | st.characters(exclude_categories=()), max_size=40).map("".join)
HEAVY = st.lists(st.sampled_from("a(ﾞ\u0301\u0323\u3164\u1161\u200bか"), max_size=150).map("".join)
# In a long text, overlong runs of marks are cut.
LONG = st.tuples(HEAVY, st.integers(0, 200)).map(
    lambda parts: parts[0] + "\u0301ﾞ\u0323" * parts[1] + "字" * 1_000
)


def marks_in_a_row(text: str) -> int:
    """The longest run of characters that a letter can carry."""
    longest = run = 0
    for char in text:
        first = unicodedata.normalize("NFKD", char)[0]
        carried = unicodedata.combining(first) or not without_ignorable(char)
        run = run + 1 if carried else 0
        longest = max(longest, run)
    return longest


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("ﾏｲﾅﾋﾞ", "マイナビ"),
        ("ＡＢＣ１２３", "abc123"),
        ("國體", "国体"),
        ("髙﨑", "高崎"),
        ("㈱ﾌﾞﾘｯｼﾞ", "(株)ブリッジ"),
        ("か\u3099", "が"),
        ("ﬁnal Straße", "final strasse"),
        ("東京〜大阪～神戸", "東京~大阪~神戸"),
        ("03－1234—5678", "03-1234-5678"),
        ("a\u2010b\u2011c\u2012d\u2013e\u2014f\u2015g\u2212h", "a-b-c-d-e-f-g-h"),
        ("コーヒー", "コーヒー"),
        ("葛\U000e0100飾", "葛飾"),
        ("神\ufe00社", "神社"),
        ("検\u200b索\u00ad語", "検索語"),
        ("", ""),
    ],
)
def test_ways_of_writing_one_thing_fold_to_one_form(written: str, folded: str) -> None:
    assert fold(written) == folded
    assert fold_with_map(written).text == folded


def test_a_long_vowel_is_not_a_dash() -> None:
    assert fold("サーバー") != fold("サ-バ-")


@given(TEXT | HEAVY | LONG)
@example("ﬁ\u0301")
@example("ｶ\u200bﾞ")
def test_the_map_belongs_to_the_folded_text(text: str) -> None:
    mapped = fold_with_map(text)
    assert mapped.text == fold(text)
    assert len(mapped.starts) == len(mapped.ends) == len(mapped.text)


@given(TEXT | HEAVY | LONG)
def test_folding_twice_changes_nothing(text: str) -> None:
    if marks_in_a_row(text) <= 32:
        assert fold(fold(text)) == fold(text)


def test_folding_a_single_character_twice_changes_nothing() -> None:
    assigned = [
        char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char) not in "CnCo"
    ]
    once = fold("\n".join(assigned))
    assert [
        pair for pair in zip(once.split("\n"), fold(once).split("\n"), strict=True) if len({*pair}) > 1
    ] == []


@given(TEXT | HEAVY | LONG)
def test_origins_go_forward_and_leave_no_visible_character_out(text: str) -> None:
    mapped = fold_with_map(text)
    reached = 0
    # Several characters may come from one stretch.
    for start, end in dict.fromkeys(zip(mapped.starts, mapped.ends, strict=True)):
        assert reached <= start < end <= len(text)
        assert without_ignorable(text[reached:start]) == ""
        reached = end
    assert without_ignorable(text[reached:]) == ""


@given(TEXT | HEAVY, st.data())
@example("ﬁ\u0301", None)
@example("x\u0301\u0323", None)
def test_what_is_found_in_the_folded_text_is_in_the_original_stretch(
    text: str, data: st.DataObject | None
) -> None:
    mapped = fold_with_map(text)
    if not mapped.text:
        return
    hits = list(combinations(range(len(mapped.text) + 1), 2))
    if data:
        start = data.draw(st.integers(0, len(mapped.text) - 1))
        hits = [(start, data.draw(st.integers(start + 1, len(mapped.text))))]
    for start, end in hits:
        first, last = mapped.origin(start, end)
        assert mapped.text[start:end] in fold(text[first:last])


def test_a_hit_is_cited_as_it_was_written() -> None:
    text = "旧姓は齋藤、勤め先は㈱ﾏｲﾅﾋﾞです。"
    mapped = fold_with_map(text)

    def cited(needle: str) -> str:
        at = mapped.text.index(needle)
        first, last = mapped.origin(at, at + len(needle))
        return text[first:last]

    assert cited("斎藤") == "齋藤"
    assert cited("マイナビ") == "ﾏｲﾅﾋﾞ"
    assert cited("株") == "㈱"
    assert cited("です。") == "です。"


def test_an_empty_hit_lies_between_two_characters() -> None:
    mapped = fold_with_map("ａｶﾞb")
    assert [mapped.origin(at, at) for at in range(4)] == [(0, 0), (1, 1), (3, 3), (4, 4)]
    assert fold_with_map("").origin(0, 0) == (0, 0)


def test_every_character_that_joins_the_one_before_is_known() -> None:
    """Against the Unicode data of this interpreter: a pair that composes must not be folded apart."""
    apart = []
    for code in range(sys.maxunicode + 1):
        parts = unicodedata.normalize("NFD", chr(code))
        if len(parts) > 1 and unicodedata.normalize("NFC", parts) == chr(code):
            mapped = fold_with_map(parts)
            if mapped.text != fold(chr(code)) or set(mapped.ends) != {len(parts)}:
                apart.append(hex(code))
    assert apart == []


@pytest.mark.parametrize(
    "text",
    [
        "e" + "\u0301\u0323" * 100_000,
        "か" + "ﾞ\u0301\u0323" * 70_000,
        ("\u0301\u0323" * 15 + "\u3164") * 7_000,
        ("\u0301\u0323" * 15 + "\u200b") * 7_000,
        "\u0f73" * 200_000,
        "\u1161" * 200_000,
        "(" * 200_000 + "\u0301",
    ],
    ids=["marks", "half-width voicing", "fillers", "zero width", "Tibetan", "vowels", "brackets"],
)
def test_marks_without_end_take_no_time_without_end(text: str) -> None:
    begun = time.process_time()
    assert fold_with_map(text).text == fold(text)
    assert time.process_time() - begun < 5
