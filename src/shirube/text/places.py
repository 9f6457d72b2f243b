"""Prefectures by any of their names, those named in a text, and the level of government of a body.

In a text a full name (青森県, 東京都) counts wherever it stands, and longer names go first: 東京都 holds neither 東京
nor 京都. A short name (青森) counts only as a word of its own: no kanji, katakana, Latin letter or digit beside it
(青森市, 東京駅 and 新青森 name none), no さん or ちゃん after it. 大分 and 三重 are also everyday words (だいぶ,
さんじゅう) and count only where no hiragana follows.
"""

import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from shirube.text.normalize import fold, fold_with_map

Level: TypeAlias = Literal["national", "prefecture", "municipality", "financial"]


@dataclass(frozen=True)
class Prefecture:
    """`code` as in JIS X 0401 and ISO 3166-2:JP; `romaji` and `kana` are those of the short name."""

    code: int
    name: str
    short: str
    romaji: str
    kana: str


@dataclass(frozen=True)
class Mention:
    prefecture: Prefecture
    span: tuple[int, int]


# In the order of the codes, from 1.
_TABLE = """
北海道 Hokkaido ほっかいどう/青森県 Aomori あおもり/岩手県 Iwate いわて/宮城県 Miyagi みやぎ
秋田県 Akita あきた/山形県 Yamagata やまがた/福島県 Fukushima ふくしま/茨城県 Ibaraki いばらき
栃木県 Tochigi とちぎ/群馬県 Gunma ぐんま/埼玉県 Saitama さいたま/千葉県 Chiba ちば
東京都 Tokyo とうきょう/神奈川県 Kanagawa かながわ/新潟県 Niigata にいがた/富山県 Toyama とやま
石川県 Ishikawa いしかわ/福井県 Fukui ふくい/山梨県 Yamanashi やまなし/長野県 Nagano ながの
岐阜県 Gifu ぎふ/静岡県 Shizuoka しずおか/愛知県 Aichi あいち/三重県 Mie みえ
滋賀県 Shiga しが/京都府 Kyoto きょうと/大阪府 Osaka おおさか/兵庫県 Hyogo ひょうご
奈良県 Nara なら/和歌山県 Wakayama わかやま/鳥取県 Tottori とっとり/島根県 Shimane しまね
岡山県 Okayama おかやま/広島県 Hiroshima ひろしま/山口県 Yamaguchi やまぐち/徳島県 Tokushima とくしま
香川県 Kagawa かがわ/愛媛県 Ehime えひめ/高知県 Kochi こうち/福岡県 Fukuoka ふくおか
佐賀県 Saga さが/長崎県 Nagasaki ながさき/熊本県 Kumamoto くまもと/大分県 Oita おおいた
宮崎県 Miyazaki みやざき/鹿児島県 Kagoshima かごしま/沖縄県 Okinawa おきなわ
"""


def _row(code: int, row: str) -> Prefecture:
    name, romaji, kana = row.split(" ")
    return Prefecture(code, name, name if code == 1 else name[:-1], romaji, kana)


PREFECTURES = tuple(_row(code, row) for code, row in enumerate(re.split("[/\n]", _TABLE.strip()), start=1))

_KANA_ENDING = {"都": "と", "道": "", "府": "ふ", "県": "けん"}
_HIRAGANA = {katakana: katakana - 0x60 for katakana in range(ord("ァ"), ord("ヶ") + 1)}
_CODE = re.compile("(?:jp-)?0?([0-9]{1,2})")
_ROMAJI_ENDING = re.compile(r"[ -](?:(?:prefecture|pref\.?|metropolis|ken|fu|to)$|(?=do$))")
# Toukyou and Ohsaka write a long o, Gumma an n as it is said.
_LONG_O = re.compile("(?<=o)(?:[ou]|h(?![aiueoy]))")
_SAID_N = re.compile("m(?=[bmp])")
# Longer than any name; a hint for more than that would mean nothing and cost time.
_LONGEST = 24
# Below this likeness (difflib's ratio) a hint is no help: it is one kanji of two, or half the letters.
_LIKENESS = 0.5


def _key(name: str) -> str:
    """The form under which names that differ only in writing are the same."""
    folded = fold(name).strip()
    if code := _CODE.fullmatch(folded):
        return str(int(code[1]))
    decomposed = unicodedata.normalize("NFD", folded.translate(_HIRAGANA))
    plain = unicodedata.normalize("NFC", decomposed.translate({0x302: None, 0x304: None}))
    return _SAID_N.sub("n", _LONG_O.sub("", _ROMAJI_ENDING.sub("", plain))) if plain.isascii() else plain


def _forms(one: Prefecture) -> tuple[str, ...]:
    return one.name, one.short, _key(one.romaji), one.kana, one.kana + _KANA_ENDING[one.name[-1]]


_FORMS = {one: _forms(one) for one in PREFECTURES}
_BY_KEY = {key: one for one, forms in _FORMS.items() for key in (*forms, str(one.code))}

