"""Reciprocal rank fusion against a reference, and the ranks it starts from."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.index.contract import Hit, Hits
from shirube.retrieval.fusion import RRF_K, reciprocal_ranks
from shirube.retrieval.lanes import Lane


def hits_of(pairs: Iterable[tuple[int, float]]) -> Hits:
    listed = list(pairs)
    return Hits([key for key, _ in listed], [score for _, score in listed])


@st.composite
def lanes(draw: st.DrawFn, names: Sequence[str] = ("sparse", "dense", "third")) -> list[Lane]:
    """Lanes with few distinct scores, so that there are ties, each in falling order of score."""
    made = []
    for name in draw(st.lists(st.sampled_from(names), unique=True, min_size=1)):
        scores = draw(
            st.dictionaries(st.integers(0, 30), st.sampled_from((0.1, 0.5, 0.50001, 2.0, 9.0)), min_size=1)
        )
        made.append(Lane(name, hits_of(sorted(scores.items(), key=lambda each: -each[1]))))
    return made


weighted = st.dictionaries(st.sampled_from(("sparse", "dense", "third")), st.floats(0.1, 5))


def reference(lanes: Sequence[Lane], weights: Mapping[str, float], k: float) -> dict[int, float]:
    """Cormack, Clarke, Büttcher 2009: a rank is one more than the number of better scores."""
    fused = {}
    for key in {hit.key for lane in lanes for hit in lane.hits}:
        fused[key] = sum(
            weights.get(lane.name, 1.0) / (k + 1 + sum(other.score > hit.score for other in lane.hits))
            for lane in lanes
            for hit in lane.hits
            if hit.key == key
        )
    highest = sum(weights.get(lane.name, 1.0) / (k + 1) for lane in lanes)
    return {key: score / highest for key, score in fused.items()}


@settings(max_examples=40)
@given(lanes=lanes(), weights=weighted, k=st.sampled_from((RRF_K, 1, 10.5)))
def test_the_fusion_is_the_sum_of_reciprocal_ranks(
    lanes: list[Lane], weights: dict[str, float], k: float
) -> None:
    fused = reciprocal_ranks(lanes, weights, k).by_key()
    wanted = reference(lanes, weights, k)
    assert fused.keys() == wanted.keys()
    for key, score in fused.items():
        assert score == pytest.approx(wanted[key], abs=1e-12)
        assert 0 < score <= 1 + 1e-12


@settings(max_examples=40)
@given(lanes=lanes())
def test_the_best_come_first_and_equals_by_key(lanes: list[Lane]) -> None:
    order = [(-score, key) for key, score in reciprocal_ranks(lanes)]
    assert order == sorted(order)


@settings(max_examples=40)
@given(lanes=lanes())
def test_first_everywhere_is_one_and_nothing_else_is_more(lanes: list[Lane]) -> None:
    joined = [Lane(lane.name, hits_of([Hit(99, 100.0), *lane.hits])) for lane in lanes]
    fused = reciprocal_ranks(joined).by_key()
    assert next(iter(fused)) == 99
    assert fused[99] == pytest.approx(1)
    assert all(score < 1 for key, score in fused.items() if key != 99)


@settings(max_examples=40)
@given(lanes=lanes(), data=st.data())
def test_rising_in_a_lane_never_lowers_a_result(lanes: list[Lane], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lanes) - 1))
    raised = data.draw(st.sampled_from(lanes[at].hits))
    higher = Hit(raised.key, data.draw(st.sampled_from((raised.score, raised.score + 1, 100.0))))
    hits = sorted((hit if hit != raised else higher for hit in lanes[at].hits), key=lambda hit: -hit.score)
    after = [*lanes[:at], Lane(lanes[at].name, hits_of(hits)), *lanes[at + 1 :]]
    assert reciprocal_ranks(after).by_key()[raised.key] >= reciprocal_ranks(lanes).by_key()[raised.key]


@settings(max_examples=40)
@given(lanes=lanes())
def test_the_order_of_the_lanes_does_not_matter(lanes: list[Lane]) -> None:
    turned = reciprocal_ranks(lanes[::-1]).by_key()
    for key, score in reciprocal_ranks(lanes):
        assert turned[key] == pytest.approx(score, abs=1e-12)


def test_nothing_fused_is_nothing() -> None:
    assert reciprocal_ranks([]) == []
    assert reciprocal_ranks([Lane("sparse", Hits())]) == []


def test_equal_scores_share_a_rank_and_the_next_one_counts_them() -> None:
    lane = Lane("sparse", hits_of([(7, 3.0), (5, 2.0), (9, 2.0), (1, 2.0), (2, 1.0)]))
    assert lane.ranks.tolist() == [1, 2, 2, 2, 5]


def test_a_lane_says_how_it_placed_an_entry_and_that_it_has_not_found_it() -> None:
    lane = Lane("sparse", hits_of([(7, 3.0), (5, 2.0), (9, 2.0)]))
    scores, ranks = lane.standing([9, 8, 7, 99])
    np.testing.assert_array_equal(scores, [2.0, np.nan, 3.0, np.nan])
    np.testing.assert_array_equal(ranks, [2, np.nan, 1, np.nan])
    nothing, nowhere = Lane("sparse", Hits()).standing([1, 2])
    assert np.isnan(nothing).all()
    assert np.isnan(nowhere).all()


def test_hits_are_a_sequence_of_pairs() -> None:
    hits = hits_of([(7, 3.0), (5, 2.0), (9, 1.0)])
    assert list(hits) == [Hit(7, 3.0), Hit(5, 2.0), Hit(9, 1.0)]
    assert hits[1] == Hit(5, 2.0)
    assert hits[-1].key == 9
    assert hits[:2] == [(7, 3.0), (5, 2.0)]
    assert hits != hits_of([(7, 3.0), (9, 2.0), (5, 1.0)])
    assert hits.by_key() == {7: 3.0, 5: 2.0, 9: 1.0}
    assert not Hits()
