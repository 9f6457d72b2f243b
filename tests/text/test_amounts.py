"""Amounts and rates: what prose says, in exact yen and fractions."""

import sys
import time
import unicodedata
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.amounts import (
    Amount,
    find_amounts,
    find_rates,
    man_yen,
    parse_amount,
    parse_rate,
)
from shirube.text.numerals import fold_figures, number

MAN = 10_000
OKU = 10**8
LARGE = 100_000
SECONDS = 15


def bounds(text: str) -> tuple[int | None, int | None] | None:
    amount = parse_amount(text)
    return (amount.low, amount.high) if amount else None


def amounts(text: str) -> list[str]:
    return [text[slice(*amount.span)] for amount in find_amounts(text)]


def rates(text: str) -> list[str]:
    return [text[slice(*rate.span)] for rate in find_rates(text)]


def kanji(value: int) -> str:
    """Kanji numerals by the book, an oracle for `number`."""
    out = ""
    for unit, sign in ((10**12, "兆"), (OKU, "億"), (MAN, "万"), (1, "")):
        part, value = divmod(value, unit)
        if not part:
            continue
        for ten, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
            digit, part = divmod(part, ten)
            if digit:
                out += ("" if digit == 1 and name else "〇一二三四五六七八九"[digit]) + name
        out += sign
    return out


@pytest.mark.parametrize(
    ("text", "yen"),
    [
        ("1,000万円", 1000 * MAN),
        ("１，０００万円", 1000 * MAN),
        ("1,000 万円", 1000 * MAN),
        ("１億２千万円", 12000 * MAN),
        ("1億2,000万円", 12000 * MAN),
        ("50,000万円", 5 * OKU),
        ("500百万円", 5 * OKU),
        ("1,234千円", 1_234_000),
        ("三百万円", 300 * MAN),
        ("千円", 1000),
        ("二万五千円", 25_000),
        ("金参拾萬圓", 30 * MAN),
        ("五三五、〇〇〇円", 535_000),
        ("1.5億円", 15000 * MAN),
        ("50.7万円", 507_000),
        ("¥50,000", 50_000),
        ("￥50,000", 50_000),
        ("50万", 50 * MAN),
        ("0円", 0),
    ],
)
def test_a_plain_amount_is_exact_yen(text: str, yen: int) -> None:
    assert bounds(text) == (yen, yen)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("上限1,000万円", None, 1000),
        ("補助上限額：1,000万円", None, 1000),
        ("最大 100万円", None, 100),
        ("上限は50万", None, 50),
        ("100万円以内", None, 100),
        ("100万円以下", None, 100),
        ("100万円まで", None, 100),
        ("100万円を超えない", None, 100),
        ("100万円を上限", None, 100),
        ("100万円(上限)", None, 100),
        ("30万円以上", 30, None),
        ("下限30万円", 30, None),
        ("30万円から", 30, None),
        ("50万円〜100万円", 50, 100),
        ("50万円から100万円まで", 50, 100),
        ("50～100万円", 50, 100),
        ("50万～100万円", 50, 100),
        ("50-100万円", 50, 100),
        ("3万円 〜 30万円", 3, 30),
        ("50万円以上100万円以下", 50, 100),
        ("最低5万円から最大10万円まで", 5, 10),
    ],
)
def test_words_and_signs_bound_an_amount(text: str, low: int | None, high: int | None) -> None:
    assert bounds(text) == (low and low * MAN, high and high * MAN)


def test_an_end_that_is_left_out_is_said_and_its_figure_kept() -> None:
    below, above = parse_amount("100万円未満"), parse_amount("50万円超")
    both = parse_amount("50万円を超え100万円未満")
    assert below
    assert above
    assert both
    assert (below.high, below.high_open, below.low_open) == (100 * MAN, True, False)
    assert (above.low, above.low_open, above.high_open) == (50 * MAN, True, False)
    assert (both.low, both.high, both.low_open, both.high_open) == (50 * MAN, 100 * MAN, True, True)
    assert both.words == ("を超え", "未満")


