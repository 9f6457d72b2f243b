"""Dates in prose, and the eras they are counted in."""

import time
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.eras import find_dates, fiscal_year, parse_date, to_wareki

LARGE = 200_000
SECONDS = 10
GREGORIAN_DAYS = st.dates(date(1873, 1, 1), date(2100, 12, 31))


def days(text: str) -> tuple[str, str] | None:
    period = parse_date(text)
    return (period.first.isoformat(), period.last.isoformat()) if period else None


def found(text: str) -> list[str]:
    return [text[slice(*period.span)] for period in find_dates(text)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("令和8年4月1日", "2026-04-01"),
        ("令和元年五月一日", "2019-05-01"),
        ("R8.4.1", "2026-04-01"),
        ("Ｒ８．４．１", "2026-04-01"),
        ("R元.5.1", "2019-05-01"),
        ("H31/4/30", "2019-04-30"),
        ("㍻31年4月30日", "2019-04-30"),
        ("2026年4月1日", "2026-04-01"),
        ("2026-04-01", "2026-04-01"),
        ("2026/4/1", "2026-04-01"),
        ("2026. 4. 1", "2026-04-01"),
        ("二〇二六年四月一日", "2026-04-01"),
        ("二千二十六年十二月三十一日", "2026-12-31"),
        ("令和 8 年 4 月 1 日", "2026-04-01"),
        ("令和8年(2026年)4月1日", "2026-04-01"),
        ("令和8（2026）年4月1日", "2026-04-01"),
        ("2024年2月29日", "2024-02-29"),
        ("1989年1月7日", "1989-01-07"),
        ("  令和8年4月1日　", "2026-04-01"),
    ],
)
def test_a_day_is_read_in_any_notation(text: str, day: str) -> None:
    assert days(text) == (day, day)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("令和八年四月", "2026-04-01", "2026-04-30"),
        ("２０２６年４月", "2026-04-01", "2026-04-30"),
        ("昭和63年", "1988-01-01", "1988-12-31"),
        ("二〇二六年", "2026-01-01", "2026-12-31"),
        ("R8.4", "2026-04-01", "2026-04-30"),
        ("R8", "2026-01-01", "2026-12-31"),
        ("2026", "2026-01-01", "2026-12-31"),
        ("1869年（明治2年）", "1869-01-01", "1869-12-31"),
    ],
)
def test_a_month_or_year_is_the_period_of_its_days(text: str, first: str, last: str) -> None:
    assert days(text) == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("明治45年", "1912-01-01", "1912-07-29"),
        ("大正元年", "1912-07-30", "1912-12-31"),
        ("大正15年", "1926-01-01", "1926-12-24"),
        ("昭和元年", "1926-12-25", "1926-12-31"),
        ("昭和64年", "1989-01-01", "1989-01-07"),
        ("平成元年1月", "1989-01-08", "1989-01-31"),
        ("平成三十一年", "2019-01-01", "2019-04-30"),
        ("令和元年", "2019-05-01", "2019-12-31"),
    ],
)
def test_a_year_of_an_era_ends_where_the_era_does(text: str, first: str, last: str) -> None:
    period = parse_date(text)
    assert period
    assert days(text) == (first, last)
    assert not period.outside_era


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("平成35年", "2023-01-01"),
        ("昭和64年2月", "1989-02-01"),
        ("平成三十一年九月一日", "2019-09-01"),
        ("令和元年4月1日", "2019-04-01"),
        ("平成35年度", "2023-04-01"),
    ],
)
def test_days_an_era_does_not_hold_are_read_plainly_and_marked(text: str, first: str) -> None:
    period = parse_date(text)
    assert period
    assert period.first.isoformat() == first
    assert period.outside_era


@pytest.mark.parametrize(
    "text", ["令和8年度", "2026年度", "R8年度", "２０２６年度", "2026(令和8)年度", "令和八年度"]
)
def test_a_fiscal_year_runs_from_april_to_march(text: str) -> None:
    period = parse_date(text)
    assert period
    assert (period.first, period.last, period.fiscal) == (date(2026, 4, 1), date(2027, 3, 31), True)


