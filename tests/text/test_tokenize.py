"""Words and bigrams: what is found under one name, and what an index is made of."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text import tokenize as module
from shirube.text.normalize import fold
from shirube.text.tokenize import bigrams, joined_bigrams, words, words_and_borders

MIXED = st.lists(
    st.sampled_from(
        [*"東京都あアｱﾞー、。 　\n-_.!", *"aZ9é", *"𠮷🍣", "\ud800", "\u0301", "\u200b", "㍿", "①"]
    )
    | st.characters(exclude_categories=()),
    max_size=30,
).map("".join)


def naive_bigrams(text: str) -> list[str]:
    """Character by character, as the words of the specification have it."""
    found: list[str] = []
    run = latin = ""
    for char in [*fold(text), " "]:
        is_latin = char.isascii() and char.isalnum()
        is_letter = not char.isascii() and (char.isalnum() or ord(char) > 0xFFFF)
        if latin and not is_latin:
            found.append(latin)
            latin = ""
        if run and not is_letter:
            found += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
            run = ""
        latin += char if is_latin else ""
        run += char if is_letter else ""
    return found


@pytest.mark.parametrize(
    "written",
    [
        ("サーバ", "サーバー", "ｻｰﾊﾞｰ", "ｻｰﾊﾞ"),
        ("引越", "引っ越し", "引越し"),
        ("ユーザ", "ユーザー", "ﾕｰｻﾞ"),
        ("シュミレーション", "シミュレーション"),
        ("ＰＤＦ", "pdf", "PDF"),
        ("葛飾", "葛\U000e0100飾"),
    ],
)
def test_spellings_of_one_word_are_one_word(written: tuple[str, ...]) -> None:
    assert len({tuple(words(each)) for each in written}) == 1
    assert words(written[0])


def test_particles_auxiliaries_and_signs_are_left_out() -> None:
    assert words("東京の本社へ行きました（昨日）、そして…！") == ["東京", "本社", "行く", "昨日", "そして"]


def test_amounts_written_in_two_ways_share_their_number() -> None:
    assert words("1,000万円") == words("10000000円") == words("１０００万円") == ["10000000", "円"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (("三月三日", "3月3日", "３月３日"), ["3", "月", "3", "日"]),
        (("二千二十六年", "二〇二六年", "2026年", "2,026年"), ["2026", "年"]),
        (("1.5億円", "1億5,000万円", "一億五千万円"), ["150000000", "円"]),
        (("3.50", "3.5"), ["3.5"]),
        (("1, 2", "1,2", "1 2", "1-2"), ["1", "2"]),
        (("192.168.0.1",), ["192", "168", "0", "1"]),
        (("007",), ["007"]),
        (("一人で十分、千葉の五十嵐",), ["一人", "十分", "千葉", "五十嵐"]),
        (("9" * 5000,), ["9" * 5000]),
    ],
)
def test_a_number_is_one_word_in_any_notation(written: tuple[str, ...], expected: list[str]) -> None:
    assert [words(each) for each in written] == [expected] * len(written)


def test_a_point_after_a_number_ends_the_sentence() -> None:
    assert words_and_borders("1. 総則") == ["1", "", "総則"]
    assert words_and_borders("3.5") == ["3.5"]


@pytest.mark.parametrize("written", [".com", "．ＣＯＭ", "com", "com."])
def test_a_full_stop_is_no_part_of_a_word(written: str) -> None:
    assert words(written) == ["com"]


def test_sentences_and_lines_end_with_a_border() -> None:
    assert words_and_borders("規程を読む。手当は？\n支給額") == [
        "規程",
        "読む",
        "",
        "手当",
        "",
        "",
        "支給",
        "額",
    ]
    assert words_and_borders("A社\nB社") == ["a", "社", "", "b", "社"]


@given(MIXED)
def test_words_are_the_tokens_between_the_borders(text: str) -> None:
    marked = words_and_borders(text)
    assert words(text) == [word for word in marked if word]
    assert all(not any(char.isspace() for char in word) for word in marked)


@pytest.mark.parametrize(
    ("part", "times", "expected"),
    [
        ("電池の寿命。", 17_000, 34_000),
        ("電池", 50_000, 50_000),
        ("㍿", 20_000, 40_000),
        ("\ufdfa電池", 9_000, 9_000),
    ],
    ids=["sentences", "no full stop", "letters that grow", "one letter that becomes eighteen"],
)
def test_a_text_of_any_length_gives_all_its_words(part: str, times: int, expected: int) -> None:
    found = words(part * times)
    assert len(found) == expected
    assert set(found) == set(words(part))


def test_half_a_surrogate_pair_parts_what_stands_around_it() -> None:
    assert words("電池\ud800寿命\udfff") == ["電池", "寿命"]
    assert bigrams("電池\ud800寿命\udfff") == ["電池", "寿命"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("東京都", ["東京", "京都"]),
        ("東京 都", ["東京", "都"]),
        ("東京、大阪。", ["東京", "大阪"]),
        ("第3条", ["第", "3", "条"]),
        ("生成AI技術を2024年", ["生成", "ai", "技術", "術を", "2024", "年"]),
        ("ISO-9001 v2", ["iso", "9001", "v2"]),
        ("ﾏｲﾅﾋﾞ", ["マイ", "イナ", "ナビ"]),
        ("𠮷野", ["吉野"]),
        ("🍣", ["🍣"]),
        ("あ", ["あ"]),
        ("!?", []),
    ],
)
def test_bigrams_stay_within_a_run_and_in_order(text: str, expected: list[str]) -> None:
    assert bigrams(text) == expected


@given(MIXED)
def test_bigrams_agree_with_a_plain_reading_of_their_definition(text: str) -> None:
    assert bigrams(text) == joined_bigrams(text).split() == naive_bigrams(text)


def test_threads_give_the_answers_of_one_thread() -> None:
    texts = [
        f"第{number}条　従業員は、出張の{number}日前までに申請書を提出する。ｻｰﾊﾞ{number}台。"
        for number in range(200)
    ]
    alone = [(words_and_borders(text), joined_bigrams(text)) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: (words_and_borders(text), joined_bigrams(text)), texts * 3))
    assert together == alone * 3


def test_words_are_found_without_a_place_for_temporary_files(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    usual = words("未知のグミョンガを規程に書く。")

    def full() -> None:
        raise OSError("no space left")

    module._dictionary.cache_clear()
    monkeypatch.setattr(module, "TemporaryDirectory", full)
    monkeypatch.setattr(module, "_threads", threading.local())
    assert words("未知のグミョンガを規程に書く。") == usual
    assert "unknown words" in caplog.text
    module._dictionary.cache_clear()


def test_a_word_of_the_dictionary_is_the_same_the_second_time() -> None:
    module._known_words.clear()
    text = "打ち合わせは、1,000円の引越しと〆切。ホゲラリョンも。"
    first = words(text)
    assert module._known_words
    assert words(text) == first
    assert "ホゲラリョン" in first