@pytest.mark.parametrize(
    ("text", "qualifier", "words"),
    [
        ("月額5,000円", "月額", ()),
        ("1人あたり10万円", "1人あたり", ()),
        ("１人当たり上限１０万円", "1人当たり", ("上限",)),
        ("1件につき月額5,000円以内", "1件につき 月額", ("以内",)),
        ("1人10万円", "1人", ()),
        ("5,000円/月", "/月", ()),
        ("定額10万円", "定額", ()),
        ("約50万円", "", ("約",)),
        ("50万円程度", "", ("程度",)),
    ],
)
def test_what_an_amount_is_per_is_kept_with_its_words(
    text: str, qualifier: str, words: tuple[str, ...]
) -> None:
    amount = parse_amount(text)
    assert amount
    assert (amount.qualifier, amount.words) == (qualifier, words)


def test_a_flat_grant_without_a_figure_is_an_amount_without_ends() -> None:
    assert parse_amount("定額") == Amount(None, None, (0, 2), qualifier="定額")
    assert amounts("補助率：定額（上限50万円）。定額減税は別です。") == ["定額", "上限50万円"]


@pytest.mark.parametrize(
    "text",
    [
        "数十万円",
        "20万円台",
        "▲50万円",
        "-50万円",
        "〇〇万円",
        "○千円",
        "万円",
        "単位：千円",
        "（百万円）",
        "1.5円",
        "1,00円",
        "1億20000万円",
        "800～1億円",
        "100万円～50万円",
        "三、四万円",
        "上限50万人",
        "関係人口1,000万人",
        "様式2-50円",
        "100万ドル",
        "第2条",
        "500000",
        "",
    ],
)
def test_what_cannot_be_read_surely_is_left_out(text: str) -> None:
    assert parse_amount(text) is None
    assert find_amounts(text) == []


def test_amounts_in_prose_keep_the_span_of_the_original() -> None:
    text = "①５０万円と、100㎡50万円。資本金を900万円から5,000万円に増やし、（最大７５０万円）。（800万円/1500万円）"
    expected = ["５０万円", "50万円", "900万円", "5,000万円", "最大７５０万円", "800万円", "1500万円"]
    assert amounts(text) == expected


def test_an_amount_taken_from_another_is_no_range() -> None:
    assert [(one.low, one.high) for one in find_amounts("50万円から10万円を引く")] == [
        (50 * MAN, 50 * MAN),
        (10 * MAN, 10 * MAN),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("50万円", 50), ("上限1.5億円", 15_000), ("30万円以上", 30), ("5,000円", 0.5), ("3万円〜30万円", 30)],
)
def test_man_yen_is_the_upper_end_or_the_lower(text: str, expected: float) -> None:
    amount = parse_amount(text)
    assert amount
    assert man_yen(amount) == expected
    assert isinstance(man_yen(amount), type(expected))


def test_man_yen_of_an_amount_without_a_figure_is_an_error() -> None:
    with pytest.raises(ValueError, match="no figure"):
        man_yen(Amount(None, None, (0, 2), qualifier="定額"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("２／３", Fraction(2, 3)),
        ("1/2", Fraction(1, 2)),
        ("10/10", Fraction(1)),
        ("½", Fraction(1, 2)),
        ("三分の二", Fraction(2, 3)),
        ("2分の1", Fraction(1, 2)),
        ("百分の七・五", Fraction(3, 40)),
        ("百分の百二十五", Fraction(5, 4)),
        ("75%", Fraction(3, 4)),
        ("７５パーセント", Fraction(3, 4)),
        ("0.65％", Fraction(65, 10_000)),
        ("十四・六パーセント", Fraction(146, 1000)),
        ("5割", Fraction(1, 2)),
        ("二割五分", Fraction(1, 4)),
        ("補助率 2/3", Fraction(2, 3)),
        ("50% (目安)", Fraction(1, 2)),
    ],
)
def test_a_rate_is_an_exact_fraction(text: str, value: Fraction) -> None:
    rate = parse_rate(text)
    assert rate
    assert (rate.low, rate.high) == (value, value)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("2/3以内", None, Fraction(2, 3)),
        ("3/4以内", None, Fraction(3, 4)),
        ("最大50%", None, Fraction(1, 2)),
        ("二分の一を超えない", None, Fraction(1, 2)),
        ("2割以上", Fraction(1, 5), None),
        ("1/3～1/2", Fraction(1, 3), Fraction(1, 2)),
        ("50～75%", Fraction(1, 2), Fraction(3, 4)),
        ("50%以上75%未満", Fraction(1, 2), Fraction(3, 4)),
    ],
)
def test_words_and_signs_bound_a_rate(text: str, low: Fraction | None, high: Fraction | None) -> None:
    rate = parse_rate(text)
    assert rate
    assert (rate.low, rate.high) == (low, high)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("対象経費の1/2を補助します", ["1/2"]),
        ("手数料 2/3減免", ["2/3"]),
        ("1/2又は2/3以内", ["1/2", "2/3以内"]),
        ("補助率：中小企業1/2、小規模事業者2/3、その他の団体1/3", ["1/2", "2/3", "1/3"]),
        ("補助率1/2、申請期限は4/10です", ["補助率1/2"]),
        ("【5/7〆】補助金の申請は4/10から、受付4/5まで", []),
        ("申請期間４／１～４／３０", []),
        ("2026/4/1から、1/2（月）まで", []),
        ("縮尺1/50、縮尺二千五百分の一以上の平面図、五百分の一の地図", []),
        ("JIS B 8445/8446、電話03-1234-5678、第2条", []),
        ("30分の2回、十分の余裕、役割、4割る2、割合", []),
        ("▲5%、数十％、30%台、3パーセントポイント", []),
    ],
)
def test_a_slash_is_a_rate_only_where_words_of_a_share_say_so(text: str, expected: list[str]) -> None:
    assert rates(text) == expected


