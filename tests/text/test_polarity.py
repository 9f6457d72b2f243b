"""Whether a sentence affirms or denies."""

import time

import pytest

from shirube.text.polarity import asks_for_denied, denies, polarities


@pytest.mark.parametrize(
    "sentence",
    [
        "手当は支給しない。",
        "手当は支給しません。",
        "手当は支給されませんでした。",
        "持ち出してはならない。",
        "持ち出しは禁止する。",
        "持ち出しは禁止されています。",
        "申請は不要です。",
        "副業は不可とする。",
        "4日未満の月は支給なし",
        "犬及び猫を除く。",
        "You are not paid.",
        "You can't work abroad.",
        "Smoking is prohibited.",
    ],
)
def test_a_sentence_denies(sentence: str) -> None:
    assert denies(sentence)
    assert polarities(sentence) == {True}


@pytest.mark.parametrize(
    "sentence",
    [
        "手当を支給する。",
        "申請しなければならない。",
        "必ず提出する。",
        "在宅勤務をしてもかまいません。",
        "扶養親族がない者に支給する。",
        "地域（香港を除く。）に支給する。",
        "費用は少ない。",
        "まず申請する。",
        "You get no more than three days.",
        "You are paid on the 25th.",
    ],
)
def test_a_sentence_affirms(sentence: str) -> None:
    assert not denies(sentence)
    assert False in polarities(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "宿泊費を支給せず、日当を支給する。",
        "申請は不要で、給与とともに支払う。",
        "原則は認めるが、犬は認めない。",
    ],
)
def test_a_sentence_of_several_clauses_may_do_both(sentence: str) -> None:
    assert polarities(sentence) == {True, False}


@pytest.mark.parametrize("text", ["ない" * 50_000, "ないです" * 25_000, "なし、" * 30_000, "(" * 100_000])
def test_any_text_is_read_in_one_pass(text: str) -> None:
    begun = time.process_time()
    polarities(text)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("question", "is_denied"),
    [
        ("退職金が支給されないのはどんな場合ですか", True),
        ("経費にならないものは何ですか", True),
        ("申請できない人", True),
        ("退職金が支給されるのはどんな場合ですか", False),
        ("届け出なければならないのは誰ですか", False),
        ("When is it not paid?", True),
        ("When is it paid?", False),
    ],
)
def test_a_question_may_ask_for_what_is_denied(question: str, is_denied: bool) -> None:
    assert asks_for_denied(question) is is_denied
