"""Boolean queries find what a reader would find in the folded text."""

import random
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.index.contract import Entry, Layout
from shirube.index.embedded.text import TantivySpace
from shirube.index.embedded.tokens import BORDER, sequence
from shirube.query.filters import Filters
from shirube.query.parser import parse
from shirube.query.tree import And, Node, Not, Or, Phrase, Term, walk
from shirube.text.normalize import fold
from shirube.text.tokenize import bigrams, words_and_bigrams

# Few characters, so that generated phrases are found and nearly found.
LETTERS = "東京都税アー國国aiＡ1ｱ𠮷"
MARKS = " 、。-　"


def _texts(count: int) -> list[dict[str, str]]:
    chance = random.Random(3)
    # Every other text is without marks: long runs of letters are where phrases are easily mistaken.
    kinds = (LETTERS + MARKS, LETTERS, "東京都、", "東aiア ")
    return [
        {
            "title": "".join(chance.choices(chance.choice(kinds), k=chance.randrange(6))),
            "body": "".join(chance.choices(chance.choice(kinds), k=chance.randrange(14))),
        }
        for _ in range(count)
    ]


TEXTS = _texts(80)


def space_in(folder: Path, *, phrases: bool) -> TantivySpace:
    space = TantivySpace(folder, Layout(texts=("title", "body"), phrases=phrases))
    list(space.write(1, [], [Entry(key, str(key), texts) for key, texts in enumerate(TEXTS)]))
    return space


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> TantivySpace:
    return space_in(tmp_path_factory.mktemp("exact"), phrases=True)


@pytest.fixture(scope="module")
def loose(tmp_path_factory: pytest.TempPathFactory) -> TantivySpace:
    return space_in(tmp_path_factory.mktemp("loose"), phrases=False)


@cache
def skeleton(text: str) -> str:
    """The folded text with everything between two runs of letters as one mark: the marks are not searched."""
    folded = "".join(c if c.isalnum() or ord(c) > 0xFFFF else "|" for c in fold(text))
    return re.sub(r"\|+", "|", folded).strip("|")


def holds_sequence(text: str, wanted: str) -> bool:
    """Whether the characters stand in the text one after another; what are no letters stand for any such."""
    return skeleton(wanted) in skeleton(text)


def holds(texts: Mapping[str, str], node: Node) -> bool:
    match node:
        case And():
            return all(holds(texts, each) for each in node.operands)
        case Or():
            return any(holds(texts, each) for each in node.operands)
        case Not():
            return not holds(texts, node.operand)
        case Term():
            return any(holds_sequence(text, node.parts[0]) for text in texts.values())
        case Phrase():
            return any(holds_sequence(text, node.text) for text in texts.values())
    raise AssertionError(node)


def wanted(node: Node) -> set[int]:
    return {key for key, texts in enumerate(TEXTS) if holds(texts, node)}


def found(space: TantivySpace, node: Node) -> set[int]:
    hits = space.search(node, {}, Filters(), len(TEXTS))
    assert len({hit.key for hit in hits}) == len(hits)
    assert space.matches(node, Filters()) == len(hits)
    return {hit.key for hit in hits}


def leaves_of(node: Node) -> list[Term | Phrase]:
    return [each for each in walk(node) if isinstance(each, Term | Phrase)]


phrases = st.text(LETTERS + MARKS, min_size=1, max_size=5).map(Phrase)
terms = st.text(LETTERS, min_size=1, max_size=4).map(lambda text: Term((text,)))
leaves = st.one_of(phrases, terms)
trees: st.SearchStrategy[Node] = st.recursive(
    leaves,
    lambda nodes: st.one_of(
        st.lists(nodes, min_size=2, max_size=3).map(lambda each: And(tuple(each))),
        st.lists(nodes, min_size=2, max_size=3).map(lambda each: Or(tuple(each))),
        nodes.map(Not),
    ),
    max_leaves=6,
)