_LETTER = "一-鿿々ァ-ヺーa-z0-9"
_ALSO_WORDS = ("大分", "三重")
_FULL = "|".join(one.name for one in PREFECTURES)
_PREFIX = re.compile(_FULL)
_SHORT = "|".join(one.short for one in PREFECTURES if one.short != one.name and one.short not in _ALSO_WORDS)
_NAMED = re.compile(
    rf"{_FULL}|(?<![{_LETTER}])(?:(?:{_SHORT})(?![{_LETTER}]|さん|ちゃん|くん)|"
    rf"(?:{'|'.join(_ALSO_WORDS)})(?![{_LETTER}ぁ-ゖ]))"
)

_WORDS: dict[Level, str] = {
    "national": "国 国家 政府 省庁 中央省庁 national government ministry",
    "prefecture": "都道府県 道府県 都 道 府 県 警視庁 東京消防庁 prefecture prefectural pref",
    "municipality": "市区町村 区市町村 市町村 市 区 町 村 特別区 municipality municipal city ward town village",
    "financial": "公庫 金融 政策金融 金融機関 financial",
}
_LEVEL = {word: level for level, words in _WORDS.items() for word in words.split()}
_FINANCIAL = re.compile(
    "公庫|信用保証協会|銀行|信用金庫|信用組合|信金|信組|金融機関|商工中金|中央金庫|農林中金"
)
_NATIONAL = re.compile(
    "(?:総務|法務|外務|財務|文部科学|文科|厚生労働|厚労|農林水産|農水|経済産業|経産|国土交通|国交|環境|防衛)省|"
    "(?:デジタル|復興|こども家庭|消費者|金融|警察|国税|中小企業|資源エネルギー|特許|林野|水産|観光|文化|スポーツ|気象|"
    "海上保安|消防|出入国在留管理|原子力規制|宮内)庁|内閣府|内閣官房|公正取引委員会|独立行政法人|国立研究開発法人|"
    "(?:科学技術振興|中小企業基盤整備|日本医療研究開発|新エネルギー・産業技術総合開発)機構|日本学術振興会"
)
_BUREAU = re.compile("(?:国税|経済産業|農政|労働|地方整備|開発|運輸|総合通信|財務|法務)局$")
_MUNICIPAL = re.compile("[^ ](?:[市町]|(?<![地学])区|(?<![農漁])村)(?:役所|役場|長|議会)?$")
_MUNICIPAL_PART = re.compile("[市区町村郡]")
_BRACKETED = re.compile(r"\([^()]*\)")
_JOINT = re.compile("[×/、,]")


def prefecture(name: str | int) -> Prefecture | None:
    """The prefecture of a name in kanji, kana or romaji, with or without 県, or of a code (13, "13", "JP-13")."""
    return _BY_KEY.get(_key(str(name)))


def find_prefectures(text: str) -> list[Mention]:
    """The prefectures named in Japanese in `text`, in order, each time they are named."""
    folded = fold_with_map(text)
    found = _NAMED.finditer(folded.text)
    return [Mention(_BY_KEY[one.group()], folded.origin(*one.span())) for one in found]


def nearest_prefectures(name: str, n: int = 3) -> list[str]:
    """Up to `n` full names most like a misspelt `name`, the likest first; none where nothing is like it."""
    key = _key(name[:_LONGEST])
    matcher = SequenceMatcher(b=key, autojunk=False)

    def likeness(form: str) -> float:
        matcher.set_seq1(form)
        return matcher.ratio()

    scores = [(max(map(likeness, forms)), one) for one, forms in _FORMS.items()]
    ranked = sorted(
        (score for score in scores if score[0] >= _LIKENESS), key=lambda score: (-score[0], score[1].code)
    )
    return [one.name for _, one in ranked[: max(n, 0)]]


def level_named(word: str) -> Level | None:
    """The level that a word for one names (国, 都道府県, city); None for the name of a body."""
    return _LEVEL.get(fold(word).strip())


def authority_level(name: str) -> Level | None:
    """The level of a body of government or public finance, in Japanese or English; None where the name doesn't tell.

    What stands in brackets is left aside; of several bodies (中小企業庁 × 商工会) those that tell must agree.
    """
    bodies = _JOINT.split(_BRACKETED.sub("", fold(name)))
    levels = {level for body in bodies if (level := _level(body.strip()))}
    return levels.pop() if len(levels) == 1 else None


def _level(body: str) -> Level | None:
    if word := _LEVEL.get(body):
        return word
    if _FINANCIAL.search(body):
        return "financial"
    full = _PREFIX.match(body)
    # 東京都財務局 is the city's, 北海道財務局 the state's.
    if _NATIONAL.match(body) or (_BUREAU.search(body) and (not full or full.group() == "北海道")):
        return "national"
    if full and _MUNICIPAL_PART.search(body, full.end()):
        return "municipality" if _MUNICIPAL.search(body, full.end()) else None
    if full or (prefecture(body) and not _CODE.fullmatch(body)):
        return "prefecture"
    return "municipality" if _MUNICIPAL.search(body) else None
