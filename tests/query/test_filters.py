"""Filters: what an entry may say, what it means, and how a wrong one is named."""

from collections.abc import Mapping
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.query.errors import FilterError
from shirube.query.filters import KEYS, Condition, Field, Filters, matches, parse_filters
from shirube.query.values import Between, Exact, Period, Prefix

SCHEMA = {
    "fi": Field("keyword", normal=str.upper),
    "ft": Field("keyword"),
    "country": Field("keyword"),
    "date": Field("date"),
    "pubyear": Field("number"),
}
RECORD: Mapping[str, object] = {
    "fi": ["G06V10/82", "G06V40/16"],
    "ft": [],
    "country": "JP",
    "date": "2023-04-15",
    "pubyear": 2023,
}


def entry(lop: str, field: str, op: str, value: object) -> dict[str, object]:
    return {"lop": lop, "field": field, "op": op, "value": value}


def holds(*entries: dict[str, object], record: Mapping[str, object] = RECORD) -> bool:
    return matches(parse_filters(list(entries), SCHEMA), record)


def test_the_documented_filters_ask_for_one_of_the_codes_and_the_country() -> None:
    entries = [
        entry("and", "fi", "in", ["G06V10/82", "G06V40/16"]),
        entry("and", "country", "in", ["JP"]),
    ]
    codes = Condition("fi", "in", (Exact("G06V10/82"), Exact("G06V40/16")))
    assert parse_filters(entries, SCHEMA) == Filters(
        all_of=(codes, Condition("country", "in", (Exact("JP"),)))
    )
    assert holds(*entries)


def test_no_filters_hold_for_every_record() -> None:
    assert parse_filters([], SCHEMA) == Filters()
    assert matches(Filters(), {})


@pytest.mark.parametrize(
    ("field", "op", "value", "expected"),
    [
        ("country", "=", "JP", True),
        ("country", "eq", "US", False),
        ("country", "＝", " ＪＰ ", True),
        ("country", "!=", "US", True),
        ("country", "neq", "JP", False),
        ("country", "in", ["US", "JP"], True),
        ("country", "in", "JP", True),
        ("country", "IN", ["US"], False),
        ("fi", "=", "g06v10/82", True),
        ("fi", "=", "G06V10", False),
        ("fi", "prefix", "G06V10", True),
        ("fi", "prefix", "G06V10*", True),
        ("fi", "=", "G06V10*", True),
        ("fi", "in", ["G06K*", "G06V40＊"], True),
        ("fi", "!=", "G06V4*", False),
        ("fi", "!=", "G06K*", True),
        ("ft", "=", "5B089AA01", False),
        ("ft", "!=", "5B089AA01", True),
        ("pubyear", "=", 2023, True),
        ("pubyear", "=", "２０２３", True),
        ("pubyear", "in", [2022, 2023.0], True),
        ("pubyear", ">=", 2023, True),
        ("pubyear", ">=", 2023.5, False),
        ("pubyear", "<=", 2022, False),
        ("pubyear", "range", [2020, 2023], True),
        ("pubyear", "range", [2024, None], False),
        ("date", "=", "2023-04-15", True),
        ("date", "=", "2023/4/15", True),
        ("date", "=", 20230415, True),
        ("date", "=", date(2023, 4, 15), True),
        ("date", "=", "2023", True),
        ("date", "=", "2023-05", False),
        ("date", "!=", "2023-04", False),
        ("date", ">=", "2023-04-16", False),
        ("date", ">=", "2023-04", True),
        ("date", "<=", "2023-04", True),
        ("date", "<=", "2023-04-14", False),
        ("date", "range", ["2023-01-01", "2023-04-15"], True),
        ("date", "range", [None, "2022"], False),
        ("date", "prefix", "2023", True),
        ("date", "in", ["2021", "202304*"], True),
    ],
)
def test_each_op_means_what_it_says(field: str, op: str, value: object, expected: bool) -> None:
    assert holds(entry("and", field, op, value)) is expected
    assert holds(entry("or", field, op, value)) is expected
    assert holds(entry("not", field, op, value)) is not expected


