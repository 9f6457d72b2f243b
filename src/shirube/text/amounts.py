"""Amounts of yen and rates in Japanese prose, with the characters that state them.

What can't be read is left out, never guessed: negative and vague figures (▲50万円, 数十万円, 20万円台, 〇〇万円),
ranges that run backwards (800~1億円), the units of tables (単位：千円). 円 may be missing only after 万 or 億 behind a
word such as 上限.

A percentage, N割 and N分のM are rates wherever they stand, except scales (縮尺二千五百分の一). N/M also writes days and
scales; it is a rate when N ≤ M and either words of a share follow it (以内, 相当, を補助), or the nearest telling word
before it in the clause is one of a share (補助率, 負担割合, 経費の) and not of a day or scale (期限, 受付, 縮尺), or it
is listed with such a rate.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from shirube.text.normalize import Folded
from shirube.text.numerals import DIGIT_SIGNS, DIGITS, MYRIADS, NUMBER, NUMERALS, TENS, fold_figures, number

_MAN = 10_000

_GIVEN = "(?:補助|助成|支給|交付|融資|貸付|支援)?金?"
_UPPER = f"{_GIVEN}(?:上限|限度|最大|最高)(?:金?額)?"
_LOWER = f"{_GIVEN}(?:下限|最低|最小)(?:金?額)?"
_ABOUT = "約|およそ|おおよそ|概ね|おおむね"
_WORD = re.compile(f"(?P<upper>{_UPPER})|(?P<lower>{_LOWER})|{_ABOUT}")
_LINK = r"(?:[はがで:、=]|\ ){0,3}"
_AFTER = (
    r"(?:\ ?(?P<after>を超えない|を超え[るて]?|以内|以下|未満|まで|以上|超(?!え)|[をが](?:上限|限度|下限)|程度|前後|"
    r"[弱強](?![化点制いく])|から(?=$|[。)」\n])|\((?:上限|限度|下限|目安)\)))?"
)
_UPPER_AFTER = re.compile("を超えない|以内|以下|未満|まで|.?(?:上限|限度)")
_LOWER_AFTER = re.compile("を超え(?!ない)|以上|超|から|.?下限")
_COUNTED = (
    "人|名|世帯|社|者|件|台|戸|棟|頭|羽|匹|回|か所|ヶ所|カ所|箇所|事業者|事業所|企業|団体|店舗|施設|品目"
)
_MEASURED = f"{_COUNTED}|年度?|か?月|日|泊|時間|m2|(?:ha|kw|kg|a|t)(?![a-z])"
_QUALIFIER = (
    rf"[月年日週]額|時間額|総額|合計|定額|一律|(?<![{NUMERALS}])年間|毎[月年日]|月々|時給|日給|月給|"
    rf"(?<![{NUMERALS}第])(?:[0-9]{{1,3}}|一|各)[^\W0-9_]{{1,8}}?に?(?:あたり|当たり|当り|つき)|"
    rf"(?<![{NUMERALS}第])(?:1|一|各)(?:{_COUNTED})"
)
_QUALIFIERS = re.compile(_QUALIFIER)
_SUM = "(?<![一-鿿])金"
_AMOUNT = re.compile(
    rf"(?P<before>(?:(?:{_UPPER}|{_LOWER}|{_ABOUT}|{_QUALIFIER}|{_SUM}){_LINK}){{0,4}})(?P<sign>¥\ ?)?"
    rf"(?P<number>{NUMBER})(?P<yen>\ ?円(?![台余高安滑周形筒卓]))?(?P<per>\ ?/\ ?1?(?:{_MEASURED}))?{_AFTER}"
)
_FLAT = re.compile("(?:(?<![一-鿿ァ-ヺー])|(?<=率))定額(?![一-鿿ァ-ヺー])")
_MINUS = ("-", "▲", "△")
_CODE_BEFORE = re.compile("[-0-9a-z第号式表図]")
# A unit without a figure: of a table where 単位 or brackets say so, and part of a blank or vague number after these.
_TABLE_UNITS = ("千", "百万", "十億")
_TABLE_BEFORE = re.compile(r"単位[:はが]?\ ?$")
_VAGUE_BEFORE = tuple("数何幾○●◯×□_")

_RATE = re.compile(
    rf"(?P<before>(?:(?:(?:補助|助成|負担|給付|控除)?(?:率|割合)|{_UPPER}|{_LOWER}|{_ABOUT}){_LINK}){{0,3}})(?P<rate>"
    r"(?<![0-9a-z/⁄.-])(?P<over>[0-9]{1,3})\ ?(?P<slash>[/⁄])\ ?(?P<under>[0-9]{1,3})(?![0-9a-z]|\ ?[/⁄.-]\ ?[0-9])|"
    rf"(?P<parts>{NUMBER})\ ?分の\ ?(?P<share>{NUMBER})(?![回本名人枚件個時日月年円台杯コ]|セット)|"
    rf"(?P<number>{NUMBER})(?P<unit>\ ?%(?![0-9a-f]{{2}}|台)|\ ?パーセント(?!ポイント|台)|"
    r"\ ?割(?![合当賃賦付りるれろらっ台])"
    rf"(?:(?P<bu>[1-9{DIGIT_SIGNS}])分(?!の))?(?:(?P<rin>[1-9{DIGIT_SIGNS}])厘)?)?){_AFTER}(?P<guess>\ ?\(目安\))?"
)
# How far back a word still tells what a fraction is: about one clause.
_CLAUSE = 24
_TELLING = re.compile(
    "(?P<share>率|割合|負担|(?:費|費用|額|料|代|金|価格)の)|(?P<scale>縮尺|スケール|scale|[面形]図|図面|地図)|"
    "期限|期間|期日|締切|締め切り|〆|募集|受付|公募|申請|開催|開始|開講|[。\n]"
)
_SCALE_AFTER = re.compile("(?:程度|以上)?の(?:縮尺|地形図|地図|図面|平面図|模型)")
_SHARE_AFTER = re.compile(
    r"\ ?(?:に?相当|を?(?:補助|助成|負担|支援|交付|支給)|減免|減額|軽減|控除|を乗じ|の額)"
)
# Words that bound a share but never a day; 4/10まで may be either.
_SHARE_BOUNDS = ("以内", "以下", "未満", "以上", "超", "を上限", "を限度", "を超えない", "を超える")
_DAY_AFTER = re.compile(r"\ ?(?:\([月火水木金土日祝]|〆|必着|締|開)")
_LISTED = re.compile(r"\ ?(?:[、,・~/-]|又は|または|もしくは|若しくは|及び|および|から|と)?\ ?")
_THROUGH = ("~", "-", "から", "ないし", "乃至")
_GOES_ON = re.compile(rf"\ ?(?:{'|'.join(_THROUGH)})")
_OVER = ("超", "を超え", "を超える", "を超えて")
_PERCENT, _WARI = Fraction(1, 100), Fraction(1, 10)


@dataclass(frozen=True)
class Amount:
    """Yen from `low` to `high`, None for an open end; both None for 定額 without a figure.

    The figures are as written: `low_open` (超) and `high_open` (未満) say that the end itself is left out. `words` are
    the bounding words, `qualifier` says per what or how often (月額, 1人あたり); `span` covers all of them.
    """

    low: int | None
    high: int | None
    span: tuple[int, int]
    low_open: bool = False
    high_open: bool = False
    words: tuple[str, ...] = ()
    qualifier: str = ""


@dataclass(frozen=True)
class Rate:
    """A share from `low` to `high` (1 is the whole), None for an open end; the rest as for `Amount`."""

    low: Fraction | None
    high: Fraction | None
    span: tuple[int, int]
    low_open: bool = False
    high_open: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Figure:
    """One number with its words. `stands` where it is an amount or rate by itself, `scale` what a bare number that
    shares its unit is multiplied by (50~100万円), None where it can't be shared; `minus` after a sign."""

    value: Fraction
    start: int
    end: int
    before: str
    after: str
    stands: bool
    bare: bool
    scale: Fraction | None
    minus: bool = False
    qualifier: str = ""


