"""What a language model wrote, cut into sentences with what each rests on."""

import time

import pytest

from shirube.toolsets.answers.support import Passage
from shirube.toolsets.answers.written import MOST_SENTENCES, supported

RULE = Passage("在宅勤務規程", "リモートワーク手当は月額5,000円とする。副業には会社の許可が必要である。")
SUMMER = Passage("夏季休暇", "夏季休暇は7月から9月までに3日とする。")
WINTER = Passage("年末年始休暇", "年末年始の休暇は12月29日から1月3日までとする。")


def texts(written: str, *passages: Passage) -> list[tuple[str, list[int]]]:
    parts, _ = supported(written, passages or (RULE,))
    return [(part.text, [rest.source for rest in part.rests]) for part in parts]


@pytest.mark.parametrize(
    "written",
    [
        "手当は月額5,000円です[1]。",
        "手当は月額5,000円です。[1]",
        "手当は月額5,000円です。 [1]",
        "手当は月額5,000円です（[1]）。",
        "手当は[1]月額5,000円です。",
        "[1] 手当は月額5,000円です。",
        "[1]によると、手当は月額5,000円です。",
        "According to [1], 手当は月額5,000円です。",
        "手当は月額5,000円です。",
        "手当は月額5,000円です[1][1]。",
    ],
)
def test_a_mark_in_any_place_leaves_the_sentence_whole(written: str) -> None:
    assert texts(written) == [("手当は月額5,000円です。", [0])]


def test_each_sentence_keeps_its_own_mark() -> None:
    written = (
        "夏季休暇は7月から9月までに3日です[1]。年末年始の休暇は12月29日からです。[2]\n[1] 夏季休暇は3日です。"
    )
    assert texts(written, SUMMER, WINTER) == [
        ("夏季休暇は7月から9月までに3日です。", [0]),
        ("年末年始の休暇は12月29日からです。", [1]),
        ("夏季休暇は3日です。", [0]),
    ]


def test_a_wrong_mark_is_put_right() -> None:
    assert texts("夏季休暇は3日です[2]。", SUMMER, WINTER) == [("夏季休暇は3日です。", [0])]


def test_a_sentence_that_rests_on_two_passages_names_both() -> None:
    sentence = "夏季休暇は7月から9月までに3日、年末年始の休暇は12月29日から1月3日までです"
    assert texts(f"{sentence}[1][2]。", SUMMER, WINTER) == [(f"{sentence}。", [0, 1])]


def test_what_is_not_supported_is_left_out_and_that_is_said() -> None:
    parts, whole = supported("手当は月額5,000円です[1]。手当は月額8,000円です[1]。", [RULE])
    assert [part.text for part in parts] == ["手当は月額5,000円です。"]
    assert not whole
    assert supported("手当は月額5,000円です[1]。", [RULE])[1]


def test_no_more_than_a_few_sentences_are_read() -> None:
    parts, whole = supported("手当は月額5,000円です[1]。" * 100, [RULE])
    assert len(parts) == MOST_SENTENCES
    assert not whole


def test_a_long_answer_to_many_passages_is_checked_in_a_moment() -> None:
    passage = "副業をしようとする従業員は、会社が定める様式の申請書を人事部に提出するものとする。" * 10
    passages = [Passage(f"副業規程{number}", passage) for number in range(100)]
    begun = time.process_time()
    supported("空文である。" * 600, passages)
    assert time.process_time() - begun < 10