def test_a_year_or_a_month_covers_all_its_days() -> None:
    filters = parse_filters(
        [entry("and", "date", "in", ["2024", "2024-02", "9999-12"]), entry("or", "date", ">=", "2023")],
        SCHEMA,
    )
    assert filters.all_of[0].tests == (
        Period(date(2024, 1, 1), date(2024, 12, 31)),
        Period(date(2024, 2, 1), date(2024, 2, 29)),
        Period(date(9999, 12, 1), date(9999, 12, 31)),
    )
    assert filters.any_of[0].tests == (Period(date(2023, 1, 1), None),)


def test_a_star_asks_for_a_prefix_and_a_number_for_an_interval() -> None:
    filters = parse_filters([entry("and", "fi", "=", "g06v*"), entry("not", "pubyear", "=", 2023)], SCHEMA)
    assert filters.all_of[0].tests == (Prefix("G06V"),)
    assert filters.none_of[0].tests == (Between(2023, 2023),)


def test_an_absent_value_meets_only_a_negation() -> None:
    records: list[dict[str, object]] = [{}, {"country": None}, {"country": []}]
    for absent in records:
        assert not holds(entry("and", "country", "=", "JP"), record=absent)
        assert holds(entry("and", "country", "!=", "JP"), record=absent)
    assert not holds(entry("and", "date", "<=", "2023"), record={"date": "unknown"})
    assert not holds(entry("and", "pubyear", "<=", 2023), record={"pubyear": "2023"})


def test_at_least_one_of_the_or_entries_must_hold_beside_all_the_others() -> None:
    japan, america = entry("or", "country", "=", "JP"), entry("or", "country", "=", "US")
    old, new = entry("and", "pubyear", "<=", 2000), entry("and", "pubyear", ">=", 2000)
    assert holds(america, japan)
    assert not holds(america)
    assert holds(america, japan, new)
    assert not holds(japan, old)
    assert not holds(japan, entry("not", "fi", "=", "G06V10/82"))