@dataclass(frozen=True)
class _Reading:
    """An amount or a rate, in positions of the folded text."""

    low: Fraction | None
    high: Fraction | None
    start: int
    end: int
    low_open: bool = False
    high_open: bool = False
    words: tuple[str, ...] = ()
    qualifier: str = ""


def find_amounts(text: str) -> list[Amount]:
    """The amounts stated in `text`, in order."""
    folded = fold_figures(text)
    return [_amount(reading, folded) for reading in _amounts(folded.text, whole=False)]


def parse_amount(text: str) -> Amount | None:
    """The amount that `text` is, words and all; here 50万 needs no word before it."""
    folded = fold_figures(text)
    reading = _only(_amounts(folded.text, whole=True), folded.text)
    return _amount(reading, folded) if reading else None


def find_rates(text: str) -> list[Rate]:
    """The rates stated in `text`, in order."""
    folded = fold_figures(text)
    return [_rate(reading, folded) for reading in _rates(folded.text, whole=False)]


def parse_rate(text: str) -> Rate | None:
    """The rate that `text` is; here a plain 2/3 is one."""
    folded = fold_figures(text)
    reading = _only(_rates(folded.text, whole=True), folded.text)
    return _rate(reading, folded) if reading else None


def man_yen(amount: Amount) -> int | float:
    """The upper end in 万円, or the lower where there is none; ValueError without a figure."""
    yen = amount.low if amount.high is None else amount.high
    if yen is None:
        raise ValueError("the amount has no figure")
    return yen // _MAN if yen % _MAN == 0 else yen / _MAN


