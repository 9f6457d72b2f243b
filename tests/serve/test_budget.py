"""Answers that are too long for an agent are cut between items, and nothing of them is lost."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.serve.budget import BUDGET, cut, size, tokens

KEYS = st.text("abcあい", min_size=1, max_size=3)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=30))
INNER = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
BODIES = st.dictionaries(KEYS, INNER, max_size=4)


def whole(shown: Any, rest: dict[str, Any]) -> Any:
    """What was cut, put together again."""
    body = json.loads(json.dumps(shown))
    for name, missing in reversed(rest.items()):
        *path, last = name.split("/")
        node = body
        for step in path:
            node = node[int(step) if isinstance(node, list) else step]
        key: Any = int(last) if isinstance(node, list) else last
        node[key] = node[key] + missing
    return body


def test_what_fits_stays_as_it_is() -> None:
    assert cut({"results": ["手当"] * 100}) is None


def test_a_long_list_is_cut_between_items_and_the_rest_is_kept() -> None:
    body = {
        "results": [{"content": "副業には許可が必要です。" * 40, "score": 0.5} for _ in range(100)],
        "count": 100,
    }
    made = cut(body)
    assert made is not None
    shown, rest = made
    assert size(shown) <= BUDGET
    assert 10 < len(shown["results"]) < 100
    assert shown["count"] == 100
    assert whole(shown, rest) == body


def test_a_long_text_is_cut_at_a_line() -> None:
    body = {"title": "公報", "desc": "\n".join("【0001】技術分野の説明です。" * 5 for _ in range(1000))}
    made = cut(body)
    assert made is not None
    shown, rest = made
    assert size(shown) <= BUDGET
    assert rest["desc"].startswith("\n")
    assert whole(shown, rest) == body


@settings(max_examples=60)
@given(BODIES, st.integers(400, 1000))
def test_whatever_is_cut_fits_and_can_be_put_together_again(body: dict[str, Any], budget: int) -> None:
    long = {"inner": body, "items": [body] * 20}
    made = cut(long, budget)
    if made is None:
        assert size(long) <= budget
        return
    assert whole(*made) == long


def test_japanese_counts_by_the_character() -> None:
    assert tokens("日本語" * 100) >= 300
    assert tokens("a" * 350) <= 120
