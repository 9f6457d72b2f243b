"""Quantities in a text, so that two can be compared: 5,000円 is 五千円, and 月額5,000円 is not 日額5,000円.

Numbers of items and clauses (1., (2), 第7条) are none, and neither are the numerals of words (一部, 十分, 四半期).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from shirube.text.normalize import fold
from shirube.text.numerals import DIGITS, MYRIADS, NUMBER, TENS, number

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
    **{
        f"{ten}-{one}": 10 * t + o for t, ten in enumerate(_TENS, 2) for o, one in enumerate(_SMALL[:10]) if o
    },
}
_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b")
# Units and what they are compared as.
_SAME = {
    **dict.fromkeys("か月 ヶ月 カ月 ヵ月 ケ月 箇月 か月間 ヶ月間 month".split(), "か月"),
    **dict.fromkeys("人 名 people person".split(), "人"),
    **dict.fromkeys("歳 才".split(), "歳"),
    **dict.fromkeys("週 週間 week".split(), "週"),
    **dict.fromkeys("年 年間 year".split(), "年"),
    **dict.fromkeys("日 日間 day".split(), "日"),
    **dict.fromkeys("時間 hour".split(), "時間"),
    **dict.fromkeys("分 分間 minute".split(), "分"),
    **dict.fromkeys("回 度 time".split(), "回"),
    **dict.fromkeys("円 yen".split(), "円"),
    **dict.fromkeys("ドル dollar".split(), "ドル"),
    **dict.fromkeys("% パーセント percent".split(), "%"),
    **dict.fromkeys("ポイント point".split(), "ポイント"),
    **dict.fromkeys("文字 字 character".split(), "文字"),
    **dict.fromkeys("ページ page".split(), "ページ"),
    **dict.fromkeys("個 つ".split(), "個"),
}
UNITS = [
    *_SAME,
    *"営業日 月 時 秒 件 枚 台 本 社 泊 階 倍 割 銭 ユーロ 点 校 店 席 位 番 室 戸 棟 頭 匹 羽 冊 巻 曲 票 種".split(),
    *"級 食 期".split(),
    *"km kg cm mm mb gb tb".split(),
]
_UNIT = "|".join(
    rf"{each}(?:s?\b)" if each.isascii() and each.isalpha() else re.escape(each)
    for each in sorted(UNITS, key=len, reverse=True)
)
_BOUNDS = {
    **dict.fromkeys("以上 以降 超 を超え を上回".split(), "+"),
    **dict.fromkeys("未満 以下 以内 まで に満たな を下回".split(), "-"),
    **dict.fromkeys(("at least", "more than", "over"), "+"),
    **dict.fromkeys(("up to", "at most", "less than", "under", "within", "no more than"), "-"),
    "前": "<",
    "後": ">",
}
# Bounds that leave out what they name: 50万円未満 is not 50万円.
_BEYOND = frozenset(
    ("超", "を超え", "を上回", "未満", "に満たな", "を下回", "more than", "over", "less than", "under")
)
_PER = re.compile(r"毎?(?P<period>[月日年週時])(?:額|給|間|に(?:つき)?|あたり)?")
_QUANTITY = re.compile(
    r"(?:(?P<early>at least|more than|over|up to|at most|no more than|less than|under|within) )?"
    r"(?P<per>明治|大正|昭和|平成|令和|午前|午後|第|毎?[月日年週時](?:額|給|間|に(?:つき)?|あたり)?)?[ ]?"
    rf"(?P<number>(?<![a-z])(?<![a-z]-){NUMBER})[ ]?(?P<unit>{_UNIT})?"
    r"[ ]?(?P<late>以上|以降|超|を超え|を上回|未満|以下|以内|まで|に満たな|を下回|前|後)?"
)
_NUMERAL = "[0-9〇一二三四五六七八九十百千]"
_ITEM = re.compile(
    r"(?m)^[ \t]*(?:[0-9]{1,3}[.)](?![0-9])|\([0-9]{1,3}\))|"
    rf"第 ?{_NUMERAL}{{1,6}} ?[条項号章節款編](?:の{_NUMERAL}{{1,3}})?"
)
_CODE = re.compile(r"[a-z]{1,20}-?[0-9]{1,20}[a-z0-9]{0,20}")
_CLOCK = re.compile(r"(?<![0-9:])([0-9]{1,2}):([0-9]{2})(?![0-9:])")
_DATE = re.compile(r"(?<![0-9/-])([0-9]{4})([/-])([0-9]{1,2})\2([0-9]{1,2})(?![0-9/-])")
_MONEY = re.compile(r"([¥$])[ ]?([0-9][0-9,.]{0,30}[万億]?)")
_KANJI = frozenset({*DIGITS, *TENS, *MYRIADS})
# 1月3日 is no three days.
DAY_OF_MONTH = "月の日"
# 十分 is enough and 一時 for a while.
_NO_NUMBERS = {("十", "分"), ("一", "時"), ("一", "番"), ("一", "種")}


@dataclass(frozen=True)
class Quantity:
    """A number with its unit, the era or period it is of (平成, 月), and whether it is a bound (+, -) or an offset."""

    value: Fraction
    unit: str
    per: str = ""
    bound: str = ""
    beyond: bool = field(default=False, compare=False)
    """Whether a bound leaves out the value itself."""

    def takes_in(self, other: "Quantity") -> bool:
        """Whether a bound lets the value of `other` pass, which is of the same unit."""
        if self.value == other.value:
            return not self.beyond
        return (other.value > self.value) == (self.bound == "+")

    def is_said_by(self, other: "Quantity") -> bool:
        """Whether `other` says as much: what it leaves open contradicts nothing."""
        return (
            self.value == other.value
            and (not self.unit or not other.unit or self.unit == other.unit)
            and (not self.per or not other.per or self.per == other.per)
            and (not self.bound or not other.bound or self.bound == other.bound)
        )

    def is_said_in(self, others: Iterable["Quantity"]) -> bool:
        return any(self.is_said_by(other) for other in others)


def quantities(text: str) -> list[Quantity]:
    """Those of a text, in order."""
    found: list[Quantity] = []
    month_end = -1
    for match in _QUANTITY.finditer(_in_figures(fold(text))):
        each = _quantity(match)
        if each and each.unit == "日" and match.start() == month_end:
            each = replace(each, unit=DAY_OF_MONTH)
        month_end = match.end() if match["unit"] == "月" else -1
        found += [each] if each else []
    return found


def codes(text: str) -> set[str]:
    """Names that end in numbers: G4, AES256."""
    return set(_CODE.findall(fold(text)))


def _in_figures(folded: str) -> str:
    text = _ITEM.sub(" ", folded)
    text = _WORD.sub(lambda found: str(_WORDS[found.group()]), text)
    text = _DATE.sub(r"\1年\3月\4日", text)
    text = _CLOCK.sub(lambda found: f"{found[1]}時" + (f"{found[2]}分" if found[2] != "00" else ""), text)
    return _MONEY.sub(lambda found: found[2] + ("円" if found[1] == "¥" else "ドル"), text)


def _quantity(found: re.Match[str]) -> Quantity | None:
    written = found["number"].strip(".,")
    value, unit = number(written), found["unit"] or ""
    if value is None or (_KANJI.issuperset(written) and (not unit or (written, unit) in _NO_NUMBERS)):
        return None
    unit = _SAME.get(unit, _SAME.get(unit.removesuffix("s"), unit))
    if unit == "割":
        value, unit = 10 * value, "%"
    per = found["per"] or ""
    period = _PER.fullmatch(per)
    written_bound = found["early"] or found["late"] or ""
    return Quantity(
        value,
        unit,
        period["period"] if period else per,
        _BOUNDS.get(written_bound, ""),
        written_bound in _BEYOND,
    )
