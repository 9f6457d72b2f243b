"""Numbers in folded Japanese text: figures, kanji numerals, or both."""

import re
from fractions import Fraction

from shirube.text.normalize import Folded, fold_with_map

DIGITS = {
    char: value
    for value, chars in enumerate("〇零 一壱 二弐 三参 四 五 六 七 八 九".split())
    for char in chars
}
TENS = {"十": 10, "拾": 10, "百": 100, "千": 1000}
MYRIADS = {"万": 10**4, "億": 10**8, "兆": 10**12}
# The longest number below ten thousand 兆 in kanji, with 九千九百九十九 four times; it bounds the work on any input.
_LONGEST = 32

_D, _T, _M = "".join(DIGITS), "".join(TENS), "".join(MYRIADS)
_N = f"0-9{_D}{_T}{_M}"
# For the patterns of others: one numeral, one digit sign, and a whole number.
NUMERALS, DIGIT_SIGNS = _N, _D
_GOES_ON = rf"[{_N},.]|(?<=[{_D}])(?:・(?=[{_D}])|、(?=[{_D}]{{3}}(?![{_D}])))|\ (?=[{_T}{_M}])"
# The whole number or nothing. Not a possessive repeat: those lose groups in the first releases of Python 3.11.
NUMBER = (
    rf"(?<![{_N}])(?<![{_N}][,.・])(?<![{_D}]、)[{_N}]"
    rf"(?:{_GOES_ON}){{0,{_LONGEST - 1}}}(?!{_GOES_ON})"
)
_TOKEN = re.compile(
    rf"(?P<figure>(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?|"
    rf"[{_D}]{{1,3}}(?:、[{_D}]{{3}})+|[{_D}]+(?:・[{_D}]+)?)"
    rf"|(?P<ten>[{_T}])|(?P<myriad>[{_M}])|\ "
)
# Signs whose folded form holds a numeral (①, ㈠, ², ㎡, ㏠): ①50万円 must not become 150万円. Eras and ㌫ are kept.
_NUMBER_SIGNS = re.compile("[²³¹⁰-₟①-⒛⓪㆐-㋾㌀-㌪㌬-㍺㍿-㏿🄀-🄊🈀-🉟]")


def fold_figures(text: str) -> Folded:
    """`fold_with_map`, with list marks and squared units (①, ㎡) kept from running into the numbers beside them."""
    return fold_with_map(_NUMBER_SIGNS.sub("|", text))


def number(text: str) -> Fraction | None:
    """The value of folded figures, kanji numerals or both (1億2,000万, 二〇二六, 十四・六); None if not one number."""
    if not text or len(text) > _LONGEST:
        return None
    total, section, figure = Fraction(0), Fraction(0), None
    # Every term is smaller than the unit before it, and nothing but units follows a decimal.
    room, above = float("inf"), float("inf")
    empty, decimal, at = True, False, 0
    for token in _TOKEN.finditer(text):
        if token.start() != at:
            return None
        at = token.end()
        if token["figure"]:
            value = _figure_value(token["figure"])
            if value is None or figure is not None or decimal or value >= room:
                return None
            figure, empty, decimal = value, False, value.denominator != 1
        elif token["ten"]:
            unit = TENS[token["ten"]]
            term = Fraction(unit) if figure is None else figure * unit
            if term >= room or (decimal and figure is None):
                return None
            section, figure, room, empty = section + term, None, unit, False
        elif token["myriad"]:
            unit = MYRIADS[token["myriad"]]
            term = (section + (figure or 0)) * unit
            if empty or term >= above:
                return None
            total, section, figure, room, above, empty = total + term, Fraction(0), None, unit, unit, True
    return total + section + (figure or 0) if at == len(text) else None


def _figure_value(text: str) -> Fraction | None:
    if text[0] not in DIGITS:
        return Fraction(text.replace(",", ""))
    # 〇〇万円 is a blank to fill in.
    if not text.strip("〇"):
        return None
    return Fraction("".join("." if char == "・" else str(DIGITS[char]) for char in text.replace("、", "")))
