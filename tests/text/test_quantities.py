"""Quantities of two texts, compared."""

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.quantities import codes, quantities


def says(one: str, other: str) -> bool:
    """Whether all quantities of one text are said in the other."""
    found = quantities(one)
    assert found, one
    return all(each.is_said_in(quantities(other)) for each in found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5,000円", "5000円"),
        ("五千円", "5,000円"),
        ("20万円", "200,000円"),
        ("1億2,000万円", "一億二千万円"),
        ("three days", "3 days"),
        ("twenty-five days", "25 days"),
        ("10:00", "10時"),
        ("17:30", "17時30分"),
        ("2026/4/1", "2026年4月1日"),
        ("¥5,000", "5,000円"),
        ("1割", "10%"),
        ("3名", "３人"),
        ("2ヶ月", "2か月"),
        ("毎月5,000円", "月額5,000円"),
        ("5,000円", "月額5,000円"),
        ("3日", "週3日まで"),
    ],
)
def test_the_same_quantity_is_the_same_however_it_is_written(one: str, other: str) -> None:
    assert says(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5,000万円", "5,000円"),
        ("5,000ドル", "5,000円"),
        ("日額5,000円", "月額5,000円"),
        ("昭和11年", "平成11年"),
        ("4日以上", "4日未満"),
        ("30日前", "30日後"),
        ("午前5時", "午後5時"),
        ("five days", "3 days"),
        ("3日", "3営業日"),
        ("3日", "1月3日"),
    ],
)
def test_another_number_unit_period_or_bound_is_another_quantity(one: str, other: str) -> None:
    assert not says(one, other)


@pytest.mark.parametrize(
    "text",
    [
        "1. 申請する。",
        "(2) 承認する。",
        "第7条の2及び第一項による。",
        "一部を十分に検討する。",
        "第三者",
        "四半期",
        "",
    ],
)
def test_numbers_of_items_and_numerals_of_words_are_no_quantities(text: str) -> None:
    assert quantities(text) == []


def test_a_name_that_ends_in_a_number_is_no_quantity() -> None:
    assert quantities("G4の者") == []
    assert codes("Ｇ4とAES256") == {"g4", "aes256"}


@given(st.integers(0, 10**12))
def test_a_number_is_read_with_and_without_commas(value: int) -> None:
    [one], [other] = quantities(f"{value}円"), quantities(f"{value:,}円")
    assert one == other
    assert one.value == Fraction(value)


@pytest.mark.parametrize(
    "text", ["1" * 100_000, "1," * 50_000, "一" * 100_000, "a1" * 50_000, "月" * 100_000]
)
def test_any_run_is_read_in_one_pass(text: str) -> None:
    begun = time.process_time()
    quantities(text)
    codes(text)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("bound", "value", "is_within"),
    [
        ("10万円以上", "10万円", True),
        ("10万円未満", "10万円", False),
        ("10万円以下", "10万円", True),
        ("10万円を超える", "10万円", False),
        ("10万円を超える", "11万円", True),
        ("10万円未満", "9万9千円", True),
        ("10万円以上", "9万円", False),
    ],
)
def test_a_bound_takes_in_what_it_lets_pass(bound: str, value: str, is_within: bool) -> None:
    [limit], [asked] = quantities(bound), quantities(value)
    assert limit.takes_in(asked) is is_within
