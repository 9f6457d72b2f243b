"""The query language: what is accepted, what it means, and where an error points."""

import time
from typing import SupportsIndex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shirube.query.characters import fold
from shirube.query.errors import QuerySyntaxError
from shirube.query.parser import parse
from shirube.query.problems import MAX_DEPTH, MAX_DISTANCE, MAX_GROUPS
from shirube.query.tree import And, Near, Node, Not, Or, Phrase, Term, walk

SYNTAX_CHARACTERS = '()（）*＊"“”＂\\＼{} 　\t\nnNoOpP1９aｱﾞ㈱'
PIECES = [*SYNTAX_CHARACTERS, "AND", " or ", "ＮＯＴ ", '*N10"', "＊ＯＮＰ{5}“", "顔認証", "マスク"]

characters = st.one_of(st.characters(), st.sampled_from(SYNTAX_CHARACTERS))
folded = st.one_of(st.text(characters, min_size=1, max_size=6), st.sampled_from(["or", "顔認証", "ｶﾞ"])).map(
    fold
)
queries = st.lists(st.one_of(st.sampled_from(PIECES), st.characters()), max_size=40).map("".join)


@st.composite
def terms(draw: st.DrawFn) -> Term:
    parts = draw(st.lists(folded, min_size=1, max_size=3))
    return Term((*parts, "")) if draw(st.booleans()) else Term(tuple(parts))


nears = st.builds(
    Near,
    distance=st.integers(0, MAX_DISTANCE),
    ordered=st.booleans(),
    groups=st.lists(
        st.lists(terms(), min_size=1, max_size=3).map(tuple), min_size=2, max_size=MAX_GROUPS
    ).map(tuple),
)
leaves: st.SearchStrategy[Node] = st.one_of(terms(), st.builds(Phrase, folded), nears)
trees: st.SearchStrategy[Node] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=2, max_size=4).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=2, max_size=4).map(tuple)),
    ),
    max_leaves=10,
)


def word(text: str) -> Term:
    return Term((text,))


A, B, C, D = (word(letter) for letter in "abcd")
FACES = Or((word("顔認証"), word("顔識別")))
COVERS = Or((word("遮蔽"), word("マスク")))


def test_the_documented_query_groups_its_alternatives() -> None:
    assert parse("(顔認証 OR 顔識別) AND (遮蔽 OR マスク)") == And((FACES, COVERS))


def test_redundant_parentheses_change_nothing() -> None:
    assert parse("((顔認証 OR 顔識別) AND (遮蔽 OR マスク))") == And((FACES, COVERS))


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("a b", And((A, B))),
        ("a AND b AND c", And((A, B, C))),
        ("a or b Or c", Or((A, B, C))),
        ("a b OR c d", Or((And((A, B)), And((C, D))))),
        ("a OR b AND c", Or((A, And((B, C))))),
        ("NOT a b", And((Not(A), B))),
        ("a NOT b", And((A, Not(B)))),
        ("a AND NOT (b OR c)", And((A, Not(Or((B, C)))))),
        ("a (b c)", And((A, And((B, C))))),
        ("a(b OR c)d", And((A, Or((B, C)), D))),
        ("NOT a", Not(A)),
        ("NOT NOT a", Not(Not(A))),
        ("BRAND", word("brand")),
    ],
)
def test_not_binds_before_and_and_and_before_or(query: str, tree: Node) -> None:
    assert parse(query) == tree


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("a　ＡＮＤ　ｂ", And((A, B))),
        ("（ａ ｏｒ ｂ）ＮＯＴ c", And((Or((A, B)), Not(C)))),
        ("“ａ　ｂ”", Phrase("a b")),
        ("＂a b＂", Phrase("a b")),
        ('"a b”', Phrase("a b")),
        ("ｶﾞｿﾘﾝ", word("ガソリン")),
        ("ＦＡＣＥ", word("face")),
        ("顔認＊", Term(("顔認", ""))),
        ("＊Ｎ１０“a b”", Near(10, False, ((A,), (B,)))),
        ("＊ｏｎｐ｛１０｝“（a ＯＲ b） c”", Near(10, True, ((A, B), (C,)))),
    ],
)
def test_full_width_means_the_same_as_half_width(query: str, tree: Node) -> None:
    assert parse(query) == tree


@pytest.mark.parametrize(
    ("query", "parts"),
    [("顔認*", ("顔認", "")), ("顔*証", ("顔", "証")), ("a**b", ("a", "b")), ("a*b*", ("a", "b", ""))],
)
def test_a_star_inside_or_behind_a_word_is_a_wildcard(query: str, parts: tuple[str, ...]) -> None:
    term = parse(query)
    assert term == Term(parts)
    assert isinstance(term, Term)
    assert term.wildcard


def test_only_a_single_star_at_the_end_makes_a_prefix() -> None:
    assert [term.prefix for term in map(Term, [("a",), ("a", ""), ("a", "b"), ("a", "b", "")])] == [
        False,
        True,
        False,
        False,
    ]


