"""Queries and filters in Tantivy's terms. Filters are part of the query, so they hold before anything is cut."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

import tantivy
from tantivy import Occur, Query

from shirube.errors import InvalidInput
from shirube.index.contract import Layout, Weight
from shirube.query.filters import Condition, Filters
from shirube.query.tree import And, Near, Node, Not, Or, Phrase, Term
from shirube.query.values import Between, Exact, Period, Prefix, Test
from shirube.text.normalize import fold
from shirube.text.tokenize import bigrams, words

ENTRY = "entry"
META = "meta"
_PLAIN = Weight()


def compile_query(
    schema: tantivy.Schema, layout: Layout, query: str | Node, weights: Mapping[str, Weight], filters: Filters
) -> Query:
    """The whole search: what is looked for, within what passes the filters."""
    if isinstance(query, str):
        wanted = _any_word(schema, layout, query, weights)
    else:
        wanted = _tree(schema, layout, query, weights)
    required = compile_filters(schema, layout, filters)
    return Query.boolean_query([(Occur.Must, wanted), *((Occur.Must, _silent(each)) for each in required)])


def compile_filters(schema: tantivy.Schema, layout: Layout, filters: Filters) -> list[Query]:
    """What an entry must be, one query a demand."""
    demands = [_condition(schema, layout, each) for each in filters.all_of]
    if filters.any_of:
        demands.append(_any(_condition(schema, layout, each) for each in filters.any_of))
    demands += [_not(_condition(schema, layout, each)) for each in filters.none_of]
    return demands


def entries_only(schema: tantivy.Schema) -> Query:
    return _silent(Query.term_query(schema, "kind", ENTRY))


def _any_word(schema: tantivy.Schema, layout: Layout, text: str, weights: Mapping[str, Weight]) -> Query:
    """Words and bigrams side by side, each occurrence counting; BM25 of the two fields is summed."""
    parts = []
    for suffix, tokens in (("words", Counter(words(text))), ("bigrams", Counter(bigrams(text)))):
        for field in layout.texts:
            weight = getattr(weights.get(field, _PLAIN), suffix)
            if weight <= 0:
                continue
            for token, times in tokens.items():
                term = Query.term_query(schema, f"{field}_{suffix}", token, "freq")
                parts.append((Occur.Should, Query.boost_query(term, weight * times)))
    letters = [token for token in bigrams(text) if len(token) == 1 and not token.isascii()]
    for field in layout.texts:
        parts += [(Occur.Should, _letter(schema, f"{field}_bigrams", letter)) for letter in letters]
    return Query.boolean_query(parts) if parts else Query.empty_query()


def _tree(schema: tantivy.Schema, layout: Layout, node: Node, weights: Mapping[str, Weight]) -> Query:
    match node:
        case And():
            return Query.boolean_query(
                [(Occur.Must, _tree(schema, layout, each, weights)) for each in node.operands]
            )
        case Or():
            return _any(_tree(schema, layout, each, weights) for each in node.operands)
        case Not():
            return _not(_tree(schema, layout, node.operand, weights))
        case Term() if not node.wildcard:
            return _sequence(schema, layout, node.parts[0], weights)
        case Phrase():
            return _sequence(schema, layout, node.text, weights)
        case Near() | Term():
            raise InvalidInput(
                "This index does not search with NEAR or wildcards yet",
                "この索引では NEAR とワイルドカードの検索はまだ使えません。",
                hint="語をそのまま AND でつないでください。 Join the words with AND instead.",
            )


def _sequence(schema: tantivy.Schema, layout: Layout, text: str, weights: Mapping[str, Weight]) -> Query:
    """Entries holding this character sequence in any field, scored by field."""
    tokens = bigrams(text)
    found = []
    for field in layout.texts:
        name = f"{field}_bigrams"
        weight = weights.get(field, _PLAIN).bigrams
        if len(tokens) == 1:
            [token] = tokens
            query = (
                _letter(schema, name, token)
                if len(fold(text)) == 1
                else Query.term_query(schema, name, token)
            )
        elif tokens and layout.phrases:
            query = Query.phrase_query(schema, name, list(tokens))
        else:
            query = Query.boolean_query(
                [(Occur.Must, Query.term_query(schema, name, each)) for each in tokens]
            )
        found.append(Query.boost_query(query, weight))
    return _any(found) if tokens else Query.empty_query()


def _letter(schema: tantivy.Schema, field: str, letter: str) -> Query:
    """A single character anywhere: the first or the second of some bigram, or alone."""
    escaped = re.escape(letter)
    return Query.regex_query(schema, field, f"{escaped}.?|.{escaped}")


def _condition(schema: tantivy.Schema, layout: Layout, condition: Condition) -> Query:
    passed = _any(_test(schema, layout, condition.field, test) for test in condition.tests)
    return _not(passed) if condition.op == "!=" else passed


def _test(schema: tantivy.Schema, layout: Layout, field: str, test: Test) -> Query:
    match test:
        case Exact() if field in layout.keywords:
            return Query.term_query(schema, field, test.text)
        case Prefix() if field in layout.keywords:
            return Query.regex_query(schema, field, re.escape(test.text) + ".*")
        case Between() if field in layout.numbers:
            low = None if test.low is None else math.ceil(test.low)
            high = None if test.high is None else math.floor(test.high)
            return Query.range_query(schema, field, tantivy.FieldType.Integer, low, high)
        case Period() if field in layout.numbers:
            first = None if test.first is None else test.first.toordinal()
            last = None if test.last is None else test.last.toordinal()
            return Query.range_query(schema, field, tantivy.FieldType.Integer, first, last)
    raise InvalidInput(f"Cannot filter on {field}", f"{field} では絞り込めません。")


def _any(queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, each) for each in queries])


def _not(query: Query) -> Query:
    return Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, query)])


def _silent(query: Query) -> Query:
    """The query as a demand that adds nothing to the score."""
    return Query.const_score_query(query, 0.0)
