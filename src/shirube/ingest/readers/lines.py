"""Lines as a layout broke them, put together to paragraphs again: for the chunker a line break ends a sentence."""

import re

_JAPANESE = r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff“”‘’…―]"
_DASH = "[-‐‑–—−─━]"
# Spaces between Japanese letters, and around a dash behind katakana, which may be a long vowel.
_BETWEEN_JAPANESE = re.compile(
    rf"(?<={_JAPANESE})[ \t]+(?={_JAPANESE})|(?<=[ァ-ヺー])[ \t]+(?={_DASH})|(?<=[ァ-ヺー]{_DASH})[ \t]+(?={_JAPANESE})"
    rf"|(?<=[ァ-ヺー] {_DASH})[ \t]+(?={_JAPANESE})"
)
_ENDS = re.compile(r"[。．！？!?｡][」』）)】”\"]*$|(?<=[^A-Z0-9])\.[)\"”’]*$")
_DIGIT = "0-9０-９"
_NUMBER = rf"[{_DIGIT}一二三四五六七八九十百千〇]+"
_BEGINS = re.compile(
    r"[・•●○◎■□◆◇▪▫‣※★☆→➢✓＊*【<＜［\[|①-⑳㈠-㈩Ⅰ-Ⅻⅰ-ⅻ]|[-–—－] "
    # 第3条の規定により is only the middle of a sentence.
    rf"|第{_NUMBER}[条章節款編部](?:の{_NUMBER})?(?![のにをがはへとでや第、及又若並])"
    rf"|[(（〔](?:{_NUMBER}|[ア-ン]|[a-zA-Z]{{1,3}})[)）〕]"
    rf"|{_NUMBER}[.．、)）](?![{_DIGIT}])"
    rf"|[{_DIGIT}]+(?:[.．-][{_DIGIT}]+)+[.．]?\s"
    rf"|[{_DIGIT}]+[\s　]+[^{_DIGIT}\sa-z]"
    rf"|(?:附則|別表|注|備考|別紙)(?:$|[\s　{_DIGIT}第:：(（])"
    r"|[ア-ン][\s　.．、)）]|[a-zA-Z][.)] "
)
# The dots of a table of contents.
_LEADERS = re.compile(r"(?:\s?[.．・･…‥]){4,}\s?")
_SOFT_HYPHENS = "\x02\xad\ufffe"


def ends(line: str) -> bool:
    """Whether a line ends its paragraph by what it ends with."""
    return _ENDS.search(line) is not None


def begins(line: str) -> bool:
    """Whether a line begins a paragraph by what it begins with: a bullet, a number, 第3条."""
    return _BEGINS.match(line) is not None


def glued(first: str, second: str) -> tuple[str, str]:
    """What is left of a line before another of its paragraph, and what stands between them.

    Japanese needs no space, and a word cut by a hyphen becomes whole.
    """
    if first and first[-1] in _SOFT_HYPHENS:
        return first[:-1], ""
    if not first or not second or re.match(_JAPANESE, first[-1]) or re.match(_JAPANESE, second[0]):
        return first, ""
    if first[-1] == "-" and second[0].islower() and first[-2:-1].isalpha():
        return first, ""
    return first, " "


def joined(first: str, second: str) -> str:
    """Two lines of a paragraph as one."""
    return "".join((*glued(first, second), second))


def without_gaps(text: str) -> str:
    """Without the spaces that stand between Japanese letters."""
    return _BETWEEN_JAPANESE.sub("", text)


def clean(text: str) -> str:
    """With every kind of space as one, rows of dots as one sign, and no soft hyphen but at the end."""
    inside = text.rstrip(_SOFT_HYPHENS)
    for sign in _SOFT_HYPHENS:
        inside = inside.replace(sign, "")
    inside = _LEADERS.sub(" … ", inside)
    return " ".join(inside.split()) + ("\xad" if len(inside.rstrip()) < len(text.rstrip()) else "")