@pytest.mark.parametrize("key", KEYS)
def test_a_missing_key_is_named_with_its_entry(key: str) -> None:
    good = entry("and", "country", "=", "JP")
    with pytest.raises(FilterError) as raised:
        parse_filters([good, {name: value for name, value in good.items() if name != key}], SCHEMA)
    assert (raised.value.index, raised.value.key) == (1, key)
    assert raised.value.field == (None if key == "field" else "country")
    assert f"{key} がありません" in raised.value.message_ja
    assert f"{key} is missing" in raised.value.message_en
    assert "filters[1]" in raised.value.message_ja
    assert "filters[1]" in raised.value.message_en


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        (entry("xor", "country", "=", "JP"), "lop"),
        ({"lop": None, "field": "country", "op": "=", "value": "JP"}, "lop"),
        (entry("and", "colour", "=", "JP"), "field"),
        (entry("and", "country", "~", "JP"), "op"),
        (entry("and", "country", ">=", "JP"), "op"),
        (entry("and", "pubyear", "prefix", 2), "op"),
        (entry("and", "country", "=", ["JP"]), "value"),
        (entry("and", "country", "!=", ["JP", "US"]), "value"),
        (entry("and", "country", "in", []), "value"),
        (entry("and", "country", "in", ["JP", ["US"]]), "value"),
        (entry("and", "country", "=", 1), "value"),
        (entry("and", "country", "=", " "), "value"),
        (entry("and", "country", "=", "*"), "value"),
        (entry("and", "country", "=", None), "value"),
        (entry("and", "pubyear", "=", True), "value"),
        (entry("and", "pubyear", "=", "many"), "value"),
        (entry("and", "pubyear", "=", float("nan")), "value"),
        (entry("and", "pubyear", "=", "9" * 5000), "value"),
        (entry("and", "pubyear", ">=", None), "value"),
        (entry("and", "pubyear", "range", 2020), "value"),
        (entry("and", "pubyear", "range", [2020]), "value"),
        (entry("and", "pubyear", "range", [None, None]), "value"),
        (entry("and", "pubyear", "range", [2021, 2020]), "value"),
        (entry("and", "date", "range", ["2021", "2020-12-31"]), "value"),
        (entry("and", "date", "=", "2023-02-29"), "value"),
        (entry("and", "date", "=", "0000"), "value"),
        (entry("and", "date", "=", "令和の初め"), "value"),
        (entry("and", "date", "=", "平成5年4月31日"), "value"),
        (entry("and", "date", "=", f"令和5年{' ' * 500}より前"), "value"),
        (entry("and", "date", "=", None), "value"),
        ({**entry("and", "country", "=", "JP"), "values": []}, "values"),
    ],
)
def test_a_wrong_part_of_an_entry_is_named(wrong: dict[str, object], key: str) -> None:
    with pytest.raises(FilterError) as raised:
        parse_filters([wrong], SCHEMA)
    assert (raised.value.index, raised.value.key, raised.value.field) == (0, key, wrong["field"])


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("令和5年4月1日", date(2023, 4, 1), date(2023, 4, 1)),
        ("令和５年４月", date(2023, 4, 1), date(2023, 4, 30)),
        ("平成31年", date(2019, 1, 1), date(2019, 4, 30)),
        ("令和元年", date(2019, 5, 1), date(2019, 12, 31)),
        ("R5.4.1", date(2023, 4, 1), date(2023, 4, 1)),
        ("2023年4月1日", date(2023, 4, 1), date(2023, 4, 1)),
        ("令和5年度", date(2023, 4, 1), date(2024, 3, 31)),
    ],
)
def test_dates_may_be_written_as_in_japanese(written: str, first: date, last: date) -> None:
    [condition] = parse_filters([entry("and", "date", "=", written)], SCHEMA).all_of
    assert condition.tests == (Period(first, last),)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(FilterError, match="fi, ft, country, date, pubyear"):
        parse_filters([entry("and", "colour", "=", "red")], SCHEMA)
    with pytest.raises(FilterError, match="in, =, !=, prefix"):
        parse_filters([entry("and", "country", ">=", "JP")], SCHEMA)


@pytest.mark.parametrize("entries", [None, {}, "and", 1])
def test_filters_that_are_no_list_are_refused(entries: object) -> None:
    with pytest.raises(FilterError) as raised:
        parse_filters(entries, SCHEMA)
    assert raised.value.index is None


@pytest.mark.parametrize("wrong", [None, [], "and", 1])
def test_an_entry_that_is_no_object_is_refused(wrong: object) -> None:
    with pytest.raises(FilterError) as raised:
        parse_filters([entry("and", "country", "=", "JP"), wrong], SCHEMA)
    assert raised.value.index == 1


years = st.integers(2000, 2005)
codes = st.text("AB", min_size=1, max_size=3)
stored_records = st.fixed_dictionaries({"ft": st.lists(codes, max_size=3), "pubyear": st.none() | years})
conditions = st.one_of(
    st.tuples(st.just("ft"), st.sampled_from(["=", "!=", "prefix"]), codes),
    st.tuples(st.just("ft"), st.just("in"), st.lists(codes, min_size=1, max_size=3)),
    st.tuples(st.just("pubyear"), st.sampled_from(["=", "!=", ">=", "<="]), years),
)


def meaning(condition: tuple[str, str, object], record: Mapping[str, object]) -> bool:
    """The ops once more, in the plainest Python, to hold the parsed ones against."""
    field, op, value = condition
    stored = record[field]
    if isinstance(stored, list):
        if op == "prefix":
            return any(code.startswith(str(value)) for code in stored)
        wanted = value if isinstance(value, list) else [value]
        return bool(set(stored) & set(wanted)) != (op == "!=")
    if not isinstance(stored, int) or not isinstance(value, int):
        return op == "!="
    return {"=": stored == value, "!=": stored != value, ">=": stored >= value, "<=": stored <= value}[op]


