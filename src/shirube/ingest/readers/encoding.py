"""Bytes to text: UTF-8, UTF-16 with a mark, ISO-2022-JP, Shift_JIS and EUC-JP are read; the rest is refused.

Nothing is decoded with replacement characters: a text that cannot be read exactly is reported.
"""

import codecs
import re

from shirube.ingest.readers.contract import Unreadable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# Hiragana, katakana and common kanji speak for a guess; half-width katakana and private letters against it.
_LIKELY = re.compile(r"[ぁ-んァ-ヶー、。一-龠]")
_UNLIKELY = re.compile(r"[｡-ﾟ\ue000-\uf8ff]")
_SAMPLE = 200_000


def decode(data: bytes) -> str:
    """The text of `data`, or Unreadable with the reason."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding)
            except UnicodeDecodeError as error:
                raise _undecodable() from error
    if _CONTROL_BYTES.search(data, 0, _SAMPLE) and b"\x00" in data[:_SAMPLE]:
        raise Unreadable("binary file, not text", "テキストではなくバイナリファイルです。")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = _japanese(data)
    if len(_CONTROL.findall(text[:_SAMPLE])) > len(text[:_SAMPLE]) // 100:
        raise Unreadable("binary file, not text", "テキストではなくバイナリファイルです。")
    return text


def _japanese(data: bytes) -> str:
    """Shift_JIS or EUC-JP, whichever decodes exactly and reads more like Japanese."""
    readings = []
    for encoding in ("cp932", "euc_jp"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        sample = text[:_SAMPLE]
        readings.append((len(_LIKELY.findall(sample)) - 2 * len(_UNLIKELY.findall(sample)), text))
    if not readings or max(readings)[0] <= 0:
        raise _undecodable()
    return max(readings)[1]


def _undecodable() -> Unreadable:
    return Unreadable(
        "unknown character encoding (UTF-8, UTF-16, Shift_JIS and EUC-JP are read)",
        "文字コードを判別できません（UTF-8、UTF-16、Shift_JIS、EUC-JP に対応しています）。",
    )
