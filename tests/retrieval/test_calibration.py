"""Calibration keeps the order and stays within 0 and 1."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.retrieval.calibration import Calibration, Standing, Uncalibrated

scores = st.lists(st.one_of(st.floats(0, 1), st.sampled_from((0.0, 1.0, 1e-12, 1 - 1e-12))), min_size=1)


@pytest.mark.parametrize(
    "calibration", [Uncalibrated(), Standing(0.15, 0.58, -0.93)], ids=lambda each: each.name
)
@given(values=scores)
def test_a_higher_score_never_becomes_a_lower_probability(
    calibration: Calibration, values: list[float]
) -> None:
    found = calibration(np.array(sorted(values)))
    assert (np.diff(found) >= -1e-12).all()
    assert ((found >= 0) & (found <= 1)).all()
    assert np.isfinite(found).all()


@given(values=st.lists(st.floats(-5, 5), min_size=1))
def test_scores_outside_0_and_1_are_brought_inside(values: list[float]) -> None:
    found = Uncalibrated()(np.array(values))
    assert list(found) == [min(max(value, 0.0), 1.0) for value in values]


@given(values=scores, chance=st.randoms())
def test_the_order_in_which_scores_are_given_does_not_matter(values: list[float], chance: Random) -> None:
    order = list(range(len(values)))
    chance.shuffle(order)
    found = Standing(0.15, 0.58, -0.93)(np.array(values))
    turned = Standing(0.15, 0.58, -0.93)(np.array([values[at] for at in order]))
    assert list(turned) == [found[at] for at in order]


@given(values=scores)
def test_standing_out_never_costs_anything(values: list[float]) -> None:
    assert (Standing(0.15, 0.58, -0.93)(np.array(values)) >= np.array(values)).all()


def test_the_best_gains_by_being_ahead_of_the_second() -> None:
    close = Standing(0.15, 0.58, -0.93)(np.array([0.3, 0.29, 0.01]))
    ahead = Standing(0.15, 0.58, -0.93)(np.array([0.3, 0.002, 0.01]))
    assert ahead[0] > close[0]
