"""All programmes of a tenant in memory, as columns: filters are masks over them, words are found by passing over texts.

Order: names that hold every part of the query first, then by tier, relevance, name and id. Relevance is the sum of what
the parts weigh by where they were found, and the share of the name that those in it make up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shirube.store.programs import SearchRow
from shirube.text.normalize import fold
from shirube.text.places import PREFECTURES
from shirube.toolsets.programs.record import TIERS
from shirube.toolsets.programs.terms import SEPARATOR, Form, Part, form_of, in_hiragana, name_key, parts_of

Mask = npt.NDArray[np.bool_]
Weights = npt.NDArray[np.float32]

# Where a part was found: as written in the name, in an alias; in another form in either; in anything else or by halves.
IN_NAME, IN_ALIAS, IN_OTHER_FORM, ELSEWHERE = 4.0, 3.0, 2.0, 1.0
# A tier that nobody gave stands behind those that were, and before X.
_TIER_RANK = {tier: rank for rank, tier in enumerate((*TIERS[:-1], None, TIERS[-1]))}
_LEVELS = ("national", "prefecture", "municipality", "financial")
_CODES = {one.name: one.code for one in PREFECTURES}
_REMEMBERED = 128


@dataclass(frozen=True)
class Conditions:
    """What is asked for; None asks for nothing. Prefectures are full names."""

    q: str | None = None
    tier: tuple[str, ...] | None = None
    prefecture: str | None = None
    include_national: bool = False
    authority_level: str | None = None
    funding_purpose: tuple[str, ...] | None = None
    target_type: tuple[str, ...] | None = None
    amount_min_man_yen: float | None = None
    amount_max_man_yen: float | None = None
    include_excluded: bool = False
    open_on: date | None = None
    deadline_within_days: int | None = None


# What may be left out of a search that finds nothing.
DROPPABLE = (
    *("q", "tier", "prefecture", "authority_level", "funding_purpose", "target_type", "amount_min_man_yen"),
    *("amount_max_man_yen", "open_on", "deadline_within_days"),
)


class Dropped(NamedTuple):
    """A condition that was dropped, or one word of q, and how many that leaves."""

    condition: str
    word: str = ""
    leaves: int = 0


@dataclass(frozen=True)
class Found:
    total: int
    ids: list[str]


class Catalogue:
    def __init__(self, revision: int, rows: Sequence[SearchRow], areas: Iterable[tuple[str, str]]) -> None:
        self.revision = revision
        rows = sorted(rows, key=lambda row: (row.name, row.unified_id))
        self.ids = [row.unified_id for row in rows]
        self._names = _Texts([row.name_text for row in rows])
        self._aliases = _Texts([row.alias_text for row in rows])
        self._others = _Texts([row.other_text for row in rows])
        self._name_words = _Texts([row.name_words for row in rows])
        self._other_words = _Texts([row.other_words for row in rows])
        self._name_lengths = np.array([max(len(row.name_text), 1) for row in rows], np.float64)
        self._tier_ranks = np.array([_TIER_RANK[row.tier] for row in rows], np.int8)
        self._levels = np.array(
            [_LEVELS.index(row.authority_level) if row.authority_level else -1 for row in rows], np.int8
        )
        amounts = (np.nan if row.amount_max_man_yen is None else row.amount_max_man_yen for row in rows)
        self._amounts = np.fromiter(amounts, np.float64, len(rows))
        self._is_out = np.array([row.is_excluded or row.tier == "X" for row in rows], np.bool_)
        self._opens = np.array([_ordinal(row.opens) for row in rows], np.int32)
        self._closes = np.array([_ordinal(row.closes) for row in rows], np.int32)
        self._purposes = _values(row.purposes for row in rows)
        self._targets = _values(row.targets for row in rows)
        places = {unified_id: at for at, unified_id in enumerate(self.ids)}
        self._areas = np.zeros(len(rows), np.int64)
        for unified_id, name in areas:
            self._areas[places[unified_id]] |= 1 << _CODES[name]
        self._found: dict[Part, tuple[Weights, Mask]] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def search(self, asked: Conditions, today: date, *, limit: int, offset: int) -> Found:
        mask = self._matching(asked, today)
        contains = np.zeros(len(self), np.bool_)
        relevance = np.zeros(len(self), np.float64)
        if parts := parts_of(asked.q or ""):
            contains[:] = True
            covered = np.zeros(len(self), np.float64)
            for part in parts:
                weights, in_name = self._find(part)
                mask &= weights > 0
                contains &= in_name
                relevance += weights
                covered += in_name * len(part.written)
            relevance += np.minimum(covered / self._name_lengths, 1.0)
        found = np.flatnonzero(mask)
        # By name the rows stand already, and lexsort keeps their order.
        order = np.lexsort((-relevance[found], self._tier_ranks[found], ~contains[found]))
        chosen = found[order[offset : offset + limit]]
        return Found(len(found), [self.ids[at] for at in chosen])

    def without_each(self, asked: Conditions, today: date) -> list[Dropped]:
        """How many there would be without one condition, or one word of several; the smallest change first."""
        parts = [self._find(part)[0] > 0 for part in parts_of(asked.q or "")]
        words = np.logical_and.reduce(parts) if parts else np.ones(len(self), np.bool_)
        given = [name for name in DROPPABLE if name != "q" and getattr(asked, name) is not None]
        rests = {Dropped(name): Conditions(**{**vars(asked), name: None}) for name in given}
        if asked.prefecture is not None and not asked.include_national:
            rests[Dropped("include_national")] = replace(asked, include_national=True)
        if not asked.include_excluded:
            rests[Dropped("include_excluded")] = replace(asked, include_excluded=True)
        counted = {each: int((words & self._matching(rest, today)).sum()) for each, rest in rests.items()}
        others = self._matching(asked, today)
        if parts:
            counted[Dropped("q")] = int(others.sum())
        for at, part in enumerate(parts_of(asked.q or "") if len(parts) > 1 else ()):
            rest = np.logical_and.reduce([each for place, each in enumerate(parts) if place != at])
            counted[Dropped("q", part.written)] = int((others & rest).sum())
        helping = [each._replace(leaves=count) for each, count in counted.items() if count]
        return sorted(helping, key=lambda each: each.leaves)

    def known(self, field: str) -> Sequence[str]:
        """The values of funding_purpose or target_type that there are, folded."""
        return list(self._purposes if field == "funding_purpose" else self._targets)

    def called(self, names: Iterable[str]) -> list[str]:
        """The programmes that have one of these names."""
        rows = {row for name in names for row in self._by_name.get(name_key(name), ())}
        return [self.ids[row] for row in sorted(rows)]

    def identified(self, unified_id: str) -> list[str]:
        """The programme that has this id, however it is written."""
        row = self._by_id.get(name_key(unified_id))
        return [] if row is None else [self.ids[row]]

    @cached_property
    def _by_id(self) -> dict[str, int]:
        return {name_key(unified_id): row for row, unified_id in enumerate(self.ids)}

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for row, unified_id in enumerate(self.ids):
            names = (unified_id, self._names[row], *self._aliases[row].split(SEPARATOR))
            for name in {name_key(each) for each in names if each}:
                rows.setdefault(name, []).append(row)
        return rows

    def _matching(self, asked: Conditions, today: date) -> Mask:
        """All conditions but the words."""
        mask = np.ones(len(self), np.bool_) if asked.include_excluded else ~self._is_out
        if asked.tier is not None:
            mask &= np.isin(self._tier_ranks, [_TIER_RANK[tier] for tier in asked.tier])
        if asked.prefecture is not None:
            here = self._areas >> _CODES.get(asked.prefecture, 63) & 1 == 1
            mask &= (
                here | (self._areas == 0) if asked.include_national and asked.prefecture in _CODES else here
            )
        if asked.authority_level is not None:
            mask &= self._levels == _LEVELS.index(asked.authority_level)
        for wanted, values in ((asked.funding_purpose, self._purposes), (asked.target_type, self._targets)):
            if wanted is not None:
                mask &= self._having(wanted, values)
        # An amount that is not known is nan, which no bound holds.
        if asked.amount_min_man_yen is not None:
            mask &= self._amounts >= asked.amount_min_man_yen
        if asked.amount_max_man_yen is not None:
            mask &= self._amounts <= asked.amount_max_man_yen
        if asked.open_on is not None:
            day = asked.open_on.toordinal()
            dated = (self._opens > 0) | (self._closes > 0)
            mask &= dated & (self._opens <= day) & ((self._closes == 0) | (self._closes >= day))
        if asked.deadline_within_days is not None:
            last = today + timedelta(days=asked.deadline_within_days)
            mask &= (self._closes >= today.toordinal()) & (self._closes <= last.toordinal())
        return mask

    def _having(self, wanted: Iterable[str], values: Mapping[str, npt.NDArray[np.int64]]) -> Mask:
        mask = np.zeros(len(self), np.bool_)
        for each in wanted:
            mask[values.get(fold(each).strip(), [])] = True
        return mask

    def _find(self, part: Part) -> tuple[Weights, Mask]:
        """What a part weighs in each programme, 0 where it is not found; and whether the name holds it as written."""
        found = self._found.get(part)
        if found is None:
            if len(self._found) >= _REMEMBERED:
                self.forget()
            found = self._found[part] = self._looked_for(part)
        return found

    def forget(self) -> None:
        """Let every word be looked for anew."""
        self._found.clear()

    def _looked_for(self, part: Part) -> tuple[Weights, Mask]:
        weights = np.zeros(len(self), np.float32)
        if part.halves:
            halves = [self._find(half)[0] > 0 for half in part.halves]
            weights[np.logical_and.reduce(halves)] = ELSEWHERE
        written = form_of(part.written)
        forms = [form_of(other) for other in part.others]
        phrase = [Form(part.phrase)] if part.phrase else []
        if not part.is_word:
            weights[self._others.holding(written, in_kana=True)] = ELSEWHERE
        for form in forms:
            weights[self._others.holding(form, in_kana=True)] = ELSEWHERE
        for form in phrase:
            weights[self._other_words.holding(form)] = ELSEWHERE
        for texts in (self._names, self._aliases):
            for form in (written, *forms):
                weights[texts.holding(form, in_kana=True)] = IN_OTHER_FORM
        for form in phrase:
            weights[self._name_words.holding(form)] = IN_OTHER_FORM
        weights[self._aliases.holding(written)] = IN_ALIAS
        in_name = np.zeros(len(self), np.bool_)
        in_name[self._names.holding(written)] = True
        weights[in_name] = IN_NAME
        return weights, in_name


class _Texts:
    """A text of each row, all in one, as code points: to find something costs the same however often it is there."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        joined = "\n".join(("", *texts, ""))
        self._codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        self._in_kana = np.frombuffer(in_hiragana(joined).encode("utf-32-le", "surrogatepass"), np.uint32)
        self._starts = np.zeros(len(texts), np.int64)
        np.cumsum([len(text) + 1 for text in texts[:-1]], out=self._starts[1:])
        self._starts += 1

    def __getitem__(self, row: int) -> str:
        return self._texts[row]

    def holding(self, form: Form, *, in_kana: bool = False) -> npt.NDArray[np.int64]:
        """The rows whose text holds a form; `in_kana` with hiragana for katakana on both sides."""
        first, *following = map(ord, in_hiragana(form.written) if in_kana else form.written)
        codes = self._in_kana if in_kana else self._codes
        places = np.flatnonzero(codes == first)
        for distance, code in enumerate(following, start=1):
            # No text ends without a sign that no form has, so none of these looks beyond the last.
            places = places[codes[places + distance] == code]
        if form.not_before:
            places = places[~np.isin(codes[places - 1], _codes(form.not_before))]
        if form.not_after:
            places = places[~np.isin(codes[places + len(form.written)], _codes(form.not_after))]
        rows: npt.NDArray[np.int64] = np.searchsorted(self._starts, places, side="right") - 1
        return rows


def _codes(characters: str) -> list[int]:
    return [ord(each) for each in characters]


def _ordinal(day: str | None) -> int:
    return date.fromisoformat(day).toordinal() if day else 0


def _values(texts: Iterable[str]) -> dict[str, npt.NDArray[np.int64]]:
    """Of each value the rows that have it."""
    rows: dict[str, list[int]] = {}
    for at, text in enumerate(texts):
        for value in filter(None, text.split(SEPARATOR)):
            rows.setdefault(value, []).append(at)
    return {value: np.array(those, np.int64) for value, those in sorted(rows.items())}
