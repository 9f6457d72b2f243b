"""What a passage states: sentences in one line each, rows with the names of their columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.tables import names_above
from shirube.toolsets.answers.statements import listed_after, statements

TABLE = "| 等級 | 日当 |\n|---|---:|\n| G1 | 2,000円 |\n| G4 | 3,000円 |\n"


def test_a_row_is_shown_with_the_names_of_its_columns_and_the_head_states_nothing() -> None:
    found = statements(f"日当は次のとおりとする。\n\n{TABLE}\nただし、役員を除く。")
    assert [each.text for each in found] == [
        "日当は次のとおりとする。",
        "等級：G1 / 日当：2,000円",
        "等級：G4 / 日当：3,000円",
        "ただし、役員を除く。",
    ]
    assert [each.own for each in found if each.is_row] == ["G1 / 2,000円", "G4 / 3,000円"]


def test_rows_without_a_head_are_shown_as_they_are() -> None:
    assert [each.text for each in statements("| G1 | 2,000円 |\n| G4 | 3,000円 |")] == [
        "G1 / 2,000円",
        "G4 / 3,000円",
    ]


def test_a_full_stop_within_a_cell_ends_no_row() -> None:
    [row] = statements("| 項目 | 説明 |\n|---|---|\n| 副業 | 許可制。申請する。 |")
    assert row.text == "項目：副業 / 説明：許可制。申請する。"


def test_a_head_alone_states_nothing() -> None:
    assert statements("| 等級 | 日当 |\n|---|---|") == []


NAMED = "| 契約種別: 売買 | 保管場所: 書庫 |\n| 契約種別: 委託 | 保管場所: 3階 |\n"


def test_rows_that_name_their_columns_are_shown_as_they_stand_without_the_head_above_them() -> None:
    found = statements(f"次の表による。\n| 契約種別 | 保管場所 |\n{NAMED}")
    assert [each.text for each in found] == [
        "次の表による。",
        "契約種別: 売買 / 保管場所: 書庫",
        "契約種別: 委託 / 保管場所: 3階",
    ]
    assert [each.own for each in found if each.is_row] == ["売買 / 書庫", "委託 / 3階"]
    assert found[1].cells == (("契約種別", "売買"), ("保管場所", "書庫"))


def test_a_head_of_several_lines_states_nothing() -> None:
    text = "| 役職 | 日当 |\n| 国内 | 海外 |\n| 役職: 課長 | 日当 国内: 3,000円 | 日当 海外: 7,000円 |"
    assert [each.own for each in statements(text)] == ["課長 / 3,000円 / 7,000円"]


def test_a_blank_corner_of_a_head_leaves_the_other_names() -> None:
    [row] = statements("| | 国内 | 海外 |\n| 課長 | 国内: 3 | 海外: 7 |")
    assert (row.text, row.own) == ("課長 / 国内: 3 / 海外: 7", "課長 / 3 / 7")


def test_rows_are_named_where_their_head_stands_in_another_passage() -> None:
    assert [each.own for each in statements(NAMED)] == ["売買 / 書庫", "委託 / 3階"]


def test_a_cell_with_a_colon_is_no_name_by_itself() -> None:
    [row] = statements("| 総務部 | 受付: 9時から |")
    assert row.own == "総務部 / 受付: 9時から"


def test_a_head_that_was_cut_from_its_rows_states_nothing() -> None:
    before = "契約書の保管は次の表による。" * 30
    assert all(not each.is_row for each in statements(f"{before}\n| 契約種別 | 保管場所 |"))
    assert statements("問い合わせは次のとおり。\n| 問い合わせ先 | 総務部 |")[-1].is_row
    assert statements(f"{before}\n| 問い合わせ先 | 03-1234-5678 |")[-1].is_row


def test_a_row_alone_is_known() -> None:
    assert [each.is_alone for each in statements("| 社名: みちびき | 設立: 1987年 |")] == [True]
    assert [each.is_alone for each in statements(NAMED)] == [False, False]


@pytest.mark.parametrize("fence", ["```", "~~~", "```text", "   ````"])
def test_fences_of_code_state_nothing_and_what_is_between_them_does(fence: str) -> None:
    text = f"手順を示す。\n\n{fence}\n反映は木曜日に行う。\n{fence.strip()}\n以上とする。"
    found = statements(text)
    assert [each.text for each in found] == ["手順を示す。", "反映は木曜日に行う。", "以上とする。"]
    assert all(text[each.start : each.end].strip() == each.text for each in found)


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("次の各号を満たす者とする。\n1. 一年勤めたこと。\n2. 許可を得たこと。\n\n以上とする。", 2),
        ("以下のとおりとする：\n- 本社の受付\n- 支社の受付\n", 2),
        ("次に掲げる者とする。\n一　一年勤めた者\n二　許可を得た者\n２　前項の者は届け出る。", 2),
        ("2. 次の者は除く。\n(1) 役員である者\n(2) 嘱託である者\n3. 前項の者は届け出る。", 2),
        ("次の書類を出す。（1）申請書の写し。二部とする。（2）誓約書の写し。", 3),
        ("次の書類を出す。\n① 申請書の写し。\n   原本も見せること。\n② 誓約書の写し。", 3),
        ("次の表による。\n| 部長 | 3,000円 |\n| 課長 | 2,000円 |\n以上とする。", 2),
        ("次の者とする。部長が決める。\n1. 一年勤めたこと。", 0),
        ("書類を提出する。\n1. 申請書の写し。\n2. 誓約書の写し。", 0),
        ("次のとおりとする。", 0),
    ],
)
def test_what_a_sentence_introduces_is_found_to_its_end(text: str, listed: int) -> None:
    found = statements(text)
    assert list(listed_after(found, 0)) == found[1 : 1 + listed]


def test_what_says_nothing_alone_stands_in_one_line_with_what_follows() -> None:
    assert [each.text for each in statements("1.\n申請書を提出する。")] == ["1. 申請書を提出する。"]


def test_a_sentence_that_asks_is_seen() -> None:
    asking = ["使えますか？", "使えますか。", "いくらでしょうか", "Is it free?"]
    assert all(each.asks for text in asking for each in statements(text))
    assert not any(each.asks for each in statements("使えます。しかし、いつまでかは別に定める。"))


@given(st.text(alphabet="あい。？|-: \n\r\u2028\u200b1a`", max_size=80))
def test_any_text_is_cut_into_stretches_in_order_and_lines_of_one(text: str) -> None:
    at = 0
    for each in statements(text):
        assert at <= each.start < each.end <= len(text)
        at = each.end
        assert len(each.text.splitlines()) <= 1


@pytest.mark.parametrize("mark", ["Q. ", "Ｑ：", "Q1. ", "問 ", "- Q: "])
def test_the_question_of_a_faq_asks_even_where_it_states(mark: str) -> None:
    question, answer = statements(f"{mark}パスワードを忘れました。\nA. ポータルから手続してください。")
    assert question.asks
    assert not answer.asks


@pytest.mark.parametrize("text", ["Quality は大切です。", "問題はありません。", "質問票を提出する。"])
def test_a_word_that_begins_like_a_mark_is_none(text: str) -> None:
    [stated] = statements(text)
    assert not stated.asks


def test_the_caption_of_an_article_stands_before_what_it_says() -> None:
    [stated] = statements("第31条（退職金）\n退職金は、退職したときに支給する。")
    assert stated.text == "第31条（退職金） 退職金は、退職したときに支給する。"


def test_rows_behind_the_cut_of_a_passage_have_the_names_of_their_table() -> None:
    text = "一覧。\n\n| コード | 限度額 |\n|---|---|\n| C-001 | 10万円 |\n| C-002 | 20万円 |\n| C-003 | 30万円 |\n"
    at = text.index("| C-002")
    names = names_above(text, at)
    assert names == ["コード", "限度額"]
    assert [each.text for each in statements(text[at:], names)] == [
        "コード：C-002 / 限度額：20万円",
        "コード：C-003 / 限度額：30万円",
    ]


@pytest.mark.parametrize("text", ["", "本文。\n", "| a | b |\n", "| a | b |\n|---|---|\n\n本文。\n"])
def test_where_no_table_goes_on_there_are_no_names(text: str) -> None:
    assert names_above(f"{text}| C-002 | 20万円 |\n", len(text)) == []
