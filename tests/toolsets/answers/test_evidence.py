"""Which statements of a passage may answer a question, and which of them best."""

from itertools import permutations

from shirube.toolsets.answers.evidence import Question


def test_the_number_of_an_article_is_no_word_of_it() -> None:
    question = Question("3日の休暇", lambda tokens: dict.fromkeys(tokens, 1.0))
    [best] = question.telling("規程 › 第3条（休暇）", "休暇は5日とする。")
    assert best.share < 1
    asked_for = Question("第3条の休暇", lambda tokens: dict.fromkeys(tokens, 1.0))
    assert asked_for.telling("規程 › 第3条（休暇）", "休暇は5日とする。")[0].share == 1


def test_words_of_any_sentence_choose_none() -> None:
    question = Question("変更の必要がある時", lambda tokens: dict.fromkeys(tokens, 1.0))
    text = "必要がある時の方針を定める。変更は届け出る。"
    assert question.telling("", text)[0].text == "変更は届け出る。"


def test_the_words_of_a_question_weigh_the_same_in_any_order() -> None:
    weights = {word: 1 / (number + 3) for number, word in enumerate("副業 許可 条件 申請 期限".split())}
    text = "副業の許可の条件と申請の期限を定める。"
    shares = {
        Question("".join(f"{word}の" for word in order), lambda tokens: {t: weights[t] for t in tokens})
        .telling("", text)[0]
        .fit
        for order in permutations(weights)
    }
    assert len(shares) == 1


def test_a_row_is_chosen_by_its_own_cells_alone() -> None:
    question = Question("課長の日当", lambda tokens: dict.fromkeys(tokens, 1.0))
    table = "| 等級 | 日当 |\n|---|---|\n| 部長 | 3,000円 |\n| 課長 | 2,500円 |"
    assert [each.text for each in question.telling("", table)] == ["等級：課長 / 日当：2,500円"]