@given(st.lists(st.tuples(st.sampled_from(["and", "or", "not"]), conditions), max_size=5), stored_records)
@settings(deadline=None)
def test_the_three_lops_join_the_plain_meanings(
    chosen: list[tuple[str, tuple[str, str, object]]], record: Mapping[str, object]
) -> None:
    outcomes = {
        lop: [meaning(condition, record) for each, condition in chosen if each == lop]
        for lop in ("and", "or", "not")
    }
    expected = (
        all(outcomes["and"])
        and not any(outcomes["not"])
        and (any(outcomes["or"]) if outcomes["or"] else True)
    )
    entries = [entry(lop, *condition) for lop, condition in chosen]
    assert holds(*entries, record=record) == expected
    assert holds(*reversed(entries), record=record) == expected


@given(years, years, stored_records)
@settings(deadline=None)
def test_a_range_is_both_its_ends_together(first: int, second: int, record: Mapping[str, object]) -> None:
    low, high = sorted((first, second))
    both = holds(entry("and", "pubyear", ">=", low), entry("and", "pubyear", "<=", high), record=record)
    assert holds(entry("and", "pubyear", "range", [low, high]), record=record) == both


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
entries_of_any_kind = st.lists(
    anything
    | st.fixed_dictionaries(
        {
            "lop": st.sampled_from(["and", "or", "not"]) | anything,
            "field": st.sampled_from(sorted(SCHEMA)) | anything,
            "op": st.sampled_from(["in", "=", "!=", ">=", "<=", "range", "prefix", "eq", "neq"]) | anything,
            "value": anything,
        }
    ),
    max_size=3,
)


def attempt(entries: object) -> Filters | FilterError:
    try:
        return parse_filters(entries, SCHEMA)
    except FilterError as error:
        return error


@given(entries_of_any_kind, anything)
@settings(max_examples=1000, deadline=None)
def test_any_entries_are_filters_or_a_filter_error(entries: list[object], stored: object) -> None:
    outcome = attempt(entries)
    if isinstance(outcome, FilterError):
        assert outcome.index is not None
        assert outcome.index < len(entries)
    else:
        matches(outcome, dict.fromkeys(SCHEMA, stored))


def test_a_name_of_all_below_it_means_its_beginnings() -> None:
    schema = {"fi": Field("keyword", str.upper, lambda text: () if "/" in text else (f"{text}/", f"{text}:"))}
    (condition,) = parse_filters([entry("and", "fi", "in", ["g06v10", "g06v10/82", "g06v1*"])], schema).all_of
    assert condition.tests == (Prefix("G06V10/"), Prefix("G06V10:"), Exact("G06V10/82"), Prefix("G06V1"))
    (condition,) = parse_filters([entry("and", "fi", "prefix", "g06v10")], schema).all_of
    assert condition.tests == (Prefix("G06V10"),)


@pytest.mark.parametrize(
    "entries",
    [
        [entry("and", "fi", "=", "\ud800")],
        [entry("and", "\udfff", "=", "G06V")],
        [{**entry("and", "fi", "=", "G06V"), "\ud800": 1}],
        [entry("and", "fi", "in", ["G06V", ["\ud800"]])],
        [entry("and", "fi", "in", ["G06V"] * 1_001)],
        [entry("and", "fi", "=", "G" * 201)],
        [entry("and", "fi", "=", "G06V")] * 201,
    ],
)
def test_what_cannot_be_written_or_is_too_much_is_refused(entries: list[dict[str, object]]) -> None:
    with pytest.raises(FilterError) as refused:
        parse_filters(entries, SCHEMA)
    (refused.value.message_en + refused.value.message_ja).encode()