@pytest.mark.parametrize("text", ["4/1", "2026/4/1", "1/2500", "3/2", "1/1", "0/3", "第2条", ""])
def test_what_is_no_rate_is_none(text: str) -> None:
    assert parse_rate(text) is None


@given(st.integers(1, 10**16 - 1))
def test_numbers_in_kanji_and_in_figures_with_commas_are_the_same(value: int) -> None:
    assert number(kanji(value)) == value
    assert number(f"{value:,}") == value
    assert number(str(value)) == value


@given(st.integers(1, 10**12), st.sampled_from(["", "万", "億"]))
def test_an_amount_is_read_in_either_width(value: int, unit: str) -> None:
    figures = f"{value:,}{unit}円"
    wide = "".join(chr(ord(char) + 0xFEE0) if char.isascii() else char for char in figures)
    yen = value * {"": 1, "万": MAN, "億": OKU}[unit]
    for text in (figures, wide):
        amount = parse_amount(text)
        assert amount
        assert (amount.low, amount.high, amount.span) == (yen, yen, (0, len(text)))


@given(st.integers(1, 999), st.integers(2, 999))
def test_a_fraction_reads_the_same_in_figures_and_in_kanji(over: int, under: int) -> None:
    for text in (f"{under}分の{over}", f"{kanji(under)}分の{kanji(over)}"):
        rate = parse_rate(text)
        assert rate
        assert rate.low == rate.high == Fraction(over, under)


@given(st.text(alphabet="上限1２,.万億千円~～から以上未満人あたり/⁄%割分の三十〇、①㎡-▲定額 率", max_size=40))
def test_every_reading_is_a_piece_of_the_text_in_order(text: str) -> None:
    for found in (find_amounts(text), find_rates(text)):
        ends = [0, *(end for one in found for end in one.span)]
        assert ends == sorted(ends)
        assert ends[-1] <= len(text)
        assert all(one.low is None or one.high is None or one.low <= one.high for one in found)


def test_no_sign_that_folds_to_a_numeral_runs_into_the_number_beside_it() -> None:
    numerals = set("0123456789〇一二三四五六七八九十百千万億兆")
    every = map(chr, range(sys.maxunicode + 1))
    # The radicals ⼀ and ⼗ are taken for the numerals they look like.
    signs = [one for one in every if unicodedata.category(one) in ("No", "So") and not "⼀" <= one <= "⿕"]
    folding = [one for one in signs if numerals & set(unicodedata.normalize("NFKC", one))]
    kept = [one for one in folding if fold_figures(one).text != "|" and "⁄" not in fold_figures(one).text]
    assert len(folding) > 100
    assert kept == []


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "万",
        "1,",
        "上限",
        "1~",
        "1/2、",
        "分の1",
        "1人",
        "百分の",
        "率",
        "1万円以上",
        "一・",
        "補助率1/2",
    ],
)
def test_long_input_takes_no_more_than_linear_time(piece: str) -> None:
    text = piece * (LARGE // len(piece))
    started = time.process_time()
    find_amounts(text)
    find_rates(text)
    assert time.process_time() - started < SECONDS
