"""What a passage states: sentences in one line each, rows with the names of their columns."""

from hypothesis import given
from hypothesis import strategies as st

from shirube.toolsets.answers.statements import statements

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


def test_what_says_nothing_alone_stands_in_one_line_with_what_follows() -> None:
    assert [each.text for each in statements("1.\n申請書を提出する。")] == ["1. 申請書を提出する。"]


def test_a_sentence_that_asks_is_seen() -> None:
    asking = ["使えますか？", "使えますか。", "いくらでしょうか", "Is it free?"]
    assert all(each.asks for text in asking for each in statements(text))
    assert not any(each.asks for each in statements("使えます。しかし、いつまでかは別に定める。"))


@given(st.text(alphabet="あい。？|-: \n\r\u2028\u200b1a", max_size=80))
def test_any_text_is_cut_into_stretches_in_order_and_lines_of_one(text: str) -> None:
    at = 0
    for each in statements(text):
        assert at <= each.start < each.end <= len(text)
        at = each.end
        assert len(each.text.splitlines()) <= 1
