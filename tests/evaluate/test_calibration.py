"""Scores that keep their word: the measure, the fit, and where a fitted map is kept."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.evaluate.calibration import Judged, expected_error, fitted, trades, with_unanswerable
from shirube.retrieval.calibration import Standing, Uncalibrated, save, saved

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(lambda each: sorted(each, reverse=True))


def judged(*pairs: tuple[float, bool]) -> Judged:
    return Judged(np.array([score for score, _ in pairs]), np.array([right for _, right in pairs]))


def believers(count: int, seed: int = 5) -> list[Judged]:
    """Lists whose first passage is right as often as half its score says: scores that promise too much."""
    chance = np.random.default_rng(seed)
    lists = []
    for _ in range(count):
        best = chance.uniform(0.05, 0.95)
        scores = np.array([best, *np.sort(chance.uniform(0, best / 4, 9))[::-1]])
        right = np.zeros(10, bool)
        right[0] = chance.random() < best / 2
        lists.append(Judged(scores, right))
    return lists


def test_scores_that_come_true_have_no_error() -> None:
    lists = [judged((0.75, number % 4 != 0)) for number in range(100)]
    assert expected_error(Uncalibrated(), lists) == pytest.approx(0)


def test_the_error_is_how_far_scores_are_from_what_comes_true() -> None:
    certain = [judged((0.95, False)) for _ in range(30)]
    honest = [judged((0.25, number % 4 == 0)) for number in range(60)]
    assert expected_error(Uncalibrated(), certain) == pytest.approx(0.95)
    assert expected_error(Uncalibrated(), certain + honest) == pytest.approx(0.95 / 3)


def test_only_what_is_shown_is_looked_at() -> None:
    lists = [judged((0.0, False), (0.9, False))]
    assert expected_error(Uncalibrated(), lists, shown=1) == 0


def test_a_fitted_map_takes_back_what_scores_promise_too_much() -> None:
    made = fitted(believers(2000), "small")
    kept = believers(2000, seed=6)
    assert expected_error(Uncalibrated(), kept, shown=1) > 0.2
    assert expected_error(made, kept, shown=1) < 0.06
    assert expected_error(made, kept) < 0.03


@given(scores=SCORES)
def test_a_fitted_map_keeps_the_order_and_stays_within_0_and_1(scores: list[float]) -> None:
    chances = fitted(believers(200), "small")(np.array(scores))
    assert ((chances >= 0) & (chances <= 1)).all()
    assert (np.diff(chances) <= 1e-12).all()


def test_questions_that_cannot_be_answered_are_lists_without_their_right_passages() -> None:
    lists = [judged((0.9, True), (0.5, False)) for _ in range(8)]
    together = with_unanswerable(lists)
    assert len(together) == 10
    assert [each.scores.tolist() for each in together[8:]] == [[0.5], [0.5]]
    assert not any(each.right.any() for each in together[8:])


def test_a_threshold_is_a_trade_of_precision_for_recall() -> None:
    lists = [
        judged((0.9, True), (0.7, False), (0.4, True)),
        judged((0.8, False), (0.5, True)),
        judged((0.2, False)),
    ]
    low, high = trades(Uncalibrated(), lists, [2, 1, 1], thresholds=[0.3, 0.75])
    assert [low.precision, low.recall, low.silent] == pytest.approx([3 / 5, 2 / 3, 1 / 3])
    assert [high.precision, high.recall, high.silent] == pytest.approx([1 / 2, 1 / 6, 2 / 3])


def test_a_map_is_kept_for_its_reranker(tmp_path: Path) -> None:
    file = tmp_path / "home" / "calibrations.json"
    assert saved(file, "ours") is None
    first, second = (Standing(n, 0.5, -1.0, "社内FAQ", at_least_the_score=False) for n in (1.0, 2.0))
    save(file, "ours", first)
    save(file, "theirs", second)
    assert saved(file, "ours") == first
    assert saved(file, "theirs") == second
    assert saved(file, "nobody's") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"ours": 5}',
        '{"ours": {"score": 1}}',
        '{"ours": {"score": -1, "gap": 0, "bias": 0, "name": "x"}}',
        '{"ours": {"score": NaN, "gap": 0, "bias": 0, "name": "x"}}',
    ],
)
def test_a_damaged_file_of_maps_is_no_map(tmp_path: Path, text: str) -> None:
    file = tmp_path / "calibrations.json"
    file.write_text(text)
    assert saved(file, "ours") is None
