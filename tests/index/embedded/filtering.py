"""Entries and filters to try on them, and what the filters mean by `query.filters.matches`."""

import random
from datetime import date

from hypothesis import strategies as st

from shirube.index.contract import Entry, Layout
from shirube.query.filters import Condition, Filters, matches
from shirube.query.values import Between, Exact, Period, Prefix

LAYOUT = Layout(texts=("body",), keywords=("code", "place"), numbers=("level", "day"))
# In every entry, so that a search for it is stopped by nothing but the filters.
COMMON = "共通"

CODES = (
    *"G06V10/82 G06V10/80 G06V40/16 a.b a*b (株) [x] ^ $ \\ + A a 日本 日本語 🗾 ｱ".split(),
    *("a b", "x\ny", "x\n", "tab\tbed"),
)
PLACES = ("東京", "東京都", "京都", "-")
LEVELS = (-(2**63), -5, 0, 1, 2, 3, 5, 2**40, 2**63 - 1)
FIRST = date(2023, 3, 25).toordinal()


def _entries(count: int) -> list[Entry]:
    chance = random.Random(5)
    made = []
    for key in range(count):
        numbers = {"level": chance.choice(LEVELS), "day": FIRST + chance.randrange(20)}
        made.append(
            Entry(
                key=key,
                group=f"group-{key % 40}",
                texts={"body": f"{COMMON}の文{key}"},
                keywords={
                    "code": chance.sample(CODES, chance.randrange(4)),
                    "place": chance.sample(PLACES, chance.randrange(2)),
                },
                numbers={name: number for name, number in numbers.items() if chance.random() < 0.8},
            )
        )
    return made


ENTRIES = _entries(160)


def record(entry: Entry) -> dict[str, object]:
    """The entry as the filter language sees a record: days are dates there."""
    day = entry.numbers.get("day")
    return {
        **{name: list(values) for name, values in entry.keywords.items()},
        "level": entry.numbers.get("level"),
        "day": None if day is None else date.fromordinal(day),
    }


def passing(filters: Filters) -> list[Entry]:
    return [entry for entry in ENTRIES if matches(filters, record(entry))]


def _keyword_conditions() -> st.SearchStrategy[Condition]:
    def named(name: str, values: tuple[str, ...]) -> st.SearchStrategy[Condition]:
        whole = st.sampled_from((*values, "無い"))
        starts = st.sampled_from(sorted({value[: end + 1] for value in values for end in range(3)}))
        tests = st.one_of(st.builds(Exact, whole), st.builds(Prefix, starts))
        some = st.lists(tests, min_size=1, max_size=3).map(tuple)
        return st.builds(Condition, st.just(name), st.sampled_from(("in", "!=")), some)

    return st.one_of(named("code", CODES), named("place", PLACES))


def _number_conditions() -> st.SearchStrategy[Condition]:
    near = st.one_of(st.sampled_from(LEVELS), st.integers(-6, 6), st.floats(-6, 6))
    far = st.sampled_from((10**30, -(10**30), 2**63, -(2**63) - 1, 1e300))
    ends = st.one_of(st.none(), near, far)
    tests = st.lists(st.builds(Between, ends, ends), min_size=1, max_size=2).map(tuple)
    return st.builds(Condition, st.just("level"), st.sampled_from(("in", "range", "!=")), tests)


def _day_conditions() -> st.SearchStrategy[Condition]:
    ends = st.one_of(st.none(), st.dates(date(2023, 3, 20), date(2023, 4, 20)), st.just(date.max))
    tests = st.lists(st.builds(Period, ends, ends), min_size=1, max_size=2).map(tuple)
    return st.builds(Condition, st.just("day"), st.sampled_from(("range", "!=")), tests)


def all_filters() -> st.SearchStrategy[Filters]:
    conditions = st.one_of(_keyword_conditions(), _number_conditions(), _day_conditions())
    some = st.lists(conditions, max_size=2).map(tuple)
    return st.builds(Filters, some, some, some)