@settings(max_examples=150)
@given(node=leaves)
def test_a_phrase_is_found_where_its_characters_stand_side_by_side(exact: TantivySpace, node: Node) -> None:
    assert found(exact, node) == wanted(node)


@settings(max_examples=80)
@given(node=trees)
def test_a_tree_finds_what_its_operators_mean(exact: TantivySpace, node: Node) -> None:
    """With signs below a NOT it finds more: the index cannot tell one sign from another."""
    texts = [each.text if isinstance(each, Phrase) else "".join(each.parts) for each in leaves_of(node)]
    if all(text.isalnum() for text in texts):
        assert found(exact, node) == wanted(node)
    else:
        assert found(exact, node) >= wanted(node)


@settings(max_examples=80)
@given(node=leaves)
def test_without_positions_nothing_that_holds_the_phrase_is_missed(loose: TantivySpace, node: Node) -> None:
    assert found(loose, node) >= wanted(node)


WRITTEN = [
    ("東京都", "東京都に住む", True),
    ("東京都", "東京、京都に住む", False),
    ('"東京 京都"', "東京、京都に住む", True),
    ("AI技術", "生成AI技術を使う", True),
    ("AI技術", "AIの技術", False),
    ("技術AI", "AIの技術", False),
    ("術AI", "先端技術AI白書", True),
    ("AI技", "生成AI技術", True),
    ('"machine learning"', "machine learning", True),
    ('"machine learning"', "machineのlearning", False),
    ("machine learning", "machineのlearning", True),
    ("a", "ai", True),
    ("税", "所得税の話", True),
    ("税 AND NOT 所得", "所得税の話", False),
    ("(所得 OR 法人) AND 税", "法人の税", True),
    ("ﾏｲﾅﾋﾞ", "マイナビの説明", True),
    ("国学", "國學院", True),
    ("！？", "本当！？", True),
]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> TantivySpace:
    space = TantivySpace(tmp_path_factory.mktemp("written"), Layout(texts=("body",), phrases=True))
    entries = [Entry(key, str(key), {"body": text}) for key, (_, text, _) in enumerate(WRITTEN)]
    list(space.write(1, [], entries))
    return space


@pytest.mark.parametrize(("key", "row"), list(enumerate(WRITTEN)))
def test_a_written_query_means_what_it_says(
    written: TantivySpace, key: int, row: tuple[str, str, bool]
) -> None:
    query, _, expected = row
    hits = written.search(parse(query), {}, Filters(), len(WRITTEN))
    assert (key in {hit.key for hit in hits}) is expected


@pytest.mark.parametrize(
    ("query", "text", "is_found"),
    [
        ('*N5"顔 認証"', "認証に顔を使う", True),
        ('*ONP3"顔 認証"', "認証に顔を使う", True),
        ('*N5"顔 認証"', "顔だけ", False),
        ("顔認*", "顔認識", True),
        ("顔*証", "顔の証明", True),
        ("顔*証", "証明", False),
        ("NOT 顔認*", "顔認識", True),
    ],
)
def test_of_near_and_wildcards_nothing_that_may_be_meant_is_missed(
    tmp_path: Path, query: str, text: str, is_found: bool
) -> None:
    space = TantivySpace(tmp_path, Layout(texts=("body",), phrases=True))
    list(space.write(1, [], [Entry(1, "1", {"body": text})]))
    assert bool(space.matches(parse(query), Filters())) is is_found


@given(st.lists(st.text(alphabet="あ亜ｱaB1 。、_-\n\U00020000é|", max_size=12), max_size=6))
def test_many_texts_at_once_give_the_sequence_of_each(texts: list[str]) -> None:
    made = [bigrams.split() for _, bigrams in words_and_bigrams(texts, BORDER)]
    assert made == [sequence(text) for text in texts]


@given(text=st.text())
def test_a_sequence_is_the_bigrams_and_borders(text: str) -> None:
    tokens = sequence(text)
    assert [token for token in tokens if token != BORDER] == bigrams(text)
    assert BORDER not in tokens[:1] + tokens[-1:]
    assert all(BORDER not in token for token in bigrams(text))
