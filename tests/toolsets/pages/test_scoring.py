"""The formula of the specification, against figures worked out by hand."""

import pytest

from shirube.toolsets.pages.scoring import Weights, proximity, scored, similarity


def test_weights_are_those_of_the_specification() -> None:
    found = Weights.of(text_found=True)
    assert (found.vector, found.graph, found.text) == pytest.approx((0.7, 0.21, 0.09))
    silent = Weights.of(text_found=False)
    assert (silent.vector, silent.graph, silent.text) == pytest.approx((0.7, 0.3, 0.0))


def test_several_sections_count_with_the_mean_of_the_best_three() -> None:
    assert similarity([0.5]) == pytest.approx(0.5)
    assert similarity([0.9, 0.3]) == pytest.approx(0.8 * 0.9 + 0.2 * 0.6)
    assert similarity([0.1, 0.9, 0.6, 0.3]) == pytest.approx(0.8 * 0.9 + 0.2 * 0.6)
    assert similarity([]) == 0.0
    assert similarity([-0.4]) == 0.0


def test_pages_found_directly_count_whole_and_others_by_their_distance() -> None:
    hops = {"a": 0, "b": 1, "c": 2}
    assert [proximity(hops, page) for page in "abcd"] == [1.0, 1.0, 0.5, 0.0]


def test_the_parts_are_added_up() -> None:
    assert scored(Weights.of(text_found=True), 0.5, 1.0, 0.8).total == pytest.approx(0.35 + 0.21 + 0.072)
