"""Queries and filters in Tantivy's terms. Filters are part of the query, so they hold before anything is cut."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial

import tantivy
from tantivy import Occur, Query

from shirube.errors import InvalidInput
from shirube.index.contract import Holding, Layout, Weight
from shirube.index.embedded.tokens import BORDER, sequence
from shirube.query.filters import Condition, Filters
from shirube.query.tree import And, Near, Node, Not, Or, Phrase, Term, has_letters_only, sought
from shirube.query.values import Between, Exact, Period, Prefix, Test
from shirube.text.tokenize import bigrams, words

ENTRY = "entry"
META = "meta"
_PLAIN = Weight()
_LEAST, _MOST = -(2**63), 2**63 - 1
# Each costs a walk through the dictionary; nobody looks for more single characters at once.
_LETTERS = 8
# Of so many Latin letters it is taken for granted that they are a whole word: longer patterns Tantivy refuses.
_LONGEST_PART = 200


def compile_query(
    schema: tantivy.Schema,
    layout: Layout,
    query: str | Node | Holding,
    weights: Mapping[str, Weight],
    filters: Filters,
) -> Query:
    """The whole search: what is looked for, within what passes the filters."""
    if isinstance(query, str):
        wanted = _any_word(schema, layout, query, weights)
    elif isinstance(query, Holding):
        counting = {field: weight for field in layout.texts if (weight := _bigrams(weights, field)) > 0}
        held = [_holding(schema, counting, each, query.words.get(each)) for each in query.sequences]
        wanted = _all([*held, entries_only(schema)])
    else:
        # The same words twice are compiled once.
        characters = cache(partial(_characters, schema, layout, weights))
        wanted = _all([_tree(query, characters), entries_only(schema)])
    clauses = [(Occur.Must, wanted), *compile_filters(schema, layout, filters)]
    if not isinstance(query, (str, Holding)):
        clauses += _by_words(schema, layout, sought(query), weights)
    return Query.boolean_query(clauses)


def _by_words(
    schema: tantivy.Schema, layout: Layout, texts: Iterable[str], weights: Mapping[str, Weight]
) -> list[tuple[Occur, Query]]:
    """What adds to the score of an entry that is found anyway: the words in whatever form it writes them."""
    tokens = dict.fromkeys(token for text in texts for token in words(text))
    return [
        (Occur.Should, Query.boost_query(Query.term_query(schema, f"{field}_words", token, "freq"), weight))
        for field in layout.texts
        if (weight := weights.get(field, _PLAIN).words) > 0
        for token in tokens
    ]


def compile_filters(schema: tantivy.Schema, layout: Layout, filters: Filters) -> list[tuple[Occur, Query]]:
    """What an entry must be and must not be; nothing of it counts for the score."""
    clauses: list[tuple[Occur, Query]] = []
    for conditions, wanted in ((filters.all_of, True), (filters.none_of, False)):
        for condition in conditions:
            # Leaving out costs as much as there is to leave out; "everything but" costs the whole index.
            occur = Occur.Must if wanted != (condition.op == "!=") else Occur.MustNot
            clauses.append((occur, _silent(_passing(schema, layout, condition))))
    if filters.any_of:
        clauses.append(
            (Occur.Must, _silent(_any(_condition(schema, layout, each) for each in filters.any_of)))
        )
    return clauses


def entries_only(schema: tantivy.Schema) -> Query:
    return _silent(Query.term_query(schema, "kind", ENTRY))


def _any_word(schema: tantivy.Schema, layout: Layout, text: str, weights: Mapping[str, Weight]) -> Query:
    """Words and bigrams side by side, each occurrence counting; BM25 of the two fields is summed.

    A single character is looked for inside bigrams only where there is no bigram to look for: that is slow, and beside
    longer words it tells little.
    """
    parts = []
    pairs = Counter(bigrams(text))
    for suffix, tokens in (("words", Counter(words(text))), ("bigrams", pairs)):
        for field in layout.texts:
            weight = getattr(weights.get(field, _PLAIN), suffix)
            if weight <= 0:
                continue
            for token, times in tokens.items():
                term = Query.term_query(schema, f"{field}_{suffix}", token, "freq")
                parts.append((Occur.Should, Query.boost_query(term, weight * times)))
    letters = [pair for pair in pairs if _is_letter(pair)]
    longer = any(len(pair) > 1 and not pair.isascii() for pair in pairs)
    for letter in () if longer else letters[:_LETTERS]:
        parts += [(Occur.Should, _letter(schema, f"{field}_bigrams", letter)) for field in layout.texts]
    return Query.boolean_query(parts) if parts else Query.empty_query()


def _tree(node: Node, characters: Callable[[str], Query]) -> Query:
    """What a tree means; of NEAR and wildcards, and of signs, all that may be meant: whoever asks looks at the texts.

    Below a NOT that would be too little, so what is not exact is left out there.
    """
    match node:
        case And():
            return _all(_tree(each, characters) for each in node.operands)
        case Or():
            return _any(_tree(each, characters) for each in node.operands)
        case Not() if not has_letters_only(node.operand):
            return _silent(Query.all_query())
        case Not():
            return _not(_tree(node.operand, characters))
        case Term():
            return _all(characters(each) for each in node.parts if each)
        case Phrase():
            return characters(node.text)
        case Near():
            return _all(_any(_tree(term, characters) for term in group) for group in node.groups)


def _characters(schema: tantivy.Schema, layout: Layout, weights: Mapping[str, Weight], text: str) -> Query:
    """Entries that hold these characters one after the other, as far as the index can tell, scored by field.

    Every field is looked at: a weight decides how much it counts, never what is found.
    """
    boosts = {field: _bigrams(weights, field) for field in layout.texts}
    if layout.phrases:
        return _holding(schema, boosts, text, None)
    tokens = sequence(text)
    found = []
    for field, boost in boosts.items():
        name = f"{field}_bigrams"
        held = [_token(schema, name, each) for each in tokens[1:-1] if each != BORDER]
        held += [_end(schema, name, each) for each in {*tokens[:1], *tokens[-1:]}]
        found.append(Query.boost_query(_all(held), boost))
    return _any(found) if tokens else Query.all_query()


def _bigrams(weights: Mapping[str, Weight], field: str) -> float:
    return weights.get(field, _PLAIN).bigrams


def _end(schema: tantivy.Schema, field: str, token: str) -> Query:
    """A token at an end of a sequence: a Latin one may be part of a word."""
    return _words_with(schema, field, token, None) if token.isascii() else _token(schema, field, token)


def _holding(
    schema: tantivy.Schema, boosts: Mapping[str, float], text: str, words: Sequence[str] | None
) -> Query:
    """Entries with these characters one after the other in one of these fields, wherever a word begins or ends."""
    tokens = sequence(text)
    if not tokens:
        return Query.all_query()
    patterns: list[str | tuple[int, str]] = [re.escape(token) for token in tokens]
    patterns[0] = f"{_open_end(tokens[0])}{patterns[0]}"
    patterns[-1] = f"{patterns[-1]}{_open_end(tokens[-1])}"
    is_plain = not (_open_end(tokens[0]) or _open_end(tokens[-1]))
    found = []
    for field, boost in boosts.items():
        name = f"{field}_bigrams"
        if len(tokens) > 1 and (is_plain or max(map(len, tokens)) > _LONGEST_PART):
            query = Query.phrase_query(schema, name, list(tokens))
        elif len(tokens) > 1:
            query = Query.regex_phrase_query(schema, name, patterns)
        elif _is_letter(tokens[0]):
            query = _letter(schema, name, tokens[0])
        elif tokens[0].isascii():
            # All are found; those with the word by itself come first.
            held = _words_with(schema, name, tokens[0], words)
            query = _any([_silent(held), Query.term_query(schema, name, tokens[0])])
        else:
            query = Query.term_query(schema, name, tokens[0])
        found.append(Query.boost_query(query, boost) if boost > 0 else _silent(query))
    return _any(found)


def _words_with(schema: tantivy.Schema, field: str, part: str, words: Sequence[str] | None) -> Query:
    """Entries with a Latin word that holds `part`."""
    if len(part) > _LONGEST_PART:
        return Query.term_query(schema, field, part)
    if words is not None:
        return Query.term_set_query(schema, field, list(words)) if words else Query.empty_query()
    return Query.regex_query(schema, field, f"{_open_end(part)}{re.escape(part)}{_open_end(part)}")


def _open_end(token: str) -> str:
    """What a token at the end of a sequence may be continued by in a text: bigrams overlap, Latin words are whole."""
    if token.isascii():
        return "[a-z0-9]*" if len(token) <= _LONGEST_PART else ""
    return ".?" if _is_letter(token) else ""


def _token(schema: tantivy.Schema, field: str, token: str) -> Query:
    return _letter(schema, field, token) if _is_letter(token) else Query.term_query(schema, field, token)


def _is_letter(token: str) -> bool:
    """A single character that may be part of a bigram elsewhere; Latin words stay whole."""
    return len(token) == 1 and not token.isascii()


def _letter(schema: tantivy.Schema, field: str, letter: str) -> Query:
    """A single character anywhere: the first or the second of some bigram, or alone."""
    escaped = re.escape(letter)
    return Query.regex_query(schema, field, f"{escaped}.?|.{escaped}")


def _condition(schema: tantivy.Schema, layout: Layout, condition: Condition) -> Query:
    passed = _passing(schema, layout, condition)
    return _not(passed) if condition.op == "!=" else passed


def _passing(schema: tantivy.Schema, layout: Layout, condition: Condition) -> Query:
    """Entries of which a value passes one of the condition's tests."""
    return _any(_test(schema, layout, condition.field, test) for test in condition.tests)


