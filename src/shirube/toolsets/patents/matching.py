"""What a query means over the texts of a publication, character by character. Texts and terms are folded.

A term is found wherever its characters stand one after the other; a wildcard stands for any letters and figures. A
NEAR holds within one field; the other operators are about the publication as a whole.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import permutations

from shirube.query.tree import And, Near, Node, Not, Or, Phrase, Term
from shirube.text.normalize import fold

_RUN = re.compile(r"\w+")
Occurrence = tuple[int, int]


def holds(node: Node, texts: Sequence[str]) -> bool:
    """Whether a publication with these texts is found."""
    match node:
        case And():
            return all(holds(each, texts) for each in node.operands)
        case Or():
            return any(holds(each, texts) for each in node.operands)
        case Not():
            return not holds(node.operand, texts)
        case Term():
            return any(next(_occurrences(node, text), None) is not None for text in texts)
        case Phrase():
            return any(node.text in text for text in texts)
        case Near():
            return any(_near(node, text) for text in texts)


def folded(node: Node) -> Node:
    """The query with its words folded as texts are: whichever dash or old character they are written with."""
    match node:
        case And():
            return And(tuple(map(folded, node.operands)), node.span)
        case Or():
            return Or(tuple(map(folded, node.operands)), node.span)
        case Not():
            return Not(folded(node.operand), node.span)
        case Near():
            groups = tuple(tuple(_folded_term(term) for term in group) for group in node.groups)
            return Near(node.distance, node.ordered, groups, node.span)
        case Term():
            return _folded_term(node)
        case Phrase():
            return Phrase(fold(node.text) or node.text, node.span)


def _folded_term(term: Term) -> Term:
    parts = tuple(map(fold, term.parts))
    return Term(parts, term.span) if parts[0] else term


def _occurrences(term: Term, text: str) -> Iterator[Occurrence]:
    """Where a term stands; a wildcard may stand for more or fewer letters, so it has several ends."""
    first, *rest = term.parts
    for start, end in _places(first, text):
        ends = {end}
        for part in rest:
            ends = {after for before in ends for after in _after(part, text, before)}
        for each in sorted(ends):
            yield start, each


def _after(part: str, text: str, start: int) -> Iterator[int]:
    """Where a part ends that stands behind `start` with nothing but letters and figures between."""
    run = _RUN.match(text, start)
    last = run.end() if run else start
    if not part:
        yield from range(start, last + 1)
        return
    at = text.find(part, start, last + len(part))
    while 0 <= at <= last:
        yield at + len(part)
        at = text.find(part, at + 1, last + len(part))


def _places(word: str, text: str) -> Iterator[Occurrence]:
    at = text.find(word)
    while at >= 0:
        yield at, at + len(word)
        at = text.find(word, at + 1)


def _near(node: Near, text: str) -> bool:
    groups = [
        sorted({place for term in group for place in _occurrences(term, text)}) for group in node.groups
    ]
    if not all(groups):
        return False
    orders = [groups] if node.ordered else permutations(groups)
    return any(_chained(order, node.distance) for order in orders)


def _chained(groups: Sequence[Sequence[Occurrence]], distance: int) -> bool:
    """Whether one of each group can stand behind one of the group before, with at most so many characters between."""
    ends = sorted({end for _, end in groups[0]})
    for group in groups[1:]:
        reached = set()
        for start, end in group:
            at = bisect_left(ends, start - distance)
            if at < len(ends) and ends[at] <= start:
                reached.add(end)
        if not reached:
            return False
        ends = sorted(reached)
    return True


def sought(node: Node) -> list[str]:
    """The words and phrases that a query looks for, and not those that it forbids; each once."""
    found: dict[str, None] = {}
    waiting = [node]
    while waiting:
        match waiting.pop():
            case And(operands) | Or(operands):
                waiting.extend(reversed(operands))
            case Near() as near:
                waiting.extend(term for group in reversed(near.groups) for term in reversed(group))
            case Term() as term:
                found |= dict.fromkeys(part for part in term.parts if part)
            case Phrase() as phrase:
                found[phrase.text] = None
    return list(found)
