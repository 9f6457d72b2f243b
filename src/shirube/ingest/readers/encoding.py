"""Bytes to text: UTF-8, UTF-16 with a mark, ISO-2022-JP, Shift_JIS and EUC-JP are read; the rest is refused.

Nothing is decoded with replacement characters: a text that cannot be read exactly is reported.
"""

import codecs
import re
from contextlib import suppress

from shirube.ingest.readers.contract import Unreadable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
# ISO-2022-JP is ASCII throughout, with escapes before what is Japanese.
_ESCAPE = re.compile(rb"\x1b(?:\$[@B(]|\([IJ])")

_KANA = "ぁ-んァ-ヶー"
_SYMBOLS = "　-〕・！-～※■□●○◎◆◇▲△▼▽★☆→←↑↓①-⑳"
# The first level of JIS X 0208, rows 16 to 47: nearly every kanji of nearly every text.
_COMMON = "".join(
    bytes((row, cell)).decode("euc_jp")
    for row in range(0xB0, 0xD0)
    for cell in range(0xA1, 0xD4 if row == 0xCF else 0xFF)
)
# What the letters of a guess are worth. A kanji behind a Latin letter may be an accent or a quotation mark misread.
_WORTH = (
    (re.compile(f"(?<![A-Za-z])[{_KANA}{_SYMBOLS}{_COMMON}]"), 4),
    (re.compile("[ｦ-ﾟ](?=[ｦ-ﾟ])"), 1),
    (re.compile("[｡-･]"), -2),
    (re.compile(f"(?![{_COMMON}])[一-鿿]|[\x80-\xa0\ue000-\uf8ff]"), -12),
)
_HAS_KANA = re.compile(f"[{_KANA}]")
# Chinese and Korean decode as EUC-JP too, as kanji without kana. Only a text this short may be without.
_KANJI_ONLY = 30
_THREE_BYTES = re.compile("[\u0800-\ufffc\U00010000-\U0010ffff]")
_SAMPLE = 200_000


def decode(data: bytes, declared: str | None = None) -> str:
    """The text of `data`, or Unreadable with the reason. The encoding it declares is believed where UTF-8 fails."""
    text = _decoded(data, declared)
    sample = text[:_SAMPLE]
    if "\0" in text or len(_CONTROL.findall(sample)) > len(sample) // 100:
        raise _binary()
    return text


def _decoded(data: bytes, declared: str | None) -> str:
    marked = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)
    if marked:
        text = _exactly(data, marked)
    elif b"\0" in data:
        raise _binary()
    elif data.isascii():
        text = _iso_2022_jp(data) if _ESCAPE.search(data) else data.decode("ascii")
    else:
        text = _exactly(data, "utf-8")
        if text is None and declared:
            text = _exactly(data, declared)
        if text is None:
            text = _japanese(data)
    if text is None:
        raise Unreadable(
            "unknown character encoding (UTF-8, UTF-16, Shift_JIS, EUC-JP and ISO-2022-JP are read)",
            "文字コードを判別できません（UTF-8、UTF-16、Shift_JIS、EUC-JP、ISO-2022-JP に対応しています）。",
        )
    return text


def _exactly(data: bytes, *encodings: str) -> str | None:
    """The text by the first of the encodings that fits."""
    for encoding in encodings:
        with suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return None


def _iso_2022_jp(data: bytes) -> str | None:
    """Where Windows has added letters (①, ㈱), JIS X 0213 knows them, by another escape."""
    text = _exactly(data, "iso2022_jp_ext")
    return text if text is not None else _exactly(data.replace(b"\x1b$B", b"\x1b$(Q"), "iso2022_jp_2004")


def _japanese(data: bytes) -> str | None:
    """Shift_JIS or EUC-JP, whichever decodes exactly and reads more like Japanese."""
    _check_utf_8(data[:_SAMPLE])
    shift_jis = _exactly(data, "cp932")
    euc_jp = _exactly(data, "euc_jp", "euc_jis_2004")
    if euc_jp and len(euc_jp) > _KANJI_ONLY and not _HAS_KANA.search(euc_jp):
        euc_jp = None
    readings = [(text, _worth(text[:_SAMPLE])) for text in (shift_jis, euc_jp) if text]
    text, worth = max(readings, key=lambda reading: reading[1], default=(None, 0))
    return text if worth > 0 else None


def _worth(text: str) -> int:
    return sum(worth * len(letters.findall(text)) for letters, worth in _WORTH)


def _check_utf_8(data: bytes) -> None:
    """Broken UTF-8 often decodes as Shift_JIS, into nonsense."""
    text = data.decode("utf-8", "replace")
    if len(_THREE_BYTES.findall(text)) > text.count("\ufffd"):
        raise Unreadable(
            "UTF-8 with broken characters; save it again",
            "UTF-8 ですが、壊れた文字があります。保存し直してください。",
        )


def _binary() -> Unreadable:
    return Unreadable("binary file, not text", "テキストではなくバイナリファイルです。")