def test_a_phrase_is_literal_and_trimmed() -> None:
    assert parse('" a AND (b*) "') == Phrase("a and (b*)")


def test_a_backslash_makes_the_next_character_stand_for_itself() -> None:
    assert parse(r"\or \(a\* b\ c") == And((word("or"), word("(a*"), word("b c")))
    assert parse(r'"a \"b\""') == Phrase('a "b"')


def test_a_character_that_folds_to_parentheses_is_part_of_a_word() -> None:
    assert parse("㈱日立 OR a") == Or((word("(株)日立"), A))


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ('*N10"a b"', Near(10, False, ((A,), (B,)))),
        ('*N{10}"a b"', Near(10, False, ((A,), (B,)))),
        ('*ONP0"a b c"', Near(0, True, ((A,), (B,), (C,)))),
        ('*n0010" (a OR b) (c d) "', Near(10, False, ((A, B), (C, D)))),
        ('*N5"(a) b*"', Near(5, False, ((A,), (Term(("b", "")),)))),
        ('*N5"a b*n5"', Near(5, False, ((A,), (Term(("b", "n5")),)))),
        ('c*N5"a b"d', And((C, Near(5, False, ((A,), (B,))), D))),
        ('NOT *N5"a b"', Not(Near(5, False, ((A,), (B,))))),
        (r'*N5"a\ b \or"', Near(5, False, ((word("a b"),), (word("or"),)))),
    ],
)
def test_near_lists_groups_of_alternatives(query: str, tree: Node) -> None:
    assert parse(query) == tree


@pytest.mark.parametrize(
    ("query", "position", "expected"),
    [
        ("", 0, "word"),
        (" 　", 2, "word"),
        ("AND", 0, "word"),
        ("a AND", 5, "word"),
        ("a AND OR b", 6, "word"),
        ("OR a", 0, "word"),
        ("NOT", 3, "word"),
        ("a ()", 3, "word"),
        ("(a OR )", 6, "word"),
        ("(", 1, "word"),
        ("((a)", 4, ")"),
        ("a) b", 1, "end of query"),
        ('a "b', 4, '"'),
        ('""', 1, "text"),
        ('"　"', 2, "text"),
        ("*", 0, "word before *"),
        ("a AND *b", 6, "word before *"),
        ("a ＊ b", 2, "word before *"),
        ("*Nuts", 0, "word before *"),
        ("ab\\", 3, "character after \\"),
        ('"ab\\', 4, "character after \\"),
        ('*N"a b"', 2, f"distance from 0 to {MAX_DISTANCE}"),
        ('*ONP{}"a b"', 4, f"distance from 0 to {MAX_DISTANCE}"),
        ('*N1000"a b"', 2, f"distance from 0 to {MAX_DISTANCE}"),
        ("*N10 a", 4, '"'),
        ('*N10"a b', 8, '"'),
        ('*N10"a"', 6, "another word"),
        ('*N10""', 5, "another word"),
        ('*N10"a OR b"', 7, "word"),
        ('*N10"a (b AND c)"', 10, "word"),
        ('*N10"a (b OR)"', 12, "word"),
        ('*N10"a (OR b)"', 8, "word"),
        ('*N10"a ()"', 8, "word"),
        ('*N10"a (b"', 9, ")"),
        ('*N10"a (b (c))"', 10, ")"),
        ('*N10"a ) b"', 7, "end of query"),
        ('*N10"a *"', 7, "word before *"),
        ("*N1" + f'"{"a " * (MAX_GROUPS + 1)}"', 4 + 2 * MAX_GROUPS, '"'),
    ],
)
def test_an_error_says_where_and_what_was_expected(query: str, position: int, expected: str) -> None:
    with pytest.raises(QuerySyntaxError) as raised:
        parse(query)
    assert (raised.value.position, raised.value.expected) == (position, expected)
    assert f"{position + 1}文字目" in raised.value.message_ja
    assert f"character {position + 1}:" in raised.value.message_en


@pytest.mark.parametrize("opening", ["(", "NOT "])
def test_nesting_is_allowed_up_to_a_limit_and_refused_beyond(opening: str) -> None:
    closing = ")" if opening == "(" else ""
    parse(opening * MAX_DEPTH + "a" + closing * MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(QuerySyntaxError) as raised:
            parse(opening * depth + "a" + closing * depth)
        assert raised.value.position == len(opening) * MAX_DEPTH


def test_the_deepest_tree_can_still_be_written_compared_and_hashed() -> None:
    tree = parse("(a OR b " * MAX_DEPTH + "c" + ")" * MAX_DEPTH)
    assert parse(str(tree)) == tree
    assert hash(parse(str(tree))) == hash(tree)
    assert repr(tree).count("Or(") == MAX_DEPTH


def test_many_pairs_of_parentheses_side_by_side_are_no_nesting() -> None:
    tree = parse("(a) NOT b " * 1000)
    assert isinstance(tree, And)
    assert len(tree.operands) == 2000


@given(trees)
@settings(deadline=None)
def test_a_tree_written_as_a_query_parses_to_the_same_tree(tree: Node) -> None:
    assert parse(str(tree)) == tree


@given(trees)
@settings(deadline=None)
def test_a_query_in_full_width_parses_to_the_same_tree(tree: Node) -> None:
    wide = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}
    assert parse(str(tree).translate(wide)) == tree