def _amounts(text: str, whole: bool) -> list[_Reading]:
    ends = (
        (reading, (reading.low, reading.high))
        for reading in _readings(list(_amount_figures(text, whole)), text)
    )
    readings = [reading for reading, both in ends if all(end is None or end.denominator == 1 for end in both)]
    taken = {at for reading in readings for at in range(reading.start, reading.end)}
    flat = (found.span() for found in _FLAT.finditer(text) if found.start() not in taken)
    readings += [_Reading(None, None, start, end, qualifier="定額") for start, end in flat]
    return sorted(readings, key=lambda reading: reading.start)


def _amount_figures(text: str, whole: bool) -> Iterator[_Figure]:
    for found in _AMOUNT.finditer(text):
        written, end = found["number"].strip(), found.end()
        stands = bool(found["yen"] or found["sign"])
        if not stands and written[-1] in MYRIADS and (whole or found["before"]):
            following = text[end : end + 1]
            stands = bool(found["after"]) or not (following.isalnum() or following == "ー")
        if not stands and not _GOES_ON.match(text, end):
            continue
        value = number(written)
        previous = text[max(0, found.start("number") - 4) : found.start("number")]
        if value is None or _is_vague(written, previous):
            continue
        boxed = previous.endswith("(") and text.startswith(")", end)
        if written in _TABLE_UNITS and (boxed or _TABLE_BEFORE.search(previous)):
            continue
        myriad = next((MYRIADS[char] for char in reversed(written) if char in MYRIADS), 1)
        qualifiers = [*_QUALIFIERS.findall(found["before"]), (found["per"] or "").replace(" ", "")]
        yield _Figure(
            value,
            found.start(),
            end,
            found["before"],
            found["after"] or "",
            stands,
            bare=not found["yen"] and myriad == 1,
            scale=Fraction(myriad),
            minus=previous.endswith(_MINUS),
            qualifier=" ".join(filter(None, qualifiers)),
        )


def _is_vague(written: str, previous: str) -> bool:
    """数十, ○百: only the unit of the number is there."""
    return written[0] in TENS and previous.endswith(_VAGUE_BEFORE)


def _rates(text: str, whole: bool) -> list[_Reading]:
    figures = list(_rate_figures(text, whole))
    # 1/2又は2/3以内: what tells of the last tells of those listed before it.
    for at in range(len(figures) - 1, 0, -1):
        first, second = figures[at - 1], figures[at]
        if second.stands and not first.bare and _LISTED.fullmatch(text, first.end, second.start):
            figures[at - 1] = replace(first, stands=True)
    return _readings(figures, text)


def _rate_figures(text: str, whole: bool) -> Iterator[_Figure]:
    told = -_CLAUSE
    for found in _RATE.finditer(text):
        at, end = found.start("rate"), found.end()
        bare = not (found["parts"] or found["unit"] or found["slash"])
        if bare and not _GOES_ON.match(text, end):
            continue
        value, scale = _rate_value(found)
        previous = text[max(0, at - _CLAUSE) : at]
        if value is None or _is_vague(found["rate"], previous):
            continue
        stands = not bare and not found["slash"]
        if found["parts"] or found["slash"]:
            word = _nearest(previous)
            if (word and word["scale"]) or _SCALE_AFTER.match(text, found.end("rate")):
                continue
            listed = at - told < _CLAUSE and (word is None or at - len(previous) + word.start() < told)
            share = listed or bool(word and word["share"]) or found["after"] in _SHARE_BOUNDS
            share = share or bool(_WORD.search(found["before"]) or _SHARE_AFTER.match(text, end))
            share = share or found["slash"] == "⁄"
            stands = stands or ((whole or share) and not _DAY_AFTER.match(text, end))
        if stands:
            told = end
        after = (found["after"] or "") + (found["guess"] or "").strip(" ()")
        minus = previous.endswith(_MINUS)
        yield _Figure(value, found.start(), end, found["before"], after, stands, bare, scale, minus)


def _nearest(clause: str) -> re.Match[str] | None:
    """The last word of `clause` that tells a share from a day or a scale."""
    words = list(_TELLING.finditer(clause))
    return words[-1] if words else None


