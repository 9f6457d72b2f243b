"""Which knowledge tool a message asks for, without a language model: plain rules over its words.

A text to be corrected is one that is called a scan's. A question about the knowledge base itself is one of which
nothing is left when the words for a base, for what it holds, for counting and for asking are taken away. All else is
searched for.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from shirube.text.normalize import fold
from shirube.text.tokenize import words

Tool = Literal["search_documents", "get_knowledge_base_summary", "normalize_ocr_text"]
TOOLS: tuple[Tool, ...] = get_args(Tool)


@dataclass(frozen=True)
class Choice:
    tool: Tool
    text: str
    """What the tool is given: the query itself, or the text to be corrected."""


_SCANNED = re.compile(
    r"ocr|スキャン|スキャナ|読み取|誤認識|scan|正規化|normali[sz]e|長音|ハイフン|hyphen|「-」"
)
_CORRECT = re.compile(
    r"正規化|直し|直す|修正|訂正|補正|変換|復元|normali[sz]e|fix|correct|convert|結果|出力|output|text|[:：→]"
)
# A long vowel that was misread stands between katakana, or ends them.
_MISREAD = re.compile(r"[ァ-ヺーｦ-ﾟ][-‐‑–—―−－ｰ]|[ァ-ヺ]一[ァ-ヺ]")
_QUOTED = re.compile(r"[「『\"“](.+?)[」』\"”]", re.S)
_AFTER = re.compile(r"[:：→]\s*(\S.*)", re.S)
_BEFORE = re.compile(
    r"^\s*(.+?)\s*(?:を|の(?:長音|ハイフン)を?)\s*(?:正規化|直|修正|訂正|補正|変換|復元)", re.S
)

# Words for the base, for what it holds, for counting and summing up, and for asking.
_BASE = "KB ナレッジベース ナレッジ 知識ベース データベース knowledge base"
_HELD = (
    "ドキュメント 文書 資料 ファイル コレクション チャンク 情報 データ 内容 中身 "
    "テーマ 分野 範囲 登録 登録済み 収録 格納 "
    "document documents file files collection collections chunk chunks content contents data information"
)
_COUNTED = (
    "概要 要約 サマリー まとめ 全体 全体像 統計 件数 数 総数 合計 内訳 規模 種類 件 個 点 "
    "いくつ 一覧 説明 紹介 全部 全て 総 "
    "overview summary summarize summarise statistics stats number count total many big size list describe about kind"
)
_WHICH = (
    "何 この ここ どんな どのような どの どれ どういう どう ような くらい this what what's which how here"
)
_ASKING = (
    "その もの こと あります 有る いる 入る 入れる 含む 含まれる する 保存 扱う 使う 使える 検索 できる "
    "教える 知る 見る 見せる 表示 出す ください 現在 今 利用 ついて なる よう 示す "
    "お願い 願う 分かる 書く 書かれる 答える "
    "the is are there in of it a an to me give tell show do does have contain contains stored held registered "
    "and for please s can you i get find from know will"
)
_LATIN = re.compile(r"[a-z]+(?:'[a-z]+)?")


def chosen_tool(message: str) -> Choice:
    folded = fold(message)
    if _SCANNED.search(folded) and _CORRECT.search(folded) and _MISREAD.search(message):
        return Choice("normalize_ocr_text", _to_correct(message))
    said = _said(folded)
    base, held, counted, which = (_said(each) for each in (_BASE, _HELD, _COUNTED, _WHICH))
    nothing_else = said <= base | held | counted | which | _said(_ASKING)
    if nothing_else and (said & (base | counted) or (said & held and said & which)):
        return Choice("get_knowledge_base_summary", message)
    return Choice("search_documents", message)


@lru_cache(1000)
def _said(text: str) -> frozenset[str]:
    """The words of a text; Latin ones as they are written, which Sudachi takes for katakana."""
    folded = fold(text)
    return frozenset([*_LATIN.findall(folded), *words(_LATIN.sub(" ", folded))])


def _to_correct(message: str) -> str:
    """What is quoted, follows a colon or stands before the request, if a misread letter is in it; else the whole."""
    for found in (*_QUOTED.finditer(message), *_AFTER.finditer(message), *_BEFORE.finditer(message)):
        if _MISREAD.search(found[1]):
            return found[1]
    return message
