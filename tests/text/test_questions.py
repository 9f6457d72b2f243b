"""What a question is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.questions import subject


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("出張の日当はいくら", "出張の日当"),
        ("AEDはどこにありますか。", "AED にあり 。"),
        ("社員教育について教えてください", "社員教育"),
        ("副業の承認は誰が決めるのか", "副業の承認 が決める"),
        ("リモートワーク手当の金額は？", "リモートワーク手当の金額は"),
        ("副業 許可 条件", "副業 許可 条件"),
        ("手当", "手当"),
    ],
)
def test_words_that_only_ask_are_left_out(question: str, about: str) -> None:
    assert subject(question) == about


@pytest.mark.parametrize("question", ["いくら", "どこですか？", "何", "いつ", "？"])
def test_a_question_of_nothing_else_stays_as_it_is(question: str) -> None:
    assert subject(question) == question


def test_words_that_only_look_like_asking_stay() -> None:
    assert subject("何人以上の会議") == "何人以上の会議"


@given(st.text(alphabet="何いくらどこ誰教えてくださいですかの。？社員 ", max_size=60))
def test_something_is_always_left_of_any_question(question: str) -> None:
    assert subject(question) or not question
