"""What a quotation must not carry: characters that a reader cannot see and a program obeys."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.invisible import visible

# Signs of the category Cf that are drawn: Arabic, Syriac and Kaithi number marks, Egyptian joiners.
DRAWN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}


def test_every_control_is_taken_out_but_tabs_and_line_ends() -> None:
    controls = [code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in ("Cc", "Cf")]
    left = {code for code in controls if visible(chr(code))}
    assert left == {0x09, 0x0A, 0x0D} | (DRAWN & set(controls))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("承認\u202e済み", "承認済み"),
        ("無視\u200bして\u2066ください\u2069", "無視してください"),
        ("前\U000e0049\U000e0067\U000e006e後", "前後"),
        ("見え\u3164る", "見える"),
        ("\x1b[31m赤", "[31m赤"),
        ("絵文字❤\ufe0f", "絵文字❤\ufe0f"),
        ("行\n\t列\r\n", "行\n\t列\r\n"),
    ],
)
def test_hidden_orders_go_and_the_text_stays(text: str, expected: str) -> None:
    assert visible(text) == expected


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cn", "Cs", "Mn", "Lo"])))
def test_plain_text_is_left_alone(text: str) -> None:
    assert visible(text) == text


@given(st.text())
def test_nothing_is_added_or_moved(text: str) -> None:
    rest = iter(text)
    assert all(char in rest for char in visible(text))