def test_the_fiscal_year_of_a_change_of_era_is_whole_under_both_names() -> None:
    assert days("平成31年度") == days("令和元年度") == ("2019-04-01", "2020-03-31")


@pytest.mark.parametrize(
    "text",
    [
        "令和8年2月30日",
        "2026年2月29日",
        "2026年13月",
        "2026-04-31",
        "令和0年",
        "4月1日",
        "1990年代",
        "2000年間",
        "9999年",
        "令和8年(2025年)4月1日",
        "令和〇年〇月〇日",
        "1872年(明治5年)5月",
        "",
    ],
)
def test_what_is_no_date_is_none_and_not_found(text: str) -> None:
    assert parse_date(text) is None
    assert find_dates(text) == []


@pytest.mark.parametrize("text", ["明治元年", "明治5年", "明治5年12月2日", "明治18年度"])
def test_years_of_the_old_calendar_and_the_old_fiscal_year_are_refused(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize(
    "text", ["03-1234-5678", "0120-12-1234", "1.2.3", "S3-1-2", "第2026条", "Ver3.0", "R8.4", "2026/4"]
)
def test_numbers_of_other_kinds_are_not_found_in_prose(text: str) -> None:
    assert find_dates(text) == []


def test_dates_in_prose_keep_the_span_of_the_original() -> None:
    text = "①２０２６年４月１日から㋿９年３月３１日まで、次いでR9.4.1（2027年度）に、㎡2028/1/1"
    assert found(text) == ["２０２６年４月１日", "㋿９年３月３１日", "R9.4.1", "2027年度", "2028/1/1"]


def test_a_list_mark_does_not_become_part_of_a_number() -> None:
    assert [period.first for period in find_dates("令和①8年、①2026年4月1日")] == [date(2026, 4, 1)]


@given(GREGORIAN_DAYS)
def test_a_day_written_in_its_era_is_read_back(day: date) -> None:
    period = parse_date(to_wareki(day))
    assert period
    assert (period.first, period.last, period.outside_era) == (day, day, False)


@given(GREGORIAN_DAYS, st.text(max_size=20).filter(lambda text: not text[:1].isdigit()))
def test_a_date_is_found_before_anything(day: date, after: str) -> None:
    written = f"{to_wareki(day)}。"
    assert find_dates(written + after)[0].span == (0, len(written) - 1)


@given(st.text(alphabet="令和平成元rhR8Ｈ２０26年度月日四十〇()./-①㍻ \n", max_size=40))
def test_every_period_found_is_a_piece_of_the_text_in_order(text: str) -> None:
    periods = find_dates(text)
    assert all(period.first <= period.last for period in periods)
    ends = [0, *(end for period in periods for end in period.span)]
    assert ends == sorted(ends)
    assert ends[-1] <= len(text)


@given(GREGORIAN_DAYS)
def test_the_fiscal_year_of_a_day_holds_it(day: date) -> None:
    period = parse_date(f"{fiscal_year(day)}年度")
    if fiscal_year(day) >= 1886:
        assert period
        assert period.first <= day <= period.last
    else:
        assert period is None


@pytest.mark.parametrize(
    ("day", "written"),
    [
        (date(1873, 1, 1), "明治6年1月1日"),
        (date(1989, 1, 7), "昭和64年1月7日"),
        (date(1989, 1, 8), "平成元年1月8日"),
        (date(2019, 4, 30), "平成31年4月30日"),
        (date(2019, 5, 1), "令和元年5月1日"),
        (datetime(2026, 4, 1, 12, 30), "令和8年4月1日"),
    ],
)
def test_a_day_is_written_in_its_era(day: date, written: str) -> None:
    assert to_wareki(day) == written


def test_days_before_1873_have_no_era_to_write() -> None:
    with pytest.raises(ValueError, match="1873"):
        to_wareki(date(1872, 12, 31))


@pytest.mark.parametrize("piece", ["1", "一", "令和", "2026年", "令和8年(", "2026/1/", "令和1 "])
def test_long_input_takes_no_more_than_linear_time(piece: str) -> None:
    started = time.process_time()
    find_dates(piece * (LARGE // len(piece)))
    assert time.process_time() - started < SECONDS
