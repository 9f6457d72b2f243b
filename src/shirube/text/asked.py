"""What kind of thing a question asks for, and whether a text names one: a date, a person, an amount, a place.

A passage that names no date does not say when. The rules go by wording and Sudachi's parts of speech, and are
generous: where a text might name such a thing it does, so that a right passage is hardly ever turned away.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from shirube.text.normalize import fold
from shirube.text.questions import is_japanese
from shirube.text.tokenize import Morpheme, morphemes, words

Kind = Literal["date", "person", "amount", "place"]

# Units as a question counts in them, and the other units in which a text may count the same.
_MONTHS = "か月 ヶ月 カ月 ヵ月 ケ月 箇月"
_UNITS = {
    **dict.fromkeys(
        "本 枚 台 件 社 冊 頭 匹 羽 階 層 文字 ページ 巻 曲 局 校 戦 勝 敗 票 議席 両 便 秒 泊 歳 ポイント".split()
        + "世紀 年 月 時".split(),
        "",
    ),
    **dict.fromkeys(_MONTHS.split(), f"{_MONTHS} 月 年 日 週間"),
    **dict.fromkeys("か国 ヶ国 カ国 ヵ国".split(), "か国 ヶ国 カ国 ヵ国 国"),
    **dict.fromkeys("か所 ヶ所 カ所 ヵ所 箇所".split(), "か所 ヶ所 カ所 ヵ所 箇所 所"),
    "日": f"営業日 週間 {_MONTHS} 泊",
    "人": "名 人々",
    "名": "人",
    "メートル": "m",
    "キロ": "km kg",
    "センチ": "cm",
    "ミリ": "mm",
    "グラム": "g",
    "トン": "t",
    "パーセント": "% 割 分の",
    "%": "パーセント 割 分の",
    "割": "% パーセント 分の",
    "才": "歳",
    "年間": f"年 {_MONTHS}",
    "日間": "日 営業日 泊 週間",
    "週間": f"週 日 営業日 {_MONTHS}",
    "時間": "分",
    "分": "時間 秒",
    "種類": "種",
    "円": "銭",
    "個": "つ",
    "つ": "個 点 種 人 本 か",
    "回": "度",
    "度": "回 ℃ °",
    "話": "回",
    "位": "番",
    "番": "位 号",
    "倍": "割",
}
# Ways to say as much without a number and its unit.
_FREE = "無料|無償|全額|半額|実費|定額|free of charge|no charge"
_SHARES = "全額|半額|半分|全部"
# 6月及び12月 is twice a year, and 毎年 is once.
_RECURS = (
    r"毎[年月週日朝晩]|隔[年月週日]|(?:四?半期|[年月週日])(?:ごと|毎)|"
    r"[0-9]月[^。]{0,12}(?:及び|および|並びに|[と、・])[^。]{0,4}[0-9]月"
)
_OTHERWISE = {
    **dict.fromkeys(_MONTHS.split(), "半年"),
    "年": "元年",
    "年間": "半年",
    "時": "[0-9]{1,2}:[0-9]{2}|正午|零時",
    "円": _FREE,
    **dict.fromkeys(("割", "%", "パーセント"), _SHARES),
    "番": r"内線(?:番号)?(?: ?[:は])? ?[0-9]|[0-9]-[0-9]",
    "回": _RECURS,
}
_HOW_OFTEN = "[1一]?[年月週日](?:間|度)?(?:に|で|あたり)?"
_COUNTED = re.compile(
    f"(?:{_HOW_OFTEN}(?=何回))?何(?P<unit>{'|'.join(sorted(map(re.escape, _UNITS), key=len, reverse=True))})"
)
_AMOUNT = re.compile(
    r"いくら(?!でも)|(?:金額|料金|額)は?(?:[?。]|\Z)|いくつ|幾つ|幾ら|どれ(?:くらい|ぐらい|ほど|だけ|位)|どの(?:くらい|ぐらい|程度|位)|"
    r"\bhow (?:many|much|long|often|far|old|tall|large|big|high|deep|heavy|wide)\b"
)
# いつも is always, but いつもらえる and いつもどる are when.
_WHEN = re.compile(
    r"いつ(?!も(?!ら[えいうわっ]|ど[るりれっ])|でも)|何(?:年代|年度|時代)|"
    r"\bwhen\b|\bwhat (?:year|date|day|month|time|century)\b"
)
_WEEKDAY = re.compile(r"何曜")
_WHO = re.compile(r"誰(?!でも|も)|だれ(?!でも|も)|どなた(?!でも)|何者|\bwho(?:m|se)?\b")
_WHERE = re.compile(
    r"(?:どこ|何処)(?!でも|も|まで|か(?!ら|[。?]|$))|何(?:県|市|町|村|区|国|州|地方|大陸|駅)|\bwhere\b"
)
# No longer number is looked at: it bounds the work on any text.
_DIGITS = "(?<![0-9,.])[0-9][0-9,.]{0,31}"
_KANJI = "[〇一二三四五六七八九十百千万億兆数]"
_DIGIT = f"(?:{_DIGITS}|{_KANJI})"
_EACH_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_FIGURE = re.compile(
    rf"{_DIGITS}|{_KANJI}(?!分(?!間|以|前|後|の))(?:{_EACH_UNIT})|数[十百千万億]|{_FREE}|半[年月日分]|"
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice)\b"
)
# 一時金, 一時的 and 一日も早く say nothing of when, and neither does 日曜大工.
_NO_TIME = r"(?!一時(?:[金的期]|停止|休|帰|預|保|払|中断)|一日も|日曜大工)"
_TIME = re.compile(
    rf"{_NO_TIME}(?:(?:{_DIGIT}|元|同|翌)(?:年|月|日|時|世紀|週)|[0-9]{{4}}|[0-9]{{1,2}}[:/][0-9]{{2}}|年度|時代|世紀|"
    r"[0-9](?:か|ヶ|カ|ヵ|ケ|箇)月|営業日|[月火水木金土日]曜|前まで|正午|半年|"
    r"[年月週日](?:初|末|頭|明け)|翌|当日|前日|初日|入社日|毎[年月週日]|今[年月週日]|昨[年日]|[春夏秋冬朝昼夕晩夜]|以降|以内|"
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|year|month|week|day|days|century)\b)"
)
_DAY_OF_WEEK = re.compile("[月火水木金土日]曜|平日|土日|週末|毎日")
# Numbers that say which and not how many: of items and clauses, and dates.
_ITEM = re.compile(
    rf"(?m)^[ \t]*(?:[0-9]{{1,3}}[.)](?![0-9])|\([0-9]{{1,3}}\)|[①-⑳])|"
    rf"第 ?(?:[0-9]{{1,4}}|{_KANJI}{{1,6}}) ?[条項号章節款編](?:の(?:[0-9]{{1,2}}|{_KANJI}))?"
)
_DATE = re.compile(
    r"(?<![0-9])[0-9]{4}年(?!間)(?:[0-9]{1,2}月)?(?:[0-9]{1,2}日)?|(?:明治|大正|昭和|平成|令和)[0-9元]{1,2}年|"
    r"(?<![0-9])[0-9]{1,2}月(?![間額分])(?:[0-9]{1,2}日)?"
)
# Whoever may do something: offices, companies and people by what they are.
_SOMEBODY = frozenset(
    "者 人 長 員 官 師 士 医 家 手 王 帝 皇 后 妃 妻 夫 父 母 子 兄 弟 姉 妹 娘 息子 侯 公 卿 氏 君 様 "
    "殿 役 係 部 課 室 科 局 省 庁 社 会 党 団 隊 軍 校 院 店 組 班 達 等 自身 本人 上司 部下 社員 "
    "従業員 担当 管理 経営 神 仏 僧 女 男 民 生 客 主 将 相 臣 監督 作者 著者 俳優 歌手 選手 首相 "
    "大臣 議員 教授 博士 市民 国民 住民 農民 貴族 武士 兵 マネージャー リーダー スタッフ オーナー メンバー "
    "チーム グループ ディレクター プロデューサー デザイナー エンジニア ヘルプデスク".split()
)
# The last letter of 部長, 役員, 会社 or 医師; those below end so and are nobody.
_SOMEBODY_ENDS = frozenset(
    "者人長員官師士医家王帝妃妻夫父母兄弟姉妹娘氏役係部課室局省庁社会党団隊軍僧客民将臣"
)
_NOBODY = frozenset(
    "国家 一家 民家 社会 機会 大会 都会 総会 一部 全部 内部 外部 上部 下部 本部 神社 成長 身長 温室".split()
)
_SOMEWHERE = frozenset(
    "国 県 府 都 道 市 区 町 村 郡 州 島 山 川 海 湖 港 駅 線 路 橋 寺 社 宮 城 館 院 校 学校 大学 所 "
    "場 店 室 部 課 局 庁 省 階 棟 園 地 域 区域 地域 地方 大陸 半島 市場 工場 会社 本社 支社 窓口 "
    "画面 欄 ページ サイト ポータル システム フォルダー 書棚 倉庫 家 実家 宅 邸 部屋 機関 施設 "
    "センター ビル ホール 球場 空港 湾 谷 丘 森 原 岸 沖 側 付近 内 中 上 下 東 西 南 北 中央 中心".split()
)
_SOMEBODY_IN_ENGLISH = re.compile(
    r"\b(?:accountant|administrator|applicant|approver|auditor|board|boss|chair(?:man|woman|person)?|chief|colleague|"
    r"committee|company|coordinator|counsel|department|director|division|doctor|employee|employer|executive|"
    r"head office|help ?desk|hr|human resources|lawyer|leader|manager|member|nurse|officer|owner|physician|"
    r"president|secretary|section|staff|superior|supervisor|team|vendor)(?:e?s)?\b"
)
# All that a cell holds, where the name of its column says what it is a number of.
_BARE_NUMBER = re.compile(r"[0-9][0-9,.]{0,31}")
_BARE_DATE = re.compile(r"[0-9]{1,4}(?:[-/.:][0-9]{1,2}){0,2}")
_IN_LATIN = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z.]+)*")
_NOUNS = ("名詞", "接尾辞", "代名詞")


@dataclass(frozen=True)
class Asked:
    """What a question asks for. `counted` is how a text would write a number of it, `given` what the question names,
    `words` are those of the question; `unit` is what is counted in, and `often` the words that ask how often."""

    kind: Kind
    counted: re.Pattern[str]
    given: frozenset[str]
    words: frozenset[str] = frozenset()
    unit: str = ""
    often: frozenset[str] = frozenset()

    def named_in(self, text: str) -> bool:
        """Whether `text` may name such a thing, other than those of the question."""
        match self.kind:
            case "amount" | "date":
                found = _found(self.counted, fold(text))
            case "person":
                found = _somebody(text)
            case "place":
                found = _named(text, "地名", _SOMEWHERE)
        return not found <= self.given

    def numbered_in(self, column: str, cell: str) -> bool:
        """Whether a cell may give the number that is asked for without its unit: 12 below 定員, or below 人数."""
        value, name = fold(cell).strip(), fold(column)
        is_bare = _BARE_NUMBER.fullmatch(value) or (self.kind == "date" and _BARE_DATE.fullmatch(value))
        if not is_bare or value in self.words:
            return False
        return bool(self.unit and self.unit in name) or not self.words.isdisjoint(words(name))


def asked(question: str) -> Asked | None:
    """What is asked for, or None where it may be anything."""
    folded = fold(question)
    if _WEEKDAY.search(folded):
        return _of("date", _DAY_OF_WEEK, folded)
    if counted := _COUNTED.search(folded):
        unit = counted["unit"]
        forms = "|".join(map(re.escape, [unit, *_UNITS[unit].split()]))
        otherwise = f"|{_OTHERWISE[unit]}" if unit in _OTHERWISE else ""
        kind: Kind = "date" if unit in ("年", "月", "日", "時", "世紀") else "amount"
        written = re.compile(rf"{_DIGIT}\s{{0,2}}(?:{forms}){otherwise}")
        often = frozenset(words(counted.group().replace("何", " "))) if unit == "回" else frozenset[str]()
        return replace(_of(kind, written, folded), unit=unit, often=often)
    if _AMOUNT.search(folded):
        return _of("amount", _FIGURE, folded)
    if _WHEN.search(folded):
        return _of("date", _TIME, folded)
    if _WHO.search(folded):
        return Asked("person", _FIGURE, frozenset(_somebody(question)))
    if _WHERE.search(folded):
        return Asked("place", _FIGURE, frozenset(_named(question, "地名", frozenset())))
    return None


def _of(kind: Kind, counted: re.Pattern[str], folded: str) -> Asked:
    return Asked(kind, counted, frozenset(_found(counted, folded)), frozenset(words(folded)))


def _found(counted: re.Pattern[str], folded: str) -> set[str]:
    text = _ITEM.sub(" ", folded)
    if counted is _FIGURE:
        text = _DATE.sub(" ", text)
    return {each.group() for each in counted.finditer(text)}


def _named(text: str, sort: str, nouns: frozenset[str]) -> set[str]:
    """Names of the sort, nouns that stand for one, and names of which the dictionary knows no more than that."""
    return {
        each.form
        for each in morphemes(text)
        if each.kind in _NOUNS and (each.form in nouns or _is_name(each, sort))
    } | set(_IN_LATIN.findall(text))


def _somebody(text: str) -> set[str]:
    """Names of people, and of nouns that follow each other the last that is somebody: 代表取締役社長 is 社長."""
    found = set(_IN_LATIN.findall(text))
    if not is_japanese(text):
        found |= {each.group() for each in _SOMEBODY_IN_ENGLISH.finditer(fold(text))}
    last = ""
    counted = False
    for each in morphemes(text):
        if each.kind not in _NOUNS or each.detail == "数詞":
            found |= {last} - {""}
            last = ""
        elif _is_name(each, "人名"):
            found.add(each.form)
        elif not (counted and each.form != "人") and _is_somebody(each):
            last = each.form
        counted = each.detail == "数詞"
    return found | ({last} - {""})


def _is_name(word: Morpheme, sort: str) -> bool:
    return word.sort == sort or (word.detail == "固有名詞" and word.sort == "一般")


def _is_somebody(word: Morpheme) -> bool:
    ends_so = word.form[-1:] in _SOMEBODY_ENDS and word.sort == "一般" and word.form not in _NOBODY
    return word.form in _SOMEBODY or ends_so
