"""The measures against examples worked by hand."""

from math import log2

import pytest

from shirube.evaluate.measures import all_measures, hit, mrr, ndcg, percentile, recall

QRELS = {"one": {"a": 1}, "two": {"a": 2, "b": 1, "z": 0}}


def test_a_perfect_ranking_scores_one_in_every_measure() -> None:
    assert all_measures({"one": ["a", "x"], "two": ["a", "b"]}, QRELS) == {
        "nDCG@10": 1.0,
        "MRR@10": 1.0,
        "hit@1": 1.0,
        "recall@10": 1.0,
        "recall@100": 1.0,
    }


def test_an_empty_ranking_scores_zero_in_every_measure() -> None:
    assert set(all_measures({"one": []}, QRELS).values()) == {0.0}


def test_ndcg_discounts_each_grade_by_the_logarithm_of_its_rank() -> None:
    # ranks: x 0, b 1 / log2(3), a 2 / log2(4); best order: 2 / log2(2) + 1 / log2(3)
    expected = (1 / log2(3) + 2 / 2) / (2 + 1 / log2(3))
    assert ndcg({"two": ["x", "b", "a"]}, QRELS) == pytest.approx(expected)
    assert expected == pytest.approx(0.6199062)


def test_ndcg_compares_with_the_best_order_that_fits_the_depth() -> None:
    many = {"q": {f"r{number}": 1 for number in range(20)}}
    assert ndcg({"q": [f"r{number}" for number in range(10)]}, many) == pytest.approx(1.0)


@pytest.mark.parametrize(("rank", "expected"), [(1, 1.0), (4, 0.25), (10, 0.1), (11, 0.0)])
def test_mrr_is_the_inverse_of_the_first_relevant_rank_within_ten(rank: int, expected: float) -> None:
    ranked = [f"x{number}" for number in range(rank - 1)] + ["a"]
    assert mrr({"one": ranked}, QRELS) == expected


def test_mrr_counts_only_the_first_relevant_passage() -> None:
    assert mrr({"two": ["x", "b", "a"]}, QRELS) == 0.5


def test_hit_at_one_looks_at_the_first_place_only() -> None:
    assert hit({"one": ["a", "x"], "two": ["x", "a"]}, QRELS) == 0.5


def test_recall_is_the_share_of_relevant_passages_within_the_depth() -> None:
    ranked = ["a", *(f"x{number}" for number in range(9)), "b"]
    assert recall({"two": ranked}, QRELS, 10) == 0.5
    assert recall({"two": ranked}, QRELS, 100) == 1.0


def test_a_passage_judged_zero_is_not_relevant() -> None:
    assert all_measures({"two": ["z"]}, QRELS)["MRR@10"] == 0.0


def test_every_query_weighs_the_same() -> None:
    assert mrr({"one": ["a"], "two": ["x", "x2", "x3", "a"]}, QRELS) == pytest.approx((1 + 0.25) / 2)


@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        ({}, "no rankings"),
        ({"one": ["a", "a"]}, "ranked twice"),
        ({"unknown": ["a"]}, "no relevant passage"),
    ],
)
def test_what_cannot_be_measured_is_refused(rankings: dict[str, list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ndcg(rankings, QRELS)


def test_percentiles_are_linear_between_neighbours() -> None:
    values = [4.0, 1.0, 3.0, 2.0]
    assert percentile(values, 50) == 2.5
    assert percentile(values, 95) == pytest.approx(3.85)
    assert percentile([7.0], 95) == 7.0
