"""What a query means over the texts of a publication, character by character. Texts and terms are folded.

A term is found wherever its characters stand one after the other; a wildcard stands for any letters of one run. A
NEAR holds within one field; the other operators are about the publication as a whole.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import permutations

from shirube.query.tree import And, Near, Node, Not, Or, Phrase, Term, walk

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


def is_exact(node: Node) -> bool:
    """Whether an index of character bigrams gives exactly what the query means: letters only, no NEAR, no wildcard."""
    return all(_is_exact(each) for each in walk(node))


def _is_exact(node: Node) -> bool:
    match node:
        case Near():
            return False
        case Term():
            return not node.wildcard and _is_plain(node.parts[0])
        case Phrase():
            return _is_plain(node.text)
    return True


def _is_plain(text: str) -> bool:
    """Letters that are no Latin ones: those are indexed as whole words."""
    return len(text) > 1 and text.isalpha() and not any(each.isascii() for each in text)


def _occurrences(term: Term, text: str) -> Iterator[Occurrence]:
    """Where a term stands; of a wildcard the shortest from each beginning."""
    if not term.wildcard:
        yield from _places(term.parts[0], text)
        return
    first, *rest = term.parts
    for run in _RUN.finditer(text):
        for start, end in _places(first, text, run.start(), run.end()):
            for part in rest:
                at = text.find(part, end, run.end())
                if at < 0:
                    break
                end = at + len(part)
            else:
                yield start, end
                continue
            break  # what is not found from here is not found from further on


def _places(word: str, text: str, start: int = 0, end: int | None = None) -> Iterator[Occurrence]:
    end = len(text) if end is None else end
    at = text.find(word, start, end)
    while at >= 0:
        yield at, at + len(word)
        at = text.find(word, at + 1, end)


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
