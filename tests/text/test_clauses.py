"""Clauses: a query's parts cover it, and none is too short to mean anything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.text.clauses import clauses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("手当", ["手当"]),
        ("副業の許可、手当", ["副業の許可、手当"]),
        ("熊本地震を契機に生まれ変わった酒蔵 目指すのは地域全体の発展", None),
        ("低利益率の受注企業から脱却し、ニッチ領域で自社ブランドを確立した企業", None),
        ("豪雨で甚大な被害を受けたが、再建", ["豪雨で甚大な被害を受けたが、再建"]),
    ],
)
def test_long_queries_are_cut_at_commas_and_spaces(text: str, expected: list[str] | None) -> None:
    found = clauses(text)
    if expected is None:
        assert len(found) == 2
    else:
        assert found == expected


@given(st.text(st.sampled_from("企業、が。 ・(再)建，する「」\u3000a"), max_size=80))
def test_the_parts_cover_the_text_and_are_long_enough(text: str) -> None:
    found = clauses(text)
    assert "".join(found) == text
    assert len(found) == 1 or all(len(part) >= 8 for part in found)