def _rate_value(found: re.Match[str]) -> tuple[Fraction | None, Fraction | None]:
    """The value, and what a bare number sharing its unit is multiplied by."""
    if found["slash"]:
        over, under = int(found["over"]), int(found["under"])
        return (Fraction(over, under) if 0 < over <= under and under > 1 else None), None
    if found["parts"]:
        parts, share = number(found["parts"].strip()), number(found["share"].strip())
        return (share / parts if share and parts and parts > 1 else None), None
    value = number(found["number"].strip())
    unit = (found["unit"] or "").strip()
    if value is None or not unit:
        return value, None
    if not unit.startswith("割"):
        return value * _PERCENT, _PERCENT
    bu, rin = (int(DIGITS.get(part, part)) if part else 0 for part in (found["bu"], found["rin"]))
    value = value * _WARI + Fraction(bu, 100) + Fraction(rin, 1000)
    return (value if value <= 1 else None), _WARI


def _readings(figures: list[_Figure], text: str) -> list[_Reading]:
    """Ranges joined, the rest read one by one."""
    readings: list[_Reading | None] = []
    at = 0
    while at < len(figures):
        first, second = figures[at], figures[at + 1] if at + 1 < len(figures) else None
        at += 1
        gap = text[first.end : second.start].strip() if second else ""
        if second is None or not second.stands or not _continues(first, second, gap):
            readings.append(_single(first))
            continue
        # 様式2-50万円 is a number in a code.
        code = gap == "-" and _CODE_BEFORE.match(text, first.start - 1, first.start) if first.start else None
        changed = gap == "から" and text.startswith(("に", "へ"), second.end)
        joined = None if code or changed else _range(first, second)
        # 50万円から10万円を引く, 900万円から5千万円に増やす: two amounts. Of 800~1億円 neither end is sure.
        if joined is None and not first.bare and gap not in ("~", "-"):
            readings.append(_single(first))
        else:
            readings.append(joined)
            at += 1
    return [reading for reading in readings if reading]


def _continues(first: _Figure, second: _Figure, gap: str) -> bool:
    """Whether the two may be the ends of a range: 50~100万円, 50万円以上100万円未満."""
    if not first.after:
        return gap in _THROUGH
    return gap in ("", "、") and bool(_LOWER_AFTER.match(first.after) and _UPPER_AFTER.match(second.after))


def _range(first: _Figure, second: _Figure) -> _Reading | None:
    if first.minus or _LOWER_AFTER.match(second.after) or (first.bare and second.scale is None):
        return None
    low = first.value * second.scale if first.bare and second.scale else first.value
    if low > second.value:
        return None
    return _Reading(
        low,
        second.value,
        first.start,
        second.end,
        low_open=first.after in _OVER,
        high_open=second.after == "未満",
        words=(*_words(first), *_words(second)),
        qualifier=" ".join(filter(None, (first.qualifier, second.qualifier))),
    )


def _single(figure: _Figure) -> _Reading | None:
    words = [word.lastgroup for word in _WORD.finditer(figure.before)]
    upper = "upper" in words or bool(_UPPER_AFTER.match(figure.after))
    lower = "lower" in words or bool(_LOWER_AFTER.match(figure.after))
    if not figure.stands or figure.minus or (upper and lower):
        return None
    return _Reading(
        None if upper else figure.value,
        None if lower else figure.value,
        figure.start,
        figure.end,
        low_open=figure.after in _OVER,
        high_open=figure.after == "未満",
        words=_words(figure),
        qualifier=figure.qualifier,
    )


def _words(figure: _Figure) -> tuple[str, ...]:
    after = (figure.after.strip("()"),) if figure.after else ()
    return (*(word.group() for word in _WORD.finditer(figure.before)), *after)


def _only(readings: list[_Reading], text: str) -> _Reading | None:
    """The reading that takes up all of `text`, if there is one."""
    whole = (len(text) - len(text.lstrip()), len(text.rstrip()))
    return next((reading for reading in readings if (reading.start, reading.end) == whole), None)


def _amount(reading: _Reading, folded: Folded) -> Amount:
    low = None if reading.low is None else int(reading.low)
    high = None if reading.high is None else int(reading.high)
    span = folded.origin(reading.start, reading.end)
    return Amount(low, high, span, reading.low_open, reading.high_open, reading.words, reading.qualifier)


def _rate(reading: _Reading, folded: Folded) -> Rate:
    span = folded.origin(reading.start, reading.end)
    return Rate(reading.low, reading.high, span, reading.low_open, reading.high_open, reading.words)