@given(trees)
@settings(deadline=None)
def test_the_span_of_each_node_is_the_part_of_the_query_that_says_it(tree: Node) -> None:
    query = f"  ({tree}) "
    for node in walk(parse(query)):
        assert parse(query[node.span.start : node.span.end]) == node


def test_a_span_counts_characters_of_the_query_as_it_was_written() -> None:
    query = "㈱ ＡＮＤ （ｶﾞ ＯＲ “x”）"
    spans = [query[node.span.start : node.span.end] for node in walk(parse(query))]
    assert spans == [query, "㈱", "ｶﾞ ＯＲ “x”", "ｶﾞ", "“x”"]


@st.composite
def python_and_query(draw: st.DrawFn, depth: int = 2) -> tuple[str, str]:
    """One Boolean expression, in Python's notation and in ours; the two have the same precedence."""
    python, query = "", ""
    for place in range(draw(st.integers(1, 4))):
        if place:
            operator = draw(st.sampled_from(["AND", "OR", ""]))
            python += f" {operator.lower() or 'and'} "
            query += f" {operator} "
        negations = draw(st.integers(0, 2))
        python += "not " * negations
        query += "NOT " * negations
        if depth and draw(st.booleans()):
            inner_python, inner_query = draw(python_and_query(depth - 1))
            python, query = f"{python}({inner_python})", f"{query}({inner_query})"
        else:
            letter = draw(st.sampled_from("abcd"))
            python, query = python + letter, query + letter
    return python, query


def truth(node: Node, words: dict[str, bool]) -> bool:
    match node:
        case Term(parts):
            return words[parts[0]]
        case Not(operand):
            return not truth(operand, words)
        case And(operands):
            return all(truth(operand, words) for operand in operands)
        case Or(operands):
            return any(truth(operand, words) for operand in operands)
    raise AssertionError(node)


@given(python_and_query(), st.fixed_dictionaries({letter: st.booleans() for letter in "abcd"}))
@settings(deadline=None)
def test_a_query_is_true_where_the_same_python_expression_is(
    expressions: tuple[str, str], words: dict[str, bool]
) -> None:
    python, query = expressions
    assert truth(parse(query), words) == eval(python, {}, words)


def attempt(text: str) -> Node | QuerySyntaxError:
    try:
        return parse(text)
    except QuerySyntaxError as error:
        return error


@given(queries)
@settings(max_examples=2000, deadline=None)
def test_any_text_is_a_query_or_a_syntax_error_inside_it(text: str) -> None:
    outcome = attempt(text)
    if isinstance(outcome, QuerySyntaxError):
        assert 0 <= outcome.position <= len(text)
        assert outcome.expected
    else:
        assert parse(str(outcome)) == outcome


@given(st.text())
@settings(max_examples=500, deadline=None)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_folding_a_letter_that_becomes_two_takes_its_mark_along() -> None:
    assert fold("ß\u0301") == "sś"


class CountedText(str):
    """Counts how often a character is looked up."""

    looks = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        self.looks += 1
        return super().__getitem__(key)


PATHOLOGICAL = {
    "words": ("a ", ""),
    "wildcards": ("a*", ""),
    "stars": ("a", "*"),
    "wildcards that look like NEAR": ("a*n1", ""),
    "open NEARs": ('*N1"a (b ', ""),
    "distances": ("*N", "1"),
    "quotes": ('"a" ', ""),
    "open quote": ('"', "a "),
    "escapes": ("\\*", ""),
    "spaces": (" ", ""),
    "alternatives": ('*N1"(', "a OR "),
    "pairs": ("(a) ", ""),
    "parentheses": ("(", ""),
    "negations": ("NOT ", ""),
}


def pathological(name: str, size: int) -> str:
    """Of two parts the second is repeated, behind the first."""
    once, often = PATHOLOGICAL[name]
    return (once + often * (size // len(often)) if often else once * (size // len(once)))[:size]


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_the_work_grows_no_faster_than_the_query(name: str) -> None:
    looks = []
    for size in (2_000, 4_000, 8_000):
        text = CountedText(pathological(name, size))
        attempt(text)
        looks.append(text.looks)
        assert text.looks <= 6 * size
    assert looks[2] - looks[1] <= 2 * (looks[1] - looks[0]) + 20


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_a_very_long_query_is_read_in_seconds(name: str) -> None:
    text = pathological(name, 200_000)
    started = time.process_time()
    attempt(text)
    assert time.process_time() - started < 5
