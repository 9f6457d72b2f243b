"""Numbers that Word counts by itself: they are not in the text, and 第3条 is what people search for."""

from typing import Any

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DIGITS = "〇一二三四五六七八九"
_KANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
_LEVELS = 9


class Numbering:
    """The lists of a document and how far each has been counted."""

    def __init__(self, root: Any | None) -> None:
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._list_of: dict[str, str] = {}
        self._restart: dict[str, dict[int, int]] = {}
        self._counted: dict[str, dict[int, int]] = {}
        for node in () if root is None else root.iter(_W + "abstractNum"):
            levels = {_number(level.get(_W + "ilvl")): _shape(level) for level in node.iter(_W + "lvl")}
            self._levels[node.get(_W + "abstractNumId")] = levels
        for node in () if root is None else root.iter(_W + "num"):
            number = node.get(_W + "numId")
            self._list_of[number] = _said(node, "abstractNumId") or ""
            self._restart[number] = {
                _number(each.get(_W + "ilvl")): _number(_said(each, "startOverride"))
                for each in node.iter(_W + "lvlOverride")
                if each.find(_W + "startOverride") is not None
            }

    def label(self, number: str, depth: int) -> str:
        """What Word writes before the next paragraph of a list, with a space behind it."""
        name = self._list_of.get(number, "")
        levels = self._levels.get(name, {})
        if depth not in levels:
            return ""
        counted = self._counted.setdefault(name, {})
        restart = self._restart.get(number, {}).pop(depth, None)
        start = levels[depth][2] if restart is None else restart
        counted[depth] = counted[depth] + 1 if depth in counted and restart is None else start
        for deeper in [each for each in counted if each > depth]:
            del counted[deeper]
        form, pattern, _ = levels[depth]
        if form == "bullet":
            return "・"
        for level in range(_LEVELS):
            if f"%{level + 1}" in pattern:
                form, _, first = levels.get(level, ("decimal", "", 1))
                pattern = pattern.replace(f"%{level + 1}", _written(counted.get(level, first), form))
        return f"{pattern} " if pattern else ""


def _shape(level: Any) -> tuple[str, str, int]:
    form, pattern = _said(level, "numFmt") or "decimal", _said(level, "lvlText") or ""
    return form, "" if form == "none" else pattern, _number(_said(level, "start") or "1")


def _written(number: int, form: str) -> str:
    """A number in the form a list has; what we do not know is written in digits."""
    if form in ("lowerLetter", "upperLetter"):
        text = _turn(_LETTERS, number)
        return text.upper() if form == "upperLetter" else text
    if form in ("lowerRoman", "upperRoman"):
        text = _roman(number)
        return text.upper() if form == "upperRoman" else text
    if form in ("japaneseCounting", "ideographDigital", "japaneseDigitalTenThousand", "chineseCounting"):
        return _kanji(number)
    if form in ("aiueo", "aiueoFullWidth"):
        return _turn(_KANA, number)
    if form in ("iroha", "irohaFullWidth"):
        return _turn(_IROHA, number)
    if form == "decimalEnclosedCircle" and 1 <= number <= len(_CIRCLED):
        return _CIRCLED[number - 1]
    if form == "decimalFullWidth":
        return str(number).translate(_FULL_WIDTH)
    return str(number)


def _turn(letters: str, number: int) -> str:
    return letters[(number - 1) % len(letters)] if number > 0 else str(number)


def _roman(number: int) -> str:
    if not 0 < number < 40:
        return str(number)
    text = ""
    for value, letters in _ROMAN:
        text += letters * (number // value)
        number %= value
    return text


def _kanji(number: int) -> str:
    if not 0 < number < 1000:
        return str(number)
    text = ""
    for value, unit in ((100, "百"), (10, "十")):
        count, number = divmod(number, value)
        text += ("" if count == 1 else _DIGITS[count]) + unit if count else ""
    return text + (_DIGITS[number] if number else "")


def _said(node: Any, name: str) -> str | None:
    found = node.find(_W + name)
    return None if found is None else found.get(_W + "val")


def _number(written: str | None) -> int:
    """Small numbers only: nobody counts a list to a million."""
    return int(written) if written and written.isdecimal() and len(written) < 7 else 0
