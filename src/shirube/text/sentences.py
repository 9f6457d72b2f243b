"""Sentence borders. Every character belongs to exactly one sentence; one pass, any input."""

import re

_ENDS = frozenset("。．！？!?｡")
_OPEN = {"「": "」", "『": "』", "（": "）", "(": ")", "【": "】", "〔": "〕", "［": "］", "[": "]", "｢": "｣"}
_CLOSE = frozenset(_OPEN.values())
_MARKS = re.compile("[" + re.escape("".join([*_ENDS, *_OPEN, *_CLOSE, ".", "\n"])) + "]")
# A bracket left open this long is a slip of the writer, not a quotation.
_QUOTATION = 200
# Before a ? or ! within an address; a longer address is cut.
_ADDRESS = re.compile(r"(?:://|\bwww\.)[!-~]*\Z")
_LONGEST_ADDRESS = 200


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`, with the white space that follows each.

    A full stop inside brackets ends nothing (「はい。」と答えた is one sentence); a line break always does.
    """
    spans: list[tuple[int, int]] = []
    start = at = 0
    opened: list[tuple[str, int]] = []
    length = len(text)
    while mark := _MARKS.search(text, at):
        char, at = mark.group(), mark.end()
        if char == "\n":
            opened.clear()
        elif char in _OPEN:
            opened.append((_OPEN[char], at))
            continue
        elif char in _CLOSE:
            if opened and opened[-1][0] == char:
                opened.pop()
            continue
        elif (char in _ENDS and not _in_address(text, start, at)) or (
            char == "." and _ends_english(text, at)
        ):
            if opened and at - opened[0][1] > _QUOTATION:
                opened.clear()
            if opened:
                continue
            while at < length and (text[at] in _ENDS or text[at] in _CLOSE):
                at += 1
        else:
            continue  # within a number, a name or an address
        while at < length and text[at].isspace():
            at += 1
        spans.append((start, at))
        start = at
    if start < length:
        spans.append((start, length))
    return spans


def _in_address(text: str, start: int, at: int) -> bool:
    """Whether the mark before `at` stands within an address, as in https://example.com/a?b=c."""
    if text[at - 1] not in "?!" or not text[at : at + 1].isascii() or not text[at : at + 1].isalnum():
        return False
    return _ADDRESS.search(text, max(start, at - _LONGEST_ADDRESS), at) is not None


def _ends_english(text: str, at: int) -> bool:
    """Whether the full stop before `at` ends a sentence: white space and then a capital or the end."""
    if at >= len(text):
        return True
    if not text[at].isspace():
        return False
    following = text[at : at + 40].lstrip()
    return not following or not (following[0].islower() or following[0].isdigit())
