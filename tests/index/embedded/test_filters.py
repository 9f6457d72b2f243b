"""Filters inside the full-text engine mean what the filter language says."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings

from shirube.errors import InvalidInput
from shirube.index.embedded.text import TantivySpace
from shirube.query.filters import Condition, Filters
from shirube.query.tree import Not, Phrase
from shirube.query.values import Between, Exact, Prefix
from tests.index.embedded.filtering import CODES, COMMON, ENTRIES, LAYOUT, all_filters, passing


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> TantivySpace:
    """The entries in two commits, so that there are several segments."""
    space = TantivySpace(tmp_path_factory.mktemp("filters"), LAYOUT)
    for revision, part in enumerate((ENTRIES[:50], ENTRIES[50:]), 1):
        list(space.write(revision, [], part))
    return space


@settings(max_examples=150)
@given(filters=all_filters())
def test_a_search_keeps_exactly_the_entries_that_pass(space: TantivySpace, filters: Filters) -> None:
    wanted = {entry.key for entry in passing(filters)}
    hits = space.search(COMMON, {}, filters, 1000)
    assert {hit.key for hit in hits} == wanted
    assert len(hits) == len(wanted)
    assert space.matches(COMMON, filters) == len(wanted)


@settings(max_examples=60)
@given(filters=all_filters())
def test_a_query_tree_is_filtered_like_a_text(space: TantivySpace, filters: Filters) -> None:
    everything = Not(Phrase("どこにもない語"))
    wanted = {entry.key for entry in passing(filters)}
    assert {hit.key for hit in space.search(everything, {}, filters, len(wanted) + 1)} == wanted
    assert space.matches(everything, filters) == len(wanted)


@settings(max_examples=80)
@given(filters=all_filters())
def test_facets_count_the_values_of_the_entries_that_pass(space: TantivySpace, filters: Filters) -> None:
    found = passing(filters)
    for field in ("code", "place"):
        wanted = Counter(value for entry in found for value in entry.keywords[field])
        assert space.facets(field, filters, 1000) == wanted


def test_facets_give_the_most_frequent_values_first(space: TantivySpace) -> None:
    counts = Counter(value for entry in ENTRIES for value in entry.keywords["code"])
    found = space.facets("code", Filters(), 5)
    assert list(found.values()) == [count for _, count in counts.most_common(5)]
    assert all(counts[value] == count for value, count in found.items())


def test_filters_do_not_change_the_scores(space: TantivySpace) -> None:
    filters = Filters(all_of=(Condition("level", "<=", (Between(None, 3),)),))
    alone = {hit.key: hit.score for hit in space.search("文1", {}, Filters(), 1000)}
    filtered = space.search("文1", {}, filters, 1000)
    assert filtered
    assert {hit.key: hit.score for hit in filtered} == {hit.key: alone[hit.key] for hit in filtered}


def test_filters_hold_before_the_cut(space: TantivySpace) -> None:
    """However few are asked for, those that pass are found: nothing is filtered after the cut."""
    filters = Filters(all_of=(Condition("code", "=", (Exact(CODES[0]),)),))
    wanted = {entry.key for entry in passing(filters)}
    first = {hit.key for hit in space.search(COMMON, {}, Filters(), len(wanted))}
    assert not wanted <= first, "the test needs entries that an unfiltered search would cut"
    assert {hit.key for hit in space.search(COMMON, {}, filters, len(wanted))} == wanted


@pytest.mark.parametrize(
    "condition",
    [
        Condition("unknown", "=", (Exact("x"),)),
        Condition("level", "=", (Exact("x"),)),
        Condition("code", ">=", (Between(1, None),)),
        Condition("body", "prefix", (Prefix("共"),)),
    ],
)
def test_a_field_that_cannot_be_filtered_so_is_a_typed_error(
    space: TantivySpace, condition: Condition
) -> None:
    for filters in (
        Filters(all_of=(condition,)),
        Filters(any_of=(condition,)),
        Filters(none_of=(condition,)),
    ):
        with pytest.raises(InvalidInput, match=f"Cannot filter on {condition.field}"):
            space.search(COMMON, {}, filters, 10)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_search_for_nothing_finds_nothing(space: TantivySpace, limit: int) -> None:
    assert space.search(COMMON, {}, Filters(), limit) == []


def test_an_empty_index_answers(tmp_path: Path) -> None:
    space = TantivySpace(tmp_path, LAYOUT)
    assert space.count() == 0
    assert space.revision == 0
    assert space.search(COMMON, {}, Filters(), 10) == []
    assert space.matches(Not(Phrase("語")), Filters()) == 0
    assert space.facets("code", Filters(), 10) == {}
    assert space.terms([1, 2]).keys == []
