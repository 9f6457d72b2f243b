"""The search for programmes once more, as plain loops over the rows of a file: slow, and without an index."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any
from unicodedata import name as name_of_character

from shirube.text.normalize import fold
from shirube.text.places import PREFECTURES
from shirube.text.tokenize import words
from shirube.toolsets.programs.terms import Part, in_hiragana, kind_words, parts_of, searched

Row = Mapping[str, Any]
Asked = Mapping[str, Any]
Condition = Callable[["Programme"], bool]

TIERS = ("S", "A", "B", "C", None, "X")
LEVELS = {"国": "national", "都道府県": "prefecture", "市区町村": "municipality", "公庫": "financial"}
# Every notation that rows and questions here may use.
NOTATIONS = {
    "北海道": ("北海道", "Hokkaido", "1", "01", "ほっかいどう"),
    "青森県": ("青森県", "青森", "Aomori", "2", "02", "ＡＯＭＯＲＩ", "アオモリ", "あおもりけん"),
    "東京都": ("東京都", "東京", "Tokyo", "13", "TOKYO", "１３", "JP-13", "とうきょう", "トウキョウト"),
    "三重県": ("三重県", "三重", "Mie", "24", "みえ"),
    "京都府": ("京都府", "京都", "Kyoto", "26", "きょうと", "ｷｮｳﾄ"),
    "大阪府": ("大阪府", "大阪", "Osaka", "27", "Ōsaka", " 大阪府 "),
}


def _text(value: Any) -> str | None:
    return " ".join(value.replace("\u200b", "").split()) or None if isinstance(value, str) else None


def _texts(value: Any) -> list[str]:
    return [text for each in value or () if (text := _text(each))]


def _day(written: Any) -> date | None:
    return date.fromisoformat(written) if written else None


def _areas(value: Any) -> list[str]:
    """The full names of prefectures; none for the whole country."""
    written = [*value] if isinstance(value, list) else (_text(value) or "").split("/")
    full = {way.strip(): name for name, ways in NOTATIONS.items() for way in ways}
    known = {full.get(each.strip(), each.strip()) for each in written} - {""}
    return [] if "全国" in known or len(known) == len(PREFECTURES) else sorted(known)


class Programme:
    """What a row says, in the forms that are looked at."""

    def __init__(self, row: Row) -> None:
        self.id = str(row["unified_id"])
        self.name = _text(row["primary_name"]) or ""
        self.tier = _text(row.get("tier"))
        self.is_excluded = bool(row.get("excluded"))
        level = _text(row.get("authority_level"))
        self.level = LEVELS.get(level, level) if level else None
        self.areas = _areas(row.get("prefectures") or row.get("prefecture"))
        self.most = row.get("amount_max_man_yen") or None
        self.purposes = _texts(row.get("funding_purpose"))
        self.targets = _texts(row.get("target_types"))
        window = row.get("application_window") or {}
        self.opens, self.closes = (_day(window.get(end)) for end in ("start_date", "end_date"))
        aliases = _texts(row.get("aliases"))
        kind = _text(row.get("program_kind"))
        others = [
            *self.areas,
            *filter(None, (_text(row.get("municipality")), _text(row.get("authority_name")))),
            *(kind_words(kind) if kind else ()),
            *self.purposes,
            *self.targets,
        ]
        self.written_name = searched(self.name)
        self.written_aliases = [searched(alias) for alias in aliases]
        self.written_others = [searched(other) for other in others]
        self.words_of_names = [words(text) for text in (self.name, *aliases)]
        self.words_of_others = [words(text) for text in others]

    def weight(self, part: Part) -> int:
        """0 where the part is not found."""
        if stands_in(part.written, self.written_name):
            return 4
        if _stands_in_any((part.written,), self.written_aliases):
            return 3
        phrase = part.phrase.split()
        if _stands_in_any(
            _in_kana(part.written, *part.others), _in_kana(self.written_name, *self.written_aliases)
        ) or stand_side_by_side(phrase, self.words_of_names):
            return 2
        elsewhere = part.others if part.is_word else (part.written, *part.others)
        if (
            _stands_in_any(_in_kana(*elsewhere), _in_kana(*self.written_others))
            or stand_side_by_side(phrase, self.words_of_others)
            or (part.halves and all(self.weight(half) for half in part.halves))
        ):
            return 1
        return 0


def _in_kana(*texts: str) -> list[str]:
    return [in_hiragana(text) for text in texts]


def _stands_in_any(forms: Sequence[str], texts: Sequence[str]) -> bool:
    return any(stands_in(form, text) for form in forms for text in texts)


def stands_in(form: str, text: str) -> bool:
    """Whether a form is written somewhere in the text where it may be."""
    at = text.find(form)
    while at >= 0:
        before, after = text[:at][-1:], text[at + len(form) :][:1]
        if _is_short_word(form):
            may_be = not _belong_together(before, form[0]) and not _belong_together(form[-1], after)
        else:
            cut = _begins_with_short_word(form) and _is_latin(before or " ")
            cut = cut or (_begins_with_short_word(form[::-1]) and _is_latin(after or " "))
            may_be = not cut and not (form.startswith("京都") and before == "東")
        if may_be:
            return True
        at = text.find(form, at + 1)
    return False


def _is_short_word(form: str) -> bool:
    return form.isascii() and form.isalnum() and len(form) <= 3


def _begins_with_short_word(form: str) -> bool:
    """One to three Latin letters before something else that is not all ASCII."""
    letters = len(form) - len(form.lstrip("abcdefghijklmnopqrstuvwxyz"))
    return not form.isascii() and 1 <= letters <= 3


def _belong_together(left: str, right: str) -> bool:
    """Whether two neighbours are letters of one word or figures of one number."""
    return bool(left and right) and ((_is_latin(left) and _is_latin(right)) or (left + right).isdecimal())


def _is_latin(letter: str) -> bool:
    return name_of_character(letter, "").startswith("LATIN ")


def stand_side_by_side(phrase: Sequence[str], texts: Sequence[Sequence[str]]) -> bool:
    """Whether the words stand in this order, with nothing between them, within one of the texts."""
    size = len(phrase)
    for text in texts:
        if phrase and phrase[0] in text:
            for at in range(len(text) - size + 1):
                if text[at : at + size] == phrase:
                    return True
    return False


class Catalogue:
    """Rows that are looked at one by one for every question; what a part weighs in a row is remembered."""

    def __init__(self, rows: Sequence[Row], today: date) -> None:
        self.programmes = [Programme(row) for row in rows]
        self._today = today
        self._weights: dict[Part, dict[str, int]] = {}

    def search(self, asked: Asked) -> list[str]:
        """The ids of all that is found, in order."""
        parts = parts_of(asked.get("q") or "")
        remembered = [(part, self._weights.setdefault(part, {})) for part in parts]
        conditions = list(_conditions(asked, self._today))
        found = []
        for programme in self.programmes:
            if not all(condition(programme) for condition in conditions):
                continue
            weights: list[int] = []
            for part, known in remembered:
                if programme.id not in known:
                    known[programme.id] = programme.weight(part)
                weights.append(known[programme.id])
                if not weights[-1]:
                    break
            else:
                found.append((_place(programme, parts, weights), programme.id))
        return [key for _, key in sorted(found)]

    def weights(self) -> set[int]:
        """All that any part asked for so far weighed anywhere."""
        return {weight for known in self._weights.values() for weight in known.values()}


def _place(programme: Programme, parts: Sequence[Part], weights: Sequence[int]) -> tuple[Any, ...]:
    """What programmes are ordered by, before their ids."""
    in_name = [len(part.written) for part, weight in zip(parts, weights, strict=True) if weight == 4]
    share = min(Fraction(sum(in_name), len(programme.written_name)), Fraction(1))
    return len(in_name) < len(parts), TIERS.index(programme.tier), -(sum(weights) + share), programme.name


def _conditions(asked: Asked, today: date) -> Iterator[Condition]:
    """What a programme has to fulfil besides the words."""
    if not asked.get("include_excluded"):
        yield lambda programme: programme.tier != "X" and not programme.is_excluded
    if tiers := asked.get("tier"):
        wanted = {fold(tier).upper() for tier in tiers}
        yield lambda programme: programme.tier in wanted
    if area := asked.get("prefecture"):
        yield _is_for(area, include_national=bool(asked.get("include_national")))
    if level := asked.get("authority_level"):
        yield lambda programme: programme.level == LEVELS.get(level, level)
    if purposes := {*map(_same, asked.get("funding_purpose", ()))}:
        yield lambda programme: not purposes.isdisjoint(map(_same, programme.purposes))
    if targets := {*map(_same, asked.get("target_type", ()))}:
        yield lambda programme: not targets.isdisjoint(map(_same, programme.targets))
    if (least := asked.get("amount_min_man_yen")) is not None:
        yield lambda programme: programme.most is not None and programme.most >= least
    if (most := asked.get("amount_max_man_yen")) is not None:
        yield lambda programme: programme.most is not None and programme.most <= most
    if day := _day(asked.get("open_on")):
        yield lambda programme: _is_open(programme, day)
    if (days := asked.get("deadline_within_days")) is not None:
        last = today + timedelta(days)
        yield lambda programme: programme.closes is not None and today <= programme.closes <= last


def _same(value: str) -> str:
    return fold(value).strip()


def _is_for(area: str, *, include_national: bool) -> Condition:
    """A name that no prefecture has finds nothing, not even what is for the whole country."""
    name = prefecture_of(area)
    if name is None:
        return lambda programme: False
    return lambda programme: name in programme.areas or (include_national and not programme.areas)


def prefecture_of(notation: Any) -> str | None:
    return next((name for name, ways in NOTATIONS.items() if notation in ways), None)


def _is_open(programme: Programme, day: date) -> bool:
    """Where one end is not known the other decides; of a programme without dates nobody knows."""
    opens, closes = programme.opens, programme.closes
    if opens is None and closes is None:
        return False
    return (opens is None or opens <= day) and (closes is None or day <= closes)
