"""What a question is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.questions import subject, topic
from shirube.text.tokenize import words


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("出張の日当はいくら", ["出張", "日当"]),
        ("AEDはどこにありますか。", ["aed", "有る"]),
        ("社員教育について教えてください", ["社員", "教育"]),
        ("副業の承認は誰が決めるのか", ["副業", "承認", "決める"]),
        ("副業 許可 条件", ["副業", "許可", "条件"]),
        ("手当", ["手当"]),
        ("出張手当の金額は？", ["出張", "手当"]),
        ("金額は？", ["金額"]),
        ("金額の欄", ["金額", "欄"]),
    ],
)
def test_words_that_only_ask_are_left_out(question: str, about: list[str]) -> None:
    assert words(subject(question)) == about


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("How much is the remote work allowance?", "remote work allowance"),
        ("What does the IT help desk do?", "IT help desk"),
        ("WHERE IS THE OFFICE", "office"),
        ("Can I work from home?", "work home"),
    ],
)
def test_english_words_that_carry_no_subject_are_left_out(question: str, about: str) -> None:
    assert words(topic(question)) == words(about)


def test_an_english_question_of_nothing_else_stays_as_it_is() -> None:
    assert topic("How much is it?") == "How much is it?"


@pytest.mark.parametrize("query", ["IT部門の連絡先", "The Beatles の曲", "A to Z 方式"])
def test_latin_words_in_a_japanese_query_stay(query: str) -> None:
    assert words(topic(query)) == words(query)


@pytest.mark.parametrize("question", ["いくら", "どこですか？", "何", "いつ", "？", ""])
def test_a_question_of_nothing_else_stays_as_it_is(question: str) -> None:
    assert subject(question) == topic(question) == question


@pytest.mark.parametrize(
    "text", ["ぶどう狩り", "3日ほどの休暇", "幾何の定理", "いつも通り", "なだれ 注意", "じどうしゃ通勤"]
)
def test_words_that_only_contain_asking_letters_stay(text: str) -> None:
    assert subject(text) == text


@given(st.text(alphabet="何いくらどこ誰教えてくださいですかの。？社員 ", max_size=60))
def test_something_is_always_left_of_any_question(question: str) -> None:
    assert len(subject(question)) == len(question)


@pytest.mark.parametrize("query", ["副業について", "副業について教えて", "副業についてを知りたい", "副業"])
def test_what_a_query_is_about_is_not_about(query: str) -> None:
    assert words(subject(query)) == ["副業"]
