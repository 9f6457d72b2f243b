"""NEAR and wildcards in texts: what they mean, and that no text makes them slow."""

import re
import time
from itertools import permutations
from random import Random

import pytest

from shirube.query.parser import parse
from shirube.query.tree import Near, Term
from shirube.toolsets.patents.matching import folded, holds
from shirube.toolsets.patents.nearness import is_near
from shirube.toolsets.patents.words import stands
from tests.toolsets.patents.test_query_oracle import spans

CASES = 6_000


def in_some_order(node: Near, text: str) -> bool:
    """The definition, tried in every order."""
    groups = [{place for term in group for place in spans(term.parts, text)} for group in node.groups]
    for order in [groups] if node.ordered else permutations(groups):
        ends = {end for _, end in order[0]}
        for group in order[1:]:
            ends = {
                end for start, end in group if any(0 <= start - before <= node.distance for before in ends)
            }
        if ends:
            return True
    return False


def made_term(random: Random) -> Term:
    parts = [
        "".join(random.choices("ab-c", k=random.choice((1, 1, 2))))
        for _ in range(random.choice((1, 1, 2, 3)))
    ]
    if len(parts) > 1 and random.random() < 0.4:
        parts[-1] = ""
    return Term(tuple(parts))


def test_words_and_nearness_are_what_trying_everything_finds() -> None:
    random = Random(1)
    found = 0
    for _ in range(CASES):
        text = "".join(random.choices("aabbc- ", k=random.randint(0, 14)))
        term = made_term(random)
        expected = re.search(r"\w*".join(map(re.escape, term.parts)), text) is not None
        assert stands(term, text) == expected, (term, text)
        groups = tuple(
            tuple(made_term(random) for _ in range(random.choice((1, 1, 2))))
            for _ in range(random.choice((2, 3, 4)))
        )
        near = Near(random.choice((0, 0, 1, 2, 5)), random.random() < 0.4, groups)
        assert is_near(near, text) == in_some_order(near, text), (str(near), text)
        found += is_near(near, text)
    assert CASES * 0.02 < found < CASES * 0.5


def seconds(query: str, *texts: str) -> float:
    node = folded(parse(query))
    began = time.perf_counter()
    for text in texts:
        holds(node, [text])
    return time.perf_counter() - began


@pytest.mark.parametrize("distance", [0, 3, 999])
def test_eight_words_in_any_order_are_looked_for_at_once(distance: int) -> None:
    random = Random(2)
    letters = "のにをはがとで漢字文章的内容用例"
    query = f'*N{distance}"の に を は が と で た"'
    abstracts = ["".join(random.choices(letters + "た", k=400)) for _ in range(300)]
    assert seconds(query, *abstracts) < 3
    assert seconds(query, "".join(random.choices(letters, k=80_000)) + "た") < 3


@pytest.mark.parametrize(
    "query", ["a*c*g*z", "a*c*g*t*a*c*z", '*N5"a* c*g z*"', '*N0"a*c*g*z c* (g* OR t*a)"', "NOT a*c*g*z*"]
)
def test_wildcards_are_quick_in_one_long_run_of_letters(query: str) -> None:
    run = "acgt" * 1_000
    assert seconds(query, run) < 1
    assert seconds(query, run * 20, run * 20 + " z") < 5


def test_saying_a_word_again_asks_for_nothing_more() -> None:
    assert folded(parse("顔 OR 顔 OR (顔 顔) OR マスク")) == folded(parse("顔 OR マスク"))
    assert folded(parse("顔 AND ｶﾒﾗ AND カメラ")) == folded(parse("顔 カメラ"))