def _test(schema: tantivy.Schema, layout: Layout, field: str, test: Test) -> Query:
    match test:
        case Exact() if field in layout.keywords:
            return Query.term_query(schema, field, test.text)
        case Prefix() if field in layout.keywords:
            return Query.regex_query(schema, field, re.escape(test.text) + "(.|\n)*")
        case Between() if field in layout.numbers:
            low = _LEAST if test.low is None else math.ceil(test.low)
            high = _MOST if test.high is None else math.floor(test.high)
            return _range(schema, field, low, high)
        case Period() if field in layout.numbers:
            first = _LEAST if test.first is None else test.first.toordinal()
            last = _MOST if test.last is None else test.last.toordinal()
            return _range(schema, field, first, last)
    raise InvalidInput(f"Cannot filter on {field}", f"{field} では絞り込めません。")


def _range(schema: tantivy.Schema, field: str, low: int, high: int) -> Query:
    """Entries with a number from `low` to `high`; Tantivy's have 64 bits."""
    low, high = max(low, _LEAST), min(high, _MOST)
    if low > high:
        return Query.empty_query()
    if low == high:
        return Query.term_query(schema, field, low)
    return Query.range_query(schema, field, tantivy.FieldType.Integer, low, high)


def _all(queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Must, each) for each in queries])


def _any(queries: Iterable[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, each) for each in queries])


def _not(query: Query) -> Query:
    return Query.boolean_query([(Occur.Must, _silent(Query.all_query())), (Occur.MustNot, query)])


def _silent(query: Query) -> Query:
    """The query as a demand that adds nothing to the score."""
    return Query.const_score_query(query, 0.0)
